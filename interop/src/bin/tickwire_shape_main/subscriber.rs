//! `-S`: says what comes until told to stop.

use std::collections::HashMap;

use tickwire::{
    Condition, DataReader, DomainParticipant, InstanceHandle, InstanceState, Sample, Samples, Topic,
};

use crate::options::Options;
use crate::report::Report;
use crate::shape::ShapeType;
use crate::{Result, pause};

pub(crate) fn run(
    options: &Options,
    participant: &DomainParticipant,
    topics: &[Topic<ShapeType>],
    end: &Condition,
) -> Result<()> {
    let subscriber = participant.subscriber(options.group_qos());
    let mut channels = Vec::new();
    for topic in topics {
        println!("Create reader for topic: {}", topic.name());
        let reader = subscriber.reader(topic, options.reader_qos())?;
        reader.set_listener(Report);
        channels.push(Channel {
            reader,
            colors: HashMap::new(),
        });
    }
    for iteration in 0.. {
        announce(options, iteration);
        for channel in &mut channels {
            channel.read(options);
        }
        if pause(end, options.read_period()) || options.num_iterations == Some(iteration + 1) {
            break;
        }
    }
    Ok(())
}

/// Marks the beginning of a round, so that the suite sees what was read at once.
fn announce(options: &Options, iteration: u32) {
    if options.coherent {
        println!("Reading coherent sets, iteration {iteration}");
    }
    if options.ordered {
        println!("Reading with ordered access, iteration {iteration}");
    }
}

/// A reader, and the colors of its instances: one that loses its writers is told of without its key.
struct Channel {
    reader: DataReader<ShapeType>,
    colors: HashMap<InstanceHandle, String>,
}

impl Channel {
    fn read(&mut self, options: &Options) {
        let samples = match options.use_read {
            true => self.reader.read(),
            false => self.reader.take(),
        };
        for sample in in_order(options, &samples) {
            self.print(sample);
        }
    }

    fn print(&mut self, sample: &Sample<ShapeType>) {
        let topic = self.reader.topic().name();
        let info = sample.info();
        if let Some(shape) = sample.data() {
            println!("{}", shape.line(topic));
            self.colors
                .entry(info.instance)
                .or_insert_with(|| shape.color.clone());
        }
        let state = match info.instance_state {
            InstanceState::Alive => return,
            InstanceState::Disposed => "NOT_ALIVE_DISPOSED_INSTANCE_STATE",
            InstanceState::NoWriters => "NOT_ALIVE_NO_WRITERS_INSTANCE_STATE",
        };
        let known = self.colors.get(&info.instance).map(String::as_str);
        let key = sample.key_holder().map(|key| key.color.as_str());
        println!("{topic:<10} {:<10} {state}", known.or(key).unwrap_or(""));
    }
}

/// Samples in the order of one `take`, or as a `take_next_instance` after another returns them.
fn in_order<'a>(options: &Options, samples: &'a Samples<ShapeType>) -> Vec<&'a Sample<ShapeType>> {
    let mut samples: Vec<_> = samples.iter().collect();
    if !options.take_read {
        samples.sort_by_key(|sample| sample.info().instance);
    }
    samples
}
