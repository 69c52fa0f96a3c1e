//! What changes when addresses do: where we reach others, and where they reach us. Who announces
//! what, and when, is decided elsewhere.

use alloc::vec::Vec;
use core::net::IpAddr;

use tickwire_base::{Instant, Locator};

use super::proxies::metatraffic;
use super::{AddError, Attachment, Discovery, Role};
use crate::outbox::Outbox;
use crate::wire::GuidPrefix;

/// Where a participant receives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnAddresses {
    /// Discovery, and what is addressed to its writers.
    pub metatraffic: Vec<Locator>,
    /// What is addressed to its readers.
    pub user: Vec<Locator>,
}

impl Discovery {
    /// Our addresses have changed: announces the participant and its writers with those where we
    /// receive now, and chooses anew where others are reached.
    ///
    /// Costs one announcement of the participant, one for each of its writers, and a comparison of
    /// each pair of endpoints.
    ///
    /// # Errors
    /// When there are more addresses than an announcement can hold; then nothing changes.
    pub fn move_to(
        &mut self,
        now: Instant,
        attachment: Attachment,
        addresses: &OwnAddresses,
        outbox: &mut Outbox,
    ) -> Result<(), AddError> {
        self.update_participant(now, |participant| {
            participant
                .metatraffic_unicast
                .clone_from(&addresses.metatraffic);
            participant.default_unicast.clone_from(&addresses.user);
        })
        .map_err(AddError::TooLong)?;
        // Any of them may get lost while links come and go.
        self.announcer.hurry(self.config.initial_count);
        self.config.attachment = attachment;
        let prefixes: Vec<_> = self
            .participants
            .iter()
            .map(|one| one.data.guid_prefix)
            .collect();
        for prefix in prefixes {
            self.reach_anew(now, prefix, None, outbox);
        }
        let own: Vec<_> = self.endpoints.of(self.prefix()).cloned().collect();
        for endpoint in own
            .into_iter()
            .filter(|own| !own.unicast_locators.is_empty())
        {
            let mut data = (*endpoint).clone();
            data.unicast_locators = match data.role {
                Role::Writer => addresses.metatraffic.clone(),
                Role::Reader => addresses.user.clone(),
            };
            self.add(now, data, outbox)?;
        }
        Ok(())
    }

    /// A participant that says nothing new was heard from `source`, which may show a better way to
    /// it than the one known. One as good is no reason to change.
    pub(super) fn consider_source(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        source: Option<IpAddr>,
        outbox: &mut Outbox,
    ) {
        let Some(known) = self.participants.get(prefix) else {
            return;
        };
        if source.is_none() || source == known.source {
            return;
        }
        let choice = metatraffic(&known.data, &self.config.attachment, source);
        if choice.confidence > known.confidence {
            self.reach_anew(now, prefix, source, outbox);
        }
    }

    /// Chooses anew where a participant and its endpoints are reached: as somebody heard from
    /// `source`, or from where it was heard before.
    fn reach_anew(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        source: Option<IpAddr>,
        outbox: &mut Outbox,
    ) {
        let Some(known) = self.participants.get(prefix) else {
            return;
        };
        let source = source.or(known.source);
        let choice = metatraffic(&known.data, &self.config.attachment, source);
        self.participants.reached_at(prefix, choice, source);
        self.match_builtin_topics(now, prefix, outbox);
        self.compare_again(now, prefix);
    }
}
