//! Each thread's own outbox and scratch memory, so that writing allocates nothing once warm.

use std::cell::Cell;

use tickwire_rtps::Outbox;

/// What a write needs besides its writer.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) outbox: Outbox,
    pub(crate) key: Vec<u8>,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl Scratch {
    /// Lends the thread's scratch memory, with an empty outbox. Within another loan, which happens
    /// when serializing a sample writes another one, it is new memory.
    pub(crate) fn lend<R>(use_it: impl FnOnce(&mut Self) -> R) -> R {
        let mut scratch = SCRATCH
            .try_with(Cell::take)
            .ok()
            .flatten()
            .unwrap_or_default();
        scratch.outbox.clear();
        let result = use_it(&mut scratch);
        // Not kept when the thread is ending.
        let _ = SCRATCH.try_with(|slot| slot.set(Some(scratch)));
        result
    }
}
