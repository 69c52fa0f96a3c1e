//! Handles of what is used by one and then given back, and belongs to nobody meanwhile: it lies in the table itself,
//! and is taken out of it.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::{Code, Failure, Result};
use crate::handle::{Handle, Kind, unknown};

/// What handles of one kind name.
pub(crate) struct Slab<T> {
    kind: Kind,
    table: Mutex<Table<T>>,
}

struct Table<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
}

struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Slab<T> {
    pub(crate) const fn new(kind: Kind) -> Self {
        let table = Table {
            slots: Vec::new(),
            free: Vec::new(),
        };
        Self {
            kind,
            table: Mutex::new(table),
        }
    }

    pub(crate) fn put(&self, value: T) -> Result<Handle> {
        let mut table = self.lock();
        let place = table.free_place();
        let handle = place.map(|place| table.fill(self.kind, place, value));
        drop(table);
        handle.ok_or_else(full)
    }

    pub(crate) fn take(&self, handle: Handle) -> Result<T> {
        let mut table = self.lock();
        let taken = table.take(self.kind, handle);
        if taken.is_some() {
            table.free.push(handle.place());
        }
        drop(table);
        taken.ok_or_else(|| unknown(handle, &[self.kind]))
    }

    /// A place for one value, so that what is to be put there can be done first and not fail afterwards.
    pub(crate) fn reserve(&'static self) -> Result<Reserved<T>> {
        let place = self.lock().free_place().ok_or_else(full)?;
        Ok(Reserved { slab: self, place })
    }

    /// As [`take`](Self::take), and keeps the place for another value.
    pub(crate) fn take_and_reserve(&'static self, handle: Handle) -> Result<(T, Reserved<T>)> {
        let taken = self.lock().take(self.kind, handle);
        let taken = taken.ok_or_else(|| unknown(handle, &[self.kind]))?;
        let place = handle.place();
        Ok((taken, Reserved { slab: self, place }))
    }

    /// Looks at what a handle names.
    pub(crate) fn look<R>(&self, handle: Handle, look: impl FnOnce(&T) -> R) -> Result<R> {
        let mut table = self.lock();
        let found = table.slot(self.kind, handle);
        let found = found.and_then(|slot| slot.value.as_ref()).map(look);
        drop(table);
        found.ok_or_else(|| unknown(handle, &[self.kind]))
    }

    fn lock(&self) -> MutexGuard<'_, Table<T>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is taken by nothing yet.
pub(crate) struct Reserved<T: 'static> {
    slab: &'static Slab<T>,
    place: usize,
}

impl<T> Reserved<T> {
    pub(crate) fn put(self, value: T) -> Handle {
        let (slab, place) = (self.slab, self.place);
        mem::forget(self);
        slab.lock().fill(slab.kind, place, value)
    }
}

impl<T> Drop for Reserved<T> {
    fn drop(&mut self) {
        self.slab.lock().free.push(self.place);
    }
}

impl<T> Table<T> {
    /// One that is nobody's from here on but the caller's, unless all are taken.
    fn free_place(&mut self) -> Option<usize> {
        self.free.pop().or_else(|| {
            let place = self.slots.len();
            (place < MOST).then(|| {
                self.slots.push(Slot {
                    generation: 0,
                    value: None,
                });
                place
            })
        })
    }

    fn fill(&mut self, kind: Kind, place: usize, value: T) -> Handle {
        let slot = &mut self.slots[place];
        slot.value = Some(value);
        Handle::new(kind, slot.generation, place)
    }

    fn slot(&mut self, kind: Kind, handle: Handle) -> Option<&mut Slot<T>> {
        let slot = self.slots.get_mut(handle.place())?;
        let is_it = handle == Handle::new(kind, slot.generation, handle.place());
        Some(slot).filter(|_| is_it)
    }

    fn take(&mut self, kind: Kind, handle: Handle) -> Option<T> {
        let slot = self.slot(kind, handle)?;
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        Some(value)
    }
}

#[cold]
fn full() -> Failure {
    let message = format!("{MOST} are taken and not given back");
    Failure::new(Code::OUT_OF_RESOURCES, message)
}

/// As many as places fit a handle.
const MOST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_has_room_when_all_is_taken() {
        static SLAB: Slab<u8> = Slab::new(Kind::Samples);
        let reserved = SLAB.reserve().expect("there is room");
        let mut others: Vec<_> = (1..MOST)
            .map(|_| SLAB.put(0).expect("there is room"))
            .collect();
        assert_eq!(
            SLAB.put(1).map_err(|full| full.code()),
            Err(Code::OUT_OF_RESOURCES)
        );
        assert!(SLAB.reserve().is_err());
        let handle = reserved.put(2);
        // It is kept for another value, which has a handle of its own.
        let (value, reserved) = SLAB.take_and_reserve(handle).expect("it was put");
        assert_eq!(value, 2);
        assert!(SLAB.put(1).is_err());
        let again = reserved.put(3);
        assert!(SLAB.take(handle).is_err());
        assert_eq!(SLAB.take(again).map_err(|failure| failure.code()), Ok(3));
        // One that nothing was put into is free, and so is what was taken.
        let reserved = SLAB.reserve().expect("there is room again");
        assert!(SLAB.reserve().is_err());
        drop(reserved);
        let other = others.pop().expect("there are many");
        assert!(SLAB.take(other).is_ok());
        let both = [SLAB.reserve(), SLAB.reserve()];
        assert!(both.iter().all(Result::is_ok));
    }
}
