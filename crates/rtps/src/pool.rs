//! Buffers that are used again, so that a warm machine does not allocate.

use alloc::sync::Arc;
use alloc::vec::Vec;

/// Buffers with capacity.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    /// Empty ones.
    buffers: Vec<Vec<u8>>,
    /// With what was in them.
    large: Vec<Vec<u8>>,
    /// Bytes of the large ones.
    large_bytes: usize,
    max_large_bytes: usize,
    /// Large ones that somebody still reads, as was seen last.
    shared: Vec<Arc<Vec<u8>>>,
}

impl BufferPool {
    /// One that also keeps large buffers, of so many bytes together.
    pub(crate) fn with_large(max_large_bytes: usize) -> Self {
        Self {
            max_large_bytes,
            ..Self::default()
        }
    }

    /// An empty buffer, with capacity if one was given back.
    #[inline]
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let buffer = self.buffers.pop();
        buffer.unwrap_or_else(|| {
            self.reclaim();
            self.take_large(self.large.len().saturating_sub(1))
        })
    }

    /// An empty buffer with capacity for `len` bytes, without new memory if one as large was given back.
    pub(crate) fn take_for(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = match len > MAX_BUFFER_LEN {
            false => self.buffers.pop().unwrap_or_default(),
            true => {
                self.reclaim();
                let at = self.large.iter().position(|large| large.capacity() >= len);
                self.take_large(at.unwrap_or(usize::MAX))
            }
        };
        buffer.reserve_exact(len);
        buffer
    }

    /// A large buffer with what was in it, if one was given back; else an empty one without capacity.
    pub(crate) fn take_used(&mut self) -> Vec<u8> {
        self.reclaim();
        self.take_used_at(self.large.len().saturating_sub(1))
    }

    /// As [`give`](Self::give), once nobody reads it any more.
    pub(crate) fn give_shared(&mut self, buffer: Arc<Vec<u8>>) {
        self.shared.push(buffer);
        self.reclaim();
        let mut room = self.max_large_bytes.saturating_sub(self.large_bytes);
        self.shared.retain(|shared| {
            let has_room = shared.capacity() <= room;
            room -= if has_room { shared.capacity() } else { 0 };
            has_room
        });
    }

    /// Takes back what nobody reads any more.
    fn reclaim(&mut self) {
        let mut at = 0;
        while let Some(shared) = self.shared.get_mut(at) {
            match Arc::get_mut(shared).map(core::mem::take) {
                None => at += 1,
                Some(buffer) => {
                    self.shared.swap_remove(at);
                    self.give(buffer);
                }
            }
        }
    }

    /// The large buffer at `at`, emptied, if there is one.
    fn take_large(&mut self, at: usize) -> Vec<u8> {
        let mut buffer = self.take_used_at(at);
        buffer.clear();
        buffer
    }

    /// The same with what is in it.
    fn take_used_at(&mut self, at: usize) -> Vec<u8> {
        if at >= self.large.len() {
            return Vec::new();
        }
        let buffer = self.large.swap_remove(at);
        self.large_bytes -= buffer.capacity();
        buffer
    }

    /// Keeps `buffer` for later, unless that would waste memory.
    pub(crate) fn give(&mut self, mut buffer: Vec<u8>) {
        let len = buffer.capacity();
        if len > MAX_BUFFER_LEN {
            if self.large_bytes + len <= self.max_large_bytes {
                self.large_bytes += len;
                self.large.push(buffer);
            }
        } else if len > 0 && self.buffers.len() < MAX_BUFFERS {
            buffer.clear();
            self.buffers.push(buffer);
        }
    }
}

/// Buffers with more capacity are large: what is in them is sent, held and handed over rather than copied.
pub const MAX_BUFFER_LEN: usize = 64 * 1024;
const MAX_BUFFERS: usize = 4096;

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn large_buffers_are_kept_as_far_as_they_may_be() {
        let len = MAX_BUFFER_LEN + 1;
        let mut pool = BufferPool::with_large(2 * len);
        for _ in 0..3 {
            pool.give(Vec::with_capacity(len));
        }
        pool.give(Vec::with_capacity(1));
        assert_eq!(pool.take().capacity(), 1);
        let kept = [(); 3].map(|()| pool.take().capacity());
        assert_eq!(kept, [len, len, 0]);
        pool.give(Vec::with_capacity(len));
        assert_eq!(pool.take().capacity(), len, "there is room again");
        let mut pool = BufferPool::default();
        pool.give(Vec::with_capacity(len));
        assert_eq!(pool.take().capacity(), 0);
    }

    #[test]
    fn what_is_still_read_is_used_again_once_it_is_not() {
        let len = MAX_BUFFER_LEN + 1;
        let mut pool = BufferPool::with_large(3 * len);
        let shared = [(); 4].map(|()| Arc::new(Vec::with_capacity(len)));
        for buffer in &shared {
            pool.give_shared(Arc::clone(buffer));
        }
        assert_eq!(pool.take().capacity(), 0);
        drop(shared);
        for _ in 0..3 {
            assert_eq!(pool.take().capacity(), len);
        }
        assert_eq!(pool.take().capacity(), 0, "one too many was read");
        pool.give_shared(Arc::new(Vec::with_capacity(len)));
        assert_eq!(pool.take().capacity(), len);
    }

    #[test]
    fn a_buffer_that_is_large_enough_is_found_among_others() {
        let len = MAX_BUFFER_LEN + 1;
        let mut pool = BufferPool::with_large(10 * len);
        for times in [1, 3, 2] {
            pool.give(Vec::with_capacity(times * len));
        }
        assert_eq!(pool.take_for(2 * len).capacity(), 3 * len);
        assert_eq!(pool.take_for(2 * len).capacity(), 2 * len);
        assert_eq!(pool.take_for(2 * len).capacity(), 2 * len, "it is new");
        assert_eq!(pool.take_for(MAX_BUFFER_LEN).capacity(), MAX_BUFFER_LEN);
        assert_eq!(pool.take().capacity(), len);
        assert_eq!(pool.large_bytes, 0);
    }

    #[test]
    fn what_was_in_a_large_buffer_is_there_for_who_asks_for_it() {
        let mut pool = BufferPool::with_large(4 * MAX_BUFFER_LEN);
        assert_eq!(pool.take_used().capacity(), 0);
        pool.give(vec![7; 2]);
        pool.give(vec![7; MAX_BUFFER_LEN + 1]);
        assert_eq!(pool.take_used().len(), MAX_BUFFER_LEN + 1);
        pool.give(vec![7; MAX_BUFFER_LEN + 1]);
        assert_eq!(pool.take_for(MAX_BUFFER_LEN + 1).len(), 0);
    }
}
