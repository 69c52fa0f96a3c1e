//! Enumerations and bitmasks (XTypes 1.3 §7.2.4.4.5 and §7.2.4.4.2), and bitsets.

use alloc::format;

use super::{Comparison, Need, Reason, are_one_name};
use crate::{Bitfield, BitmaskDescription, BitsetDescription, EnumDescription, Extensibility};

impl Comparison {
    pub(super) fn enums(&mut self, reader: &EnumDescription, writer: &EnumDescription) {
        if reader.size() != writer.size() {
            let (reader, writer) = (reader.bit_bound, writer.bit_bound);
            return self.refuse(Reason::BitBound { reader, writer });
        }
        // Most type objects do not tell the extensibility of an enumeration.
        let is_final = reader.extensibility == Extensibility::Final
            && writer.extensibility == Extensibility::Final;
        let one = reader.literals.iter();
        let other = writer.literals.iter();
        let one = one.map(|literal| (&*literal.name, i64::from(literal.value)));
        let other = other.map(|literal| (&*literal.name, i64::from(literal.value)));
        let need = match is_final {
            true => Some(Need::Final),
            false => self.in_key.then_some(Need::Key),
        };
        self.names(one, other, is_final, need);
    }

    pub(super) fn bitmasks(&mut self, reader: &BitmaskDescription, writer: &BitmaskDescription) {
        if reader.bit_bound != writer.bit_bound {
            let (reader, writer) = (reader.bit_bound, writer.bit_bound);
            return self.refuse(Reason::BitBound { reader, writer });
        }
        let one = reader.flags.iter();
        let other = writer.flags.iter();
        self.names(
            one.map(|flag| (&*flag.name, i64::from(flag.position))),
            other.map(|flag| (&*flag.name, i64::from(flag.position))),
            false,
            None,
        );
    }

    /// XTypes has no rules for bitsets, which nothing says how to extend: fields are the same.
    pub(super) fn bitsets(&mut self, reader: &BitsetDescription, writer: &BitsetDescription) {
        if reader.size() != writer.size() {
            let (reader, writer) = (reader.bit_bound(), writer.bit_bound());
            return self.refuse(Reason::BitBound { reader, writer });
        }
        let number = |field: &Bitfield| i64::from(field.position);
        let one = reader.fields.iter();
        let other = writer.fields.iter();
        self.names(
            one.clone().map(|field| (&*field.name, number(field))),
            other.clone().map(|field| (&*field.name, number(field))),
            true,
            Some(Need::Final),
        );
        for field in other {
            let mut same = one.clone().filter(|one| one.position == field.position);
            let Some(own) = same.next() else { continue };
            if (own.bits, &own.ty) != (field.bits, &field.ty) {
                let text = |of: &Bitfield| format!("bitfield<{}, {}>", of.bits, of.ty);
                let (reader, writer) = (text(own), text(field));
                let step = format!(".{}", &*field.name);
                self.at(&step, |at| at.refuse(Reason::Type { reader, writer }));
            }
        }
    }

    /// What has one name has one number, and the other way round. `need` says whether the reader
    /// must know all that the writer has, `both` whether that holds the other way round, too.
    fn names<'n>(
        &mut self,
        reader: impl Iterator<Item = (&'n str, i64)> + Clone,
        writer: impl Iterator<Item = (&'n str, i64)> + Clone,
        both: bool,
        need: Option<Need>,
    ) {
        for (name, number) in writer.clone() {
            let named = reader
                .clone()
                .find(|(other, _)| are_one_name(other, name) && !self.ignores_names());
            let numbered = reader.clone().find(|(_, other)| *other == number);
            let reason = match (named, numbered) {
                (Some((_, other)), _) if other != number => Some(Reason::Number {
                    reader: other,
                    writer: number,
                }),
                (_, Some((other, _))) if !self.same_name(other, name) => Some(Reason::Name {
                    reader: other.into(),
                    writer: name.into(),
                }),
                (_, None) => need.map(Reason::OnlyWriter),
                _ => None,
            };
            if let Some(reason) = reason {
                self.at(&format!("::{name}"), |at| at.refuse(reason));
            }
        }
        for (name, number) in reader.filter(|_| both) {
            if writer.clone().all(|(_, other)| other != number) {
                let reason = Reason::OnlyReader(Need::Final);
                self.at(&format!("::{name}"), |at| at.refuse(reason));
            }
        }
    }

    fn ignores_names(&self) -> bool {
        self.consistency.ignore_member_names
    }
}
