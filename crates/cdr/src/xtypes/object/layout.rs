//! What an object says of a struct, an enum, a bitmask, a bitset or a union, member by member.

use alloc::vec::Vec;

use super::cycles::place;
use super::identifier::primitive_kind;
use super::*;
use crate::TryConstruct;

impl Builder<'_> {
    pub(super) fn write_struct(
        &mut self,
        description: &TypeDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_STRUCTURE);
        let flags = [
            (description.nested, IS_NESTED),
            (description.hash_ids, IS_AUTOID_HASH),
        ];
        writer.write_u16(extensibility_flag(description.extensibility) | set_of(&flags));
        let header = writer.begin_struct(Extensibility::Appendable);
        writer.write_u8(TK_NONE);
        self.write_detail(&description.name, writer)?;
        writer.end_struct(header)?;
        let sequence = writer.begin_sequence(false);
        for member in description.members.iter() {
            self.write_member(&description.name, member, writer)?;
        }
        writer.end_sequence(sequence, description.members.len())
    }

    pub(super) fn write_enum(
        &mut self,
        description: &EnumDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_ENUM);
        writer.write_u16(extensibility_flag(description.extensibility));
        let header = writer.begin_struct(Extensibility::Appendable);
        writer.write_u16(description.bit_bound);
        self.write_detail(&description.name, writer)?;
        writer.end_struct(header)?;
        // In order of values (XTypes 1.3 §7.3.4.5). The default is told also where it is so without
        // `@default_literal`, as idlc of Cyclone DDS 11 has it.
        let mut literals: Vec<_> = description.literals.iter().collect();
        literals.sort_by_key(|literal| literal.value);
        let default = description.literals.first();
        let sequence = writer.begin_sequence(false);
        for literal in literals {
            let whole = writer.begin_struct(Extensibility::Appendable);
            let common = writer.begin_struct(Extensibility::Appendable);
            writer.write_i32(literal.value);
            writer.write_u16(set_of(&[(default == Some(literal), IS_DEFAULT)]));
            writer.end_struct(common)?;
            self.write_name(&literal.name, None, writer)?;
            writer.end_struct(whole)?;
        }
        writer.end_sequence(sequence, description.literals.len())
    }

    pub(super) fn write_bitmask(
        &mut self,
        description: &BitmaskDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_BITMASK);
        let whole = writer.begin_struct(Extensibility::Appendable);
        writer.write_u16(extensibility_flag(description.extensibility));
        let header = writer.begin_struct(Extensibility::Appendable);
        writer.write_u16(description.bit_bound);
        self.write_detail(&description.name, writer)?;
        writer.end_struct(header)?;
        let mut flags: Vec<_> = description.flags.iter().collect();
        flags.sort_by_key(|flag| flag.position);
        let sequence = writer.begin_sequence(false);
        for flag in flags {
            let mark = writer.begin_struct(Extensibility::Appendable);
            writer.write_u16(flag.position);
            writer.write_u16(0);
            self.write_name(&flag.name, None, writer)?;
            writer.end_struct(mark)?;
        }
        writer.end_sequence(sequence, description.flags.len())?;
        writer.end_struct(whole)
    }

    pub(super) fn write_bitset(
        &mut self,
        description: &BitsetDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_BITSET);
        let whole = writer.begin_struct(Extensibility::Appendable);
        writer.write_u16(0);
        let header = writer.begin_struct(Extensibility::Appendable);
        self.write_detail(&description.name, writer)?;
        writer.end_struct(header)?;
        let sequence = writer.begin_sequence(false);
        for field in description.fields.iter() {
            let mark = writer.begin_struct(Extensibility::Appendable);
            writer.write_u16(field.position);
            writer.write_u16(0);
            writer.write_u8(field.bits);
            writer.write_u8(primitive_kind(&field.ty));
            self.write_name(&field.name, None, writer)?;
            writer.end_struct(mark)?;
        }
        writer.end_sequence(sequence, description.fields.len())?;
        writer.end_struct(whole)
    }

    pub(super) fn write_union(
        &mut self,
        description: &UnionDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_UNION);
        let flags = set_of(&[(description.nested, IS_NESTED)]);
        writer.write_u16(extensibility_flag(description.extensibility) | flags);
        let header = writer.begin_struct(Extensibility::Appendable);
        self.write_detail(&description.name, writer)?;
        writer.end_struct(header)?;
        let discriminator = writer.begin_struct(Extensibility::Appendable);
        let key = set_of(&[(description.discriminator_key, IS_KEY)]);
        writer.write_u16(TRY_CONSTRUCT_DISCARD | IS_MUST_UNDERSTAND | key);
        self.write_identifier(&description.discriminator, "", writer)?;
        self.write_annotations(None, writer)?;
        writer.end_struct(discriminator)?;
        let sequence = writer.begin_sequence(false);
        for case in description.cases.iter() {
            self.write_case(&description.name, case, writer)?;
        }
        writer.end_sequence(sequence, description.cases.len())
    }

    fn write_member(
        &mut self,
        of: &str,
        member: &Member,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let mark = writer.begin_struct(Extensibility::Appendable);
        writer.write_u32(member.id);
        writer.write_u16(member_flags(member));
        self.write_identifier(&member.ty, &place(of, member.id), writer)?;
        self.write_name(&member.name, member.hash_id.as_deref(), writer)?;
        writer.end_struct(mark)
    }

    fn write_case(
        &mut self,
        of: &str,
        case: &Case,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let member = &case.member;
        let mark = writer.begin_struct(Extensibility::Appendable);
        writer.write_u32(member.id);
        writer.write_u16(member_flags(member) | set_of(&[(case.default, IS_DEFAULT)]));
        self.write_identifier(&member.ty, &place(of, member.id), writer)?;
        let labels = writer.begin_sequence(true);
        case.labels
            .iter()
            .for_each(|label| writer.write_i32(*label));
        writer.end_sequence(labels, case.labels.len())?;
        self.write_name(&member.name, member.hash_id.as_deref(), writer)?;
        writer.end_struct(mark)
    }

    /// `CompleteTypeDetail`; the minimal one is empty.
    fn write_detail(&self, name: &str, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        if self.kind == EquivalenceKind::Minimal {
            return Ok(());
        }
        writer.write_bool(false);
        writer.write_bool(false);
        writer.write_string(name, 0)
    }

    /// `CompleteMemberDetail` or `MinimalMemberDetail`.
    fn write_name(
        &self,
        name: &str,
        hash_id: Option<&str>,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        if self.kind == EquivalenceKind::Minimal {
            name_hash(name)
                .iter()
                .for_each(|byte| writer.write_u8(*byte));
            return Ok(());
        }
        writer.write_string(name, 0)?;
        self.write_annotations(hash_id, writer)
    }

    /// Built-in annotations of a member, of which `@hashid` is told, and no others.
    pub(super) fn write_annotations(
        &self,
        hash_id: Option<&str>,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        if self.kind == EquivalenceKind::Minimal {
            return Ok(());
        }
        writer.write_bool(hash_id.is_some());
        if let Some(hash_id) = hash_id {
            let builtin = writer.begin_struct(Extensibility::Appendable);
            // Neither unit nor minimum nor maximum.
            (0..3).for_each(|_| writer.write_bool(false));
            writer.write_bool(true);
            writer.write_string(hash_id, 0)?;
            writer.end_struct(builtin)?;
        }
        writer.write_bool(false);
        Ok(())
    }
}

fn set_of(flags: &[(bool, u16)]) -> u16 {
    let set = flags.iter().filter(|(set, _)| *set);
    set.fold(0, |all, (_, flag)| all | flag)
}

/// Key members do not say that readers must know them, as their headers in data do not: XTypes 1.3
/// §7.2.2.4.4.4.8 asks for it, but Cyclone DDS 11, Fast DDS and OpenDDS leave it out, and final types
/// within others have to have the same hash (§7.2.4.4.8).
fn member_flags(member: &Member) -> u16 {
    let flags = [
        (member.external, IS_EXTERNAL),
        (member.optional, IS_OPTIONAL),
        (member.must_understand, IS_MUST_UNDERSTAND),
        (member.key, IS_KEY),
    ];
    let try_construct = match member.try_construct {
        TryConstruct::Discard => TRY_CONSTRUCT_DISCARD,
        TryConstruct::UseDefault => TRY_CONSTRUCT_USE_DEFAULT,
        TryConstruct::Trim => TRY_CONSTRUCT_TRIM,
    };
    try_construct | set_of(&flags)
}

fn extensibility_flag(extensibility: Extensibility) -> u16 {
    match extensibility {
        Extensibility::Final => IS_FINAL,
        Extensibility::Appendable => IS_APPENDABLE,
        Extensibility::Mutable => IS_MUTABLE,
    }
}
