//! The program of generated C, and how it is built.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use tickwire_idl::CSource;

/// Status of a payload that would take too much memory.
#[allow(dead_code, reason = "one of the tests asks for it")]
pub(crate) const TOO_LARGE: i32 = -14;

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
    program: PathBuf,
    child: Child,
}

fn start(program: &Path) -> Child {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().expect("the program starts")
}

impl Peer {
    pub(crate) fn start(program: &Path) -> Self {
        Self {
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

/// What the C of a type has as its IDL.
#[allow(dead_code, reason = "one of the tests asks for it")]
pub(crate) fn idl(program: &Path, ty: usize) -> String {
    let told = Command::new(program).arg(ty.to_string()).output();
    String::from_utf8(told.expect("the program starts").stdout).expect("it is text")
}

/// Builds the program of these files for these types.
pub(crate) fn build(name: &str, files: &[(&str, CSource)], types: &[String]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = format!("{name}-{}", std::process::id());
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(directory);
    fs::create_dir_all(&directory).expect("the directory can be made");
    let mut sources = vec![root.join("tests/c/harness.c")];
    let mut header = String::new();
    for (name, both) in files {
        let source = directory.join(format!("{name}.c"));
        fs::write(&source, &both.source).expect("it can be written");
        fs::write(directory.join(format!("{name}.h")), &both.header).expect("it can be written");
        header.push_str(&format!("#include \"{name}.h\"\n"));
        sources.push(source);
    }
    let rows: Vec<String> = types.iter().map(|name| format!("T({name})")).collect();
    header.push_str(&format!("#define TYPES(T) {}\n", rows.join(" ")));
    fs::write(directory.join("types.h"), header).expect("it can be written");

    let program = directory.join("harness");
    let cc = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let compile = |sanitizers: &[&str]| {
        Command::new(&cc)
            .args([
                "-std=c11",
                "-g",
                "-O1",
                "-Wall",
                "-Wextra",
                "-pedantic",
                "-Werror",
            ])
            .args(sanitizers)
            .arg("-I")
            .arg(&directory)
            .arg("-I")
            .arg(root.join("../../../bindings/c/include"))
            .args(&sources)
            .arg("-o")
            .arg(&program)
            .output()
            .expect("there is a C compiler")
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
