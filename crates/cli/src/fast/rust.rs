//! `tickwire fast rust`: templates as Rust source text.

use std::io::Write;

use clap::Args;
use tickwire_fast::generate::{RustOptions, rust};
use tickwire_fast::{FieldType, Templates};

use super::source::{DefaultTemplate, TemplateFile};
use crate::failure::{Failure, Result};
use crate::output::stdout;

/// Print templates as Rust structs with their decoder and encoder
#[derive(Args)]
#[command(
    long_about = "\
Prints Rust source text for the templates of a file: a struct for each, with a member for each field \
(MDEntryPx is md_entry_px), and functions that decode and encode them without a plan to interpret. It is \
what `tickwire_fast::build` makes of the file in a build script; a program that has that needs no copy.

Groups and elements of sequences are structs in a module named after the struct around them. Templates \
without an id have no messages, and no struct, but for the one that `--default-template` names.",
    after_help = "\
Examples:
  tickwire fast rust feed.xml > src/feed.rs
  tickwire fast rust feed.xml --topics --key MsgSeqNum > src/feed.rs

In the crate that has the file, until there are releases:
  cargo add tickwire-fast --git https://github.com/tickwire/tickwire
  cargo add tickwire --git https://github.com/tickwire/tickwire  # with --topics"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    templates: TemplateFile,

    #[command(flatten)]
    default: DefaultTemplate,

    /// Derive `tickwire::Topic`, so that a decoded message can be published as it is
    #[arg(long)]
    topics: bool,

    #[command(flatten)]
    keys: Keys,
}

/// Which fields are keys.
#[derive(Args)]
pub(super) struct Keys {
    /// Field that is a key of the topics of templates that have it; can be given several times
    #[arg(long = "key", value_name = "FIELD")]
    keys: Vec<String>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        if !self.topics && !self.keys.keys.is_empty() {
            return Err(Failure::usage("only topics have keys").hint("add `--topics`"));
        }
        let templates = self.default.of(self.templates.load()?)?;
        let options = RustOptions {
            topics: self.topics,
            keys: self.keys.checked(&templates)?,
        };
        let mut out = stdout();
        out.write_all(rust(&templates, &options).as_bytes())?;
        Ok(out.flush()?)
    }
}

impl Keys {
    /// The fields' names, each of which some template that has messages has as a possible key.
    pub(super) fn checked(self, templates: &Templates) -> Result<Vec<String>> {
        let with_messages = || {
            let templates = templates.iter();
            templates.filter(|template| template.has_messages())
        };
        if with_messages().next().is_none() {
            let failure = Failure::new("no template has an id, so there are no messages");
            return Err(failure.hint(
                "add the attribute `id`, the number that messages carry; if they carry none, \
                 `--default-template` names their template",
            ));
        }
        for key in &self.keys {
            let mut fields = with_messages().flat_map(|template| template.fields());
            let is_there = fields.any(|field| {
                let is_value = !matches!(
                    field.field_type(),
                    FieldType::Group | FieldType::Sequence | FieldType::Template
                );
                field.name() == key && is_value && !field.is_optional()
            });
            if !is_there {
                let failure = Failure::new(format_args!("no template can have the key {key}"));
                return Err(failure.hint(
                    "a key is a mandatory field outside groups and sequences; \
                     `tickwire fast templates XML --fields` shows them",
                ));
            }
        }
        Ok(self.keys)
    }
}
