//! What arrives at a rendezvous: announcements and good-byes of participants, from themselves or through
//! another rendezvous, and announcements of these.

use core::hash::BuildHasher;
use core::net::IpAddr;

use tickwire_base::{Instant, Locator};

use super::members::{Admitted, Registration, Said};
use super::{
    Greeting, MIN_PAUSE, Origin, REPEATED_INTRODUCTIONS, Rendezvous, RendezvousEvent,
    greeter::ANNOUNCEMENT, introduce, patience,
};
use crate::change::ChangeKind;
use crate::discovery::ParticipantData;
use crate::outbox::Outbox;
use crate::wire::{
    Context, Data, EntityId, Guid, GuidPrefix, Header, SerializedPayload, Submessage,
};

/// Where a submessage comes from.
pub(super) struct From<'a> {
    pub(super) now: Instant,
    pub(super) source: Locator,
    pub(super) context: Context<'a>,
}

impl<S: BuildHasher> Rendezvous<S> {
    /// Takes a submessage. `allowance` is how many bytes may go to addresses that have not answered.
    pub(super) fn submessage(
        &mut self,
        from: &From<'_>,
        submessage: &Submessage<'_>,
        allowance: &mut usize,
        outbox: &mut Outbox,
    ) {
        let data = match submessage {
            Submessage::Data(data) if data.writer == EntityId::SPDP_WRITER => data,
            _ => {
                self.counters.ignored += 1;
                return self.note_answer(from);
            }
        };
        let kind = ChangeKind::from_status_info(data.inline_qos.status_info().0);
        if !kind.is_alive() {
            return self.goodbye(from, data, outbox);
        }
        self.counters.announcements_received += 1;
        let SerializedPayload::Data(payload) = data.payload else {
            self.counters.unusable += 1;
            return;
        };
        let announced = match ParticipantData::read(payload) {
            Ok(announced) => announced,
            Err(_) => {
                self.counters.unusable += 1;
                return;
            }
        };
        if announced.guid_prefix != from.context.source_prefix {
            self.counters.misbehaved += 1;
        } else if announced.is_rendezvous() {
            self.other_rendezvous(from, allowance, outbox);
        } else {
            self.participant(from, (data, payload), &announced, allowance, outbox);
        }
    }

    /// Somebody calls us by a name. It is remembered if we have given it, and if nothing is known from
    /// there: who is registered from elsewhere may have moved, or somebody else has taken its prefix.
    fn note_answer(&mut self, from: &From<'_>) {
        let (participant, name) = (from.context.source_prefix, from.context.destination_prefix);
        let member = self.members.get(participant);
        let is_known = member.is_some_and(|member| member.origin.is_from(&from.source));
        let is_given = || {
            let greeter = &self.greeter;
            greeter.is_given(from.now, participant, &from.source, name)
        };
        if !is_known && is_given() {
            let displaced = self.answers.note(participant, &from.source, name);
            self.counters.answers_displaced += u64::from(displaced);
        }
    }

    fn participant(
        &mut self,
        from: &From<'_>,
        (data, payload): (&Data<'_>, &[u8]),
        announced: &ParticipantData,
        allowance: &mut usize,
        outbox: &mut Outbox,
    ) {
        let context = &from.context;
        let our_name = match context.destination_prefix {
            GuidPrefix::UNKNOWN => self.answers.name(announced.guid_prefix, &from.source),
            name => name,
        };
        let Some(origin) = self.origin(from, our_name, announced) else {
            return self.challenge(from, announced, allowance, outbox);
        };
        let (prefix, domain) = (announced.guid_prefix, self.domain_of(announced));
        let registration = Registration {
            domain: (domain, announced.domain_tag.clone()),
            name: announced.entity_name.clone(),
            lease: announced.lease_duration,
            said: Said {
                header: Header {
                    version: context.version,
                    vendor: context.vendor,
                    prefix,
                },
                sequence_number: data.sequence_number,
                payload: payload.to_vec(),
            },
            origin,
            our_name,
        };
        let admitted = self
            .members
            .admit(from.now, prefix, registration, &self.config);
        if matches!(admitted, Admitted::New | Admitted::Changed) {
            self.answers.forget(prefix, &from.source);
        }
        match admitted {
            Admitted::New => {
                self.counters.joined += 1;
                self.events.push_back(RendezvousEvent::Joined {
                    prefix,
                    domain,
                    name: announced.entity_name.clone(),
                    at: origin.at().unwrap_or(from.source),
                    is_federated: origin.at().is_none(),
                });
                self.greet_member(prefix, outbox);
                self.make_known(from.now, prefix, outbox);
            }
            Admitted::Changed => self.tell_news(from.now, prefix, outbox),
            Admitted::Same => self.serve_again(from.now, prefix, outbox),
            Admitted::Refused => self.counters.refused += 1,
            Admitted::Outdated => self.counters.misbehaved += 1,
        }
    }

    /// Where a participant is known from; `None` if nothing shows that it is at an address that it
    /// announces. What does is the name that only this address was told. From then on it is enough that it
    /// comes from where that came from.
    fn origin(
        &self,
        from: &From<'_>,
        destination: GuidPrefix,
        announced: &ParticipantData,
    ) -> Option<Origin> {
        let (source, prefix) = (from.source, announced.guid_prefix);
        if destination != GuidPrefix::UNKNOWN {
            if self.is_joined(from) {
                return Some(Origin::Federate(source));
            }
            let mut addresses = usable(announced, source);
            let greeter = &self.greeter;
            if let Some(at) =
                addresses.find(|at| greeter.is_name_for(from.now, prefix, at, destination))
            {
                return Some(Origin::Itself { at, source });
            }
        }
        let known = self.members.get(prefix)?;
        let Origin::Itself { at, source: before } = known.origin else {
            return None;
        };
        let is_same = source == before || destination == known.our_name;
        let is_same = is_same && announced.metatraffic_unicast.contains(&at);
        is_same.then_some(Origin::Itself { at, source })
    }

    /// Announces us to an address of a participant, to see whether it answers.
    fn challenge(
        &mut self,
        from: &From<'_>,
        announced: &ParticipantData,
        allowance: &mut usize,
        outbox: &mut Outbox,
    ) {
        let addresses = || usable(announced, from.source);
        let same_host = addresses().find(|at| at.address == from.source.address);
        // Each in turn, where none looks better.
        let turn = usize::try_from(self.counters.challenged).unwrap_or_default();
        let other = || addresses().nth(turn % addresses().count().max(1));
        let Some(at) = same_host.or_else(other) else {
            self.counters.unreachable += 1;
            return;
        };
        let greeting = Greeting {
            name: self
                .greeter
                .name_for(from.now, announced.guid_prefix, &at, &from.source),
            destination: GuidPrefix::UNKNOWN,
            at,
            domain: Some((self.domain_of(announced), &announced.domain_tag)),
            lease: patience(announced.lease_duration),
            max_len: *allowance,
        };
        let sent = self.greeter.greet(&greeting, outbox);
        *allowance -= sent.min(*allowance);
        match sent {
            0 => self.counters.too_short += 1,
            _ => self.counters.challenged += 1,
        }
    }

    /// A participant announces something else than before. All others are told, so the more there
    /// are, the longer the next news have to wait.
    fn tell_news(&mut self, now: Instant, prefix: GuidPrefix, outbox: &mut Outbox) {
        let rounds = self.members.domain_len(prefix) / REPEATED_INTRODUCTIONS;
        let pause = MIN_PAUSE.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX).max(1));
        let Some(member) = self.members.get_mut(prefix) else {
            return;
        };
        if now.since(member.told_at) >= pause {
            self.greet_member(prefix, outbox);
            return self.make_known(now, prefix, outbox);
        }
        if !core::mem::replace(&mut member.is_untold, true) {
            self.untold.insert((member.told_at + pause, prefix));
        }
    }

    /// A participant announces itself again: what was said may have been lost.
    fn serve_again(&mut self, now: Instant, prefix: GuidPrefix, outbox: &mut Outbox) {
        let Some(member) = self.members.get_mut(prefix) else {
            return;
        };
        if now.since(member.served_at) < MIN_PAUSE {
            return;
        }
        member.served_at = now;
        self.greet_member(prefix, outbox);
        self.introduce_others(now, prefix, (REPEATED_INTRODUCTIONS, false), outbox);
        self.pass_on(prefix, outbox);
    }

    /// A participant goes. It can only speak for itself, and from where it has announced itself.
    fn goodbye(&mut self, from: &From<'_>, data: &Data<'_>, outbox: &mut Outbox) {
        let prefix = from.context.source_prefix;
        let named = match (data.payload, data.inline_qos.key_hash()) {
            (SerializedPayload::Data(key) | SerializedPayload::Key(key), _) => {
                ParticipantData::read_key(key).ok()
            }
            (SerializedPayload::None, Some(hash)) => Some(Guid::from_bytes(hash).prefix),
            (SerializedPayload::None, None) => Some(prefix),
        };
        let Some(member) = self.members.get(prefix).filter(|member| !member.is_gone) else {
            self.counters.ignored += 1;
            return;
        };
        let is_itself = match member.origin {
            Origin::Itself { source, .. } => source == from.source,
            Origin::Federate(at) => at == from.source && self.is_joined(from),
        };
        if named != Some(prefix) || !is_itself {
            self.counters.misbehaved += 1;
            return;
        }
        let (header, is_ours) = (member.said.header, member.origin.at().is_some());
        let goodbye = Data {
            sequence_number: data.sequence_number,
            inline_qos: data.inline_qos,
            payload: data.payload,
            ..ANNOUNCEMENT
        };
        let audience = self.members.audience(prefix);
        if !audience.is_empty() {
            outbox.message_of(&header, &audience).data(&goodbye);
        }
        for federate in self.federates.joined().filter(|_| is_ours) {
            let mut message = outbox.message_of(&header, &[federate.at]);
            let (theirs, _) = federate.names.unwrap_or_default();
            message.info_dst(theirs);
            message.data(&goodbye);
        }
        self.members.bury(from.now, prefix);
        self.counters.left += 1;
        self.events.push_back(RendezvousEvent::Left {
            prefix,
            lease_expired: false,
        });
    }

    /// Another rendezvous announces itself, as it does to those with which it wants to federate.
    fn other_rendezvous(&mut self, from: &From<'_>, allowance: &mut usize, outbox: &mut Outbox) {
        let (now, source, theirs) = (from.now, from.source, from.context.source_prefix);
        if !self.federates.may_join(&source) {
            self.counters.federates_refused += 1;
            return;
        }
        let ours = from.context.destination_prefix;
        let is_new_name = || {
            let greeter = &self.greeter;
            greeter.is_name_for(now, GuidPrefix::UNKNOWN, &source, ours)
        };
        if !self.is_joined(from) && !is_new_name() {
            let sent = self.greet_federate(now, (theirs, source), *allowance, outbox);
            *allowance -= sent.min(*allowance);
            self.counters.challenged += u64::from(sent > 0);
            return;
        }
        if self.federates.heard(now, source, (theirs, ours)) {
            self.events
                .push_back(RendezvousEvent::FederateFound(source));
            self.greet_federate(now, (theirs, source), usize::MAX, outbox);
            for (_, member) in self.members.iter() {
                if member.origin.at().is_some() {
                    introduce(&member.said, theirs, &[source], outbox);
                    self.counters.introductions += 1;
                }
            }
        }
    }

    /// Whether it comes from another rendezvous that has answered.
    fn is_joined(&self, from: &From<'_>) -> bool {
        let ours = self.federates.our_name_for(&from.source);
        ours == Some(from.context.destination_prefix)
    }

    fn domain_of(&self, announced: &ParticipantData) -> u32 {
        announced.domain_id.unwrap_or(self.config.default_domain)
    }
}

/// The addresses at which a participant that sends from `source` could be told something. Loopback is its
/// own only on this machine.
fn usable(announced: &ParticipantData, source: Locator) -> impl Iterator<Item = Locator> {
    let is_loopback = |at: &Locator| at.to_udp().is_some_and(|at| at.ip().is_loopback());
    let from_loopback = is_loopback(&source);
    let addresses = announced.metatraffic_unicast.iter().copied();
    addresses.filter(move |at| {
        let is_one = |ip: IpAddr| !(ip.is_multicast() || ip.is_unspecified() || is_broadcast(ip));
        at.to_udp().is_some_and(|to| is_one(to.ip())) && (from_loopback || !is_loopback(at))
    })
}

fn is_broadcast(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(v4) if v4.is_broadcast())
}
