//! What a service says of the type of a log is what its writer said, whatever the type.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, fmt, fs};

use tickwire::qos::RepresentationId;
use tickwire::store::{Store, StoreOptions};
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, Guid, Topic, TopicSupport};
use tickwire_cdr::{TypeDescription, WString};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);
const DOMAIN: u32 = 151;

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "served::Folder")]
struct Folder {
    #[topic(key)]
    name: String,
    folders: Vec<Self>,
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "served::Expression", final)]
enum Expression {
    Number(f64),
    Negative(Box<Self>),
    Call(Call),
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "served::Call", final)]
struct Call {
    name: String,
    arguments: Vec<Vec<Expression>>,
}

/// Contains types that contain each other, but not the other way round.
#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "served::Rule", mutable, hash_ids)]
struct Rule {
    #[topic(key)]
    id: u32,
    left: Expression,
    right: Option<Expression>,
    folder: Folder,
}

#[derive(Topic, Clone, Copy, Debug, PartialEq)]
#[topic(name = "served::Side", bit_bound = 8)]
enum Side {
    Buy = 1,
    Sell = 5,
}

#[derive(Topic, Clone, Copy, Debug, PartialEq)]
#[topic(name = "served::Marks", bit_bound = 40, flags(OPEN, LATE = 39))]
struct Marks(u64);

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "served::BySide", discriminator = Side)]
enum BySide {
    #[topic(case = Side::Buy)]
    Bid(f64),
    #[topic(default = Side::Sell)]
    Other(Vec<u8>),
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "served::Kinds", mutable)]
struct Kinds {
    #[topic(key, id = 7)]
    side: Side,
    marks: Marks,
    by_side: BySide,
    names: BTreeMap<String, Vec<i16>>,
    #[topic(octet, bound = 4)]
    few: Vec<u8>,
    #[topic(bound = 12)]
    short: String,
    wide: WString,
    letter: char,
    grid: [[i32; 3]; 2],
    #[topic(must_understand)]
    maybe: Option<Box<f32>>,
    #[topic(hash_id = "other")]
    hashed: i64,
}

/// A store that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("tickwire-types-{}-{name}", std::process::id()));
        fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    fn participant(&self) -> DomainParticipant {
        DomainParticipant::builder(DOMAIN)
            .domain_tag(self.0.to_str().expect("UTF-8"))
            .store(StoreOptions::below(&self.0))
            .build()
            .expect("a participant")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What `peer` is told of the type of a writer, and the type that it then knows.
fn announced(peer: &DomainParticipant, writer: Guid) -> (Vec<u8>, TypeDescription) {
    let view = peer.discovery();
    let data = view.wait_for(PATIENCE, || {
        let writers = view.publications();
        writers.into_iter().find(|data| data.guid == writer)
    });
    let information = data.expect("it is announced").type_information.clone();
    let described = view.type_of(writer, PATIENCE).expect("it is described");
    (information, described)
}

fn is_served<T>(sample: &T)
where
    T: tickwire_cdr::Topic + TopicSupport<Type = ()> + PartialEq + fmt::Debug,
{
    let scratch = Scratch::new(&T::DESCRIPTION.name.replace("::", "-"));
    let here = scratch.participant();
    let topic = here.topic::<T>("Served").expect("a topic");
    let qos = DataWriterQos::default().transient();
    let writer = here.writer_with(&topic, qos).expect("a writer");
    writer.write(sample).expect("written");
    let of_writer = announced(&scratch.participant(), writer.guid());
    assert_eq!(&of_writer.1, T::DESCRIPTION);
    drop(writer);

    let logs = Store::logs(&scratch.0.join("transient")).expect("a store");
    let service = here.serve_log(&logs[0]).expect("nobody has it");
    // Nothing that it knew of the writer is of use to it.
    let peer = scratch.participant();
    assert_eq!(announced(&peer, service.guid()), of_writer);
    let topic = peer.topic::<T>("Served").expect("a topic");
    let qos = DataReaderQos::default().reliable().transient();
    let reader = peer.reader_with(&topic, qos).expect("a reader");
    reader.wait_for_data(PATIENCE).expect("what it left");
    assert_eq!(reader.take().data().collect::<Vec<_>>(), [sample]);
    drop(service);
    assert_eq!(restored::<T>(&here, transient()), 1);
}

fn transient() -> DataWriterQos {
    DataWriterQos::default().transient()
}

/// What a writer takes over from logs.
fn restored<T>(participant: &DomainParticipant, qos: DataWriterQos) -> u64
where
    T: tickwire_cdr::Topic + TopicSupport<Type = ()>,
{
    let topic = participant.topic::<T>("Served").expect("a topic");
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    writer.counters().restored
}

/// Versions of one type.
mod first {
    #[derive(tickwire::Topic, Clone, Debug, PartialEq)]
    #[topic(name = "served::Level", final)]
    pub(crate) struct Level {
        pub(crate) id: u32,
        pub(crate) price: i64,
    }

    #[derive(tickwire::Topic, Clone, Debug, PartialEq)]
    #[topic(name = "served::Order")]
    pub(crate) struct Order {
        pub(crate) id: u32,
    }
}

mod second {
    #[derive(tickwire::Topic, Clone, Debug, PartialEq)]
    #[topic(name = "served::Level", final)]
    pub(crate) struct Level {
        pub(crate) id: u32,
        pub(crate) quantity: u32,
        pub(crate) price: i64,
    }

    #[derive(tickwire::Topic, Clone, Debug, PartialEq)]
    #[topic(name = "served::Order")]
    pub(crate) struct Order {
        pub(crate) id: u32,
        pub(crate) quantity: u32,
    }
}

#[test]
fn a_log_of_a_type_or_encoding_that_does_not_fit_is_left_alone() {
    let scratch = Scratch::new("versions");
    let here = scratch.participant();
    let write = |qos| {
        let topic = here.topic::<first::Level>("Served").expect("a topic");
        let writer = here.writer_with(&topic, qos).expect("a writer");
        let level = first::Level { id: 1, price: 2 };
        writer.write(&level).expect("written");
    };
    write(transient());
    // A reader of the new type would take the price for the quantity.
    assert_eq!(
        restored::<second::Level>(&scratch.participant(), transient()),
        0
    );
    let other = || transient().representation([RepresentationId::XCDR2]);
    assert_eq!(restored::<first::Level>(&here, other()), 0);
    assert_eq!(restored::<first::Level>(&here, transient()), 1);
    let logs = Store::logs(&scratch.0.join("transient")).expect("a store");
    assert_eq!(logs.len(), 3);
}

#[test]
fn a_log_of_an_older_version_that_readers_can_read_is_taken_over() {
    let scratch = Scratch::new("extended");
    let here = scratch.participant();
    let topic = here.topic::<first::Order>("Served").expect("a topic");
    let writer = here.writer_with(&topic, transient()).expect("a writer");
    writer.write(&first::Order { id: 1 }).expect("written");
    drop(writer);
    assert_eq!(
        restored::<second::Order>(&scratch.participant(), transient()),
        1
    );
}

fn folder() -> Folder {
    let name = "prices".to_owned();
    let empty = |name: &str| Folder {
        name: name.to_owned(),
        folders: Vec::new(),
    };
    Folder {
        name,
        folders: vec![empty("bids"), empty("asks")],
    }
}

#[test]
fn types_that_contain_themselves_are_served() {
    is_served(&folder());
}

#[test]
fn types_that_contain_each_other_are_served() {
    let call = Call {
        name: "max".to_owned(),
        arguments: vec![vec![Expression::Number(2.0)], Vec::new()],
    };
    is_served(&Rule {
        id: 3,
        left: Expression::Negative(Box::new(Expression::Call(call))),
        right: None,
        folder: folder(),
    });
}

#[test]
fn types_of_all_kinds_are_served() {
    is_served(&Kinds {
        side: Side::Sell,
        marks: Marks(Marks::OPEN.0 | Marks::LATE.0),
        by_side: BySide::Other(vec![1, 2]),
        names: BTreeMap::from([("bid".to_owned(), vec![-1, 2])]),
        few: vec![9, 8],
        short: "seven".to_owned(),
        wide: "株価".into(),
        letter: 'x',
        grid: [[1, 2, 3], [4, 5, 6]],
        maybe: Some(Box::new(1.5)),
        hashed: 1 << 40,
    });
}
