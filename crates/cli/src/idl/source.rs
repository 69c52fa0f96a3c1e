//! Files of IDL, as all that compile them name them.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use tickwire_idl::model;
use tickwire_idl::{Compilation, CompileError, Diagnostic, Files, Options, Severity, compile};

use crate::failure::{Failure, Result};
use crate::output::{counted, note};

/// How files are read
#[derive(Args)]
pub(crate) struct CompileOptions {
    /// Look for included files here, too; can be given several times
    #[arg(short = 'I', long = "include", value_name = "DIRECTORY", value_parser = PathBufValueParser::new().try_map(directory))]
    search: Vec<PathBuf>,

    /// Define a macro before, as 1 where no value is given; can be given several times
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = define)]
    defines: Vec<(String, String)>,

    /// How types may change that do not say so: XTypes has appendable, Cyclone DDS and compilers from
    /// before XTypes final
    #[arg(long, value_name = "KIND", value_enum, default_value_t)]
    extensibility: Extensibility,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Extensibility {
    Final,
    #[default]
    Appendable,
    Mutable,
}

impl CompileOptions {
    /// Compiles files as one text.
    pub(super) fn compile(&self, files: &[impl AsRef<Path>]) -> Result<Compilation, CompileError> {
        let options = Options {
            search: self.search.clone(),
            defines: self.defines.clone(),
            extensibility: match self.extensibility {
                Extensibility::Final => model::Extensibility::Final,
                Extensibility::Appendable => model::Extensibility::Appendable,
                Extensibility::Mutable => model::Extensibility::Mutable,
            },
        };
        compile(files, &options, &mut Files)
    }

    /// The same; standard error says what is wrong and what is doubtful.
    pub(crate) fn compile_and_tell(&self, files: &[impl AsRef<Path>]) -> Result<Compilation> {
        match self.compile(files) {
            Ok(compilation) => {
                compilation.warnings.iter().for_each(note);
                Ok(compilation)
            }
            Err(CompileError::Invalid(found)) => {
                found.iter().for_each(note);
                Err(invalid(&found))
            }
            Err(error) => Err(Failure::new(error)),
        }
    }
}

fn directory(path: PathBuf) -> Result<PathBuf, String> {
    match path.is_dir() {
        true => Ok(path),
        false => Err("there is no such directory".to_owned()),
    }
}

fn define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let is_name = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && name
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || char == '_');
    match is_name {
        true => Ok((name.to_owned(), value.to_owned())),
        false => Err(format!(
            "`{name}` is no name of a macro: write NAME or NAME=VALUE"
        )),
    }
}

/// That there are errors, which were told.
pub(super) fn invalid(found: &[Diagnostic]) -> Failure {
    let errors = found.iter().filter(|one| one.severity == Severity::Error);
    let errors = errors.count() as u64;
    Failure::new(counted(errors, "error", "errors"))
}
