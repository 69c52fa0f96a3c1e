//! `tickwire idl from-wire`: the type of a topic as a file, learned from the network.

use std::io::Write;
use std::path::PathBuf;
use std::{fs, io};

use clap::Args;
use tickwire_idl::{Diagnostic, Loader, Options, Severity, compile};

use crate::failure::{Failure, Result};
use crate::output::{note, stdout};
use crate::survey::SurveyOptions;
use crate::topic::definitions;

/// Write the type of a topic on the network as a file of IDL
#[derive(Args)]
#[command(
    long_about = "\
Asks the participants of a topic's endpoints for its type (XTypes type lookup), and writes it as OMG IDL, \
with the types that it needs: a file to compile, to keep, or to compare with another one. Comments and \
typedefs do not travel, so they are not there. `tickwire topic type` prints the same, and all types of a \
topic whose endpoints do not agree.

What the wire tells and IDL cannot say, such as members whose names differ in the case of letters alone, \
is told at standard error.",
    after_help = "\
Examples:
  tickwire idl from-wire Quotes --out quotes.idl
  tickwire idl from-wire Quotes > now.idl; tickwire idl diff kept.idl now.idl"
)]
pub(crate) struct Arguments {
    /// Name of the topic
    #[arg(value_name = "TOPIC")]
    topic: String,

    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    survey: SurveyOptions,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let name = &self.topic;
        let all = definitions(&self.survey, name, "tickwire idl from-wire")?;
        let [definition] = all.as_slice() else {
            for definition in &all {
                let who = definition.endpoints.join(", ");
                note(format_args!("{} of {who}", definition.ty));
            }
            let several = Failure::new(format_args!(
                "the endpoints of the topic `{name}` have {} different types",
                all.len()
            ));
            return Err(several.hint(format_args!("`tickwire topic type {name}` prints them")));
        };
        for problem in problems(&definition.idl) {
            note(problem);
        }
        match &self.out {
            None => {
                let mut out = stdout();
                out.write_all(definition.idl.as_bytes())?;
                out.flush()?;
            }
            Some(path) => {
                let text = format!("// The type of the topic {name:?}.\n\n{}", definition.idl);
                fs::write(path, text).map_err(|error| {
                    Failure::new(format_args!("cannot write {}: {error}", path.display()))
                })?;
                note(format_args!("wrote {}", path.display()));
            }
        }
        Ok(())
    }
}

/// What a compiler of IDL would refuse.
fn problems(idl: &str) -> Vec<Diagnostic> {
    struct Text<'t>(&'t str);
    impl Loader for Text<'_> {
        fn load(&mut self, _: &std::path::Path) -> io::Result<Vec<u8>> {
            Ok(self.0.as_bytes().to_vec())
        }
    }
    match compile(&["the wire"], &Options::default(), &mut Text(idl)) {
        Err(tickwire_idl::CompileError::Invalid(mut found)) => {
            found.retain(|one| one.severity == Severity::Error);
            found
        }
        _ => Vec::new(),
    }
}
