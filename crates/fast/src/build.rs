//! For build scripts: template files become Rust source files. The one module of this crate that touches files; it
//! knows nothing of what is generated.
//!
//! `Cargo.toml` has `tickwire-fast` under `[dependencies]` and under `[build-dependencies]`; then `build.rs`
//!
//! ```no_run
//! fn main() -> Result<(), tickwire_fast::build::Error> {
//!     tickwire_fast::build::Config::new().generate("templates/market.xml")?;
//!     Ok(())
//! }
//! ```
//!
//! makes a module of structs and their codec:
//!
//! ```ignore
//! mod market {
//!     include!(concat!(env!("OUT_DIR"), "/market.rs"));
//! }
//! let message = market::MarketData::default();
//! ```
//!
//! What is wrong with the templates is told by the build, with its place:
//!
//! ```text
//! Error: templates/market.xml:12:7: S4: constant without a value (Side)
//!    |
//! 12 |       <constant/>
//!    |       ^
//! ```

use core::fmt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::generate::{RustOptions, rust};
use crate::{Mode, TemplateError, Templates};

/// How template files are read and what is generated of them.
#[derive(Clone, Debug, Default)]
pub struct Config {
    mode: Mode,
    options: RustOptions,
    default_template: Option<String>,
    out_dir: Option<PathBuf>,
}

impl Config {
    /// Strict mode, structs that are no topics, into Cargo's `OUT_DIR`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also accepts the dialects of QuickFAST's and mFAST's templates: see [`Mode::Lenient`].
    pub fn lenient(mut self) -> Self {
        self.mode = Mode::Lenient;
        self
    }

    /// Structs derive `tickwire::Topic` where they can: see [`RustOptions::topics`].
    pub fn topics(mut self) -> Self {
        self.options.topics = true;
        self
    }

    /// The field of this name is a key of the topics of templates that have it: see [`RustOptions::keys`]. Can be
    /// called for several.
    pub fn key(mut self, field: &str) -> Self {
        self.options.keys.push(field.to_owned());
        self
    }

    /// Messages without an id are of the template of this name: see [`Templates::with_default`].
    pub fn default_template(mut self, name: &str) -> Self {
        self.default_template = Some(name.to_owned());
        self
    }

    /// Writes into this directory, which must exist, instead of Cargo's `OUT_DIR`.
    pub fn out_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(directory.into());
        self
    }

    /// Generates `NAME.rs` from `NAME.xml`, wherever that is, and returns where it was written. Asks Cargo to run the
    /// build script again when the template file changes. A file that would not change is not touched. Two files of one
    /// name, one of them perhaps of IDL, would overwrite each other's: give them other names, or [directories](Self::out_dir).
    ///
    /// # Errors
    /// The template file cannot be read or is not valid, or the source file cannot be written. The `Debug` form of the
    /// error, which `main` prints, is for people.
    pub fn generate(&self, templates: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let path = templates.as_ref();
        println!("cargo:rerun-if-changed={}", path.display());
        let unreadable = |error| Error::Read(path.to_owned(), error);
        let xml = fs::read_to_string(path).map_err(unreadable)?;
        let templates = Templates::parse(&xml, self.mode).map_err(|error| Error::Template {
            path: path.to_owned(),
            is_dialect: self.mode == Mode::Strict && Templates::parse(&xml, Mode::Lenient).is_ok(),
            error,
        })?;
        let templates = match &self.default_template {
            Some(name) => templates
                .with_default(name)
                .ok_or_else(|| Error::NoTemplate(path.to_owned(), name.clone()))?,
            None => templates,
        };
        if templates.iter().all(|template| !template.has_messages()) {
            return Err(Error::NoMessage(path.to_owned()));
        }
        let name = path.with_extension("rs");
        let name = name.file_name().ok_or(Error::NoOutDir)?;
        let directory = match &self.out_dir {
            Some(directory) => directory.clone(),
            None => env::var_os("OUT_DIR").ok_or(Error::NoOutDir)?.into(),
        };
        let target = directory.join(name);
        let text = rust(&templates, &self.options);
        if fs::read(&target).is_ok_and(|old| old == text.as_bytes()) {
            return Ok(target);
        }
        match fs::write(&target, text) {
            Ok(()) => Ok(target),
            Err(error) => Err(Error::Write(target, error)),
        }
    }
}

/// Why nothing was generated.
pub enum Error {
    /// The template file cannot be read.
    Read(PathBuf, io::Error),
    /// The template file is not valid.
    Template {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        error: TemplateError,
        /// [`Config::lenient`] accepts it.
        is_dialect: bool,
    },
    /// No template has an id or is the default, so that there are no messages.
    NoMessage(PathBuf),
    /// No template has the name of the [default](Config::default_template).
    NoTemplate(PathBuf, String),
    /// There is no directory to write to: no build script is running, and [`Config::out_dir`] was not called.
    NoOutDir,
    /// The source file cannot be written.
    Write(PathBuf, io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Template {
                path,
                error,
                is_dialect,
            } => {
                let TemplateError {
                    code,
                    line,
                    column,
                    detail,
                    ..
                } = error;
                let (path, excerpt) = (path.display(), error.excerpt());
                write!(f, "{path}:{line}:{column}: {code} ({detail})\n{excerpt}")?;
                match is_dialect {
                    true => f.write_str("\n`Config::lenient()` accepts this file"),
                    false => Ok(()),
                }
            }
            Self::NoMessage(path) => {
                let path = path.display();
                write!(
                    f,
                    "{path}: no template has an id, which messages name, or is the default"
                )
            }
            Self::NoTemplate(path, name) => {
                write!(f, "{}: no template is called {name}", path.display())
            }
            Self::NoOutDir => f.write_str("OUT_DIR is not set: call this from a build script"),
            Self::Write(path, error) => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

/// As `Display`: it is what a failed `main` shows.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of its own for each test, removed at the end.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            let name = format!("tickwire-fast-build-{}-{name}", std::process::id());
            let path = env::temp_dir().join(name);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, text).unwrap();
            path
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _removed = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_template_file_becomes_a_source_file() {
        let directory = Directory::new("works");
        let xml = r#"<template name="Quote" id="1"><uInt8 name="Bid"/></template>"#;
        let path = directory.file("market.xml", xml);
        let config = Config::new()
            .lenient()
            .topics()
            .key("Bid")
            .out_dir(&directory.0);
        let written = config.generate(&path).unwrap();
        assert_eq!(written, directory.0.join("market.rs"));
        let text = fs::read_to_string(&written).unwrap();
        assert!(
            text.contains("#[topic(key, rename = \"Bid\")]\n    pub bid: u8,"),
            "{text}"
        );
        let modified = || fs::metadata(&written).unwrap().modified().unwrap();
        let before = modified();
        config.generate(&path).unwrap();
        assert_eq!(modified(), before);
    }

    #[test]
    fn errors_show_file_line_column_and_caret() {
        let directory = Directory::new("refused");
        let xml = "<templates>\n\t<template name=\"Quote\" id=\"1\">\n\t\t<uInt8 name=\"Bid\"/></template></templates>";
        let path = directory.file("market.xml", xml);
        let error = Config::new()
            .out_dir(&directory.0)
            .generate(&path)
            .unwrap_err();
        let text = format!("{error:?}");
        assert!(
            text.starts_with(&format!("{}:3:3: S1", path.display())),
            "{text}"
        );
        assert!(
            text.ends_with(
                "\n  |\n3 | \t\t<uInt8 name=\"Bid\"/></template></templates>\n  | \t\t^\n`Config::lenient()` accepts this file"
            ),
            "{text}"
        );
        let wrong = directory.file("wrong.xml", "<templates><quote/></templates>");
        let error = Config::new().generate(&wrong).unwrap_err().to_string();
        assert!(!error.contains("lenient"), "{error}");
        let header = directory.file("header.xml", r#"<template name="Header"/>"#);
        let error = Config::new().generate(&header).unwrap_err();
        assert!(matches!(error, Error::NoMessage(_)), "{error}");
        let missing = directory.0.join("none.xml");
        let error = Config::new().generate(&missing).unwrap_err();
        assert!(error.to_string().starts_with("cannot read "), "{error}");
    }
}
