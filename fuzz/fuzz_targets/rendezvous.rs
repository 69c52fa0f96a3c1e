//! What a rendezvous hears: announcements that are changed, cut, repeated, addressed to names that it gave and
//! to others, from several addresses, while time passes. Nothing panics, the table stays within its bounds, and
//! nobody who has not answered is sent more than he sent.
#![no_main]

use std::hash::{BuildHasherDefault, DefaultHasher};
use std::net::Ipv4Addr;

use libfuzzer_sys::fuzz_target;
use tickwire_base::{Duration, Instant, Locator};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::{Discovery, DiscoveryConfig, ParticipantData};
use tickwire_rtps::rendezvous::{Rendezvous, RendezvousConfig};
use tickwire_rtps::wire::{GuidPrefix, MessageReader, VendorId};

const MAX_PARTICIPANTS: usize = 8;

fn home(id: u8) -> Locator {
    Locator::udp_v4(Ipv4Addr::new(10, 0, 0, id % 4), 7410 + u16::from(id % 16))
}

fn config() -> RendezvousConfig {
    RendezvousConfig {
        max_participants: MAX_PARTICIPANTS,
        max_participants_per_address: 4,
        max_announcement_len: 2_000,
        max_bytes: 8_000,
        federates: vec![home(3)],
        accepts_federates: true,
        ..RendezvousConfig::new(vec![Locator::udp_v4(Ipv4Addr::new(10, 0, 1, 1), 7399)])
    }
}

/// What a participant says first, or last.
fn speech(id: u8, is_goodbye: bool) -> Vec<u8> {
    let mut data = ParticipantData::new(GuidPrefix([id | 1; 12]));
    data.domain_id = Some(u32::from(id >> 6));
    data.lease_duration = Duration::from_secs(u64::from(id));
    data.metatraffic_unicast = vec![home(id)];
    data.entity_name = "somebody with a name that makes the announcement long enough".into();
    data.user_data = vec![id; usize::from(id)];
    let mut config = DiscoveryConfig::new(data);
    config.announce_to = vec![home(0)];
    let mut discovery = Discovery::new(config).expect("short names");
    let mut outbox = Outbox::new();
    match is_goodbye {
        true => discovery.close(&mut outbox),
        false => discovery.handle_timeout(Instant::ZERO, &mut outbox),
    }
    let first = outbox.datagrams().next();
    first.map(|(bytes, _)| bytes.to_vec()).unwrap_or_default()
}

fuzz_target!(|input: &[u8]| {
    let mut rendezvous = Rendezvous::new(config(), BuildHasherDefault::<DefaultHasher>::default());
    let mut now = Instant::from_nanos(1);
    let mut outbox = Outbox::new();
    // The newest name that was told to anybody.
    let mut name = GuidPrefix::UNKNOWN;
    // What it said last.
    let mut last = Vec::new();
    let mut rest = input;
    while let [act, a, b, after @ ..] = rest {
        rest = after;
        let mut datagram = speech(*a, act & 16 != 0);
        match act % 9 {
            0 => {}
            1..=3 => datagram[24..36].copy_from_slice(&name.0),
            4 => {
                let at = usize::from(*b) * 3 % datagram.len();
                datagram[at] ^= act | 1;
            }
            5 => datagram.truncate(usize::from(*b)),
            6 => {
                now = now + Duration::from_millis(u64::from(*b) * 20);
                rendezvous.handle_timeout(now, &mut outbox);
            }
            7 => {
                // As another rendezvous would speak.
                datagram.clone_from(&last);
                if let Some(destination) = datagram.get_mut(24..36) {
                    destination.copy_from_slice(&name.0);
                }
            }
            _ => {
                let (body, later) = rest.split_at(usize::from(*b).min(rest.len()));
                rest = later;
                datagram.truncate(20);
                datagram.extend_from_slice(body);
            }
        }
        outbox.clear();
        rendezvous.handle(now, home(act >> 5 ^ a), &datagram, &mut outbox);
        for (bytes, to) in outbox.datagrams() {
            assert!(to.len() <= MAX_PARTICIPANTS);
            let message = MessageReader::new(bytes.head).expect("it speaks RTPS");
            let source = message.context().source_prefix;
            if source.0[..2] == VendorId::TICKWIRE.0 {
                name = source;
            }
            assert!(message.into_iter().all(|item| item.is_ok()));
            last = bytes.to_vec();
        }
        let registered = rendezvous.participants().count();
        assert!(registered <= MAX_PARTICIPANTS);
        if registered == 0 && name == GuidPrefix::UNKNOWN {
            let sent: usize = outbox.datagrams().map(|(bytes, _)| bytes.len()).sum();
            assert!(sent <= datagram.len());
        }
        while rendezvous.poll_event().is_some() {}
    }
});
