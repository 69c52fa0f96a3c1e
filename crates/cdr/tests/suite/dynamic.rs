//! Payloads read by their description alone say what the typed side wrote.

use crate::fixtures::samples;
use crate::fixtures::types::{appendable, final_, mutable};
use tickwire_cdr::dynamic::{Form, key_hash, key_payload, to_json};
use tickwire_cdr::{
    EncodeError, Extensibility, InvalidDescription, KeyScratch, LengthCode, Member, MemberHeader,
    Representation, Shared, Topic, Type, TypeDescription, encapsulated, key_to_payload, to_payload,
};

const BOOK: &str = concat!(
    r#"{"symbol":"ESZ6","venue":-3,"level":"HIGH","bid":{"mantissa":607525,"exponent":-2},"#,
    r#""entries":[{"side":"SELL","price":{"mantissa":1,"exponent":0},"size":5,"note":"x"},"#,
    r#"{"side":"BUY","price":{"mantissa":-2,"exponent":3},"note":""}],"names":["a","bcd"],"#,
    r#""ticks":[1,-1],"raw":[1,2,3],"shorts":[-1,2],"fixed":[1,2,3],"#,
    r#""pair":[{"mantissa":1,"exponent":1},{"mantissa":2,"exponent":2}],"sides":["BUY","SELL"],"#,
    r#""text":"opt","best":{"side":"BUY","price":{"mantissa":9,"exponent":-9},"size":1,"#,
    r#""note":"best"},"last64":77,"end":true}"#
);

fn check<T: Topic>(name: &str, json: &str, key_json: &str, value: &T) {
    let description = T::description();
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let version = if representation == Representation::Xcdr1 {
            1
        } else {
            2
        };
        let mut scratch = KeyScratch::default();
        let hash = tickwire_cdr::key_hash(value, representation, &mut scratch).unwrap();
        let (mut sample, mut key) = (Vec::new(), Vec::new());
        to_payload(value, representation, &mut sample).unwrap();
        key_to_payload(value, representation, &mut key).unwrap();
        for payload in [
            sample.clone(),
            samples(name, &format!("xcdr{version}")),
            samples(name, &format!("xcdr{version}_be")),
        ] {
            let mut text = String::new();
            to_json(description, &payload, Form::Sample, &mut text).unwrap();
            assert_eq!(text, json);
            assert_eq!(
                key_hash(
                    description,
                    &payload,
                    Form::Sample,
                    representation,
                    &mut scratch
                ),
                Ok(hash)
            );
            // The hash of either representation can be had from a payload of the other one.
            for other in [Representation::Xcdr1, Representation::Xcdr2] {
                let expected = tickwire_cdr::key_hash(value, other, &mut scratch).unwrap();
                let got = key_hash(description, &payload, Form::Sample, other, &mut scratch);
                assert_eq!(got, Ok(expected));
                assert!(expected == hash || description.key_hash_varies());
            }
            let mut copied = Vec::new();
            key_payload(description, &payload, &mut copied).unwrap();
            assert_eq!(copied, key);
        }
        let mut text = String::new();
        to_json(description, &key, Form::Key, &mut text).unwrap();
        assert_eq!(text, key_json);
        assert_eq!(
            key_hash(description, &key, Form::Key, representation, &mut scratch),
            Ok(hash)
        );
        for end in 0..sample.len() {
            let mut text = String::from("kept");
            let _ = to_json(description, &sample[..end], Form::Sample, &mut text)
                .inspect_err(|_| assert_eq!(text, "kept"));
            let _ = key_hash(
                description,
                &sample[..end],
                Form::Sample,
                representation,
                &mut scratch,
            );
        }
    }
}

#[test]
fn descriptions_read_what_types_wrote() {
    let key = r#"{"symbol":"ESZ6","venue":-3}"#;
    check("book_final", BOOK, key, &final_::book());
    check("book_appendable", BOOK, key, &appendable::book());
    check("book_mutable", BOOK, key, &mutable::book());
    let keyed = concat!(
        r#"{"source":{"name":"abc","line":200,"x":5},"payload":"p","number":-9,"#,
        r#""part":{"mantissa":4,"exponent":5}}"#
    );
    let key = r#"{"source":{"line":200},"number":-9}"#;
    check("keyed_final", keyed, key, &final_::keyed());
    check("keyed_appendable", keyed, key, &appendable::keyed());
    check("keyed_mutable", keyed, key, &mutable::keyed());
}

/// The gateway's way: a description from a template, payloads written member by member.
#[test]
fn structs_written_by_hand_are_read() {
    let decimal = TypeDescription::new(
        "Decimal",
        Extensibility::Final,
        vec![
            Member::new("mantissa", 0, Type::I64),
            Member::new("exponent", 1, Type::I8),
        ],
    )
    .unwrap();
    let price = Type::Struct(Shared::from(decimal));
    let members = vec![
        Member {
            key: true,
            ..Member::new("id", 0, Type::U32)
        },
        Member {
            optional: true,
            ..Member::new("text", 1, Type::String { bound: 0 })
        },
        Member::new(
            "prices",
            2,
            Type::Sequence {
                element: Shared::from(price),
                bound: 0,
            },
        ),
    ];
    let message = TypeDescription::new("Message", Extensibility::Appendable, members).unwrap();
    let headers: Vec<MemberHeader> = message.members.iter().map(MemberHeader::from).collect();

    let mut payload = Vec::new();
    encapsulated(
        Representation::Xcdr2,
        message.extensibility,
        &mut payload,
        |writer| {
            let scope = writer.begin_struct(message.extensibility);
            let id = writer.begin_member(&scope, headers[0]);
            writer.write_u32(7);
            writer.end_member(id)?;
            writer.absent_member(&scope, headers[1]);
            let prices = writer.begin_member(&scope, headers[2]);
            let elements = writer.begin_sequence(false);
            for mantissa in [10, -20] {
                let decimal = writer.begin_struct(Extensibility::Final);
                writer.write_i64(mantissa);
                writer.write_i8(-1);
                writer.end_struct(decimal)?;
            }
            writer.end_sequence(elements, 2)?;
            writer.end_member(prices)?;
            writer.end_struct(scope)?;
            Ok::<_, EncodeError>(())
        },
    )
    .unwrap();

    let mut text = String::new();
    to_json(&message, &payload, Form::Sample, &mut text).unwrap();
    let prices = r#"[{"mantissa":10,"exponent":-1},{"mantissa":-20,"exponent":-1}]"#;
    assert_eq!(text, format!(r#"{{"id":7,"prices":{prices}}}"#));
    let hash = key_hash(
        &message,
        &payload,
        Form::Sample,
        Representation::Xcdr2,
        &mut KeyScratch::default(),
    )
    .unwrap();
    assert_eq!(hash.0, [0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(headers[2], MemberHeader::new(2, LengthCode::AlsoNextInt));
}

#[test]
fn errors_name_the_member() {
    let description = appendable::Book::description();
    let mut payload = Vec::new();
    to_payload(&appendable::book(), Representation::Xcdr2, &mut payload).unwrap();
    payload[4 + 20] = 9; // level
    let mut text = String::new();
    let error = to_json(description, &payload, Form::Sample, &mut text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "fix::BookAppendable.level: byte 24: no literal has the value 9"
    );
}

/// A struct with one member.
fn one(name: &str, extensibility: Extensibility, ty: Type) -> TypeDescription {
    TypeDescription::new(name, extensibility, vec![Member::new("member", 0, ty)]).unwrap()
}

#[test]
fn an_array_is_not_longer_than_its_payload() {
    // Without bytes left, an appendable struct of XCDR1 has no members.
    let element = one("Element", Extensibility::Appendable, Type::U8);
    let array = Type::Array {
        element: Shared::from(Type::Struct(Shared::from(element))),
        length: u32::MAX,
    };
    let description = one("Outer", Extensibility::Final, array);
    let mut text = String::new();
    to_json(&description, &[0, 1, 0, 0], Form::Sample, &mut text).unwrap_err();
}

#[test]
fn elements_that_take_no_bytes_cannot_be_described() {
    let empty = Type::Array {
        element: Shared::from(Type::U8),
        length: 0,
    };
    let sequence = Type::Sequence {
        element: Shared::from(empty),
        bound: 0,
    };
    let member = Member::new("member", 0, sequence);
    let described = TypeDescription::new("Outer", Extensibility::Final, vec![member]);
    assert_eq!(
        described,
        Err(InvalidDescription::EmptyArray("member".into()))
    );
}
