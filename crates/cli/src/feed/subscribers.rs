//! Waiting for a feed's subscribers, what is said meanwhile, and of those that are too slow.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use tickwire_gateway::{PublicationError, Publications};
use tickwire_transport::ReceiveError;

use super::mismatches::Mismatches;
use super::receive::TICK;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::note;
use crate::stage::is_stage;
use crate::survey::Process;

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
        let (error, why) = match error {
            PublicationError::NoSubscriber { topic, mut timeout } => {
                timeout.waited = patience;
                let why = publications.unasked().map(|topic| {
                    let said = format!(
                        "a subscriber would send samples of topic {topic} back, which `--no-echo` does \
                         not ask for"
                    );
                    (said, UNASKED_HINT)
                });
                (PublicationError::NoSubscriber { topic, timeout }, why)
            }
            PublicationError::NoEcho { topic, mut timeout } => {
                timeout.waited = patience;
                let said = format!(
                    "topic {topic} has subscribers; waiting for such that send its samples back"
                );
                let error = PublicationError::NoEcho { topic, timeout };
                (error, Some((said, ECHO_HINT)))
            }
            error => return Err(Failure::new(error)),
        };
        if left <= TICK {
            let hint = why.map_or(NOBODY_HINT, |(_, hint)| hint);
            return Err(Failure::new(error).hint(hint));
        }
        if begin.elapsed() > WITHOUT_WORDS && !is_stage() {
            mismatches.report();
            if let Some((said, hint)) = why
                && !std::mem::replace(&mut is_said, true)
            {
                note(format_args!("{said}\nhint: {hint}"));
            }
        }
    }
    Ok(())
}

/// Why a feed could not be published to its end.
impl From<PublicationError> for Failure {
    fn from(error: PublicationError) -> Self {
        let (topic, reader) = match &error {
            PublicationError::NoRoom { topic, reader, .. }
            | PublicationError::Unacknowledged { topic, reader, .. } => (topic, reader),
            _ => return Self::new(error),
        };
        // Names come from the network: they are shown with escapes.
        let process = reader.iter().filter_map(|reader| {
            let process = Process::of(reader.participant.as_ref()?).to_string();
            (!process.is_empty()).then(|| format!(" (process of the reader: {process:?})"))
        });
        let process: String = process.collect();
        Self::new(format_args!("{error}{process}")).hint(format_args!(
            "`tickwire topic info {topic}` shows the readers; a longer `--patience` waits for them, and with a \
             profile (`--qos-file`) of `writer.history.kind = 'keep_last'` nobody is waited for"
        ))
    }
}

/// What only decodes does not fail.
impl From<Infallible> for Failure {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// How long is waited for subscribers before it is said why.
const WITHOUT_WORDS: Duration = Duration::from_secs(1);
/// What brings subscribers.
const NOBODY_HINT: &str =
    "start `tickwire feed subscribe` for all topics first, or publish to nobody with `--wait 0`";
/// What makes both sides agree that samples come back, or that they do not.
const UNASKED_HINT: &str =
    "start `tickwire feed subscribe` with `--no-echo`, too, or this without `--no-echo`";
/// The same where the subscriber was told `--no-echo`.
const ECHO_HINT: &str =
    "start `tickwire feed subscribe` without `--no-echo`, or this with `--no-echo`";
