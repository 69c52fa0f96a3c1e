//! Types that contain themselves, made at run time. Those of the program refer to each other by
//! constants; here the circle is owned by one [`Knot`], in which references do not own.

use alloc::collections::BTreeMap;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::fmt;

use super::{Shared, Type, TypeDescription, UnionDescription};
use crate::Extensibility;

/// Structs and unions that refer to each other in a circle, by their numbers in it.
#[derive(Default)]
#[doc(hidden)]
pub struct Knot {
    structs: BTreeMap<u32, TypeDescription>,
    unions: BTreeMap<u32, UnionDescription>,
}

/// Structs and unions made at run time that may contain each other, and themselves. They are known by
/// numbers.
#[derive(Clone)]
pub struct Circle(Arc<Knot>);

impl Circle {
    /// Ties the structs and unions that `make` gives by their numbers. It is given what stands for
    /// each of them in the others: a reference, which does not keep them, and can be followed when
    /// all are there.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn tie<E>(
        make: impl FnOnce(&dyn Fn(u32) -> Type) -> Result<Vec<(u32, Type)>, E>,
    ) -> Result<Self, E> {
        let mut failure = None;
        let knot = Arc::new_cyclic(|knot: &Weak<Knot>| {
            let link = |index| Type::Recursive(Link::new(Weak::clone(knot), index));
            let mut tied = Knot::default();
            match make(&link) {
                Ok(types) => types
                    .into_iter()
                    .for_each(|(index, ty)| tied.add(index, &ty)),
                Err(error) => failure = Some(error),
            }
            tied
        });
        match failure {
            None => Ok(Self(knot)),
            Some(error) => Err(error),
        }
    }

    /// One of the types, which keeps them all.
    pub fn get(&self, number: u32) -> Option<Type> {
        Knot::get(&self.0, number)
    }
}

/// A reference inside a circle of types, which does not keep it alive.
#[derive(Clone)]
pub struct Link {
    knot: Weak<Knot>,
    index: u32,
}

impl Link {
    pub(crate) fn new(knot: Weak<Knot>, index: u32) -> Self {
        Self { knot, index }
    }

    /// The struct or union that is meant; `None` if the type that this is a part of has gone.
    pub fn target(&self) -> Option<Type> {
        Knot::get(&self.knot.upgrade()?, self.index)
    }
}

impl Knot {
    /// Takes a struct or a union; others have no number.
    pub(crate) fn add(&mut self, index: u32, ty: &Type) {
        match ty {
            Type::Struct(of) => drop(self.structs.insert(index, (**of).clone())),
            Type::Union(of) => drop(self.unions.insert(index, (**of).clone())),
            _ => {}
        }
    }

    /// One of the types, which keeps them all.
    pub(crate) fn get(knot: &Arc<Self>, index: u32) -> Option<Type> {
        if knot.structs.contains_key(&index) {
            let shared = Shared::Knotted(Arc::clone(knot), index, Self::structure);
            return Some(Type::Struct(shared));
        }
        knot.unions
            .contains_key(&index)
            .then(|| Type::Union(Shared::Knotted(Arc::clone(knot), index, Self::union)))
    }

    fn structure(&self, index: u32) -> &TypeDescription {
        self.structs.get(&index).unwrap_or(&NO_STRUCT)
    }

    fn union(&self, index: u32) -> &UnionDescription {
        self.unions.get(&index).unwrap_or(&NO_UNION)
    }
}

impl Type {
    /// The same type, but keeping alive all that it refers to.
    pub(crate) fn owning(&self) -> Self {
        let owning = |ty: &Shared<Self>| Shared::from(ty.owning());
        match self {
            Self::Recursive(link) => link.target().unwrap_or_else(|| self.clone()),
            Self::Sequence { element, bound } => Self::Sequence {
                element: owning(element),
                bound: *bound,
            },
            Self::Array { element, length } => Self::Array {
                element: owning(element),
                length: *length,
            },
            Self::Map { key, value, bound } => Self::Map {
                key: key.clone(),
                value: owning(value),
                bound: *bound,
            },
            other => other.clone(),
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target() {
            Some(target) => target.fmt(f),
            None => f.write_str("recursive type"),
        }
    }
}

// A knot tells which numbers it has before one of them is asked for.
static NO_STRUCT: TypeDescription = TypeDescription {
    name: Shared::Static(""),
    extensibility: Extensibility::Final,
    nested: false,
    hash_ids: false,
    members: Shared::Static(&[]),
};
static NO_UNION: UnionDescription = UnionDescription {
    name: Shared::Static(""),
    extensibility: Extensibility::Final,
    nested: false,
    discriminator: Type::Bool,
    discriminator_key: false,
    cases: Shared::Static(&[]),
};
