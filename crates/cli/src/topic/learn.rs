//! What a topic's type looks like, as told by the participants of its endpoints.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tickwire::cdr::TypeDescription;
use tickwire::error::TypeError;
use tickwire::{DomainParticipant, DynamicType, EndpointData};
use tickwire_idl::{Compilation, TopicTypeError};

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

    /// The types of the file, if one is given. Standard error says what is wrong and what is doubtful in it.
    pub(super) fn compile(&self) -> Result<Option<TypeFile<'_>>> {
        let Some(path) = &self.idl else {
            return Ok(None);
        };
        Ok(Some(TypeFile {
            path,
            compilation: self.compile.compile_and_tell(&[path])?,
            type_name: self.type_name.as_deref(),
        }))
    }
}

/// A file of IDL that has the topic's type.
pub(super) struct TypeFile<'a> {
    path: &'a Path,
    compilation: Compilation,
    /// Which of its types that is, if the command line says so.
    type_name: Option<&'a str>,
}

impl TypeFile<'_> {
    /// The type, if it takes no endpoint that announces its name to tell which one it is.
    pub(super) fn alone(&self) -> Result<Option<TypeDescription>> {
        match self.compilation.topic_type(self.type_name) {
            Ok(description) => Ok(Some(description)),
            // No endpoint could tell which one it is.
            Err(TopicTypeError::Unnamed { topics }) if topics.is_empty() => {
                let path = self.path.display();
                let failure = Failure::new(format_args!("{path} has no struct that is for topics"));
                Err(failure
                    .hint("`--type` names one that is `@nested`; or give the file that has it"))
            }
            Err(TopicTypeError::Unnamed { .. }) => Ok(None),
            Err(error) => Err(no_type(error)),
        }
    }

    /// The type, under the name that the endpoints announce.
    fn announced(&self, name: &str) -> Result<TypeDescription> {
        let described = match self.type_name {
            Some(name) => self.compilation.topic_type(Some(name)),
            None => {
                let announced = self.compilation.topic_type(Some(name));
                announced.or_else(|error| self.compilation.topic_type(None).map_err(|_| error))
            }
        };
        let mut description = described.map_err(no_type)?;
        description.name = name.into();
        Ok(description)
    }
}

fn no_type(error: TopicTypeError) -> Failure {
    let names = "`--type` names one; the file may need other `-I`, `-D` or `--extensibility`";
    Failure::new(error).hint(names)
}

/// A type as far as its endpoints tell.
#[derive(Default)]
pub(super) struct LearnedType {
    name: String,
    has_key: bool,
    pub(super) description: Option<TypeDescription>,
}

impl LearnedType {
    /// As told by the first endpoint's participant that tells: those that announce types are asked first. If
    /// none tells, standard error says why. Where a file has it, as that has it.
    pub(super) fn of(
        participant: &DomainParticipant,
        endpoints: &[Arc<EndpointData>],
        file: Option<&TypeFile<'_>>,
    ) -> Result<Self> {
        let of_file = file.map(|file| match endpoints.first() {
            Some(first) => file.announced(&first.type_name).map(Some),
            None => file.alone(),
        });
        if let Some(description) = of_file.transpose()?.flatten() {
            return Ok(Self::described(description));
        }
        let (told, untold): (Vec<_>, _) = endpoints.iter().partition(|data| announces_type(data));
        let (mut learned, mut problems) = (Self::default(), Vec::new());
        for endpoint in told.into_iter().chain(untold).take(MOST_ASKED) {
            match describe(participant, endpoint) {
                Ok(description) => return Ok(Self::described(description)),
                Err(error) => {
                    learned = Self::unknown(endpoint);
                    problems.push(format!("the type {} is not known: {error}", learned.name));
                }
            }
        }
        problems.iter().for_each(note);
        Ok(learned)
    }

    pub(super) fn described(description: TypeDescription) -> Self {
        Self {
            name: description.name.to_string(),
            has_key: description.has_key(),
            description: Some(description),
        }
    }

    /// As far as an endpoint tells that does not describe it.
    pub(super) fn unknown(endpoint: &EndpointData) -> Self {
        Self {
            name: endpoint.type_name.clone(),
            has_key: endpoint.guid.entity.is_keyed(),
            description: None,
        }
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
