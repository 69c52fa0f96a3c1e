//! Payloads written from values without a type, or from JSON.

use crate::fixtures::kinds::{self, everything, loose, plain};
use crate::random::any_struct;
use proptest::collection::vec;
use proptest::prelude::*;
use tickwire_cdr::dynamic::Omissions::{self, Defaulted};
use tickwire_cdr::dynamic::{Data, Form, from_json, key_hash, key_payload, to_json, write};
use tickwire_cdr::{
    Extensibility, KeyScratch, Member, Representation, Topic, Type, TypeDescription, to_payload,
};

const BOTH: [Representation; 2] = [Representation::Xcdr1, Representation::Xcdr2];

fn json_of(description: &TypeDescription, payload: &[u8]) -> String {
    let mut json = String::new();
    to_json(description, payload, Form::Sample, &mut json).unwrap();
    json
}

fn payload_of(
    description: &TypeDescription,
    json: &str,
    representation: Representation,
) -> Result<Vec<u8>, String> {
    let mut payload = vec![];
    from_json(description, json, Defaulted, representation, &mut payload)
        .map_err(|error| error.to_string())?;
    Ok(payload)
}

fn returns<T: Topic>(value: &T) {
    for representation in BOTH {
        let mut payload = Vec::new();
        to_payload(value, representation, &mut payload).unwrap();
        let json = json_of(T::DESCRIPTION, &payload);
        let again = payload_of(T::DESCRIPTION, &json, representation);
        assert_eq!(again.as_ref(), Ok(&payload), "{json}");
    }
}

#[test]
fn what_types_write_can_be_written_from_json() {
    returns(&everything());
    returns(&plain());
    returns(&loose());
}

#[test]
fn unions_bitmasks_and_arrays_read_well() {
    let mut payload = Vec::new();
    to_payload(&plain(), Representation::Xcdr2, &mut payload).unwrap();
    let json = json_of(kinds::Plain::DESCRIPTION, &payload);
    for part in [
        r#""flags":["OPEN","LATE"]"#,
        r#""choice_":{"$discriminator":-5,"other":4}"#,
        r#""by_bool":{"$discriminator":false}"#,
        r#""by_char":{"$discriminator":"a","a":-3}"#,
        r#""matrix":[[0,1,2],[10,11,12]]"#,
        r#""many_flags":[["OPEN"],["HALTED"],["OPEN","HALTED","LATE"]]"#,
    ] {
        assert!(json.contains(part), "{part} in {json}");
    }
}

/// The JSON of a sample of `Everything` in which `text` is the only member besides the key.
fn everything_with(text: &str) -> Result<String, String> {
    let description = kinds::Everything::DESCRIPTION;
    let json = format!(r#"{{"side_": "BUY", {text}}}"#);
    let payload = payload_of(description, &json, Representation::Xcdr2)?;
    Ok(json_of(description, &payload))
}

#[test]
fn a_member_tells_the_discriminator_and_the_other_way_round() {
    for (given, written) in [
        (r#"{"text": "x"}"#, r#"{"$discriminator":2,"text":"x"}"#),
        (
            r#"{"$discriminator": 3, "text": "x"}"#,
            r#"{"$discriminator":3,"text":"x"}"#,
        ),
        (r#"{"other": 7}"#, r#"{"$discriminator":0,"other":7}"#),
        (
            r#"{"$discriminator": 7}"#,
            r#"{"$discriminator":7,"level_":{"price":0.0,"size":0}}"#,
        ),
    ] {
        let json = everything_with(&format!(r#""choice_": {given}"#)).unwrap();
        let expected = format!(r#""choice_":{written}"#);
        assert!(json.contains(&expected), "{expected} in {json}");
    }
}

#[test]
fn errors_name_the_place_and_what_is_meant() {
    for (given, expected) in [
        (
            r#""flag": []"#,
            "kinds::Everything has no member `flag`; did you mean `flags`?",
        ),
        (
            r#""flags": ["HALTD"]"#,
            "flags: kinds::FlagSet has no `HALTD`; did you mean `HALTED`?",
        ),
        (
            r#""flags": [16]"#,
            "flags: bit 16 is no bitmask kinds::FlagSet",
        ),
        (
            r#""flags": 65536"#,
            "flags: 65536 is no bitmask kinds::FlagSet",
        ),
        (
            r#""sides": ["BUY", "SELLS"]"#,
            "sides[1]: kinds::Side has no `SELLS`; did you mean `SELL`?",
        ),
        (
            r#""sides": ["HOLD"]"#,
            "sides[0]: kinds::Side has no `HOLD`; it has BUY, SELL",
        ),
        (r#""pair": [1, 3]"#, "pair[1]: 3 is no enum kinds::Side"),
        (
            r#""matrix": [[1, 2, 3], [1, 2]]"#,
            "matrix[1]: expected 3 elements, found 2",
        ),
        (
            r#""matrix": [[1, 2, 3], [1, 2, true]]"#,
            "matrix[1][2]: expected int32, found a boolean",
        ),
        (
            r#""matrix": [[1, 2, 3], [1, 2, 2147483648]]"#,
            "matrix[1][2]: 2147483648 is no int32",
        ),
        (
            r#""matrix": [[1, 2, 3], [1, 2, 0.5]]"#,
            "matrix[1][2]: 0.5 is no int32",
        ),
        (
            r#""short_text": "eight888""#,
            "short_text: longer than its bound 7",
        ),
        (r#""few": [1, 2, 3, 4, 5]"#, "few: longer than its bound 4"),
        (r#""few": [-1]"#, "few[0]: -1 is no octet"),
        (
            r#""names": ["abc", "abcd"]"#,
            "names[1]: longer than its bound 3",
        ),
        (
            r#""letters": ["a", "b", "c", "dd"]"#,
            "letters[3]: \"dd\" is no char",
        ),
        (
            r#""letters": ["a", "b", "c", "š"]"#,
            "letters[3]: \"š\" is no char",
        ),
        (
            r#""choice_": {"level_": {"prise": 1}}"#,
            "choice_.level_: kinds::Level has no member `prise`; did you mean `price`?",
        ),
        (
            r#""choice_": {"$discriminator": 1, "text": ""}"#,
            "choice_: the discriminator does not select `text` but `limit`",
        ),
        (
            r#""by_bool": {"$discriminator": false, "yes": 1}"#,
            "by_bool: the discriminator does not select `yes`",
        ),
        (
            r#""choice_": {}"#,
            "choice_: a union is one member, `$discriminator`, or both; it is not clear which",
        ),
        (r#""flags": [], "flags": []"#, "`flags` is given twice"),
        (
            r#""grid": null"#,
            "grid: expected struct kinds::Level[2][2], found null",
        ),
        (
            r#""words": ["a\u0000", ""]"#,
            "words[0]: a string contains NUL",
        ),
    ] {
        assert_eq!(everything_with(given), Err(expected.into()), "{given}");
    }
    let description = kinds::Everything::DESCRIPTION;
    let error = payload_of(description, "{}", Representation::Xcdr2);
    assert_eq!(error, Err("the key member `side_` is not given".into()));
    let error = payload_of(description, "{\n  \"side_\": BUY}", Representation::Xcdr2);
    assert_eq!(error, Err("line 2, column 12: expected a value".into()));
}

#[test]
fn a_member_that_is_left_out_is_refused_unless_it_is_optional() {
    let description = kinds::Everything::DESCRIPTION;
    let write = |json: &str| {
        let refused = Omissions::Refused;
        from_json(
            description,
            json,
            refused,
            Representation::Xcdr2,
            &mut vec![],
        )
        .map_err(|error| error.to_string())
    };
    let missing = "the member `flags` is not given";
    assert_eq!(write(r#"{"side_": "BUY"}"#), Err(missing.into()));
    let json = r#"{"side_": "BUY", "flags": [], "wide_": [], "choice_": {"level_": {"price": 1}}}"#;
    let error = write(json).unwrap_err();
    assert_eq!(error, "choice_.level_: the member `size` is not given");
    returns_refusing(&everything());
    returns_refusing(&loose());
}

/// What is printed has all members that must be given.
fn returns_refusing<T: Topic>(value: &T) {
    let (mut payload, mut again) = (Vec::new(), Vec::new());
    let representation = Representation::Xcdr2;
    to_payload(value, representation, &mut payload).unwrap();
    let json = json_of(T::DESCRIPTION, &payload);
    let omissions = Omissions::Refused;
    from_json(T::DESCRIPTION, &json, omissions, representation, &mut again).unwrap();
    assert_eq!(again, payload);
}

#[test]
fn on_an_error_the_buffer_is_as_it_was() {
    let mut buffer = b"kept".to_vec();
    let description = kinds::Plain::DESCRIPTION;
    from_json(
        description,
        "{}",
        Defaulted,
        Representation::Xcdr1,
        &mut buffer,
    )
    .unwrap_err();
    assert_eq!(buffer, b"kept");
}

#[test]
fn json_is_read_as_the_rfc_says() {
    let read = |text: &str| Data::from_json(text).map_err(|error| error.to_string());
    assert_eq!(
        read(r#" [null, true, -0, 1e3, 0.5, "\ud83d\udcc8\n\/", {"a": []}] "#),
        Ok(Data::List(vec![
            Data::Null,
            Data::Bool(true),
            Data::Integer(0),
            Data::Float(1000.0),
            Data::Float(0.5),
            Data::Text("\u{1f4c8}\n/".into()),
            Data::Fields(vec![("a".into(), Data::List(vec![]))]),
        ]))
    );
    let largest = "340282366920938463463374607431768211456";
    assert!(matches!(read(largest), Ok(Data::Float(_))));
    for wrong in [
        "",
        "[1,]",
        "{\"a\" 1}",
        "01",
        "1.",
        ".5",
        "-",
        "+1",
        "1 2",
        "tru",
        "\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\n\"",
        "[",
        "{\"a\":1,}",
        "NaN",
        "--1",
        "1e",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    let deep = "[".repeat(100_000);
    assert!(read(&deep).is_err());
}

#[test]
fn an_array_of_any_length_is_not_filled_in() {
    let array = Type::Array {
        element: Type::U8.into(),
        length: u32::MAX,
    };
    let member = Member::new("member", 0, array);
    let description = TypeDescription::new("T", Extensibility::Final, vec![member]).unwrap();
    let error = payload_of(&description, "{}", Representation::Xcdr2).unwrap_err();
    assert!(error.ends_with("more values than fit a sample"), "{error}");
}

/// A value of a type, as numbers choose.
fn data_of(ty: &Type, choices: &mut impl Iterator<Item = u64>) -> Data {
    let mut next = || choices.next().unwrap_or(0);
    let text = |choice: u64, bound: u32| {
        let letters = ['a', 'é', '\u{1f4c8}', '"', '\\', '\u{1}'];
        let count = match bound {
            0 => choice % 5,
            bound => choice % 5 % u64::from(bound / 4 + 1),
        };
        let letter = |at: u64| letters[usize::try_from((choice >> at) % 6).unwrap()];
        (0..count).map(letter).collect::<String>()
    };
    let signed = |choice: u64| i128::from(choice.cast_signed());
    match ty {
        Type::Bool => Data::Bool(next() % 2 == 0),
        Type::U8 | Type::Byte => Data::Integer((next() % 256).into()),
        Type::U16 | Type::WChar => Data::Integer((next() % 65_536).into()),
        Type::U32 => Data::Integer((next() >> 32).into()),
        Type::U64 => Data::Integer(next().into()),
        Type::I8 => Data::Integer(signed(next()) >> 56),
        Type::I16 => Data::Integer(signed(next()) >> 48),
        Type::I32 => Data::Integer(signed(next()) >> 32),
        Type::I64 => Data::Integer(signed(next())),
        Type::F32 => Data::Float(number(f32::from_bits((next() >> 32) as u32).into())),
        Type::F64 => Data::Float(number(f64::from_bits(next()))),
        Type::Char => Data::Text(char::from((next() % 256) as u8).into()),
        Type::String { bound } | Type::WString { bound } => Data::Text(text(next(), *bound)),
        Type::Enum(description) => {
            let index = usize::try_from(next()).unwrap() % description.literals.len();
            Data::Text((*description.literals[index].name).into())
        }
        Type::Bitmask(description) => {
            let mask = u64::MAX >> (64 - description.bit_bound);
            Data::Integer((next() & mask).into())
        }
        Type::Bitset(description) => {
            let fields = description.fields.iter().map(|field| {
                let value = match field.ty {
                    Type::Bool => Data::Bool(next() % 2 == 0),
                    _ => Data::Integer(field.value(next())),
                };
                (String::from(&*field.name), value)
            });
            Data::Fields(fields.collect())
        }
        Type::Sequence { element, bound } => {
            let most = if *bound == 0 {
                3
            } else {
                u64::from(*bound).min(3)
            };
            let count = next() % (most + 1);
            Data::List((0..count).map(|_| data_of(element, choices)).collect())
        }
        Type::Array { element, length } => {
            Data::List((0..*length).map(|_| data_of(element, choices)).collect())
        }
        Type::Map { key, value, bound } => {
            let most = if *bound == 0 { 2 } else { 1 };
            let count = next() % (most + 1);
            let mut entries: Vec<(String, Data)> = Vec::new();
            for _ in 0..count {
                let key = match data_of(key, choices) {
                    Data::Text(text) => text,
                    Data::Integer(value) => value.to_string(),
                    Data::Bool(value) => value.to_string(),
                    other => panic!("no key: {other:?}"),
                };
                let value = data_of(value, choices);
                if entries.iter().all(|(other, _)| *other != key) {
                    entries.push((key, value));
                }
            }
            Data::Fields(entries)
        }
        Type::Recursive(_) => unreachable!("none of these types contains itself"),
        Type::Struct(description) => struct_of(description, choices),
        Type::Union(description) => {
            let index = usize::try_from(next()).unwrap() % description.cases.len();
            let member = &description.cases[index].member;
            let value = data_of(&member.ty, choices);
            Data::Fields(vec![((*member.name).into(), value)])
        }
    }
}

/// JSON knows one NaN only.
fn number(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

fn struct_of(description: &TypeDescription, choices: &mut impl Iterator<Item = u64>) -> Data {
    let mut fields = Vec::new();
    for member in description.members.iter() {
        if !member.optional || choices.next().is_none_or(|choice| choice.is_multiple_of(2)) {
            fields.push(((*member.name).into(), data_of(&member.ty, choices)));
        }
    }
    Data::Fields(fields)
}

fn choices() -> impl Strategy<Value = Vec<u64>> {
    vec(any::<u64>(), 0..200)
}

proptest! {
    /// Any value of any type is read as it was written, in either encoding, from JSON, too.
    #[test]
    fn values_return(description in any_struct(), choices in choices()) {
        let data = struct_of(&description, &mut choices.into_iter());
        let mut texts = Vec::new();
        for representation in BOTH {
            let mut payload = Vec::new();
            write(&description, &data, Defaulted, representation, &mut payload).unwrap();
            let json = json_of(&description, &payload);
            let again = payload_of(&description, &json, representation);
            prop_assert_eq!(again.as_ref(), Ok(&payload));
            texts.push(json);
            let mut scratch = KeyScratch::default();
            let hash = key_hash(&description, &payload, Form::Sample, representation, &mut scratch);
            let mut key = Vec::new();
            key_payload(&description, &payload, &mut key).unwrap();
            let of_key = key_hash(&description, &key, Form::Key, representation, &mut scratch);
            prop_assert_eq!(hash, of_key);
        }
        prop_assert_eq!(&texts[0], &texts[1]);
    }

    /// Who knows less of an appendable or mutable type skips what it does not know.
    #[test]
    fn members_that_are_not_known_are_skipped(
        description in any_struct(),
        extensibility in prop_oneof![Just(Extensibility::Appendable), Just(Extensibility::Mutable)],
        added in any_struct(),
        choices in choices(),
    ) {
        let with = |more: Option<&Member>| {
            let mut members = description.members.to_vec();
            members.extend(more.cloned());
            members.iter_mut().for_each(|member| member.must_understand = false);
            TypeDescription::new("T", extensibility, members).unwrap()
        };
        let added = Member {
            name: "added".into(),
            id: 1000,
            key: false,
            must_understand: false,
            ..added.members[0].clone()
        };
        let (before, after) = (with(None), with(Some(&added)));
        let data = struct_of(&after, &mut choices.into_iter());
        let known = match &data {
            Data::Fields(fields) => {
                let known = fields.iter().filter(|(name, _)| name != "added");
                Data::Fields(known.cloned().collect())
            }
            _ => unreachable!("a struct"),
        };
        for representation in BOTH {
            let (mut payload, mut expected) = (Vec::new(), Vec::new());
            write(&after, &data, Defaulted, representation, &mut payload).unwrap();
            write(&before, &known, Defaulted, representation, &mut expected).unwrap();
            prop_assert_eq!(json_of(&before, &payload), json_of(&before, &expected));
        }
    }

    #[test]
    fn cut_and_damaged_payloads_are_survived(
        description in any_struct(),
        choices in choices(),
        cut in any::<prop::sample::Index>(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let data = struct_of(&description, &mut choices.into_iter());
        for representation in BOTH {
            let mut payload = Vec::new();
            write(&description, &data, Defaulted, representation, &mut payload).unwrap();
            for (at, byte) in &damage {
                let at = at.index(payload.len());
                payload[at] = *byte;
            }
            payload.truncate(cut.index(payload.len() * 2));
            for form in [Form::Sample, Form::Key] {
                let _ = to_json(&description, &payload, form, &mut String::new());
                let _ = key_hash(&description, &payload, form, representation, &mut KeyScratch::default());
            }
        }
    }
}
