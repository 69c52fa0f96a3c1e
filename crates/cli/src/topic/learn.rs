//! What a topic's type looks like, as told by the participants of its endpoints.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tickwire::cdr::TypeDescription;
use tickwire::error::TypeError;
use tickwire::{DomainParticipant, DynamicType, EndpointData};

use crate::failure::{Failure, Result};
use crate::idl::source::CompileOptions;
use crate::output::note;

/// Where the type comes from
#[derive(Args)]
pub(super) struct TypeOptions {
    /// File of IDL that has the topic's type, instead of asking its programs, which may not tell
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    idl: Option<PathBuf>,

    /// Name of the type in it, such as market::Quote [default: the name that the topic's programs announce, else the
    /// file's only struct for topics]
    #[arg(long = "type", value_name = "NAME", requires = "idl", help_heading = HEADING)]
    type_name: Option<String>,

    #[command(flatten, next_help_heading = HEADING)]
    compile: CompileOptions,
}

const HEADING: &str = "Type from IDL";

impl TypeOptions {
    /// Whether a file has it.
    pub(super) fn is_given(&self) -> bool {
        self.idl.is_some()
    }

    /// The type in the file, under the name that the endpoints announce.
    fn description(&self, announced: &str) -> Result<Option<TypeDescription>> {
        let Some(file) = &self.idl else {
            return Ok(None);
        };
        let compilation = self.compile.compile_and_tell(&[file])?;
        let described = match &self.type_name {
            Some(name) => compilation.topic_type(Some(name)),
            None => compilation
                .topic_type(Some(announced))
                .or_else(|error| compilation.topic_type(None).map_err(|_| error)),
        };
        let mut description = described.map_err(|error| {
            let names =
                "`--type` names one; the file may need other `-I`, `-D` or `--extensibility`";
            Failure::new(error).hint(names)
        })?;
        description.name = announced.into();
        Ok(Some(description))
    }
}

/// A type as far as its endpoints tell.
#[derive(Default)]
pub(super) struct LearnedType {
    pub(super) name: String,
    pub(super) has_key: bool,
    pub(super) description: Option<TypeDescription>,
}

impl LearnedType {
    /// As told by the first endpoint's participant that tells: those that announce types are asked first. If
    /// none tells, standard error says why. Where `options` name a file, as that has it.
    pub(super) fn of(
        participant: &DomainParticipant,
        endpoints: &[Arc<EndpointData>],
        options: &TypeOptions,
    ) -> Result<Self> {
        let mut learned = Self::default();
        if let Some(first) = endpoints.first() {
            learned.name.clone_from(&first.type_name);
            learned.has_key = first.guid.entity.is_keyed();
            learned.description = options.description(&first.type_name)?;
        }
        if learned.description.is_some() {
            return Ok(learned);
        }
        let (told, untold): (Vec<_>, _) = endpoints.iter().partition(|data| announces_type(data));
        let mut problems = Vec::new();
        for endpoint in told.into_iter().chain(untold).take(MOST_ASKED) {
            learned.name.clone_from(&endpoint.type_name);
            learned.has_key = endpoint.guid.entity.is_keyed();
            match describe(participant, endpoint) {
                Ok(description) => {
                    learned.description = Some(description);
                    return Ok(learned);
                }
                Err(error) => {
                    problems.push(format!("the type {} is not known: {error}", learned.name));
                }
            }
        }
        problems.iter().for_each(note);
        Ok(learned)
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
) -> std::result::Result<TypeDescription, TypeError> {
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
