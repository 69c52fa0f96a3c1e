//! `tickwire idl gen`: types in a programming language.

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::source::{CompileOptions, invalid};
use crate::failure::{Failure, Result};
use crate::output::note;

/// Make types of a programming language of files of IDL
#[derive(Args)]
#[command(
    long_about = "\
Compiles files of OMG IDL, with all that they include, and writes their types as source text, named \
after the first file. For Rust this is NAME.rs with structs and enums that derive `tickwire::Topic`, to be \
included in a module of a crate that depends on `tickwire`; an interface becomes a trait, a client and a \
service. In a build script, `tickwire_idl::build` \
does the same, and Cargo runs it again when a file changes. For C these are NAME.h and NAME.c, with \
structs and functions that turn them into payloads and back; they need C11 (or C++) and the header \
tickwire/cdr.h, and bindings/c/IDL.md has the mapping. An interface becomes a struct of functions and those of a client, which \
need the library. For C++ this is NAME.hpp, with classes as the \
OMG's mapping has them; they need C++17 and the header tickwire/cdr.hpp (bindings/cpp/IDL.md), and an \
interface becomes an abstract struct, a client and a service, which need the library. For C# \
this is NAME.cs with classes, which need Tickwire.dll (bindings/dotnet/README.md), and an interface becomes one of C#, a \
client and a service. Types that two files include are written for \
each: a program that needs both gives them to one call.

What the language cannot have is told with its place, and nothing is written.",
    after_help = "\
Examples:
  tickwire idl gen --lang rust market.idl --out src
  tickwire idl gen --lang rust -I idl idl/market.idl --out generated
  tickwire idl gen --lang c market.idl --out src
  tickwire idl gen --lang cpp market.idl --out src
  tickwire idl gen --lang csharp market.idl --out src"
)]
pub(crate) struct Arguments {
    /// Language of the source text
    #[arg(long, alias = "language", value_name = "LANGUAGE", value_enum)]
    lang: Language,

    /// Files of IDL
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Directory to write to; made if it is not there
    #[arg(long, value_name = "DIRECTORY")]
    out: PathBuf,

    /// Leave out interfaces and exceptions; each is told
    #[arg(long)]
    types_only: bool,

    #[command(flatten)]
    options: CompileOptions,
}

/// A language that there is a back end for.
#[derive(Clone, Copy, ValueEnum)]
enum Language {
    /// Structs and enums that derive `tickwire::Topic`, in NAME.rs
    Rust,
    /// Structs with functions that encode and decode them, in NAME.h and NAME.c
    C,
    /// Classes with what encodes and decodes them, in NAME.hpp
    Cpp,
    /// Classes, and what encodes and decodes them, in NAME.cs
    #[value(alias = "cs")]
    Csharp,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let mut compilation = self.options.compile_and_tell(&self.files)?;
        if self.types_only {
            let left_out = compilation.leave_out_interfaces();
            left_out.iter().for_each(note);
        }
        let name = self.files.first().and_then(|path| path.file_stem());
        let Some(name) = name else {
            return Err(Failure::usage("the first file has no name to write to"));
        };
        let texts = match self.lang {
            Language::Rust => compilation.rust().map(|text| vec![(text, "rs")]),
            Language::Csharp => compilation.csharp().map(|text| vec![(text, "cs")]),
            Language::C => {
                let both = compilation.c(&name.to_string_lossy());
                both.map(|both| vec![(both.header, "h"), (both.source, "c")])
            }
            Language::Cpp => {
                let header = compilation.cpp(&name.to_string_lossy());
                header.map(|header| vec![(header, "hpp")])
            }
        };
        let texts = texts.map_err(|found| {
            found.iter().for_each(note);
            invalid(&found)
        })?;
        let made = fs::create_dir_all(&self.out);
        made.map_err(|error| {
            Failure::new(format_args!("cannot make {}: {error}", self.out.display()))
        })?;
        for (text, ending) in texts {
            let mut file = name.to_owned();
            file.push(".");
            file.push(ending);
            let target = self.out.join(file);
            fs::write(&target, text).map_err(|error| {
                Failure::new(format_args!("cannot write {}: {error}", target.display()))
            })?;
            note(format_args!("wrote {}", target.display()));
        }
        Ok(())
    }
}
