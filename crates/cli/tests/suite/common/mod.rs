//! Runs the built command in a folder of its own.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes when the test ends.
pub(crate) struct Folder(PathBuf);

/// What a run left.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let unique = format!("{name}-{}-{count}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique);
        fs::create_dir_all(&path).expect("the target folder can be written");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).expect("the folder is ours");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).expect("the test has made it")
    }

    /// `tickwire feed generate KIND` into `KIND.dat` and `KIND.xml`.
    pub(crate) fn generate(&self, kind: &str, options: &[&str]) {
        let out = format!("{kind}.dat");
        let arguments = [&["feed", "generate", kind, "--out", &out], options].concat();
        let run = tickwire(self, &arguments);
        assert_eq!(run.status, 0, "{}", run.stderr);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed goes with the target folder.
        let _ignored = fs::remove_dir_all(&self.0);
    }
}

/// Runs `tickwire` in the folder to its end.
pub(crate) fn tickwire(folder: &Folder, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_tickwire"))
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("the built binary starts");
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// A DDS domain that no other test and no `tickwire demo` uses now: they all reserve theirs so.
pub(crate) struct Domain {
    pub(crate) id: String,
    _reservation: UdpSocket,
}

impl Domain {
    pub(crate) fn reserve() -> Self {
        let reserved = (1..=220_u16).rev().find_map(|id| {
            let reservation = UdpSocket::bind(("127.0.0.1", 7_400 + 250 * id + 249)).ok()?;
            Some(Self {
                id: id.to_string(),
                _reservation: reservation,
            })
        });
        reserved.expect("not all domains are in use")
    }
}
