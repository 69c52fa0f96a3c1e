//! How long to wait for answers where many are to answer.

use tickwire_base::Duration;

/// How long the first answer of one of `many` who have just met us may take: they have as much to
/// read and to say as we have, and asking again would only make it longer. Nothing to speak of where
/// they are few.
pub(crate) fn patience(many: usize) -> Duration {
    let many = u32::try_from(many).unwrap_or(u32::MAX);
    EACH.saturating_mul(many).min(LONGEST)
}

const EACH: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(4);
