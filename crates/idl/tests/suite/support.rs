//! Texts that are compiled from memory, and a folder for what is made of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tickwire_idl::{Compilation, CompileError, Diagnostic, Loader, Options, compile};

/// Files by their paths.
#[derive(Default)]
pub(crate) struct Memory(pub(crate) BTreeMap<String, Vec<u8>>);

impl Loader for Memory {
    fn load(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let text = self.0.get(&*path.to_string_lossy());
        text.cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Compiles the first of these files, which are pairs of a path and a text.
pub(crate) fn compile_files(files: &[(&str, &str)]) -> Result<Compilation, CompileError> {
    let all = files.iter();
    let all = all.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    let mut memory = Memory(all.collect());
    compile(&[files[0].0], &Options::default(), &mut memory)
}

/// Compiles a text that is right.
pub(crate) fn good(text: &str) -> Compilation {
    compile_files(&[("test.idl", text)]).unwrap_or_else(|error| panic!("{error}"))
}

/// What is wrong with files, as it is shown.
pub(crate) fn bad_files(files: &[(&str, &str)]) -> String {
    match compile_files(files) {
        Ok(_) => panic!("this compiles: {}", files[0].1),
        Err(error) => error.to_string(),
    }
}

/// What is wrong with a text, as it is shown.
pub(crate) fn bad(text: &str) -> String {
    bad_files(&[("test.idl", text)])
}

/// Fails with what a language cannot have.
pub(crate) fn told(found: &[Diagnostic]) -> ! {
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    panic!("{}", found.join("\n"))
}

/// A folder of this name for what tests make.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}
