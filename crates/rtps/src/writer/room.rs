//! Room for a change: what the history lets go of for it, and when a write is to wait.

use super::{HistoryKind, Log, ResourceLimits, Retained, Writer};
use crate::change::KeyHash;
use crate::wire::SequenceNumber;

impl<L: Log> Writer<L> {
    /// Makes room for one change of the instance, by what DDS 1.4 §2.2.3.18 and §2.2.3.19 allow to
    /// remove: under KEEP_LAST the instance's oldest change, which the write itself replaces, else
    /// only what everybody has.
    pub(super) fn make_room(&mut self, key: Option<KeyHash>) -> Result<(), Refused> {
        let limits = self.config.limits;
        let keep_all = matches!(self.config.history, HistoryKind::KeepAll);
        if keep_all && limits == ResourceLimits::NONE && self.retained.is_none() {
            return match self.unreleased_len < self.window.len() {
                true => Ok(()),
                false => Err(Refused::Full),
            };
        }
        if self.retained.is_some() {
            self.make_room_retained(key)?;
        } else if !keep_all && self.history.instance_len(key) >= self.depth() {
            return Ok(());
        } else {
            self.make_room_for_all(key)?;
        }
        let are_too_many = |max: usize| match &self.retained {
            Some(retained) => retained.has_instances_besides(key, max),
            None => self.history.instance_count() >= max && self.history.instance_len(key) == 0,
        };
        if limits.max_instances.is_some_and(are_too_many) {
            return Err(Refused::TooManyInstances);
        }
        if keep_all && self.unreleased_len >= self.window.len() {
            return Err(Refused::Full);
        }
        Ok(())
    }

    /// The same where RESOURCE_LIMITS hold for all changes, also those that everybody has.
    fn make_room_for_all(&mut self, key: Option<KeyHash>) -> Result<(), Refused> {
        let limits = self.config.limits;
        let keep_all = matches!(self.config.history, HistoryKind::KeepAll);
        let reached = |limit: Option<usize>, len: usize| limit.is_some_and(|limit| len >= limit);
        while keep_all
            && reached(
                limits.max_samples_per_instance,
                self.history.instance_len(key),
            )
        {
            let oldest = self.history.oldest_of(key).ok_or(Refused::Full)?;
            self.remove_acknowledged(oldest)?;
        }
        while reached(limits.max_samples, self.history.len()) {
            let oldest = self.history.oldest().ok_or(Refused::Full)?;
            self.remove_acknowledged(oldest)?;
        }
        Ok(())
    }

    fn remove_acknowledged(&mut self, number: SequenceNumber) -> Result<(), Refused> {
        if number > self.acknowledged() {
            return Err(Refused::Full);
        }
        self.remove(number);
        Ok(())
    }

    /// Removes what a new change of the instance replaces under KEEP_LAST. One whose fragments are
    /// being sent stays until they all are, lest none ever arrives where changes are written faster
    /// than sent: those that wait behind it make way instead.
    pub(super) fn make_way(&mut self, key: Option<KeyHash>) {
        let depth = self.depth();
        while self.history.instance_len(key) >= depth {
            let oldest = self.history.oldest_of(key);
            let replaced = match self.is_under_way(oldest) {
                true => self.history.second_of(key),
                false => oldest,
            };
            let Some(replaced) = replaced else {
                break;
            };
            self.remove(replaced);
        }
    }

    /// Removes changes beyond the depth: one that stayed while it was being sent, or that another one has replaced which
    /// flowed.
    pub(super) fn trim(&mut self, key: Option<KeyHash>) {
        while self.history.instance_len(key) > self.depth()
            && let Some(oldest) = self.history.oldest_of(key)
        {
            self.remove(oldest);
        }
    }

    /// Whether newer changes replace older ones.
    #[inline]
    pub(super) fn keeps_last(&self) -> bool {
        matches!(self.config.history, HistoryKind::KeepLast(_))
    }

    /// How many changes of an instance HISTORY holds.
    #[inline]
    pub(super) fn history_depth(&self) -> usize {
        match self.config.history {
            HistoryKind::KeepLast(depth) => usize::try_from(depth).unwrap_or(usize::MAX).max(1),
            HistoryKind::KeepAll => usize::MAX,
        }
    }

    /// How many changes of an instance there are at most.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        let retained = self.retained.as_ref().map_or(0, Retained::depth);
        self.history_depth().max(retained)
    }
}

/// Why there is no room.
pub(super) enum Refused {
    Full,
    TooManyInstances,
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;
    use core::net::Ipv4Addr;

    use tickwire_base::{Instant, Locator};

    use super::*;
    use crate::change::Change;
    use crate::outbox::Outbox;
    use crate::wire::{EntityId, Guid, GuidPrefix};
    use crate::writer::{ReaderProxy, WriterConfig};

    #[test]
    fn a_change_that_is_still_being_sent_is_not_the_newest() {
        let (now, mut outbox) = (Instant::from_nanos(1), Outbox::new());
        let mut writer = Writer::new(WriterConfig {
            history: HistoryKind::KeepLast(1),
            ..WriterConfig::new(Guid::UNKNOWN)
        });
        let readers = [1, 2].map(|number| ReaderProxy {
            guid: Guid::new(GuidPrefix([1; 12]), EntityId::user_reader(number, true)),
            reliable: true,
            unicast: vec![Locator::udp_v4(Ipv4Addr::LOCALHOST, 1)],
            ..ReaderProxy::default()
        });
        let late = readers[1].guid;
        for (reader, len) in readers.into_iter().zip([2_000_000, 40]) {
            writer.match_reader(now, reader, &mut outbox);
            let change = Change {
                key_hash: Some([7; 16]),
                ..Change::default()
            };
            let fill = |buffer: &mut Vec<u8>| {
                buffer.resize(buffer.len() + len, 0);
                Ok::<(), ()>(())
            };
            assert!(writer.write(now, &change, fill, &mut outbox).is_ok());
        }
        assert_eq!(writer.history.instance_len(Some([7; 16])), 2);
        assert!(!writer.has_given(late, [7; 16]));
    }
}
