//! From a packet's bytes to a sample's bytes a warm feed handler does not allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::convert::Infallible;

use tickwire::Serialized;
use tickwire_feed::generate::{ComplexOptions, SimpleOptions};
use tickwire_feed::{Generator, Line};
use tickwire_gateway::{
    FeedHandler, FeedTopic, HandlerOptions, Mapper, Mapping, Publish, TopicIndex,
};

/// Counts the allocations of the thread that asks.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // Gone only while the thread ends.
    let _counted = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
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

/// Counts samples and their bytes.
#[derive(Default)]
struct Scale {
    samples: u64,
    bytes: u64,
}

impl Publish for Scale {
    type Error = Infallible;
    type Batch = ();

    fn begin_batch(&mut self) {}

    fn publish(
        &mut self,
        _: &[FeedTopic],
        _: TopicIndex,
        sample: &Serialized,
    ) -> Result<(), Infallible> {
        self.samples += 1;
        self.bytes += sample.payload().len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Handles a feed twice: allocations of the second time, and samples of both.
fn warm_allocations(mut generator: Generator, mapping: Mapping) -> (u64, u64) {
    let mut packets = Vec::new();
    let mut packet = Vec::new();
    while generator
        .next_packet(&mut packet)
        .expect("our own messages can be encoded")
    {
        packets.push(packet.clone());
    }
    let mapper = Mapper::new(generator.templates(), mapping);
    let options = HandlerOptions::default();
    let mut handler = FeedHandler::new(
        generator.templates(),
        options,
        Some(mapper),
        Scale::default(),
    );
    let mut handle_all = || {
        for packet in &packets {
            let Ok(()) = handler.handle_packet(Line::A, packet);
        }
    };
    handle_all();
    let before = ALLOCATIONS.get();
    handle_all();
    let allocations = ALLOCATIONS.get() - before;
    assert_eq!(handler.counters().malformed, 0);
    (allocations, handler.publish().samples)
}

#[test]
fn messages_split_over_securities_do_not_allocate() {
    for mapping in [
        Mapping::TopicPerSecurity,
        Mapping::Keyed,
        Mapping::TopicPerType,
    ] {
        let options = ComplexOptions {
            messages: 1_000,
            ..ComplexOptions::default()
        };
        let generator = Generator::complex(options).expect("in range");
        let (allocations, samples) = warm_allocations(generator, mapping);
        assert_eq!(allocations, 0, "{mapping:?}");
        assert!(samples >= 2_000);
    }
}

#[test]
fn small_messages_do_not_allocate() {
    let options = SimpleOptions {
        messages: 4_000,
        ..SimpleOptions::default()
    };
    let generator = Generator::simple(options).expect("in range");
    assert_eq!(warm_allocations(generator, Mapping::Automatic), (0, 8_002));
}
