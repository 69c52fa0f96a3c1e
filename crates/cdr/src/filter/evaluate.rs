//! Whether a condition holds, in the logic of three values that SQL has.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::held::{Held, Slot, is_like};
use super::syntax::Relation;

/// A condition over slots.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Comparison {
        left: usize,
        relation: Relation,
        right: Operand,
    },
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// What a member is compared with.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Slot(usize),
    Constant(Held),
}

impl Condition {
    pub(super) fn comparisons(&self) -> usize {
        match self {
            Self::Comparison { .. } => 1,
            Self::Not(condition) => condition.comparisons(),
            Self::All(conditions) | Self::Any(conditions) => {
                conditions.iter().map(Self::comparisons).sum()
            }
        }
    }

    /// `None` when a member that decides is absent.
    pub(super) fn holds(&self, slots: &[Slot]) -> Option<bool> {
        match self {
            Self::Comparison {
                left,
                relation,
                right,
            } => {
                let left = present(slots, *left)?;
                let right = match right {
                    Operand::Slot(slot) => present(slots, *slot)?,
                    Operand::Constant(held) => held,
                };
                Some(relation.holds(left, right))
            }
            Self::Not(inner) => inner.holds(slots).map(|holds| !holds),
            Self::All(parts) => decide(parts, slots, false),
            Self::Any(parts) => decide(parts, slots, true),
        }
    }
}

/// `decisive` if any part is; else unknown if any part is.
fn decide(parts: &[Condition], slots: &[Slot], decisive: bool) -> Option<bool> {
    let mut whole = Some(!decisive);
    for part in parts {
        match part.holds(slots) {
            Some(holds) if holds == decisive => return Some(decisive),
            Some(_) => {}
            None => whole = None,
        }
    }
    whole
}

fn present(slots: &[Slot], slot: usize) -> Option<&Held> {
    let slot = slots.get(slot).filter(|slot| slot.is_present)?;
    Some(&slot.held)
}

impl Relation {
    fn holds(self, left: &Held, right: &Held) -> bool {
        if self == Self::Like {
            return match (left, right) {
                (Held::Text(text), Held::Text(pattern)) => is_like(text, pattern),
                _ => false,
            };
        }
        let order = left.compare(right);
        match self {
            Self::NotEqual => order != Some(Ordering::Equal),
            _ => order.is_some_and(|order| match self {
                Self::Less => order.is_lt(),
                Self::LessOrEqual => order.is_le(),
                Self::Greater => order.is_gt(),
                Self::GreaterOrEqual => order.is_ge(),
                Self::Equal | Self::NotEqual | Self::Like => order.is_eq(),
            }),
        }
    }
}
