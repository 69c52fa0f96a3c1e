//! The interface of `map.rs` over loom's atomics: a few words of memory, which loom's threads see in
//! every order that the rules for atomics allow.

use std::sync::Arc;

use super::atomic::{AtomicU64, Ordering, fence};

/// Two cache lines.
pub(crate) const PAGE: usize = 128;

/// Memory that one thread writes to.
#[derive(Debug)]
pub(crate) struct OwnMap(Words);

impl OwnMap {
    pub(crate) fn store(&mut self, at: usize, value: u64, order: Ordering) {
        self.0.word(at).store(value, order);
    }

    /// There is memory for all of a model.
    pub(crate) fn back(&mut self, _start: usize, _end: usize) -> bool {
        true
    }

    /// In place of `bytes_mut`: loom sees each word that is written.
    pub(crate) fn write(&mut self, at: usize, words: &[u64]) {
        for (index, word) in words.iter().enumerate() {
            self.store(at + 8 * index, *word, Ordering::Relaxed);
        }
    }
}

impl OwnMap {
    /// One part, as models have pools of one chunk.
    pub(crate) fn split(self, _part_len: usize) -> Vec<OwnPart> {
        vec![OwnPart(self)]
    }
}

/// A part of memory that one thread writes to.
#[derive(Debug)]
pub(crate) struct OwnPart(OwnMap);

impl OwnPart {
    pub(crate) fn store(&mut self, at: usize, value: u64, order: Ordering) {
        self.0.store(at, value, order);
    }

    pub(crate) fn write(&mut self, at: usize, words: &[u64]) {
        self.0.write(at, words);
    }
}

/// Memory that another thread writes to.
#[derive(Debug)]
pub(crate) struct ForeignMap(Words);

impl ForeignMap {
    pub(crate) fn load(&self, at: usize) -> u64 {
        self.0.word(at).load(Ordering::Relaxed)
    }

    pub(crate) fn load_two(&self, at: usize) -> [u64; 2] {
        let one = self.load(at);
        fence(Ordering::Acquire);
        [one, self.load(at + 8)]
    }

    pub(crate) fn copy(&self, at: usize, into: &mut [u8]) {
        for (index, bytes) in into.chunks_mut(8).enumerate() {
            bytes.copy_from_slice(&self.load(at + 8 * index).to_ne_bytes());
        }
    }
}

/// Memory that all write to.
#[derive(Debug)]
pub(crate) struct CommonMap(Words);

impl CommonMap {
    pub(crate) fn load(&self, at: usize, order: Ordering) -> u64 {
        self.0.word(at).load(order)
    }

    pub(crate) fn store(&self, at: usize, value: u64, order: Ordering) {
        self.0.word(at).store(value, order);
    }

    pub(crate) fn swap(&self, at: usize, value: u64) -> u64 {
        self.0.word(at).swap(value, Ordering::AcqRel)
    }
}

/// In the first `LINES` cache lines the first word of each; behind them every word.
#[derive(Clone, Debug)]
struct Words {
    lines: Arc<[AtomicU64]>,
    rest: Arc<[AtomicU64]>,
    /// Where the rest begins.
    rest_at: usize,
}

const LINES: usize = 4;

impl Words {
    fn new(rest_at: usize, rest_len: usize) -> Self {
        let zeros = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            lines: zeros(LINES),
            rest: zeros(rest_len / 8),
            rest_at,
        }
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        match at.checked_sub(self.rest_at) {
            Some(rest) => &self.rest[rest / 8],
            None => &self.lines[at / 64],
        }
    }
}

/// Memory for a log and its control memory, as in `map.rs`.
pub(crate) mod heap {
    use super::*;

    pub(crate) fn log(len: usize) -> (OwnMap, impl Fn() -> ForeignMap) {
        let words = Words::new(PAGE, len - PAGE);
        (OwnMap(words.clone()), move || ForeignMap(words.clone()))
    }

    /// For a pool with one chunk, whose bytes begin at `bytes_at`.
    pub(crate) fn pool(bytes_at: usize, len: usize) -> (OwnMap, impl Fn() -> ForeignMap) {
        let words = Words::new(bytes_at, len - bytes_at);
        (OwnMap(words.clone()), move || ForeignMap(words.clone()))
    }

    pub(crate) fn common() -> impl Fn() -> CommonMap {
        let words = Words::new(0, LINES * 64);
        move || CommonMap(words.clone())
    }
}
