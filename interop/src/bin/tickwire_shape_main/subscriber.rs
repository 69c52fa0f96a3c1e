//! `-S`: says what comes until told to stop.

use std::collections::HashMap;

use tickwire::{
    Condition, DataReader, DomainParticipant, InstanceHandle, InstanceState, Sample, Subscriber,
    Topic,
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
        channels.push(Channel::new(options, &subscriber, topic)?);
    }
    for iteration in 0.. {
        announce(options, iteration);
        let access = (options.coherent || options.ordered).then(|| subscriber.begin_access());
        for channel in &mut channels {
            channel.read(options);
        }
        drop(access);
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
    name: String,
    reader: DataReader<ShapeType>,
    colors: HashMap<InstanceHandle, String>,
}

impl Channel {
    fn new(options: &Options, subscriber: &Subscriber, topic: &Topic<ShapeType>) -> Result<Self> {
        let qos = options.reader_qos();
        let (name, reader) = match options.filter() {
            None => {
                println!("Create reader for topic: {}", topic.name());
                (topic.name().to_owned(), subscriber.reader(topic, qos)?)
            }
            Some((expression, parameters)) => {
                let name = format!("{}_filtered", topic.name());
                let parameters: Vec<_> = parameters.iter().map(String::as_str).collect();
                let filtered = topic
                    .filtered(&name, expression, &parameters)
                    .inspect_err(|_| println!("failed to create content filtered topic"))?;
                println!("Create reader for topic: {name}");
                (name, subscriber.reader(&filtered, qos)?)
            }
        };
        reader.set_listener(Report);
        Ok(Self {
            name,
            reader,
            colors: HashMap::new(),
        })
    }

    /// Reads all there is, at once or instance by instance.
    fn read(&mut self, options: &Options) {
        let mut previous = None;
        loop {
            let select = match options.take_read {
                true => self.reader.select(),
                false => self.reader.select().next_instance(previous),
            };
            let samples = match options.use_read {
                true => select.read(),
                false => select.take(),
            };
            for sample in &samples {
                self.print(sample);
            }
            match samples.last() {
                Some(sample) if !options.take_read => previous = Some(sample.info().instance),
                _ => break,
            }
        }
    }

    fn print(&mut self, sample: &Sample<ShapeType>) {
        let topic = &self.name;
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
