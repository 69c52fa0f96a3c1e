//! `tickwire idl fmt`: files of IDL, laid out.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;

use super::source::invalid;
use crate::failure::{Failure, Result};
use crate::output::{counted, note, stdout};

/// Lay out files of IDL
#[derive(Args)]
#[command(
    long_about = "\
Lays out files of OMG IDL: two columns for each brace, a line for each member, one space where one \
belongs. Comments, preprocessor directives and the text between `#if` and `#endif` are kept, as are line \
breaks behind annotations and labels, within long lists, and single empty lines: only white space \
changes, never a token, whether or not the file compiles; lines end with LF, also those that ended with \
CRLF, and a byte order mark at the beginning goes. What was laid out is laid out as it is.

The exit status is 1 if a file cannot be read, written or laid out; the others are laid out all the same.",
    after_help = "\
Examples:
  tickwire idl fmt market.idl                      # in place
  tickwire idl fmt --check idl/*.idl               # says which would change
  tickwire idl fmt - < market.idl                  # to standard output"
)]
pub(crate) struct Arguments {
    /// Files of IDL; `-` is standard input, laid out to standard output
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Change nothing; the exit status is 1 if something would change
    #[arg(long)]
    check: bool,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let (mut changed, mut failed) = (0, 0);
        let mut out = stdout();
        for path in &self.files {
            match self.lay_out(path) {
                Ok(false) => {}
                Ok(true) => {
                    changed += 1;
                    if self.check {
                        writeln!(out, "{}", path.display())?;
                    } else if path.as_os_str() != "-" {
                        note(format_args!("laid out {}", path.display()));
                    }
                }
                Err(failure) if self.files.len() == 1 => return Err(failure),
                // The others may be good.
                Err(failure) => {
                    failure.report();
                    failed += 1;
                }
            }
        }
        out.flush()?;
        let wrong = counted(
            failed,
            "file cannot be laid out",
            "files cannot be laid out",
        );
        if !self.check || changed == 0 {
            return match failed {
                0 => Ok(()),
                _ => Err(Failure::new(wrong)),
            };
        }
        let changed = counted(changed, "file is not laid out", "files are not laid out");
        let summary = match failed {
            0 => changed,
            _ => format!("{wrong}, {changed}"),
        };
        Err(Failure::new(summary).hint("run it without `--check`"))
    }

    /// Whether the file changes, or would.
    fn lay_out(&self, path: &Path) -> Result<bool> {
        let is_input = path.as_os_str() == "-";
        let text = match is_input {
            true => {
                let mut text = String::new();
                io::stdin().read_to_string(&mut text).map(|_| text)
            }
            false => fs::read_to_string(path),
        };
        let shown = path.display();
        let text = text.map_err(|error| {
            let failure = Failure::new(format_args!("cannot read {shown}: {error}"));
            match error.kind() {
                io::ErrorKind::InvalidData => failure.hint("convert it to UTF-8"),
                _ => failure,
            }
        })?;
        let laid_out = tickwire_idl::format(&shown.to_string(), &text).map_err(|found| {
            found.iter().for_each(note);
            Failure::new(format_args!("cannot lay out {shown}: {}", invalid(&found)))
        })?;
        let changes = laid_out != text;
        if is_input && !self.check {
            let mut out = stdout();
            out.write_all(laid_out.as_bytes())?;
            out.flush()?;
            return Ok(changes);
        }
        if changes && !self.check {
            fs::write(path, laid_out)
                .map_err(|error| Failure::new(format_args!("cannot write {shown}: {error}")))?;
        }
        Ok(changes)
    }
}
