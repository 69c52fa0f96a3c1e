//! Unions: the member tells the discriminator, or the other way round.

use alloc::collections::BTreeSet;
use alloc::string::String;

use super::{Context, DataError, Problem};
use crate::dynamic::Data;
use crate::dynamic::json::DISCRIMINATOR;
use crate::{Case, MemberHeader, Type, UnionDescription};

impl Context<'_, '_> {
    pub(super) fn union(
        &mut self,
        description: &UnionDescription,
        data: Option<&Data>,
    ) -> Result<(), DataError> {
        let fields = match data {
            None => &[][..],
            Some(Data::Fields(fields)) => fields,
            Some(other) => return Err(self.wrong_kind(&description.name, other)),
        };
        let names = description.cases.iter().map(|case| &*case.member.name);
        let names = names.chain([DISCRIMINATOR]);
        self.check_names(&description.name, fields, names)?;
        let is_discriminator = |(name, _): &&(String, Data)| name == DISCRIMINATOR;
        let discriminator = fields.iter().find(is_discriminator);
        let mut members = fields.iter().filter(|field| !is_discriminator(field));
        let (given, more) = (members.next(), members.next());
        if more.is_some() {
            return Err(self.error(Problem::Ambiguous));
        }
        let named = given.and_then(|(name, _)| {
            let mut cases = description.cases.iter();
            cases.find(|case| *case.member.name == **name)
        });
        let value = match (discriminator, named) {
            (Some((_, data)), _) => self.discriminator(&description.discriminator, data)?,
            (None, Some(case)) => {
                label_of(description, case).ok_or_else(|| self.error(Problem::Ambiguous))?
            }
            (None, None) if data.is_none() => default_label(description),
            (None, None) => return Err(self.error(Problem::Ambiguous)),
        };
        let selected = description.case(i64::try_from(value).unwrap_or(i64::MAX));
        if let Some(named) = named.filter(|named| {
            selected.is_none_or(|selected| selected.member.name != named.member.name)
        }) {
            return Err(self.error(Problem::NotSelected {
                name: (*named.member.name).into(),
                selected: selected.map(|case| (*case.member.name).into()),
            }));
        }
        self.write_union(description, value, selected, given.map(|(_, value)| value))
    }

    fn write_union(
        &mut self,
        description: &UnionDescription,
        value: i128,
        selected: Option<&Case>,
        given: Option<&Data>,
    ) -> Result<(), DataError> {
        let ty = &description.discriminator;
        let mark = self.writer.begin_struct(description.extensibility);
        let header = MemberHeader::of_discriminator(ty.length_code());
        let begun = self.writer.begin_member(&mark, header);
        self.write_discriminator(ty, value)
            .ok_or_else(|| self.out_of_range(ty, &alloc::format!("{value}")))?;
        let ended = self.writer.end_member(begun);
        ended.map_err(|error| self.encode_error(error))?;
        if let Some(case) = selected {
            let header = MemberHeader::from(&case.member);
            let begun = self.writer.begin_member(&mark, header);
            self.member(&case.member, given)?;
            let ended = self.writer.end_member(begun);
            ended.map_err(|error| self.encode_error(error))?;
        }
        let ended = self.writer.end_struct(mark);
        ended.map_err(|error| self.encode_error(error))
    }

    /// The number that a discriminator is.
    fn discriminator(&self, ty: &Type, data: &Data) -> Result<i128, DataError> {
        match (ty, data) {
            (Type::Enum(description), _) => self.literal(ty, description, data).map(i128::from),
            (Type::Bool, Data::Bool(value)) => Ok(i128::from(*value)),
            (Type::Char | Type::WChar, Data::Text(text)) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (Some(char), None) => Ok(u32::from(char).into()),
                    _ => Err(self.out_of_range(ty, text)),
                }
            }
            (Type::Bool | Type::Char, other) => Err(self.wrong_kind(ty, other)),
            (_, Data::Integer(value)) => Ok(*value),
            (_, other) => Err(self.wrong_kind(ty, other)),
        }
    }

    fn write_discriminator(&mut self, ty: &Type, value: i128) -> Option<()> {
        match ty {
            Type::Enum(description) => {
                let value = i32::try_from(value).ok()?;
                self.writer.write_enum(value, description.size());
            }
            Type::Bool => self.writer.write_bool(match value {
                0 => false,
                1 => true,
                _ => return None,
            }),
            _ => return self.write_integer(ty, value),
        }
        Some(())
    }
}

/// A value of the discriminator that selects a member.
fn label_of(description: &UnionDescription, case: &Case) -> Option<i128> {
    if let Some(label) = case.labels.first() {
        return Some((*label).into());
    }
    let labels = description.cases.iter().flat_map(|case| case.labels.iter());
    let labels: BTreeSet<i64> = labels.map(|label| i64::from(*label)).collect();
    let is_free = |value: &i64| !labels.contains(value);
    let free = match &description.discriminator {
        Type::Enum(ty) => {
            let mut values = ty.literals.iter().map(|literal| i64::from(literal.value));
            values.find(is_free)
        }
        Type::Bool => (0..2).find(is_free),
        Type::I8 => (0..0x80).find(is_free),
        Type::U8 | Type::Byte | Type::Char => (0..0x100).find(is_free),
        _ => (0..0x8000).find(is_free),
    };
    free.map(i128::from)
}

/// What selects the first member, or none.
fn default_label(description: &UnionDescription) -> i128 {
    let default = description.cases.iter().find(|case| case.default);
    let case = default.or(description.cases.first());
    case.and_then(|case| label_of(description, case))
        .unwrap_or_default()
}
