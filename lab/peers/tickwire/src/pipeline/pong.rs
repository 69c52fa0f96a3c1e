//! The subscriber.

use std::ops::ControlFlow;
use std::sync::Arc;

use lab_program::{Answer, Handler, Meter, Options, now, say_ready};
use tickwire::{DataReader, DataReaderQos, DataWriterQos, PublisherQos, Serialized};
use tickwire_gateway::ECHO_SUFFIX;

use super::{Feed, topics};
use crate::inlet::Inlet;
use crate::session::{PATIENCE, Session};
use crate::{VERSION, told};

/// Sends back all samples of all topics, as the gateway's echo does.
pub(crate) fn pong(options: &Options) -> Result<Answer, String> {
    let session = Session::open(options)?;
    let participant = &session.participant;
    let mapper = Feed::of(options, 1)?.mapper();
    let inlet = Arc::new(Inlet::new(Echoed::new(options)));
    let mut endpoints = Vec::new();
    for (topic, ty) in topics(&mapper) {
        let name = format!("{}{ECHO_SUFFIX}", topic.name);
        let back = participant.topic_of::<Serialized>(&name, ty.clone());
        let there = participant.topic_of::<Serialized>(&topic.name, ty);
        let qos = DataWriterQos::default().keep_all().reliable(PATIENCE);
        let qos = qos.autodispose_unregistered_instances(false);
        let echo = participant
            .writer_with(&back.map_err(told)?, qos)
            .map_err(told)?;
        let qos = DataReaderQos::default().keep_all().reliable();
        let reader = participant
            .reader_with(&there.map_err(told)?, qos)
            .map_err(told)?;
        let (inlet, writer) = (Arc::clone(&inlet), echo.clone());
        let publisher = participant.publisher(PublisherQos::default());
        reader.set_listener(move |reader: &DataReader<Serialized>| {
            let _batch = publisher.suspend_publications();
            for sample in reader.take().data() {
                inlet.take(&writer.write(sample).map(drop).map_err(told));
            }
        });
        endpoints.push((reader, echo));
    }
    say_ready()?;
    session.wait(options.idle(), &inlet);
    for (reader, echo) in &endpoints {
        reader.remove_listener();
        echo.wait_for_acknowledgments(PATIENCE).map_err(told)?;
    }
    let Echoed {
        echoed,
        error,
        meter,
        ..
    } = inlet.end();
    let (elapsed_ns, cost) = meter.result();
    let measured = echoed.saturating_sub(options.warmup);
    Ok(Answer {
        system: options.system.clone(),
        version: VERSION.to_owned(),
        job: "pong".into(),
        index: options.index,
        sent: measured,
        received: measured,
        lost: options.total() - echoed,
        error,
        elapsed_ns,
        cost,
        settings: session.settings_of_all(),
        ..Answer::default()
    })
}

/// What has been sent back.
struct Echoed {
    warmup: u64,
    total: u64,
    echoed: u64,
    error: Option<String>,
    meter: Meter,
}

impl Echoed {
    fn new(options: &Options) -> Self {
        Self {
            warmup: options.warmup,
            total: options.total(),
            echoed: 0,
            error: None,
            meter: Meter::default(),
        }
    }
}

impl Handler<Result<(), String>> for Echoed {
    fn take(&mut self, echoed: &Result<(), String>) -> ControlFlow<()> {
        if let Err(error) = echoed {
            self.error.get_or_insert_with(|| error.clone());
            return ControlFlow::Break(());
        }
        if self.echoed >= self.warmup {
            self.meter.begin();
        }
        self.echoed += 1;
        if self.echoed < self.total {
            return ControlFlow::Continue(());
        }
        self.meter.end(now());
        ControlFlow::Break(())
    }
}
