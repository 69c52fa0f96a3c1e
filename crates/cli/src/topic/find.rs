//! `tickwire topic find`: the topics of a type.

use std::collections::BTreeSet;
use std::io::Write;

use clap::Args;
use serde_json::json;
use tickwire::qos::nearest_name;

use crate::failure::{Failure, Result};
use crate::output::{ListFormat, stdout, write_list};
use crate::survey::SurveyOptions;

/// List the topics of a type
#[derive(Args)]
#[command(
    long_about = "\
Lists the topics that have a type, by its full name with `::` between modules, or by the part after \
the last one.

It reads no sample and changes nothing; any DDS on the network is seen. Where no topic has the type, \
the exit status is 1.",
    after_help = "\
Examples:
  tickwire topic find md::Quote
  tickwire topic find Quote -o json | jq -r '.[].topic'"
)]
pub(crate) struct Arguments {
    /// Name of the type
    #[arg(value_name = "TYPE")]
    name: String,

    #[command(flatten)]
    survey: SurveyOptions,

    /// Form of the list
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let (_participant, survey) = self.survey.look("tickwire topic find")?;
        let mut types = BTreeSet::new();
        let mut rows = Vec::new();
        for (name, topic) in &survey.topics {
            let own: BTreeSet<_> = topic.all().map(|data| data.type_name.as_str()).collect();
            for ty in own.iter().filter(|ty| self.is_meant(ty)) {
                let count = |list: &[std::sync::Arc<tickwire::EndpointData>]| {
                    list.iter().filter(|data| data.type_name == **ty).count()
                };
                let (writers, readers) = (count(&topic.writers), count(&topic.readers));
                rows.push(vec![json!(name), json!(ty), json!(writers), json!(readers)]);
            }
            types.extend(own);
        }
        let mut out = stdout();
        if !rows.is_empty() || self.output != ListFormat::Table {
            let columns = ["topic", "type", "writers", "readers"];
            write_list(&mut out, self.output, &columns, &rows)?;
            out.flush()?;
        }
        match rows.is_empty() {
            true => Err(self.not_found(&types)),
            false => Ok(()),
        }
    }

    fn is_meant(&self, ty: &str) -> bool {
        ty == self.name || last(ty) == self.name
    }

    fn not_found(&self, types: &BTreeSet<&str>) -> Failure {
        let domain = self.survey.network.domain;
        let name = &self.name;
        let failure = Failure::new(format_args!(
            "no topic in domain {domain} has the type `{name}`"
        ));
        let near = nearest_name(name, types.iter().copied());
        let near = near.or_else(|| nearest_name(name, types.iter().map(|ty| last(ty))));
        failure.hint(match near {
            Some(near) => format!("there is a type `{near}`"),
            None => {
                let again = self.survey.network.again();
                format!("`tickwire topic ls {again}` lists the topics and their types")
            }
        })
    }
}

/// The name of a type without its modules.
fn last(ty: &str) -> &str {
    ty.rsplit("::").next().unwrap_or(ty)
}
