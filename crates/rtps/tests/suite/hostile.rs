//! Submessages that no honest peer sends: no panic, no growing memory, and honest ones still count.

use crate::common::script::{READER, ReaderScript, Said, WHERE, WRITER, WriterScript};
use crate::common::{keep_all, reader_config};
use tickwire_base::{Duration, Instant};
use tickwire_cdr::filter::Filter;
use tickwire_cdr::{Extensibility, Member, Type, TypeDescription};
use tickwire_rtps::reader::ReaderConfig;
use tickwire_rtps::wire::{GuidPrefix, MessageWriter};
use tickwire_rtps::writer::{FilterLimits, ReaderProxy, WriterConfig};
use tickwire_rtps::{Change, Outbox};
use tickwire_simnet::Rng;

const EDGES: [i64; 12] = [
    i64::MIN,
    i64::MIN + 1,
    -1,
    0,
    1,
    2,
    255,
    256,
    1 << 32,
    i64::MAX - 256,
    i64::MAX - 1,
    i64::MAX,
];

fn reader() -> ReaderScript {
    let mut script = ReaderScript::new(ReaderConfig {
        max_held: 64,
        max_sample_len: 1 << 16,
        max_partial: 4,
        max_partial_len: 1 << 17,
        ..reader_config()
    });
    script.match_writer(true, false);
    script
}

/// One number in two from the edges of the range, else a small one.
fn number(rng: &mut Rng) -> i64 {
    match rng.chance(500) {
        true => EDGES[rng.below(EDGES.len() as u64) as usize],
        false => rng.below(50) as i64,
    }
}

#[test]
fn a_reader_survives_whatever_a_writer_says() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut script = reader();
        for _ in 0..300 {
            let (a, b) = (number(&mut rng), number(&mut rng));
            match rng.below(7) {
                0 => script.data(a),
                1 => script.heartbeat(a, b, rng.chance(500)),
                2 => script.heartbeat_with_count(a, b, true, rng.next_u64() as u32),
                3 => script.gap(a, b, &[]),
                4 => script.heartbeat_frag(a, rng.next_u64() as u32),
                5 => script.wait(Duration::from_millis(rng.below(3000))),
                _ => {
                    let (start, count) = (rng.below(9) as u32, rng.below(9) as u16);
                    let size = if rng.chance(100) { u32::MAX } else { 64 };
                    let fragment = rng.below(17) as u16;
                    script.data_frag_of(a, start, count, fragment, size, &[0; 40])
                }
            };
        }
        assert!(script.cache.numbers().iter().all(|&number| number > 0));
    }
}

#[test]
fn a_writer_survives_whatever_a_reader_says() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut script = WriterScript::new(WriterConfig {
            max_message_len: 512,
            ..keep_all()
        });
        script.match_reader(seed % 2 == 0);
        for _ in 0..300 {
            let a = number(&mut rng);
            match rng.below(5) {
                0 => drop(script.write(if rng.chance(300) { 2000 } else { 40 })),
                1 => drop(script.acknack(a, &[], rng.chance(500))),
                2 => {
                    let asked = a.saturating_add(rng.below(200) as i64);
                    let said = script.acknack(a, &[asked], rng.chance(500));
                    assert!(said.len() < 1000, "bursts are bounded");
                }
                3 => {
                    let fragment = 1 + rng.below(1 << 33) as u32;
                    drop(script.nack_frag(a, &[fragment.max(1)]));
                }
                _ => drop(script.wait(Duration::from_millis(rng.below(3000)))),
            }
        }
    }
}

#[test]
fn a_heartbeat_that_contradicts_itself_is_not_taken() {
    let mut script = reader();
    assert_eq!(script.heartbeat(9, 7, false), []);
    assert_eq!(script.heartbeat(0, 7, false), []);
    assert_eq!(script.heartbeat(1, i64::MAX, false), []);
    assert_eq!(script.reader.counters().heartbeats, 0);
    assert_eq!(script.reader.counters().misbehaved, 3);
}

#[test]
fn early_samples_are_held_within_bounds() {
    let mut script = reader();
    for number in 2..10_000 {
        script.data(number);
    }
    assert_eq!(script.reader.counters().held, 64);
    script.heartbeat(1, 9_999, false);
    script.data(1);
    assert_eq!(script.cache.numbers().len(), 65);
}

#[test]
fn a_gap_over_everything_costs_nothing() {
    let mut script = reader();
    script.gap(2, i64::MAX - 1, &[]);
    script.heartbeat(1, 1, true);
    script.data(1);
    // Nor does it end what the writer has to say.
    script.data(2);
    assert_eq!(script.cache.numbers(), [1, 2]);
}

/// Nobody is told a number twice of one and the same run of numbers.
#[test]
fn a_first_heartbeat_far_behind_what_was_delivered_begins_anew() {
    let mut script = reader();
    script.data(1);
    script.gap(2, 1 << 32, &[]);
    script.data(1 << 32);
    assert_eq!(script.reader.counters().restarts, 0);
    script.heartbeat(1, 1, true);
    assert_eq!(script.reader.counters().restarts, 1);
    script.data(1);
    script.data(2);
    assert_eq!(script.cache.numbers(), [1, 1 << 32, 1, 2]);
}

#[test]
fn fragments_that_lie_about_their_sizes_are_refused() {
    let mut script = reader();
    // start, count, fragment size, sample size
    let lies: [(u32, u16, u16, u32); 9] = [
        (0, 1, 8, 64),
        (1, 0, 8, 64),
        (1, 1, 0, 64),
        (1, 1, 8, 0),
        (9, 1, 8, 64),
        (8, 2, 8, 64),
        (u32::MAX, u16::MAX, 8, 64),
        (1, 1, 64, 64),
        (1, 6, 8, 64),
    ];
    for (i, (start, count, fragment_size, sample_size)) in lies.into_iter().enumerate() {
        script.data_frag_of(
            1 + i as i64,
            start,
            count,
            fragment_size,
            sample_size,
            &[0; 40],
        );
    }
    assert_eq!(script.reader.counters().misbehaved, 9);
    // Larger than the reader takes, and than the machine has.
    script.data_frag_of(1, 1, 1, 8, u32::MAX, &[0; 8]);
    assert_eq!(script.reader.counters().partial_dropped, 1);
    // A change of mind about a sample that is half there.
    script.data_frag_of(20, 1, 1, 8, 16, &[0; 8]);
    script.data_frag_of(20, 2, 1, 8, 24, &[0; 8]);
    assert_eq!(script.reader.counters().misbehaved, 10);
}

#[test]
fn large_samples_in_fragments_that_are_mostly_header_are_refused() {
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(true, false);
    script.data_frag_of(1, 1, 1, 8, 1 << 20, &[0; 8]);
    assert_eq!(script.reader.counters().misbehaved, 1);
    script.data_frag_of(1, 1, 1, 64, 1 << 20, &[0; 64]);
    assert_eq!(script.reader.counters().misbehaved, 1);
}

#[test]
fn partial_samples_make_way_for_those_that_are_needed_first() {
    let mut script = reader();
    for number in (1..=100).rev() {
        script.data_frag_of(number, 1, 1, 8, 16, &[0; 8]);
    }
    for number in 1..=4 {
        script.data_frag_of(number, 2, 1, 8, 16, &[0; 8]);
    }
    assert_eq!(script.cache.numbers(), [1, 2, 3, 4]);
}

#[test]
fn strangers_are_not_listened_to() {
    let (mut reader, mut writer) = (reader(), WriterScript::new(keep_all()));
    writer.match_reader(false);
    let mut bytes = Vec::new();
    MessageWriter::new(&mut bytes, GuidPrefix([9; 12]))
        .heartbeat(&tickwire_rtps::wire::Heartbeat {
            reader: READER.entity,
            writer: WRITER.entity,
            first: crate::common::number(1),
            last: crate::common::number(9),
            count: 1,
            is_final: false,
            liveliness: false,
        })
        .acknack(&tickwire_rtps::wire::AckNack {
            reader: READER.entity,
            writer: WRITER.entity,
            state: tickwire_rtps::wire::SequenceNumberSet::empty(crate::common::number(1)),
            count: 1,
            is_final: false,
        });
    let (now, mut outbox) = (Instant::from_nanos(1), Outbox::new());
    crate::common::tell_writer(&mut writer.writer, now, &bytes, &mut outbox);
    let cache = &mut reader.cache;
    crate::common::tell_reader(&mut reader.reader, cache, now, &bytes, &mut outbox);
    assert!(outbox.is_empty());
    assert_eq!(writer.writer.counters().from_unmatched, 1);
    assert_eq!(reader.reader.counters().from_unmatched, 1);
}

fn filter(expression: &str) -> Box<Filter> {
    let members = vec![Member::new("number", 0, Type::U32)];
    let ty = TypeDescription::new("Sample", Extensibility::Final, members).expect("a type");
    Box::new(Filter::new(expression, &[""; 0], &ty).expect("a filter"))
}

/// A writer of 256 samples, whose numbers are `number(0..256)`, for a reader that wants number 1.
fn filtering_writer(burst_len: usize, number: impl Fn(u32) -> u32) -> WriterScript {
    let mut script = WriterScript::new(WriterConfig {
        burst_len,
        ..keep_all()
    });
    let proxy = ReaderProxy {
        guid: READER,
        reliable: true,
        filter: Some(filter("number = 1")),
        unicast: vec![WHERE],
        ..ReaderProxy::default()
    };
    let (now, outbox) = (script.now, &mut script.outbox);
    script.writer.match_reader(now, proxy, outbox);
    for n in 0..256 {
        let fill = |payload: &mut Vec<u8>| {
            payload.extend_from_slice(&[0, 7, 0, 0]);
            payload.extend_from_slice(&number(n).to_le_bytes());
            Ok::<_, ()>(())
        };
        let written = script.writer.write(now, &Change::default(), fill, outbox);
        written.expect("room for it");
    }
    crate::common::script::heard(outbox);
    script
}

fn count(said: &[Said], meant: impl Fn(&Said) -> bool) -> usize {
    said.iter().filter(|&one| meant(one)).count()
}

#[test]
fn a_request_for_what_a_reader_does_not_want_draws_one_gap() {
    let all: Vec<i64> = (1..=256).collect();
    let is_gap = |said: &Said| matches!(said, Said::Gap(..));
    let mut script = filtering_writer(64 << 10, |_| 0);
    assert_eq!(
        script.acknack(1, &all, true),
        [Said::Gap(1, 257), Said::Heartbeat(1, 256, false)]
    );
    // Every other one is wanted: the GAP lists those that are not.
    let mut script = filtering_writer(64 << 10, |n| n % 2);
    let said = script.acknack(1, &all, true);
    assert_eq!(count(&said, is_gap), 1);
    assert_eq!(count(&said, |said| matches!(said, Said::Data(_))), 128);
    // What was told just now is not told again.
    assert_eq!(script.acknack(1, &all, true), []);
    assert_eq!(script.writer.counters().suppressed, 256);
    script.wait(Duration::from_millis(10));
    assert_eq!(count(&script.acknack(1, &all, true), is_gap), 1);
}

#[test]
fn gaps_are_sent_in_bursts_as_samples_are() {
    let mut script = filtering_writer(100, |_| 0);
    let mut gaps = 0;
    for number in 1..=256 {
        let said = script.acknack(1, &[number], true);
        gaps += count(&said, |said| matches!(said, Said::Gap(..)));
    }
    assert!(gaps <= 4, "{gaps} GAPs in a burst of 100 bytes");
    let said = script.wait(Duration::from_millis(1));
    assert_eq!(said[0], Said::Gap(256, 257), "the last request is pending");
}

#[test]
fn small_samples_count_with_their_headers_in_bursts() {
    let mut script = filtering_writer(1_000, |_| 1);
    let mut samples = 0;
    for number in 1..=256 {
        let said = script.acknack(1, &[number], true);
        samples += count(&said, |said| matches!(said, Said::Data(_)));
    }
    assert!(
        samples <= 1_000 / 56,
        "{samples} samples of 56 bytes and more"
    );
}

#[test]
fn filters_beyond_what_a_writer_evaluates_are_left_to_their_readers() {
    let mut filter_limits = FilterLimits::default();
    filter_limits.max_filters = 3;
    filter_limits.max_comparisons = 5;
    let mut script = WriterScript::new(WriterConfig {
        filter_limits,
        ..keep_all()
    });
    let mut match_reader = |key, expression| {
        let guid = tickwire_rtps::wire::EntityId::user_reader(key, true);
        let proxy = ReaderProxy {
            guid: tickwire_rtps::wire::Guid::new(READER.prefix, guid),
            reliable: true,
            filter: Some(filter(expression)),
            unicast: vec![WHERE],
            ..ReaderProxy::default()
        };
        let (now, outbox) = (script.now, &mut script.outbox);
        script.writer.match_reader(now, proxy, outbox);
        script.writer.counters().filters_refused
    };
    assert_eq!(match_reader(1, "number = 1 OR number = 2"), 0);
    assert_eq!(match_reader(2, "number = 1 OR NOT number = 2"), 0);
    assert_eq!(match_reader(3, "number > 1 AND number < 3"), 1, "six");
    assert_eq!(match_reader(3, "number > 1"), 1);
    assert_eq!(match_reader(4, "number > 1"), 2, "four filters");
    assert_eq!(match_reader(2, "number > 1"), 2, "in place of its own");
}
