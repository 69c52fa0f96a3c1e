//! Structs that a shorter message leaves over, kept for a longer one so that what they own need not be allocated again.
//! Knows nothing of decoding.

/// Elements of one sequence, or structs of one optional group.
#[derive(Clone, Debug)]
pub struct Spare<T> {
    structs: Vec<T>,
    lists: Vec<Vec<T>>,
    /// Lists of 0, 1, 2.. elements, for messages of one length after another: to exchange lists costs less than to move
    /// elements.
    by_len: Vec<Vec<T>>,
}

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self {
            structs: Vec::new(),
            lists: Vec::new(),
            by_len: Vec::new(),
        }
    }
}

impl<T> Spare<T> {
    /// `len` elements are about to be written to `list`, one after the other.
    #[inline(always)]
    pub fn begin(&mut self, list: &mut Vec<T>, len: u32) {
        let (old, new) = (list.len(), len as usize);
        if old != new && old.max(new) < EXCHANGED {
            self.exchange(list, old, new);
        }
    }

    #[inline(never)]
    fn exchange(&mut self, list: &mut Vec<T>, old: usize, new: usize) {
        if self.by_len.is_empty() {
            self.by_len.resize_with(EXCHANGED, Vec::new);
        }
        if let Some(place) = self.by_len.get_mut(old) {
            core::mem::swap(place, list);
        }
        if let Some(place) = self.by_len.get_mut(new) {
            core::mem::swap(place, list);
        }
    }

    /// Element number `index` of `list`, which has at least so many.
    #[inline(always)]
    pub fn element<'l>(
        &mut self,
        list: &'l mut Vec<T>,
        index: u32,
        blank: impl FnOnce() -> T,
    ) -> &'l mut T {
        let index = index as usize;
        if index >= list.len() {
            list.push(self.structs.pop().unwrap_or_else(blank));
        }
        &mut list[index]
    }

    /// Takes all but the first `len` elements away.
    #[inline(always)]
    pub fn truncate(&mut self, list: &mut Vec<T>, len: u32) {
        if list.len() > len as usize {
            self.structs.extend(list.drain(len as usize..));
        }
    }

    /// The list of an optional sequence that is there.
    #[inline]
    pub fn list<'l>(&mut self, place: &'l mut Option<Vec<T>>) -> &'l mut Vec<T> {
        place.get_or_insert_with(|| self.lists.pop().unwrap_or_default())
    }

    /// An optional sequence is absent.
    #[inline]
    pub fn no_list(&mut self, place: &mut Option<Vec<T>>) {
        if let Some(mut list) = place.take() {
            self.structs.append(&mut list);
            self.lists.push(list);
        }
    }

    /// The struct of an optional group that is there.
    #[inline]
    pub fn group<'l>(&mut self, place: &'l mut Option<T>, blank: impl FnOnce() -> T) -> &'l mut T {
        place.get_or_insert_with(|| self.structs.pop().unwrap_or_else(blank))
    }

    /// An optional group is absent.
    #[inline]
    pub fn no_group(&mut self, place: &mut Option<T>) {
        self.structs.extend(place.take());
    }
}

/// Lists of fewer elements than this are exchanged.
const EXCHANGED: usize = 16;
