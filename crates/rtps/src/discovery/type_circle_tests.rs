//! Types that need more objects than one request asks for.

extern crate std;

use alloc::string::ToString;
use alloc::{format, vec};
use std::sync::LazyLock;

use tickwire_cdr::{Extensibility, Member, Shared, Type, TypeDescription};

use super::type_matching_tests::{Meeting, announced, encoded};
use crate::qos::RepresentationId;

/// A struct with so many lists of itself, each of which is a part of its circle of types.
fn tree(lists: u32, itself: fn() -> &'static TypeDescription) -> TypeDescription {
    let element = Shared::from(Type::Struct(Shared::Computed(itself)));
    let list = |id| {
        let (element, bound) = (element.clone(), 0);
        Member::new(&format!("m{id}"), id, Type::Sequence { element, bound })
    };
    let members = (0..lists).map(list).collect();
    TypeDescription::new("Tree", Extensibility::Appendable, members).expect("distinct members")
}

fn narrow() -> &'static TypeDescription {
    static TREE: LazyLock<TypeDescription> = LazyLock::new(|| tree(100, narrow));
    &TREE
}

fn wide() -> &'static TypeDescription {
    static TREE: LazyLock<TypeDescription> = LazyLock::new(|| tree(150, wide));
    &TREE
}

/// Not a circle: as many structs in one.
fn flat(parts: u32, name: &str) -> TypeDescription {
    let describe = |name: &str, members| {
        TypeDescription::new(name, Extensibility::Appendable, members).expect("distinct members")
    };
    let part = |bound| {
        let text = vec![Member::new("text", 0, Type::String { bound })];
        let ty = Type::Struct(describe(&format!("Part{bound}"), text).into());
        Member::new(&format!("m{bound}"), bound, ty)
    };
    describe(name, (1..=parts).map(part).collect())
}

/// The reader and the writer have different types, which agree; their names do not.
fn outcome(writer: &TypeDescription, reader: &TypeDescription, tells_all: bool) {
    let mut meeting = Meeting::of(writer, reader);
    meeting.reader.type_name = "Other".to_string();
    // In which a type inside another one can differ.
    for data in [&mut meeting.writer, &mut meeting.reader] {
        data.qos.data_representation = vec![RepresentationId::XCDR2];
    }
    if !tells_all {
        let data = [(&mut meeting.writer, writer), (&mut meeting.reader, reader)];
        for (data, ty) in data {
            let mut information = announced(ty);
            let parts = [&mut information.minimal, &mut information.complete];
            for of in parts.into_iter().flatten() {
                of.dependencies.clear();
            }
            data.type_information = encoded(&information);
        }
    }
    assert_eq!(meeting.outcome(), "match");
}

#[test]
fn a_circle_of_types_comes_in_one_answer() {
    outcome(narrow(), wide(), true);
    outcome(wide(), narrow(), true);
}

#[test]
fn a_circle_whose_parts_were_not_announced_comes_in_one_answer() {
    outcome(narrow(), wide(), false);
}

#[test]
fn types_whose_parts_were_not_announced_are_asked_for_to_the_end() {
    outcome(&flat(150, "Flat"), &flat(151, "Flat"), true);
    outcome(&flat(150, "Flat"), &flat(151, "Flat"), false);
}
