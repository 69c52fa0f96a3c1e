//! How a command ends when it cannot do its work.

use std::fmt;
use std::process::ExitCode;

use crate::output::note;

/// What went wrong, and what the user can do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    status: u8,
}

/// What every command returns.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// The work failed: exit status 1.
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            status: 1,
        }
    }

    /// The command line cannot be obeyed: exit status 2.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self {
            status: 2,
            ..Self::new(message)
        }
    }

    /// The same, as a fault of the command line.
    pub(crate) fn into_usage(self) -> Self {
        Self { status: 2, ..self }
    }

    /// The reader of standard output has gone: nothing to say, nothing wrong.
    pub(crate) fn reader_gone() -> Self {
        Self {
            message: String::new(),
            hint: None,
            status: 0,
        }
    }

    /// Adds what to try.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// What to try, if that is known.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Says it on standard error.
    pub(crate) fn report(&self) -> ExitCode {
        if self.status != 0 {
            note(format_args!("error: {}", self.message));
            if let Some(hint) = &self.hint {
                note(format_args!("hint: {hint}"));
            }
        }
        ExitCode::from(self.status)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Failures of writing to standard output.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::reader_gone(),
            _ => Self::new(format_args!("cannot write to standard output: {error}")),
        }
    }
}
