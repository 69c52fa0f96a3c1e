//! Plain changes take a short way while all of them go the same, by datagrams or by a log. Nobody but the clock can
//! tell.

use crate::common::plain_sample::message_of;
use crate::common::script::{READER, WHERE, WRITER};
use crate::common::{keep_all, number, tell_writer};
use proptest::prelude::*;
use tickwire_base::{Duration, Instant, Locator, Timestamp};
use tickwire_rtps::wire::{
    AckNack, EntityId, Guid, GuidPrefix, MessageReader, MessageWriter, NackFrag, PlainSample,
    SequenceNumber, SequenceNumberSet, Submessage,
};
use tickwire_rtps::writer::{
    HistoryKind, Log, NothingLent, ReaderProxy, ResourceLimits, WriteError, Writer, WriterConfig,
};
use tickwire_rtps::{Change, Outbox};

const NEIGHBOUR: Guid = Guid::new(GuidPrefix([3; 12]), EntityId::user_reader(1, true));
const LOG: Locator = Locator::log(WRITER.entity.0);

/// Keeps what is published.
#[derive(Default)]
struct Kept {
    max_len: Option<usize>,
    messages: Vec<Vec<u8>>,
}

impl Log for Kept {
    type Lent = NothingLent;

    fn max_len(&self) -> Option<usize> {
        self.max_len
    }

    fn publish(&mut self, head: &[u8], payload: &[u8]) {
        let mut message = [head, payload].concat();
        message.resize(message.len().next_multiple_of(4), 0);
        assert!(self.max_len.is_some_and(|max_len| message.len() <= max_len));
        self.messages.push(message);
    }

    fn publish_plain(&mut self, sample: PlainSample, payload: &[u8]) {
        let message = message_of(WRITER, sample, payload);
        self.publish(&message, &[]);
    }

    fn publish_lent(&mut self, lent: &NothingLent) {
        match *lent {}
    }

    fn hear(&mut self, _: usize, _: &mut Vec<(Guid, SequenceNumber)>) {}
}

/// What may befall a writer.
#[derive(Clone, Debug)]
enum Event {
    /// So many changes of so many bytes, as [`change_of`] says.
    Write(u8, usize, u8),
    /// The reader has all but so many of what has been sent, and asks for the next ones by these bits.
    AckNack(i64, u8, bool),
    NackFrag(i64, u32),
    Wait(Duration),
    Match {
        reliable: bool,
        far: bool,
    },
    Unmatch,
    Divert(bool),
    /// The one of that GUID follows the log from here on, or no more.
    Follow(Guid, bool),
    /// The log takes messages of that length at most, if there is one.
    HaveLog(Option<usize>),
    /// What is written from here on is held back, or no more.
    Suspend(bool),
    Lifespan(bool),
    Ask,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let len = prop_oneof![
        8 => 1..200_usize,
        1 => Just(0),
        1 => 4_000..4_100_usize,
        1 => 4_000..20_000_usize,
    ];
    let kind = prop_oneof![8 => Just(0_u8), 1 => 1..6_u8];
    let wait = prop_oneof![0..2_000_u64, 0..400_000_u64];
    let event = prop_oneof![
        12 => (1..40_u8, len, kind).prop_map(|(count, len, kind)| Event::Write(count, len, kind)),
        6 => (0..20_i64, any::<u8>(), any::<bool>())
            .prop_map(|(lacks, bits, is_final)| Event::AckNack(lacks, bits, is_final)),
        4 => (0..20_i64, any::<bool>()).prop_map(|(lacks, is_final)| Event::AckNack(lacks, 0, is_final)),
        1 => (0..10_i64, 1..4_u32).prop_map(|(before, fragment)| Event::NackFrag(before, fragment)),
        4 => wait.prop_map(|us| Event::Wait(Duration::from_micros(us))),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(reliable, far)| Event::Match { reliable, far }),
        1 => Just(Event::Unmatch),
        1 => any::<bool>().prop_map(Event::Divert),
        2 => follow(),
        1 => log_len().prop_map(Event::HaveLog),
        1 => any::<bool>().prop_map(Event::Suspend),
        1 => any::<bool>().prop_map(Event::Lifespan),
        1 => Just(Event::Ask),
    ];
    proptest::collection::vec(event, 1..80)
}

fn follow() -> impl Strategy<Value = Event> {
    let who = prop_oneof![Just(READER), Just(NEIGHBOUR)];
    (who, any::<bool>()).prop_map(|(who, follows)| Event::Follow(who, follows))
}

fn log_len() -> impl Strategy<Value = Option<usize>> {
    // Longer than a datagram, as any log is.
    prop_oneof![Just(None), Just(Some(10_000)), Just(Some(100_000))]
}

fn history() -> impl Strategy<Value = HistoryKind> {
    let last = (1..30_u32).prop_map(HistoryKind::KeepLast);
    prop_oneof![Just(HistoryKind::KeepAll), last]
}

/// Most are plain.
fn change_of(kind: u8, now: Instant) -> Change {
    let time = Timestamp::from_nanos(i64::try_from(now.as_nanos()).expect("soon"));
    Change {
        source_timestamp: (kind != 1).then_some(time),
        key_hash: (kind == 2).then_some([7; 16]),
        group_number: number(i64::from(kind == 3)),
        ..Change::default()
    }
}

/// A datagram and where it goes, or a message in the log.
type Sent = (Vec<u8>, Vec<Locator>);

struct Side {
    writer: Writer<Kept>,
    now: Instant,
    count: u32,
    is_suspended: bool,
    /// Whether it writes changes together where it can.
    writes_runs: bool,
    /// Of datagrams that they share.
    max_datagram_len: usize,
}

impl Side {
    fn new(config: WriterConfig) -> Self {
        Self::with(WriterConfig {
            max_unacknowledged_len: 20_000,
            ..config
        })
    }

    fn with(config: WriterConfig) -> Self {
        Self::with_messages(WriterConfig {
            max_message_len: 9_000,
            ..config
        })
    }

    fn with_messages(config: WriterConfig) -> Self {
        let config = WriterConfig {
            guid: WRITER,
            ..config
        };
        let mut side = Self {
            writer: Writer::with_log(config, Kept::default()),
            now: Instant::from_nanos(1_000_000_000),
            count: 0,
            is_suspended: false,
            writes_runs: false,
            max_datagram_len: 8_000,
        };
        let proxy = ReaderProxy {
            guid: READER,
            reliable: true,
            unicast: vec![WHERE],
            ..ReaderProxy::default()
        };
        side.writer
            .match_reader(side.now, proxy, &mut Outbox::new());
        side
    }

    /// What the writer says to that, and what it answers to the last write.
    fn meet(&mut self, event: &Event) -> (Vec<Sent>, Option<WriteError<()>>) {
        let (writer, now) = (&mut self.writer, self.now);
        let mut outbox = match self.is_suspended {
            true => Outbox::gathering(),
            false => Outbox::new(),
        };
        let mut refused = None;
        match *event {
            Event::Write(count, len, kind) => {
                let bytes: Vec<_> = (0..count).collect();
                let mut rest = &bytes[..];
                let change = change_of(kind, now);
                let fill = |&byte: &u8, buffer: &mut Vec<u8>| {
                    buffer.resize(buffer.len() + len, byte);
                    match kind {
                        4 => Err(()),
                        _ => Ok(()),
                    }
                };
                while let [byte, ..] = rest {
                    if self.writes_runs {
                        let (mut written, mut failed) = match self.is_suspended {
                            true => (0, None),
                            false => writer.log_run(now, &change, rest, fill),
                        };
                        if written == 0 && failed.is_none() {
                            let whole = (&mut outbox, self.max_datagram_len);
                            let company = || None::<&mut Outbox>;
                            (written, failed) =
                                writer.datagram_run(now, &change, rest, fill, whole, company);
                        }
                        rest = &rest[written + usize::from(failed.is_some())..];
                        if written > 0 {
                            writer.ask(now, &mut outbox);
                        }
                        if written > 0 || failed.is_some() {
                            refused = failed.map(WriteError::Payload);
                            continue;
                        }
                    }
                    let fill = |buffer: &mut Vec<u8>| fill(byte, buffer);
                    let straight = match self.is_suspended {
                        true => Ok(None),
                        false => writer.write_straight(now, &change, fill),
                    };
                    let written = match straight.transpose() {
                        Some(written) => written.map_err(WriteError::Payload),
                        None => writer.write(now, &change, fill, &mut outbox),
                    };
                    if written.is_ok() {
                        writer.ask(now, &mut outbox);
                    }
                    refused = written.err();
                    rest = &rest[1..];
                }
            }
            Event::AckNack(lacks, bits, is_final) => {
                self.count += 1;
                let base = (writer.last().0 + 1 - lacks).max(1);
                let mut state = SequenceNumberSet::empty(number(base));
                for bit in (0..8).filter(|bit| bits & 1 << bit != 0) {
                    state.insert(number(base + bit));
                }
                let acknack = AckNack {
                    reader: READER.entity,
                    writer: WRITER.entity,
                    state,
                    count: self.count,
                    is_final,
                };
                let mut bytes = Vec::new();
                MessageWriter::new(&mut bytes, READER.prefix).acknack(&acknack);
                tell_writer(writer, now, &bytes, &mut outbox);
            }
            Event::NackFrag(before, fragment) => {
                self.count += 1;
                let mut state = tickwire_rtps::wire::FragmentNumberSet::empty(fragment);
                state.insert(fragment);
                let nack = NackFrag {
                    reader: READER.entity,
                    writer: WRITER.entity,
                    sequence_number: number((writer.last().0 - before).max(1)),
                    state,
                    count: self.count,
                };
                let mut bytes = Vec::new();
                MessageWriter::new(&mut bytes, READER.prefix).nack_frag(&nack);
                tell_writer(writer, now, &bytes, &mut outbox);
            }
            Event::Wait(time) => {
                self.now = now + time;
                writer.handle_timeout(self.now, &mut outbox);
            }
            Event::Match { reliable, far } => {
                let port = 7_500 + u16::from(far);
                let proxy = ReaderProxy {
                    guid: NEIGHBOUR,
                    reliable,
                    unicast: vec![Locator::udp_v4(std::net::Ipv4Addr::LOCALHOST, port)],
                    ..ReaderProxy::default()
                };
                writer.match_reader(now, proxy, &mut outbox);
            }
            Event::Unmatch => drop(writer.unmatch_reader(NEIGHBOUR)),
            Event::Divert(there) => {
                let to = there.then_some(Locator::udp_v4(std::net::Ipv4Addr::LOCALHOST, 9));
                writer.divert(READER.prefix, to);
            }
            Event::Follow(who, follows) => writer.divert(who.prefix, follows.then_some(LOG)),
            Event::HaveLog(max_len) => writer.log().max_len = max_len,
            Event::Suspend(is_suspended) => self.is_suspended = is_suspended,
            Event::Lifespan(ends) => writer.set_lifespan(match ends {
                true => Duration::from_millis(50),
                false => Duration::MAX,
            }),
            Event::Ask => writer.ask_acknowledgement(now, &mut outbox),
        }
        let said = outbox.datagrams();
        let said = said.map(|(bytes, to)| (bytes.to_vec(), to.to_vec()));
        let messages = std::mem::take(&mut self.writer.log().messages);
        let messages = messages.into_iter().map(|message| (message, Vec::new()));
        (said.chain(messages).collect(), refused)
    }
}

/// A writer that must look at each change by itself, as it might be one too many.
fn limited() -> WriterConfig {
    let limits = ResourceLimits {
        max_samples: Some(usize::MAX),
        ..ResourceLimits::NONE
    };
    WriterConfig {
        limits,
        ..keep_all()
    }
}

proptest! {
    #[test]
    fn the_short_way_says_and_keeps_the_same(
        events in events(),
        reliable: bool,
        history in history(),
        max_unacknowledged_len in prop_oneof![Just(20_000_usize), Just(60_000)],
    ) {
        let config = |config| WriterConfig { reliable, history, max_unacknowledged_len, ..config };
        let mut flowing = Side::with(config(keep_all()));
        let mut other = Side::with(config(limited()));
        for event in events {
            prop_assert_eq!(flowing.meet(&event), other.meet(&event), "{:?}", event);
            let (one, two) = (&flowing.writer, &other.writer);
            prop_assert_eq!(one.counters(), two.counters(), "{:?}", event);
            prop_assert_eq!(one.last(), two.last());
            prop_assert_eq!(one.history_len(), two.history_len());
            prop_assert_eq!(one.instance_count(), two.instance_count());
            prop_assert_eq!(one.poll_timeout(), two.poll_timeout(), "{:?}", event);
            for reader in [READER, NEIGHBOUR] {
                prop_assert_eq!(one.lag_of(reader), two.lag_of(reader));
            }
        }
    }
}

/// What each submessage says, and where it goes, whatever message it is in.
fn apart(sent: Vec<Sent>) -> Vec<String> {
    let said = sent.into_iter().flat_map(|(message, to)| {
        let submessages = MessageReader::new(&message).expect("a message");
        let submessages = submessages.map(|submessage| submessage.expect("it can be read"));
        let told = submessages.map(|(context, submessage)| {
            // What others were made at tells nothing.
            let is_sample = matches!(submessage, Submessage::Data(_) | Submessage::DataFrag(_));
            let time = context.source_timestamp.filter(|_| is_sample);
            let whom = context.destination_prefix;
            format!("{time:?} {whom:?} {submessage:?} {to:?}")
        });
        told.collect::<Vec<_>>()
    });
    said.collect()
}

proptest! {
    #[test]
    fn changes_that_are_written_together_are_those_written_one_by_one(
        events in events(),
        reliable: bool,
        history in history(),
        max_unacknowledged_len in prop_oneof![Just(20_000_usize), Just(60_000)],
        max_message_len in prop_oneof![Just(1_472_usize), Just(9_000)],
    ) {
        let config = WriterConfig { reliable, history, max_unacknowledged_len, max_message_len, ..keep_all() };
        let mut together = Side::with_messages(config.clone());
        together.writes_runs = true;
        let mut alone = Side::with_messages(config);
        for event in events {
            let ((said, refused), (other, other_refused)) = (together.meet(&event), alone.meet(&event));
            let is_short = |(message, to): &Sent| to.is_empty() || message.len() <= max_message_len;
            prop_assert!(said.iter().all(is_short), "{:?}", event);
            prop_assert_eq!(apart(said), apart(other), "{:?}", event);
            prop_assert_eq!(refused, other_refused, "{:?}", event);
            let (one, two) = (&together.writer, &alone.writer);
            prop_assert_eq!(one.counters(), two.counters(), "{:?}", event);
            prop_assert_eq!(one.last(), two.last());
            prop_assert_eq!(one.history_len(), two.history_len());
            prop_assert_eq!(one.poll_timeout(), two.poll_timeout(), "{:?}", event);
            for reader in [READER, NEIGHBOUR] {
                prop_assert_eq!(one.lag_of(reader), two.lag_of(reader));
            }
        }
    }
}

/// The numbers of the samples in an outbox.
fn numbers(outbox: &Outbox) -> Vec<i64> {
    let messages = outbox.datagrams();
    messages
        .flat_map(|(bytes, _)| numbers_in(&bytes.joined()))
        .collect()
}

/// The numbers of the samples in a message, or of the one that it has fragments of.
fn numbers_in(message: &[u8]) -> Vec<i64> {
    let message = MessageReader::new(message).expect("a message");
    let submessages = message.map(|submessage| submessage.expect("it can be read").1);
    let numbers = submessages.filter_map(|submessage| match submessage {
        Submessage::Data(data) => Some(data.sequence_number.0),
        Submessage::DataFrag(data) => Some(data.sequence_number.0),
        _ => None,
    });
    numbers.collect()
}

#[test]
fn what_goes_by_the_log_needs_no_outbox_but_for_heartbeats() {
    let mut side = Side::with(WriterConfig {
        max_unacknowledged_len: 100_000,
        ..keep_all()
    });
    let write = |side: &mut Side| {
        let change = change_of(0, side.now);
        let fill = |buffer: &mut Vec<u8>| {
            buffer.resize(buffer.len() + 16, 1);
            Ok::<_, ()>(())
        };
        side.writer.write_straight(side.now, &change, fill)
    };
    side.writer.log().max_len = Some(100_000);
    assert_eq!(write(&mut side), Ok(None), "its reader follows no log");
    side.meet(&Event::Follow(READER, true));
    side.meet(&Event::Write(1, 16, 0));
    side.meet(&Event::AckNack(0, 0, true));
    assert_eq!(write(&mut side), Ok(Some(number(2))));
    assert_eq!(side.writer.log().messages.len(), 1);
    let mut count = 0;
    while !side.writer.is_to_ask() && count < 1_000 {
        assert!(matches!(write(&mut side), Ok(Some(_))));
        count += 1;
    }
    assert!((1..100).contains(&count), "a heartbeat after {count}");
    let mut outbox = Outbox::new();
    side.writer.ask(side.now, &mut outbox);
    assert_eq!(outbox.len(), 1);
    assert!(!side.writer.is_to_ask());
}

#[test]
fn some_time_after_a_long_change_others_go_the_short_way_again() {
    let mut side = Side::with(keep_all());
    side.meet(&Event::HaveLog(Some(100_000)));
    side.meet(&Event::Follow(READER, true));
    let write = |side: &mut Side, len| {
        side.meet(&Event::Write(1, len, 0));
        side.meet(&Event::AckNack(0, 0, true));
        side.writer.goes_straight()
    };
    assert!(write(&mut side, 16));
    assert!(!write(&mut side, 5_000));
    let shorts = |side: &mut Side| (1..1_000).find(|_| write(side, 16));
    let enough = shorts(&mut side).expect("it does in the end");
    assert!(enough > 10, "after {enough}");
    assert!(!write(&mut side, 5_000));
    assert!(!write(&mut side, 16));
    assert!(!write(&mut side, 5_000));
    assert_eq!(shorts(&mut side), Some(enough), "from the last one on");
}

#[test]
fn what_was_written_together_before_serializing_panics_stays_written() {
    let mut side = Side::with(keep_all());
    side.meet(&Event::HaveLog(Some(100_000)));
    side.meet(&Event::Follow(READER, true));
    side.meet(&Event::Write(1, 16, 0));
    side.meet(&Event::AckNack(0, 0, true));
    let (writer, now) = (&mut side.writer, side.now);
    writer.log().messages.clear();
    let fill = |&byte: &u8, buffer: &mut Vec<u8>| {
        assert_ne!(byte, 2, "the application's code fails");
        buffer.resize(buffer.len() + 16, byte);
        Ok::<_, ()>(())
    };
    let run = || writer.log_run(now, &change_of(0, now), &[0, 1, 2, 3], fill);
    let run = std::panic::AssertUnwindSafe(run);
    std::panic::catch_unwind(run).expect_err("it fails");
    let written = |side: &mut Side| {
        let messages = &side.writer.log().messages;
        messages
            .iter()
            .flat_map(|message| numbers_in(message))
            .collect::<Vec<_>>()
    };
    assert_eq!(written(&mut side), [2, 3]);
    assert_eq!(side.writer.counters().written, 3);
    let (writer, change) = (&mut side.writer, change_of(0, now));
    assert_eq!(writer.log_run(now, &change, &[4, 5], fill), (2, None));
    assert_eq!(written(&mut side), [2, 3, 4, 5]);
}

#[test]
fn changes_that_are_written_together_share_messages() {
    let mut side = Side::with(WriterConfig {
        max_unacknowledged_len: 1 << 20,
        ..keep_all()
    });
    side.meet(&Event::HaveLog(Some(100_000)));
    side.meet(&Event::Follow(READER, true));
    side.meet(&Event::Write(1, 16, 0));
    side.meet(&Event::AckNack(0, 0, true));
    side.writes_runs = true;
    let (said, refused) = side.meet(&Event::Write(200, 16, 0));
    assert_eq!(refused, None);
    let numbers: Vec<_> = said
        .iter()
        .map(|(message, _)| numbers_in(message))
        .collect();
    assert_eq!(numbers.concat(), (2..=201).collect::<Vec<_>>());
    assert_eq!(said.len(), 2, "of 4 KiB");
}

/// A best-effort writer of a thread that does nothing but write, so that its datagrams wait. One reader follows the log.
struct Busy {
    writer: Writer<Kept>,
    now: Instant,
    waiting: Outbox,
    /// The numbers of the samples in the log.
    arrived: Vec<i64>,
}

impl Busy {
    fn new() -> Self {
        let mut side = Side::new(WriterConfig {
            reliable: false,
            ..keep_all()
        });
        side.meet(&Event::HaveLog(Some(10_000)));
        side.meet(&Event::Follow(READER, true));
        Self {
            writer: side.writer,
            now: side.now,
            waiting: Outbox::new(),
            arrived: Vec::new(),
        }
    }

    fn meet(&mut self, event: &Event) {
        let (writer, now, mut own) = (&mut self.writer, self.now, Outbox::new());
        match *event {
            Event::Write(_, len, _) => {
                let fill = |buffer: &mut Vec<u8>| {
                    buffer.resize(buffer.len() + len, 1);
                    Ok::<_, ()>(())
                };
                let (change, waiting) = (change_of(0, now), &mut self.waiting);
                let company = || Some(waiting);
                if !matches!(writer.write_straight(now, &change, fill), Ok(Some(_))) {
                    // There is no room where much is left to be sent.
                    let _ = writer.write_in_company(now, &change, fill, &mut own, company);
                }
            }
            Event::Match { far, .. } => {
                let port = 7_500 + u16::from(far);
                let proxy = ReaderProxy {
                    guid: NEIGHBOUR,
                    unicast: vec![Locator::udp_v4(std::net::Ipv4Addr::LOCALHOST, port)],
                    ..ReaderProxy::default()
                };
                writer.match_reader(now, proxy, &mut own);
            }
            Event::Unmatch => drop(writer.unmatch_reader(NEIGHBOUR)),
            Event::Follow(who, follows) => writer.divert(who.prefix, follows.then_some(LOG)),
            _ => {
                self.now = now + Duration::from_millis(1);
                writer.handle_timeout(self.now, &mut own);
            }
        }
        for message in std::mem::take(&mut self.writer.log().messages) {
            self.arrived.extend(numbers_in(&message));
        }
        let goes_by_log = own.datagrams().all(|(_, to)| to == [LOG]);
        self.waiting.absorb(&own, 9_000);
        // Who begins to follow is told once all is sent that went another way.
        let is_time = matches!(event, Event::Wait(_) | Event::Follow(_, true));
        if is_time || goes_by_log && !own.is_empty() {
            let to_log = self.waiting.datagrams().filter(|(_, to)| to.contains(&LOG));
            let to_log = to_log.flat_map(|(bytes, _)| numbers_in(&bytes.joined()));
            self.arrived.extend(to_log);
            self.waiting.clear();
        }
    }
}

fn busy_events() -> impl Strategy<Value = Vec<Event>> {
    let len = prop_oneof![8 => 1..200_usize, 1 => 4_000..20_000_usize];
    let event = prop_oneof![
        12 => len.prop_map(|len| Event::Write(1, len, 0)),
        2 => any::<bool>().prop_map(|far| Event::Match { reliable: false, far }),
        2 => Just(Event::Unmatch),
        2 => follow(),
        1 => Just(Event::Wait(Duration::ZERO)),
    ];
    proptest::collection::vec(event, 1..80)
}

proptest! {
    /// A best-effort reader would lose what is overtaken.
    #[test]
    fn nothing_is_overtaken_in_the_log_by_what_goes_there_straight(events in busy_events()) {
        let mut busy = Busy::new();
        for event in events {
            busy.meet(&event);
            prop_assert!(busy.arrived.is_sorted(), "{:?} {:?}", event, busy.arrived);
        }
    }
}

/// What everybody has may still be here when newer changes replace it, as who writes lets go of it.
#[test]
fn what_everybody_has_is_not_removed_before_they_had_it() {
    for config in [keep_all(), limited()] {
        let history = HistoryKind::KeepLast(2);
        let mut side = Side::new(WriterConfig { history, ..config });
        let mut removed_by = |event| {
            side.meet(&event);
            side.writer.counters().removed_before_ack
        };
        assert_eq!(removed_by(Event::Write(3, 10, 0)), 1);
        assert_eq!(
            removed_by(Event::AckNack(1, 0, true)),
            1,
            "all but the third"
        );
        assert_eq!(removed_by(Event::Write(1, 10, 0)), 1, "the second");
        assert_eq!(removed_by(Event::Write(1, 10, 0)), 2, "the third");
    }
}

#[test]
fn what_may_wait_is_laid_behind_what_waits() {
    let mut side = Side::new(keep_all());
    // The first finds out where samples go.
    side.meet(&Event::Write(1, 10, 0));
    let (mut own, mut waiting) = (Outbox::new(), Outbox::new());
    let mut asked = 0;
    let mut write = |len: usize, fails: bool| {
        let fill = |buffer: &mut Vec<u8>| {
            buffer.resize(buffer.len() + len, 1);
            if fails { Err(()) } else { Ok(()) }
        };
        let change = change_of(0, side.now);
        let (writer, asked) = (&mut side.writer, &mut asked);
        let written = writer.write_in_company(side.now, &change, fill, &mut own, || {
            *asked += 1;
            Some(&mut waiting)
        });
        let written = written.is_ok();
        (written, *asked)
    };
    assert_eq!([write(10, false), write(20, false)], [(true, 1), (true, 2)]);
    assert_eq!(
        write(10, true),
        (false, 2),
        "nobody is asked before it is serialized"
    );
    assert_eq!(write(5_000, false), (true, 3));
    assert_eq!(write(10, false), (true, 3), "it might be long, too");
    assert_eq!((numbers(&waiting), numbers(&own)), (vec![2, 3], vec![4, 5]));
    assert_eq!(waiting.len(), 1, "they share a datagram");
}

#[test]
fn what_finds_no_room_has_no_company() {
    let mut side = Side::new(keep_all());
    // The first finds out where samples go.
    side.meet(&Event::Write(1, 10, 0));
    let (mut own, mut waiting) = (Outbox::new(), Outbox::new());
    let fill = |buffer: &mut Vec<u8>| {
        buffer.resize(buffer.len() + 1_000, 1);
        Ok::<_, ()>(())
    };
    let change = change_of(0, side.now);
    let mut written = 0;
    while side
        .writer
        .write_in_company(side.now, &change, fill, &mut own, || Some(&mut waiting))
        .is_ok()
    {
        assert!(own.is_empty());
        written += 1;
    }
    assert_eq!(numbers(&waiting).len(), written);
    assert_eq!(numbers(&own).len(), 0, "a heartbeat alone");
    assert!(!own.is_empty());
}
