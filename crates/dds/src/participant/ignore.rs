//! What the application does not want to know of (DDS 1.4 §2.2.2.2.1.11 to §2.2.2.2.1.14). It is in force at
//! once and for ever, and concerns other participants and what they have, never our own.
//!
//! Whoever is ignored is not told: a writer there goes on to match our readers, and one that keeps all
//! for them waits for acknowledgements that do not come.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tickwire_rtps::discovery::Discovery;
use tickwire_rtps::wire::{EntityId, Guid};

use super::DomainParticipant;
use crate::builtin::{of_others, topic_key};
use crate::clock;
use crate::reader::InstanceHandle;

impl DomainParticipant {
    /// Another participant counts as if it were not there: what it had matched is unmatched, and
    /// nothing that it says is looked at any more. Costs some 16 bytes for ever, as its like do.
    ///
    /// Handles are those of the instances of [built-in topics](Self::builtin_subscriber), or made
    /// `from` a [`Guid`].
    ///
    /// ```no_run
    /// # use tickwire::DomainParticipant;
    /// # let participant = DomainParticipant::new(0)?;
    /// for sample in participant.builtin_subscriber().participants().take().iter() {
    ///     if sample.data().is_some_and(|other| other.user_data != b"desk") {
    ///         participant.ignore_participant(sample.info().instance)?;
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the handle is no participant's.
    pub fn ignore_participant(&self, handle: InstanceHandle) -> Result<(), IgnoreError> {
        let guid = Guid::from_bytes(handle.0);
        match guid.entity {
            EntityId::PARTICIPANT => self.ignore(|discovery| {
                discovery.ignore_participant(clock::now(), guid.prefix);
            }),
            _ => return Err(IgnoreError::NoParticipant),
        }
        Ok(())
    }

    /// A topic of others counts as if it were not there: all their writers and readers that give it the
    /// same type are [ignored](Self::ignore_publication), now and later.
    ///
    /// # Errors
    /// When no other participant has such a topic now.
    pub fn ignore_topic(&self, handle: InstanceHandle) -> Result<(), IgnoreError> {
        self.ignore(|discovery| {
            let found = of_others(discovery).find(|data| topic_key(data) == handle);
            let data = Arc::clone(found.ok_or(IgnoreError::UnknownTopic)?);
            discovery.ignore_topic(clock::now(), &data.topic_name, &data.type_name);
            Ok(())
        })
    }

    /// A writer of another participant counts as if it were not there.
    ///
    /// # Errors
    /// When the handle is no writer's.
    pub fn ignore_publication(&self, handle: InstanceHandle) -> Result<(), IgnoreError> {
        let guid = Guid::from_bytes(handle.0);
        if !guid.entity.is_writer() {
            return Err(IgnoreError::NoPublication);
        }
        self.ignore(|discovery| discovery.ignore_endpoint(clock::now(), guid));
        Ok(())
    }

    /// A reader of another participant counts as if it were not there.
    ///
    /// # Errors
    /// When the handle is no reader's.
    pub fn ignore_subscription(&self, handle: InstanceHandle) -> Result<(), IgnoreError> {
        let guid = Guid::from_bytes(handle.0);
        if !guid.entity.is_reader() {
            return Err(IgnoreError::NoSubscription);
        }
        self.ignore(|discovery| discovery.ignore_endpoint(clock::now(), guid));
        Ok(())
    }

    fn ignore<R>(&self, call: impl FnOnce(&mut Discovery) -> R) -> R {
        self.core().with_discovery(|discovery, _| call(discovery))
    }
}

/// Why something is not ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IgnoreError {
    /// The handle is no participant's.
    NoParticipant,
    /// The handle is no writer's.
    NoPublication,
    /// The handle is no reader's.
    NoSubscription,
    /// No other participant has such a topic now.
    UnknownTopic,
}

impl fmt::Display for IgnoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoParticipant => "the handle is no participant's; take one of DCPSParticipant",
            Self::NoPublication => "the handle is no writer's; take one of DCPSPublication",
            Self::NoSubscription => "the handle is no reader's; take one of DCPSSubscription",
            Self::UnknownTopic => {
                "no other participant has such a topic now; take a handle of DCPSTopic that is alive"
            }
        })
    }
}

impl Error for IgnoreError {}
