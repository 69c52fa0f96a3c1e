//! The corpus in C, C++ or C#: a program of it and the Rust of the same IDL read and write the same bytes,
//! whatever values they are of, and refuse the same payloads. The program runs with the sanitizers of
//! the compiler, if it has them.

use std::cell::RefCell;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};
use tickwire::cdr::{
    DecodeErrorKind, Representation, Topic, TypeDescription, dynamic, from_payload_into,
    key_from_payload_into, key_to_payload, to_payload,
};
use tickwire_idl::{Files, Options, compile};
use tickwire_idl_conformance::{cyclone, encodings, kinds, market_data, rare, ros};

use crate::peer::{self, Form, Language, Peer, TOO_LARGE};
use crate::{in_each_language, values};

/// A type in both languages, by its name in IDL.
#[derive(Clone, Copy, Debug)]
struct Known {
    name: &'static str,
    description: &'static TypeDescription,
    read: fn(&[u8], Form) -> Result<Written, DecodeErrorKind>,
}

/// A value in both versions of the encoding, as Rust writes it.
#[derive(PartialEq, Eq, Debug)]
struct Written {
    samples: [Vec<u8>; 2],
    keys: [Vec<u8>; 2],
}

const BOTH: [Representation; 2] = [Representation::Xcdr1, Representation::Xcdr2];

fn read<T: Topic + Default>(payload: &[u8], form: Form) -> Result<Written, DecodeErrorKind> {
    let mut value = T::default();
    let read = match form {
        Form::Sample => from_payload_into(payload, &mut value),
        Form::Key => key_from_payload_into(payload, &mut value),
    };
    read.map_err(|error| error.kind)?;
    let all = |write: fn(&T, Representation, &mut Vec<u8>) -> Result<(), _>| {
        BOTH.map(|representation| {
            let mut payload = Vec::new();
            write(&value, representation, &mut payload).expect("what was read can be written");
            payload
        })
    };
    Ok(Written {
        samples: all(to_payload),
        keys: all(key_to_payload),
    })
}

macro_rules! known {
    ($($name:literal $rust:ty;)*) => {
        const KNOWN: &[Known] = &[$(Known {
            name: $name,
            description: <$rust as Topic>::DESCRIPTION,
            read: read::<$rust>,
        },)*];
    };
}

known! {
    "wire::Closed" encodings::wire::Closed;
    "wire::Open" encodings::wire::Open;
    "wire::Flowing" encodings::wire::Flowing;
    "wire::Nesting" encodings::wire::Nesting;
    "wire::Tree" encodings::wire::Tree;
    "wire::Forest" encodings::wire::Forest;
    "wire::Version1" encodings::wire::Version1;
    "wire::Version2" encodings::wire::Version2;
    "wire::Older" encodings::wire::Older;
    "wire::Newer" encodings::wire::Newer;
    "trading::Order" kinds::trading::Order;
    "trading::Instrument" kinds::trading::Instrument;
    "trading::Hashed" kinds::trading::Hashed;
    "trading::Node" kinds::trading::Node;
    "other::inner::Level" kinds::other::inner::Level;
    "trading::Reopened" kinds::trading::Reopened;
    "Everything" rare::Everything;
    "Wider" rare::Wider;
    "Chain" rare::Chain;
    "Ring" rare::Ring;
    "Partly" rare::Partly;
    "OldTried" rare::OldTried;
    "NewTried" rare::NewTried;
    "MiddlewareNewsBrief::MarketData" market_data::middleware_news_brief::MarketData;
    "MiddlewareNewsBrief::QuoteRequest" market_data::middleware_news_brief::QuoteRequest;
    "HelloWorldData::Msg" cyclone::hello_world_data::Msg;
    "HelloWorldData::Plain" cyclone::hello_world_data::Plain;
    "sensor_msgs::msg::BatteryState" ros::sensor_msgs::msg::BatteryState;
}

/// Files of the corpus, and what they are called.
const IDL: &[(&str, &str)] = &[
    ("encodings.idl", "encodings"),
    ("kinds.idl", "kinds"),
    ("rare.idl", "rare"),
    ("MarketData.idl", "MarketData"),
    ("cyclone.idl", "cyclone"),
    ("ros/sensor_msgs/msg/BatteryState.idl", "BatteryState"),
];

fn program(language: Language) -> PathBuf {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus");
    let options = Options {
        search: vec![corpus.join("ros")],
        ..Options::default()
    };
    let files = IDL.iter().map(|(path, name)| {
        let compilation = compile(&[corpus.join(path)], &options, &mut Files);
        (*name, compilation.unwrap_or_else(|error| panic!("{error}")))
    });
    let files: Vec<_> = files.collect();
    let types: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    peer::build("corpus", language, &files, &types)
}

/// Runs a property against the program.
fn check<S: Strategy<Value: Debug>>(
    language: Language,
    cases: u32,
    strategy: S,
    property: impl Fn(&mut Peer, S::Value) -> TestCaseResult,
) {
    static PROGRAMS: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
    let program = PROGRAMS[language as usize].get_or_init(|| program(language));
    let peer = RefCell::new(Peer::start(language, program));
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let run = runner.run(&strategy, |value| property(&mut peer.borrow_mut(), value));
    run.unwrap_or_else(|failure| panic!("{failure}"));
    peer.into_inner().end();
}

fn choices() -> impl Strategy<Value = Vec<u64>> {
    vec(any::<u64>(), 0..300)
}

/// The payload of a value of a type, as numbers choose.
fn payload(known: &Known, representation: Representation, choices: Vec<u64>) -> Vec<u8> {
    let data = values::struct_of(known.description, &mut choices.into_iter(), 0);
    let omissions = dynamic::Omissions::Defaulted;
    let mut payload = Vec::new();
    dynamic::write(
        known.description,
        &data,
        omissions,
        representation,
        &mut payload,
    )
    .unwrap_or_else(|error| panic!("{}: {error}", known.name));
    payload
}

fn values_are_the_same_bytes_in_both_languages(language: Language) {
    let strategy = (0..KNOWN.len(), 0..2_usize, choices());
    check(
        language,
        2000,
        strategy,
        |peer, (index, version, choices)| {
            let known = &KNOWN[index];
            let payload = payload(known, BOTH[version], choices);
            let written = (known.read)(&payload, Form::Sample).expect("it is a value");
            let answer = peer.ask(index, Form::Sample, &written.samples[version]);
            let answer =
                answer.map_err(|status| TestCaseError::fail(format!("{known:?}: {status}")))?;
            prop_assert_eq!(&answer.samples[..2], &written.samples, "{}", known.name);
            prop_assert_eq!(&answer.keys[..2], &written.keys, "{}", known.name);
            // In big-endian, too.
            for (sample, key) in answer.samples[2..].iter().zip(&answer.keys[2..]) {
                let sample = (known.read)(sample, Form::Sample);
                prop_assert_eq!(sample.as_ref(), Ok(&written), "{}", known.name);
                let key = (known.read)(key, Form::Key).map(|written| written.keys);
                prop_assert_eq!(key.as_ref(), Ok(&written.keys), "{}", known.name);
            }
            for key in &written.keys {
                let answer = peer.ask(index, Form::Key, key);
                let answer = answer.map_err(|status| TestCaseError::fail(format!("{status}")))?;
                prop_assert_eq!(&answer.keys[..2], &written.keys, "{}", known.name);
            }
            Ok(())
        },
    );
}

/// What somebody does to a payload.
#[derive(Clone, Debug)]
enum Damage {
    Cut(prop::sample::Index),
    Byte(prop::sample::Index, u8),
    Word(prop::sample::Index, u32),
    Insert(prop::sample::Index, u8),
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let at = any::<prop::sample::Index>;
    let word = prop_oneof![any::<u32>(), 0..40_u32, Just(u32::MAX), Just(0x8000_0000)];
    let damage = prop_oneof![
        at().prop_map(Damage::Cut),
        (at(), prop_oneof![any::<u8>(), 0..8_u8]).prop_map(|(at, to)| Damage::Byte(at, to)),
        (at(), word).prop_map(|(at, to)| Damage::Word(at, to)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
    ];
    vec(damage, 0..4)
}

fn damage(payload: &mut Vec<u8>, all: Vec<Damage>) {
    for damage in all {
        let len = payload.len();
        match damage {
            Damage::Cut(at) => payload.truncate(at.index(len + 1)),
            Damage::Insert(at, byte) => payload.insert(at.index(len + 1), byte),
            Damage::Byte(at, to) if len > 0 => payload[at.index(len)] = to,
            Damage::Word(at, to) if len >= 4 => {
                let at = at.index(len / 4) * 4;
                payload[at..at + 4].copy_from_slice(&to.to_le_bytes());
            }
            _ => {}
        }
    }
}

/// That both languages make the same of any bytes.
fn agree(peer: &mut Peer, index: usize, form: Form, payload: &[u8]) -> TestCaseResult {
    let known = &KNOWN[index];
    let expected = (known.read)(payload, form);
    let answer = peer.ask(index, form, payload);
    match (expected, answer) {
        // What counts as too much memory depends on the language.
        (Err(DecodeErrorKind::TooLarge), _) | (_, Err(TOO_LARGE)) => {}
        // Rust also reads keys of Cyclone DDS 0.10, which lack a length.
        (Ok(_), Err(_)) if form == Form::Key && payload.get(1) == Some(&9) => {}
        (Ok(expected), Ok(answer)) => {
            // Others keep what Rust makes the same: the order of a map, and which label a union has.
            for (version, again) in answer.samples.iter().enumerate() {
                let again = (known.read)(again, Form::Sample);
                prop_assert_eq!(again.as_ref(), Ok(&expected), "{} {}", known.name, version);
            }
            for (version, again) in answer.keys.iter().enumerate() {
                let again = (known.read)(again, Form::Key).map(|again| again.keys);
                prop_assert_eq!(
                    again.as_ref(),
                    Ok(&expected.keys),
                    "{} {}",
                    known.name,
                    version
                );
            }
        }
        (Err(_), Err(_)) => {}
        (expected, answer) => {
            let answer = answer.map(drop);
            let message = format!(
                "{}: Rust {expected:?}, {:?} {answer:?}: {payload:?}",
                known.name, peer.language
            );
            return Err(TestCaseError::fail(message));
        }
    }
    Ok(())
}

fn damaged_payloads_are_the_same_in_both_languages(language: Language) {
    let form = prop_oneof![3 => Just(Form::Sample), 1 => Just(Form::Key)];
    let strategy = (0..KNOWN.len(), 0..2_usize, form, choices(), damages());
    check(
        language,
        12000,
        strategy,
        |peer, (index, version, form, choices, damages)| {
            let known = &KNOWN[index];
            let mut payload = payload(known, BOTH[version], choices);
            if form == Form::Key {
                let written = (known.read)(&payload, Form::Sample).expect("it is a value");
                payload = written.keys[version].clone();
            }
            damage(&mut payload, damages);
            agree(peer, index, form, &payload)
        },
    );
}

/// What a type cannot hold becomes a default or a part of it, or the sample is refused, in each language alike.
fn what_a_type_cannot_hold_is_the_same_in_both_languages(language: Language) {
    let at = |name| KNOWN.iter().position(|known| known.name == name);
    let (old, new) = (at("OldTried").expect("one"), at("NewTried").expect("one"));
    let strategy = (0..2_usize, choices(), damages());
    check(
        language,
        6000,
        strategy,
        |peer, (version, choices, damages)| {
            let mut payload = payload(&KNOWN[new], BOTH[version], choices);
            agree(peer, old, Form::Sample, &payload)?;
            damage(&mut payload, damages);
            agree(peer, old, Form::Sample, &payload)
        },
    );
}

fn payloads_of_other_types_are_the_same_in_both_languages(language: Language) {
    let strategy = (
        0..KNOWN.len(),
        0..KNOWN.len(),
        0..2_usize,
        choices(),
        damages(),
    );
    check(
        language,
        4000,
        strategy,
        |peer, (of, index, version, choices, damages)| {
            let mut payload = payload(&KNOWN[of], BOTH[version], choices);
            // As if it were of that extensibility.
            let kinds: [[u8; 3]; 2] = [[1, 1, 3], [7, 9, 11]];
            payload[1] = kinds[version][KNOWN[index].description.extensibility as usize];
            damage(&mut payload, damages);
            agree(peer, index, Form::Sample, &payload)
        },
    );
}

fn any_bytes_are_the_same_in_both_languages(language: Language) {
    let bytes = vec(prop_oneof![any::<u8>(), 0..6_u8], 0..200);
    let kind = prop_oneof![
        Just(1),
        Just(3),
        Just(7),
        Just(9),
        Just(11),
        Just(0),
        Just(6),
        Just(8)
    ];
    let strategy = (0..KNOWN.len(), any::<bool>(), kind, bytes);
    check(
        language,
        3000,
        strategy,
        |peer, (index, key, kind, bytes)| {
            let payload = [&[0, kind, 0, 0], &*bytes].concat();
            let form = if key { Form::Key } else { Form::Sample };
            agree(peer, index, form, &payload)
        },
    );
}

in_each_language! {
    values_are_the_same_bytes_in_both_languages
    damaged_payloads_are_the_same_in_both_languages
    what_a_type_cannot_hold_is_the_same_in_both_languages
    payloads_of_other_types_are_the_same_in_both_languages
    any_bytes_are_the_same_in_both_languages
}
