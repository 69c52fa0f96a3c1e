//! What must hold of all that the readers have shown.

use super::*;

impl Sim {
    /// The prices of a set whose writers a reader was matched with.
    pub(super) fn part_of(&self, set: usize, reader: usize) -> Vec<i64> {
        let writers = &self.readers[reader].writers;
        let written = self.written.iter().enumerate();
        written
            .filter(|(_, one)| one.set == Some(set) && writers.contains(&one.writer))
            .map(|(price, _)| price as i64)
            .collect()
    }

    /// When a reader has shown which prices of a set.
    pub(super) fn shown(
        &self,
        set: usize,
        reader: usize,
        writer: Option<usize>,
    ) -> (Vec<usize>, Vec<i64>) {
        let seen = self.readers[reader].seen.iter().filter(|(_, price)| {
            let written = self.written[*price as usize];
            written.set == Some(set) && writer.is_none_or(|writer| writer == written.writer)
        });
        let (mut views, prices): (Vec<_>, Vec<_>) = seen.copied().unzip();
        views.dedup();
        (views, prices)
    }

    pub(super) fn check_order(&self) {
        for node in &self.readers {
            for writer in 0..self.writers.len() {
                let own = |price: &&(usize, i64)| self.written[price.1 as usize].writer == writer;
                let prices: Vec<_> = node
                    .seen
                    .iter()
                    .filter(own)
                    .map(|(_, price)| price)
                    .collect();
                assert!(prices.is_sorted_by(|one, next| one < next), "{prices:?}");
            }
        }
    }

    /// Each writer's sets are whole in each reader, and appear at once.
    pub(super) fn check_topic_sets(&self) {
        for set in 0..self.sets {
            for writer in 0..self.writers.len() {
                let reader = self.reader_of(writer);
                if reader >= self.readers.len() {
                    continue;
                }
                let mut part = self.part_of(set, reader);
                part.retain(|&price| self.written[price as usize].writer == writer);
                let (views, prices) = self.shown(set, reader, Some(writer));
                assert!(
                    prices.is_empty() || prices == part,
                    "set {set}: {prices:?} of {part:?}"
                );
                assert!(views.len() <= 1, "set {set} in {views:?}");
            }
        }
    }

    /// The publisher's sets are whole in all readers, and appear at once. One that was matched later
    /// shows what came before by itself, or more of it than others: sets that it alone has heard of.
    pub(super) fn check_group_sets(&self) {
        for set in 0..self.sets {
            let (mut first_view, mut lacks) = (None, None);
            for (index, node) in self.readers.iter().enumerate() {
                let (views, prices) = self.shown(set, index, None);
                let part = self.part_of(set, index);
                let is_none = prices.is_empty();
                assert!(
                    is_none || prices == part,
                    "set {set}, reader {index}: {prices:?} of {part:?}"
                );
                assert!(views.len() <= 1, "set {set}, reader {index}: in {views:?}");
                if node.since > set {
                    continue;
                }
                if let Some(&view) = views.first() {
                    assert_eq!(*first_view.get_or_insert(view), view, "set {set}");
                } else if !part.is_empty() && node.reader.is_some() {
                    lacks = Some(index);
                }
            }
            if first_view.is_some() {
                assert_eq!(lacks, None, "set {set} is not shown by all");
                assert!(
                    !self.cut.contains(&set),
                    "set {set} lacks what a writer took along"
                );
            }
        }
    }

    /// The last set has come; without any trouble everything has.
    pub(super) fn check_completeness(&self, first_of_last: usize) {
        let is_unlimited = self.setting.max_samples.is_none() && self.setting.depth.is_none();
        let all = !self.has_left && is_unlimited;
        let from = if all { 0 } else { first_of_last };
        for (price, written) in self.written.iter().enumerate().skip(from) {
            let Some(node) = self.readers.get(self.reader_of(written.writer)) else {
                continue;
            };
            let is_seen = node.seen.iter().any(|(_, seen)| *seen == price as i64);
            assert!(is_seen || node.reader.is_none(), "{price} has not come");
        }
    }
}
