//! Installing once, making C++ of IDL, compiling and running programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tickwire_idl::{Files, Options, compile};

/// Where the library and the headers are installed.
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
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cpp-{name}"))
}

/// A file of this package.
pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Builds a program with what `pkg-config` says, C++ of these files of IDL beside it, and warnings as errors.
pub(crate) fn build(program: &str, idl: &[&str]) -> PathBuf {
    build_with(program, idl, &["-O0"])
}

/// The same with other options of the compiler.
pub(crate) fn build_with(program: &str, idl: &[&str], options: &[&str]) -> PathBuf {
    build_by("c++", program, idl, options)
}

/// The same by another compiler.
pub(crate) fn build_by(compiler: &str, program: &str, idl: &[&str], options: &[&str]) -> PathBuf {
    let prefix = installed();
    let mut ask = Command::new("pkg-config");
    ask.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = succeed(ask.args(["--cflags", "--libs", "tickwire"])).stdout;
    let flags = String::from_utf8(flags).expect("flags are text");
    let stem = Path::new(program).file_stem().expect("it has a name");
    let stem = format!("{compiler}-{}", stem.to_string_lossy());
    let folder = temporary(&format!("{stem}.idl"));
    fs::create_dir_all(&folder).expect("the folder can be made");
    for idl in idl {
        generate(&source(idl), &folder);
    }
    let built = temporary(&stem);
    let mut cc = Command::new(compiler);
    cc.args([
        "-std=c++17",
        "-g1",
        "-Wall",
        "-Wextra",
        "-pedantic",
        "-Werror",
        "-pthread",
    ]);
    cc.args(options)
        .arg("-o")
        .arg(&built)
        .arg("-I")
        .arg(&folder);
    cc.arg(source(program)).args(flags.split_whitespace());
    succeed(&mut cc);
    built
}

/// Makes the header of a file of IDL.
pub(crate) fn generate(idl: &Path, folder: &Path) {
    let compiled = compile(&[idl], &Options::default(), &mut Files);
    let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
    let name = idl.file_stem().expect("it has a name").to_string_lossy();
    let made = compiled.cpp(&name).expect("C++ has it all");
    fs::write(folder.join(format!("{name}.hpp")), made).expect("there is room");
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
