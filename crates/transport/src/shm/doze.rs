//! Going to sleep without missing what is published meanwhile. Knows no descriptors.
//!
//! ```text
//! reader                                 writer
//!   sleeping = 1                           publish
//!   exchange bell for 1, in each log       exchange bell for 0
//!   news in any log? then stay awake         was it 1? then, of those in its seats,
//!   sleep                                    sleeping? then sleeping = 0, and ring
//! ```
//!
//! Of the two exchanges of a bell one comes first. If it is the reader's, the writer sees the bell and the
//! sleeper; if it is the writer's, the reader sees the record. A fence on each side would do as well, and takes a
//! writer longer.

use super::atomic::Ordering;
use super::consumer::Consumer;
use super::map::CommonMap;

/// Where in an ear's memory it says whether it sleeps.
const SLEEPING: usize = 0;

/// Says that the thread is about to sleep, to the writers of all that it follows. False if there is news: then
/// it has said so for nothing, and [`wake`] takes it back.
pub(crate) fn lie_down<'a>(
    ear: &CommonMap,
    follows: impl Iterator<Item = &'a Consumer> + Clone,
) -> bool {
    ear.swap(SLEEPING, 1);
    follows.clone().for_each(Consumer::arm);
    follows.clone().all(|consumer| !consumer.has_next())
}

/// Says that the thread is awake.
pub(crate) fn wake(ear: &CommonMap) {
    ear.swap(SLEEPING, 0);
}

/// Whether the one that listens sleeps and is now to be rung, by the caller alone.
pub(crate) fn rouse(ear: &CommonMap) -> bool {
    ear.load(SLEEPING, Ordering::Relaxed) != 0 && ear.swap(SLEEPING, 0) != 0
}
