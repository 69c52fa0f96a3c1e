//! The search for the burst that is carried fastest without loss.

use crate::record::Tried;

/// Which demands to try, and which one is best.
#[derive(Debug)]
pub(crate) struct Search {
    /// The largest that a burst may be.
    most: u64,
    tried: Vec<Tried>,
}

impl Search {
    /// For messages of a size.
    pub(crate) fn new(size: u32) -> Self {
        Self {
            most: (MOST_BYTES / u64::from(size)).clamp(1, MOST),
            tried: Vec::new(),
        }
    }

    /// The demand to try next. It grows tenfold until messages are lost; what lies between the
    /// largest without and the smallest with loss is halved twice.
    pub(crate) fn next(&self) -> Option<u64> {
        let good = self.best_by(|tried| tried.demand);
        let bad = self
            .tried
            .iter()
            .filter(|tried| tried.failure.is_some())
            .map(|tried| tried.demand)
            .min();
        match (good, bad) {
            (None, None) => Some(1),
            (Some(good), None) if good < self.most => Some((good * 10).min(self.most)),
            (Some(good), Some(bad)) if self.tried.len() < self.growths() + HALVINGS => {
                let middle = (good * bad).isqrt();
                (middle > good && middle < bad).then_some(middle)
            }
            _ => None,
        }
    }

    /// What came of it.
    pub(crate) fn note(&mut self, tried: Tried) {
        self.tried.push(tried);
    }

    /// The demand with the highest rate of those without loss.
    pub(crate) fn best(&self) -> Option<u64> {
        let good = self.tried.iter().filter(|tried| tried.failure.is_none());
        good.max_by(|a, b| a.sent_per_s.total_cmp(&b.sent_per_s))
            .map(|tried| tried.demand)
    }

    /// All that were tried.
    pub(crate) fn into_tried(self) -> Vec<Tried> {
        self.tried
    }

    fn best_by(&self, key: fn(&Tried) -> u64) -> Option<u64> {
        let good = self.tried.iter().filter(|tried| tried.failure.is_none());
        good.map(key).max()
    }

    /// How many were tried until one failed, that one too.
    fn growths(&self) -> usize {
        let first = self.tried.iter().position(|tried| tried.failure.is_some());
        first.map_or(self.tried.len(), |first| first + 1)
    }
}

/// The largest burst, in messages and in bytes.
const MOST: u64 = 10_000;
const MOST_BYTES: u64 = 16_000_000;
const HALVINGS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches in a system that loses from `limit` on, and is faster with more up to `fastest`.
    fn search(size: u32, limit: u64, fastest: u64) -> (Vec<u64>, Option<u64>) {
        let mut search = Search::new(size);
        while let Some(demand) = search.next() {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let rate = fastest as f64 - demand.abs_diff(fastest) as f64 / 10.0;
            search.note(Tried {
                demand,
                sent_per_s: rate,
                received_per_s: rate,
                failure: (demand >= limit).then(|| "lost".to_owned()),
            });
        }
        let best = search.best();
        let tried = search.into_tried();
        (tried.iter().map(|tried| tried.demand).collect(), best)
    }

    #[test]
    fn who_loses_nothing_is_tried_to_the_end() {
        let (tried, best) = search(16, u64::MAX, 100);
        assert_eq!(tried, [1, 10, 100, 1_000, 10_000]);
        assert_eq!(best, Some(100));
    }

    #[test]
    fn between_loss_and_none_it_is_halved_twice() {
        let (tried, best) = search(16, 500, 10_000);
        assert_eq!(tried, [1, 10, 100, 1_000, 316, 562]);
        assert_eq!(best, Some(316));
    }

    #[test]
    fn large_messages_come_in_small_bursts() {
        assert_eq!(search(16_000_000, u64::MAX, 1).0, [1]);
        assert_eq!(search(1_600_000, u64::MAX, 10).0, [1, 10]);
    }

    #[test]
    fn who_always_loses_has_no_best() {
        assert_eq!(search(16, 1, 10), (vec![1], None));
    }
}
