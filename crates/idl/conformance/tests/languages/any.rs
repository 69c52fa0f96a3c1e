//! Types of any kind in C, C++ or C#, which a random IDL has, and rare ones: values are the bytes that their
//! descriptions say, damaged ones break nothing, and the IDL that the code has of each type describes the
//! same type. The seed is told with a failure; `TICKWIRE_SEED` sets
//! it.

use std::collections::BTreeMap;
use std::env;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;

use tickwire::cdr::{Representation, Type, TypeDescription, dynamic};
use tickwire_idl::model::DefinitionKind;
use tickwire_idl::{Compilation, Descriptions, Loader, Options, compile};
use tickwire_idl_conformance::{encodings, kinds, rare};

use crate::peer::{self, Form, Language, Peer, build};
use crate::random_idl::{self, Random};
use crate::{in_each_language, values};

/// One text.
struct Text(String);

impl Loader for Text {
    fn load(&mut self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }
}

fn compiled(text: &str) -> Compilation {
    compile(
        &["any.idl"],
        &Options::default(),
        &mut Text(text.to_owned()),
    )
    .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The types of topics in a text that have descriptions, by their names.
fn topics(compilation: &Compilation) -> BTreeMap<String, Type> {
    let descriptions = Descriptions::of(&compilation.model);
    let topics = compilation.model.definitions().filter_map(|(id, of)| {
        let is_topic = matches!(&of.kind, DefinitionKind::Struct(of) if !of.nested);
        let described = descriptions.get(id).filter(|_| is_topic)?.ok()?;
        Some((of.full_name.clone(), described.clone()))
    });
    topics.collect()
}

fn structure(ty: &Type) -> &TypeDescription {
    match ty {
        Type::Struct(of) => of,
        other => panic!("{other} is no struct"),
    }
}

/// The payload of a value of a type, as numbers choose.
fn payload(of: &TypeDescription, version: Representation, choices: &[u64]) -> Vec<u8> {
    let data = values::struct_of(of, &mut choices.iter().copied(), 0);
    let (omissions, mut payload) = (dynamic::Omissions::Defaulted, Vec::new());
    dynamic::write(of, &data, omissions, version, &mut payload)
        .unwrap_or_else(|error| panic!("{}: {error}", &*of.name));
    payload
}

fn json(of: &TypeDescription, payload: &[u8], form: dynamic::Form) -> String {
    let mut text = String::new();
    let told = dynamic::to_json(of, payload, form, &mut text);
    told.unwrap_or_else(|error| panic!("{}: {error}", &*of.name));
    text
}

fn check(language: Language, name: &str, text: &str, random: &mut Random, values: usize) {
    let compilation = compiled(text);
    let topics = topics(&compilation);
    assert!(!topics.is_empty());
    let names: Vec<&str> = topics.keys().map(String::as_str).collect();
    let program = build(name, language, &[(name, compilation)], &names);

    for (index, (name, ty)) in topics.iter().enumerate() {
        let idl = peer::idl(&program, index);
        let again = self::topics(&compiled(&idl));
        let again = again
            .get(name)
            .unwrap_or_else(|| panic!("{idl}\nhas no {name}"));
        assert_eq!(structure(again), structure(ty), "{idl}");
    }

    let mut peer = Peer::start(language, &program);
    for round in 0..values {
        for (index, ty) in topics.values().enumerate() {
            let of = structure(ty);
            let choices: Vec<u64> = (0..300).map(|_| random.next()).collect();
            // Some values are nothing but zeros.
            let choices = if round == 0 { &[][..] } else { &choices };
            let both = [Representation::Xcdr1, Representation::Xcdr2];
            let payloads = both.map(|version| payload(of, version, choices));
            let keys = payloads.each_ref().map(|payload| {
                let mut key = Vec::new();
                dynamic::key_payload(of, payload, &mut key).expect("it has its key");
                key
            });
            let version = round % 2;
            if payloads[version].len() > MAX_SIZE {
                continue;
            }
            let answer = peer.ask(index, Form::Sample, &payloads[version]);
            let answer = answer.unwrap_or_else(|status| panic!("{}: {status}\n{text}", &*of.name));
            assert_eq!(answer.samples[..2], payloads, "{} in\n{text}", &*of.name);
            assert_eq!(answer.keys[..2], keys, "{} in\n{text}", &*of.name);
            for big in 2..4 {
                let (sample, key) = (&answer.samples[big], &answer.keys[big]);
                let (form, expected) = (dynamic::Form::Sample, &payloads[big - 2]);
                assert_eq!(json(of, sample, form), json(of, expected, form));
                let (form, expected) = (dynamic::Form::Key, &keys[big - 2]);
                assert_eq!(json(of, key, form), json(of, expected, form));
            }
            for (form, valid) in [
                (Form::Key, &keys[version]),
                (Form::Sample, &payloads[version]),
                (Form::Sample, &answer.samples[2 + version]),
            ] {
                let mut damaged = valid.clone();
                for _ in 0..random.below(4) {
                    let at = random.below(damaged.len() as u64) as usize;
                    match random.below(3) {
                        0 => damaged.truncate(at.max(4)),
                        1 => damaged[at] = random.below(9) as u8,
                        _ => damaged[at] = random.next() as u8,
                    }
                }
                // Whatever it is, the program goes on.
                let _whatever = peer.ask(index, form, &damaged);
            }
        }
    }
    peer.end();
}

fn seeded() -> Random {
    let seed = env::var("TICKWIRE_SEED").ok();
    let seed = seed.map(|seed| seed.parse().expect("the seed is a number"));
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    eprintln!("seed {seed}");
    Random::new(seed)
}

fn any_types_are_written_as_their_descriptions_say(language: Language) {
    let mut random = seeded();
    let text = random_idl::text(&mut random, 40);
    check(language, "any", &text, &mut random, 60);
}

fn what_is_rare_is_written_as_descriptions_say(language: Language) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/rare.idl");
    let text = std::fs::read_to_string(corpus).expect("it is there");
    check(language, "rare", &text, &mut seeded(), 300);
}

#[test]
fn the_idl_describes_what_is_derived() {
    for (name, expected, derived) in [
        (
            "kinds",
            "trading::Order",
            derived::<kinds::trading::Order>(),
        ),
        (
            "encodings",
            "wire::Flowing",
            derived::<encodings::wire::Flowing>(),
        ),
        (
            "encodings",
            "wire::Nesting",
            derived::<encodings::wire::Nesting>(),
        ),
        ("rare", "Everything", derived::<rare::Everything>()),
        ("rare", "Wider", derived::<rare::Wider>()),
        ("rare", "Chain", derived::<rare::Chain>()),
        ("rare", "Partly", derived::<rare::Partly>()),
        ("rare", "OldTried", derived::<rare::OldTried>()),
    ] {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus");
        let text = std::fs::read_to_string(corpus.join(format!("{name}.idl")));
        let compilation = compiled(&text.expect("it is there"));
        let topics = topics(&compilation);
        assert_eq!(structure(&topics[expected]), derived);
    }
}

fn derived<T: tickwire::cdr::Topic>() -> &'static TypeDescription {
    T::DESCRIPTION
}

/// Bytes of values that are tried: what is in each other may become large.
const MAX_SIZE: usize = 1 << 16;

in_each_language! {
    any_types_are_written_as_their_descriptions_say
    what_is_rare_is_written_as_descriptions_say
}
