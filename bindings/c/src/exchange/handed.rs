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

/// By where their bytes lie. Two queues of one context may have what lies in the same memory, which is to be freed as often
/// as it was received.
struct Handed {
    /// What was received last, which most callers free before they receive another.
    last: Option<(Pointer, Arc<BytesInPlace>)>,
    /// With how often each was received.
    others: Option<HashMap<Pointer, (Arc<BytesInPlace>, usize)>>,
}

impl Handed {
    /// Returns what keeps nothing that is not kept already.
    fn put(&mut self, pointer: Pointer, message: Arc<BytesInPlace>) -> Option<Arc<BytesInPlace>> {
        let (before, message) = self.last.replace((pointer, message))?;
        let others = self.others.get_or_insert_default();
        match others.get_mut(&before) {
            Some((_, count)) => {
                *count += 1;
                Some(message)
            }
            None => {
                others.insert(before, (message, 1));
                None
            }
        }
    }

    fn take(&mut self, pointer: &Pointer) -> Option<Arc<BytesInPlace>> {
        if let Some((_, message)) = self.last.take_if(|(last, _)| last == pointer) {
            return Some(message);
        }
        let others = self.others.as_mut()?;
        let (_, count) = others.get_mut(pointer)?;
        *count -= 1;
        match count {
            0 => others.remove(pointer).map(|(message, _)| message),
            _ => None,
        }
    }

    #[cfg(test)]
    fn count(&self, pointer: &Pointer) -> usize {
        let is_last = self.last.as_ref().is_some_and(|(last, _)| last == pointer);
        let others = self.others.as_ref().and_then(|all| all.get(pointer));
        usize::from(is_last) + others.map_or(0, |(_, count)| *count)
    }
}

/// Where the bytes of a message lie, and how many, until they are [taken back](take_back). Of none, NULL.
pub(super) fn hand_out(message: Arc<BytesInPlace>) -> (Pointer, usize) {
    let len = message.len();
    if len == 0 {
        return (Pointer::NULL, 0);
    }
    let pointer = Pointer::to(&message[..]);
    let known = lock(&HANDED).put(pointer, message);
    drop(known);
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
    of.iter().map(|data| handed.count(data)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As two queues have what one exchange has sent.
    #[test]
    fn what_was_received_twice_is_freed_twice() {
        let message = |byte| Arc::new(BytesInPlace::new(vec![byte; 8]));
        let (one, two, other) = (message(1), message(1), message(2));
        let [at, elsewhere] = [&one, &other].map(|it| Pointer::to(&it[..]));
        let mut handed = Handed {
            last: None,
            others: None,
        };
        assert!(handed.put(at, Arc::clone(&one)).is_none());
        assert!(handed.put(at, Arc::clone(&two)).is_none());
        // Both are there, one of them counted.
        assert!(handed.put(elsewhere, Arc::clone(&other)).is_some());
        assert_eq!((handed.count(&at), handed.count(&elsewhere)), (2, 1));
        assert!(handed.take(&at).is_none());
        assert_eq!(Arc::strong_count(&one), 2, "it is held");
        assert!(handed.take(&at).is_some());
        assert!(handed.take(&at).is_none());
        assert!(handed.take(&elsewhere).is_some());
        assert_eq!(Arc::strong_count(&one) + Arc::strong_count(&two), 2);
    }
}
