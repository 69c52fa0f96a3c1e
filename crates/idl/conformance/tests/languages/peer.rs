//! The program of generated C, C++ or C#, and how it is built.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use tickwire_idl::{Compilation, Diagnostic};

/// Status of a payload that would take too much memory.
pub(crate) const TOO_LARGE: i32 = -14;

/// What a program is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    C,
    Cpp,
    CSharp,
}

/// What a payload is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Sample,
    Key,
}

/// What the program makes of a payload, in XCDR1 and XCDR2, both in little-endian, then in big-endian.
#[derive(Debug)]
pub(crate) struct Answer {
    /// None of a key.
    pub(crate) samples: Vec<Vec<u8>>,
    pub(crate) keys: Vec<Vec<u8>>,
}

/// The program, which is started again if it has died.
pub(crate) struct Peer {
    pub(crate) language: Language,
    program: PathBuf,
    child: Child,
}

fn start(program: &Path) -> Child {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().expect("the program starts")
}

impl Peer {
    pub(crate) fn start(language: Language, program: &Path) -> Self {
        Self {
            language,
            program: program.to_owned(),
            child: start(program),
        }
    }

    /// What a payload is as a value of a type, or why it is none.
    pub(crate) fn ask(&mut self, ty: usize, form: Form, payload: &[u8]) -> Result<Answer, i32> {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            self.child = start(&self.program);
        }
        let mut question = Vec::new();
        for word in [ty, usize::from(form == Form::Key), payload.len()] {
            question.extend((word as u32).to_ne_bytes());
        }
        question.extend(payload);
        let stdin = self.child.stdin.as_mut().expect("it has one");
        stdin.write_all(&question).expect("the program reads");
        let status = i32::from_ne_bytes(self.bytes(4).try_into().expect("four bytes"));
        if status != 0 {
            return Err(status);
        }
        let mut four = || -> Vec<Vec<u8>> { (0..4).map(|_| self.text()).collect() };
        if form == Form::Key {
            let keys = four();
            return Ok(Answer {
                samples: Vec::new(),
                keys,
            });
        }
        let (samples, keys, copies) = (four(), four(), four());
        assert_eq!(samples, copies, "a copy is the same");
        Ok(Answer { samples, keys })
    }

    fn text(&mut self) -> Vec<u8> {
        let size = u32::from_ne_bytes(self.bytes(4).try_into().expect("four bytes"));
        self.bytes(size as usize)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let stdout = self.child.stdout.as_mut().expect("it has one");
        if stdout.read_exact(&mut bytes).is_err() {
            panic!("the program has ended: {:?}", self.child.wait());
        }
        bytes
    }

    /// Ends the program, which must have freed all memory.
    pub(crate) fn end(mut self) {
        drop(self.child.stdin.take());
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }
}

/// What the code of a type has as its IDL.
pub(crate) fn idl(program: &Path, ty: usize) -> String {
    let told = Command::new(program).arg(ty.to_string()).output();
    String::from_utf8(told.expect("the program starts").stdout).expect("it is text")
}

/// Builds the program of these files for these types, by their names in IDL.
pub(crate) fn build(
    name: &str,
    language: Language,
    files: &[(&str, Compilation)],
    types: &[&str],
) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = format!("{name}-{language:?}-{}", std::process::id());
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(directory);
    fs::create_dir_all(&directory).expect("the directory can be made");
    if language == Language::CSharp {
        return build_csharp(&directory, files, types);
    }
    let (ending, harness) = match language {
        Language::C => ("h", "harness.c"),
        Language::Cpp | Language::CSharp => ("hpp", "harness.cpp"),
    };
    let mut sources = vec![root.join("tests/languages").join(harness)];
    let mut header = String::new();
    for (name, compilation) in files {
        header.push_str(&format!("#include \"{name}.{ending}\"\n"));
        match language {
            Language::C => {
                let both = compilation.c(name).unwrap_or_else(|found| refused(&found));
                let source = directory.join(format!("{name}.c"));
                fs::write(&source, both.source).expect("it can be written");
                fs::write(directory.join(format!("{name}.h")), both.header)
                    .expect("it can be written");
                sources.push(source);
            }
            Language::Cpp | Language::CSharp => {
                let text = compilation.cpp(name);
                let text = text.unwrap_or_else(|found| refused(&found));
                fs::write(directory.join(format!("{name}.hpp")), text).expect("it can be written");
            }
        }
    }
    let rows = types.iter().map(|name| match language {
        Language::C => format!("T({})", name.replace("::", "_")),
        // There is a function of that name in C++.
        Language::Cpp | Language::CSharp => {
            format!("T(::{name})").replace("::random::", "::_cxx_random::")
        }
    });
    let rows: Vec<String> = rows.collect();
    header.push_str(&format!("#define TYPES(T) {}\n", rows.join(" ")));
    fs::write(directory.join("types.h"), header).expect("it can be written");

    let program = directory.join("harness");
    let (variable, compiler, standard) = match language {
        Language::C => ("CC", "cc", "-std=c11"),
        Language::Cpp | Language::CSharp => ("CXX", "c++", "-std=c++17"),
    };
    let compiler = env::var(variable).unwrap_or_else(|_| compiler.to_owned());
    let compile = |sanitizers: &[&str]| {
        Command::new(&compiler)
            .args([
                standard,
                // The compiler takes most of the time of these tests.
                "-g1",
                "-O0",
                "-Wall",
                "-Wextra",
                "-pedantic",
                "-Werror",
                // g++ 12 takes an optional that is absent for one that is read, under sanitizers.
                "-Wno-maybe-uninitialized",
            ])
            .args(sanitizers)
            .arg("-I")
            .arg(&directory)
            .arg("-I")
            .arg(root.join("../../../bindings/c/include"))
            .arg("-I")
            .arg(root.join("../../../bindings/cpp/include"))
            .args(&sources)
            .arg("-o")
            .arg(&program)
            .output()
            .expect("there is a compiler")
    };
    let all = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let compiled = compile(&all);
    if !compiled.status.success() {
        let compiled = compile(&[]);
        let told = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{told}");
    }
    program
}

/// The same by Mono's compiler, and a script that runs it.
fn build_csharp(directory: &Path, files: &[(&str, Compilation)], types: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = root.join("../../../bindings/dotnet/src");
    let mut sources = vec![root.join("tests/languages/Harness.cs")];
    for (name, compilation) in files {
        let text = compilation.csharp().unwrap_or_else(|found| refused(&found));
        let source = directory.join(format!("{name}.cs"));
        fs::write(&source, text).expect("it can be written");
        sources.push(source);
    }
    let mut cases = String::from("static class Types { internal static readonly Case[] All = {\n");
    for name in types {
        let name = format!("global::@{}", name.replace("::", ".@"));
        cases.push_str(&format!("new Case<{name}>({name}Support.Instance),\n"));
    }
    cases.push_str("}; }\n");
    let source = directory.join("Types.cs");
    fs::write(&source, cases).expect("it can be written");
    sources.push(source);
    let exe = directory.join("harness.exe");
    let mut compiler = Command::new("mcs");
    compiler.args(["-langversion:7.2", "-unsafe", "-optimize+", "-warnaserror"]);
    compiler.arg(format!("-out:{}", exe.display()));
    compiler.arg(format!("-recurse:{}/*.cs", library.display()));
    let compiled = compiler.args(&sources).output();
    let compiled = compiled.expect("there is Mono's compiler: apt-get install mono-mcs");
    let told = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{told}");

    let program = directory.join("harness");
    let text = format!("#!/bin/sh\nexec mono '{}' \"$@\"\n", exe.display());
    fs::write(&program, text).expect("it can be written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    program
}

fn refused(found: &[Diagnostic]) -> ! {
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    panic!("{}", found.join("\n"))
}
