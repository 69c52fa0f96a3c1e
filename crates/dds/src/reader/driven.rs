//! What the participant's threads do with a reader: they hand it what arrives, and drive its timers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::EndpointData;
use tickwire_rtps::qos::{RepresentationId, Verdict};
use tickwire_rtps::reader::{Decision, Samples as _, WriterProxy};
use tickwire_rtps::wire::{EntityId, Guid, SequenceNumber, Submessage};

use super::cache::WriterPolicy;
use super::endpoint::{Listed, ReaderEndpoint, Run};
use super::info::StateMask;
use super::room::Room;
use super::shared::{ReaderShared, ReaderState};
use super::status::ReaderStatuses;
use crate::clock;
use crate::lane::PlainSamples;
use crate::listeners::ToTell;
use crate::loan::Holdable;
use crate::signal::lock;
use crate::status::StatusMask;
use crate::type_support::TopicSupport;

impl<T: TopicSupport> ReaderEndpoint for ReaderShared<T> {
    fn guid(&self) -> Guid {
        self.guid
    }

    fn receive(&self, run: &mut Run<'_, '_>, outbox: &mut Outbox) -> ToTell {
        // Sets of several readers are told of each change.
        if self.is_in_sets() {
            run.end();
        }
        let settled = self.change_state(|state, _| {
            state.inbox.now = run.now;
            state.inbox.timestamp = run.timestamp;
            state.borrow(run.memory);
            loop {
                state.handle(run, outbox);
                if !run.advance() {
                    break;
                }
            }
            state.borrow(None);
            if run.asks {
                run.has = state.machine.has_up_to(run.writer());
            }
            StatusMask::NONE
        });
        self.announce_for(settled)
    }

    fn receive_plain(&self, samples: &mut PlainSamples<'_>, outbox: &mut Outbox) -> ToTell {
        let mut state = lock(&self.state);
        // Of many, what is seen to once for all of them is little for each.
        let are_few = samples.are_few() && outbox.is_empty();
        if are_few && state.take_straight(samples) {
            if samples.is_done() || !self.keeps_all {
                self.hand_out(state);
                return ToTell::default();
            }
            state.leave_straight();
        }
        state.handle_plain(samples, outbox);
        let settled = self.settle(&mut state);
        // What lies behind is answered first, where the samples can wait.
        let is_answered = outbox.is_empty() && (samples.is_done() || !self.keeps_all);
        if settled.is_of_samples() && is_answered {
            self.hand_out(state);
            return ToTell::default();
        }
        drop(state);
        self.announce_for(settled)
    }

    fn takes_plain(&self) -> bool {
        // Sets of several readers are told of each change.
        !self.is_in_sets()
    }

    fn match_writer(
        &self,
        now: Instant,
        proxy: WriterProxy,
        data: &EndpointData,
        outbox: &mut Outbox,
    ) -> bool {
        let (writer, qos) = (proxy.guid, &data.qos);
        let publisher = data.group.unwrap_or(writer);
        let member = self.member(writer);
        let policy = WriterPolicy {
            strength: qos.ownership_strength,
            lifespan: Some(qos.lifespan).filter(|&lifespan| lifespan != Duration::MAX),
            is_xcdr1: qos.offered_representation() == RepresentationId::XCDR1,
            publisher,
        };
        self.update_in_group(|state, sets| {
            if let Some(sets) = sets {
                sets.matched(member, publisher);
            }
            state.machine.match_writer(now, proxy, outbox);
            state.inbox.cache.set_writer(writer, policy);
            if state.writers.contains_key(&writer) {
                return StatusMask::NONE;
            }
            state.writers.insert(writer, true);
            state.inbox.statuses.matched.matched(writer);
            state.inbox.statuses.liveliness.alive(writer);
            StatusMask::SUBSCRIPTION_MATCHED | StatusMask::LIVELINESS_CHANGED
        })
    }

    fn unmatch_writer(&self, writer: Guid, last_change: Option<SequenceNumber>) -> bool {
        self.update_in_group(|state, sets| {
            let ReaderState { machine, inbox, .. } = state;
            if let Some(last) = last_change {
                machine.has_written(writer, last, inbox);
            }
            machine.unmatch_writer(writer, inbox);
            inbox.sets.forget_writer(writer);
            if let Some(sets) = sets {
                inbox.tell(self.guid, sets);
                sets.unmatched(self.member(writer));
            }
            let Some(was_alive) = state.writers.remove(&writer) else {
                return StatusMask::NONE;
            };
            let mut news = StatusMask::SUBSCRIPTION_MATCHED | StatusMask::LIVELINESS_CHANGED;
            let (now, time) = (clock::now(), clock::timestamp());
            if state.inbox.lose_writer(writer, true, now, time) {
                news |= StatusMask::DATA_AVAILABLE;
            }
            state.inbox.statuses.matched.unmatched(writer);
            state.inbox.statuses.liveliness.gone(writer, was_alive);
            news
        })
    }

    fn group_changed(&self, publisher: Guid, writers: &[EntityId]) -> bool {
        self.update_in_group(|_, sets| {
            if let Some(sets) = sets {
                sets.has_writers(publisher, writers);
            }
            StatusMask::NONE
        })
    }

    fn incompatible(&self, writer: Guid, verdict: Arc<Verdict>) -> bool {
        if verdict.incompatible_policies().next().is_none() {
            return false;
        }
        self.update(|state| {
            state.inbox.statuses.incompatible_qos.found(writer, verdict);
            StatusMask::REQUESTED_INCOMPATIBLE_QOS
        })
    }

    fn liveliness_changed(&self, writer: Guid, is_alive: bool) -> bool {
        self.update(|state| {
            match state.writers.get_mut(&writer) {
                Some(known) if *known != is_alive => *known = is_alive,
                _ => return StatusMask::NONE,
            }
            let mut news = StatusMask::LIVELINESS_CHANGED;
            let liveliness = &mut state.inbox.statuses.liveliness;
            match is_alive {
                true => liveliness.back(writer),
                false => liveliness.silent(writer),
            }
            // A silent writer owns nothing and keeps no instance alive (DDS 1.4 §2.2.3.11).
            let (now, time) = (clock::now(), clock::timestamp());
            if !is_alive && state.inbox.lose_writer(writer, false, now, time) {
                news |= StatusMask::DATA_AVAILABLE;
            }
            news
        })
    }

    fn due(&self) -> Instant {
        self.due.at()
    }

    fn handle_timeout(&self, now: Instant, outbox: &mut Outbox) -> bool {
        self.update(|state| {
            self.due.forget();
            state.inbox.now = now;
            state.machine.handle_timeout(now, outbox);
            let has_room = std::mem::take(&mut state.inbox.has_room);
            if (state.inbox.handle_timeout(now) || has_room) && state.inbox.is_stalled {
                state.resume(now, clock::timestamp(), outbox);
            }
            StatusMask::NONE
        })
    }

    fn keeps_all(&self) -> bool {
        self.keeps_all
    }

    fn call_listener(&self, news: StatusMask) {
        let panics = &self.core.counters.listener_panics;
        self.listeners.call(news, panics);
        if self.takes_each.load(Ordering::Relaxed) {
            self.hand_out(lock(&self.state));
        }
    }

    fn call_listener_later(&self, news: StatusMask) {
        self.listeners.own.note(news);
        self.core.call_listener_later(self.guid.entity);
    }

    fn topic_name(&self) -> &str {
        &self.topic_name
    }

    fn has_news(&self) -> bool {
        self.changes().intersects(StatusMask::DATA_AVAILABLE)
    }

    fn notify(&self) {
        if self.has_news() && self.listeners.own.note(StatusMask::DATA_AVAILABLE) {
            self.core.call_listener_later(self.guid.entity);
        }
    }

    fn read_status(&self, mask: StatusMask, read: &mut dyn FnMut(&mut ReaderStatuses)) {
        self.status(mask, read);
    }

    fn list(&self, mask: StateMask, samples: &mut Vec<Listed>) {
        lock(&self.state).inbox.cache.list(self.guid, mask, samples);
    }

    fn room_for_set(&self, publisher: Guid, set: SequenceNumber) -> Room {
        lock(&self.state).inbox.room_for_set(publisher, set)
    }

    fn decide(&self, decision: &Decision) {
        let mut state = lock(&self.state);
        state.inbox.now = clock::now();
        state.inbox.timestamp = clock::timestamp();
        state.inbox.decide(decision);
        // What was refused for lack of it is taken by the thread that runs the timers.
        state.inbox.has_room |= state.inbox.is_stalled;
        let settled = self.settle(&mut state);
        drop(state);
        if self.announce(settled) {
            self.core.call_listener_later(self.guid.entity);
        }
    }
}

impl<T: TopicSupport> ReaderState<T> {
    /// What is handled next lies there.
    fn borrow(&mut self, memory: Option<&Holdable>) {
        if T::BORROWS {
            self.inbox.memory = memory.cloned();
        }
    }

    /// Takes samples that say nothing besides.
    fn handle_plain(&mut self, samples: &mut PlainSamples<'_>, outbox: &mut Outbox) {
        let Self { machine, inbox, .. } = self;
        inbox.now = samples.now;
        inbox.timestamp = samples.timestamp;
        if let Some(first) = samples.next_sample() {
            machine.handle_samples(samples.now, first, samples, inbox);
            machine.answer_owed(outbox);
        }
    }

    /// Takes a submessage, and the samples that follow it if it is one.
    fn handle(&mut self, run: &mut Run<'_, '_>, outbox: &mut Outbox) {
        let Self { machine, inbox, .. } = self;
        let (now, context) = (run.now, run.context());
        match run.submessage() {
            &Submessage::Data(data) => machine.handle_samples(now, data, run, inbox),
            Submessage::DataFrag(data) => machine.handle_data_frag(now, context, data, inbox),
            Submessage::Heartbeat(heartbeat) => {
                machine.handle_heartbeat(now, context, heartbeat, inbox, outbox);
            }
            Submessage::HeartbeatFrag(heartbeat) => {
                machine.handle_heartbeat_frag(now, context, heartbeat, outbox);
            }
            Submessage::Gap(gap) => machine.handle_gap(context, gap, inbox),
            _ => {}
        }
        machine.answer_owed(outbox);
    }
}
