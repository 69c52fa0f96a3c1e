//! What a reader says to a scripted writer, submessage by submessage.

use crate::common::group::in_set;
use crate::common::reader_config;
use crate::common::script::Said::{AckNack, NackFrag};
use crate::common::script::{ReaderScript, WHERE, WRITER, kernel_timestamp};
use tickwire_base::Duration;
use tickwire_rtps::Place;
use tickwire_rtps::reader::{ReaderConfig, WriterProxy};
use tickwire_rtps::wire::{EntityId, Guid, SequenceNumber, StatusInfo, VendorId};

const SOON: Duration = Duration::from_millis(1);

/// A reader that has heard of an empty writer.
fn met() -> ReaderScript {
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(true, false);
    assert_eq!(script.heartbeat(1, 0, false), [AckNack(1, vec![], true)]);
    script
}

#[test]
fn a_writer_is_greeted_until_its_first_heartbeat() {
    let mut script = ReaderScript::new(reader_config());
    assert_eq!(
        script.match_writer(true, false),
        [AckNack(1, vec![], false)]
    );
    let greetings = script.wait(Duration::from_millis(800));
    assert_eq!(greetings, vec![AckNack(1, vec![], false); 3]);
    script.heartbeat(1, 0, true);
    assert_eq!(script.wait(Duration::from_secs(60)), []);
}

#[test]
fn a_writer_that_speaks_first_is_greeted_only_if_it_does_not() {
    let mut script = ReaderScript::new(reader_config());
    let proxy = WriterProxy {
        guid: WRITER,
        reliable: true,
        speaks_first: true,
        unicast: vec![WHERE],
        ..WriterProxy::default()
    };
    assert_eq!(script.match_proxy(proxy), []);
    assert_eq!(script.wait(Duration::from_millis(99)), []);
    let greetings = script.wait(Duration::from_millis(1));
    assert_eq!(greetings, [AckNack(1, vec![], false)]);
    assert_eq!(script.heartbeat(1, 0, false), [AckNack(1, vec![], true)]);
    assert_eq!(script.wait(Duration::from_secs(60)), []);
}

/// Each of many writers has as much to answer.
#[test]
fn of_many_writers_each_is_given_time() {
    let mut script = ReaderScript::new(reader_config());
    for key in 1..=50 {
        let greetings = script.match_proxy(WriterProxy {
            guid: Guid::new(WRITER.prefix, EntityId::user_writer(key, true)),
            reliable: true,
            unicast: vec![WHERE],
            ..WriterProxy::default()
        });
        assert_eq!(greetings.len(), 1);
    }
    assert_eq!(script.wait(Duration::from_millis(1224)), []);
    assert_eq!(script.wait(Duration::from_millis(1)).len(), 50);
}

#[test]
fn fast_dds_is_greeted_from_number_zero_on() {
    let mut script = ReaderScript::new(reader_config());
    let mut prefix = WRITER.prefix;
    prefix.0[..2].copy_from_slice(&VendorId::EPROSIMA.0);
    let proxy = WriterProxy {
        guid: Guid::new(prefix, WRITER.entity),
        reliable: true,
        unicast: vec![WHERE],
        ..WriterProxy::default()
    };
    assert_eq!(script.match_proxy(proxy), [AckNack(0, vec![], false)]);
}

#[test]
fn best_effort_says_nothing() {
    let mut script = ReaderScript::new(reader_config());
    assert_eq!(script.match_writer(false, false), []);
    assert_eq!(script.heartbeat(1, 5, false), []);
    script.data(3);
    script.data(5);
    script.data(4);
    assert_eq!(script.cache.numbers(), [3, 5]);
    assert_eq!(script.cache.lost, 1);
    assert_eq!(script.wait(Duration::from_secs(60)), []);
}

#[test]
fn a_sample_has_the_time_at_which_what_made_it_whole_came() {
    let mut script = met();
    let mut times = Vec::new();
    let mut pause = |script: &mut ReaderScript| {
        script.wait(SOON);
        times.push(Some(kernel_timestamp(script.now)));
    };
    pause(&mut script);
    script.data(2);
    pause(&mut script);
    script.data_frag(3, 1, 1, 8);
    pause(&mut script);
    script.data_frag(3, 2, 1, 8);
    pause(&mut script);
    script.data(1);
    let stamps = script.cache.samples.iter().map(|s| s.kernel_timestamp);
    let [two, _, three, one] = times[..] else {
        panic!("four things were said");
    };
    assert_eq!(script.cache.numbers(), [1, 2, 3]);
    assert!(stamps.eq([one, two, three]));
}

#[test]
fn a_heartbeat_is_answered_even_when_nothing_lacks_unless_it_is_final() {
    let mut script = met();
    script.data(1);
    assert_eq!(script.heartbeat(1, 1, false), [AckNack(2, vec![], true)]);
    assert_eq!(script.heartbeat(1, 1, true), []);
    // A final one is answered when something lacks.
    assert_eq!(script.heartbeat(1, 2, true), []);
    assert_eq!(script.wait(SOON), [AckNack(2, vec![2], true)]);
}

#[test]
fn a_hole_is_asked_for_without_waiting_for_a_heartbeat() {
    let mut script = met();
    for number in [1, 3, 6] {
        script.data(number);
    }
    assert_eq!(script.cache.numbers(), [1]);
    assert_eq!(script.wait(SOON), [AckNack(2, vec![2, 4, 5], true)]);
    for number in [4, 2, 5] {
        script.data(number);
    }
    assert_eq!(script.cache.numbers(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn what_only_overtook_another_is_not_asked_for() {
    let mut script = met();
    script.data(2);
    script.now = script.now + SOON / 2;
    script.data(1);
    let said = script.wait(Duration::from_secs(1));
    assert_eq!(said, [AckNack(3, vec![], true)]);
}

#[test]
fn a_heartbeat_that_has_overtaken_what_it_tells_of_is_answered_once_that_is_there() {
    for is_final in [false, true] {
        let mut script = met();
        assert_eq!(script.heartbeat(1, 4, is_final), []);
        assert_eq!(script.data(2), []);
        assert_eq!(script.data_frag(1, 1, 1, 8), []);
        assert_eq!(script.data_frag(1, 2, 1, 8), [], "others lack");
        assert_eq!(script.gap(4, 5, &[]), []);
        let at_once = script.data(3);
        let later = script.wait(SOON);
        let answer = [AckNack(5, vec![], true)];
        match is_final {
            false => assert_eq!((&at_once[..], &later[..]), (&answer[..], &[][..])),
            true => assert_eq!((&at_once[..], &later[..]), (&[][..], &answer[..])),
        }
        assert_eq!(script.data(6), []);
        assert_eq!(script.data(5), [], "no heartbeat has asked");
    }
}

#[test]
fn the_same_is_asked_for_again_only_after_a_while() {
    let mut script = met();
    script.heartbeat(1, 2, false);
    assert_eq!(script.wait(SOON), [AckNack(1, vec![1, 2], true)]);
    script.heartbeat(1, 2, false);
    assert_eq!(script.wait(SOON), []);
    assert_eq!(
        script.wait(Duration::from_millis(20)),
        [AckNack(1, vec![1, 2], true)]
    );
    // Without any reminder the pauses grow.
    let repeated = script.wait(Duration::from_secs(5)).len();
    assert!((6..=12).contains(&repeated), "{repeated}");
}

#[test]
fn history_is_asked_for_without_delay() {
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(true, false);
    assert_eq!(
        script.heartbeat(4, 6, false),
        [AckNack(4, vec![4, 5, 6], true)]
    );
    assert_eq!(
        script.cache.lost, 0,
        "what was before the match is not lost"
    );
}

#[test]
fn history_can_be_skipped() {
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(true, true);
    script.data(6);
    assert_eq!(script.cache.numbers(), []);
    assert_eq!(script.heartbeat(1, 6, false), [AckNack(7, vec![], true)]);
    assert_eq!(script.cache.numbers(), [6]);
}

#[test]
fn what_has_begun_to_come_before_the_first_heartbeat_is_not_skipped() {
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(true, true);
    script.data_frag(5, 1, 1, 8);
    assert_eq!(
        script.heartbeat(1, 6, false),
        [AckNack(5, vec![6], true), NackFrag(5, vec![2])]
    );
}

#[test]
fn a_writer_that_says_where_to_begin_is_not_skipped() {
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(true, true);
    script.gap(1, 5, &[]);
    assert_eq!(
        script.heartbeat(1, 6, false),
        [AckNack(5, vec![5, 6], true)]
    );
}

#[test]
fn what_the_writer_no_longer_holds_is_lost_and_counted() {
    let mut script = met();
    script.data(1);
    script.data(4);
    script.heartbeat(6, 6, true);
    assert_eq!(script.cache.numbers(), [1, 4]);
    assert_eq!(script.cache.lost, 3);
    assert_eq!(script.wait(SOON), [AckNack(6, vec![6], true)]);
}

#[test]
fn gaps_are_passed_over_without_loss() {
    let mut script = met();
    script.data(1);
    script.data(9);
    script.gap(2, 5, &[7]);
    assert_eq!(script.wait(SOON), [AckNack(5, vec![5, 6, 8], true)]);
    script.gap(5, 9, &[]);
    assert_eq!(script.cache.numbers(), [1, 9]);
    assert_eq!(script.cache.lost, 0);
}

#[test]
fn a_gap_does_not_take_back_what_has_come() {
    let mut script = met();
    script.data(3);
    script.gap(1, 5, &[]);
    assert_eq!(script.cache.numbers(), [3]);
}

#[test]
fn a_gap_counts_however_many_samples_wait_behind_it() {
    let mut script = met();
    let max_held = reader_config().max_held as i64;
    let beyond = 300 + max_held;
    (300..beyond).for_each(|number| drop(script.data(number)));
    assert_eq!(script.reader.counters().held, max_held as u64);
    // Of what is before them, every other sample is gone, and the others come after that is said.
    let gone: Vec<i64> = (46..300).step_by(2).collect();
    script.gap(1, 45, &gone);
    for number in (45..300).step_by(2) {
        script.data(number);
    }
    let all = (45..300).step_by(2).chain(300..beyond);
    assert!(script.cache.numbers().into_iter().eq(all));
    assert_eq!(script.reader.counters().dropped, 0);
}

#[test]
fn repeated_heartbeat_counts_are_ignored() {
    let mut script = met();
    script.heartbeat_with_count(1, 0, true, 50);
    assert_eq!(script.heartbeat_with_count(1, 0, false, 50), []);
    assert_eq!(script.heartbeat_with_count(1, 0, false, 49), []);
    assert_eq!(script.reader.counters().stale, 2);
    assert_eq!(
        script.heartbeat_with_count(1, 0, false, 51),
        [AckNack(1, vec![], true)]
    );
}

#[test]
fn a_sample_that_was_refused_is_not_acknowledged_and_comes_again() {
    let mut script = met();
    script.cache.room = 1;
    for number in 1..=3 {
        script.data(number);
    }
    assert_eq!(
        script.heartbeat(1, 3, false),
        [AckNack(2, vec![], true)],
        "neither acknowledged nor asked for"
    );
    assert_eq!(script.resume(2), [AckNack(3, vec![], true)]);
    assert_eq!(script.resume(9), [AckNack(4, vec![], true)]);
    assert_eq!(script.cache.numbers(), [1, 2, 3]);
    assert_eq!(script.resume(9), []);
}

#[test]
fn only_the_fragments_that_lack_are_asked_for() {
    let mut script = met();
    script.data_frag(1, 1, 2, 22);
    script.data_frag(1, 5, 1, 22);
    script.data_frag(2, 1, 1, 8);
    assert_eq!(script.wait(SOON), [], "they may be on their way");
    script.heartbeat(1, 3, false);
    assert_eq!(
        script.wait(SOON),
        [
            AckNack(1, vec![3], true),
            NackFrag(1, vec![3, 4, 6]),
            NackFrag(2, vec![2])
        ]
    );
    script.data_frag_of(1, 6, 1, 4, 22, &[1; 2]);
    script.data_frag(1, 3, 2, 22);
    assert_eq!(script.cache.numbers(), [1]);
    assert_eq!(script.cache.samples[0].payload, [1; 22]);
}

#[test]
fn a_heartbeat_frag_says_up_to_where_to_ask() {
    let mut script = met();
    script.data_frag(1, 1, 1, 400);
    script.data_frag(1, 3, 1, 400);
    script.heartbeat_frag(1, 4);
    let said = script.wait(Duration::from_millis(20));
    assert_eq!(said, [AckNack(1, vec![], true), NackFrag(1, vec![2, 4])]);
}

#[test]
fn a_heartbeat_frag_that_has_overtaken_what_it_tells_of_is_answered_once_that_is_there() {
    let mut ours = WRITER.prefix;
    ours.0[..2].copy_from_slice(&VendorId::TICKWIRE.0);
    for (writer, answer) in [(WRITER.prefix, &[][..]), (ours, &[NackFrag(1, vec![])][..])] {
        let mut script = ReaderScript::new(reader_config());
        script.writer.prefix = writer;
        script.match_writer(true, false);
        script.heartbeat(1, 0, false);
        script.data_frag(1, 1, 1, 16);
        assert_eq!(script.heartbeat_frag(1, 3), []);
        assert_eq!(script.data_frag(1, 3, 1, 16), [], "the second lacks");
        assert_eq!(script.data_frag(1, 2, 1, 16), answer);
        script.data_frag(2, 1, 1, 16);
        script.data_frag(2, 3, 1, 16);
        assert_eq!(script.heartbeat_frag(2, 4), []);
        // Of what is whole by then, all is acknowledged.
        script.data_frag(1, 4, 1, 16);
        script.data_frag(2, 4, 1, 16);
        let whole = match answer {
            [] => vec![],
            _ => vec![AckNack(3, vec![], true)],
        };
        assert_eq!(script.data_frag(2, 2, 1, 16), whole);
    }
}

#[test]
fn other_implementations_are_not_told_of_fragments_that_are_there() {
    let mut script = met();
    script.data_frag(1, 1, 2, 400);
    assert_eq!(script.heartbeat_frag(1, 2), []);
    assert_eq!(script.wait(Duration::from_millis(20)), []);
}

#[test]
fn a_heartbeat_frag_before_the_first_heartbeat_asks_for_nothing() {
    for skip_history in [false, true] {
        let mut script = ReaderScript::new(reader_config());
        script.match_writer(true, skip_history);
        script.data_frag(9, 1, 1, 8);
        script.heartbeat_frag(9, 2);
        script.data(12);
        assert_eq!(script.wait(Duration::from_millis(90)), []);
        // The first heartbeat says where to begin.
        assert_eq!(
            script.heartbeat(9, 12, false),
            [AckNack(9, vec![10, 11], true), NackFrag(9, vec![2])]
        );
    }
}

#[test]
fn what_came_before_the_first_heartbeat_from_far_ahead_is_forgotten() {
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(true, false);
    let far = 1_i64 << 40;
    script.data(far);
    script.data(3);
    assert_eq!(
        script.heartbeat(1, 3, false),
        [AckNack(1, vec![1, 2], true)]
    );
    let counters = *script.reader.counters();
    assert_eq!((counters.jumps, counters.dropped), (1, 1));
    script.data(1);
    script.data(2);
    assert_eq!(script.cache.numbers(), [1, 2, 3]);
    let said = script.wait(Duration::from_secs(60));
    assert_eq!(said, [AckNack(4, vec![], true)], "nothing lacks");
    // It is still too far.
    script.data(far);
    assert_eq!(script.reader.counters().jumps, 2);
    assert_eq!(script.wait(Duration::from_secs(60)), []);
}

#[test]
fn a_gap_before_the_first_heartbeat_says_nothing_of_what_the_writer_does_not_have() {
    let far = 1_i64 << 40;
    for start in [1, 3] {
        let mut script = ReaderScript::new(reader_config());
        script.match_writer(true, false);
        script.gap(start, far, &[far + 1]);
        assert_eq!(
            script.heartbeat(1, 3, false),
            [AckNack(1, vec![1, 2, 3], true)]
        );
        for number in 1..=4 {
            script.data(number);
        }
        assert_eq!(script.cache.numbers(), [1, 2, 3, 4]);
        assert_eq!(script.heartbeat(1, 4, false), [AckNack(5, vec![], true)]);
        assert_eq!(script.reader.counters().lost, 0);
    }
}

#[test]
fn a_gap_of_a_writers_former_life_is_forgotten() {
    let mut script = met();
    for number in 1..=9 {
        script.data(number);
    }
    script.heartbeat(1, 9, false);
    script.now = script.now + Duration::from_secs(2);
    script.heartbeat_with_count(1, 2, false, 1);
    script.heartbeat_with_count(1, 2, true, 2);
    assert_eq!(script.reader.counters().restarts, 1);
    // Its first heartbeat has been heard: a GAP is believed as far as a jump is.
    script.gap(1, 1 << 40, &[]);
    script.data(1);
    script.data(2);
    assert_eq!(script.cache.numbers()[9..], [1, 2]);
}

#[test]
fn fragments_that_stop_coming_are_given_up() {
    let mut script = ReaderScript::new(ReaderConfig {
        reliable: false,
        ..reader_config()
    });
    script.match_writer(true, false);
    script.data_frag(1, 1, 1, 8);
    script.wait(Duration::from_secs(10));
    assert_eq!(script.reader.counters().partial_dropped, 1);
    assert_eq!(script.reader.poll_timeout(), None);
    script.data_frag(1, 2, 1, 8);
    assert_eq!(script.cache.numbers(), []);
}

#[test]
fn two_heartbeats_that_step_back_are_a_restart() {
    let mut script = met();
    for number in 1..=9 {
        script.data(number);
    }
    script.heartbeat(1, 9, false);
    script.now = script.now + Duration::from_secs(2);
    script.heartbeat_with_count(1, 2, false, 1);
    assert_eq!(script.reader.counters().restarts, 0);
    assert_eq!(
        script.heartbeat_with_count(1, 2, false, 2),
        [AckNack(1, vec![1, 2], true)]
    );
    assert_eq!(script.reader.counters().restarts, 1);
}

#[test]
fn a_sample_that_says_what_must_be_understood_but_is_not_is_passed_over() {
    let unknown = |id: u16| {
        let [low, high] = id.to_le_bytes();
        [low, high, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    };
    let mut script = met();
    script.data_with_qos(1, &unknown(0x3fff));
    script.data_with_qos(2, &unknown(0x7fff));
    script.data(3);
    assert_eq!(script.cache.numbers(), [1, 3]);
    assert_eq!(script.reader.counters().not_understood, 1);
    assert_eq!(script.heartbeat(1, 3, false), [AckNack(4, vec![], true)]);
}

/// A parameter list with one parameter.
fn with_parameter(id: u16, value: &[u8]) -> Vec<u8> {
    let mut list = Vec::from(id.to_le_bytes());
    list.extend(u16::try_from(value.len()).expect("short").to_le_bytes());
    list.extend(value);
    list.extend([1, 0, 0, 0]);
    list
}

#[test]
fn what_a_filter_takes_out_is_passed_over_in_one_piece_or_several() {
    let filtered = with_parameter(0x0071, &StatusInfo::FILTERED.0.to_be_bytes());
    let mut script = met();
    script.data_with_qos(1, &filtered);
    script.data_in_two_with_qos(2, &filtered);
    script.data_in_two_with_qos(3, &[]);
    assert_eq!(script.cache.numbers(), [3]);
    assert_eq!(script.heartbeat(1, 3, false), [AckNack(4, vec![], true)]);
}

#[test]
fn the_original_writer_and_the_place_of_fragments_are_only_looked_at_if_they_are_asked_for() {
    let mut original = Vec::from([9; 16]);
    original.extend([0, 0, 0, 0, 5, 0, 0, 0]);
    let relayed = with_parameter(0x0061, &original);
    let in_set = in_set(1, 7);
    for config in [
        reader_config(),
        ReaderConfig {
            originals: true,
            places: true,
            ..reader_config()
        },
    ] {
        let looks = config.originals;
        let mut script = ReaderScript::new(config);
        script.match_writer(true, false);
        script.heartbeat(1, 0, true);
        for number in [1, 3] {
            script.data_with_qos(number, &relayed);
            script.data_in_two_with_qos(number + 1, &relayed);
        }
        let known = script.reader.counters().known;
        assert_eq!(known, if looks { 3 } else { 0 });
        script.data_with_qos(5, &in_set);
        script.data_in_two_with_qos(6, &in_set);
        let [.., whole, fragmented] = &script.cache.samples[..] else {
            panic!("two samples at least");
        };
        assert_eq!(whole.place, fragmented.place);
        assert_eq!(whole.place != Place::default(), looks);
    }
}

#[test]
fn what_a_writer_leaves_behind_undelivered_is_counted() {
    let mut script = met();
    script.cache.room = 1;
    for number in [1, 2, 5] {
        script.data(number);
    }
    script.data_frag(7, 1, 1, 8);
    assert!(script.reader.unmatch_writer(WRITER, &mut script.cache));
    assert_eq!(script.reader.counters().abandoned, 3);
}

#[test]
fn what_is_missing_of_a_writer_that_says_its_last_number_is_lost() {
    let last = SequenceNumber(9);
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(false, false);
    // Of a writer of which nothing has come it is not known what was meant for us.
    script.reader.has_written(WRITER, last, &mut script.cache);
    assert_eq!(script.reader.counters().lost, 0);
    script.data(5);
    script.data(6);
    script.data_frag(7, 1, 1, 8);
    for _ in 0..2 {
        script.reader.has_written(WRITER, last, &mut script.cache);
        assert_eq!(script.reader.counters().lost, 3, "once");
    }
    // Nor is one believed that is farther away than any sample would be.
    let far = SequenceNumber(i64::MAX - 1);
    script.reader.has_written(WRITER, far, &mut script.cache);
    assert_eq!(script.reader.counters().lost, 3);
    assert!(script.reader.unmatch_writer(WRITER, &mut script.cache));
    assert_eq!(script.reader.counters().abandoned, 0);

    let mut reliable = met();
    for number in [1, 3, 6] {
        reliable.data(number);
    }
    reliable
        .reader
        .has_written(WRITER, SequenceNumber(7), &mut reliable.cache);
    let numbers = reliable.cache.numbers();
    assert_eq!(numbers, [1, 3, 6], "what has come is delivered");
    assert_eq!(reliable.reader.counters().lost, 4);
}

#[test]
fn partial_samples_that_make_way_are_counted() {
    let mut script = ReaderScript::new(ReaderConfig {
        max_partial: 1,
        ..reader_config()
    });
    script.match_writer(true, false);
    script.data_frag(2, 1, 1, 8);
    script.data_frag(1, 1, 1, 8);
    assert_eq!(script.reader.counters().partial_dropped, 1);
}

#[test]
fn every_fragment_that_lacks_is_asked_for_wherever_the_first_one_stands() {
    let mut script = met();
    // Of 400 fragments lack the 10th and, beyond the reach of its set, the 325th.
    for number in (1..=400).filter(|number| ![10, 325].contains(number)) {
        script.data_frag(1, number, 1, 1600);
    }
    script.heartbeat(1, 1, false);
    assert_eq!(
        script.wait(SOON),
        [
            AckNack(1, vec![], true),
            NackFrag(1, vec![10]),
            NackFrag(1, vec![325])
        ]
    );
}

/// Whoever holds the memory of a long sample finds it as it was, whatever comes; what nobody holds is used again.
#[test]
fn the_memory_of_a_long_sample_can_be_held() {
    const LEN: usize = 100_000;
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(true, false);
    script.heartbeat(1, 0, true);
    let mut next = |number: u8| {
        for (start, len) in [(1, LEN - 40_000), (2, 40_000)] {
            let fragment = vec![number; len];
            let (first, all) = ((LEN - 40_000) as u16, LEN as u32);
            script.data_frag_of(number.into(), start, 1, first, all, &fragment);
        }
        script.cache.held.pop().expect("it is long")
    };
    let held = [1, 2].map(&mut next);
    assert_eq!(*held[0], [1; LEN]);
    assert_eq!(*held[1], [2; LEN]);
    let first = held[0].as_ptr();
    drop(held);
    assert_eq!(*next(3), [3; LEN]);
    let again = [4, 5].map(|number| next(number).as_ptr());
    assert!(again.contains(&first));
    // What is short is for the moment alone.
    script.data_frag_of(6, 1, 1, 8, 8, &[6; 8]);
    assert!(script.cache.held.is_empty());
}
