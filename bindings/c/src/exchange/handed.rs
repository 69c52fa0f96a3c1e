//! Messages that the caller has received and not freed. He names them by where their bytes lie: what he passes is
//! looked up, not believed.

use std::sync::{Arc, Mutex};

use dds::BytesInPlace;
use hashbrown::HashMap;

use super::lock;
use crate::border::{Pointer, guard};

static HANDED: Mutex<Handed> = Mutex::new(Handed {
    last: None,
    others: None,
});

/// By where their bytes lie.
struct Handed {
    /// What was received last, which most callers free before they receive another.
    last: Option<(Pointer, Arc<BytesInPlace>)>,
    others: Option<HashMap<Pointer, Arc<BytesInPlace>>>,
}

impl Handed {
    fn put(&mut self, pointer: Pointer, message: Arc<BytesInPlace>) {
        if let Some((before, message)) = self.last.replace((pointer, message)) {
            let others = self.others.get_or_insert_default();
            others.insert(before, message);
        }
    }

    fn take(&mut self, pointer: &Pointer) -> Option<Arc<BytesInPlace>> {
        let last = self.last.take_if(|(last, _)| last == pointer);
        match last {
            Some((_, message)) => Some(message),
            None => self.others.as_mut()?.remove(pointer),
        }
    }
}

/// Where the bytes of a message lie, and how many, until they are [taken back](take_back). Of none, NULL.
pub(super) fn hand_out(message: Arc<BytesInPlace>) -> (Pointer, usize) {
    let len = message.len();
    if len == 0 {
        return (Pointer::NULL, 0);
    }
    let pointer = Pointer::to(&message[..]);
    lock(&HANDED).put(pointer, message);
    (pointer, len)
}

/// Frees a message. Nothing happens to what is none.
pub(super) extern "C" fn take_back(data: Pointer) {
    guard(|| {
        let message = lock(&HANDED).take(&data);
        drop(message);
        Ok(())
    });
}

/// How many there are of those at these places.
#[cfg(test)]
pub(super) fn count(of: &[Pointer]) -> usize {
    let handed = lock(&HANDED);
    let is_last = |data: &Pointer| handed.last.as_ref().is_some_and(|(last, _)| last == data);
    let is_other = |data: &Pointer| {
        handed
            .others
            .as_ref()
            .is_some_and(|all| all.contains_key(data))
    };
    of.iter()
        .filter(|data| is_last(data) || is_other(data))
        .count()
}
