//! Wide strings and characters, in types of modules in modules.

use tickwire_cdr::dynamic::{Form, Omissions, from_json, to_json};
use tickwire_cdr::xtypes::TypeObjects;
use tickwire_cdr::{
    Decode, EncodeErrorKind, Representation, Topic, WChar, WString, from_payload_into, to_payload,
};

#[derive(Topic, Debug, Clone, PartialEq)]
#[topic(name = "venue::market::data::Title", nested, crate = tickwire_cdr)]
struct Title {
    #[topic(key, bound = 4)]
    short: WString,
    long: WString,
}

#[derive(Topic, Debug, Clone, PartialEq)]
#[topic(name = "venue::market::Instrument", crate = tickwire_cdr)]
struct Instrument {
    #[topic(key)]
    title: Title,
    letter: WChar,
}

fn instrument(short: &str) -> Instrument {
    Instrument {
        title: Title {
            short: short.into(),
            long: "株価 \u{1f4c8}".into(),
        },
        letter: WChar(0x682a),
    }
}

#[test]
fn wide_strings_return_and_their_bounds_count_units() {
    let description = Instrument::DESCRIPTION;
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let value = instrument("a\u{1f4c8}b");
        let mut payload = Vec::new();
        to_payload(&value, representation, &mut payload).unwrap();
        let mut again = Instrument::initial();
        from_payload_into(&payload, &mut again).unwrap();
        assert_eq!(again, value);
        let mut json = String::new();
        to_json(description, &payload, Form::Sample, &mut json).unwrap();
        let expected = r#"{"title":{"short":"a📈b","long":"株価 📈"},"letter":"株"}"#;
        assert_eq!(json, expected);
        let mut written = Vec::new();
        let refused = Omissions::Refused;
        from_json(description, &json, refused, representation, &mut written).unwrap();
        assert_eq!(written, payload);
        let error = to_payload(&instrument("a\u{1f4c8}bc"), representation, &mut payload);
        let bound = EncodeErrorKind::OverBound { bound: 4 };
        assert_eq!(error.unwrap_err().kind, bound);
    }
}

#[test]
fn a_type_of_nested_modules_is_learnt_by_its_full_name() {
    let mut objects = TypeObjects::new();
    let information = objects.add(Instrument::DESCRIPTION).unwrap();
    let complete = information.complete.unwrap();
    let learnt = objects.describe(complete.id).unwrap();
    assert_eq!(&learnt, Instrument::DESCRIPTION);
    assert_eq!(&*learnt.name, "venue::market::Instrument");
    let title = learnt.members[0].ty.to_string();
    assert_eq!(title, "struct venue::market::data::Title");
}
