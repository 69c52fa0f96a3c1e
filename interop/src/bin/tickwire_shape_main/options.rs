//! The command line, and the QoS that it asks for.

use std::time::Duration;

use clap::{ArgGroup, Parser, ValueEnum};
use tickwire::qos::GroupQos;
use tickwire::qos::{Durability, History, Presentation, PresentationScope, RepresentationId};
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, DomainParticipantBuilder};

/// Publishes or subscribes to shapes, as the OMG's interoperability suite wants it.
#[derive(Parser, Debug)]
#[command(
    name = "tickwire_shape_main",
    infer_long_args = true,
    args_override_self = true,
    group = ArgGroup::new("role").required(true).args(["publish", "subscribe"]),
    after_help = AFTER_HELP
)]
pub(crate) struct Options {
    /// Publish samples.
    #[arg(short = 'P')]
    pub(crate) publish: bool,
    /// Subscribe to samples.
    #[arg(short = 'S')]
    subscribe: bool,
    /// Verbosity: e for errors, d for debugging.
    #[arg(short = 'v', value_name = "LEVEL", default_value = "e")]
    verbosity: Verbosity,
    /// Domain id.
    #[arg(short = 'd', value_name = "ID", default_value_t = 0)]
    domain: u32,
    /// Best-effort reliability.
    #[arg(short = 'b', overrides_with = "reliable")]
    best_effort: bool,
    /// Reliable reliability, which is the default.
    #[arg(short = 'r', overrides_with = "best_effort")]
    reliable: bool,
    /// History depth; 0 keeps all.
    #[arg(short = 'k', value_name = "DEPTH")]
    depth: Option<u32>,
    /// Deadline; 0 is off.
    #[arg(short = 'f', value_name = "MS", default_value_t = 0)]
    deadline: u64,
    /// Ownership strength; -1 is shared ownership.
    #[arg(
        short = 's',
        value_name = "STRENGTH",
        default_value_t = -1,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(-1..)
    )]
    strength: i32,
    /// Topic.
    #[arg(short = 't', value_name = "NAME")]
    pub(crate) topic: String,
    /// Color to publish, or to which a subscriber restricts itself.
    #[arg(short = 'c', value_name = "COLOR")]
    color: Option<String>,
    /// Partition.
    #[arg(short = 'p', value_name = "NAME")]
    partition: Option<String>,
    /// Durability: v for VOLATILE, l TRANSIENT_LOCAL, t TRANSIENT, p PERSISTENT.
    #[arg(short = 'D', value_name = "KIND", default_value = "v")]
    durability: DurabilityKind,
    /// Data representation: 1 for XCDR1, 2 for XCDR2.
    #[arg(short = 'x', value_name = "1|2", default_value = "1")]
    representation: Representation,
    /// Print what is written.
    #[arg(short = 'w')]
    pub(crate) print_written: bool,
    /// Size of the shape; 0 begins with 1 and grows with every sample.
    #[arg(
        short = 'z',
        value_name = "SIZE",
        default_value_t = 20,
        value_parser = clap::value_parser!(i32).range(0..)
    )]
    pub(crate) shapesize: i32,
    /// Read instead of take.
    #[arg(short = 'R')]
    pub(crate) use_read: bool,
    /// Pause between writes.
    #[arg(long, value_name = "MS", default_value_t = 33)]
    write_period: u64,
    /// Pause between reads.
    #[arg(long, value_name = "MS", default_value_t = 100)]
    read_period: u64,
    /// Time-based filter of a subscriber; 0 is off.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    time_filter: u64,
    /// Lifespan of a publisher's samples; 0 is off.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    lifespan: u64,
    /// Writes or reads before the program ends by itself.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) num_iterations: Option<u32>,
    /// Instances to publish: COLOR, COLOR1, COLOR2 and so on.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) num_instances: u32,
    /// Topics, with a writer or a reader each: NAME, NAME1, NAME2 and so on.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) num_topics: u32,
    /// What becomes of a publisher's instances in the end: u unregistered, d disposed of.
    #[arg(long, value_name = "STATE")]
    pub(crate) final_instance_state: Option<FinalState>,
    /// Scope of coherent or ordered access: i for INSTANCE, t TOPIC, g GROUP.
    #[arg(long, value_name = "SCOPE")]
    access_scope: Option<Scope>,
    /// Coherent access.
    #[arg(long)]
    pub(crate) coherent: bool,
    /// Ordered access.
    #[arg(long)]
    pub(crate) ordered: bool,
    /// Samples of each writer and instance in a coherent set.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(2..))]
    coherent_sample_count: Option<u32>,
    /// Bytes that make each sample larger.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub(crate) additional_payload_size: usize,
    /// Read or take everything at once, not instance by instance.
    #[arg(long)]
    pub(crate) take_read: bool,
    /// Period of the participant's announcements; 0 leaves it to the implementation.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    periodic_announcement: u64,
    /// Size of fragments; 0 leaves it to the implementation.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    datafrag_size: u16,
    /// Content filter of a subscriber, as "shapesize <= 20".
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "color")]
    cft: Option<String>,
    /// With -z 0: begin again with 1 after this size.
    #[arg(long, value_name = "SIZE", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) size_modulo: Option<i32>,
}

/// How much to say.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Verbosity {
    #[value(name = "e")]
    Errors,
    #[value(name = "d")]
    Debug,
}

/// `-D`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum DurabilityKind {
    #[value(name = "v")]
    Volatile,
    #[value(name = "l")]
    TransientLocal,
    #[value(name = "t")]
    Transient,
    #[value(name = "p")]
    Persistent,
}

/// `-x`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Representation {
    #[value(name = "1")]
    Xcdr1,
    #[value(name = "2")]
    Xcdr2,
}

/// `--final-instance-state`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FinalState {
    #[value(name = "u")]
    Unregister,
    #[value(name = "d")]
    Dispose,
}

/// `--access-scope`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Scope {
    #[value(name = "i")]
    Instance,
    #[value(name = "t")]
    Topic,
    #[value(name = "g")]
    Group,
}

impl Options {
    /// Says what has no effect, and with `-v d` what is asked for.
    pub(crate) fn warn(&self) {
        if self.publish && self.color.is_none() {
            println!("warning: no color is given: it is {DEFAULT_COLOR}");
        }
        if self.access_scope.is_some() && !self.coherent && !self.ordered {
            println!("warning: --access-scope means nothing without --coherent or --ordered");
        }
        if self.verbosity == Verbosity::Debug {
            println!("{self:#?}");
        }
    }

    /// What a subscriber restricts itself to: an expression and its parameters.
    pub(crate) fn filter(&self) -> Option<(&str, Vec<String>)> {
        match (&self.cft, &self.color) {
            (Some(expression), _) => Some((expression, Vec::new())),
            (None, Some(color)) => Some(("color = %0", vec![format!("'{color}'")])),
            (None, None) => None,
        }
    }

    /// Whether a publisher begins a coherent set before this iteration; they count from 1.
    pub(crate) fn begins_set(&self, iteration: u32) -> bool {
        self.sets_of().is_some_and(|count| iteration % count == 1)
    }

    /// Whether a publisher ends a coherent set after this iteration.
    pub(crate) fn ends_set(&self, iteration: u32) -> bool {
        self.sets_of()
            .is_some_and(|count| iteration.is_multiple_of(count))
    }

    fn sets_of(&self) -> Option<u32> {
        self.coherent_sample_count
            .filter(|_| self.coherent || self.ordered)
    }

    /// What a publisher colors its first instance.
    pub(crate) fn color(&self) -> &str {
        self.color.as_deref().unwrap_or(DEFAULT_COLOR)
    }

    pub(crate) fn write_period(&self) -> Duration {
        Duration::from_millis(self.write_period)
    }

    pub(crate) fn read_period(&self) -> Duration {
        Duration::from_millis(self.read_period)
    }

    pub(crate) fn participant(&self) -> DomainParticipantBuilder {
        let mut builder = DomainParticipant::builder(self.domain);
        if self.periodic_announcement > 0 {
            let period = Duration::from_millis(self.periodic_announcement);
            builder = builder.announce_period(period);
        }
        if self.datafrag_size > 0 {
            builder = builder.max_fragment_bytes(self.datafrag_size.into());
        }
        builder
    }

    /// Of the publisher or the subscriber.
    pub(crate) fn group_qos(&self) -> GroupQos {
        let mut presentation = Presentation {
            coherent_access: self.coherent,
            ordered_access: self.ordered,
            ..Presentation::default()
        };
        if let Some(scope) = self.access_scope
            && (self.coherent || self.ordered)
        {
            presentation.access_scope = match scope {
                Scope::Instance => PresentationScope::Instance,
                Scope::Topic => PresentationScope::Topic,
                Scope::Group => PresentationScope::Group,
            };
        }
        GroupQos::default()
            .partition(self.partition.clone())
            .presentation(presentation)
    }

    pub(crate) fn writer_qos(&self) -> DataWriterQos {
        let mut qos = DataWriterQos::default().representation([self.representation()]);
        if self.best_effort {
            qos = qos.best_effort();
        }
        if let Some(history) = self.history() {
            qos = qos.with(|policies| policies.history = history);
        }
        if self.deadline > 0 {
            qos = qos.deadline(Duration::from_millis(self.deadline));
        }
        if self.lifespan > 0 {
            qos = qos.lifespan(Duration::from_millis(self.lifespan));
        }
        if self.strength >= 0 {
            qos = qos.exclusive(self.strength);
        }
        // Unless it disposes of them, the end of the program is to leave instances without writers.
        qos.with(|policies| policies.durability = self.durability())
            .autodispose_unregistered_instances(false)
    }

    pub(crate) fn reader_qos(&self) -> DataReaderQos {
        let mut qos = DataReaderQos::default().representation([self.representation()]);
        if !self.best_effort {
            qos = qos.reliable();
        }
        if let Some(history) = self.history() {
            qos = qos.with(|policies| policies.history = history);
        }
        if self.deadline > 0 {
            qos = qos.deadline(Duration::from_millis(self.deadline));
        }
        if self.strength >= 0 {
            qos = qos.exclusive();
        }
        let separation = Duration::from_millis(self.time_filter);
        qos.with(|policies| {
            policies.durability = self.durability();
            policies.time_based_filter = separation;
        })
    }

    fn history(&self) -> Option<History> {
        self.depth.map(|depth| match depth {
            0 => History::KeepAll,
            depth => History::KeepLast(depth),
        })
    }

    fn durability(&self) -> Durability {
        match self.durability {
            DurabilityKind::Volatile => Durability::Volatile,
            DurabilityKind::TransientLocal => Durability::TransientLocal,
            DurabilityKind::Transient => Durability::Transient,
            DurabilityKind::Persistent => Durability::Persistent,
        }
    }

    fn representation(&self) -> RepresentationId {
        match self.representation {
            Representation::Xcdr1 => RepresentationId::XCDR1,
            Representation::Xcdr2 => RepresentationId::XCDR2,
        }
    }
}

const DEFAULT_COLOR: &str = "BLUE";

const AFTER_HELP: &str = "\
Examples:
  tickwire_shape_main -P -t Square -c RED
  tickwire_shape_main -S -t Square -r -k 0 --read-period 500";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(format!("shape_main {line}").split_whitespace())
    }

    #[test]
    fn the_suites_command_lines_are_understood() {
        for line in [
            "-P -t Square -s -1 -r -k 0 -c BLUE -z 20 -x 2",
            "-P -t Square -f 2000 -w --write-period 3000",
            "-S -t Square -r -k 0 -D l --coherent --access-scope g --num-topics 3 --take-read",
            "-Pbt Square -x2 --write-period=50 --final u",
            "-S -t Square -v d -R --time-filter 1000 --periodic-announcement 1000",
        ] {
            if let Err(error) = parse(line) {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn fragments_and_announcements_are_the_participants() {
        let line = "-P -t Square --datafrag-size 1000 --periodic-announcement 250";
        let asked = parse(line).expect("a good line").participant();
        let expected = DomainParticipant::builder(0)
            .max_fragment_bytes(1_000)
            .announce_period(Duration::from_millis(250));
        assert_eq!(format!("{asked:?}"), format!("{expected:?}"));
        let plain = parse("-P -t Square").expect("a good line").participant();
        let default = DomainParticipant::builder(0);
        assert_eq!(format!("{plain:?}"), format!("{default:?}"));
    }

    #[test]
    fn the_last_of_contradicting_options_counts() {
        let best_effort = |line| parse(line).expect("a good line").best_effort;
        assert!(best_effort("-P -t Square -r -b"));
        assert!(!best_effort("-P -t Square -b -r"));
        assert_eq!(parse("-P -t a -t b").expect("a good line").topic, "b");
    }

    #[test]
    fn wrong_command_lines_are_refused() {
        for line in [
            "-t Square",
            "-P -S -t Square",
            "-P",
            "-P -t Square -s -2",
            "-P -t Square -D x",
            "-P -t Square --num-instances 0",
            "-S -t Square -c RED --cft color='RED'",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_set_spans_the_iterations_that_were_asked_for() {
        let line = "-P -t Square --coherent --coherent-sample-count 3";
        let options = parse(line).expect("a good line");
        let begins: Vec<_> = (1..8).filter(|&n| options.begins_set(n)).collect();
        let ends: Vec<_> = (1..8).filter(|&n| options.ends_set(n)).collect();
        assert_eq!((begins, ends), (vec![1, 4, 7], vec![3, 6]));
    }

    #[test]
    fn the_scope_counts_only_with_an_access() {
        let scope = |line| {
            let options = parse(line).expect("a good line");
            let writer = options.group_qos();
            writer == GroupQos::default()
        };
        assert!(scope("-P -t Square --access-scope t"));
        assert!(!scope("-P -t Square --access-scope t --ordered"));
    }
}
