//! `tickwire fast idl`: the topic types of templates as OMG IDL.

use std::io::Write;

use clap::Args;
use tickwire_fast::generate::idl;

use super::rust::Keys;
use super::source::{DefaultTemplate, TemplateFile};
use crate::failure::Result;
use crate::output::stdout;

/// Print the topic types of templates as OMG IDL
#[derive(Args)]
#[command(
    long_about = "\
Prints OMG IDL 4.2 for the types of the topics that the templates' messages are published on, for programs \
in other languages: `idlc` of Cyclone DDS compiles it, as other DDS's compilers do. The types are those of \
`tickwire feed run` with a topic for each template.

Names are the templates' own wherever IDL allows them. A name that is a keyword of IDL has an underscore \
before it, which is no part of it. A template without fields, or with a reference to whichever template \
comes, has no topic; a comment says so.",
    after_help = "\
Examples:
  tickwire fast idl feed.xml > feed.idl
  tickwire fast idl feed.xml --key MsgSeqNum > feed.idl && idlc feed.idl"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    templates: TemplateFile,

    #[command(flatten)]
    default: DefaultTemplate,

    #[command(flatten)]
    keys: Keys,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let templates = self.default.of(self.templates.load()?)?;
        let keys = self.keys.checked(&templates)?;
        let mut out = stdout();
        out.write_all(idl(&templates, &keys).as_bytes())?;
        Ok(out.flush()?)
    }
}
