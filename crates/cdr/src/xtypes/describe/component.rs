//! Types that contain each other.

use alloc::sync::{Arc, Weak};

use super::*;
use crate::Link;
use crate::description::Knot;

/// A circle of types that is being tied.
pub(super) struct Tying {
    /// Of one of them.
    id: TypeId,
    knot: Weak<Knot>,
}

impl Tying {
    pub(super) fn contains(&self, id: TypeId) -> bool {
        are_together(self.id, id)
    }
}

impl Resolver<'_> {
    /// A type of a circle: from outside with all others, from inside a reference.
    pub(super) fn resolve_component(
        &mut self,
        id: TypeId,
        component: Component,
    ) -> Result<Type, DescribeError> {
        let mut tying = self.tying.iter();
        if let Some(tying) = tying.find(|tying| tying.contains(id)) {
            let knot = Weak::clone(&tying.knot);
            return match self.is_aggregate(id)? {
                true => Ok(Type::Recursive(Link::new(knot, component.index))),
                // Collections and aliases are no types of their own in a description.
                false => {
                    let len = self.objects.get(id).map_or(0, <[u8]>::len);
                    let left = self.repeated_left.checked_sub(len);
                    self.repeated_left = left.ok_or(DescribeError::TooLarge)?;
                    self.resolve_new(id)
                }
            };
        }
        if component.length > MAX_COMPONENT || !(1..=component.length).contains(&component.index) {
            return Err(DescribeError::TooLarge);
        }
        let mut failure = None;
        let knot = Arc::new_cyclic(|knot| {
            let knot = Weak::clone(knot);
            self.tying.push(Tying { id, knot });
            let tied = self.tie(id, component.length);
            self.tying.pop();
            tied.unwrap_or_else(|error| {
                failure = Some(error);
                Knot::default()
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        if let Some(ty) = Knot::get(&knot, component.index) {
            return Ok(ty);
        }
        let inner = Arc::downgrade(&knot);
        self.tying.push(Tying { id, knot: inner });
        let ty = self.resolve_new(id);
        self.tying.pop();
        ty.map(|ty| ty.owning())
    }

    fn tie(&mut self, id: TypeId, length: u32) -> Result<Knot, DescribeError> {
        let mut knot = Knot::default();
        for index in 1..=length {
            let id = TypeId {
                component: Some(Component { length, index }),
                ..id
            };
            if !self.is_aggregate(id)? {
                continue;
            }
            knot.add(index, &self.resolve_new(id)?);
        }
        Ok(knot)
    }

    /// Whether an object, which must be known, is that of a struct or a union.
    fn is_aggregate(&self, id: TypeId) -> Result<bool, DescribeError> {
        let object = self.objects.get(id).ok_or(DescribeError::Missing(id))?;
        // After the length and the kind of equivalence.
        Ok(matches!(object.get(5), Some(&TK_STRUCTURE | &TK_UNION)))
    }
}

/// Whether two types are of one circle.
fn are_together(one: TypeId, other: TypeId) -> bool {
    let circle = |id: TypeId| (id.kind, id.hash, id.component.map(|of| of.length));
    circle(one) == circle(other)
}
