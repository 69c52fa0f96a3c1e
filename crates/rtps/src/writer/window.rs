//! How many bytes may be unacknowledged, as losses teach. Knows no reader.

use tickwire_base::{Duration, Instant};

/// Grows by a quarter with each window acknowledged and halves when readers report losses, so that a
/// writer at full speed finds out what the readers' socket buffers hold.
#[derive(Debug)]
pub(super) struct FlowWindow {
    len: usize,
    max_len: usize,
    halved_at: Option<Instant>,
}

impl FlowWindow {
    pub(super) fn new(max_len: usize) -> Self {
        let max_len = max_len.max(1);
        Self {
            len: (max_len / 4).max(MIN_LEN).min(max_len),
            max_len,
            halved_at: None,
        }
    }

    /// Bytes that may be unacknowledged.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn acknowledged(&mut self, len: usize) {
        self.len = (self.len + len / 4).min(self.max_len);
    }

    /// One burst of losses counts once.
    pub(super) fn lost(&mut self, now: Instant) {
        if self.halved_at.is_some_and(|at| now.since(at) < BURST) {
            return;
        }
        self.halved_at = Some(now);
        self.len = (self.len / 2).max(MIN_LEN).min(self.max_len);
    }
}

/// Less would make every other sample wait for an acknowledgement.
const MIN_LEN: usize = 16 * 1024;
const BURST: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_halve_and_acknowledgements_restore() {
        let mut window = FlowWindow::new(1 << 20);
        assert_eq!(window.len(), 1 << 18);
        window.lost(Instant::ZERO);
        window.lost(Instant::ZERO + Duration::from_millis(9));
        assert_eq!(window.len(), 1 << 17);
        window.acknowledged(1 << 17);
        assert_eq!(window.len(), (1 << 17) + (1 << 15));
        window.acknowledged(1 << 30);
        assert_eq!(window.len(), 1 << 20);
    }

    #[test]
    fn the_window_stays_within_its_bounds() {
        let mut window = FlowWindow::new(1 << 20);
        for i in 0..100 {
            window.lost(Instant::from_nanos(i * 1_000_000_000));
        }
        assert_eq!(window.len(), MIN_LEN);
        assert_eq!(FlowWindow::new(100).len(), 100);
        assert_eq!(FlowWindow::new(0).len(), 1);
    }
}
