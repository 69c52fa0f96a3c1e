//! Bitsets: fields of bits in one integer.

use tickwire_cdr::dynamic::{Form, Omissions, from_json, to_json};
use tickwire_cdr::xtypes::{Consistency, TypeObjects, check_assignable};
use tickwire_cdr::{
    Bitfield, BitsetDescription, Extensibility, InvalidDescription, Member, Representation, Shared,
    Type, TypeDescription,
};

fn field(name: &str, position: u16, bits: u8, ty: Type) -> Bitfield {
    Bitfield {
        name: name.into(),
        position,
        bits,
        ty,
    }
}

fn bitset(fields: Vec<Bitfield>) -> BitsetDescription {
    BitsetDescription {
        name: "m::Status".into(),
        fields: fields.into(),
    }
}

fn status() -> BitsetDescription {
    bitset(vec![
        field("phase", 0, 3, Type::U8),
        field("open", 3, 1, Type::Bool),
        field("change", 6, 10, Type::I16),
    ])
}

fn book(status: BitsetDescription) -> TypeDescription {
    let bitset = Type::Bitset(Shared::from(status));
    let all = Type::Sequence {
        element: Shared::from(bitset.clone()),
        bound: 0,
    };
    let members = vec![Member::new("status", 0, bitset), Member::new("all", 1, all)];
    TypeDescription::new("m::Book", Extensibility::Final, members).unwrap()
}

fn payload_of(json: &str) -> Result<Vec<u8>, String> {
    let mut payload = Vec::new();
    let (of, refused) = (book(status()), Omissions::Refused);
    from_json(&of, json, refused, Representation::Xcdr2, &mut payload)
        .map(|()| payload)
        .map_err(|error| error.to_string())
}

#[test]
fn a_bitset_is_one_number_of_its_fields() {
    let one = r#"{"phase":5,"open":true,"change":-2}"#;
    let json = format!(r#"{{"status":{one},"all":[{one}]}}"#);
    let payload = payload_of(&json).unwrap();
    // -2 in ten bits is 0x3fe: 0x3fe << 6 | 1 << 3 | 5.
    let bits = 0xff8d_u16.to_le_bytes();
    assert_eq!(payload[4..6], bits);
    // A length, a count: bitsets in sequences are no primitives, like bitmasks.
    let all = [&[6, 0, 0, 0, 1, 0, 0, 0][..], &bits].concat();
    assert_eq!(payload[8..18], all);
    let mut again = String::new();
    to_json(&book(status()), &payload, Form::Sample, &mut again).unwrap();
    assert_eq!(again, json);
}

#[test]
fn what_a_field_cannot_hold_is_refused() {
    let status = |fields: &str| payload_of(&format!(r#"{{"status":{fields},"all":[]}}"#));
    for (fields, error) in [
        (
            r#"{"phase":8,"open":true,"change":0}"#,
            "status.phase: 8 is no bitfield<3, uint8>",
        ),
        (
            r#"{"phase":0,"open":true,"change":-513}"#,
            "status.change: -513 is no bitfield<10, int16>",
        ),
        (
            r#"{"phase":0,"open":1,"change":0}"#,
            "status.open: expected boolean, found an integer",
        ),
        (
            r#"{"phase":0,"open":true}"#,
            "status: the member `change` is not given",
        ),
        (
            r#"{"phas":0,"open":true,"change":0}"#,
            "status: m::Status has no member `phas`; did you mean `phase`?",
        ),
        ("7", "status: expected bitset m::Status, found an integer"),
    ] {
        assert_eq!(status(fields), Err(error.to_owned()));
    }
    assert!(status(r#"{"phase":7,"open":false,"change":-512}"#).is_ok());
}

#[test]
fn its_size_is_that_of_the_smallest_integer() {
    for (bits, size) in [
        (1, 1),
        (8, 1),
        (9, 2),
        (16, 2),
        (17, 4),
        (32, 4),
        (33, 8),
        (64, 8),
    ] {
        assert_eq!(bitset(vec![field("all", 0, bits, Type::U64)]).size(), size);
    }
    let whole = field("all", 0, 64, Type::I64);
    assert_eq!(whole.place(-1), Some(u64::MAX));
    assert_eq!(whole.value(1 << 63), i64::MIN.into());
    assert_eq!(whole.place(1 << 63), None);
}

#[test]
fn fields_do_not_overlap_and_fit_their_types() {
    let check = |fields| bitset(fields).check();
    assert_eq!(status().check(), Ok(()));
    assert_eq!(check(vec![]), Err(InvalidDescription::NoMember));
    let twice = vec![field("a", 0, 1, Type::U8), field("a", 1, 1, Type::U8)];
    assert_eq!(
        check(twice),
        Err(InvalidDescription::DuplicateName("a".into()))
    );
    let wrong = Err(InvalidDescription::Bitfield("b".into()));
    for b in [
        field("b", 2, 1, Type::U8),
        field("b", 3, 0, Type::U8),
        field("b", 3, 9, Type::U8),
        field("b", 3, 2, Type::Bool),
        field("b", 3, 3, Type::F32),
        field("b", 63, 2, Type::U8),
        field("b", u16::MAX, 2, Type::U8),
    ] {
        assert_eq!(check(vec![field("a", 0, 3, Type::U8), b]), wrong);
    }
}

#[test]
fn a_bitset_is_learnt_from_its_object() {
    let description = book(status());
    let mut objects = TypeObjects::new();
    let information = objects.add(&description).unwrap();
    let complete = information.complete.unwrap();
    assert_eq!(objects.describe(complete.id), Ok(description.clone()));
    let (bitset, _) = complete.dependencies[0];
    let object = objects.get(bitset).unwrap();
    // EK, TK, length, flags, position, bits and kind of the second field.
    assert_eq!(object[4..6], [0xf2, 0x53]);
    let open = [3, 0, 0, 0, 1, 0x01];
    assert!(object.windows(6).any(|window| window == open));
    let minimal = objects.describe(information.minimal.unwrap().id).unwrap();
    let consistency = Consistency::default();
    assert_eq!(
        check_assignable(&minimal, &description, consistency),
        Ok(())
    );
}

#[test]
fn bitsets_are_assignable_if_their_fields_are_the_same() {
    let verdict = |fields| {
        let reasons = check_assignable(
            &book(status()),
            &book(bitset(fields)),
            Consistency::default(),
        );
        let reasons = reasons.err().unwrap_or_default();
        reasons.first().map_or("ok".into(), ToString::to_string)
    };
    let phase = || field("phase", 0, 3, Type::U8);
    let change = || field("change", 6, 10, Type::I16);
    assert_eq!(verdict(status().fields.to_vec()), "ok");
    assert_eq!(
        verdict(vec![phase(), change()]),
        "`m::Book.status::open`: the writer does not have it, but the type is final"
    );
    assert_eq!(
        verdict(vec![phase(), field("open", 4, 1, Type::Bool), change()]),
        "`m::Book.status::open`: the writer numbers it 4, the reader 3"
    );
    assert_eq!(
        verdict(vec![phase(), field("open", 3, 1, Type::U8), change()]),
        "`m::Book.status.open`: the writer has bitfield<1, uint8>, \
         the reader bitfield<1, boolean>"
    );
    assert_eq!(
        verdict(vec![phase()]),
        "`m::Book.status`: the writer's has 3 bits, the reader's 16 bits"
    );
}
