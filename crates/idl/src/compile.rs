//! The stages, one after the other.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::c::{CSource, c};
use crate::cpp::cpp;
use crate::csharp::csharp;
use crate::diagnostic::{Diagnostic, Severity};
use crate::files::Loader;
use crate::model::{DefinitionKind, Extensibility, Model};
use crate::preprocess::{Context, Preprocessor};
use crate::rust::{Refusal, rust};
use crate::source::Sources;
use crate::{parse, resolve};

/// How texts are read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Directories in which included files are looked for, after that of the file that includes them.
    pub search: Vec<PathBuf>,
    /// Macros that are defined before, by name and value.
    pub defines: Vec<(String, String)>,
    /// How types may change that do not say so. XTypes 1.3 has appendable; compilers from before it,
    /// and Cyclone DDS's, final.
    pub extensibility: Extensibility,
}

/// What files amount to.
pub struct Compilation {
    /// All definitions.
    pub model: Model,
    /// What is probably not meant.
    pub warnings: Vec<Diagnostic>,
    sources: Sources,
}

impl Compilation {
    /// Leaves interfaces and exceptions out, for languages that have no stubs; the types that interfaces define stay. Says
    /// of each that it did.
    pub fn leave_out_interfaces(&mut self) -> Vec<Diagnostic> {
        let mut context = Context::default();
        for definition in &mut self.model.definitions {
            let message = format!(
                "the {} `{}` is left out",
                definition.kind.keyword(),
                definition.full_name
            );
            let inner = match &mut definition.kind {
                DefinitionKind::Interface(of) => std::mem::take(&mut of.definitions),
                DefinitionKind::Exception(_) => Vec::new(),
                _ => continue,
            };
            // What nothing is made of.
            definition.kind = match inner.is_empty() {
                true => DefinitionKind::Annotation(Vec::new()),
                false => DefinitionKind::Module(inner),
            };
            let span = self.sources.span_at(definition.position);
            let problem = context.problems.warning(span, message);
            problem.help("its requests and replies are told of in docs/request-reply.md");
        }
        context.problems.into_diagnostics(&self.sources)
    }

    /// Rust source text of all definitions, to be included in a module of a crate that depends on
    /// `tickwire`. It is the same for the same files, and laid out as by rustfmt.
    ///
    /// Names become those that Rust has (`securityID` is `security_id`, `BUY` is `Buy`); on the wire
    /// they stay what they are. Members of base structs come first in those that are derived. An interface becomes a
    /// trait, a client and what serves the one to the other; docs/request-reply.md has the mapping.
    ///
    /// # Errors
    /// What cannot be said in Rust, each with its place: bitsets, `long double`, and a few more. Nothing
    /// is left out silently.
    pub fn rust(&self) -> Result<String, Vec<Diagnostic>> {
        rust(&self.model).map_err(|refusals| {
            let refusals = refusals.into_iter();
            refusals.map(|refusal| self.diagnostic(refusal)).collect()
        })
    }

    /// C11 source text of all definitions, as `NAME.h` and `NAME.c`, which need `tickwire/cdr.h`, and of interfaces
    /// `tickwire/rpc.h`. It is the same for the same files; C++ takes both, too. bindings/c/IDL.md says how IDL becomes C.
    ///
    /// # Errors
    /// What cannot be said in C, each with its place: `long double`, names that would be
    /// the same, and a few more. Nothing is left out silently.
    pub fn c(&self, name: &str) -> Result<CSource, Vec<Diagnostic>> {
        c(&self.model, name).map_err(|refusals| {
            let refusals = refusals.into_iter();
            refusals.map(|refusal| self.diagnostic(refusal)).collect()
        })
    }

    /// C++17 source text of all definitions, as `NAME.hpp`, which needs `tickwire/cdr.hpp`. It is the same
    /// for the same files. bindings/cpp/IDL.md says how IDL becomes C++.
    ///
    /// # Errors
    /// What cannot be said in C++, each with its place: `long double`, names that would be
    /// the same, and a few more. Nothing is left out silently.
    pub fn cpp(&self, name: &str) -> Result<String, Vec<Diagnostic>> {
        cpp(&self.model, name).map_err(|refusals| {
            let refusals = refusals.into_iter();
            refusals.map(|refusal| self.diagnostic(refusal)).collect()
        })
    }

    /// C# 7.2 source text of all definitions, which needs `Tickwire.dll`. It is the same for the same
    /// files. bindings/dotnet/README.md says how IDL becomes C#.
    ///
    /// # Errors
    /// What cannot be said in C#, each with its place: `long double`, names that would be
    /// the same, and a few more. Nothing is left out silently.
    pub fn csharp(&self) -> Result<String, Vec<Diagnostic>> {
        csharp(&self.model).map_err(|refusals| {
            let refusals = refusals.into_iter();
            refusals.map(|refusal| self.diagnostic(refusal)).collect()
        })
    }

    /// What none of the languages can have, such as `long double`, each with its place, as warnings. A language tells
    /// the first of what it cannot have of a definition, hence they agree on definitions.
    pub fn refused_by_all(&self) -> Vec<Diagnostic> {
        let owner = |found: &Diagnostic| {
            let all = self.model.definitions().map(|(id, definition)| {
                let at = definition.position;
                let file = self.model.files.get(at.file as usize);
                (file.map(|file| &*file.path), (at.line, at.column), id)
            });
            let before = all.filter(|(file, at, _)| {
                *file == Some(&*found.file) && *at <= (found.line, found.column)
            });
            before.max_by_key(|(_, at, _)| *at).map(|(.., id)| id)
        };
        let others = [
            self.cpp("model").err(),
            self.csharp().err(),
            self.rust().err(),
        ];
        let others = others.map(|found| {
            let found = found.unwrap_or_default();
            found.iter().map(owner).collect::<Vec<_>>()
        });
        let mut refused = self.c("model").err().unwrap_or_default();
        refused.retain(|found| others.iter().all(|owners| owners.contains(&owner(found))));
        for found in &mut refused {
            found.severity = Severity::Warning;
            let why = found.message.replace(" in C yet", " yet");
            found.message = format!("no language has this: {why}");
        }
        // What is about names in C is another matter.
        refused.retain(|found| !found.message.ends_with(" in C"));
        refused
    }

    fn diagnostic(&self, refusal: Refusal) -> Diagnostic {
        let span = self.sources.span_at(refusal.position);
        let mut context = Context::default();
        context.error(span, refusal.message).help(refusal.help);
        let mut all = context.problems.into_diagnostics(&self.sources);
        // There is the one that was told.
        all.remove(0)
    }
}

impl fmt::Debug for Compilation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Compilation");
        debug.field("model", &self.model);
        debug
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// Why there is no model.
#[derive(Clone, Debug)]
pub enum CompileError {
    /// A file that the user named cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// What is wrong with the texts, and of what there are warnings.
    Invalid(Vec<Diagnostic>),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, why } => write!(f, "cannot read {}: {why}", path.display()),
            Self::Invalid(found) => {
                let mut separator = "";
                for diagnostic in found {
                    write!(f, "{separator}{diagnostic}")?;
                    separator = "\n";
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for CompileError {}

/// Compiles files, with what they include, as one text. A file that was included before by `#pragma
/// once` or between guards is not read twice.
///
/// # Errors
/// A file cannot be read, or there is something wrong in the texts: up to 50 errors, of which each
/// tells its place and what to do.
pub fn compile(
    paths: &[impl AsRef<Path>],
    options: &Options,
    loader: &mut dyn Loader,
) -> Result<Compilation, CompileError> {
    let mut context = Context::default();
    let (_, mut end) = context.sources.add("<none>", "".into(), None);
    let mut preprocessor = Preprocessor::new(&mut context, loader, &options.search);
    for (name, value) in &options.defines {
        preprocessor.define(name, value);
    }
    for path in paths {
        let path = path.as_ref();
        end = preprocessor
            .root(path)
            .map_err(|why| CompileError::Unreadable {
                path: path.to_owned(),
                why,
            })?;
    }
    let tokens = preprocessor.finish(end);
    // Where a file is missing, so are names.
    let is_read = !context.problems.has_errors();
    let syntax = parse::parse(&mut context, &tokens);
    let model = resolve::resolve(&mut context, &syntax, is_read, options);
    let has_errors = context.problems.has_errors();
    let found = context.problems.into_diagnostics(&context.sources);
    match has_errors {
        true => Err(CompileError::Invalid(found)),
        false => Ok(Compilation {
            model,
            warnings: found,
            sources: context.sources,
        }),
    }
}
