//! A reader that its participant feeds: what comes to it has no writer's machine behind it, and no
//! serialized form.

use std::sync::Arc;

use tickwire_rtps::ChangeKind;
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::inbox::{Inbox, Staged};
use super::info::InstanceHandle;
use super::insert::Arrival;
use super::shared::ReaderShared;
use crate::clock;
use crate::status::StatusMask;
use crate::type_support::TopicSupport;

impl<T: TopicSupport> ReaderShared<T> {
    /// An instance has this value now, says `source`.
    pub(crate) fn feed(&self, source: Guid, instance: InstanceHandle, value: T) {
        let value = Some(Arc::new(value));
        self.on_inbox(|inbox| inbox.take_fed(source, instance, ChangeKind::Alive, value));
    }

    /// The same, if the instance is not alive. Else `source` says, too, that it is.
    pub(crate) fn feed_once(
        &self,
        source: Guid,
        instance: InstanceHandle,
        value: impl FnOnce() -> T,
    ) {
        self.on_inbox(|inbox| match inbox.cache.is_alive(instance) {
            true => {
                let (alive, now) = (ChangeKind::Alive, inbox.now);
                inbox.cache.succeed(instance, source, alive, now);
            }
            false => {
                let value = Some(Arc::new(value()));
                inbox.take_fed(source, instance, ChangeKind::Alive, value);
            }
        });
    }

    /// `source` has disposed of an instance, or has nothing more to say about it. Nothing happens if the
    /// instance is not alive.
    pub(crate) fn feed_end(&self, source: Guid, instance: InstanceHandle, is_disposed: bool) {
        let kind = match is_disposed {
            true => ChangeKind::DisposedUnregistered,
            false => ChangeKind::Unregistered,
        };
        self.on_inbox(|inbox| {
            if inbox.cache.is_alive(instance) {
                inbox.take_fed(source, instance, kind, None);
            }
        });
    }

    fn on_inbox(&self, call: impl FnOnce(&mut Inbox<T>)) {
        let has_news = self.update(|state| {
            state.inbox.now = clock::now();
            state.inbox.timestamp = clock::timestamp();
            call(&mut state.inbox);
            StatusMask::NONE
        });
        if has_news {
            self.core.call_listener_later(self.guid.entity);
        }
    }
}

impl<T: TopicSupport> Inbox<T> {
    /// What has ended makes way where room for instances lacks.
    fn take_fed(
        &mut self,
        source: Guid,
        instance: InstanceHandle,
        kind: ChangeKind,
        value: Option<Arc<T>>,
    ) {
        if kind.is_alive() && !self.cache.has_room_for(instance) {
            self.cache.purge_ended();
        }
        let arrival = Arrival {
            writer: source,
            sequence_number: SequenceNumber::UNKNOWN,
            original: None,
            related: None,
            kind,
            source_timestamp: None,
            kernel_timestamp: None,
            reception_timestamp: self.timestamp,
            received_at: self.now,
            instance,
            expires_at: None,
            publisher: source,
            group_number: SequenceNumber::ZERO,
        };
        // There is room, and nobody who could wait for it.
        let _ = self.insert(Staged {
            arrival,
            value,
            alias: None,
        });
    }
}
