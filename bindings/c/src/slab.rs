//! Handles of what is used by one and then given back, and belongs to nobody meanwhile: it lies in the table itself,
//! and is taken out of it.

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
        let place = match table.free.pop() {
            Some(place) => place,
            None if table.slots.len() >= MOST => {
                drop(table);
                let message = format!("{MOST} are taken and not given back");
                return Err(Failure::new(Code::OUT_OF_RESOURCES, message));
            }
            None => {
                table.slots.push(Slot {
                    generation: 0,
                    value: None,
                });
                table.slots.len() - 1
            }
        };
        let slot = &mut table.slots[place];
        slot.value = Some(value);
        Ok(Handle::new(self.kind, slot.generation, place))
    }

    pub(crate) fn take(&self, handle: Handle) -> Result<T> {
        let taken = self.lock().take(self.kind, handle);
        taken.ok_or_else(|| unknown(handle, &[self.kind]))
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

impl<T> Table<T> {
    fn slot(&mut self, kind: Kind, handle: Handle) -> Option<&mut Slot<T>> {
        let slot = self.slots.get_mut(handle.place())?;
        let is_it = handle == Handle::new(kind, slot.generation, handle.place());
        Some(slot).filter(|_| is_it)
    }

    fn take(&mut self, kind: Kind, handle: Handle) -> Option<T> {
        let slot = self.slot(kind, handle)?;
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(handle.place());
        Some(value)
    }
}

/// As many as places fit a handle.
const MOST: usize = 1 << 20;
