//! `tickwire idl diff`: who can read whose samples, by the types of two files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tickwire::cdr::xtypes::{Consistency, NotAssignable, check_assignable};
use tickwire::cdr::{Extensibility, Member, Representation, Type, TypeDescription};
use tickwire_idl::model::DefinitionId;
use tickwire_idl::{Compilation, Descriptions, Model};

use super::source::CompileOptions;
use crate::failure::{Failure, Result};
use crate::output::{counted, stdout};
use crate::survey::ReportFormat;

/// Tell whether programs of two files of IDL can read each other's samples
#[derive(Args)]
#[command(
    long_about = "\
Compares the types of two files, or of two states of one, by the rules of XTypes for assignability: for \
each type that both define, whether a reader of the new one reads samples of the old one, and the other \
way round, and if not, why, member by member. It is what readers and writers decide when they meet.

Interfaces are compared by the structs of their requests and replies. Types are known by their full names. The exit status is 1 if a type cannot be read in a direction, or not \
be compared.",
    after_help = "\
Examples:
  tickwire idl diff v1/market.idl v2/market.idl
  tickwire idl diff --representation xcdr1 old.idl new.idl
  tickwire idl diff old.idl new.idl -o json | jq '.[] | select(.only_in)'
  git show HEAD:market.idl > old.idl; tickwire idl diff old.idl market.idl"
)]
pub(crate) struct Arguments {
    /// File of IDL as it was
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// File of IDL as it is
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// Encoding of the samples: in XCDR1, types inside others cannot grow
    #[arg(long, value_name = "ENCODING", value_enum, default_value_t)]
    representation: Encoding,

    /// Let members have other names, if their ids are the same
    #[arg(long)]
    ignore_member_names: bool,

    #[command(flatten)]
    options: CompileOptions,

    /// Form of the answer
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ReportFormat,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Encoding {
    Xcdr1,
    #[default]
    Xcdr2,
}

/// What becomes of a type.
struct Change {
    name: String,
    kind: &'static str,
    verdict: Verdict,
}

enum Verdict {
    OnlyOld,
    OnlyNew,
    Same,
    /// Why a reader of the one cannot read samples of the other; nothing if it can.
    Compared {
        new_reads_old: Vec<NotAssignable>,
        old_reads_new: Vec<NotAssignable>,
    },
    /// Why not.
    NotCompared(String),
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let old = self.options.compile_and_tell(&[&self.old])?;
        let new = self.options.compile_and_tell(&[&self.new])?;
        let changes = self.changes(&old, &new);
        let mut out = stdout();
        match self.output {
            ReportFormat::Table => self.write_lines(&changes, &mut out)?,
            ReportFormat::Json => {
                let list: Vec<Value> = changes.iter().map(Change::to_json).collect();
                serde_json::to_writer_pretty(&mut out, &list).map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
        }
        out.flush()?;
        let count = |is: fn(&Verdict) -> bool| {
            changes.iter().filter(|change| is(&change.verdict)).count() as u64
        };
        match (count(Verdict::is_unread), count(Verdict::is_unknown)) {
            (0, 0) => Ok(()),
            (0, unknown) => Err(Failure::new(counted(
                unknown,
                "type cannot be compared",
                "types cannot be compared",
            ))),
            (unread, _) => Err(Failure::new(counted(
                unread,
                "type cannot be read in both directions",
                "types cannot be read in both directions",
            ))),
        }
    }

    fn changes(&self, old: &Compilation, new: &Compilation) -> Vec<Change> {
        // Interfaces are compared by what they send.
        let (old, new) = (&old.model.with_services(), &new.model.with_services());
        let (old_types, new_types) = (Descriptions::of(old), Descriptions::of(new));
        let mut changes = Vec::new();
        let all = |model: &Model, types: &Descriptions| -> BTreeMap<String, DefinitionId> {
            let all = model.definitions();
            let all = all.filter(|(id, _)| types.get(*id).is_some());
            all.map(|(id, definition)| (definition.full_name.clone(), id))
                .collect()
        };
        let (old_names, new_names) = (all(old, &old_types), all(new, &new_types));
        let names: BTreeSet<&String> = old_names.keys().chain(new_names.keys()).collect();
        for name in names {
            let (before, after) = (old_names.get(name), new_names.get(name));
            let kind = match (before, after) {
                (_, Some(id)) => new.definition(*id).kind.keyword(),
                (Some(id), None) => old.definition(*id).kind.keyword(),
                (None, None) => continue,
            };
            let before = before.and_then(|id| old_types.get(*id));
            let after = after.and_then(|id| new_types.get(*id));
            let verdict = match (before, after) {
                (None, _) => Verdict::OnlyNew,
                (_, None) => Verdict::OnlyOld,
                (Some(Err(why)), _) | (_, Some(Err(why))) => Verdict::NotCompared(why.to_owned()),
                (Some(Ok(before)), Some(Ok(after))) => self.compare(name, before, after),
            };
            changes.push(Change {
                name: name.clone(),
                kind,
                verdict,
            });
        }
        changes
    }

    fn compare(&self, name: &str, old: &Type, new: &Type) -> Verdict {
        if old == new {
            return Verdict::Same;
        }
        let consistency = Consistency {
            ignore_member_names: self.ignore_member_names,
            representation: match self.representation {
                Encoding::Xcdr1 => Representation::Xcdr1,
                Encoding::Xcdr2 => Representation::Xcdr2,
            },
            ..Consistency::default()
        };
        let (Some(old), Some(new)) = (whole(name, old), whole(name, new)) else {
            return Verdict::NotCompared("it cannot be a member".to_owned());
        };
        let reads = |reader: &TypeDescription, writer: &TypeDescription| {
            let mut reasons = check_assignable(reader, writer, consistency)
                .err()
                .unwrap_or_default();
            for reason in &mut reasons {
                if let Some(path) = reason.path.strip_prefix('.') {
                    reason.path = path.to_owned();
                }
            }
            reasons
        };
        Verdict::Compared {
            new_reads_old: reads(&new, &old),
            old_reads_new: reads(&old, &new),
        }
    }

    fn write_lines(&self, changes: &[Change], out: &mut impl Write) -> Result<()> {
        let (old, new) = (self.old.display(), self.new.display());
        for change in changes {
            let name = &change.name;
            match &change.verdict {
                Verdict::Same => writeln!(out, "{name}: the same")?,
                Verdict::OnlyOld => writeln!(out, "{name}: only in {old}")?,
                Verdict::OnlyNew => writeln!(out, "{name}: only in {new}")?,
                Verdict::NotCompared(why) => writeln!(out, "{name}: not compared: {why}")?,
                Verdict::Compared {
                    new_reads_old,
                    old_reads_new,
                } => {
                    writeln!(out, "{name}")?;
                    for (reader, writer, reasons) in
                        [(&new, &old, new_reads_old), (&old, &new, old_reads_new)]
                    {
                        let (reads, colon) = match reasons.is_empty() {
                            true => ("reads", ""),
                            false => ("cannot read", ":"),
                        };
                        writeln!(
                            out,
                            "  a reader of {reader} {reads} samples of {writer}{colon}"
                        )?;
                        for reason in reasons {
                            writeln!(out, "    {reason}")?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// A type as one that samples can be of.
fn whole(name: &str, ty: &Type) -> Option<TypeDescription> {
    match ty {
        Type::Struct(of) => Some((**of).clone()),
        // Mutable, so that something tells where the value ends.
        other => {
            let member = Member::new(name, 0, other.clone());
            TypeDescription::new("", Extensibility::Mutable, vec![member]).ok()
        }
    }
}

impl Verdict {
    fn is_unread(&self) -> bool {
        match self {
            Self::Compared {
                new_reads_old,
                old_reads_new,
            } => !(new_reads_old.is_empty() && old_reads_new.is_empty()),
            _ => false,
        }
    }

    fn is_unknown(&self) -> bool {
        matches!(self, Self::NotCompared(_))
    }
}

impl Change {
    fn to_json(&self) -> Value {
        let direction = |reasons: &[NotAssignable]| {
            let told = reasons
                .iter()
                .map(|one| json!({"path": one.path, "reason": one.reason.to_string()}));
            json!({"readable": reasons.is_empty(), "reasons": told.collect::<Vec<_>>()})
        };
        let mut object = json!({"type": self.name, "kind": self.kind, "same": false});
        match &self.verdict {
            Verdict::Same => object["same"] = json!(true),
            Verdict::OnlyOld => object["only_in"] = json!("old"),
            Verdict::OnlyNew => object["only_in"] = json!("new"),
            Verdict::NotCompared(why) => object["not_compared"] = json!(why),
            Verdict::Compared {
                new_reads_old,
                old_reads_new,
            } => {
                object["new_reads_old"] = direction(new_reads_old);
                object["old_reads_new"] = direction(old_reads_new);
            }
        }
        object
    }
}
