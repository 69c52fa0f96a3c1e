//! Whether the types of a writer and a reader agree (XTypes 1.3 §7.6.3.4.2): by what they announce,
//! by their type objects where that differs, by name where there are none to be had. Knows nothing
//! of their other policies.

use alloc::vec::Vec;
use core::cell::Cell;

use tickwire_base::Instant;
use tickwire_cdr::xtypes::{
    Consistency, DescribeError, TypeId, TypeInformation, TypeObjects, TypeWithDependencies,
    check_assignable,
};
use tickwire_cdr::{ByteOrder, Extensibility, Representation, TypeDescription};

use super::type_lookup::TypeLookup;
use super::type_requests::Availability;
use super::undecided::Pair;
use super::{Discovery, EndpointData};
use crate::outbox::Outbox;
use crate::qos::{Mismatch, RepresentationId, TypeConsistency, TypeConsistencyKind, Unmet};
use crate::wire::GuidPrefix;

/// What is to be said of two types.
#[derive(Debug)]
pub(super) enum Agreement {
    /// Samples of the one can be read as the other.
    Agree,
    /// They cannot, or it cannot be told and the reader wants to know.
    Differ(Mismatch),
    /// Type objects are needed to tell.
    Undecided(Wanted),
}

/// Type objects that a participant is to be asked for.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) participant: GuidPrefix,
    /// First the one that the comparison cannot go on without.
    pub(super) types: Vec<TypeId>,
}

/// Compares the types of a writer and a reader by the objects that are known.
pub(super) fn compare(
    writer: &EndpointData,
    reader: &EndpointData,
    known: &TypeObjects,
) -> Agreement {
    compare_with(writer, reader, known, None)
}

/// The same, but what is not known may be asked for.
pub(super) fn compare_or_ask(
    writer: &EndpointData,
    reader: &EndpointData,
    asking: &Asking<'_>,
) -> Agreement {
    compare_with(writer, reader, asking.lookup.objects(), Some(asking))
}

/// Whether all that a comparison of types looks at is as it was.
pub(super) fn is_unchanged(before: &EndpointData, now: &EndpointData) -> bool {
    before.type_name == now.type_name
        && before.type_information == now.type_information
        && before.extensibility == now.extensibility
        && before.qos.type_consistency == now.qos.type_consistency
        && before.qos.offered_representation() == now.qos.offered_representation()
}

/// Who can be asked, and whether a limit kept us from it.
pub(super) struct Asking<'a> {
    pub(super) lookup: &'a TypeLookup,
    pub(super) is_refused: Cell<bool>,
}

fn compare_with(
    writer: &EndpointData,
    reader: &EndpointData,
    known: &TypeObjects,
    asking: Option<&Asking<'_>>,
) -> Agreement {
    if is_same(&writer.type_information, &reader.type_information) {
        return Agreement::Agree;
    }
    let (theirs, ours) = (Announced::by(writer), Announced::by(reader));
    let rules = &reader.qos.type_consistency;
    match Announced::identifiers(&theirs, &ours) {
        Some(types) if types.offered == types.requested => Agreement::Agree,
        Some(types) if rules.kind == TypeConsistencyKind::DisallowTypeCoercion => {
            Agreement::Differ(Mismatch::Type(types))
        }
        _ => match (theirs.describe(known, asking), ours.describe(known, asking)) {
            (Described::Missing(wanted), _) | (_, Described::Missing(wanted)) => {
                Agreement::Undecided(wanted)
            }
            (Described::As(theirs), Described::As(ours)) => {
                let consistency = consistency(rules, writer);
                match check_assignable(&ours, &theirs, consistency) {
                    Ok(()) => Agreement::Agree,
                    Err(reasons) => Agreement::Differ(Mismatch::NotAssignable(reasons)),
                }
            }
            _ => by_name(writer, reader, Announced::identifiers(&theirs, &ours)),
        },
    }
}

/// What is left where types cannot be looked into: their names, and that nothing is assignable to
/// a final type but itself (XTypes 1.3 §7.2.4.4).
fn by_name(
    writer: &EndpointData,
    reader: &EndpointData,
    identifiers: Option<Unmet<TypeId>>,
) -> Agreement {
    if reader.qos.type_consistency.force_type_validation {
        return Agreement::Differ(Mismatch::TypeUnknown);
    }
    if writer.type_name != reader.type_name {
        return Agreement::Differ(Mismatch::TypeName(Unmet {
            offered: writer.type_name.clone(),
            requested: reader.type_name.clone(),
        }));
    }
    let is_final = |data: &EndpointData| data.extensibility == Some(Extensibility::Final);
    match identifiers.filter(|_| is_final(writer) || is_final(reader)) {
        Some(types) => Agreement::Differ(Mismatch::Type(types)),
        None => Agreement::Agree,
    }
}

fn consistency(rules: &TypeConsistency, writer: &EndpointData) -> Consistency {
    Consistency {
        ignore_sequence_bounds: rules.ignore_sequence_bounds,
        ignore_string_bounds: rules.ignore_string_bounds,
        ignore_member_names: rules.ignore_member_names,
        prevent_type_widening: rules.prevent_type_widening,
        representation: match writer.qos.offered_representation() {
            RepresentationId::XCDR2 => Representation::Xcdr2,
            _ => Representation::Xcdr1,
        },
    }
}

/// What an endpoint announces of its type.
struct Announced {
    participant: GuidPrefix,
    information: TypeInformation,
}

/// What type objects say, if they can be had.
enum Described {
    As(TypeDescription),
    Missing(Wanted),
    Unknown,
}

impl Announced {
    fn by(endpoint: &EndpointData) -> Self {
        let parsed = TypeInformation::parse(&endpoint.type_information, ByteOrder::Little);
        Self {
            participant: endpoint.guid.prefix,
            information: parsed.unwrap_or_default(),
        }
    }

    /// Identifiers that can be compared: both minimal, or both complete.
    fn identifiers(writer: &Self, reader: &Self) -> Option<Unmet<TypeId>> {
        let (writer, reader) = (&writer.information, &reader.information);
        let pair = |one: &Option<TypeWithDependencies>, other: &Option<TypeWithDependencies>| {
            Some(Unmet {
                offered: one.as_ref()?.id,
                requested: other.as_ref()?.id,
            })
        };
        pair(&writer.minimal, &reader.minimal).or_else(|| pair(&writer.complete, &reader.complete))
    }

    /// The type, by its complete objects, which have names, or else by its minimal ones.
    fn describe(&self, known: &TypeObjects, asking: Option<&Asking<'_>>) -> Described {
        let information = &self.information;
        for of in [&information.complete, &information.minimal] {
            let Some(of) = of else { continue };
            let missing = match known.describe(of.id) {
                Ok(description) => return Described::As(description),
                Err(DescribeError::Missing(id)) => id,
                Err(_) => continue,
            };
            let Some(asking) = asking else { continue };
            match asking.lookup.availability(self.participant, missing) {
                Availability::Askable => {
                    return Described::Missing(self.want(of, missing, asking.lookup));
                }
                Availability::Refused => asking.is_refused.set(true),
                Availability::Never => {}
            }
        }
        Described::Unknown
    }

    /// What to ask for when this object is missing: all that the type is known to need.
    fn want(&self, of: &TypeWithDependencies, missing: TypeId, lookup: &TypeLookup) -> Wanted {
        let is_new = |id: &TypeId| {
            lookup.objects().get(*id).is_none() && !lookup.was_wanted(self.participant, *id)
        };
        let dependencies = of.dependencies.iter().map(|(id, _)| *id);
        let mut types: Vec<_> = dependencies.filter(is_new).collect();
        types.sort_unstable();
        types.dedup();
        types.retain(|id| *id != missing);
        types.insert(0, missing);
        Wanted {
            participant: self.participant,
            types,
        }
    }
}

impl Discovery {
    /// Asks for the types of pairs that cannot be decided without, each once.
    pub(super) fn ask_for_types(&mut self, now: Instant, outbox: &mut Outbox) {
        // What is not to be had may leave a pair with another object to ask for, never the same.
        loop {
            for wanted in self.endpoints.take_unasked() {
                let Wanted { participant, types } = wanted;
                if !self.type_lookup.want(participant, &types) {
                    self.will_not_come(now, participant, &types);
                }
            }
            let Some((participant, types)) = self.type_lookup.requests.next_batch() else {
                return;
            };
            let asked = self.request_for_matching(now, participant, types.clone(), outbox);
            if asked.is_err() {
                self.type_lookup.requests.done(participant, &types);
                self.will_not_come(now, participant, &types);
            }
        }
    }

    /// Compares the pairs that waited for these objects, which are known now.
    pub(super) fn have_come(&mut self, now: Instant, types: &[TypeId]) {
        let undecided = self.endpoints.undecided();
        let pairs = types.iter().flat_map(|&id| undecided.waiting_for(id));
        let pairs: Vec<_> = pairs.collect();
        self.decide(now, pairs);
    }

    /// Compares the pairs that waited for a participant to send these objects, which it did or will
    /// not do any more.
    pub(super) fn will_not_come(&mut self, now: Instant, from: GuidPrefix, types: &[TypeId]) {
        let undecided = self.endpoints.undecided();
        let pairs = types.iter();
        let pairs = pairs.flat_map(|&id| undecided.waiting_for_answer(from, id));
        let pairs: Vec<_> = pairs.collect();
        self.decide(now, pairs);
    }

    fn decide(&mut self, now: Instant, pairs: Vec<Pair>) {
        let changes = self.endpoints.decide(pairs, &self.type_lookup);
        self.report(now, changes, None);
    }
}

/// Whether both announce the same, but for padding.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let len = one.len().min(other.len());
    let padding = one.iter().skip(len).chain(other.iter().skip(len));
    len > 0
        && one.len().abs_diff(other.len()) < 4
        && one.iter().zip(other).all(|(a, b)| a == b)
        && padding.copied().all(|byte| byte == 0)
}
