//! Messages that the caller has received and not freed. He names them by where their bytes lie: what he passes is
//! looked up, not believed.

use std::sync::{Arc, Mutex};

use dds::BytesInPlace;
use hashbrown::HashMap;

use super::lock;
use crate::border::{Pointer, guard};

static HANDED: Mutex<Option<HashMap<Pointer, Arc<BytesInPlace>>>> = Mutex::new(None);

/// Where the bytes of a message lie, and how many, until they are [taken back](take_back). Of none, NULL.
pub(super) fn hand_out(message: Arc<BytesInPlace>) -> (Pointer, usize) {
    let len = message.len();
    if len == 0 {
        return (Pointer::NULL, 0);
    }
    let pointer = Pointer::to(&message[..]);
    lock(&HANDED)
        .get_or_insert_default()
        .insert(pointer, message);
    (pointer, len)
}

/// Frees a message. Nothing happens to what is none.
pub(super) extern "C" fn take_back(data: Pointer) {
    guard(|| {
        let message = lock(&HANDED)
            .as_mut()
            .and_then(|handed| handed.remove(&data));
        drop(message);
        Ok(())
    });
}

/// How many there are of those at these places.
#[cfg(test)]
pub(super) fn count(of: &[Pointer]) -> usize {
    let handed = lock(&HANDED);
    let is_there = |data: &&Pointer| handed.as_ref().is_some_and(|all| all.contains_key(*data));
    of.iter().filter(is_there).count()
}
