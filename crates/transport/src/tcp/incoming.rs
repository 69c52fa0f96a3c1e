//! The beginning of a frame of which the rest has not come, and the memory of long ones, which is used again.
//! Reads from whatever it is given.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::frame::frame_len;
use crate::page_aligned::PageAligned;

/// What a connection keeps from one reception to the next.
#[derive(Debug)]
pub(super) enum Incoming {
    /// Of a short frame, or nothing: it goes before what comes next.
    Short(Vec<u8>),
    /// Of a long frame, to the end of which is read right behind it, lest what has come be copied again
    /// and again.
    Long(Long),
}

/// The memory of a long frame. It grows with what comes, not with what is announced.
#[derive(Debug)]
pub(super) struct Long {
    bytes: PageAligned,
    len: usize,
    frame_len: usize,
    room: Room,
}

/// Memory that frames which are not whole take together.
#[derive(Debug)]
struct Room {
    bytes: usize,
    in_all: Arc<AtomicUsize>,
    max_in_all: usize,
}

/// What has come of reading a long frame.
#[derive(Debug)]
pub(super) enum Progress {
    /// More is to come.
    Begun(Long),
    /// It is whole.
    Whole(PageAligned),
    /// The stream has ended.
    End,
    /// There is no memory for it.
    NoRoom,
}

impl Default for Incoming {
    fn default() -> Self {
        Self::Short(Vec::new())
    }
}

impl Long {
    /// Whether these bytes begin a frame that is long.
    pub(super) fn is_needed(beginning: &[u8]) -> bool {
        frame_len(beginning).is_some_and(|len| len > SHORT_FRAME)
    }

    /// A frame that is long, of which the first `len` bytes of `memory` have come. Without room, nothing is
    /// taken.
    pub(super) fn begin(
        memory: PageAligned,
        len: usize,
        in_all: &Arc<AtomicUsize>,
        max_in_all: usize,
    ) -> Option<Self> {
        let frame_len = frame_len(memory.get(..len)?)?;
        let mut room = Room {
            bytes: 0,
            in_all: Arc::clone(in_all),
            max_in_all,
        };
        room.grow_to(memory.len()).then_some(Self {
            bytes: memory,
            len,
            frame_len,
            room,
        })
    }

    /// Reads on by as many calls of `read` as fill what room there is.
    pub(super) fn read_on(
        mut self,
        mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> (Progress, io::Result<()>) {
        while self.len < self.frame_len {
            if self.len == self.bytes.len() {
                let room = self.len.saturating_mul(2).min(self.frame_len);
                if !self.room.grow_to(room) {
                    return (Progress::NoRoom, Ok(()));
                }
                self.bytes.grow_to(room);
            }
            let end = self.bytes.len().min(self.frame_len);
            let rest = self.bytes.get_mut(self.len..end).unwrap_or_default();
            let asked = rest.len();
            match read(rest) {
                Ok(0) => return (Progress::End, Ok(())),
                Ok(count) => {
                    self.len += count;
                    if count < asked {
                        break;
                    }
                }
                Err(error) => return (Progress::Begun(self), Err(error)),
            }
        }
        match self.len < self.frame_len {
            true => (Progress::Begun(self), Ok(())),
            false => (Progress::Whole(self.bytes), Ok(())),
        }
    }

    /// Its bytes, when it is whole.
    pub(super) fn frame_len(&self) -> usize {
        self.frame_len
    }
}

/// Memory for long frames that are to come, of those that have come.
#[derive(Debug, Default)]
pub(super) struct Spares {
    memory: Vec<PageAligned>,
    len: usize,
}

impl Spares {
    /// The memory that was given back last, or new one if that has fewer bytes than `len`.
    pub(super) fn take(&mut self, len: usize) -> PageAligned {
        let memory = self.memory.pop().unwrap_or_default();
        self.len -= memory.len();
        match memory.len() < len {
            true => PageAligned::new(len),
            false => memory,
        }
    }

    /// Keeps it for later, unless that would be too much.
    pub(super) fn give(&mut self, memory: PageAligned) {
        if !memory.is_empty() && self.len + memory.len() <= MAX_SPARE {
            self.len += memory.len();
            self.memory.push(memory);
        }
    }
}

impl Room {
    fn grow_to(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let before = self.in_all.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        before.saturating_add(more) <= self.max_in_all
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.in_all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The longest frame that is short: what is kept of it may be copied at each reception.
const SHORT_FRAME: usize = 128 << 10;
/// Bytes that are kept for long frames to come: of some connections by turns.
const MAX_SPARE: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(len: usize) -> Vec<u8> {
        let mut bytes = u32::try_from(len)
            .expect("a short message")
            .to_be_bytes()
            .to_vec();
        bytes.extend((0..len).map(|at| at.to_le_bytes()[0]));
        bytes
    }

    fn begun(frame: &[u8], len: usize, all: &Arc<AtomicUsize>, max: usize) -> Option<Long> {
        let mut memory = PageAligned::new(len);
        memory.copy_from_slice(&frame[..len]);
        Long::begin(memory, len, all, max)
    }

    #[test]
    fn a_long_frame_comes_out_whole_and_takes_memory_only_as_it_comes() {
        let all = Arc::new(AtomicUsize::new(0));
        let frame = frame(1_000_000);
        let mut long = begun(&frame, 1000, &all, 1 << 20).expect("it is long and there is room");
        assert_eq!(all.load(Ordering::Relaxed), 1000);
        let mut rest = &frame[1000..];
        for piece in [1, 999, 70_000, 300_000, 628_005] {
            let mut left = piece.min(rest.len());
            let (progress, read) = long.read_on(|room| {
                let count = room.len().min(left);
                if count == 0 {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                room[..count].copy_from_slice(&rest[..count]);
                (rest, left) = (&rest[count..], left - count);
                Ok(count)
            });
            assert!(read.is_ok_and(|()| true) || left == 0);
            let come = frame.len() - rest.len();
            match progress {
                Progress::Begun(begun) => long = begun,
                Progress::Whole(bytes) => {
                    assert!(rest.is_empty());
                    assert_eq!(*bytes, frame);
                    assert_eq!(all.load(Ordering::Relaxed), 0);
                    return;
                }
                other => panic!("{other:?}"),
            }
            let taken = all.load(Ordering::Relaxed);
            assert!(taken <= 2 * come, "{taken} bytes for {come}");
        }
        panic!("it is not whole");
    }

    #[test]
    fn what_is_short_is_left_alone_and_what_finds_no_room_ends() {
        let all = Arc::new(AtomicUsize::new(0));
        assert!(!Long::is_needed(&frame(1000)[..100]));
        assert!(!Long::is_needed(&frame(SHORT_FRAME)[..3]));
        let long = frame(1_000_000);
        assert!(begun(&long, 5000, &all, 4999).is_none());
        assert_eq!(all.load(Ordering::Relaxed), 0);
        let begun = begun(&long, 5000, &all, 9999).expect("there is room for as much");
        let (progress, _) = begun.read_on(|room| Ok(room.len()));
        assert!(matches!(progress, Progress::NoRoom));
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn memory_is_kept_as_far_as_it_may_be() {
        let mut spares = Spares::default();
        for len in [MAX_SPARE - 2, 1, 2, 1] {
            spares.give(PageAligned::new(len));
        }
        let taken = [0, 0, 0, 0, 5].map(|len| spares.take(len).len());
        assert_eq!(taken, [1, 1, MAX_SPARE - 2, 0, 5]);
        spares.give(PageAligned::new(4));
        assert_eq!([5, 0].map(|len| spares.take(len).len()), [5, 0]);
    }
}
