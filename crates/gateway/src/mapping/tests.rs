use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use tickwire::cdr::{Topic, from_payload_into};
use tickwire_fast::{Decimal, Decoder, Mode, Visitor};
use tickwire_feed::{Frames, Framing};

use super::*;

/// What the samples of the book feed below are, as an application would declare it.
#[derive(Clone, Debug, PartialEq, Topic)]
#[topic(crate = tickwire::cdr)]
struct Book {
    #[topic(rename = "SecurityID")]
    security_id: u32,
    #[topic(rename = "Number")]
    number: u32,
    #[topic(rename = "Entries")]
    entries: Vec<Entry>,
    #[topic(rename = "Note")]
    note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Topic)]
#[topic(crate = tickwire::cdr)]
struct Entry {
    #[topic(rename = "SecurityID")]
    security_id: u32,
    #[topic(rename = "Price")]
    price: Option<Price>,
    #[topic(rename = "Size")]
    size: i32,
}

#[derive(Clone, Debug, PartialEq, Topic)]
#[topic(final, crate = tickwire::cdr)]
struct Price {
    mantissa: i64,
    exponent: i32,
}

const BOOK: &str = r#"
<templates>
  <template name="Book" id="1">
    <uInt32 name="Number"/>
    <sequence name="Entries">
      <uInt32 name="SecurityID"/>
      <decimal name="Price" presence="optional"/>
      <int32 name="Size"/>
    </sequence>
    <string name="Note" presence="optional"/>
  </template>
  <template name="Trade" id="2"><uInt32 name="SecurityId"/><uInt32 name="Size"/></template>
  <template name="Envelope" id="3"><templateRef/></template>
</templates>"#;

fn book() -> Templates {
    Templates::parse(BOOK, Mode::Strict).expect("our own templates")
}

/// A Book with an entry for each of `securities`, whose sizes count from 1.
fn book_message(templates: &Templates, securities: &[u64]) -> Message {
    let template = templates.by_name("Book").expect("it is there");
    let entries = template.field("Entries").expect("it is there");
    let of_entry: Vec<_> = entries.fields().map(|field| field.index()).collect();
    let mut message = Message::new();
    message.start(template);
    message.unsigned(template.field("Number").expect("it is there").index(), 9);
    message.begin_sequence(entries.index(), securities.len() as u32);
    for (at, security) in (0..).zip(securities) {
        message.begin_element(entries.index(), at);
        message.unsigned(of_entry[0], *security);
        if at % 2 == 0 {
            message.decimal(of_entry[1], Decimal::new(1_025, -2).expect("in range"));
        }
        message.signed(of_entry[2], i64::from(at) + 1);
        message.end_element(entries.index());
    }
    message.end_sequence(entries.index());
    message
}

fn trade_message(templates: &Templates) -> Message {
    let template = templates.by_name("Trade").expect("it is there");
    let mut message = Message::new();
    message.start(template);
    for field in template.fields() {
        message.unsigned(field.index(), 17);
    }
    message
}

/// Names of topics with the payloads that went to them.
fn map(mapper: &mut Mapper, message: &Message) -> Vec<(String, Vec<u8>)> {
    let mut samples = Vec::new();
    let mapped = mapper.map(message, |topics, topic, sample| {
        samples.push((topics[topic.0].name.clone(), sample.payload().to_vec()));
        Ok::<(), Infallible>(())
    });
    assert_eq!(mapped, Ok(()));
    samples
}

#[test]
fn messages_of_the_default_template_have_their_topic() {
    let xml = r#"<template name="OPRA"><uInt32 name="Price"/></template>"#;
    let templates = Templates::parse(xml, Mode::Strict).expect("our own template");
    assert_eq!(
        Mapper::new(&templates, Mapping::Automatic).topics().len(),
        0,
        "nothing says that it has messages"
    );
    let templates = templates.with_default("OPRA").expect("it is there");
    let mut mapper = Mapper::new(&templates, Mapping::Automatic);
    let template = templates.by_name("OPRA").expect("it is there");
    let mut message = Message::new();
    message.start(template);
    message.unsigned(template.field("Price").expect("it is there").index(), 7);
    let samples = map(&mut mapper, &message);
    assert_eq!(samples.len(), 1);
    assert_eq!(samples[0].0, "OPRA");
}

fn entry(security_id: u32, size: i32, priced: bool) -> Entry {
    let price = priced.then_some(Price {
        mantissa: 1_025,
        exponent: -2,
    });
    Entry {
        security_id,
        price,
        size,
    }
}

fn decode(payload: &[u8]) -> Book {
    let mut book = Book {
        security_id: 0,
        number: 0,
        entries: Vec::new(),
        note: None,
    };
    from_payload_into(payload, &mut book).expect("a payload of the declared type");
    book
}

#[test]
fn a_message_over_two_securities_is_a_sample_on_each_ones_topic() {
    let templates = book();
    let mut mapper = Mapper::new(&templates, Mapping::Automatic);
    let samples = map(&mut mapper, &book_message(&templates, &[17, 21, 17]));
    let names: Vec<_> = samples.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Book.17", "Book.21"]);
    let of_17 = Book {
        security_id: 17,
        number: 9,
        entries: vec![entry(17, 1, true), entry(17, 3, true)],
        note: None,
    };
    assert_eq!(decode(&samples[0].1), of_17);
    let of_21 = Book {
        security_id: 21,
        entries: vec![entry(21, 2, false)],
        ..of_17
    };
    assert_eq!(decode(&samples[1].1), of_21);
}

#[test]
fn a_keyed_topic_has_the_security_as_key() {
    let templates = book();
    let mut mapper = Mapper::new(&templates, Mapping::Keyed);
    let samples = map(&mut mapper, &book_message(&templates, &[17, 21]));
    let names: Vec<_> = samples.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Book", "Book"]);
    for ty in mapper.types() {
        let keys: Vec<_> = ty
            .description()
            .members
            .iter()
            .filter(|member| member.key)
            .map(|member| &*member.name)
            .collect();
        assert_eq!(keys.len(), 1, "{}", &*ty.description().name);
        assert!(keys[0].eq_ignore_ascii_case("SecurityID"));
    }
}

#[test]
fn a_topic_per_type_has_whole_messages() {
    let templates = book();
    let mut mapper = Mapper::new(&templates, Mapping::TopicPerType);
    let samples = map(&mut mapper, &book_message(&templates, &[17, 21, 17]));
    assert_eq!(samples.len(), 1);
    assert_eq!(samples[0].0, "Book");
    assert_eq!(&*mapper.types()[0].description().members[0].name, "Number");
}

#[test]
fn a_template_without_sequence_is_split_only_when_asked() {
    let templates = book();
    let trade = trade_message(&templates);
    let topic = |mapping| {
        map(&mut Mapper::new(&templates, mapping), &trade)[0]
            .0
            .clone()
    };
    assert_eq!(topic(Mapping::Automatic), "Trade");
    assert_eq!(topic(Mapping::TopicPerSecurity), "Trade.17");
}

#[test]
fn the_description_is_what_an_application_would_declare() {
    let mapper = Mapper::new(&book(), Mapping::TopicPerSecurity);
    let made = mapper.types()[0].description();
    let declared = Book::description();
    let names = |description: &tickwire::cdr::TypeDescription| -> Vec<_> {
        let members = description.members.iter();
        members
            .map(|member| (member.name.to_string(), member.optional, member.id))
            .collect()
    };
    assert_eq!(names(made), names(declared));
    assert_eq!(made.extensibility, declared.extensibility);
}

#[test]
fn templates_of_one_name_have_a_topic_each() {
    let xml = r#"<templates>
        <template name="X-Quote" id="1"><uInt32 name="A"/></template>
        <template name="X-Quote" templateNs="other" id="2"><uInt32 name="A"/></template>
        <template name="X_QUOTE" id="3"><uInt32 name="A"/></template></templates>"#;
    let templates = Templates::parse(xml, Mode::Strict).expect("our own templates");
    let mapper = Mapper::new(&templates, Mapping::TopicPerType);
    let topics = mapper.topics().iter();
    let names: Vec<_> = topics
        .map(|topic| (&*topic.name, &*topic.template))
        .collect();
    let expected = [
        ("X_Quote", "X-Quote"),
        ("X_Quote_2", "X-Quote"),
        ("X_QUOTE_3", "X_QUOTE"),
    ];
    assert_eq!(names, expected);
}

#[test]
fn what_cannot_be_a_topic_is_said_and_its_messages_refused() {
    let templates = book();
    let mut mapper = Mapper::new(&templates, Mapping::Automatic);
    let [(name, reason)] = mapper.unmapped() else {
        panic!("one template has no topic: {:?}", mapper.unmapped());
    };
    assert_eq!(name, "Envelope");
    assert!(reason.to_string().contains("templateRef"), "{reason}");
    let mut message = Message::new();
    message.start(templates.by_name("Envelope").expect("it is there"));
    let refused = mapper.map(&message, |_, _, _| Ok::<(), Infallible>(()));
    assert_eq!(refused, Err(MapError::NoTopic));
}

#[test]
fn a_message_without_entries_is_no_sample() {
    let templates = book();
    let mut mapper = Mapper::new(&templates, Mapping::Automatic);
    assert_eq!(map(&mut mapper, &book_message(&templates, &[])), []);
}

/// As many securities as entries: what would be 10 billion steps if each were compared with each.
#[test]
fn each_entry_is_looked_at_few_times() {
    let templates = book();
    let mut mapper = Mapper::new(&templates, Mapping::Keyed);
    let securities: Vec<u64> = (0..100_000).rev().collect();
    let samples = map(&mut mapper, &book_message(&templates, &securities));
    assert_eq!(samples.len(), securities.len());
    for (security, (_, payload)) in securities.iter().zip(&samples).step_by(9_999) {
        let book = decode(payload);
        assert_eq!(u64::from(book.security_id), *security);
        assert_eq!(book.entries.len(), 1);
    }
}

#[test]
fn securities_beyond_the_limit_are_refused() {
    let templates = book();
    let mut mapper = Mapper::new(&templates, Mapping::Automatic);
    mapper.limit_securities(2);
    map(&mut mapper, &book_message(&templates, &[1, 2]));
    let refused = mapper.map(&book_message(&templates, &[3]), |_, _, _| {
        Ok::<(), Infallible>(())
    });
    assert_eq!(refused, Err(MapError::TooManySecurities));
    map(&mut mapper, &book_message(&templates, &[2]));
}

#[test]
fn topics_beyond_the_limit_are_refused() {
    let templates = book();
    let mut mapper = Mapper::new(&templates, Mapping::Automatic);
    // Trade's, and those of one security.
    mapper.limit_topics(2);
    map(&mut mapper, &book_message(&templates, &[1]));
    let refused = mapper.map(&book_message(&templates, &[1, 2]), |_, _, _| {
        Ok::<(), Infallible>(())
    });
    assert_eq!(refused, Err(MapError::TooManySecurities));
    assert_eq!(mapper.topics().len(), 2);
}

/// The article's own data: 30,000 messages become 41,700 + 300 samples on 200 topics.
#[test]
fn the_golden_file_gives_the_articles_counts() {
    // Beside the repository; the folder is not part of it.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden");
    let (Ok(xml), Ok(file)) = (
        fs::read_to_string(folder.join("complex-templates.xml")),
        fs::read(folder.join("complex30000.dat")),
    ) else {
        // Past the harness, which keeps what passing tests print to itself.
        let test = "the_golden_file_gives_the_articles_counts";
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN: {test}: no {}",
            folder.display()
        );
        return;
    };
    let templates = Templates::parse(&xml, Mode::Lenient).expect("QuickFAST's dialect");
    let mut mapper = Mapper::new(&templates, Mapping::Automatic);
    let mut decoder = Decoder::new(&templates);
    let mut message = Message::new();
    let mut samples = BTreeMap::new();
    for frame in Frames::new(Framing::U32Le, &file) {
        decoder.reset();
        decoder
            .decode(frame.expect("whole").packet, &mut message)
            .expect("sound");
        for (name, _) in map(&mut mapper, &message) {
            let template = name.split('.').next().unwrap_or_default().to_owned();
            *samples.entry(template).or_insert(0) += 1;
        }
    }
    let expected = [("Done", 1), ("MarketData", 41_700), ("QuoteRequest", 300)];
    assert_eq!(
        samples,
        expected
            .map(|(name, count)| (name.to_owned(), count))
            .into()
    );
    let by_security = mapper
        .topics()
        .iter()
        .filter(|topic| topic.name.contains('.'));
    assert_eq!(by_security.count(), 200);
}
