//! `tickwire topic`, looking at endpoints of this process.

mod ahead;
mod echo;
mod list;
mod meter;
mod publish;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Domain, Folder};
use serde_json::Value;
use tickwire::{
    DataReaderQos, DataWriterQos, DomainParticipant, DomainParticipantBuilder, Guid, Topic,
};

/// Long enough that only a fault reaches it.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
pub(super) struct Quote {
    #[topic(key)]
    pub(super) symbol: String,
    pub(super) price: i64,
    pub(super) size: Option<u32>,
}

pub(super) fn quote(symbol: &str, price: i64, size: Option<u32>) -> Quote {
    let symbol = symbol.to_owned();
    Quote {
        symbol,
        price,
        size,
    }
}

pub(super) fn builder(domain: &Domain) -> DomainParticipantBuilder {
    let id = domain.id.parse().expect("a number");
    DomainParticipant::builder(id).name("the test")
}

pub(super) fn participant(domain: &Domain) -> DomainParticipant {
    builder(domain).build().expect("a participant")
}

/// `tickwire topic echo`, running.
pub(super) fn echo(domain: &Domain, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["topic", "echo", "-d", &domain.id])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary starts")
}

/// Lines of a child's standard output or error.
pub(super) fn lines(pipe: Option<impl Read>) -> impl Iterator<Item = String> {
    let pipe = pipe.expect("it is piped");
    BufReader::new(pipe).lines().map(|line| line.expect("text"))
}

pub(super) fn objects(lines: impl Iterator<Item = String>) -> Vec<Value> {
    let parse = |line: String| serde_json::from_str(&line).expect("JSON");
    lines.map(parse).collect()
}

/// A file of IDL with the type of quotes, in a folder.
pub(super) fn quote_idl(folder: &Folder, module: &str) -> String {
    let text = "struct Quote { @key string symbol; int64 price; @optional uint32 size; };";
    folder.write(
        "quote.idl",
        format!("module {module} {{ {text} }};").as_bytes(),
    );
    let path = folder.path().join("quote.idl");
    path.to_str().expect("text").to_owned()
}

/// `tickwire topic pub Quotes`, running.
pub(super) fn publish(domain: &Domain, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(["topic", "pub", "-d", &domain.id, "Quotes"])
        .args(arguments)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the built binary starts")
}

/// Waits until the other participant knows the endpoint, of which it tells nobody but by acknowledging it.
pub(super) fn wait_until_known(participant: &DomainParticipant, to: Guid, endpoint: Guid) {
    let view = participant.discovery();
    let begin = Instant::now();
    while !view.is_known_to(to, endpoint) {
        assert!(begin.elapsed() < PATIENCE, "nobody knows {endpoint}");
        let _news = view.wait_for(Duration::from_millis(1), || None::<()>);
    }
}

/// A writer of a history of quotes: A 1 (7), B -2, and the end of A.
pub(super) fn history(domain: &Domain) -> tickwire::DataWriter<Quote> {
    let participant = participant(domain);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_all().transient_local();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    writer.write(&quote("A", 1, Some(7))).expect("room");
    writer.write(&quote("B", -2, None)).expect("room");
    writer.dispose(&quote("A", 0, None)).expect("room");
    writer.write(&quote("C", 3, None)).expect("room");
    writer
}

/// What a run of `tickwire topic echo Quotes` prints.
pub(super) fn echoed(domain: &Domain, options: &[&str]) -> (i32, String, String) {
    let child = echo(domain, &[&["Quotes", "--timeout", "30s"], options].concat());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let status = output.status.code().unwrap_or(-1);
    (status, text(output.stdout), text(output.stderr))
}

/// A reader of quotes that keeps what it gets.
pub(super) fn quotes_reader(participant: &DomainParticipant) -> tickwire::DataReader<Quote> {
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    participant.reader_with(&topic, qos).expect("a reader")
}
