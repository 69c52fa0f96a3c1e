//! What the comparison of endpoints means for the local ones.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use tickwire_base::Instant;

use super::endpoints::{Outcome, PairChange};
use super::event::{Event, Gone};
use super::participants::Participant;
use super::{Discovery, EndpointData, ParticipantData, proxies};
use crate::wire::{GuidPrefix, VendorId};

impl Discovery {
    /// Takes over an endpoint and reports what that changes.
    pub(super) fn upsert(&mut self, now: Instant, data: Arc<EndpointData>) {
        let changes = self.endpoints.insert(Arc::clone(&data), &self.type_lookup);
        self.report(now, changes, None);
    }

    /// A participant's locators have changed, hence the proxies of its endpoints.
    pub(super) fn compare_again(&mut self, now: Instant, prefix: GuidPrefix) {
        let endpoints: Vec<_> = self.endpoints.of(prefix).cloned().collect();
        for endpoint in endpoints {
            let changes = self.endpoints.compare(&endpoint, &self.type_lookup);
            self.report(now, changes, None);
        }
    }

    /// Turns what changed between endpoints into events for the local ones. With one that has `gone` all its matches end.
    pub(super) fn report(&mut self, now: Instant, changes: Vec<PairChange>, gone: Option<Gone>) {
        self.counters.pairs_compared = self.endpoints.compared();
        self.counters.types_refused = self.endpoints.types_refused();
        for change in changes {
            if change.writer.guid.prefix == self.prefix() {
                self.report_to_writer(&change);
            }
            if change.reader.guid.prefix == self.prefix() {
                self.report_to_reader(now, &change, gone);
            }
        }
    }

    /// Of two endpoints, the one that matches first speaks, behind its announcement; the other one need
    /// only answer. The remote endpoint has matched before ours if its participant has acknowledged our
    /// announcement. Other implementations may do otherwise.
    pub(super) fn tell_who_speaks(&self, event: &mut Event) {
        let (remote, local) = match event {
            Event::ReaderMatched { reader, writer, .. } => (reader.guid.prefix, *writer),
            Event::WriterMatched { writer, reader, .. } => (writer.guid.prefix, *reader),
            _ => return,
        };
        let participant = self.participants.get(remote);
        let is_ours = |found: &&Participant| found.data.vendor == VendorId::TICKWIRE;
        let Some(participant) = participant.filter(is_ours) else {
            return;
        };
        match event {
            Event::ReaderMatched { proxy, .. } => {
                proxy.speaks_first = self.publications.is_known_to(remote, local);
                proxy.introduced_at.clone_from(&participant.metatraffic);
            }
            Event::WriterMatched { proxy, .. } => {
                proxy.speaks_first = self.subscriptions.is_known_to(remote, local);
            }
            _ => {}
        }
    }

    fn report_to_writer(&mut self, change: &PairChange) {
        let (writer, reader) = (change.writer.guid, &change.reader);
        let event = match &change.outcome {
            Outcome::Matched => match self.owner_of(reader) {
                None => return,
                Some(owner) => Event::ReaderMatched {
                    writer,
                    reader: Arc::clone(reader),
                    proxy: proxies::reader_proxy(reader, owner, &self.config.attachment),
                },
            },
            Outcome::Unmatched => Event::ReaderUnmatched {
                writer,
                reader: reader.guid,
            },
            Outcome::Incompatible(verdict) => Event::Incompatible {
                local: writer,
                remote: Arc::clone(reader),
                verdict: verdict.clone(),
            },
        };
        self.events.push_back(event);
    }

    fn report_to_reader(&mut self, now: Instant, change: &PairChange, gone: Option<Gone>) {
        let (reader, writer) = (change.reader.guid, &change.writer);
        let event = match &change.outcome {
            Outcome::Matched => match self.owner_of(writer) {
                None => return,
                Some(owner) => Event::WriterMatched {
                    reader,
                    writer: Arc::clone(writer),
                    proxy: proxies::writer_proxy(
                        writer,
                        &change.reader,
                        owner,
                        &self.config.attachment,
                    ),
                },
            },
            Outcome::Unmatched => Event::WriterUnmatched {
                reader,
                writer: writer.guid,
                gone,
            },
            Outcome::Incompatible(verdict) => Event::Incompatible {
                local: reader,
                remote: Arc::clone(writer),
                verdict: verdict.clone(),
            },
        };
        self.events.push_back(event);
        if matches!(change.outcome, Outcome::Matched) {
            self.tracker.add(now, &change.writer);
        }
    }

    /// The participant of an endpoint, our own included, and where it was heard from.
    fn owner_of(&self, endpoint: &EndpointData) -> Option<(&ParticipantData, Option<IpAddr>)> {
        let prefix = endpoint.guid.prefix;
        if prefix == self.prefix() {
            return Some((&self.config.participant, None));
        }
        let found = self.participants.get(prefix)?;
        Some((&*found.data, found.source))
    }
}
