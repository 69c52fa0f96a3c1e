//! Participants whose connection to us has ended: if their process has, too, nobody waits for the end of their lease, once
//! all is read that their logs have.

use std::time::Duration;

use tickwire_base::Instant;
use tickwire_rtps::wire::GuidPrefix;
use tickwire_transport::shm::meeting::Process;

/// Those of which that is to be found out.
#[derive(Debug, Default)]
pub(super) struct Parting(Vec<Parted>);

/// The participants of a process.
#[derive(Debug)]
struct Parted {
    participants: Vec<GuidPrefix>,
    process: Process,
    /// When it is taken to be alive: connections end a moment before their process has.
    alive_at: Instant,
    /// When it is left to the end of its lease.
    left_at: Instant,
}

impl Parting {
    /// A connection to these participants of a process has ended.
    pub(super) fn add(
        &mut self,
        now: Instant,
        mut participants: Vec<GuidPrefix>,
        process: Process,
    ) {
        participants.sort_unstable();
        participants.dedup();
        self.0.push(Parted {
            participants,
            process,
            alive_at: now + PATIENCE,
            left_at: now + MOST,
        });
    }

    /// Those whose process has ended, and of whom nothing `is_read` any more. When to ask again, if that is not known yet
    /// of others.
    pub(super) fn ended(
        &mut self,
        now: Instant,
        is_read: impl Fn(GuidPrefix) -> bool,
    ) -> (Vec<GuidPrefix>, Option<Instant>) {
        let mut ended = Vec::new();
        let mut again: Option<Instant> = None;
        self.0.retain_mut(|parted| {
            let is_read = parted.participants.iter().any(|&one| is_read(one));
            let pause = match parted.process.has_ended() {
                Some(true) if !is_read => {
                    ended.append(&mut parted.participants);
                    return false;
                }
                Some(true) if now < parted.left_at => MAX_PAUSE,
                Some(false) if now < parted.alive_at => PAUSE,
                _ => return false,
            };
            let at = now + pause;
            again = Some(again.map_or(at, |first| first.min(at)));
            true
        });
        (ended, again)
    }
}

/// How long it may take from the end of a connection to that of the process.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(5);
/// Who has read all says so; this is for who never does.
const MAX_PAUSE: Duration = Duration::from_millis(500);
const MOST: Duration = Duration::from_secs(60);
