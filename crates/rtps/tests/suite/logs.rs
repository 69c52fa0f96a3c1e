//! What goes to all readers by a log goes there straight from the history, in messages of any length.

use std::net::Ipv4Addr;

use crate::common::plain_sample::message_of;
use std::cell::Cell;
use std::rc::Rc;
use tickwire_base::{Instant, Locator, Timestamp};

use tickwire_rtps::wire::{
    EntityId, Guid, GuidPrefix, MessageReader, PlainSample, SequenceNumber, SerializedPayload,
    Submessage,
};
use tickwire_rtps::writer::{
    HistoryKind, LENT_HEAD_LEN, Lent, Log, ReaderProxy, WriteError, Writer, WriterConfig,
};
use tickwire_rtps::{Change, Outbox};

const US: GuidPrefix = GuidPrefix([1; 12]);
const NEIGHBOUR: GuidPrefix = GuidPrefix([2; 12]);
const STRANGER: GuidPrefix = GuidPrefix([3; 12]);
const WRITER: EntityId = EntityId::user_writer(1, true);
const MAX_LEN: usize = 200_000;
const TIME: Timestamp = Timestamp::from_nanos(1_700_000_000_000_000_001);

/// Keeps what is published.
#[derive(Default)]
struct Kept {
    messages: Vec<Vec<u8>>,
    /// Of those that lay ready.
    lent: Vec<Vec<u8>>,
    /// What readers say beside the log, and how many participants have been looked at for it.
    said: Vec<(Guid, SequenceNumber)>,
    looked_at: usize,
}

/// A message of which as many bytes come before the payload, and how many of them every reader has.
struct Ready(Vec<u8>, usize, Rc<Cell<usize>>);

impl Lent for Ready {
    fn payload(&self) -> &[u8] {
        &self.0[self.1..]
    }

    fn counted_len(&self) -> usize {
        COUNTED_LEN
    }

    fn done_with(&mut self) {
        self.2.set(self.2.get() + 1);
    }
}

impl Log for Kept {
    type Lent = Ready;

    fn publish_lent(&mut self, lent: &Ready) {
        self.lent.push(lent.0.clone());
    }

    fn hear(&mut self, count: usize, said: &mut Vec<(Guid, SequenceNumber)>) {
        self.looked_at = self.looked_at.max(count);
        said.append(&mut self.said);
    }

    fn max_len(&self) -> Option<usize> {
        Some(MAX_LEN)
    }

    fn publish(&mut self, head: &[u8], payload: &[u8]) {
        let mut message = [head, payload].concat();
        message.resize(message.len().next_multiple_of(4), 0);
        self.messages.push(message);
    }

    fn publish_plain(&mut self, sample: PlainSample, payload: &[u8]) {
        let guid = Guid::new(US, WRITER);
        self.messages.push(message_of(guid, sample, payload));
    }
}

/// So that four of them are what may be unacknowledged.
const COUNTED_LEN: usize = (16 << 10) / 4 - 256;

/// When readers are not new any more.
const LATER: Instant = Instant::from_nanos(10_000_000_000);

/// A writer whose only reader follows its log.
fn writer(config: WriterConfig) -> Writer<Kept> {
    let config = WriterConfig {
        guid: Guid::new(US, WRITER),
        ..config
    };
    let mut writer = Writer::with_log(config, Kept::default());
    writer.divert(NEIGHBOUR, Some(Locator::log(WRITER.0)));
    match_reader(&mut writer, NEIGHBOUR);
    writer
}

fn match_reader(writer: &mut Writer<Kept>, prefix: GuidPrefix) {
    let proxy = ReaderProxy {
        guid: Guid::new(prefix, EntityId::user_reader(1, true)),
        unicast: vec![Locator::udp_v4(Ipv4Addr::LOCALHOST, 1)],
        ..ReaderProxy::default()
    };
    writer.match_reader(Instant::ZERO, proxy, &mut Outbox::new());
}

fn change(key: Option<u8>) -> Change {
    Change {
        source_timestamp: Some(TIME),
        key_hash: key.map(|key| [key; 16]),
        ..Change::default()
    }
}

fn write(writer: &mut Writer<Kept>, change: Change, len: usize, outbox: &mut Outbox) {
    let payload = |buffer: &mut Vec<u8>| {
        buffer.extend((0..len).map(|at| u8::try_from(at % 251).expect("below 251")));
        Ok::<(), ()>(())
    };
    let written = writer.write(Instant::ZERO, &change, payload, outbox);
    written.expect("room");
}

fn lend(
    writer: &mut Writer<Kept>,
    change: Change,
    payload: &[u8],
    outbox: &mut Outbox,
) -> Result<(), WriteError<()>> {
    lend_counted(writer, change, payload, outbox, &Rc::default())
}

/// The same, which counts what every reader has.
fn lend_counted(
    writer: &mut Writer<Kept>,
    change: Change,
    payload: &[u8],
    outbox: &mut Outbox,
    done_with: &Rc<Cell<usize>>,
) -> Result<(), WriteError<()>> {
    let lend = |head: &[u8; LENT_HEAD_LEN]| {
        let message = [&head[..], payload].concat();
        Ok(Ready(message, head.len(), Rc::clone(done_with)))
    };
    let written = writer.write_lent(LATER, &change, payload.len(), lend, outbox);
    written.map(drop)
}

/// Its number, key hash and payload.
type Sample<'a> = (i64, Option<[u8; 16]>, &'a [u8]);

/// The samples, of which each message has one.
fn samples(messages: &[Vec<u8>]) -> Vec<Sample<'_>> {
    let sample = |message| {
        let mut reader = MessageReader::new(message).expect("a header");
        let Some(Ok(Submessage::Data(data))) = reader.next_submessage() else {
            panic!("no sample");
        };
        assert_eq!(reader.context().source_timestamp, Some(TIME));
        assert!(reader.next_submessage().is_none());
        let SerializedPayload::Data(payload) = data.payload else {
            panic!("no value");
        };
        (data.sequence_number.0, data.inline_qos.key_hash(), payload)
    };
    messages.iter().map(|message| sample(message)).collect()
}

#[test]
fn samples_go_whole_however_long_and_keep_their_order() {
    let mut writer = writer(WriterConfig::new(Guid::UNKNOWN));
    let mut outbox = Outbox::new();
    let lens = [64, 3, 65_100, 150_001, 20];
    for len in lens {
        for key in [None, Some(7)] {
            write(&mut writer, change(key), len, &mut outbox);
        }
    }
    assert!(outbox.is_empty());
    let messages = std::mem::take(&mut writer.log().messages);
    for (at, (number, key, payload)) in samples(&messages).into_iter().enumerate() {
        let len = lens[at / 2];
        assert_eq!((number, key.is_some()), (at as i64 + 1, at % 2 == 1));
        assert_eq!(messages[at].len() % 4, 0);
        assert_eq!(payload.len(), len.next_multiple_of(4), "padded");
        assert!((0..len).all(|at| usize::from(payload[at]) == at % 251));
    }
    assert_eq!(messages.len(), 10);
}

#[test]
fn what_no_message_takes_goes_in_fragments() {
    let mut writer = writer(WriterConfig::new(Guid::UNKNOWN));
    let mut outbox = Outbox::new();
    write(&mut writer, change(Some(7)), 300_001, &mut outbox);
    let mut sample = vec![0; 300_001];
    let mut now = Instant::ZERO;
    while let Some(at) = writer.poll_timeout() {
        now = now.max(at);
        writer.handle_timeout(now, &mut outbox);
    }
    assert!(outbox.is_empty());
    for message in &writer.log().messages {
        let mut reader = MessageReader::new(message).expect("a header");
        let Some(Ok(Submessage::DataFrag(data))) = reader.next_submessage() else {
            panic!("no fragment");
        };
        let start = (data.fragment_start as usize - 1) * usize::from(data.fragment_size);
        sample[start..start + data.payload.len()].copy_from_slice(data.payload);
        assert_eq!((data.sample_size, data.sequence_number.0), (300_001, 1));
        assert!(data.inline_qos.key_hash().is_some());
    }
    assert!((0..300_001).all(|at| usize::from(sample[at]) == at % 251));
}

#[test]
fn what_waits_for_others_or_goes_to_others_goes_by_the_outbox() {
    let mut writer = writer(WriterConfig {
        history: HistoryKind::KeepAll,
        ..WriterConfig::new(Guid::UNKNOWN)
    });
    let mut held = Outbox::gathering();
    for _ in 0..3 {
        write(&mut writer, change(None), 64, &mut held);
    }
    assert_eq!(held.len(), 1, "one message");
    held.clear();
    match_reader(&mut writer, STRANGER);
    let mut outbox = Outbox::new();
    write(&mut writer, change(None), 64, &mut outbox);
    write(&mut writer, change(None), 150_000, &mut outbox);
    assert!(outbox.datagrams().all(|(_, to)| to.len() == 2));
    assert!(outbox.len() > 2, "in datagrams");
    assert!(writer.log().messages.is_empty());
}

/// Samples that went to others, too, may wait to be sent.
#[test]
fn when_others_have_left_the_first_change_goes_behind_what_they_shared() {
    let mut writer = writer(WriterConfig::new(Guid::UNKNOWN));
    match_reader(&mut writer, STRANGER);
    let mut outbox = Outbox::new();
    write(&mut writer, change(None), 64, &mut outbox);
    writer.unmatch_reader(Guid::new(STRANGER, EntityId::user_reader(1, true)));
    outbox.clear();
    write(&mut writer, change(None), 64, &mut outbox);
    assert!(writer.log().messages.is_empty());
    let sent: Vec<_> = outbox.datagrams().collect();
    assert_eq!((sent.len(), sent[0].1), (1, &[Locator::log(WRITER.0)][..]));
    assert_eq!(samples(&[sent[0].0.to_vec()])[0].0, 2);
    outbox.clear();
    write(&mut writer, change(None), 64, &mut outbox);
    assert!(outbox.is_empty());
    let messages = std::mem::take(&mut writer.log().messages);
    assert_eq!(samples(&messages)[0].0, 3);
}

#[test]
fn of_what_lies_ready_readers_are_only_told() {
    let mut writer = writer(WriterConfig::new(Guid::UNKNOWN));
    let mut outbox = Outbox::new();
    let payloads = [vec![1; 64], vec![2; MAX_LEN + 4], vec![3; 70_000]];
    for payload in &payloads {
        lend(&mut writer, change(None), payload, &mut outbox).expect("room");
    }
    assert!(outbox.is_empty() && writer.log().messages.is_empty());
    let messages = std::mem::take(&mut writer.log().lent);
    let expected = (1..).zip(&payloads);
    let expected = expected.map(|(number, payload)| (number, None, payload.as_slice()));
    assert_eq!(samples(&messages), expected.collect::<Vec<_>>());
}

#[test]
fn a_message_that_will_not_do_as_it_lies_is_laid_out_anew() {
    let mut writer = writer(WriterConfig::new(Guid::UNKNOWN));
    let mut outbox = Outbox::new();
    let timeless = Change {
        source_timestamp: None,
        ..change(None)
    };
    lend(&mut writer, timeless, &[5; 40], &mut outbox).expect("room");
    assert!(outbox.is_empty() && writer.log().lent.is_empty());
    assert_eq!(writer.log().messages.len(), 1);
}

/// Who reads it where it lies has the key at hand.
#[test]
fn the_key_hash_is_with_what_is_lent_only_for_who_expects_it() {
    let mut writer = writer(WriterConfig {
        key_hash_with_data: true,
        ..WriterConfig::new(Guid::UNKNOWN)
    });
    let mut outbox = Outbox::new();
    lend(&mut writer, change(Some(7)), &[5; 40], &mut outbox).expect("room");
    assert!(outbox.is_empty() && writer.log().messages.is_empty());
    let messages = std::mem::take(&mut writer.log().lent);
    assert_eq!(samples(&messages), [(1, None, &[5; 40][..])]);
    let proxy = ReaderProxy {
        guid: Guid::new(NEIGHBOUR, EntityId::user_reader(2, true)),
        unicast: vec![Locator::udp_v4(Ipv4Addr::LOCALHOST, 1)],
        expects_inline_qos: true,
        ..ReaderProxy::default()
    };
    writer.match_reader(Instant::ZERO, proxy, &mut Outbox::new());
    lend(&mut writer, change(Some(7)), &[6; 40], &mut outbox).expect("room");
    assert!(outbox.is_empty() && writer.log().lent.is_empty());
    let messages = std::mem::take(&mut writer.log().messages);
    assert_eq!(samples(&messages), [(2, Some([7; 16]), &[6; 40][..])]);
}

#[test]
fn who_does_not_follow_the_log_gets_copies_of_what_is_lent() {
    let mut writer = writer(WriterConfig {
        history: HistoryKind::KeepAll,
        ..WriterConfig::new(Guid::UNKNOWN)
    });
    match_reader(&mut writer, STRANGER);
    let mut outbox = Outbox::new();
    lend(&mut writer, change(None), &[5; 64], &mut outbox).expect("room");
    let datagrams: Vec<_> = outbox
        .datagrams()
        .map(|(bytes, _)| bytes.to_vec())
        .collect();
    assert_eq!(samples(&datagrams), [(1, None, &[5; 64][..])]);
    outbox.clear();
    lend(&mut writer, change(None), &[6; 100_000], &mut outbox).expect("room");
    assert!(outbox.len() > 2, "in fragments");
    assert!(writer.log().messages.is_empty() && writer.log().lent.is_empty());
}

/// However long it is: readers are asked at every quarter of what may be, and with all of it the writer waits.
#[test]
fn what_is_lent_counts_as_what_it_says() {
    let mut writer = writer(WriterConfig {
        history: HistoryKind::KeepAll,
        max_unacknowledged_len: 16 << 10,
        ..WriterConfig::new(Guid::UNKNOWN)
    });
    let reliable = ReaderProxy {
        guid: Guid::new(NEIGHBOUR, EntityId::user_reader(2, true)),
        reliable: true,
        ..ReaderProxy::default()
    };
    writer.match_reader(Instant::ZERO, reliable, &mut Outbox::new());
    let mut outbox = Outbox::new();
    let payload = vec![9; 1 << 20];
    for number in 1..=4 {
        let heartbeats = writer.counters().heartbeats;
        lend(&mut writer, change(None), &payload, &mut outbox).expect("room");
        assert_eq!(writer.log().lent.len(), number);
        assert_eq!(writer.counters().heartbeats, heartbeats + 1);
    }
    let not_called = |_: &[u8; LENT_HEAD_LEN]| -> Result<Ready, ()> { panic!("there is no room") };
    let refused = writer.write_lent(
        Instant::ZERO,
        &change(None),
        payload.len(),
        not_called,
        &mut outbox,
    );
    assert_eq!(refused, Err(WriteError::WouldBlock));
    writer.unmatch_reader(Guid::new(NEIGHBOUR, EntityId::user_reader(2, true)));
    lend(&mut writer, change(None), &payload, &mut outbox).expect("room");
    assert_eq!(writer.history_len(), 0);
}

/// Who follows the log says there what it has of what is lent: nothing is asked for by the network.
#[test]
fn what_readers_say_beside_the_log_acknowledges() {
    let mut writer = writer(WriterConfig {
        history: HistoryKind::KeepAll,
        max_unacknowledged_len: 32 << 10,
        ..WriterConfig::new(Guid::UNKNOWN)
    });
    let reliable = |key| Guid::new(NEIGHBOUR, EntityId::user_reader(key, true));
    for key in [2, 3] {
        let proxy = ReaderProxy {
            guid: reliable(key),
            reliable: true,
            ..ReaderProxy::default()
        };
        writer.match_reader(Instant::ZERO, proxy, &mut Outbox::new());
    }
    writer.unmatch_reader(Guid::new(NEIGHBOUR, EntityId::user_reader(1, true)));
    let (mut outbox, done_with) = (Outbox::new(), Rc::default());
    let mut lend = |writer: &mut Writer<Kept>| {
        lend_counted(writer, change(None), &[9; 64], &mut outbox, &done_with)
    };
    lend(&mut writer).expect("room");
    let heartbeats = writer.counters().heartbeats;
    let has = |key, number| (reliable(key), SequenceNumber(number));
    for number in 1..100 {
        writer.log().said.extend([has(2, number), has(3, number)]);
        lend(&mut writer).expect("room");
        assert_eq!(
            (writer.history_len(), done_with.get()),
            (1, number as usize)
        );
    }
    let counters = writer.counters();
    assert_eq!((counters.heartbeats, counters.acknacks), (heartbeats, 0));
    assert!(writer.log().looked_at < 10, "few, however many follow");
    // The slower one counts, and what is not true does not.
    let stranger = Guid::new(STRANGER, EntityId::user_reader(2, true));
    let said = [
        has(2, 100),
        has(3, 50),
        has(3, 101),
        (stranger, SequenceNumber(100)),
    ];
    writer.log().said.extend(said);
    for _ in 0..7 {
        lend(&mut writer).expect("room");
    }
    assert_eq!((writer.history_len(), done_with.get()), (8, 99));
    let counters = writer.counters();
    assert_eq!((counters.misbehaved, counters.from_unmatched), (1, 1));
    assert_eq!(lend(&mut writer), Err(WriteError::WouldBlock));
    // The one that a write waits for may say so at any time.
    writer.log().said.push(has(3, 100));
    lend(&mut writer).expect("room");
    assert_eq!((writer.history_len(), done_with.get()), (8, 100));
    // Best-effort readers do not say what they have.
    match_reader(&mut writer, NEIGHBOUR);
    writer.log().said.extend([has(2, 108), has(3, 108)]);
    lend(&mut writer).expect("room");
    assert_eq!((writer.history_len(), done_with.get()), (1, 100));
}

/// A writer that has written all looks again before it reminds anybody.
#[test]
fn who_has_said_that_it_has_all_is_not_reminded() {
    let mut writer = writer(WriterConfig {
        history: HistoryKind::KeepAll,
        ..WriterConfig::new(Guid::UNKNOWN)
    });
    let guid = Guid::new(NEIGHBOUR, EntityId::user_reader(2, true));
    let proxy = ReaderProxy {
        guid,
        reliable: true,
        ..ReaderProxy::default()
    };
    writer.match_reader(Instant::ZERO, proxy, &mut Outbox::new());
    let mut outbox = Outbox::new();
    lend(&mut writer, change(None), &[9; 64], &mut outbox).expect("room");
    writer.log().said.push((guid, SequenceNumber::FIRST));
    let heartbeats = writer.counters().heartbeats;
    while let Some(at) = writer.poll_timeout() {
        writer.handle_timeout(at, &mut outbox);
    }
    assert_eq!(writer.counters().heartbeats, heartbeats);
    assert!(writer.is_acknowledged(SequenceNumber::FIRST));
    assert_eq!(writer.history_len(), 0);
}
