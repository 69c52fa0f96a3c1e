//! Template files with what those of living and historic venues, and of QuickFAST and mFAST, have: each loads unchanged in
//! the mode that docs/fast.md names, and what is encoded by them is decoded.

use std::fs;
use std::path::Path;

use tickwire_fast::{Decoder, Encoder, Message, Mode, TemplateId, Templates, Value};
use tickwire_fast_conformance::{Choices, Messages, Shape};

/// File, whether lenient mode is needed, number of templates and of fields.
const FILES: [(&str, bool, usize, usize); 11] = [
    ("asts", false, 1, 12),
    ("b3", false, 2, 17),
    ("cme", false, 1, 12),
    ("cqg", false, 3, 18),
    ("mfast", true, 1, 21),
    ("opra", false, 1, 6),
    ("quickfast", true, 1, 5),
    ("shanghai", false, 1, 9),
    ("shenzhen", true, 2, 10),
    ("spectra", true, 3, 11),
    ("t7", false, 3, 23),
];

fn read(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    fs::read_to_string(directory.join(format!("{name}.xml"))).unwrap()
}

fn load(name: &str) -> Templates {
    Templates::parse(&read(name), Mode::Lenient).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn each_file_loads_in_its_mode() {
    let seen = FILES.map(|(name, ..)| {
        let templates = load(name);
        let strict = Templates::parse(&read(name), Mode::Strict);
        let count = templates.iter().count();
        (name, strict.is_err(), count, templates.field_count())
    });
    assert_eq!(seen, FILES);
}

#[test]
fn what_is_encoded_is_decoded() {
    for (name, ..) in FILES {
        let templates = match name {
            "opra" => load(name).with_default("Quote").unwrap(),
            _ => load(name),
        };
        let mut messages = Messages::new(&templates, Shape::Dialect, Choices::from_seed(1));
        let (mut encoder, mut decoder) = (Encoder::new(&templates), Decoder::new(&templates));
        let (mut message, mut decoded) = (Message::new(), Message::new());
        let mut encoded = 0;
        for _ in 0..200 {
            messages.fill(&mut message).unwrap();
            let (mut bytes, mut again) = (Vec::new(), Vec::new());
            // A random value may have no encoding; a random message of a reset template is its own.
            if encoder.encode(&message, &mut bytes).is_err() {
                encoder.reset();
                decoder.reset();
                continue;
            }
            let mut twin = encoder.clone();
            let consumed = decoder.decode(&bytes, &mut decoded);
            assert_eq!(consumed, Ok(bytes.len()), "{name} {message:?}");
            twin.reset();
            twin.encode(&decoded, &mut again).unwrap();
            encoded += 1;
        }
        assert!(encoded > 100, "{name}: {encoded}");
    }
}

/// Deutsche Boerse's initial values are integers, and its 1.1 and 1.2 files the same interface.
#[test]
fn t7_initial_values_are_integers() {
    let templates = load("t7");
    let template = templates.by_name("Instrument").unwrap();
    for (name, expected) in [
        ("SecurityType", 3),
        ("LastFragment", 1),
        ("MDBookType", 1),
        ("TradeCondition", 9),
    ] {
        let instruction = template.field(name).unwrap().instructions().next();
        let initial = instruction.and_then(|instruction| instruction.initial());
        assert_eq!(initial, Some(Value::Unsigned(expected)), "{name}");
    }
    let kind = template
        .field("SecurityType")
        .unwrap()
        .enumeration()
        .unwrap();
    assert_eq!(&*kind.with_value(3).unwrap().name, "VAR");
}

#[test]
fn resets_are_seen() {
    for (name, id) in [("spectra", 120), ("t7", 120), ("quickfast", 3)] {
        assert!(load(name).by_id(TemplateId(id)).unwrap().resets(), "{name}");
    }
}
