//! `tickwire topic type`: the type of a topic as IDL, learned from the network.

use std::io::Write;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use tickwire::EndpointData;

use super::learn::describe;
use crate::failure::{Failure, Result};
use crate::idl::to_idl;
use crate::output::{note, stdout};
use crate::survey::{ReportFormat, SurveyOptions};

/// Print the type of a topic as IDL
#[derive(Args)]
#[command(
    long_about = "\
Prints the type of a topic as OMG IDL, with the types that it needs: as the participants of its \
endpoints tell it when asked (XTypes type lookup), no file needed. Endpoints that announce different \
types are told apart; each type is printed once. Comments and typedefs do not travel, so they are \
not there.",
    after_help = "\
Examples:
  tickwire topic type Quotes > quotes.idl
  tickwire topic type Quotes -o json | jq -r '.[].idl'"
)]
pub(crate) struct Arguments {
    /// Name of the topic
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    survey: SurveyOptions,

    /// Form of the answer; a table is IDL
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ReportFormat,
}

/// A type of a topic, and who has it.
pub(crate) struct Definition {
    pub(crate) ty: String,
    pub(crate) idl: String,
    pub(crate) endpoints: Vec<String>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let all = definitions(&self.survey, &self.name, "tickwire topic type")?;
        self.write(&all)
    }

    fn write(&self, definitions: &[Definition]) -> Result<()> {
        let mut out = stdout();
        match self.output {
            ReportFormat::Table => {
                for definition in definitions {
                    if definitions.len() > 1 {
                        writeln!(out, "// {}", definition.endpoints.join(", "))?;
                    }
                    write!(out, "{}", definition.idl)?;
                }
            }
            ReportFormat::Json => {
                let list: Vec<_> = definitions
                    .iter()
                    .map(|definition| {
                        json!({
                            "type": definition.ty,
                            "idl": definition.idl,
                            "endpoints": definition.endpoints,
                        })
                    })
                    .collect();
                serde_json::to_writer_pretty(&mut out, &list).map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
        }
        Ok(out.flush()?)
    }
}

/// The types of a topic as its endpoints tell them: at least one. Standard error says whose is not known.
///
/// # Errors
/// There is no such topic, or nobody tells its type.
pub(crate) fn definitions(
    options: &SurveyOptions,
    name: &str,
    command: &str,
) -> Result<Vec<Definition>> {
    let (participant, survey) = options.look(command)?;
    let topic = survey.topic(name, &options.network)?;
    let mut definitions: Vec<Definition> = Vec::new();
    let mut unknown = Vec::new();
    let mut asked: Vec<Arc<EndpointData>> = Vec::new();
    for endpoint in topic.all() {
        // Who announces the same has the same.
        let is_same = |other: &&Arc<EndpointData>| {
            other.type_information == endpoint.type_information
                && other.type_name == endpoint.type_name
                && !endpoint.type_information.is_empty()
        };
        if asked.iter().any(|other| is_same(&other)) {
            continue;
        }
        asked.push(Arc::clone(endpoint));
        let (role, owner) = (endpoint.role, survey.owner(endpoint.guid));
        let who = format!("{role} {} of {owner}", endpoint.guid);
        match describe(&participant, endpoint) {
            Err(error) => {
                let message = format!("the type of {who} is not known: {error}");
                unknown.push((endpoint, message));
            }
            Ok(ty) => {
                let (idl, ty) = (to_idl(&ty), endpoint.type_name.clone());
                match definitions.iter_mut().find(|known| known.idl == idl) {
                    Some(known) => known.endpoints.push(who),
                    None => definitions.push(Definition {
                        ty,
                        idl,
                        endpoints: vec![who],
                    }),
                }
            }
        }
    }
    // Who takes samples of any type announces none, which matters only where nobody else tells what
    // a type of that name is like.
    for (endpoint, message) in &unknown {
        let mut told = definitions.iter();
        let is_told = told.any(|definition| definition.ty == endpoint.type_name);
        if !is_told || !endpoint.type_information.is_empty() {
            note(message);
        }
    }
    match definitions.is_empty() {
        false => Ok(definitions),
        true => {
            let failure = Failure::new(format_args!("nobody tells the type of the topic `{name}`"));
            Err(failure.hint(
                "let its programs announce types (XTypes TypeInformation), or use their IDL file",
            ))
        }
    }
}
