//! An endpoint that is made before anybody is there whom it could match: somebody may wait for it, as these
//! commands wait for others.

use std::time::{Duration, Instant};

use tickwire::cdr::TypeDescription;
use tickwire::qos::Verdict;
use tickwire::{DiscoveryView, Guid};

/// Such a reader or writer, and as what it was made.
pub(super) struct Ahead<E, Q> {
    pub(super) endpoint: E,
    pub(super) guid: Guid,
    pub(super) ty: TypeDescription,
    pub(super) qos: Q,
}

impl<E, Q: PartialEq> Ahead<E, Q> {
    /// Whether nobody there has another type for the topic. Where names alone differ, the verdicts say whether that
    /// matters.
    pub(super) fn has_type(&self, view: &DiscoveryView<'_>, ty: &TypeDescription) -> bool {
        let mut ty = ty.clone();
        ty.name = self.ty.name.clone();
        let is_same = |verdict: Verdict| !verdict.is_inconsistent_topic();
        ty == self.ty && self.verdicts(view).all(is_same)
    }

    /// Whether it does as well as one that is made, of that type and with that QoS, to match those who are there now:
    /// whether both are the same, and nobody there fails to match this one.
    pub(super) fn serves(&self, view: &DiscoveryView<'_>, ty: &TypeDescription, qos: &Q) -> bool {
        let does_match = |verdict: Verdict| verdict.is_match();
        *qos == self.qos && self.has_type(view, ty) && self.verdicts(view).all(does_match)
    }

    /// On it and each of those who are there.
    fn verdicts(&self, view: &DiscoveryView<'_>) -> impl Iterator<Item = Verdict> {
        let pairs = view.pairs().into_iter();
        let own = pairs.filter(|pair| [pair.writer, pair.reader].contains(&self.guid));
        own.map(|pair| pair.verdict)
    }
}

/// Whether that is so within `patience`, as others acknowledge what this participant announces.
pub(super) fn is_acknowledged_within(
    patience: Duration,
    view: &DiscoveryView<'_>,
    mut is_acknowledged: impl FnMut() -> bool,
) -> bool {
    let begin = Instant::now();
    while !is_acknowledged() {
        if begin.elapsed() > patience {
            return false;
        }
        // Acknowledgements wake nobody.
        let _news = view.wait_for(TICK, || is_acknowledged().then_some(()));
    }
    true
}

/// Within so long, those who are there already have shown themselves, and within so long of each other.
pub(super) const MOMENTS: Duration = Duration::from_millis(300);

/// How often acknowledgements are looked for.
const TICK: Duration = Duration::from_millis(5);
