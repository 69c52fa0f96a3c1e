//! Which types can be read as which, rule by rule (XTypes 1.3 §7.2.4).

use proptest::prelude::*;
use tickwire_cdr::xtypes::{Consistency, EquivalenceKind, TypeObjects, check_assignable};
use tickwire_cdr::{
    BitmaskDescription, Case, EnumDescription, Extensibility, Flag, Literal, Member,
    Representation, Shared, Type, TypeDescription, UnionDescription,
};

use crate::random::any_struct;

use Extensibility::{Appendable, Final, Mutable};

fn members(list: &[(&str, u32, Type)]) -> Vec<Member> {
    let member = |(name, id, ty): &(&str, u32, Type)| Member::new(name, *id, ty.clone());
    list.iter().map(member).collect()
}

fn of(extensibility: Extensibility, members: Vec<Member>) -> TypeDescription {
    TypeDescription::new("T", extensibility, members).unwrap()
}

/// A struct of two members of which the second has this type.
fn with(ty: Type) -> TypeDescription {
    of(Appendable, members(&[("first", 0, Type::U8), ("m", 1, ty)]))
}

fn shared(ty: Type) -> Shared<Type> {
    Shared::from(ty)
}

fn nested(extensibility: Extensibility, list: &[(&str, u32, Type)]) -> Type {
    let description = TypeDescription::new("N", extensibility, members(list)).unwrap();
    Type::Struct(Shared::from(description))
}

fn text(bound: u32) -> Type {
    Type::String { bound }
}

fn sequence(element: Type, bound: u32) -> Type {
    let element = shared(element);
    Type::Sequence { element, bound }
}

fn array(element: Type, length: u32) -> Type {
    let element = shared(element);
    Type::Array { element, length }
}

fn map(key: Type, value: Type) -> Type {
    Type::Map {
        key: shared(key),
        value: shared(value),
        bound: 0,
    }
}

fn enumeration(extensibility: Extensibility, bit_bound: u16, literals: &[(&str, i32)]) -> Type {
    let literal = |(name, value): &(&str, i32)| Literal {
        name: (*name).into(),
        value: *value,
    };
    Type::Enum(Shared::from(EnumDescription {
        name: "E".into(),
        extensibility,
        bit_bound,
        literals: literals.iter().map(literal).collect::<Vec<_>>().into(),
    }))
}

fn bitmask(bit_bound: u16, flags: &[(&str, u16)]) -> Type {
    let flag = |(name, position): &(&str, u16)| Flag {
        name: (*name).into(),
        position: *position,
    };
    Type::Bitmask(Shared::from(BitmaskDescription {
        name: "B".into(),
        extensibility: Appendable,
        bit_bound,
        flags: flags.iter().map(flag).collect::<Vec<_>>().into(),
    }))
}

/// Members `c0`, `c1`, ... selected by these labels; one without labels is the default.
fn union(extensibility: Extensibility, cases: &[(&[i32], Type)]) -> Type {
    let case = |(index, (labels, ty)): (u32, &(&[i32], Type))| Case {
        member: Member::new(
            &format!("c{}", labels.first().unwrap_or(&-1)),
            index + 1,
            ty.clone(),
        ),
        labels: labels.to_vec().into(),
        default: labels.is_empty(),
    };
    let cases = (0..).zip(cases).map(case).collect();
    let union = UnionDescription::new("U", extensibility, Type::I32, cases).unwrap();
    Type::Union(Shared::from(union))
}

fn verdict(reader: &TypeDescription, writer: &TypeDescription, consistency: Consistency) -> String {
    match check_assignable(reader, writer, consistency) {
        Ok(()) => "ok".into(),
        Err(reasons) => {
            let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
            reasons.join("\n")
        }
    }
}

#[track_caller]
fn check(reader: &TypeDescription, writer: &TypeDescription, expected: &str) {
    assert_eq!(verdict(reader, writer, Consistency::default()), expected);
}

#[track_caller]
fn check_types(reader: Type, writer: Type, expected: &str) {
    check(&with(reader), &with(writer), expected);
}

#[test]
fn primitives_are_the_same() {
    check_types(Type::I32, Type::I32, "ok");
    check_types(
        Type::F64,
        Type::I32,
        "`T.m`: the writer has int32, the reader double",
    );
    check_types(
        Type::I64,
        Type::I32,
        "`T.m`: the writer has int32, the reader int64",
    );
    check_types(Type::U8, Type::Byte, "ok");
    check_types(
        Type::Char,
        Type::Byte,
        "`T.m`: the writer has octet, the reader char",
    );
    check_types(
        text(0),
        Type::WString { bound: 0 },
        "`T.m`: the writer has wstring, the reader string",
    );
    check_types(Type::U16, bitmask(16, &[]), "ok");
    check_types(
        Type::U8,
        bitmask(16, &[]),
        "`T.m`: the writer has bitmask B, the reader uint8",
    );
}

#[test]
fn bounds_count_if_the_reader_says_so() {
    let strict = Consistency {
        ignore_sequence_bounds: false,
        ignore_string_bounds: false,
        ..Consistency::default()
    };
    let less = "`T.m`: the writer has no bound, the reader the bound 5, which is less";
    for (small, large, less) in [
        (text(5), text(0), less),
        (sequence(Type::U8, 5), sequence(Type::U8, 0), less),
        (
            text(5),
            text(6),
            "`T.m`: the writer has the bound 6, the reader the bound 5, which is less",
        ),
    ] {
        let (small, large) = (with(small), with(large));
        check(&small, &large, "ok");
        assert_eq!(verdict(&small, &large, strict), less);
        assert_eq!(verdict(&large, &small, strict), "ok");
    }
}

#[test]
fn bounds_always_count_in_keys() {
    let keyed = |bound| {
        let key = Member {
            key: true,
            ..Member::new("k", 0, text(bound))
        };
        of(Appendable, vec![key])
    };
    check(&keyed(6), &keyed(5), "ok");
    check(
        &keyed(5),
        &keyed(6),
        "`T.k`: the writer has the bound 6, the reader the bound 5, which is less",
    );
}

#[test]
fn elements_are_assignable() {
    check_types(array(Type::U8, 3), array(Type::U8, 3), "ok");
    check_types(
        array(Type::U8, 3),
        array(Type::U8, 4),
        "`T.m`: the writer has uint8[4], the reader uint8[3]",
    );
    check_types(
        array(array(Type::U8, 3), 2),
        array(Type::U8, 6),
        "`T.m`: the writer has uint8[6], the reader uint8[2][3]",
    );
    check_types(
        sequence(Type::I32, 0),
        sequence(Type::F32, 0),
        "`T.m[]`: the writer has float, the reader int32",
    );
    check_types(
        map(text(0), Type::I32),
        map(Type::I8, Type::I64),
        "`T.m{key}`: the writer has int8, the reader string\n\
         `T.m{}`: the writer has int64, the reader int32",
    );
    let inner = |ty| sequence(nested(Mutable, &[("price", 1, ty)]), 0);
    check_types(
        inner(Type::F64),
        inner(Type::I32),
        "`T.m[].price`: the writer has int32, the reader double",
    );
}

#[test]
fn enumerations_agree_on_names_and_values() {
    let one = || enumeration(Appendable, 32, &[("A", 1), ("B", 2)]);
    check_types(one(), one(), "ok");
    check_types(one(), enumeration(Appendable, 32, &[("A", 1)]), "ok");
    check_types(one(), enumeration(Appendable, 32, &[("C", 3)]), "ok");
    check_types(
        one(),
        enumeration(Appendable, 32, &[("A", 2), ("C", 1)]),
        "`T.m::A`: the writer numbers it 2, the reader 1\n\
         `T.m::C`: the writer calls it C, the reader A",
    );
    check_types(
        one(),
        enumeration(Appendable, 8, &[("A", 1), ("B", 2)]),
        "`T.m`: the writer's has 8 bits, the reader's 32 bits",
    );
    check_types(
        enumeration(Final, 32, &[("A", 1), ("B", 2)]),
        enumeration(Final, 32, &[("A", 1), ("C", 3)]),
        "`T.m::C`: the reader does not have it, but the type is final\n\
         `T.m::B`: the writer does not have it, but the type is final",
    );
    let nameless = Consistency {
        ignore_member_names: true,
        ..Consistency::default()
    };
    let (reader, writer) = (
        with(one()),
        with(enumeration(Appendable, 32, &[("X", 1), ("Y", 2)])),
    );
    assert_eq!(verdict(&reader, &writer, nameless), "ok");
}

#[test]
fn bitmasks_agree_on_names_and_positions() {
    let one = || bitmask(8, &[("A", 0), ("B", 3)]);
    check_types(one(), one(), "ok");
    check_types(one(), bitmask(8, &[("A", 0), ("C", 7)]), "ok");
    check_types(
        one(),
        bitmask(8, &[("A", 1)]),
        "`T.m::A`: the writer numbers it 1, the reader 0",
    );
    check_types(
        one(),
        bitmask(9, &[("A", 0)]),
        "`T.m`: the writer's has 9 bits, the reader's 8 bits",
    );
}

#[test]
fn final_structs_are_the_same() {
    let two = || members(&[("a", 0, Type::U8), ("b", 1, Type::I32)]);
    let one = || members(&[("a", 0, Type::U8)]);
    check(&of(Final, two()), &of(Final, two()), "ok");
    check(
        &of(Final, two()),
        &of(Final, one()),
        "`T.b`: the writer does not have it, but the type is final",
    );
    check(
        &of(Final, one()),
        &of(Final, two()),
        "`T.b`: the reader does not have it, but the type is final",
    );
    check(
        &of(Final, two()),
        &of(Appendable, two()),
        "`T`: the writer's is appendable, the reader's final",
    );
}

#[test]
fn appendable_structs_differ_at_their_end() {
    let short = || members(&[("a", 0, Type::U8)]);
    let long = || members(&[("a", 0, Type::U8), ("b", 1, Type::I32)]);
    check(&of(Appendable, short()), &of(Appendable, long()), "ok");
    check(&of(Appendable, long()), &of(Appendable, short()), "ok");
    check(
        &of(Appendable, long()),
        &of(
            Appendable,
            members(&[("b", 1, Type::I32), ("a", 0, Type::U8)]),
        ),
        "`T.a`: the writer has b in its place",
    );
    check(
        &of(Appendable, long()),
        &of(
            Appendable,
            members(&[("a", 0, Type::U8), ("b", 2, Type::I32)]),
        ),
        "`T.b`: the writer numbers it 2, the reader 1",
    );
    let narrow = Consistency {
        prevent_type_widening: true,
        ..Consistency::default()
    };
    let (long, short) = (of(Appendable, long()), of(Appendable, short()));
    assert_eq!(verdict(&short, &long, narrow), "ok");
    assert_eq!(
        verdict(&long, &short, narrow),
        "`T.b`: the writer does not have it, but the reader prevents type widening"
    );
}

#[test]
fn optional_members_are_optional_on_both_sides() {
    let optional = |extensibility, optional| {
        let member = Member {
            optional,
            ..Member::new("a", 0, Type::U8)
        };
        of(extensibility, vec![member])
    };
    check(
        &optional(Appendable, true),
        &optional(Appendable, false),
        "`T.a`: the reader has it optional, the other not",
    );
    check(
        &optional(Final, false),
        &optional(Final, true),
        "`T.a`: the writer has it optional, the other not",
    );
    check(&optional(Mutable, false), &optional(Mutable, true), "ok");
}

#[test]
fn mutable_structs_go_by_ids() {
    let reader = of(Mutable, members(&[("a", 0, Type::U8), ("b", 1, Type::I32)]));
    check(
        &reader,
        &of(
            Mutable,
            members(&[("c", 7, Type::F64), ("b", 1, Type::I32)]),
        ),
        "ok",
    );
    check(
        &reader,
        &of(Mutable, members(&[("c", 7, Type::F64)])),
        "`T`: the two have nothing in common",
    );
    check(
        &reader,
        &of(Mutable, members(&[("a", 0, Type::U8), ("c", 1, Type::I32)])),
        "`T.b`: the writer calls it c, the reader b",
    );
    check(
        &reader,
        &of(Mutable, members(&[("a", 0, Type::U8), ("b", 2, Type::I32)])),
        "`T.b`: the writer numbers it 2, the reader 1",
    );
}

#[test]
fn what_must_be_understood_is_on_both_sides() {
    let indispensable = Member {
        must_understand: true,
        ..Member::new("x", 7, Type::U8)
    };
    let plain = of(Mutable, members(&[("a", 0, Type::U8)]));
    let strict = of(Mutable, vec![Member::new("a", 0, Type::U8), indispensable]);
    check(
        &plain,
        &strict,
        "`T.x`: the reader does not have it, but it must be understood",
    );
    check(
        &strict,
        &plain,
        "`T.x`: the writer does not have it, but it must be understood",
    );
}

#[test]
fn keys_agree() {
    let key = |name, id| Member {
        key: true,
        ..Member::new(name, id, Type::U8)
    };
    let one = of(Mutable, vec![key("a", 0), Member::new("b", 1, Type::U8)]);
    let two = of(Mutable, vec![key("a", 0), key("b", 1)]);
    let three = of(
        Mutable,
        vec![key("a", 0), Member::new("b", 1, Type::U8), key("c", 2)],
    );
    check(
        &one,
        &two,
        "`T.b`: the writer has it in the key, the other not",
    );
    check(
        &one,
        &three,
        "`T.c`: the reader does not have it, but it is part of the key",
    );
    check(
        &three,
        &one,
        "`T.c`: the writer does not have it, but it is part of the key",
    );
}

#[test]
fn unions_agree_label_by_label() {
    let reader = |extensibility| {
        union(
            extensibility,
            &[(&[1], Type::I32), (&[2, 3], text(0)), (&[], Type::U8)],
        )
    };
    check_types(reader(Appendable), reader(Appendable), "ok");
    check_types(
        reader(Appendable),
        union(Appendable, &[(&[1], Type::F64), (&[2], text(0))]),
        "`T.m.c1`: the writer has double, the reader int32",
    );
    check_types(
        reader(Appendable),
        union(Appendable, &[(&[9], Type::F64)]),
        "`T.m.c-1`: the writer has double, the reader uint8",
    );
    check_types(
        union(Appendable, &[(&[1], Type::I32)]),
        union(Appendable, &[(&[1], Type::I32), (&[4], text(0))]),
        "ok",
    );
    check_types(
        union(Appendable, &[(&[1], Type::I32)]),
        union(Appendable, &[(&[4], text(0))]),
        "`T.m`: the two have nothing in common",
    );
    check_types(
        union(Final, &[(&[1], Type::I32)]),
        union(Final, &[(&[1], Type::I32), (&[4], text(0))]),
        "`T.m.c4`: the reader does not have it, but the type is final",
    );
    check_types(
        union(Final, &[(&[1], Type::I32), (&[4], text(0))]),
        union(Final, &[(&[1], Type::I32)]),
        "`T.m.c4`: the writer does not have it, but the type is final",
    );
}

/// In XCDR1 nothing tells where an appendable type ends that is not the sample itself.
#[test]
fn xcdr1_needs_to_know_where_types_end() {
    let xcdr1 = Consistency {
        representation: Representation::Xcdr1,
        ..Consistency::default()
    };
    let short = || nested(Appendable, &[("a", 0, Type::U8)]);
    let long = || nested(Appendable, &[("a", 0, Type::U8), ("b", 1, Type::U8)]);
    let (reader, writer) = (with(short()), with(long()));
    check(&reader, &writer, "ok");
    assert_eq!(
        verdict(&reader, &writer, xcdr1),
        "`T.m`: it has other members on the other side, and XCDR1 does not tell where it ends; \
         use XCDR2"
    );
    let mutable = |ty| of(Mutable, members(&[("m", 1, ty)]));
    let (reader, writer) = (mutable(short()), mutable(long()));
    assert_eq!(verdict(&reader, &writer, xcdr1), "ok");
}

/// The same types, known by their minimal objects only.
fn minimal(description: &TypeDescription) -> TypeDescription {
    let mut objects = TypeObjects::new();
    let information = objects.add(description).unwrap();
    let id = information.minimal.unwrap().id;
    assert_eq!(id.kind, EquivalenceKind::Minimal);
    objects.describe(id).unwrap()
}

#[test]
fn minimal_objects_are_enough() {
    let reader = of(Mutable, members(&[("a", 0, Type::U8), ("b", 1, Type::I32)]));
    check(&reader, &minimal(&reader), "ok");
    check(&minimal(&reader), &reader, "ok");
    check(
        &reader,
        &minimal(&of(
            Mutable,
            members(&[("a", 0, Type::U8), ("b", 1, Type::F32)]),
        )),
        "`T.b`: the writer has float, the reader int32",
    );
    let renamed = minimal(&of(Mutable, members(&[("c", 0, Type::U8)])));
    check(
        &reader,
        &renamed,
        "`T.a`: the writer calls it #4a8a08f0, the reader a",
    );
}

fn appended(description: &TypeDescription) -> TypeDescription {
    let mut members = description.members.to_vec();
    let id = members.iter().map(|member| member.id).max().unwrap() + 1;
    members.push(Member::new("appended", id, Type::U64));
    TypeDescription::new(&description.name, Appendable, members).unwrap()
}

proptest! {
    #[test]
    fn a_type_is_assignable_to_itself(description in any_struct()) {
        for representation in [Representation::Xcdr1, Representation::Xcdr2] {
            for strict in [false, true] {
                let consistency = Consistency {
                    ignore_sequence_bounds: !strict,
                    ignore_string_bounds: !strict,
                    prevent_type_widening: strict,
                    representation,
                    ..Consistency::default()
                };
                let same = check_assignable(&description, &description, consistency);
                prop_assert_eq!(same, Ok(()));
                let same = check_assignable(&minimal(&description), &description, consistency);
                prop_assert_eq!(same, Ok(()));
            }
        }
    }

    #[test]
    fn appending_members_keeps_types_assignable(description in any_struct()) {
        let before = TypeDescription { extensibility: Appendable, ..description };
        let after = appended(&before);
        let consistency = Consistency::default();
        prop_assert_eq!(check_assignable(&before, &after, consistency), Ok(()));
        prop_assert_eq!(check_assignable(&after, &before, consistency), Ok(()));
    }

    #[test]
    fn any_two_types_are_compared(one in any_struct(), other in any_struct()) {
        let _ = check_assignable(&one, &other, Consistency::default());
    }
}
