//! The feed handler, with the time at which each sample goes and comes back.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lab_program::{Answer, Meter, Options, now, save};
use tickwire::{DataReader, DataReaderQos, Serialized};
use tickwire_feed::Line;
use tickwire_gateway::{
    ECHO_SUFFIX, FeedHandler, FeedTopic, HandlerOptions, PublicationError, PublicationOptions,
    Publications, Publish, Timing, TopicIndex,
};
use tickwire_transport::ReceiveError;

use super::{Feed, topics, whole};
use crate::session::{PATIENCE, Session};
use crate::{VERSION, told};

/// Publishes the feed, one message after the other, and waits for the echoes of each.
pub(crate) fn ping(options: &Options) -> Result<Answer, String> {
    whole::pass(options)?;
    let feed = Feed::of(options, options.total())?;
    let session = Session::open(options)?;
    let under_way = Arc::new(UnderWay::new(options));
    let echoes = echoes(&session, &feed, &under_way)?;
    let mut desk = Desk {
        publications: publications(&session, &feed)?,
        under_way: Arc::clone(&under_way),
        sent: 0,
        total: options.total(),
    };
    desk.publications
        .wait_for_subscribers(PATIENCE)
        .map_err(told)?;
    for echo in &echoes {
        echo.wait_for_matched(1, PATIENCE).map_err(told)?;
    }
    let patience = options.idle().between;
    let mut pass = Pass::default();
    let wait = || under_way.wait_for_all(&session, patience);
    desk.handle(&feed, &mut pass, options.warmup, wait)?;
    pass.forget_times();
    let mut meter = Meter::default();
    meter.begin();
    desk.handle(&feed, &mut pass, options.total(), wait)?;
    let State {
        round_trips,
        wrong,
        mut error,
        last,
        ..
    } = std::mem::take(&mut *under_way.lock());
    meter.end(last);
    let sent = desk.sent.saturating_sub(options.warmup);
    let received = u64::try_from(round_trips.len()).map_err(told)?;
    if received < sent {
        error.get_or_insert_with(|| format!("{} samples have not come back", sent - received));
    }
    save(&options.dir.join("ping.0.ns"), &round_trips)?;
    save(&options.dir.join("decode.ns"), &pass.decode)?;
    save(&options.dir.join("publish.ns"), &pass.publish)?;
    let (elapsed_ns, cost) = meter.result();
    let named = |name: &str| (name.to_owned(), format!("{name}.ns"));
    Ok(Answer {
        system: options.system.clone(),
        version: VERSION.to_owned(),
        job: "ping".into(),
        index: options.index,
        sent,
        received,
        lost: sent - received.min(sent),
        wrong,
        error,
        elapsed_ns,
        cost,
        samples: Some("ping.0.ns".into()),
        stages: BTreeMap::from(["decode", "publish"].map(named)),
        settings: session.settings_of_all(),
        ..Answer::default()
    })
}

/// The writers of all topics, as the gateway has them.
fn publications(session: &Session, feed: &Feed) -> Result<Writers, String> {
    let options = PublicationOptions {
        subscribers: 1,
        echo: false,
        patience: PATIENCE,
        ..PublicationOptions::default()
    };
    let participant = session.participant.clone();
    let idle: fn() -> _ = || Ok(());
    Publications::new(participant, options, &feed.mapper(), |_, qos| qos, idle).map_err(told)
}

/// Readers of the echoes of all topics.
fn echoes(
    session: &Session,
    feed: &Feed,
    under_way: &Arc<UnderWay>,
) -> Result<Vec<DataReader<Serialized>>, String> {
    let participant = &session.participant;
    let mapper = feed.mapper();
    let mut readers = Vec::new();
    for (at, (topic, ty)) in topics(&mapper).into_iter().enumerate() {
        let name = format!("{}{ECHO_SUFFIX}", topic.name);
        let echo = participant
            .topic_of::<Serialized>(&name, ty)
            .map_err(told)?;
        let qos = DataReaderQos::default().keep_all().reliable();
        let reader = participant.reader_with(&echo, qos).map_err(told)?;
        let under_way = Arc::clone(under_way);
        reader.set_listener(move |reader: &DataReader<Serialized>| {
            let now = now();
            for sample in reader.take().data() {
                under_way.came_back(TopicIndex(at), sample.payload(), now);
            }
        });
        readers.push(reader);
    }
    Ok(readers)
}

type Writers = Publications<fn() -> Result<(), ReceiveError>>;

/// Takes the samples of a message, remembers them, and publishes them.
struct Desk {
    publications: Writers,
    under_way: Arc<UnderWay>,
    sent: u64,
    /// What the feed has more is not published.
    total: u64,
}

/// How far the feed is, and what its messages took.
#[derive(Default)]
struct Pass {
    next: usize,
    /// Of a message that nothing is made of, in nanoseconds.
    decode: Vec<u64>,
    /// From a packet to the end of its last write.
    publish: Vec<u64>,
}

impl Pass {
    fn forget_times(&mut self) {
        self.decode.clear();
        self.publish.clear();
    }
}

impl Desk {
    /// Handles packets until so many samples have been sent, each when those before are back.
    fn handle(
        &mut self,
        feed: &Feed,
        pass: &mut Pass,
        until: u64,
        wait_for_all: impl Fn() -> bool,
    ) -> Result<(), String> {
        let options = HandlerOptions::default();
        let mut handler = FeedHandler::new(&feed.templates, options, Some(feed.mapper()), self);
        while handler.publish().sent < until
            && let Some(packet) = feed.packets.get(pass.next)
        {
            pass.next += 1;
            let begin = now();
            handler.handle_packet(Line::A, packet).map_err(told)?;
            pass.publish.push(now() - begin);
            if !wait_for_all() {
                break;
            }
        }
        let counters = handler.counters();
        if let Some(first) = &counters.first_malformed {
            return Err(first.to_string());
        }
        if let Some(first) = &counters.first_refused {
            return Err(first.clone());
        }
        for group in &counters.groups {
            pass.decode.extend(durations(&group.decode));
        }
        Ok(())
    }
}

/// As many durations as were recorded, with their distribution.
#[expect(clippy::cast_precision_loss, reason = "millions at most")]
fn durations(timing: &Timing) -> impl Iterator<Item = u64> {
    let count = timing.count();
    (0..count).map(move |at| timing.quantile_ns((at as f64 + 0.5) / count as f64))
}

impl Publish for &mut Desk {
    type Error = PublicationError;
    type Batch = <Writers as Publish>::Batch;

    fn begin_batch(&mut self) -> Self::Batch {
        self.publications.begin_batch()
    }

    fn publish(
        &mut self,
        topics: &[FeedTopic],
        topic: TopicIndex,
        sample: &Serialized,
    ) -> Result<(), PublicationError> {
        if self.sent == self.total {
            return Ok(());
        }
        self.under_way.goes(self.sent, topic, sample.payload());
        self.sent += 1;
        self.publications.publish(topics, topic, sample)
    }

    fn flush(&mut self) -> Result<(), PublicationError> {
        self.publications.flush()
    }
}

/// The samples that have gone and not come back.
struct UnderWay {
    warmup: u64,
    state: Mutex<State>,
    empty: Condvar,
}

#[derive(Default)]
struct State {
    awaited: VecDeque<Awaited>,
    round_trips: Vec<u64>,
    wrong: u64,
    error: Option<String>,
    /// When the last one came.
    last: u64,
}

struct Awaited {
    number: u64,
    topic: TopicIndex,
    payload: Vec<u8>,
    sent_at: u64,
}

impl UnderWay {
    fn new(options: &Options) -> Self {
        Self {
            warmup: options.warmup,
            state: Mutex::default(),
            empty: Condvar::new(),
        }
    }

    fn goes(&self, number: u64, topic: TopicIndex, payload: &[u8]) {
        let payload = payload.to_vec();
        self.lock().awaited.push_back(Awaited {
            number,
            topic,
            payload,
            sent_at: now(),
        });
    }

    /// Samples of a topic come back in the order in which they went.
    fn came_back(&self, topic: TopicIndex, payload: &[u8], at: u64) {
        let mut state = self.lock();
        let oldest = state.awaited.iter().position(|it| it.topic == topic);
        let Some(awaited) = oldest.and_then(|place| state.awaited.remove(place)) else {
            state.wrong += 1;
            let error = || "a sample came back that nobody waits for".to_owned();
            state.error.get_or_insert_with(error);
            return;
        };
        if awaited.payload != payload {
            state.wrong += 1;
            let error = || format!("sample {} is not what was sent", awaited.number);
            state.error.get_or_insert_with(error);
        }
        if awaited.number >= self.warmup {
            state.round_trips.push(at.saturating_sub(awaited.sent_at));
        }
        state.last = at;
        if state.awaited.is_empty() {
            self.empty.notify_all();
        }
    }

    /// Waits until all are back; false if that takes too long.
    fn wait_for_all(&self, session: &Session, patience: Duration) -> bool {
        if session.is_driven() {
            return session.drive_until(patience, || self.lock().awaited.is_empty());
        }
        let waited = self
            .empty
            .wait_timeout_while(self.lock(), patience, |state| !state.awaited.is_empty());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.awaited.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
