//! Installing the library once, compiling and running programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Where the library is installed.
pub(crate) fn installed() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = temporary("installed");
        let mut install = Command::new(env!("CARGO"));
        install.current_dir(env!("CARGO_MANIFEST_DIR"));
        install.args(["xtask", "install", "--profile", "dev", "--prefix"]);
        succeed(install.arg(&prefix));
        prefix
    })
}

/// A path in the tests' own folder.
pub(crate) fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-{name}"))
}

/// A file of this package.
pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Builds a program with what `pkg-config` says, and warnings as errors.
pub(crate) fn build(source: &Path, name: &str) -> PathBuf {
    build_all(&[source], name)
}

/// The same of several files.
pub(crate) fn build_all(sources: &[&Path], name: &str) -> PathBuf {
    build_with(sources, name, Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// The same with a folder of headers.
pub(crate) fn build_with(sources: &[&Path], name: &str, include: &Path) -> PathBuf {
    let prefix = installed();
    let mut ask = Command::new("pkg-config");
    ask.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = succeed(ask.args(["--cflags", "--libs", "tickwire"])).stdout;
    let flags = String::from_utf8(flags).expect("flags are text");
    let program = temporary(name);
    let mut cc = Command::new("cc");
    cc.args([
        "-std=gnu11",
        "-g",
        "-Wall",
        "-Wextra",
        "-pedantic",
        "-Werror",
        "-pthread",
        "-o",
    ]);
    cc.arg(&program).arg("-I").arg(include);
    cc.args(sources).args(flags.split_whitespace());
    succeed(&mut cc);
    program
}

/// A program that finds the library.
pub(crate) fn program(path: &Path) -> Command {
    let mut program = Command::new(path);
    program.env("LD_LIBRARY_PATH", installed().join("lib"));
    program
}

pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
