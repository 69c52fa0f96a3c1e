//! Numbers that are read and written together, and short strings, are what they are one by one: at
//! every alignment, in both byte orders, cut off anywhere and with any byte changed.

use proptest::prelude::*;
use tickwire_cdr::{
    ByteOrder, Decode, DecodeError, Describe, Encapsulation, Encode, EncodeError, Extensibility,
    LengthCode, Reader, Representation, Topic, Type, Writer,
};

/// The types of the test, of numbers and texts that are called so.
macro_rules! samples {
    ($bool:ident $u8:ident $u16:ident $u32:ident $u64:ident $i32:ident $f32:ident $f64:ident $text:ident) => {
        #[derive(Clone, Debug, PartialEq, Topic)]
        #[topic(final, crate = tickwire_cdr)]
        pub(super) struct Item {
            pub(super) i: $i32,
            pub(super) x: $f32,
            pub(super) d: $f64,
            pub(super) n: $u64,
        }

        // With padding at its end, where the next one begins at a multiple of eight.
        #[derive(Clone, Debug, PartialEq, Topic)]
        #[topic(final, crate = tickwire_cdr)]
        pub(super) struct Point {
            pub(super) value: $f64,
            pub(super) three: [$u16; 3],
            pub(super) flag: $bool,
        }

        // Of which no two that follow each other have the same alignment.
        #[derive(Clone, Debug, PartialEq, Topic)]
        #[topic(final, crate = tickwire_cdr)]
        pub(super) struct Odd {
            pub(super) a: $u8,
            pub(super) b: $u64,
            pub(super) c: $u16,
        }

        #[derive(Clone, Debug, PartialEq, Topic)]
        #[topic(appendable, crate = tickwire_cdr)]
        pub(super) struct Grown {
            pub(super) flag: $bool,
            pub(super) value: $f64,
            pub(super) small: $u8,
        }

        #[derive(Clone, Debug, PartialEq, Topic)]
        #[topic(final, crate = tickwire_cdr)]
        pub(super) struct Line {
            pub(super) a: $u16,
            pub(super) text: $text,
            pub(super) b: $u64,
            pub(super) c: $u32,
        }

        #[derive(Clone, Debug, PartialEq, Topic)]
        #[topic(final, crate = tickwire_cdr)]
        pub(super) struct Sample {
            pub(super) before: Vec<u8>,
            pub(super) a: $u16,
            pub(super) b: $u8,
            pub(super) c: $u8,
            pub(super) d: $u32,
            pub(super) e: $f64,
            pub(super) f: $u32,
            pub(super) g: $u16,
            pub(super) text: $text,
            pub(super) h: $u64,
            pub(super) i: $u8,
            pub(super) lines: Vec<Line>,
            pub(super) items: Vec<Item>,
            pub(super) array: [Item; 2],
            pub(super) points: Vec<Point>,
            pub(super) odd: Vec<Odd>,
        }

        #[derive(Clone, Debug, PartialEq, Topic)]
        #[topic(appendable, crate = tickwire_cdr)]
        pub(super) struct Growing {
            pub(super) before: Vec<u8>,
            pub(super) a: $u32,
            pub(super) b: $u16,
            pub(super) c: $u16,
            pub(super) sample: Sample,
            pub(super) d: $f64,
            pub(super) e: $i32,
            pub(super) grown: Vec<Grown>,
        }

        // Longer than what is written at once.
        #[derive(Clone, Debug, PartialEq, Topic)]
        #[topic(final, crate = tickwire_cdr)]
        pub(super) struct Wide {
            pub(super) numbers: [$u16; 2_052],
        }

        #[derive(Clone, Debug, PartialEq, Topic)]
        #[topic(final, crate = tickwire_cdr)]
        pub(super) struct Long {
            pub(super) before: Vec<u8>,
            pub(super) floats: Vec<$f32>,
            pub(super) points: Vec<Point>,
            pub(super) items: Vec<Item>,
            pub(super) grown: Vec<Grown>,
            pub(super) wide: Vec<Wide>,
        }
    };
}

mod together {
    use super::*;

    samples!(bool u8 u16 u32 u64 i32 f32 f64 String);
}

mod one_by_one {
    use super::*;

    // The derive macro cannot tell that these are numbers.
    type Bool = bool;
    type U8 = u8;
    type U16 = u16;
    type U32 = u32;
    type U64 = u64;
    type I32 = i32;
    type F32 = f32;
    type F64 = f64;

    samples!(Bool U8 U16 U32 U64 I32 F32 F64 Text);
}

/// A string that is written byte by byte and read as any string is.
#[derive(Clone, Debug, PartialEq)]
struct Text(String);

impl Describe for Text {
    const TYPE: Type = Type::String { bound: 0 };
}

impl Encode for Text {
    const LENGTH_CODE: LengthCode = LengthCode::AlsoNextInt;

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_u32(u32::try_from(self.0.len() + 1).expect("it is short"));
        self.0.bytes().for_each(|byte| writer.write_u8(byte));
        writer.write_u8(0);
        Ok(())
    }
}

impl Decode for Text {
    const MIN_SIZE: usize = 4;

    fn initial() -> Self {
        Self(String::new())
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        self.0 = reader.read_str(0)?.to_owned();
        Ok(())
    }
}

fn body<T: Topic>(value: &T, representation: Representation, order: ByteOrder) -> Vec<u8> {
    let mut bytes = Vec::new();
    match order {
        ByteOrder::Little => {
            let mut payload = Vec::new();
            tickwire_cdr::to_payload(value, representation, &mut payload).expect("an encoding");
            value
                .encode(&mut Writer::new(&mut bytes, representation))
                .expect("an encoding");
            assert_eq!(payload[4..4 + bytes.len()], bytes);
        }
        // What hashes are made of is what a big-endian peer writes of a final type.
        ByteOrder::Big => value
            .encode_key(&mut Writer::for_key_hash(&mut bytes, representation))
            .expect("an encoding"),
    }
    bytes
}

fn decoded<T: Topic>(
    bytes: &[u8],
    representation: Representation,
    order: ByteOrder,
) -> Result<T, DecodeError> {
    let encapsulation = Encapsulation {
        order,
        ..Encapsulation::new(representation, Extensibility::Final)
    };
    let mut value = T::initial();
    value.decode_into(&mut Reader::new(bytes, encapsulation))?;
    Ok(value)
}

/// Both read the same from these bytes, or have the same error at the same place.
fn agree<A: Topic, B: Topic>(bytes: &[u8], representation: Representation, order: ByteOrder) {
    let together = decoded::<A>(bytes, representation, order);
    let one_by_one = decoded::<B>(bytes, representation, order);
    match (together, one_by_one) {
        (Ok(together), Ok(one_by_one)) => assert_eq!(
            body(&together, representation, ByteOrder::Little),
            body(&one_by_one, representation, ByteOrder::Little)
        ),
        (together, one_by_one) => assert_eq!(together.err(), one_by_one.err()),
    }
}

fn check<A: Topic + std::fmt::Debug + PartialEq, B: Topic>(
    value: &A,
    orders: &[ByteOrder],
    change: (usize, u8),
) {
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        for order in orders {
            let bytes = body(value, representation, *order);
            assert_eq!(
                &decoded::<A>(&bytes, representation, *order).expect("a value"),
                value
            );
            let same = decoded::<B>(&bytes, representation, *order).expect("a value");
            assert_eq!(body(&same, representation, *order), bytes);
            for len in 0..bytes.len() {
                agree::<A, B>(&bytes[..len], representation, *order);
            }
            let mut changed = bytes;
            let place = change.0 % changed.len();
            changed[place] = change.1;
            agree::<A, B>(&changed, representation, *order);
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[0-9A-Z]{0,2}", "[ -~]{0,20}", "[a-zäß€𝄞]{0,9}"]
}

fn item() -> impl Strategy<Value = together::Item> {
    (any::<i32>(), -1e9_f32..1e9, -1e9..1e9, any::<u64>()).prop_map(|(i, x, d, n)| together::Item {
        i,
        x,
        d,
        n,
    })
}

fn line() -> impl Strategy<Value = together::Line> {
    (any::<u16>(), text(), any::<u64>(), any::<u32>()).prop_map(|(a, text, b, c)| together::Line {
        a,
        text,
        b,
        c,
    })
}

fn point() -> impl Strategy<Value = together::Point> {
    let values = (-1e9..1e9, any::<[u16; 3]>(), any::<bool>());
    values.prop_map(|(value, three, flag)| together::Point { value, three, flag })
}

fn odd() -> impl Strategy<Value = together::Odd> {
    any::<(u8, u64, u16)>().prop_map(|(a, b, c)| together::Odd { a, b, c })
}

fn grown() -> impl Strategy<Value = together::Grown> {
    let values = (any::<bool>(), -1e9..1e9, any::<u8>());
    values.prop_map(|(flag, value, small)| together::Grown { flag, value, small })
}

prop_compose! {
    fn sample()(
        before in prop::collection::vec(any::<u8>(), 0..9),
        (a, b, c, d) in any::<(u16, u8, u8, u32)>(),
        e in -1e9..1e9,
        (f, g, h, i) in any::<(u32, u16, u64, u8)>(),
        text in text(),
        lines in prop::collection::vec(line(), 0..3),
        items in prop::collection::vec(item(), 0..5),
        array in [item(), item()],
        points in prop::collection::vec(point(), 0..5),
        odd in prop::collection::vec(odd(), 0..5),
    ) -> together::Sample {
        together::Sample { before, a, b, c, d, e, f, g, text, h, i, lines, items, array, points, odd }
    }
}

prop_compose! {
    fn growing()(
        before in prop::collection::vec(any::<u8>(), 0..9),
        (a, b, c, e) in any::<(u32, u16, u16, i32)>(),
        d in -1e9..1e9,
        sample in sample(),
        grown in prop::collection::vec(grown(), 0..4),
    ) -> together::Growing {
        together::Growing { before, a, b, c, sample, d, e, grown }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_final_type_is_what_it_is_one_by_one(value in sample(), change in any::<(usize, u8)>()) {
        check::<_, one_by_one::Sample>(&value, &[ByteOrder::Little, ByteOrder::Big], change);
    }

    #[test]
    fn an_appendable_type_is_what_it_is_one_by_one(value in growing(), change in any::<(usize, u8)>()) {
        check::<_, one_by_one::Growing>(&value, &[ByteOrder::Little], change);
    }
}

#[test]
fn long_sequences_are_what_they_are_one_by_one() {
    // As many as fit what is written at once, one more or less, and many times as many.
    for len in [169_u16, 170, 171, 255, 256, 257, 1023, 1024, 1025, 5000] {
        let mut value = together::Long {
            before: vec![1; usize::from(len % 9)],
            floats: (0..len).map(f32::from).collect(),
            points: (0..len)
                .map(|it| together::Point {
                    value: it.into(),
                    three: [it; 3],
                    flag: it % 3 == 0,
                })
                .collect(),
            items: (0..len)
                .map(|it| together::Item {
                    i: it.into(),
                    x: it.into(),
                    d: it.into(),
                    n: it.into(),
                })
                .collect(),
            grown: (0..len)
                .map(|it| together::Grown {
                    flag: it % 2 == 0,
                    value: it.into(),
                    small: it.to_le_bytes()[0],
                })
                .collect(),
            wide: (0..3)
                .map(|it| together::Wide {
                    numbers: std::array::from_fn(|at| it * 10_000 + at as u16),
                })
                .collect(),
        };
        for order in [ByteOrder::Little, ByteOrder::Big] {
            // As in the other tests, final types alone.
            if order == ByteOrder::Big {
                value.grown.clear();
            }
            for representation in [Representation::Xcdr1, Representation::Xcdr2] {
                let bytes = body(&value, representation, order);
                let same = decoded::<one_by_one::Long>(&bytes, representation, order);
                let same = same.expect("a value");
                assert_eq!(body(&same, representation, order), bytes, "{len} values");
                let again = decoded::<together::Long>(&bytes, representation, order);
                assert_eq!(again.as_ref(), Ok(&value), "{len} values");
            }
        }
    }
}

#[test]
fn a_nul_in_a_string_of_any_length_has_no_encoding() {
    for len in 1..40 {
        for place in 0..len {
            let text = "x".repeat(place) + "\0" + &"x".repeat(len - place - 1);
            let mut payload = vec![1, 2, 3];
            let error = tickwire_cdr::encapsulated(
                Representation::Xcdr2,
                Extensibility::Final,
                &mut payload,
                |writer| {
                    writer.write_u32(7);
                    writer.write_string(&text, 0)
                },
            );
            assert_eq!(
                error.map_err(|error| error.kind),
                Err(tickwire_cdr::EncodeErrorKind::NulInString)
            );
            assert_eq!(payload, [1, 2, 3]);
        }
    }
}

#[test]
fn numbers_in_one_piece_are_what_they_are_one_by_one() -> Result<(), DecodeError> {
    let numbers = [1.5_f64, -2.25, f64::MAX];
    let little: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let (mut whole, mut single) = (Vec::new(), Vec::new());
        let mut writer = Writer::new(&mut whole, representation);
        writer.write_u8(7);
        writer.write_numbers(8, &little);
        let mut writer = Writer::new(&mut single, representation);
        writer.write_u8(7);
        numbers.iter().for_each(|number| writer.write_f64(*number));
        assert_eq!(whole, single);

        let encapsulation = Encapsulation::new(representation, Extensibility::Final);
        let mut reader = Reader::new(&whole, encapsulation);
        assert_eq!(reader.byte_order(), ByteOrder::Little);
        assert_eq!(reader.read_u8()?, 7);
        assert_eq!(reader.read_numbers(3, 8)?, little);
        assert_eq!(reader.position(), whole.len());
        assert!(reader.read_numbers(1, 8).is_err());
        assert_eq!(reader.read_numbers(0, 8)?, []);

        let (mut whole, mut single) = (Vec::new(), Vec::new());
        Writer::for_key_hash(&mut whole, representation).write_numbers(8, &little);
        let mut writer = Writer::for_key_hash(&mut single, representation);
        numbers.iter().for_each(|number| writer.write_f64(*number));
        assert_eq!(whole, single);
    }
    Ok(())
}
