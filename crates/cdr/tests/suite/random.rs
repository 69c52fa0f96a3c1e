//! Types of all kinds, at random.

use proptest::collection::vec;
use proptest::prelude::*;
use tickwire_cdr::{
    Bitfield, BitmaskDescription, BitsetDescription, Case, EnumDescription, Extensibility, Flag,
    Literal, Member, Shared, Type, TypeDescription, UnionDescription,
};

fn name() -> impl Strategy<Value = String> {
    "[a-z]{1,8}"
}

pub(crate) fn extensibility() -> impl Strategy<Value = Extensibility> {
    prop_oneof![
        Just(Extensibility::Final),
        Just(Extensibility::Appendable),
        Just(Extensibility::Mutable),
    ]
}

fn bound() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 1..10_u32, Just(255), Just(256)]
}

fn enumeration() -> impl Strategy<Value = Type> {
    (
        name(),
        prop_oneof![Just(8_u16), Just(13), Just(32)],
        0..100_i32,
    )
        .prop_map(|(name, bit_bound, value)| {
            let literal = |name: &str, value| Literal {
                name: name.into(),
                value,
            };
            Type::Enum(Shared::from(EnumDescription {
                name: name.as_str().into(),
                extensibility: Extensibility::Final,
                bit_bound,
                literals: vec![literal("B", value), literal("A", value + 1)].into(),
            }))
        })
}

fn bitmask() -> impl Strategy<Value = Type> {
    (name(), 2..=64_u16).prop_map(|(name, bit_bound)| {
        let flag = |name: &str, position| Flag {
            name: name.into(),
            position,
        };
        Type::Bitmask(Shared::from(BitmaskDescription {
            name: name.as_str().into(),
            extensibility: Extensibility::Appendable,
            bit_bound,
            flags: vec![flag("LOW", 0), flag("HIGH", bit_bound - 1)].into(),
        }))
    })
}

fn bitset() -> impl Strategy<Value = Type> {
    (name(), 1..=16_u8, 0..=16_u16).prop_map(|(name, bits, gap)| {
        let field = |name: &str, position, bits, ty| Bitfield {
            name: name.into(),
            position,
            bits,
            ty,
        };
        let end = gap + u16::from(bits);
        let fields = vec![
            field("low", gap, bits, Type::I16),
            field("flag", end, 1, Type::Bool),
            field("high", end + 1, 5, Type::U8),
        ];
        Type::Bitset(Shared::from(BitsetDescription {
            name: name.as_str().into(),
            fields: fields.into(),
        }))
    })
}

fn discriminator() -> impl Strategy<Value = Type> {
    prop_oneof![
        Just(Type::U8),
        Just(Type::Byte),
        Just(Type::Char),
        Just(Type::I16),
        Just(Type::I32),
        Just(Type::U64),
    ]
}

fn union(
    (name, extensibility, discriminator, types, default): (
        String,
        Extensibility,
        Type,
        Vec<Type>,
        bool,
    ),
) -> Type {
    let last = types.len() - 1;
    let case = |(index, ty): (usize, Type)| {
        let at = u32::try_from(index).unwrap();
        let label = i32::try_from(index).unwrap() * 2;
        let is_default = default && index == last;
        Case {
            member: Member::new(&format!("c{index}"), at + 1, ty),
            labels: match is_default {
                true => vec![].into(),
                false => vec![label, label + 1].into(),
            },
            default: is_default,
        }
    };
    let cases = types.into_iter().enumerate().map(case).collect();
    let union = UnionDescription::new(&name, extensibility, discriminator, cases);
    Type::Union(Shared::from(union.unwrap()))
}

fn leaf() -> impl Strategy<Value = Type> {
    prop_oneof![
        Just(Type::Bool),
        Just(Type::Byte),
        Just(Type::I8),
        Just(Type::U16),
        Just(Type::I32),
        Just(Type::U32),
        Just(Type::I64),
        Just(Type::U64),
        Just(Type::F32),
        Just(Type::F64),
        Just(Type::Char),
        Just(Type::WChar),
        bound().prop_map(|bound| Type::String { bound }),
        bound().prop_map(|bound| Type::WString { bound }),
        enumeration(),
        bitmask(),
        bitset(),
    ]
}

fn key() -> impl Strategy<Value = Type> {
    leaf().prop_filter("a key of a map", Type::is_map_key)
}

/// How many values one of the type has at most, where sequences and maps have three.
fn values(ty: &Type) -> u64 {
    match ty {
        Type::Sequence { element, .. } => 3 * values(element),
        Type::Map { key, value, .. } => 3 * (values(key) + values(value)),
        Type::Array { element, length } => u64::from(*length) * values(element),
        Type::Struct(of) => values_of(of),
        Type::Union(of) => {
            let cases = of.cases.iter().map(|case| values(&case.member.ty));
            1 + cases.max().unwrap_or(0)
        }
        _ => 1,
    }
}

fn values_of(of: &TypeDescription) -> u64 {
    of.members.iter().map(|member| values(&member.ty)).sum()
}

/// What an array has at most; four deep in a struct of four members, 28 times as many.
const MAX_VALUES: u64 = 1_000;

proptest! {
    #[test]
    fn samples_of_random_types_are_of_bounded_size(ty in any_struct()) {
        prop_assert!(values_of(&ty) < 30 * MAX_VALUES);
    }
}

/// A type of any kind.
pub(crate) fn any_type() -> impl Strategy<Value = Type> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        let union = (
            name(),
            extensibility(),
            discriminator(),
            vec(inner.clone(), 1..4),
            any::<bool>(),
        )
            .prop_map(union);
        let sequence = (inner.clone(), bound()).prop_map(|(element, bound)| Type::Sequence {
            element: Shared::from(element),
            bound,
        });
        let array =
            (inner.clone(), prop_oneof![1..4_u32, Just(256)]).prop_map(|(element, length)| {
                // Of three arrays of 256 within each other, a sample would take half a gigabyte.
                let is_long = values(&element) * u64::from(length) > MAX_VALUES;
                Type::Array {
                    element: Shared::from(element),
                    length: if is_long { 1 } else { length },
                }
            });
        let map = (key(), inner.clone(), bound()).prop_map(|(key, value, bound)| Type::Map {
            key: Shared::from(key),
            value: Shared::from(value),
            bound,
        });
        let structure = (name(), extensibility(), vec((inner, any::<bool>()), 1..4)).prop_map(
            |(name, extensibility, types)| {
                let member = |(id, (ty, optional))| Member {
                    optional,
                    ..Member::new(&format!("m{id}"), id, ty)
                };
                let members = (0..).zip(types).map(member).collect();
                let description = TypeDescription::new(&name, extensibility, members);
                Type::Struct(Shared::from(description.unwrap()))
            },
        );
        prop_oneof![sequence, array, map, structure, union]
    })
}

/// A struct of members of any kind, of which the first is the key.
pub(crate) fn any_struct() -> impl Strategy<Value = TypeDescription> {
    let types = vec((any_type(), any::<bool>(), any::<bool>()), 1..5);
    (extensibility(), any::<bool>(), types).prop_map(|(extensibility, keyed, types)| {
        let member = |(index, (ty, optional, must_understand)): (u32, _)| Member {
            key: keyed && index == 0,
            optional: optional && !(keyed && index == 0),
            must_understand: must_understand && !(keyed && index == 0),
            ..Member::new(&format!("m{index}"), index * 3, ty)
        };
        let members = (0..).zip(types).map(member).collect();
        TypeDescription::new("a::T", extensibility, members).unwrap()
    })
}
