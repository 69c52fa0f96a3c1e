//! `tickwire qos show`: what a file of QoS profiles says, with all that is inherited.

use std::io::{BufWriter, StdoutLock, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tickwire_fast::{Mode, Templates};
use tickwire_profiles::{Effective, Entity, Profile, Profiles};

use crate::failure::{Failure, Result};
use crate::output::{ListFormat, note, stdout, write_list};
use crate::survey::distinct;

/// Show what a file of QoS profiles says
#[derive(Args)]
#[command(
    long_about = "\
Reads a file of QoS profiles (TOML, DDS-XML as Connext and Cyclone DDS have it, or Fast DDS XML) and \
lists its profiles, and which is the default one; with the name of one, or of a file that has only one, what it says of participants, \
topics, publishers, subscribers, writers and readers: each setting that differs from its default, the \
default, and the profile and line that it comes from. What is inherited is in it; what the file says that \
Tickwire does not have is reported on standard error.

With --topic, what holds for that topic; otherwise what holds for those that no filter names. `-o toml` \
writes the profile as a TOML profile of its own, whatever its format, with its parts for topics that \
filters name. For programs, `-o json` and `-o csv` list the profiles of every file alike, unless one is \
named or --topic or --all asks for settings.

The exit status is 1 if the file says what cannot be obeyed, or has no profile.",
    after_help = "\
Examples:
  tickwire qos show qos.toml
  tickwire qos show qos.toml desk
  tickwire qos show USER_QOS_PROFILES.xml Lib::Prices --topic Quotes --all
  tickwire qos show USER_QOS_PROFILES.xml Prices -o toml >> qos.toml"
)]
pub(crate) struct Arguments {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Name of a profile [default: the only one, or list them]
    #[arg(value_name = "PROFILE")]
    profile: Option<String>,

    /// Show what holds for this topic
    #[arg(long, value_name = "NAME")]
    topic: Option<String>,

    /// Show also what has its default
    #[arg(short, long)]
    all: bool,

    /// Form of the answer
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Form {
    /// Columns for people
    #[default]
    Table,
    /// One array of objects
    Json,
    /// A line of names, then a line for each setting
    Csv,
    /// A TOML profile
    Toml,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let profiles = Profiles::load(&self.file).map_err(|error| match self.is_fast() {
            true => self.no_profile(),
            false => Failure::new(error),
        })?;
        for ignored in profiles.ignored() {
            let (file, line, message) = (profiles.file(), ignored.line, &ignored.message);
            note(format_args!("{file}:{line}: {message}"));
        }
        let mut names = profiles.names();
        let Some(first) = names.next() else {
            return Err(self.no_profile());
        };
        let only = Some(first).filter(|_| names.next().is_none());
        let mut out = stdout();
        let name = match (self.profile.as_deref(), only) {
            (Some(name), _) => name,
            (None, Some(only)) if self.is_of_one() || self.output == Form::Table => {
                note(format_args!(
                    "{} has one profile, `{only}`:",
                    profiles.file()
                ));
                only
            }
            (None, None) if self.is_of_one() => {
                let message = "--topic, --all and `-o toml` are for one profile: name it";
                return Err(Failure::usage(message));
            }
            (None, _) => {
                self.list(&profiles, &mut out)?;
                return Ok(out.flush()?);
            }
        };
        let profile = profiles.profile(name).map_err(Failure::usage)?;
        match self.output {
            Form::Toml => {
                // A name within a library is no bare key.
                let name = name.rsplit("::").next().unwrap_or(name);
                let text = profile.to_toml(name, self.topic.as_deref(), self.all);
                out.write_all(text.map_err(Failure::new)?.as_bytes())?;
            }
            _ => self.show(&profile, &mut out)?,
        }
        Ok(out.flush()?)
    }

    /// Whether what is asked for is of one profile.
    fn is_of_one(&self) -> bool {
        self.topic.is_some() || self.all || self.output == Form::Toml
    }

    /// Whether it is a file of FAST templates.
    fn is_fast(&self) -> bool {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        Templates::parse(&text, Mode::Lenient).is_ok_and(|them| them.iter().next().is_some())
    }

    /// The file may be another that the user has.
    fn no_profile(&self) -> Failure {
        let file = self.file.display();
        let failure = Failure::new(format_args!("{file} has no QoS profile"));
        match self.is_fast() {
            true => failure.hint(format_args!(
                "it is a file of FAST templates: `tickwire fast templates {file}` shows it"
            )),
            false => failure.hint(
                "a profile is `[profiles.NAME]` in TOML, `<qos_profile name=\"NAME\">` in a `<qos_library>` in \
                 DDS-XML, or below `<profiles>` in Fast DDS's XML",
            ),
        }
    }

    fn list(&self, profiles: &Profiles, out: &mut BufWriter<StdoutLock<'_>>) -> Result<()> {
        let rows = profiles.names().filter_map(|name| {
            let profile = profiles.profile(name).ok()?;
            let set = Entity::ALL
                .into_iter()
                .flat_map(|entity| profile.settings(entity, None));
            let set = set.filter(|effective| effective.origin.is_some()).count();
            let topics = profile.topics().join(", ");
            let default = profiles.default_of(name);
            let default = match default.len() == Entity::ALL.len() {
                true => "yes".to_owned(),
                false => distinct(default.into_iter()),
            };
            Some(vec![json!(name), json!(default), json!(set), json!(topics)])
        });
        let rows: Vec<_> = rows.collect();
        write_list(
            out,
            self.list_format(),
            &["profile", "default", "settings", "topic filters"],
            &rows,
        )?;
        if self.output == Form::Table {
            out.flush()?;
            if profiles.check_default().is_err() {
                note(
                    "none of them is the default: `--qos-profile` or TICKWIRE_QOS_PROFILE names the one to follow",
                );
            }
            let file = profiles.file();
            note(format_args!(
                "hint: `tickwire qos show {file} PROFILE` shows what one says"
            ));
        }
        Ok(())
    }

    fn show(&self, profile: &Profile, out: &mut BufWriter<StdoutLock<'_>>) -> Result<()> {
        let mut rows = Vec::new();
        for entity in Entity::ALL {
            for effective in self.settings(profile, entity) {
                let origin = effective.origin.map(|(profile, line)| match line {
                    Some(line) => format!("{profile}, line {line}"),
                    None => format!("{profile}, built into Connext"),
                });
                rows.push(vec![
                    json!(entity.name()),
                    json!(effective.setting.key),
                    Value::String(effective.value),
                    json!(effective.setting.default),
                    origin.map_or_else(|| json!("default"), Value::String),
                ]);
            }
        }
        let columns = ["of", "setting", "value", "default", "from"];
        write_list(out, self.list_format(), &columns, &rows)?;
        let topics = profile.topics();
        if self.topic.is_none() && !topics.is_empty() {
            note(format_args!(
                "other settings hold for topics that match {}: --topic NAME shows them",
                topics.join(", ")
            ));
        }
        Ok(())
    }

    /// What is to be shown of an entity.
    fn settings(&self, profile: &Profile, entity: Entity) -> Vec<Effective> {
        let mut settings = profile.settings(entity, self.topic.as_deref());
        settings.retain(|effective| self.all || effective.value != effective.setting.default);
        settings
    }

    fn list_format(&self) -> ListFormat {
        match self.output {
            Form::Json => ListFormat::Json,
            Form::Csv => ListFormat::Csv,
            Form::Table | Form::Toml => ListFormat::Table,
        }
    }
}
