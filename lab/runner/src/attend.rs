//! A program that lives no longer than whoever asked for it. Who started a program on another machine may be killed, or
//! the connection may break; nothing tells the program there, but the end of its stdin.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::getpgrp;

/// Runs a command, which inherits all but stdin, and ends as it does. When stdin closes, the command's does, and all of
/// this process's group are killed: at once, so that nobody is left where the next system is measured, or after [`GRACE`]
/// if the command has it.
pub(crate) fn attend(words: &[OsString], has_grace: bool) -> Result<ExitCode, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err("which program?".to_owned());
    };
    let mut command = Command::new(program);
    let mut child = command
        .args(arguments)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let stdin = child.stdin.take();
    thread::spawn(move || {
        wait_for_the_end_of(io::stdin().lock());
        drop(stdin);
        if has_grace {
            #[expect(
                clippy::disallowed_methods,
                reason = "nothing else happens in this thread"
            )]
            thread::sleep(GRACE);
        }
        // Whoever is left of it; this process too.
        let _gone = killpg(getpgrp(), Signal::SIGKILL);
    });
    let status = child.wait().map_err(|error| error.to_string())?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map(ExitCode::from)
        .ok_or_else(|| match status.signal() {
            Some(signal) => format!("{} was ended by signal {signal}", program.display()),
            None => format!("{}: {status}", program.display()),
        })
}

fn wait_for_the_end_of(mut stdin: impl Read) {
    let mut unread = [0; 64];
    while matches!(stdin.read(&mut unread), Ok(len) if len > 0) {}
}

/// How long a broker may take to end by itself: it has others to end.
const GRACE: Duration = Duration::from_secs(1);
