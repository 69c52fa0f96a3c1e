//! Numbered slots for samples, threaded into lists: all of them by arrival, and each instance's.

use std::iter;
use std::num::NonZeroUsize;

/// A slot's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot(NonZeroUsize);

impl Slot {
    fn at(index: usize) -> Self {
        Self(NonZeroUsize::MIN.saturating_add(index))
    }

    fn index(self) -> usize {
        self.0.get() - 1
    }
}

/// The ends of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) first: Option<Slot>,
    pub(crate) last: Option<Slot>,
    pub(crate) len: usize,
}

/// A slot's neighbours in a list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Links {
    previous: Option<Slot>,
    next: Option<Slot>,
}

/// A value in a list of all values and in one of several others.
#[derive(Debug)]
pub(crate) struct Node<V> {
    pub(crate) value: V,
    all: Links,
    own: Links,
}

/// Slots, reused once freed, so that a warm store does not allocate.
#[derive(Debug)]
pub(crate) struct Slots<V> {
    nodes: Vec<Option<Node<V>>>,
    free: Vec<Slot>,
    all: List,
}

impl<V> Slots<V> {
    pub(crate) const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            free: Vec::new(),
            all: List {
                first: None,
                last: None,
                len: 0,
            },
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len
    }

    pub(crate) fn first(&self) -> Option<Slot> {
        self.all.first
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&V> {
        self.node(slot).map(|node| &node.value)
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut V> {
        self.node_mut(slot).map(|node| &mut node.value)
    }

    /// The next one by arrival.
    pub(crate) fn after(&self, slot: Slot) -> Option<Slot> {
        self.node(slot)?.all.next
    }

    /// The next one in its own list.
    pub(crate) fn own_after(&self, slot: Slot) -> Option<Slot> {
        self.node(slot)?.own.next
    }

    /// The one after which a value belongs among all that is later than no other, going by
    /// `is_later`; the last one if they come in order.
    pub(crate) fn place(&self, is_later: impl Fn(&V) -> bool) -> Option<Slot> {
        let mut slot = self.all.last;
        while let Some(node) = slot.and_then(|slot| self.node(slot))
            && is_later(&node.value)
        {
            slot = node.all.previous;
        }
        slot
    }

    /// Adds a value at the end of the list of all and of `own`.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: V, own: &mut List) -> Slot {
        self.link(value, self.all.last, None, own)
    }

    /// Adds a value behind `previous` in the list of all, at its beginning if that is `None`, and
    /// at the end of `own`.
    pub(crate) fn insert(&mut self, value: V, previous: Option<Slot>, own: &mut List) -> Slot {
        let next = match previous {
            Some(previous) => self.after(previous),
            None => self.all.first,
        };
        self.link(value, previous, next, own)
    }

    /// Adds a value between two neighbours in the list of all, and at the end of `own`.
    #[inline(always)]
    fn link(
        &mut self,
        value: V,
        previous: Option<Slot>,
        next: Option<Slot>,
        own: &mut List,
    ) -> Slot {
        let slot = self.free_slot();
        if let Some(place) = self.nodes.get_mut(slot.index()) {
            *place = Some(Node {
                value,
                all: Links { previous, next },
                own: Links {
                    previous: own.last,
                    next: None,
                },
            });
        }
        match previous.and_then(|previous| self.node_mut(previous)) {
            Some(previous) => previous.all.next = Some(slot),
            None => self.all.first = Some(slot),
        }
        match next.and_then(|next| self.node_mut(next)) {
            Some(next) => next.all.previous = Some(slot),
            None => self.all.last = Some(slot),
        }
        self.all.len += 1;
        if let Some(last) = own.last.and_then(|last| self.node_mut(last)) {
            last.own.next = Some(slot);
        }
        append(own, slot);
        slot
    }

    #[inline(always)]
    fn free_slot(&mut self) -> Slot {
        self.free.pop().unwrap_or_else(|| {
            self.nodes.push(None);
            Slot::at(self.nodes.len() - 1)
        })
    }

    /// Adds a value at the beginning of the list of all and of `own`.
    pub(crate) fn push_front(&mut self, value: V, own: &mut List) -> Slot {
        let slot = self.free_slot();
        let links = |next| Links {
            previous: None,
            next,
        };
        let node = Node {
            value,
            all: links(self.all.first),
            own: links(own.first),
        };
        match self.all.first.and_then(|first| self.node_mut(first)) {
            Some(first) => first.all.previous = Some(slot),
            None => self.all.last = Some(slot),
        }
        match own.first.and_then(|first| self.node_mut(first)) {
            Some(first) => first.own.previous = Some(slot),
            None => own.last = Some(slot),
        }
        if let Some(place) = self.nodes.get_mut(slot.index()) {
            *place = Some(node);
        }
        for list in [&mut self.all, own] {
            list.first = Some(slot);
            list.len += 1;
        }
        slot
    }

    /// Takes a value out of both its lists; `own` is the one it was pushed to.
    #[inline(always)]
    pub(crate) fn remove(&mut self, slot: Slot, own: &mut List) -> Option<V> {
        let node = self.nodes.get_mut(slot.index())?.take()?;
        self.free.push(slot);
        let mut all = self.all;
        self.unlink(node.all, &mut all, |node| &mut node.all);
        self.all = all;
        self.unlink(node.own, own, |node| &mut node.own);
        Some(node.value)
    }

    /// Takes all values out by arrival. The other lists that they are in are over, too.
    #[inline]
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = V> {
        let mut next = std::mem::take(&mut self.all).first;
        iter::from_fn(move || {
            let slot = next?;
            let node = self.nodes.get_mut(slot.index())?.take()?;
            next = node.all.next;
            self.free.push(slot);
            Some(node.value)
        })
    }

    #[inline(always)]
    fn unlink(&mut self, links: Links, list: &mut List, which: fn(&mut Node<V>) -> &mut Links) {
        match links.previous.and_then(|slot| self.node_mut(slot)) {
            Some(previous) => which(previous).next = links.next,
            None => list.first = links.next,
        }
        match links.next.and_then(|slot| self.node_mut(slot)) {
            Some(next) => which(next).previous = links.previous,
            None => list.last = links.previous,
        }
        list.len -= 1;
    }

    fn node(&self, slot: Slot) -> Option<&Node<V>> {
        self.nodes.get(slot.index())?.as_ref()
    }

    fn node_mut(&mut self, slot: Slot) -> Option<&mut Node<V>> {
        self.nodes.get_mut(slot.index())?.as_mut()
    }
}

fn append(list: &mut List, slot: Slot) {
    list.first = list.first.or(Some(slot));
    list.last = Some(slot);
    list.len += 1;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_can_be_kept_sorted(values in prop::collection::vec(0..50u32, 0..60)) {
            let mut slots = Slots::new();
            let mut own = List::default();
            for &value in &values {
                let previous = slots.place(|&other| other > value);
                slots.insert(value, previous, &mut own);
            }
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let (mut by_all, mut by_own) = (Vec::new(), Vec::new());
            let mut slot = slots.first();
            while let Some(current) = slot {
                by_all.extend(slots.get(current).copied());
                slot = slots.after(current);
            }
            let mut slot = own.first;
            while let Some(current) = slot {
                by_own.extend(slots.get(current).copied());
                slot = slots.own_after(current);
            }
            prop_assert_eq!((by_all, by_own), (sorted, values));
        }

        #[test]
        fn all_are_taken_in_their_order_and_their_slots_are_used_again(
            values in prop::collection::vec(0..50u32, 0..60),
            again in 0..60_u32,
        ) {
            let (mut slots, mut own) = (Slots::new(), List::default());
            for &value in &values {
                let previous = slots.place(|&other| other > value);
                slots.insert(value, previous, &mut own);
            }
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let mut drained = Vec::new();
            drained.extend(slots.drain());
            prop_assert_eq!(drained, sorted);
            prop_assert_eq!((slots.len(), slots.first()), (0, None));
            own = List::default();
            for number in 0..again {
                let slot = slots.push(number, &mut own);
                prop_assert_eq!(slots.get(slot), Some(&number));
            }
            let used = values.len().max(usize::try_from(again).expect("it is small"));
            prop_assert_eq!((slots.nodes.len(), slots.len()), (used, own.len));
        }

        /// Against a plain vector of (list, value).
        #[test]
        fn both_lists_keep_their_order(
            operations in prop::collection::vec((0..3usize, prop::option::of(0..20usize)), 0..200),
        ) {
            let mut slots = Slots::new();
            let mut lists = [List::default(); 3];
            let mut model: Vec<(usize, Slot, usize)> = Vec::new();
            for (number, (list, victim)) in operations.into_iter().enumerate() {
                match victim {
                    None => {
                        let slot = slots.push(number, &mut lists[list]);
                        model.push((list, slot, number));
                    }
                    Some(index) if index < model.len() => {
                        let (list, slot, value) = model.remove(index);
                        prop_assert_eq!(slots.remove(slot, &mut lists[list]), Some(value));
                    }
                    Some(_) => {}
                }
                let mut slot = slots.first();
                for &(_, expected, value) in &model {
                    prop_assert_eq!(slot, Some(expected));
                    prop_assert_eq!(slots.get(expected), Some(&value));
                    slot = slots.after(expected);
                }
                prop_assert_eq!(slot, None);
                prop_assert_eq!(slots.len(), model.len());
                for (number, list) in lists.iter().enumerate() {
                    let own: Vec<_> = model.iter().filter(|entry| entry.0 == number).collect();
                    prop_assert_eq!(list.len, own.len());
                    prop_assert_eq!(list.first, own.first().map(|entry| entry.1));
                    prop_assert_eq!(list.last, own.last().map(|entry| entry.1));
                }
            }
        }
    }
}
