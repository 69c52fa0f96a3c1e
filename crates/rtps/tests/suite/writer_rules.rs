//! What a writer says to a scripted reader, submessage by submessage.

use crate::common::script::Said;
use crate::common::script::Said::{Data, DataFrag, Gap, Heartbeat, HeartbeatFrag};
use crate::common::script::{READER, WHERE, WriterScript};
use crate::common::{keep_all, keep_last};
use std::net::{Ipv4Addr, SocketAddrV4};

use tickwire_base::{Channel, Duration, Locator, StreamAddress};
use tickwire_rtps::Change;
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix};
use tickwire_rtps::writer::{ReaderProxy, WriterConfig};

const RTT: Duration = Duration::from_millis(1);
/// What a datagram of 512 bytes holds of a sample.
const FRAGMENT: usize = 360;

/// A reader that has said hello, after `samples` samples of 40 bytes, none acknowledged.
fn met(config: WriterConfig, samples: i64) -> WriterScript {
    let mut script = WriterScript::new(config);
    script.match_reader(false);
    script.acknack(1, &[], true);
    for number in 1..=samples {
        assert_eq!(script.write(40), Ok(vec![Data(number)]));
    }
    script
}

#[test]
fn a_new_reader_is_greeted_until_it_answers() {
    let mut script = WriterScript::new(keep_all());
    assert_eq!(script.match_reader(false), [Heartbeat(1, 0, false)]);
    let beats = script.wait(Duration::from_millis(35));
    assert_eq!(beats.len(), 2, "after 10 and 20 ms: {beats:?}");
    script.acknack(1, &[], true);
    assert_eq!(script.wait(Duration::from_secs(60)), []);
    assert_eq!(script.writer.poll_timeout(), None);
}

#[test]
fn the_first_sample_to_a_new_reader_carries_a_heartbeat() {
    let mut script = WriterScript::new(keep_all());
    script.match_reader(false);
    assert_eq!(script.write(40), Ok(vec![Data(1), Heartbeat(1, 1, false)]));
}

#[test]
fn a_reader_that_stays_silent_does_not_make_every_sample_carry_a_heartbeat() {
    let mut script = WriterScript::new(keep_all());
    script.match_reader(false);
    script.wait(Duration::from_secs(1));
    for number in 1..=100 {
        assert_eq!(script.write(40), Ok(vec![Data(number)]));
    }
    assert_eq!(
        script.wait(Duration::from_secs(10)).last(),
        Some(&Heartbeat(1, 100, false))
    );
}

#[test]
fn a_greeting_is_answered_at_once_whatever_its_base() {
    let mut script = met(keep_all(), 3);
    assert_eq!(script.acknack(0, &[], false), [Heartbeat(1, 3, false)]);
    assert_eq!(script.acknack(1, &[], false), [Heartbeat(1, 3, false)]);
    assert_eq!(script.acknack(4, &[], true), []);
    // One who has everything need not answer, and its acknowledgement stands.
    assert_eq!(script.acknack(0, &[], false), [Heartbeat(4, 3, true)]);
    assert!(script.writer.is_acknowledged(crate::common::number(3)));
}

#[test]
fn a_late_volatile_reader_is_told_where_it_begins() {
    let mut script = WriterScript::new(WriterConfig {
        transient_local: true,
        ..keep_all()
    });
    for _ in 0..5 {
        script.write(40).expect("room");
    }
    assert_eq!(
        script.match_reader(false),
        [Gap(1, 6), Heartbeat(1, 5, false)]
    );
    assert!(script.writer.is_acknowledged(crate::common::number(5)));
    // It may ask all the same and is told again.
    assert_eq!(
        script.acknack(1, &[1, 2, 5], true),
        [Gap(1, 6), Heartbeat(1, 5, false)]
    );
}

#[test]
fn what_is_asked_for_is_sent_once_within_the_repair_interval() {
    let mut script = met(keep_all(), 5);
    assert_eq!(
        script.acknack(2, &[2, 4], true),
        [Data(2), Data(4), Heartbeat(2, 5, false)]
    );
    script.now = script.now + RTT / 4;
    assert_eq!(
        script.acknack(2, &[2, 4, 5], true),
        [Data(5), Heartbeat(2, 5, false)]
    );
    assert_eq!(script.writer.counters().suppressed, 2);
    script.now = script.now + Duration::from_millis(10);
    assert_eq!(
        script.acknack(2, &[2], true),
        [Data(2), Heartbeat(2, 5, false)]
    );
}

#[test]
fn repeated_and_old_counts_are_ignored_until_the_reader_restarts() {
    let mut script = met(keep_all(), 5);
    script.acknack_with_count(2, &[], true, 10);
    assert_eq!(script.acknack_with_count(2, &[2], true, 10), []);
    assert_eq!(script.acknack_with_count(6, &[], true, 9), []);
    assert!(!script.writer.is_acknowledged(crate::common::number(5)));
    assert_eq!(script.writer.counters().stale, 2);
    script.now = script.now + Duration::from_secs(2);
    script.acknack_with_count(6, &[], true, 1);
    assert!(script.writer.is_acknowledged(crate::common::number(5)));
}

#[test]
fn acknowledgement_of_what_was_never_sent_is_not_believed() {
    let mut script = met(keep_all(), 5);
    for base in [7, 1000, i64::MAX] {
        assert_eq!(script.acknack(base, &[], true), []);
    }
    assert_eq!(script.writer.counters().misbehaved, 3);
    assert!(!script.writer.is_acknowledged(crate::common::number(1)));
    assert_eq!(script.writer.history_len(), 5);
    // Nor is a request for it answered: a GAP would make the reader skip it when it comes.
    assert_eq!(script.acknack(6, &[6, 7], true), []);
    assert_eq!(script.write(40), Ok(vec![Data(6)]));
}

#[test]
fn replaced_samples_are_covered_by_one_gap() {
    let mut script = met(keep_last(1), 100);
    assert_eq!(
        script.acknack(1, &[1, 3, 50, 100], true),
        [Gap(1, 100), Data(100), Heartbeat(100, 100, false)]
    );
    assert_eq!(script.writer.counters().removed_before_ack, 99);
}

#[test]
fn heartbeats_to_a_silent_reader_become_rarer_and_end_with_its_acknowledgement() {
    let mut script = met(keep_all(), 1);
    let first_second = script.wait(Duration::from_secs(1)).len();
    let minute = script.wait(Duration::from_secs(59)).len();
    assert!((3..=10).contains(&first_second), "{first_second}");
    assert!((8..=20).contains(&minute), "{minute}");
    assert_eq!(script.acknack(2, &[], true), []);
    script.wait(Duration::from_secs(7));
    assert_eq!(script.writer.poll_timeout(), None);
}

/// A reader that never says anything.
fn silent_reader() -> ReaderProxy {
    ReaderProxy {
        guid: Guid::new(READER.prefix, EntityId::user_reader(99, true)),
        reliable: true,
        unicast: vec![WHERE],
        ..ReaderProxy::default()
    }
}

#[test]
fn one_reader_that_gets_further_does_not_have_the_others_reminded_more() {
    let mut script = met(keep_all(), 0);
    script.match_proxy(silent_reader());
    script.wait(Duration::from_secs(10));
    let mut reminders = 0;
    for number in 1..=100 {
        assert_eq!(script.write(40), Ok(vec![Data(number)]));
        assert_eq!(script.acknack(number + 1, &[], true), []);
        reminders += script.wait(Duration::from_secs(1)).len();
    }
    assert!((10..=20).contains(&reminders), "every 6.4 s: {reminders}");
}

#[test]
fn a_reader_that_begins_to_lag_is_reminded_after_a_period_whatever_others_do() {
    let mut script = met(keep_all(), 0);
    script.match_proxy(silent_reader());
    script.wait(Duration::from_secs(13));
    assert_eq!(script.write(40), Ok(vec![Data(1)]));
    assert_eq!(script.wait(Duration::from_millis(99)), []);
    let beats = script.wait(Duration::from_millis(1));
    assert_eq!(beats, [Heartbeat(1, 1, false)]);
    // Further, but not there yet: the pace begins anew.
    script.wait(Duration::from_secs(2));
    assert_eq!(script.write(40), Ok(vec![Data(2)]));
    assert_eq!(script.acknack(2, &[], true), []);
    assert_eq!(script.wait(Duration::from_millis(99)), []);
    let beats = script.wait(Duration::from_millis(1));
    assert_eq!(beats, [Heartbeat(1, 2, false)]);
}

#[test]
fn a_reader_that_is_known_to_have_matched_gets_its_history_unasked() {
    let mut script = WriterScript::new(WriterConfig {
        transient_local: true,
        ..keep_all()
    });
    for _ in 0..3 {
        script.write(40).expect("room");
    }
    let proxy = ReaderProxy {
        guid: READER,
        wants_history: true,
        has_matched: true,
        ..silent_reader()
    };
    assert_eq!(
        script.match_proxy(proxy),
        [Data(1), Data(2), Data(3), Heartbeat(1, 3, false)]
    );
    // It asked before that came.
    assert_eq!(script.acknack(1, &[1, 2, 3], true), []);
    assert_eq!(script.acknack(4, &[], true), []);
    assert_eq!(script.wait(Duration::from_secs(60)), []);
}

#[test]
fn a_reader_that_speaks_first_is_told_nothing_unless_it_stays_silent() {
    let mut script = WriterScript::new(keep_all());
    let proxy = ReaderProxy {
        guid: READER,
        speaks_first: true,
        ..silent_reader()
    };
    assert_eq!(script.match_proxy(proxy), []);
    assert_eq!(
        script.wait(Duration::from_millis(10)),
        [Heartbeat(1, 0, false)]
    );
    assert_eq!(script.acknack(1, &[], false), [Heartbeat(1, 0, true)]);
    assert_eq!(script.wait(Duration::from_secs(60)), []);
}

#[test]
fn a_reader_is_told_first_where_it_learns_of_the_writer() {
    let behind = Locator::udp_v4(Ipv4Addr::LOCALHOST, 7410);
    let mut script = WriterScript::new(keep_all());
    let proxy = ReaderProxy {
        introduced_at: vec![behind],
        ..silent_reader()
    };
    let now = script.now;
    script.writer.match_reader(now, proxy, &mut script.outbox);
    let to: Vec<_> = script.outbox.datagrams().map(|(_, to)| to).collect();
    assert_eq!(to, [[behind]]);
    script.outbox.clear();
    script.write(40).expect("room");
    assert_eq!(script.write(40), Ok(vec![Data(2), Heartbeat(1, 2, false)]));
}

#[test]
fn a_quarter_of_the_unacknowledged_bytes_asks_for_acknowledgement() {
    let mut script = met(
        WriterConfig {
            max_unacknowledged_len: 4 * 10 * (256 + 40),
            ..keep_all()
        },
        9,
    );
    assert_eq!(
        script.write(40),
        Ok(vec![Data(10), Heartbeat(1, 10, false)])
    );
    assert_eq!(script.write(40), Ok(vec![Data(11)]));
}

#[test]
fn whoever_waits_for_acknowledgement_can_ask_for_it() {
    let mut script = met(keep_all(), 2);
    for _ in 0..3 {
        script
            .writer
            .ask_acknowledgement(script.now, &mut script.outbox);
    }
    assert_eq!(
        crate::common::script::heard(&mut script.outbox),
        [Heartbeat(1, 2, false)]
    );
    script.acknack(3, &[], true);
    script
        .writer
        .ask_acknowledgement(script.now, &mut script.outbox);
    assert!(script.outbox.is_empty(), "nobody lags");
}

/// Fragments of [`FRAGMENT`] bytes.
fn small_messages() -> WriterConfig {
    WriterConfig {
        max_message_len: 512,
        ..keep_all()
    }
}

#[test]
fn large_samples_go_in_fragments_with_a_heartbeat_after_the_last() {
    let mut script = met(small_messages(), 0);
    assert_eq!(script.write(FRAGMENT), Ok(vec![Data(1)]));
    assert_eq!(
        script.write(FRAGMENT + 1),
        Ok(vec![DataFrag(2, 1), DataFrag(2, 2), Heartbeat(1, 2, false)])
    );
}

#[test]
fn single_fragments_are_sent_again() {
    let mut script = met(small_messages(), 0);
    script.write(2000).expect("room");
    assert_eq!(
        script.nack_frag(1, &[2, 5]),
        [DataFrag(1, 2), DataFrag(1, 5), Heartbeat(1, 1, false)]
    );
    script.now = script.now + RTT / 4;
    assert_eq!(script.nack_frag(1, &[2, 5]), [], "they are on their way");
    assert_eq!(
        script.nack_frag(1, &[6, 200]),
        [DataFrag(1, 6), Heartbeat(1, 1, false)]
    );
}

#[test]
fn a_fragmented_sample_that_is_asked_for_whole_is_sent_whole() {
    let mut script = met(small_messages(), 0);
    script.write(1000).expect("room");
    assert_eq!(
        script.acknack(1, &[1], true),
        [
            DataFrag(1, 1),
            DataFrag(1, 2),
            DataFrag(1, 3),
            Heartbeat(1, 1, false)
        ]
    );
}

#[test]
fn repairs_keep_to_bursts() {
    let mut script = met(
        WriterConfig {
            burst_len: 3 * FRAGMENT,
            max_unacknowledged_len: 1,
            ..small_messages()
        },
        0,
    );
    assert_eq!(
        script.write(FRAGMENT * 8),
        Ok(vec![
            DataFrag(1, 1),
            DataFrag(1, 2),
            DataFrag(1, 3),
            HeartbeatFrag(1, 3)
        ])
    );
    assert_eq!(script.wait(Duration::from_micros(500)).len(), 4);
    assert_eq!(
        script.wait(Duration::from_micros(500)),
        [DataFrag(1, 7), DataFrag(1, 8), Heartbeat(1, 1, false)]
    );
    script.wait(Duration::from_millis(50));
    assert_eq!(script.acknack(1, &[1], true).len(), 3);
    assert_eq!(script.wait(Duration::from_micros(500)).len(), 3);
    let rest = script.wait(Duration::from_micros(500));
    assert_eq!(
        rest,
        [DataFrag(1, 7), DataFrag(1, 8), Heartbeat(1, 1, false)]
    );
}

#[test]
fn fragments_follow_as_those_before_them_are_acknowledged() {
    let mut script = met(
        WriterConfig {
            // A window of 16 KiB, a fragment counting with all around it, and no bursts to speak of.
            max_unacknowledged_len: 1 << 16,
            burst_len: 1,
            burst_interval: Duration::from_secs(3600),
            ..small_messages()
        },
        0,
    );
    let said = script.write(FRAGMENT * 100).expect("room");
    let fragments = |said: &[Said]| {
        let of = said.iter().filter(|said| matches!(said, DataFrag(..)));
        of.count()
    };
    let first = fragments(&said);
    assert!((20..100).contains(&first), "{first}");
    let first_len = u32::try_from(first).expect("few");
    assert_eq!(said.last(), Some(&HeartbeatFrag(1, first_len)));
    let asks = said.iter().filter(|said| matches!(said, HeartbeatFrag(..)));
    assert!((3..=5).contains(&asks.count()), "{said:?}");
    // One of the first was the burst.
    assert_eq!(fragments(&script.ack_fragments(1, 11)), 9);
    assert_eq!(fragments(&script.ack_fragments(1, 11)), 0, "nothing new");
    let before = script.writer.counters().misbehaved;
    assert_eq!(script.ack_fragments(1, first_len + 11), [], "not sent yet");
    assert_eq!(script.ack_fragments(2, 2), [], "never written");
    assert_eq!(script.writer.counters().misbehaved, before + 2);
    let said = script.ack_fragments(1, first_len + 10);
    assert_eq!(fragments(&said), (100 - first - 9).min(first - 1));
}

#[test]
fn a_sample_still_being_sent_is_not_announced() {
    let mut script = met(
        WriterConfig {
            burst_len: FRAGMENT,
            burst_interval: Duration::from_secs(1),
            max_unacknowledged_len: 1,
            max_message_len: 512,
            ..keep_last(10)
        },
        0,
    );
    assert_eq!(
        script.write(1000),
        Ok(vec![DataFrag(1, 1), HeartbeatFrag(1, 1)])
    );
    assert_eq!(script.acknack(1, &[], false), [Heartbeat(1, 0, true)]);
    assert_eq!(
        script.nack_frag(1, &[1, 2]),
        [],
        "the burst is used up, and 2 will come anyway"
    );
    assert_eq!(script.write(40), Ok(vec![]), "what comes after it waits");
    let rest = script.wait(Duration::from_secs(4));
    let sent = rest
        .iter()
        .filter(|said| matches!(said, Data(_) | DataFrag(..)));
    assert_eq!(
        sent.cloned().collect::<Vec<_>>(),
        [DataFrag(1, 1), DataFrag(1, 2), DataFrag(1, 3), Data(2)]
    );
}

#[test]
fn what_goes_by_streams_alone_is_longer_than_a_datagram_and_still_whole() {
    let stream = |owner: u8| {
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7410);
        let (owner, channel) = ([owner; 12], Channel::Data);
        StreamAddress {
            owner,
            address,
            channel,
        }
        .to_locator()
    };
    let proxy = |id: u8, at: Locator| ReaderProxy {
        guid: Guid {
            prefix: GuidPrefix([id; 12]),
            ..READER
        },
        unicast: vec![at],
        ..ReaderProxy::default()
    };
    let to = |readers: [ReaderProxy; 2]| {
        let mut script = WriterScript::new(WriterConfig {
            max_message_len: 512,
            max_stream_message_len: 100_000,
            ..keep_all()
        });
        for reader in readers {
            let outbox = &mut script.outbox;
            script.writer.match_reader(script.now, reader, outbox);
        }
        script
    };
    // How long the messages of a sample are.
    let write = |script: &mut WriterScript, len: usize| -> Vec<usize> {
        let fill = |buffer: &mut Vec<u8>| -> Result<(), ()> {
            buffer.resize(buffer.len() + len, 0x5a);
            Ok(())
        };
        let outbox = &mut script.outbox;
        let before = outbox.len();
        let written = script
            .writer
            .write(script.now, &Change::default(), fill, outbox);
        written.expect("room");
        let messages = outbox.datagrams().skip(before);
        messages.map(|(bytes, _)| bytes.len()).collect()
    };
    let mut script = to([proxy(7, stream(7)), proxy(8, stream(8))]);
    let whole = write(&mut script, 99_000);
    assert!(matches!(whole[..], [99_000..100_000]), "{whole:?}");
    // Its submessage is longer than its header can say, so that it ends with the message: what comes
    // after it has another.
    assert_eq!(write(&mut script, 40).len(), 1);
    // As many as may go at once of what nobody acknowledges.
    let fragments = write(&mut script, 100_000);
    assert!(fragments.len() > 1 && fragments.iter().all(|len| *len <= 512));
    // A datagram is no longer for there being a stream beside it.
    let mut script = to([proxy(7, stream(7)), proxy(9, WHERE)]);
    let fragments = write(&mut script, 1000);
    assert_eq!(fragments.len(), 1000_usize.div_ceil(FRAGMENT));
}

#[test]
fn of_changes_in_fragments_that_follow_each_other_at_once_the_first_is_asked_about_and_the_rest_soon()
 {
    let config = WriterConfig {
        max_message_len: 512,
        ..keep_all()
    };
    let pause = config.heartbeat_period / 100;
    let mut script = met(config, 0);
    let fragments = |number| [DataFrag(number, 1), DataFrag(number, 2)];
    let asked = |number| {
        let [one, other] = fragments(number);
        vec![one, other, Heartbeat(1, number, false)]
    };
    assert_eq!(script.write(2 * FRAGMENT), Ok(asked(1)));
    assert_eq!(script.write(2 * FRAGMENT), Ok(fragments(2).to_vec()));
    assert_eq!(script.wait(pause * 9), []);
    assert_eq!(script.wait(pause), [Heartbeat(1, 2, false)]);
    assert_eq!(script.write(2 * FRAGMENT), Ok(asked(3)));
}

/// A long payload that is serialized already changes hands, and its memory comes back with what was in it.
#[test]
fn long_payloads_change_hands() {
    let mut script = met(keep_all(), 0);
    let mut write = |payload: &mut Vec<u8>, number: i64| {
        let (now, change) = (script.now, Change::default());
        let written =
            script
                .writer
                .write_serialized::<()>(now, &change, payload, &mut script.outbox);
        assert_eq!(written, Ok(crate::common::number(number)));
        script.wait(Duration::from_secs(1));
        script.acknack(number + 1, &[], true);
        assert!(script.writer.is_acknowledged(crate::common::number(number)));
    };
    let mut payload = vec![1; 70_000];
    let first = payload.as_ptr();
    write(&mut payload, 1);
    assert_eq!(payload.capacity(), 0, "nothing is left over yet");
    payload = vec![2; 70_000];
    write(&mut payload, 2);
    assert_eq!(payload, [1; 70_000]);
    assert_eq!(payload.as_ptr(), first);
}
