//! Whole conversations about samples: a writer and a reader of ours talk over a network that loses,
//! repeats and reorders, while another participant, matched with both, says whatever it likes: data,
//! heartbeats, gaps, fragments, coherent sets, acknowledgements, requests, raw bytes.
//!
//! Nothing panics. Each writer's samples come in ascending order, none twice. What is said back is
//! bounded by what was said, and by the burst that the writer is allowed. What is kept is bounded,
//! too. When the network is honest again, every sample has arrived, whole.
#![no_main]

mod hostile;
mod world;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use libfuzzer_sys::fuzz_target;
use tickwire_base::Duration;
use tickwire_cdr::filter::Filter;
use tickwire_cdr::{Extensibility, Member, Type, TypeDescription};
use tickwire_rtps::ChangeKind;

use hostile::Bytes;
use world::{HOSTILE, World};

/// Counts the bytes that are allocated now.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn filter(bits: u8) -> Option<Filter> {
    let members = vec![Member::new("number", 0, Type::U32)];
    let ty = TypeDescription::new("Sample", Extensibility::Final, members).ok()?;
    let expression = ["number > 7", "number < 3", "number = 5"][usize::from(bits) % 3];
    Filter::new(expression, &[""; 0], &ty).ok()
}

fuzz_target!(|input: &[u8]| {
    let mut input = Bytes(input);
    let mut world = World::new(input.byte());
    while !input.0.is_empty() {
        match input.byte() % 16 {
            0 => {
                let len = [0, 40, 900, 3_000][input.below(4)];
                world.write(len, ChangeKind::Alive);
            }
            1 => world.write(0, ChangeKind::from_status_info(input.byte().into())),
            2..5 => world.deliver_first(),
            5 => drop(world.queue.pop_front()),
            6 => {
                if let Some(first) = world.queue.front().cloned() {
                    world.queue.push_back(first);
                }
            }
            7 => {
                let by = input.below(world.queue.len().max(1));
                world.queue.rotate_left(by);
            }
            8 => {
                let ms = 1 << (input.byte() % 15);
                world.pass(Duration::from_millis(ms), false);
            }
            9 => {
                let len = input.byte().into();
                let mut datagram = b"RTPS\x02\x05\x01\x54".to_vec();
                datagram.extend_from_slice(&HOSTILE.0);
                datagram.extend_from_slice(input.take(len));
                world.deliver(true, true, &datagram);
            }
            10 => {
                let bits = input.byte();
                match bits & 1 {
                    0 => world.set(bits & 2 == 0),
                    _ => {
                        world.cache.is_full = bits & 2 != 0;
                        let (now, sink) = (world.now, &mut world.cache);
                        world.reader.resume(now, sink, &mut world.outbox);
                        world.sent();
                    }
                }
            }
            11 => {
                let bits = input.byte();
                let key = 1 + u32::from(bits & 1);
                world.unmatch_hostile(key);
                world.match_hostile_reader(key, bits & 2 != 0, filter(bits >> 2));
                world.match_hostile_writer(key, bits & 4 != 0);
            }
            _ => world.hostile(&mut input),
        }
    }

    world.cache.is_full = false;
    world.unmatch_hostile(1);
    world.unmatch_hostile(2);
    world.set(false);
    let sink = &mut world.cache;
    world.reader.resume(world.now, sink, &mut world.outbox);
    world.sent();
    world.pass(Duration::from_secs(60), true);
    assert_eq!(world.cache.lost, 0);
    assert_eq!(world.cache.ours.len(), world.written.len());
    for (got, sent) in world.cache.ours.iter().zip(&world.written) {
        assert!(got >= sent && got - sent < 4, "{got} bytes of {sent}");
    }
});
