//! What discovery tells the endpoints of a participant.

use std::sync::Arc;

use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::{EndpointData, Event};
use tickwire_rtps::qos::Verdict;
use tickwire_rtps::reader::WriterProxy;
use tickwire_rtps::wire::{EntityId, Guid};
use tickwire_rtps::writer::ReaderProxy;

use crate::clock;
use crate::core::Core;
use crate::reader::endpoint::ReaderEndpoint;
use crate::shm::Want;
use crate::writer::endpoint::WriterEndpoint;

impl Core {
    /// Does what events tell to do, but that [some matches end](crate::leaving), which waits. To be called under discovery's
    /// lock, lest they overtake each other.
    pub(crate) fn apply(&self, events: impl Iterator<Item = Event>, outbox: &mut Outbox) {
        let now = clock::now();
        self.apply_in_order(events.flat_map(|event| self.sift(now, event)), outbox);
    }

    /// Does what events tell to do. The routes, which are copied for whoever reads them, change once for all matches that
    /// follow each other, and once for all ends of matches.
    pub(crate) fn apply_in_order(&self, events: impl Iterator<Item = Event>, outbox: &mut Outbox) {
        let (mut together, mut ended) = (Vec::new(), false);
        for event in events {
            let ends = match event {
                Event::WriterUnmatched { .. } | Event::ReaderUnmatched { .. } => true,
                Event::WriterMatched { .. }
                | Event::ReaderMatched { .. }
                | Event::Incompatible { .. }
                | Event::LivelinessChanged { .. } => false,
                // It concerns no pair.
                _ => ended,
            };
            if ends != ended {
                self.apply_together(&mut together, outbox);
                ended = ends;
            }
            together.push(event);
        }
        self.apply_together(&mut together, outbox);
    }

    /// Does what events tell to do that all end matches or none of which does.
    fn apply_together(&self, events: &mut Vec<Event>, outbox: &mut Outbox) {
        let concerns_routes = |event: &Event| {
            matches!(
                event,
                Event::WriterMatched { .. } | Event::WriterUnmatched { .. }
            )
        };
        if events.iter().any(concerns_routes) {
            self.directory.change(|routes| {
                for event in events.iter() {
                    match event {
                        Event::WriterMatched { reader, writer, .. } => {
                            routes.connect(writer.guid, *reader, &writer.qos);
                        }
                        Event::WriterUnmatched { reader, writer, .. } => {
                            routes.disconnect(*writer, *reader);
                        }
                        _ => {}
                    }
                }
            });
        }
        for event in events.drain(..) {
            self.apply_one(event, outbox);
        }
    }

    fn apply_one(&self, event: Event, outbox: &mut Outbox) {
        match event {
            Event::ReaderMatched {
                writer,
                reader,
                proxy,
            } => self.match_reader(writer, &reader, proxy, outbox),
            Event::ReaderUnmatched { writer, reader } => {
                let now = clock::now();
                self.tell_writer(writer, |writer| writer.unmatch_reader(now, reader, outbox));
            }
            Event::WriterMatched {
                reader,
                writer,
                proxy,
            } => {
                self.match_writer(reader, &writer, proxy, outbox);
                self.want(Want::Follow(writer.guid));
            }
            Event::WriterUnmatched {
                reader,
                writer,
                gone,
            } => {
                if !self.directory.snapshot().by_writer.contains_key(&writer) {
                    self.want(Want::Leave(writer));
                }
                let last_change = gone.and_then(|gone| gone.last_change);
                self.tell_reader(reader, |reader| reader.unmatch_writer(writer, last_change));
            }
            Event::GroupChanged {
                reader,
                publisher,
                writers,
            } => self.tell_reader(reader, |reader| reader.group_changed(publisher, &writers)),
            Event::Incompatible {
                local,
                remote,
                verdict,
            } => self.explain(local, &remote, verdict),
            Event::LivelinessChanged { writer, alive } => {
                let routes = self.directory.snapshot();
                if let Some(sign) = routes.leased.get(&writer).filter(|_| alive) {
                    sign.end_silence();
                }
                for reader in routes.readers_of(EntityId::UNKNOWN, writer) {
                    if reader.liveliness_changed(writer, alive) {
                        self.call_listener_later(reader.guid().entity);
                    }
                }
            }
            event => {
                self.note_neighbours(&event);
                self.builtin.follow(&event);
            }
        }
    }

    /// Notes who may be met in shared memory.
    fn note_neighbours(&self, event: &Event) {
        match event {
            Event::ParticipantFound(data) | Event::ParticipantChanged(data) => {
                self.want(Want::Known(data.guid_prefix, data.shared_memory));
            }
            Event::ParticipantLost { prefix, .. } => self.want(Want::Gone(*prefix)),
            _ => {}
        }
    }

    fn match_reader(
        &self,
        writer: Guid,
        reader: &EndpointData,
        mut proxy: ReaderProxy,
        outbox: &mut Outbox,
    ) {
        if proxy.unicast.is_empty() && proxy.multicast.is_empty() {
            self.counters.unreachable.add(1);
        }
        let now = clock::now();
        self.tell_writer(writer, |writer| {
            proxy.filter = writer.filter_of(reader).map(Box::new);
            writer.match_reader(now, proxy, outbox)
        });
    }

    fn match_writer(
        &self,
        reader: Guid,
        writer: &EndpointData,
        proxy: WriterProxy,
        outbox: &mut Outbox,
    ) {
        if proxy.unicast.is_empty() {
            self.counters.unreachable.add(1);
        }
        let now = clock::now();
        self.tell_reader(reader, |reader| {
            reader.match_writer(now, proxy, writer, outbox)
        });
    }

    fn explain(&self, local: Guid, remote: &EndpointData, verdict: Verdict) {
        if verdict.is_inconsistent_topic() {
            self.found_inconsistent(&remote.topic_name);
        }
        let (remote, verdict) = (remote.guid, Arc::new(verdict));
        match local.entity.is_writer() {
            true => self.tell_writer(local, |writer| writer.incompatible(remote, verdict)),
            false => self.tell_reader(local, |reader| reader.incompatible(remote, verdict)),
        }
    }

    fn found_inconsistent(&self, topic: &str) {
        if self.topics.found_inconsistent(topic, &self.listener) {
            self.call_listener_later(EntityId::PARTICIPANT);
        }
    }

    fn tell_writer(&self, writer: Guid, tell: impl FnOnce(&WriterEndpoint) -> bool) {
        let routes = self.directory.snapshot();
        if routes
            .writers
            .get(&writer.entity)
            .is_some_and(|writer| tell(writer))
        {
            self.call_listener_later(writer.entity);
        }
    }

    fn tell_reader(&self, reader: Guid, tell: impl FnOnce(&dyn ReaderEndpoint) -> bool) {
        let routes = self.directory.snapshot();
        if routes
            .readers
            .get(&reader.entity)
            .is_some_and(|reader| tell(&**reader))
        {
            self.call_listener_later(reader.entity);
        }
    }
}

#[cfg(test)]
mod tests {
    use tickwire_rtps::discovery::{LostReason, Role};
    use tickwire_rtps::wire::GuidPrefix;

    use super::*;
    use crate::{DomainParticipant, Driving};

    #[test]
    fn the_routes_change_once_for_all_endpoints_that_leave_together() {
        let builder = DomainParticipant::builder(173).multicast(false);
        let participant = builder
            .driving(Driving::Polled)
            .build()
            .expect("a participant");
        let core = participant.core();
        let reader = Guid::new(core.prefix, EntityId::user_reader(1, true));
        let leave = |key| {
            let writer = Guid::new(GuidPrefix([7; 12]), EntityId::user_writer(key, true));
            let data = EndpointData::new(Role::Writer, writer, "T".to_owned(), "T".to_owned());
            let lost = Event::EndpointLost {
                endpoint: Arc::new(data),
                reason: LostReason::Left,
            };
            let unmatched = Event::WriterUnmatched {
                reader,
                writer,
                gone: None,
            };
            [unmatched, lost]
        };
        let before = core.directory.changes();
        core.apply((1..=1_000).flat_map(leave), &mut Outbox::new());
        assert_eq!(core.directory.changes(), before + 1);
    }
}
