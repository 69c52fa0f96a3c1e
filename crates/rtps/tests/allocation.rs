//! A warm writer and a warm reader do not allocate for samples that fit a datagram.

#[path = "suite/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::script::{READER, WRITER};
use common::{keep_all, keep_last, tell_reader, tell_writer};
use tickwire_base::{Duration, Instant, Locator, Timestamp};
use tickwire_rtps::reader::{Delivery, Reader, ReaderConfig, ReceivedChange, Sink, WriterProxy};
use tickwire_rtps::wire::Guid;
use tickwire_rtps::writer::{ReaderProxy, Writer, WriterConfig};
use tickwire_rtps::{Change, Outbox};

/// Counts the allocations of the thread that asks.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // Threads that are ending have no count any more.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

#[allow(unsafe_code)]
// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Default)]
struct Bytes(u64);

impl Sink for Bytes {
    fn deliver(&mut self, _: &ReceivedChange<'_>) -> Delivery {
        self.0 += 1;
        Delivery::Accepted
    }

    fn lost(&mut self, _: Guid, _: u64) {}
}

/// A writer and a reader joined without anything between them.
struct Pair {
    writer: Writer,
    reader: Reader,
    sink: Bytes,
    now: Instant,
    to_reader: Outbox,
    to_writer: Outbox,
    /// Every so many samples, one is withheld from the reader.
    lose_every: u64,
    has_key: bool,
}

impl Pair {
    fn new(config: WriterConfig, lose_every: u64, has_key: bool) -> Self {
        let mut pair = Self {
            writer: Writer::new(WriterConfig {
                guid: WRITER,
                ..config
            }),
            reader: Reader::new(ReaderConfig::new(READER)),
            sink: Bytes::default(),
            now: Instant::from_nanos(1),
            to_reader: Outbox::new(),
            to_writer: Outbox::new(),
            lose_every,
            has_key,
        };
        let locator = Locator::udp_v4(std::net::Ipv4Addr::LOCALHOST, 1);
        let reader = ReaderProxy {
            guid: READER,
            reliable: true,
            unicast: vec![locator],
            ..ReaderProxy::default()
        };
        let writer = WriterProxy {
            guid: WRITER,
            reliable: true,
            unicast: vec![locator],
            ..WriterProxy::default()
        };
        let now = pair.now;
        pair.writer.match_reader(now, reader, &mut pair.to_reader);
        pair.reader.match_writer(now, writer, &mut pair.to_writer);
        pair
    }

    fn write(&mut self, i: u64) {
        let change = Change {
            source_timestamp: Some(Timestamp::from_nanos(1_700_000_000_000_000_000)),
            key_hash: self.has_key.then_some([(i % 100) as u8; 16]),
            ..Change::default()
        };
        let fill = |buffer: &mut Vec<u8>| {
            buffer.extend_from_slice(&[0x5a; 200]);
            Ok::<(), ()>(())
        };
        while self
            .writer
            .write(self.now, &change, fill, &mut self.to_reader)
            .is_err()
        {
            self.exchange();
            self.now = self.now + Duration::from_millis(1);
        }
        if self.lose_every != 0 && i.is_multiple_of(self.lose_every) {
            self.to_reader.clear();
        }
        self.exchange();
    }

    fn exchange(&mut self) {
        self.now = self.now + Duration::from_micros(100);
        self.writer.handle_timeout(self.now, &mut self.to_reader);
        self.reader.handle_timeout(self.now, &mut self.to_writer);
        for (bytes, _) in self.to_reader.datagrams() {
            let (reader, sink) = (&mut self.reader, &mut self.sink);
            tell_reader(reader, sink, self.now, &bytes.joined(), &mut self.to_writer);
        }
        self.to_reader.clear();
        for (bytes, _) in self.to_writer.datagrams() {
            tell_writer(
                &mut self.writer,
                self.now,
                &bytes.joined(),
                &mut self.to_reader,
            );
        }
        self.to_writer.clear();
    }
}

fn allocations_when_warm(config: WriterConfig, lose_every: u64, has_key: bool) -> (u64, u64) {
    let mut pair = Pair::new(config, lose_every, has_key);
    for i in 1..20_000 {
        pair.write(i);
    }
    let (before, delivered) = (ALLOCATIONS.get(), pair.sink.0);
    for i in 20_000..40_000 {
        pair.write(i);
    }
    (ALLOCATIONS.get() - before, pair.sink.0 - delivered)
}

#[test]
fn keep_all_without_loss() {
    for has_key in [true, false] {
        assert_eq!(allocations_when_warm(keep_all(), 0, has_key), (0, 20_000));
    }
}

#[test]
fn keep_last_of_many_instances() {
    let config = WriterConfig {
        transient_local: true,
        ..keep_last(1)
    };
    assert_eq!(allocations_when_warm(config, 0, true), (0, 20_000));
}

#[test]
fn with_losses_and_repairs() {
    for has_key in [true, false] {
        let (allocations, delivered) = allocations_when_warm(keep_all(), 7, has_key);
        assert_eq!(allocations, 0);
        assert!(delivered > 19_900, "{delivered}");
    }
}
