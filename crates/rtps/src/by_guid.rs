//! What is known of each matched endpoint. Where there are many, looking one up touches little memory,
//! and inserting one moves little.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use crate::wire::Guid;

/// Values in the order of their GUIDs; a slice of them in all else.
#[derive(Debug)]
pub(crate) struct ByGuid<T> {
    guids: Vec<Guid>,
    values: Vec<Box<T>>,
}

impl<T> ByGuid<T> {
    pub(crate) const fn new() -> Self {
        Self {
            guids: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The index of a GUID, or where it is to be inserted.
    #[inline]
    pub(crate) fn find(&self, guid: Guid) -> Result<usize, usize> {
        match self.guids.as_slice() {
            [only] if *only == guid => Ok(0),
            guids => guids.binary_search(&guid),
        }
    }

    /// Inserts a value where [`find`](Self::find) has said.
    pub(crate) fn insert(&mut self, index: usize, guid: Guid, value: T) {
        self.guids.insert(index, guid);
        self.values.insert(index, Box::new(value));
    }

    /// Removes the value with that index.
    pub(crate) fn remove(&mut self, index: usize) -> T {
        self.guids.remove(index);
        *self.values.remove(index)
    }
}

impl<T> Deref for ByGuid<T> {
    type Target = [Box<T>];

    fn deref(&self) -> &[Box<T>] {
        &self.values
    }
}

impl<T> DerefMut for ByGuid<T> {
    fn deref_mut(&mut self) -> &mut [Box<T>] {
        &mut self.values
    }
}
