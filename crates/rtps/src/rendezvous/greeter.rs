//! How a rendezvous speaks of itself, and how an address proves that it hears.
//!
//! The name under which the rendezvous speaks to an address can be known only there: it comes from a
//! secret, and a participant that answers, as every DDS does, puts it into INFO_DST. So nothing needs to be
//! remembered of those who have not answered. Who is not registered sees a new name every few seconds, since
//! a DDS answers one name but once. Knows nobody.

use alloc::vec::Vec;
use core::hash::BuildHasher;

use tickwire_base::{Duration, Instant, Locator};

use crate::discovery::{BuiltinEndpoints, ParticipantData};
use crate::outbox::Outbox;
use crate::wire::{
    Data, EntityId, GuidPrefix, InlineQos, SequenceNumber, SerializedPayload, VendorId,
};

/// Announces the rendezvous to one address at a time.
pub(super) struct Greeter<S> {
    secret: S,
    locators: Vec<Locator>,
}

/// To whom, and as what, the rendezvous announces itself.
pub(super) struct Greeting<'a> {
    /// The name under which it speaks.
    pub(super) name: GuidPrefix,
    /// What INFO_DST says. A participant that is named there takes itself for known.
    pub(super) destination: GuidPrefix,
    pub(super) at: Locator,
    /// The domain that it is to count to, and its tag.
    pub(super) domain: Option<(u32, &'a str)>,
    /// How long the other one may take for silence.
    pub(super) lease: Duration,
    /// The most bytes that may be sent.
    pub(super) max_len: usize,
}

impl<S: BuildHasher> Greeter<S> {
    pub(super) fn new(secret: S, locators: Vec<Locator>) -> Self {
        Self { secret, locators }
    }

    /// Whether an address is the rendezvous' own.
    pub(super) fn is_own(&self, at: &Locator) -> bool {
        self.locators.contains(at)
    }

    /// The name under which the rendezvous speaks now to a participant at an address, in answer to what
    /// came from `source`; or to another rendezvous, which is an unknown participant.
    pub(super) fn name_for(
        &self,
        now: Instant,
        participant: GuidPrefix,
        at: &Locator,
        source: &Locator,
    ) -> GuidPrefix {
        let VendorId([a, b]) = VendorId::TICKWIRE;
        let window = now.as_nanos() / WINDOW_NS;
        let proof @ [c, d, e, f, g, h, i] = self.proof(window, participant, at);
        let [x, y, z] = self.check(window, participant, source, proof);
        GuidPrefix([a, b, x, y, z, c, d, e, f, g, h, i])
    }

    /// Whether a name proves that who uses it hears at that address, as it was the participant's there
    /// lately.
    pub(super) fn is_name_for(
        &self,
        now: Instant,
        participant: GuidPrefix,
        at: &Locator,
        name: GuidPrefix,
    ) -> bool {
        let GuidPrefix([a, b, _, _, _, proof @ ..]) = name;
        let is_proof = |window| self.proof(window, participant, at) == proof;
        VendorId([a, b]) == VendorId::TICKWIRE && windows(now).into_iter().any(is_proof)
    }

    /// Whether a name was given lately to the participant, at some address, in answer to what came from
    /// the IP address that it is used from now. Who makes one up is right once in 16 million times.
    pub(super) fn is_given(
        &self,
        now: Instant,
        participant: GuidPrefix,
        source: &Locator,
        name: GuidPrefix,
    ) -> bool {
        let GuidPrefix([a, b, x, y, z, proof @ ..]) = name;
        let is_check = |window| self.check(window, participant, source, proof) == [x, y, z];
        VendorId([a, b]) == VendorId::TICKWIRE && windows(now).into_iter().any(is_check)
    }

    /// ```text
    ///  0                   1                   2                   3
    /// +-------+-------+-------+-------+
    /// |   vendor id   |    check      |
    /// +       +-------+-------+-------+
    /// |       |   7 bytes of proof:   |
    /// +-------+  a keyed hash of      |
    /// |   window, prefix and locator  |
    /// +-------------------------------+
    /// ```
    fn proof(&self, window: u64, participant: GuidPrefix, at: &Locator) -> [u8; 7] {
        let hash = self.secret.hash_one((window, participant, at));
        let [proof @ .., _] = hash.to_be_bytes();
        proof
    }

    /// A keyed hash of window, prefix, the IP address that asked, and proof. It shows that the name is
    /// ours where the locator is not known.
    fn check(
        &self,
        window: u64,
        participant: GuidPrefix,
        source: &Locator,
        proof: [u8; 7],
    ) -> [u8; 3] {
        let asked_from = source.address;
        let hash = self
            .secret
            .hash_one((window, participant, asked_from, proof));
        let [x, y, z, ..] = hash.to_be_bytes();
        [x, y, z]
    }

    /// Announces the rendezvous, with what may be left out if it would be too long; says how many bytes
    /// that took, 0 if even the least is too long.
    pub(super) fn greet(&self, greeting: &Greeting<'_>, outbox: &mut Outbox) -> usize {
        let all = self.locators.as_slice();
        let first = all.get(..1).unwrap_or_default();
        for (name, locators) in [(NAME, all), ("", all), ("", first)] {
            let data = ParticipantData {
                domain_id: greeting.domain.map(|(id, _)| id),
                domain_tag: greeting.domain.map_or("", |(_, tag)| tag).into(),
                builtin_endpoints: BuiltinEndpoints::RENDEZVOUS,
                metatraffic_unicast: locators.to_vec(),
                lease_duration: greeting.lease,
                entity_name: name.into(),
                ..ParticipantData::new(greeting.name)
            };
            let mut payload = Vec::new();
            // Only the tag is not ours, and it came in a parameter.
            let fits = data.write(&mut payload).is_ok();
            let len = ENVELOPE_LEN + payload.len();
            if fits && len <= greeting.max_len {
                let mut message = outbox.message(greeting.name, &[greeting.at]);
                message.info_dst(greeting.destination).data(&Data {
                    payload: SerializedPayload::Data(&payload),
                    ..ANNOUNCEMENT
                });
                return len;
            }
        }
        0
    }
}

/// What rendezvous are called.
const NAME: &str = "tickwire rendezvous";

/// An announcement without content.
pub(super) const ANNOUNCEMENT: Data<'static> = Data {
    reader: EntityId::SPDP_READER,
    writer: EntityId::SPDP_WRITER,
    sequence_number: SequenceNumber::FIRST,
    inline_qos: InlineQos {
        bytes: &[],
        little_endian: true,
    },
    payload: SerializedPayload::None,
};

/// Header, INFO_DST, and DATA up to its payload.
const ENVELOPE_LEN: usize = 20 + 16 + 24;

/// The windows whose names are understood.
fn windows(now: Instant) -> [u64; 2] {
    let window = now.as_nanos() / WINDOW_NS;
    [window, window.saturating_sub(1)]
}

/// How long a name is given to those who are not registered; it is understood for as long again.
const WINDOW_NS: u64 = 8_000_000_000;
