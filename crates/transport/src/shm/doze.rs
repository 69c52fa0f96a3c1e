//! Going to sleep without missing what is published meanwhile. Knows no descriptors.
//!
//! ```text
//! reader                                 writer
//!   sleeping = 1                           publish
//!   bell = 1, in each log                  fence
//!   fence                                  bell?  then bell = 0, and of those in its seats
//!   news in any log? then stay awake         sleeping? then sleeping = 0, and ring
//!   sleep
//! ```
//!
//! Of the two fences one comes first. If it is the reader's, the writer sees the bell and the sleeper;
//! if it is the writer's, the reader sees the record.

use super::atomic::{Ordering, fence};
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
    fence(Ordering::SeqCst);
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
