//! Unions (XTypes 1.3 §7.2.4.4.9): the same label selects members of assignable types.

use alloc::format;

use super::{Comparison, Need, Reason};
use crate::{Case, Extensibility, Representation, UnionDescription};

impl Comparison {
    pub(super) fn unions(&mut self, reader: &UnionDescription, writer: &UnionDescription) {
        if reader.extensibility != writer.extensibility {
            let (reader, writer) = (reader.extensibility, writer.extensibility);
            return self.refuse(Reason::Extensibility { reader, writer });
        }
        if reader.discriminator_key != writer.discriminator_key {
            let reader = reader.discriminator_key;
            self.at_member("discriminator", |at| at.refuse(Reason::Key { reader }));
        }
        self.at_member("discriminator", |at| {
            at.types(&reader.discriminator, &writer.discriminator);
        });
        let is_final = reader.extensibility == Extensibility::Final;
        let can_differ = self.can_differ;
        let need = match is_final {
            true => Some(Need::Final),
            false => self.in_key.then_some(Need::Key),
        };
        let has_end = can_differ
            || self.consistency.representation == Representation::Xcdr2
            || reader.extensibility == Extensibility::Mutable;
        self.can_differ = reader.extensibility == Extensibility::Mutable;
        let mut in_common = 0;
        for case in writer.cases.iter() {
            in_common += self.case(case, reader, need, has_end);
        }
        for case in reader.cases.iter().filter(|_| is_final) {
            let missing = case.labels.iter().find(|label| {
                let selected = writer.case(i64::from(**label));
                selected.is_none()
            });
            if missing.is_some() {
                let reason = Reason::OnlyReader(Need::Final);
                self.at_member(&case.member.name, |at| at.refuse(reason));
            }
        }
        if in_common == 0 {
            self.refuse(Reason::NothingInCommon);
        }
        self.can_differ = can_differ;
    }

    /// A writer's member with what the reader has for its labels; returns whether there is such.
    fn case(
        &mut self,
        case: &Case,
        reader: &UnionDescription,
        need: Option<Need>,
        has_end: bool,
    ) -> usize {
        let mut found = 0;
        let labels = case.labels.iter().map(|label| reader.case((*label).into()));
        let default = case
            .default
            .then(|| reader.cases.iter().find(|one| one.default));
        let mut compared: Option<&Case> = None;
        for selected in labels.chain(default) {
            let Some(one) = selected else {
                let reason = match has_end {
                    true => need.map(Reason::OnlyWriter),
                    false => Some(Reason::NoEnd),
                };
                if let Some(reason) = reason {
                    self.at_member(&case.member.name, |at| at.refuse(reason));
                }
                continue;
            };
            found = 1;
            // Several labels of one member are compared once.
            if compared.is_some_and(|before| core::ptr::eq(before, one)) {
                continue;
            }
            compared = Some(one);
            let labelled = one.labels.iter().any(|label| case.labels.contains(label));
            self.at(&format!(".{}", &*one.member.name), |at| {
                if labelled && !at.same_name(&one.member.name, &case.member.name) {
                    at.refuse(Reason::Name {
                        reader: (*one.member.name).into(),
                        writer: (*case.member.name).into(),
                    });
                }
                at.types(&one.member.ty, &case.member.ty);
            });
        }
        found
    }
}
