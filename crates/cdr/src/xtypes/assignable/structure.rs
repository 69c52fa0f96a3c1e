//! Structs (XTypes 1.3 §7.2.4.4.8).

use alloc::collections::BTreeMap;

use super::{Comparison, Need, Reason, are_one_name};
use crate::{Extensibility, Member, Representation, Shared, TypeDescription};

impl Comparison {
    /// Structs inside other types.
    pub(super) fn nested_structs(&mut self, reader: &TypeDescription, writer: &TypeDescription) {
        let has_end = self.can_differ
            || self.consistency.representation == Representation::Xcdr2
            || writer.extensibility != Extensibility::Appendable;
        if !has_end && reader.members.len() != writer.members.len() {
            self.refuse(Reason::NoEnd);
        }
        self.structs(reader, writer);
    }

    pub(super) fn structs(&mut self, reader: &TypeDescription, writer: &TypeDescription) {
        if reader.extensibility != writer.extensibility {
            let (reader, writer) = (reader.extensibility, writer.extensibility);
            return self.refuse(Reason::Extensibility { reader, writer });
        }
        let is_mutable = reader.extensibility == Extensibility::Mutable;
        let theirs: BTreeMap<u32, &Member> = by_id(writer);
        let ours: BTreeMap<u32, &Member> = by_id(reader);
        if !ours.keys().any(|id| theirs.contains_key(id)) {
            return self.refuse(Reason::NothingInCommon);
        }
        let need_all = self.in_key && !reader.has_key() && !writer.has_key();
        for (index, one) in reader.members.iter().enumerate() {
            let in_place = writer.members.get(index);
            match (theirs.get(&one.id), in_place) {
                (Some(other), _) if is_mutable => self.members(one, other, is_mutable),
                (_, Some(other)) if other.id == one.id => self.members(one, other, is_mutable),
                (_, Some(other)) if !is_mutable => {
                    let reason = match other.name == one.name {
                        true => Reason::Number {
                            reader: one.id.into(),
                            writer: other.id.into(),
                        },
                        false => Reason::Order {
                            writer: shown(&other.name, &one.name),
                        },
                    };
                    // What follows is out of place, too.
                    return self.at_member(&one.name, |at| at.refuse(reason));
                }
                _ => self.only_reader(one, reader, writer, need_all),
            }
        }
        for other in writer.members.iter().filter(|m| !ours.contains_key(&m.id)) {
            self.only_writer(other, reader, need_all);
        }
    }

    /// Two members with one id.
    fn members(&mut self, reader: &Member, writer: &Member, has_header: bool) {
        let name = match reader.name.starts_with('#') {
            true => &writer.name,
            false => &reader.name,
        };
        let (in_key, can_differ) = (self.in_key, self.can_differ);
        let key = reader.key && writer.key;
        self.can_differ = has_header;
        self.at_member(name, |at| {
            if !at.same_name(&reader.name, &writer.name) {
                at.refuse(Reason::Name {
                    reader: (*reader.name).into(),
                    writer: (*writer.name).into(),
                });
            }
            if reader.key != writer.key {
                let reader = reader.key;
                at.refuse(Reason::Key { reader });
            }
            if reader.optional != writer.optional && !has_header {
                let reader = reader.optional;
                at.refuse(Reason::Optional { reader });
            }
            at.in_key = key || in_key;
            at.types(&reader.ty, &writer.ty);
        });
        (self.in_key, self.can_differ) = (in_key, can_differ);
    }

    fn only_reader(
        &mut self,
        member: &Member,
        reader: &TypeDescription,
        writer: &TypeDescription,
        need_all: bool,
    ) {
        let mut others = writer.members.iter();
        let namesake = others.find(|other| are_one_name(&other.name, &member.name));
        let reason = match namesake.filter(|_| !self.consistency.ignore_member_names) {
            Some(other) => Some(Reason::Number {
                reader: member.id.into(),
                writer: other.id.into(),
            }),
            None => {
                let widens = self.consistency.prevent_type_widening;
                need(member, reader, need_all)
                    .or(widens.then_some(Need::Widening))
                    .map(Reason::OnlyReader)
            }
        };
        if let Some(reason) = reason {
            self.at_member(&member.name, |at| at.refuse(reason));
        }
    }

    fn only_writer(&mut self, member: &Member, reader: &TypeDescription, need_all: bool) {
        let mut ours = reader.members.iter();
        let is_told = ours.any(|one| are_one_name(&one.name, &member.name))
            && !self.consistency.ignore_member_names;
        match need(member, reader, need_all) {
            Some(need) if !is_told => {
                self.at_member(&member.name, |at| at.refuse(Reason::OnlyWriter(need)));
            }
            _ => {}
        }
    }
}

/// Why a member that one side has must be on the other, too.
fn need(member: &Member, of: &TypeDescription, need_all: bool) -> Option<Need> {
    match of.extensibility {
        Extensibility::Final => Some(Need::Final),
        _ if member.key || need_all => Some(Need::Key),
        _ if member.must_understand && !member.optional => Some(Need::MustUnderstand),
        _ => None,
    }
}

fn by_id(description: &TypeDescription) -> BTreeMap<u32, &Member> {
    let members = description.members.iter();
    members.map(|member| (member.id, member)).collect()
}

/// A name, if it is one; else that of the other side says more.
fn shown(name: &Shared<str>, other: &Shared<str>) -> alloc::string::String {
    match name.starts_with('#') && !other.starts_with('#') {
        true => "another member".into(),
        false => (**name).into(),
    }
}
