//! What a topic's type looks like, as told by the participants of its endpoints.

use std::sync::Arc;
use std::time::Duration;

use tickwire::cdr::TypeDescription;
use tickwire::error::TypeError;
use tickwire::{DomainParticipant, DynamicType, EndpointData};

use crate::output::note;

/// A type as far as its endpoints tell.
#[derive(Default)]
pub(super) struct LearnedType {
    pub(super) name: String,
    pub(super) has_key: bool,
    pub(super) description: Option<TypeDescription>,
}

impl LearnedType {
    /// As told by the first endpoint's participant that tells: those that announce types are asked first. If
    /// none tells, standard error says why.
    pub(super) fn of(participant: &DomainParticipant, endpoints: &[Arc<EndpointData>]) -> Self {
        let mut learned = Self::default();
        let (told, untold): (Vec<_>, _) = endpoints.iter().partition(|data| announces_type(data));
        let mut problems = Vec::new();
        for endpoint in told.into_iter().chain(untold).take(MOST_ASKED) {
            learned.name.clone_from(&endpoint.type_name);
            learned.has_key = endpoint.guid.entity.is_keyed();
            match describe(participant, endpoint) {
                Ok(description) => {
                    learned.description = Some(description);
                    return learned;
                }
                Err(error) => {
                    problems.push(format!("the type {} is not known: {error}", learned.name));
                }
            }
        }
        problems.iter().for_each(note);
        learned
    }

    pub(super) fn to_dynamic(&self) -> DynamicType {
        match &self.description {
            Some(description) => DynamicType::described(description.clone()),
            None => DynamicType::opaque(&self.name, self.has_key),
        }
    }
}

/// Whether an endpoint says which type it has. Readers that take samples of any type do not.
pub(super) fn announces_type(endpoint: &EndpointData) -> bool {
    !endpoint.type_information.is_empty()
}

/// The type of an endpoint, under the name that it is registered by, which is the one that must
/// match.
pub(super) fn describe(
    participant: &DomainParticipant,
    endpoint: &EndpointData,
) -> Result<TypeDescription, TypeError> {
    let view = participant.discovery();
    let mut description = view.type_of(endpoint.guid, PATIENCE)?;
    if *description.name != *endpoint.type_name {
        description.name = endpoint.type_name.as_str().into();
    }
    Ok(description)
}

/// How long to wait for the answer about a type.
const PATIENCE: Duration = Duration::from_secs(3);
/// Participants that are asked for the type.
const MOST_ASKED: usize = 3;
