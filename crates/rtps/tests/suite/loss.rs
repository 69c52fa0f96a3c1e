//! What losses cost a reliable stream, in virtual time: a link of 50 µs, and datagrams of an Ethernet frame of which each
//! is lost for itself, in both directions.

use crate::common::{World, assert_samples, keep_all, reader_config};
use tickwire_base::{Duration, Instant};
use tickwire_rtps::writer::WriterConfig;
use tickwire_simnet::Link;

const LIMIT: Duration = Duration::from_secs(120);

/// A writer and a reader that have met.
fn pair(seed: u64, per_mille: u32) -> World {
    let link = Link {
        loss: per_mille,
        ..Link::PERFECT
    };
    let mut world = World::new(seed, link);
    let writer = world.add_writer(WriterConfig {
        max_message_len: 1472,
        ..keep_all()
    });
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    world.run(Duration::from_secs(1));
    world
}

/// How long a free stream takes.
fn stream(seed: u64, per_mille: u32, count: i64, len: usize) -> Duration {
    let mut world = pair(seed, per_mille);
    let begun = world.now();
    for _ in 0..count {
        world.write_blocking(0, len);
    }
    world.settle(LIMIT);
    assert_samples(&world.readers[0].cache, 1..=count, |_| len, seed);
    world.now().since(begun)
}

/// The time that 99 of 100 samples take at most if one is written each millisecond.
fn p99(seed: u64, per_mille: u32) -> Duration {
    let mut world = pair(seed, per_mille);
    let count = 5_000;
    let mut times = Vec::new();
    let mut written: Vec<Instant> = Vec::new();
    let mut next = world.now();
    while times.len() < count {
        if world.now() >= next && written.len() < count {
            written.push(next);
            world.write_blocking(0, 1024);
            next = next + Duration::from_millis(1);
        }
        let end = if written.len() < count {
            next
        } else {
            world.now() + LIMIT
        };
        world.step(end);
        let arrived = &written[times.len()..world.readers[0].cache.samples.len()];
        times.extend(arrived.iter().map(|&at| world.now().since(at)));
    }
    times.sort_unstable();
    times[count * 99 / 100]
}

/// Without a clock on how long repairs take, what was lost twice would wait for 20 ms, and half of these.
#[test]
fn what_is_lost_comes_within_milliseconds() {
    for (per_mille, limit) in [(10, 4), (50, 8), (200, 40)] {
        for seed in 0..3 {
            let time = p99(seed, per_mille);
            let limit = Duration::from_millis(limit);
            assert!(time < limit, "seed {seed}, {per_mille}: {time:?}");
        }
    }
}

#[test]
fn a_stream_goes_on_while_frames_get_lost() {
    let sizes = [(64, 4_000), (1024, 2_000), (65_536, 40), (1 << 20, 4)];
    // Of 50 and of 200 frames in a thousand; MB of payload in a second.
    for ((len, count), least) in sizes.into_iter().zip([(5, 1), (40, 3), (40, 3), (40, 10)]) {
        for (per_mille, least) in [(50, least.0), (200, least.1)] {
            let time = stream(7, per_mille, count, len);
            let bytes = len as u128 * count.unsigned_abs() as u128;
            let rate = bytes / time.as_micros();
            assert!(rate >= least, "{len} B, {per_mille}: {rate} MB/s");
        }
    }
}

/// What a free stream of 1 KB has in MB of payload a second, and of 1,000 samples, for how many a datagram was dropped as
/// too many were waiting.
fn stream_over(seed: u64, link: Link, count: i64) -> (f64, u64) {
    let mut world = World::new(seed, link);
    let writer = world.add_writer(WriterConfig {
        max_message_len: 1472,
        ..keep_all()
    });
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    world.run(Duration::from_secs(1));
    let begun = world.now();
    for _ in 0..count {
        world.write_blocking(0, 1024);
    }
    world.settle(LIMIT);
    assert_samples(&world.readers[0].cache, 1..=count, |_| 1024, seed);
    let micros = world.now().since(begun).as_micros();
    let overflowed = world.network.totals().overflowed;
    let rate = 1024.0 * count as f64 / micros as f64;
    (rate, overflowed * 1_000 / count.unsigned_abs())
}

const GIGABIT: Link = Link {
    bytes_per_second: 125_000_000,
    queue_bytes: 200_000,
    ..Link::PERFECT
};

/// Where each loss halved the window, these would have 11 and 1.3 MB/s.
#[test]
fn a_window_that_losses_do_not_depend_on_stays_open() {
    for (delay, least) in [(50, 15.0), (1_000, 6.0)] {
        let link = Link {
            loss: 200,
            delay: Duration::from_micros(delay),
            queue_bytes: 500_000,
            ..GIGABIT
        };
        for seed in 0..3 {
            let (rate, _) = stream_over(seed, link, 8_000);
            assert!(rate >= least, "seed {seed}, {delay} us: {rate} MB/s");
        }
    }
}

#[test]
fn a_link_that_is_too_slow_is_not_flooded() {
    // A gigabit, and a tenth of it over 5 ms; both lose nothing, or one in a hundred.
    let far = Link {
        bytes_per_second: 12_500_000,
        queue_bytes: 100_000,
        delay: Duration::from_millis(5),
        ..GIGABIT
    };
    for (link, least, most) in [(GIGABIT, 80.0, 200), (far, 2.0, 200)] {
        for loss in [0, 10] {
            // Where the last acknowledgement is lost, the stream ends a heartbeat period later.
            let mut all = [7, 8, 9].map(|seed| stream_over(seed, Link { loss, ..link }, 8_000));
            all.sort_by(|one, other| one.0.total_cmp(&other.0));
            let (rate, overflowed) = all[1];
            let told = format!("{loss} of 1000 lost: {rate} MB/s, {overflowed} of 1000 dropped");
            assert!(rate >= least && overflowed <= most, "{told}");
        }
    }
}
