//! Types of a model as descriptions are those of the same types in Rust, and those that are printed as IDL.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::Path;

use proptest::prelude::*;
use tickwire::cdr::xtypes::TypeObjects;
use tickwire::cdr::{
    Bitfield, BitmaskDescription, BitsetDescription, Case, EnumDescription, Extensibility, Flag,
    Literal, Member, Shared, Topic, Type, TypeDescription, UnionDescription,
};
use tickwire_idl::{Descriptions, Files, Loader, Model, Options, compile};
use tickwire_idl_conformance::{complex, kinds, market_data, ros};

use super::to_idl;

struct Text<'t>(&'t str);

impl Loader for Text<'_> {
    fn load(&mut self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.as_bytes().to_vec())
    }
}

fn of_text(text: &str) -> Model {
    let compilation = compile(&["test.idl"], &Options::default(), &mut Text(text));
    compilation
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .model
}

fn of_corpus(name: &str) -> Model {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../idl/tests/corpus");
    let options = Options {
        search: vec![corpus.join("ros")],
        ..Options::default()
    };
    let compilation = compile(&[corpus.join(name)], &options, &mut Files);
    compilation.unwrap_or_else(|error| panic!("{error}")).model
}

/// The description of a type, with what keeps it.
fn described(model: &Model, name: &str) -> Result<TypeDescription, String> {
    let (id, _) = model.find(name).expect("it is defined");
    match Descriptions::of(model).get(id) {
        Some(Ok(Type::Struct(of))) => {
            // Links are followed as long as the table is there.
            let whole = TypeObjects::new().add(of).map(|_| (**of).clone());
            Ok(whole.expect("it can be told"))
        }
        Some(Err(why)) => Err(why.to_owned()),
        other => panic!("{other:?}"),
    }
}

/// That the types of a model are those of the Rust made of it, and those of the IDL that tells them.
#[track_caller]
fn check<T: Topic>(model: &Model) {
    let expected = T::description();
    for model in [model, &of_text(&to_idl(expected))] {
        let (id, _) = model.find(&expected.name).expect("it is defined");
        let descriptions = Descriptions::of(model);
        let Some(Ok(Type::Struct(ty))) = descriptions.get(id) else {
            panic!("{} is a struct", &*expected.name);
        };
        for (member, expected) in ty.members.iter().zip(expected.members.iter()) {
            assert_eq!(member, expected);
        }
        assert_eq!(&**ty, expected);
        let ids = |ty: &TypeDescription| TypeObjects::new().add(ty).expect("it can be told");
        assert_eq!(ids(ty), ids(expected), "{}", &*expected.name);
    }
}

#[test]
fn types_of_a_model_are_those_of_rust() {
    let model = of_corpus("kinds.idl");
    check::<kinds::trading::Order>(&model);
    check::<kinds::trading::Node>(&model);
    check::<kinds::trading::Instrument>(&model);
    check::<kinds::trading::Hashed>(&model);
    check::<kinds::trading::Reopened>(&model);
    check::<kinds::other::Level>(&model);
    check::<kinds::other::inner::Level>(&model);
    check::<complex::middleware_news_brief::MarketData>(&of_corpus("Complex.idl"));
    let model = of_corpus("MarketData.idl");
    check::<market_data::middleware_news_brief::MarketData>(&model);
    check::<market_data::middleware_news_brief::QuoteRequest>(&model);
    let ros_model = of_corpus("ros/sensor_msgs/msg/BatteryState.idl");
    check::<ros::sensor_msgs::msg::BatteryState>(&ros_model);
}

#[test]
fn what_has_no_description_says_why() {
    let model = of_text(
        "struct Wide { long double a; }; struct Outer { sequence<Wide> wide; };
         struct Empty { }; struct Good { bitmask_ a; Node n; };
         struct Node { sequence<Node> children; };"
            .replace("bitmask_", "octet")
            .replace("struct Good", "struct Node; struct Good")
            .replace("Node n;", "sequence<Node> n;")
            .as_str(),
    );
    let why = |name: &str| described(&model, name).err();
    assert_eq!(
        why("Wide").as_deref(),
        Some("`a` is of `long double`, which is not known here")
    );
    assert_eq!(
        why("Outer").as_deref(),
        Some("`wide` is of `Wide`, which cannot be compared")
    );
    assert!(why("Empty").is_some());
    assert_eq!(why("Good"), None);
}

#[test]
fn types_that_need_many_others_are_told() {
    let chain = (1..20_000).map(|i| format!("struct s{i} {{ sequence<s{}> a; }};", i - 1));
    let text = "struct s0 { long a; };".to_owned() + &chain.collect::<String>();
    let model = of_text(&text);
    let descriptions = Descriptions::of(&model);
    let get = |name: &str| {
        let (id, _) = model.find(name).expect("it is defined");
        descriptions.get(id).expect("it is a type")
    };
    assert!(get("s255").is_ok());
    assert_eq!(get("s256"), Err("it needs more than 256 other types"));
    assert!(get("s19999").is_err());
}

/// A name that only types of this content have.
fn name_of(kind: &str, content: &impl Debug) -> Shared<str> {
    let mut hasher = DefaultHasher::new();
    format!("{content:?}").hash(&mut hasher);
    let hash = hasher.finish();
    let module = ["", "a::", "a::b::"][hash as usize % 3];
    format!("{module}{kind}{hash:x}").as_str().into()
}

fn any_extensibility() -> impl Strategy<Value = Extensibility> {
    prop_oneof![
        Just(Extensibility::Final),
        Just(Extensibility::Appendable),
        Just(Extensibility::Mutable)
    ]
}

fn any_enum() -> impl Strategy<Value = Type> {
    let values = prop::collection::hash_set(-8..8_i32, 1..5);
    (4..=32_u16, values, any::<bool>()).prop_map(|(bit_bound, values, is_final)| {
        // Literals belong to the scope around the enum, so their names are of it, too.
        let own = name_of("E", &(bit_bound, &values, is_final));
        let prefix = own.rsplit("::").next().unwrap_or_default().to_owned();
        let literals = values.into_iter().map(|value| Literal {
            name: format!("L_{prefix}_{}", value + 8).as_str().into(),
            value,
        });
        Type::Enum(Shared::from(EnumDescription {
            name: own,
            extensibility: if is_final {
                Extensibility::Final
            } else {
                Extensibility::Appendable
            },
            bit_bound,
            literals: literals.collect::<Vec<_>>().into(),
        }))
    })
}

fn any_bits() -> impl Strategy<Value = Type> {
    let bitmask =
        (1..=64_u16, any::<u64>(), any::<bool>()).prop_map(|(bit_bound, bits, is_final)| {
            let bits = bits >> (64 - u32::from(bit_bound)) | 1;
            let flags = (0..bit_bound).filter(|position| bits >> position & 1 == 1);
            let flags = flags.map(|position| Flag {
                name: format!("f{position}").as_str().into(),
                position,
            });
            Type::Bitmask(Shared::from(BitmaskDescription {
                name: name_of("B", &(bit_bound, bits, is_final)),
                extensibility: if is_final {
                    Extensibility::Final
                } else {
                    Extensibility::Appendable
                },
                bit_bound,
                flags: flags.collect::<Vec<_>>().into(),
            }))
        });
    let bitset =
        prop::collection::vec((0..4_u16, 1..=8_u8, any::<bool>()), 1..5).prop_map(|parts| {
            let mut free = 0;
            let fields = parts
                .iter()
                .enumerate()
                .map(|(index, (gap, bits, is_signed))| {
                    let position = free + gap;
                    free = position + u16::from(*bits);
                    Bitfield {
                        name: format!("f{index}").as_str().into(),
                        position,
                        bits: *bits,
                        ty: if *is_signed { Type::I8 } else { Type::U16 },
                    }
                });
            Type::Bitset(Shared::from(BitsetDescription {
                name: name_of("S", &parts),
                fields: fields.collect::<Vec<_>>().into(),
            }))
        });
    prop_oneof![bitmask, bitset]
}

fn any_leaf() -> impl Strategy<Value = Type> {
    let plain = [
        Type::Bool,
        Type::U8,
        Type::Byte,
        Type::I8,
        Type::U16,
        Type::I16,
        Type::U32,
        Type::I32,
        Type::U64,
        Type::I64,
        Type::F32,
        Type::F64,
        Type::Char,
        Type::WChar,
    ];
    let bound = prop_oneof![Just(0), 1..300_u32];
    prop_oneof![
        prop::sample::select(plain.to_vec()),
        bound.clone().prop_map(|bound| Type::String { bound }),
        bound.prop_map(|bound| Type::WString { bound }),
        any_enum(),
        any_bits(),
    ]
}

fn any_member(ty: impl Strategy<Value = Type>) -> impl Strategy<Value = Member> {
    (ty, 0..3_u32, any::<[bool; 4]>()).prop_map(|(ty, gap, flags)| {
        let [key, optional, external, must_understand] = flags;
        Member {
            key,
            optional: optional && !key,
            external,
            must_understand: must_understand && !key,
            ..Member::new("", gap, ty)
        }
    })
}

/// Gives members names and ids of which no two are the same; `gap` was kept as the id.
fn numbered(members: Vec<Member>, mut next: u32) -> Vec<Member> {
    let words = [
        "price", "struct", "Long", "uint8", "wstring", "TRUE", "x", "octet",
    ];
    let named = members.into_iter().zip(words).map(|(member, name)| {
        let id = next + member.id;
        next = id + 1;
        Member {
            name: name.into(),
            id,
            ..member
        }
    });
    named.collect()
}

fn structure(members: Vec<Member>, extensibility: Extensibility, nested: bool) -> TypeDescription {
    let members = numbered(members, 0);
    let name = name_of("T", &(&members, extensibility, nested));
    let described = TypeDescription::new(&name, extensibility, members);
    TypeDescription {
        nested,
        ..described.expect("a valid type")
    }
}

fn union(members: Vec<Member>, extensibility: Extensibility, by: usize, key: bool) -> Type {
    let first = u32::from(extensibility == Extensibility::Mutable);
    let plain = members.into_iter().map(|member| Member {
        key: false,
        optional: false,
        must_understand: false,
        ..member
    });
    let discriminator = [Type::I32, Type::U8, Type::Char, Type::Byte, Type::WChar][by % 5].clone();
    let cases = numbered(plain.collect(), first).into_iter().zip(65..);
    let cases: Vec<Case> = cases
        .map(|(member, label)| Case {
            labels: vec![label, label + 20].into(),
            default: label == 66,
            member,
        })
        .collect();
    let name = name_of("U", &(&cases, extensibility, by, key));
    let described = UnionDescription::new(&name, extensibility, discriminator, cases);
    Type::Union(Shared::from(UnionDescription {
        discriminator_key: key,
        ..described.expect("a valid type")
    }))
}

fn any_type() -> impl Strategy<Value = Type> {
    any_leaf().prop_recursive(3, 24, 4, |inner| {
        let members = prop::collection::vec(any_member(inner.clone()), 1..4).boxed();
        let bound = prop_oneof![Just(0), 1..300_u32];
        prop_oneof![
            (inner.clone(), bound.clone()).prop_map(|(element, bound)| Type::Sequence {
                element: Shared::from(element),
                bound,
            }),
            (inner.clone(), 1..9_u32).prop_map(|(element, length)| Type::Array {
                element: Shared::from(element),
                length,
            }),
            (inner, bound).prop_map(|(value, bound)| Type::Map {
                key: Shared::from(Type::String { bound: 7 }),
                value: Shared::from(value),
                bound,
            }),
            (members.clone(), any_extensibility(), any::<bool>()).prop_map(
                |(members, ext, nested)| {
                    Type::Struct(Shared::from(structure(members, ext, nested)))
                }
            ),
            (members, any_extensibility(), any::<usize>(), any::<bool>())
                .prop_map(|(members, ext, by, key)| union(members, ext, by, key)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_type_told_as_idl_is_the_same_type(
        members in prop::collection::vec(any_member(any_type()), 1..6),
        extensibility in any_extensibility(),
    ) {
        let expected = structure(members, extensibility, false);
        let text = to_idl(&expected);
        let model = of_text(&text);
        let (id, _) = model.find(&expected.name).expect("it is defined");
        let descriptions = Descriptions::of(&model);
        let Some(Ok(Type::Struct(ty))) = descriptions.get(id) else {
            panic!("{text}");
        };
        prop_assert_eq!(&**ty, &expected, "{}", text);
        let laid_out = tickwire_idl::format("test.idl", &text).expect("it has tokens");
        prop_assert_eq!(laid_out, text, "what is printed is laid out");
    }
}
