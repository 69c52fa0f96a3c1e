//! `tickwire durability rm`: removes logs that nobody uses.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use tickwire::store::{LogSummary, Owner, Store};

use super::StoreOption;
use crate::failure::{Failure, Result};
use crate::output::{counted, note, stdout};

/// Remove logs that nobody uses
#[derive(Args)]
#[command(
    long_about = "\
Removes logs of TRANSIENT and PERSISTENT writers that have ended, with all samples in them: those of topics \
that are no more, and those that no writer can take over, since its type or encoding is another by now.

A log is removed only if it is named exactly, by its directory or the last part of that, and if no writer and \
no `tickwire durability serve` has it. Without a name, or where a name is not that of one log, it says what \
could be removed, and removes nothing.",
    after_help = "\
Examples:
  tickwire durability rm
  tickwire durability rm 0.Quotes.5e1f0c9a.1
  tickwire durability rm --store /var/lib/tickwire transient/0.Quotes.5e1f0c9a.0"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    store: StoreOption,

    /// Directories of logs, or the last parts of these [default: say what could be removed]
    #[arg(value_name = "LOG")]
    logs: Vec<PathBuf>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let mut all = Vec::new();
        for place in self.store.places()? {
            all.extend(Store::logs(&place.directory).map_err(Failure::new)?);
        }
        let mut named = Vec::new();
        for name in &self.logs {
            let found: Vec<_> = all.iter().filter(|log| log.ends_with(name)).collect();
            match found.as_slice() {
                [one] => named.push(*one),
                _ => {
                    let listed = list(&all)?;
                    let (count, name) = (found.len(), name.display());
                    let failure = Failure::usage(format_args!("{count} logs are called {name}"));
                    return Err(failure.hint(match listed {
                        0 => "there is none that could be removed: `tickwire durability ls` lists all",
                        _ => "name one of those above; nothing was removed",
                    }));
                }
            }
        }
        if self.logs.is_empty() {
            if list(&all)? == 0 {
                note(match all.len() as u64 {
                    0 => "there are no logs".to_owned(),
                    logs => format!(
                        "nothing can be removed: {} in use",
                        counted(logs, "log is", "logs are")
                    ),
                });
            }
            return Ok(());
        }
        for log in named {
            Store::remove(log).map_err(Failure::new)?;
            note(format_args!("removed {}", log.display()));
        }
        Ok(())
    }
}

/// Says what could be removed, and how many logs that are.
fn list(logs: &[PathBuf]) -> Result<usize> {
    let mut out = stdout();
    let mut listed = 0;
    for log in logs {
        if Store::owner(log).map_err(Failure::new)? == Owner::Nobody {
            writeln!(out, "{}: {}", log.display(), contents(log))?;
            listed += 1;
        }
    }
    out.flush()?;
    Ok(listed)
}

fn contents(log: &Path) -> String {
    match LogSummary::of(log) {
        Ok(summary) => {
            let samples = counted(summary.records, "sample", "samples");
            format!("{samples}, {}", counted(summary.bytes, "byte", "bytes"))
        }
        Err(_) => "cannot be read".to_owned(),
    }
}
