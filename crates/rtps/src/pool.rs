//! Buffers that are used again, so that a warm machine does not allocate.

use alloc::vec::Vec;

/// Empty buffers with capacity.
#[derive(Debug, Default)]
pub(crate) struct BufferPool(Vec<Vec<u8>>);

impl BufferPool {
    /// An empty buffer, with capacity if one was given back.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// Keeps `buffer` for later, unless that would waste memory.
    pub(crate) fn give(&mut self, mut buffer: Vec<u8>) {
        if (1..=MAX_BUFFER_LEN).contains(&buffer.capacity()) && self.0.len() < MAX_BUFFERS {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

const MAX_BUFFER_LEN: usize = 64 * 1024;
const MAX_BUFFERS: usize = 4096;
