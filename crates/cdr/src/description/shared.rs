//! Parts of descriptions, whether constants of the program or made at run time.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use super::Knot;

/// Part of a description: a constant of the program, or counted when made at run time.
pub enum Shared<T: ?Sized + 'static> {
    /// Known at compile time.
    Static(&'static T),
    /// Known at compile time, behind a function, so that a type can contain itself.
    Computed(fn() -> &'static T),
    /// Made at run time.
    Counted(Arc<T>),
    /// Made at run time, of types that refer to each other in a circle: which one, and how it is
    /// found.
    #[doc(hidden)]
    Knotted(Arc<Knot>, u32, fn(&Knot, u32) -> &T),
}

impl<T: ?Sized> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Static(value) => value,
            Self::Computed(value) => value(),
            Self::Counted(value) => value,
            Self::Knotted(knot, index, get) => get(knot, *index),
        }
    }
}

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Static(value) => Self::Static(value),
            Self::Computed(value) => Self::Computed(*value),
            Self::Counted(value) => Self::Counted(Arc::clone(value)),
            Self::Knotted(knot, index, get) => Self::Knotted(Arc::clone(knot), *index, *get),
        }
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        // Types of the program may contain themselves.
        core::ptr::eq(&raw const **self, &raw const **other) || **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Shared<T> {}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl From<&str> for Shared<str> {
    fn from(value: &str) -> Self {
        Self::Counted(value.into())
    }
}

impl<T> From<Vec<T>> for Shared<[T]> {
    fn from(value: Vec<T>) -> Self {
        Self::Counted(value.into())
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::Counted(Arc::new(value))
    }
}
