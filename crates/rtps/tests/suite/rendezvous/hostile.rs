//! Those who want a rendezvous to harm others, or to run out of memory.

use proptest::prelude::*;
use tickwire_base::{Instant, Locator};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::ParticipantData;
use tickwire_rtps::rendezvous::{Rendezvous, RendezvousConfig};
use tickwire_rtps::wire::{
    Data, EntityId, GuidPrefix, InlineQos, MessageReader, MessageWriter, SequenceNumber,
    SerializedPayload,
};
use tickwire_simnet::Link;

use super::world::{LEASE, SECOND, Secret, World, discovery, home, participant, place, prefix};

/// What a participant announces to its rendezvous.
pub(crate) fn announcement(data: ParticipantData) -> Vec<u8> {
    let mut outbox = Outbox::new();
    discovery(data, 1).handle_timeout(Instant::ZERO, &mut outbox);
    let first = outbox.datagrams().next();
    first.expect("it is due").0.to_vec()
}

/// The same to a name.
fn addressed(data: ParticipantData, name: GuidPrefix) -> Vec<u8> {
    let mut datagram = announcement(data);
    // The datagram begins with its header and INFO_DST.
    datagram[24..36].copy_from_slice(&name.0);
    datagram
}

fn sent(outbox: &Outbox) -> usize {
    let datagrams = outbox.datagrams();
    datagrams.map(|(bytes, to)| bytes.len() * to.len()).sum()
}

/// A rendezvous that is called by hand.
pub(crate) struct Bench {
    pub(crate) rendezvous: Rendezvous<Secret>,
    now: Instant,
    pub(crate) outbox: Outbox,
}

impl Bench {
    pub(crate) fn new(change: impl FnOnce(&mut RendezvousConfig)) -> Self {
        let mut config = RendezvousConfig::new(vec![place(1)]);
        change(&mut config);
        Self {
            rendezvous: Rendezvous::new(config, Secret(7)),
            now: Instant::from_nanos(1),
            outbox: Outbox::new(),
        }
    }

    /// Hands it a datagram, and says how many bytes it sends in return.
    pub(crate) fn hear(&mut self, source: Locator, datagram: &[u8]) -> usize {
        self.outbox.clear();
        let outbox = &mut self.outbox;
        self.rendezvous.handle(self.now, source, datagram, outbox);
        sent(outbox)
    }

    /// The name that it has for a participant, from what it sends there.
    pub(crate) fn name_for(&mut self, data: &ParticipantData) -> GuidPrefix {
        let at = data.metatraffic_unicast[0];
        self.hear(at, &announcement(data.clone()));
        let (bytes, to) = self.outbox.datagrams().next().expect("an answer");
        assert_eq!(to, [at]);
        let message = MessageReader::new(bytes.head).expect("RTPS");
        message.context().source_prefix
    }

    pub(crate) fn join(&mut self, data: ParticipantData) {
        let name = self.name_for(&data);
        let at = data.metatraffic_unicast[0];
        self.hear(at, &addressed(data, name));
    }
}

#[test]
fn an_address_that_has_not_answered_gets_fewer_bytes_than_were_sent_and_is_not_made_known() {
    let mut bench = Bench::new(|_| {});
    (1..=50).for_each(|id| bench.join(participant(id, 0)));
    for id in 100..150 {
        // In the victim's name, and at its address.
        let mut forged = participant(id, 0);
        forged.metatraffic_unicast = vec![home(99)];
        let datagram = announcement(forged);
        let answered = bench.hear(home(99), &datagram);
        assert!(0 < answered && answered <= datagram.len());
        let several = [datagram.as_slice(), &datagram[20..], &datagram[20..]].concat();
        assert!(bench.hear(home(99), &several) <= several.len());
        let to_victim = bench.outbox.datagrams().all(|(_, to)| to == [home(99)]);
        assert!(to_victim, "nobody else is told");
    }
    assert_eq!(bench.rendezvous.participants().count(), 50);
}

#[test]
fn an_announcement_shorter_than_the_answer_gets_none() {
    let mut bench = Bench::new(|_| {});
    let mut least = ParticipantData::new(prefix(1));
    least.domain_id = Some(0);
    least.metatraffic_unicast = vec![home(1)];
    let datagram = announcement(least);
    assert_eq!(
        bench.hear(home(1), &datagram),
        datagram.len(),
        "without a name"
    );
    assert_eq!(bench.hear(home(1), &who_and_where()), 0);
    assert_eq!(bench.rendezvous.counters().too_short, 1);
}

/// An announcement of nothing but a GUID and a locator.
fn who_and_where() -> Vec<u8> {
    let Locator {
        kind,
        port,
        address,
    } = home(1);
    let mut payload = vec![0, 3, 0, 0, 0x50, 0, 16, 0];
    payload.extend_from_slice(&[1; 12]);
    payload.extend_from_slice(&EntityId::PARTICIPANT.0);
    payload.extend_from_slice(&[0x32, 0, 24, 0]);
    payload.extend_from_slice(&kind.0.to_le_bytes());
    payload.extend_from_slice(&port.to_le_bytes());
    payload.extend_from_slice(&address);
    payload.extend_from_slice(&[1, 0, 0, 0]);
    let mut datagram = Vec::new();
    MessageWriter::new(&mut datagram, prefix(1)).data(&Data {
        reader: EntityId::SPDP_READER,
        writer: EntityId::SPDP_WRITER,
        sequence_number: SequenceNumber::FIRST,
        inline_qos: InlineQos {
            bytes: &[],
            little_endian: true,
        },
        payload: SerializedPayload::Data(&payload),
    });
    datagram
}

#[test]
fn a_name_proves_its_own_address_and_participant_alone() {
    let mut bench = Bench::new(|_| {});
    let name = bench.name_for(&participant(1, 0));
    let mut elsewhere = participant(1, 0);
    elsewhere.metatraffic_unicast = vec![home(2)];
    bench.hear(home(1), &addressed(elsewhere, name));
    let mut somebody = participant(2, 0);
    somebody.metatraffic_unicast = vec![home(1)];
    bench.hear(home(1), &addressed(somebody, name));
    assert_eq!(bench.rendezvous.participants().count(), 0);
    bench.hear(home(1), &addressed(participant(1, 0), name));
    assert_eq!(bench.rendezvous.participants().count(), 1);
}

#[test]
fn a_flood_of_participants_is_capped_for_each_address_and_in_all() {
    let mut bench = Bench::new(|config| {
        config.max_participants = 30;
        config.max_participants_per_address = 10;
    });
    for id in 1..=100_u8 {
        let mut fake = participant(id, u32::from(id));
        fake.metatraffic_unicast = vec![home((id - 1) / 20 + 1)];
        bench.join(fake);
    }
    let per_address = |bench: &Bench| bench.rendezvous.participants().count();
    assert_eq!(per_address(&bench), 30);
    assert_eq!(bench.rendezvous.counters().refused, 70);
    // With their leases they make room.
    bench.now = bench.now + LEASE;
    bench
        .rendezvous
        .handle_timeout(bench.now, &mut bench.outbox);
    assert_eq!(per_address(&bench), 0);
    bench.join(participant(1, 0));
    assert_eq!(per_address(&bench), 1);
}

#[test]
fn long_announcements_are_refused() {
    let mut bench = Bench::new(|config| config.max_announcement_len = 1_000);
    let mut long = participant(1, 0);
    long.user_data = vec![0; 1_000];
    bench.join(long);
    assert_eq!(bench.rendezvous.participants().count(), 0);
    assert_eq!(bench.rendezvous.counters().refused, 1);
}

#[test]
fn a_repeated_announcement_draws_no_more_than_some_introductions_and_not_too_often() {
    let mut bench = Bench::new(|_| {});
    (1..=200).for_each(|id| bench.join(participant(id, 0)));
    bench.now = bench.now + SECOND;
    let datagram = announcement(participant(1, 0));
    let first = bench.hear(home(1), &datagram);
    assert!(first <= 33 * datagram.len());
    assert_eq!(bench.hear(home(1), &datagram), 0);
    assert_eq!(
        bench.hear(home(77), &datagram),
        datagram_of_rendezvous(&bench)
    );
}

/// The same announcement under another number, as some implementations send it.
fn numbered(mut datagram: Vec<u8>, number: u8) -> Vec<u8> {
    let writer = [0, 1, 0, 0xc2];
    let at = datagram.windows(4).position(|four| four == writer);
    datagram[at.expect("the announcing writer") + 8] = number;
    datagram
}

#[test]
fn an_announcement_under_another_number_is_no_news() {
    let mut bench = Bench::new(|_| {});
    (1..=200).for_each(|id| bench.join(participant(id, 0)));
    for number in 2..10 {
        bench.now = bench.now + SECOND;
        let datagram = numbered(announcement(participant(1, 0)), number);
        assert!(bench.hear(home(1), &datagram) <= 33 * datagram.len());
    }
}

#[test]
fn the_more_hear_of_news_the_rarer_they_may_be() {
    let mut bench = Bench::new(|_| {});
    (1..=200).for_each(|id| bench.join(participant(id, 0)));
    bench.now = bench.now + SECOND;
    let before = bench.rendezvous.counters().introductions;
    // Twenty in a second are told four times: to 199 each, and of 199.
    for change in 0..20 {
        bench.now = bench.now + SECOND / 20;
        let mut news = participant(1, 0);
        news.user_data = vec![change];
        bench.hear(home(1), &announcement(news));
        let (now, outbox) = (bench.now, &mut bench.outbox);
        bench.rendezvous.handle_timeout(now, outbox);
    }
    let told = bench.rendezvous.counters().introductions - before;
    assert!((1..=4 * 398).contains(&told), "{told}");
}

/// What the rendezvous last said of itself.
fn datagram_of_rendezvous(bench: &Bench) -> usize {
    assert_eq!(bench.outbox.len(), 1);
    sent(&bench.outbox)
}

#[test]
fn a_goodbye_in_another_name_or_from_elsewhere_is_not_believed() {
    let mut bench = Bench::new(|_| {});
    bench.join(participant(1, 0));
    bench.join(participant(2, 0));
    let mut outbox = Outbox::new();
    discovery(participant(1, 0), 1).close(&mut outbox);
    let goodbye = outbox.datagrams().next().expect("a good-bye").0.to_vec();
    assert_eq!(bench.hear(home(2), &goodbye), 0);
    assert_eq!(bench.rendezvous.counters().misbehaved, 1);
    assert_eq!(bench.rendezvous.participants().count(), 2);
    bench.hear(home(1), &goodbye);
    assert_eq!(bench.rendezvous.participants().count(), 1);
    let before = *bench.rendezvous.counters();
    bench.hear(home(1), &announcement(participant(1, 0)));
    assert_eq!(bench.rendezvous.participants().count(), 1);
    assert_eq!(bench.rendezvous.counters().joined, before.joined);
}

#[test]
fn addresses_that_nobody_can_have_are_told_nothing() {
    let mut bench = Bench::new(|_| {});
    for address in [
        [224, 0, 0, 1],
        [255, 255, 255, 255],
        [0, 0, 0, 0],
        [127, 0, 0, 1],
    ] {
        let mut data = participant(1, 0);
        data.metatraffic_unicast = vec![Locator::udp_v4(address.into(), 7410)];
        assert_eq!(bench.hear(home(1), &announcement(data)), 0, "{address:?}");
    }
    assert_eq!(bench.rendezvous.counters().unreachable, 4);
}

#[test]
fn a_participant_that_floods_its_rendezvous_does_not_keep_others_from_meeting() {
    let mut world = World::new(1, Link::PERFECT);
    world.open(1, |_| {});
    let flooder = world.join(1, 0, 1);
    world.run(SECOND);
    let datagram = announcement(participant(1, 0));
    (0..10_000).for_each(|_| world.inject(flooder, place(1), &datagram));
    let (a, b) = (world.join(2, 5, 1), world.join(3, 5, 1));
    let before = world.network.totals().sent;
    world.run(SECOND);
    assert_eq!([a, b].map(|node| world.known_by(node)), [[3], [2]]);
    assert!(world.network.totals().sent - before < 200);
}

proptest! {
    #[test]
    fn no_datagram_draws_more_bytes_than_it_has(
        body in proptest::collection::vec(any::<u8>(), 0..600),
        cuts in proptest::collection::vec((0..500_usize, any::<u8>()), 0..8),
    ) {
        let mut bench = Bench::new(|config| config.accepts_federates = true);
        let mut rtps = b"RTPS\x02\x05\x01\x54".to_vec();
        rtps.extend_from_slice(&body);
        prop_assert!(bench.hear(home(1), &body) <= body.len());
        prop_assert!(bench.hear(home(1), &rtps) <= rtps.len());
        let mut changed = announcement(participant(1, 0));
        for (at, byte) in cuts {
            let len = changed.len();
            changed[at % len] ^= byte;
        }
        prop_assert!(bench.hear(home(1), &changed) <= changed.len());
        prop_assert_eq!(bench.rendezvous.participants().count(), 0);
    }
}
