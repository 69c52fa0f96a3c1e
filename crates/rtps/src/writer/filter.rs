//! Keeping back what readers do not want (RTPS 2.5 §8.4.1.1: a writer may filter for its readers).
//!
//! A change that a reader's content filter does not pass is not sent to it, unless an address that
//! the reader shares with another one gets it anyway. A reliable reader gets a GAP instead, so that
//! it neither waits for the change nor asks for it; a best-effort one gets the GAP ahead of the next
//! change that it wants, so that it does not count as lost what was kept back. Readers filter in any case: a writer that cannot
//! tell sends.

use alloc::boxed::Box;
use alloc::vec::Vec;

use tickwire_base::{Locator, StreamAddress};
use tickwire_cdr::dynamic::Form;
use tickwire_cdr::filter::Filter;

use super::reader_proxy::{MatchedReader, ReaderProxy};
use super::send::target_of;
use super::{Lent, Log, Writer};
use crate::history::Kept;
use crate::outbox::Outbox;
use crate::wire::{Guid, SequenceNumber};

/// Where changes and heartbeats go.
#[derive(Default)]
pub(super) struct Destinations {
    /// Whether the readers are others than when the rest was found out.
    pub(super) are_stale: bool,
    /// Whether all changes go to the writer's log alone.
    pub(super) are_log: bool,
    /// Whether they do from the next one on, which goes behind what may wait for others that have left.
    pub(super) become_log: bool,
    /// Whether all changes go by streams alone.
    pub(super) are_streams: bool,
    /// Whether a group is among those of all readers.
    has_group: bool,
    /// Those of all readers.
    pub(super) all: Vec<Locator>,
    /// Whether any reader has a content filter.
    pub(super) filters: bool,
    /// With filters, those of the readers that want the change `chosen_for`.
    chosen: Vec<Locator>,
    chosen_for: SequenceNumber,
}

impl Destinations {
    /// Begins anew with what `readers` need.
    pub(super) fn reset(&mut self, readers: &[Box<MatchedReader>]) {
        self.filters = readers.iter().any(|reader| reader.proxy.filter.is_some());
        self.chosen_for = SequenceNumber::ZERO;
        self.all.clear();
    }

    /// Where the change under the cursor goes.
    pub(super) fn of_change(&self) -> &[Locator] {
        match self.filters {
            true => &self.chosen,
            false => &self.all,
        }
    }

    /// Whether the change under the cursor goes to a group.
    #[inline]
    pub(super) fn has_group(&self) -> bool {
        match self.filters {
            true => self.chosen.iter().any(Locator::is_multicast),
            false => self.has_group,
        }
    }

    /// Notes of what kind those of all readers are.
    pub(super) fn sort_out(&mut self) {
        let is_stream = |to: &Locator| StreamAddress::of(to).is_some();
        self.are_streams = self.all.iter().all(is_stream);
        self.has_group = self.all.iter().any(Locator::is_multicast);
    }

    fn choose(&mut self, locators: &[Locator]) {
        for locator in locators {
            if !self.chosen.contains(locator) {
                self.chosen.push(*locator);
            }
        }
    }
}

impl ReaderProxy {
    /// Whether its filter, if there is one, passes a change.
    pub(super) fn wants(&mut self, change: Kept<'_, impl Lent>) -> bool {
        let Some(filter) = &mut self.filter else {
            return true;
        };
        let form = match change.kind().is_alive() {
            true => Form::Sample,
            false => Form::Key,
        };
        // A coherent set is whole or it is nothing: readers filter after they have it all.
        let is_in_set = change.place().coherent_set != SequenceNumber::ZERO;
        let payload = change.payload;
        is_in_set || payload.is_empty() || filter.passes(&payload.to_slice(), form).unwrap_or(true)
    }
}

impl<L: Log> Writer<L> {
    /// The filter of a reader, unless that is more than all readers may have us evaluate.
    pub(super) fn admit_filter(
        &mut self,
        reader: Guid,
        filter: Option<Box<Filter>>,
    ) -> Option<Box<Filter>> {
        let filter = filter?;
        let others = self.readers.iter().filter(|one| one.proxy.guid != reader);
        let others = others.filter_map(|one| one.proxy.filter.as_ref());
        let (count, comparisons) = others.fold((0, 0), |(count, comparisons), filter| {
            (count + 1, comparisons + filter.comparisons())
        });
        let limits = &self.config.filter_limits;
        let fits = count < limits.max_filters
            && comparisons + filter.comparisons() <= limits.max_comparisons;
        self.counters.filters_refused += u64::from(!fits);
        fits.then_some(filter)
    }

    /// Chooses where the change under the cursor goes, and tells the others that it does not come.
    #[inline]
    pub(super) fn choose_destinations(&mut self, outbox: &mut Outbox) {
        if self.destinations.are_stale {
            self.find_destinations();
        }
        let number = self.cursor.number;
        if self.destinations.filters && self.destinations.chosen_for != number {
            self.filter(number, outbox);
        }
    }

    /// The same for a change that some readers may not want.
    fn filter(&mut self, number: SequenceNumber, outbox: &mut Outbox) {
        let destinations = &mut self.destinations;
        destinations.chosen_for = number;
        destinations.chosen.clear();
        let Some(change) = self.history.get(number) else {
            return;
        };
        let mut unwanted = 0;
        for reader in self.readers.iter_mut() {
            reader.wants_new = reader.proxy.wants(change);
            if !reader.wants_new {
                unwanted += 1;
                continue;
            }
            destinations.choose(reader.proxy.locators());
            if let Some(start) = reader.kept_back_from.take() {
                let target = target_of(&reader.proxy);
                self.composer.gap(start, number, target, outbox);
                reader.gaps += 1;
                self.counters.gaps += 1;
            }
        }
        if unwanted == 0 {
            destinations.chosen.clone_from(&destinations.all);
            return;
        }
        for reader in self.readers.iter_mut().filter(|reader| !reader.wants_new) {
            self.counters.filtered += 1;
            let mut locators = reader.proxy.locators().iter();
            let hears_anyway = locators.all(|locator| destinations.chosen.contains(locator));
            if !reader.proxy.reliable {
                reader.kept_back_from.get_or_insert(number);
            } else if !hears_anyway {
                let target = target_of(&reader.proxy);
                self.composer.gap(number, number.next(), target, outbox);
                reader.gaps += 1;
                self.counters.gaps += 1;
            }
        }
    }
}
