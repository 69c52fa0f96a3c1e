//! For build scripts: IDL files become Rust source files.

use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

use crate::compile::{CompileError, Options, compile};
use crate::diagnostic::{Diagnostic, Severity};
use crate::files::{Files, Loader};
use crate::model::Extensibility;

/// Makes `NAME.rs` of `NAME.idl`, wherever that is, in Cargo's `OUT_DIR`. Files that it includes are
/// looked for beside it, and their types are in `NAME.rs`, too. For more, see [`BuildConfig`]. Two files of one name, one
/// of them perhaps of FAST templates, would overwrite each other's: give them other names, or directories.
///
/// Cargo is told to run the build script again when one of the files changes, and of warnings.
///
/// # Errors
/// As [`BuildConfig::generate`].
pub fn build(idl: impl AsRef<Path>) -> Result<(), BuildError> {
    BuildConfig::new().generate(&[idl]).map(drop)
}

/// How IDL files become Rust source files in a build script.
///
/// ```no_run
/// # fn main() -> Result<(), tickwire_idl::BuildError> {
/// tickwire_idl::BuildConfig::new()
///     .include("idl")
///     .define("WITH_DEPTH", "1")
///     .generate(&["idl/market.idl", "idl/orders.idl"])?; // both in market.rs
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct BuildConfig {
    options: Options,
    out_dir: Option<PathBuf>,
}

impl BuildConfig {
    /// No directories, no macros, types that do not say otherwise appendable.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has included files looked for in this directory. Can be called for several.
    pub fn include(mut self, directory: impl Into<PathBuf>) -> Self {
        self.options.search.push(directory.into());
        self
    }

    /// Defines a macro before the files are read, as by `#define NAME VALUE`.
    pub fn define(mut self, name: &str, value: &str) -> Self {
        self.options
            .defines
            .push((name.to_owned(), value.to_owned()));
        self
    }

    /// How types may change that do not say so; [`Extensibility::Final`] for IDL that was written
    /// for compilers from before XTypes, or for Cyclone DDS's.
    pub fn extensibility(mut self, extensibility: Extensibility) -> Self {
        self.options.extensibility = extensibility;
        self
    }

    /// Writes into this directory, which must exist, instead of Cargo's `OUT_DIR`.
    pub fn out_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(directory.into());
        self
    }

    /// Generates one source file of all of these, named after the first, and returns where it was
    /// written. A file that would not change is not touched.
    ///
    /// # Errors
    /// A file cannot be read, is not valid, or has what Rust cannot have; or the source file cannot
    /// be written. The `Debug` form of the error, which `main` prints, is for people.
    pub fn generate(&self, idl: &[impl AsRef<Path>]) -> Result<PathBuf, BuildError> {
        let mut files = Watched(Files);
        let compilation = compile(idl, &self.options, &mut files).map_err(BuildError::Compile)?;
        for warning in &compilation.warnings {
            let Diagnostic {
                file,
                line,
                column,
                message,
                ..
            } = warning;
            println!("cargo:warning={file}:{line}:{column}: {message}");
        }
        let text = compilation.rust();
        let text = text.map_err(|found| BuildError::Compile(CompileError::Invalid(found)))?;
        let first = idl.first().and_then(|path| path.as_ref().file_stem());
        let mut name = first.ok_or(BuildError::NoFile)?.to_owned();
        name.push(".rs");
        let directory = match &self.out_dir {
            Some(directory) => directory.clone(),
            None => env::var_os("OUT_DIR").ok_or(BuildError::NoOutDir)?.into(),
        };
        let target = directory.join(name);
        if fs::read(&target).is_ok_and(|old| old == text.as_bytes()) {
            return Ok(target);
        }
        match fs::write(&target, text) {
            Ok(()) => Ok(target),
            Err(error) => Err(BuildError::Write(target, error)),
        }
    }
}

/// Tells Cargo of each file, also of places where one is not yet.
struct Watched(Files);

impl Loader for Watched {
    fn load(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let loaded = self.0.load(path);
        if loaded.is_ok() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
        loaded
    }
}

/// Why nothing was generated.
pub enum BuildError {
    /// There is something wrong with the files.
    Compile(CompileError),
    /// No file was named.
    NoFile,
    /// There is no directory to write to: no build script is running, and [`BuildConfig::out_dir`]
    /// was not called.
    NoOutDir,
    /// The source file cannot be written.
    Write(PathBuf, io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compile(error) => error.fmt(f),
            Self::NoFile => f.write_str("no IDL file is named"),
            Self::NoOutDir => f.write_str("OUT_DIR is not set: call this from a build script"),
            Self::Write(path, error) => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

/// As `Display`, on lines of its own: it is what a failed `main` shows. Warnings were told before.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compile(CompileError::Invalid(found)) => {
                let mut errors = found.iter().filter(|one| one.severity == Severity::Error);
                errors.try_for_each(|error| write!(f, "\n{error}"))
            }
            other => fmt::Display::fmt(other, f),
        }
    }
}

impl std::error::Error for BuildError {}
