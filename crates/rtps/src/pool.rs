//! Buffers that are used again, so that a warm machine does not allocate.

use alloc::vec::Vec;

/// Empty buffers with capacity.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    buffers: Vec<Vec<u8>>,
    /// Bytes of the large ones among them.
    large_bytes: usize,
    max_large_bytes: usize,
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
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let buffer = self.buffers.pop().unwrap_or_default();
        if buffer.capacity() > MAX_BUFFER_LEN {
            self.large_bytes -= buffer.capacity();
        }
        buffer
    }

    /// Keeps `buffer` for later, unless that would waste memory.
    pub(crate) fn give(&mut self, mut buffer: Vec<u8>) {
        let len = buffer.capacity();
        let large = if len > MAX_BUFFER_LEN { len } else { 0 };
        let has_room = self.large_bytes + large <= self.max_large_bytes || large == 0;
        if len > 0 && has_room && self.buffers.len() < MAX_BUFFERS {
            buffer.clear();
            self.large_bytes += large;
            self.buffers.push(buffer);
        }
    }
}

const MAX_BUFFER_LEN: usize = 64 * 1024;
const MAX_BUFFERS: usize = 4096;

#[cfg(test)]
mod tests {
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
}
