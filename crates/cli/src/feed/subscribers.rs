//! Waiting for a feed's subscribers, and what is said meanwhile.

use std::time::{Duration, Instant};

use tickwire_gateway::{PublicationError, Publications};
use tickwire_transport::ReceiveError;

use super::mismatches::Mismatches;
use super::receive::TICK;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::note;
use crate::stage::is_stage;

/// Waits until every topic has its subscribers, or until the user ends it. After a while it is said
/// what is waited for, and who does not match.
pub(super) fn wait_for_subscribers<I: FnMut() -> Result<(), ReceiveError>>(
    publications: &Publications<I>,
    patience: Duration,
    mismatches: &mut Mismatches,
    interrupt: &Interrupt,
) -> Result<()> {
    let begin = Instant::now();
    let mut is_said = false;
    while !interrupt.is_raised() {
        let left = patience.saturating_sub(begin.elapsed());
        let error = match publications.wait_for_subscribers(left.min(TICK)) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        match error {
            PublicationError::NoSubscriber { .. } | PublicationError::NoEcho { .. }
                if left > TICK =>
            {
                if begin.elapsed() > WITHOUT_WORDS && !is_stage() {
                    mismatches.report();
                    if let PublicationError::NoEcho { topic, .. } = error
                        && !std::mem::replace(&mut is_said, true)
                    {
                        note(format_args!(
                            "topic {topic} has subscribers; waiting for such that send its samples back\n\
                             hint: {ECHO_HINT}"
                        ));
                    }
                }
            }
            PublicationError::NoSubscriber { topic, mut timeout } => {
                timeout.waited = patience;
                let error = PublicationError::NoSubscriber { topic, timeout };
                return Err(Failure::new(error).hint(
                    "start `tickwire feed subscribe` first, or publish to nobody with `--wait 0`",
                ));
            }
            PublicationError::NoEcho { topic, mut timeout } => {
                timeout.waited = patience;
                let error = PublicationError::NoEcho { topic, timeout };
                return Err(Failure::new(error).hint(ECHO_HINT));
            }
            error => return Err(Failure::new(error)),
        }
    }
    Ok(())
}

/// How long is waited for subscribers before it is said why.
const WITHOUT_WORDS: Duration = Duration::from_secs(1);
/// What makes both sides of a round trip agree.
const ECHO_HINT: &str =
    "start `tickwire feed subscribe` without `--no-echo`, or this with `--no-echo`";
