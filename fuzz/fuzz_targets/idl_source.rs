//! Any bytes as IDL: files `a.idl`, `b.idl` and so on, parted by zero bytes, of which the first is
//! compiled. It is told what is wrong, with places, or there are a model, and Rust, C, C++ and C# or why not; what
//! is laid out is laid out as it is, and means the same.
#![no_main]

use std::io;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tickwire_idl::model::Extensibility;
use tickwire_idl::{CompileError, Diagnostic, Loader, Options, compile, format};

struct Parts<'i>(Vec<&'i [u8]>);

impl Loader for Parts<'_> {
    fn load(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.to_str().and_then(|name| name.strip_suffix(".idl"));
        let index = match name.map(str::as_bytes) {
            Some([letter @ b'a'..=b'z']) => usize::from(letter - b'a'),
            _ => return Err(io::ErrorKind::NotFound.into()),
        };
        let part = self.0.get(index).ok_or(io::ErrorKind::NotFound)?;
        Ok(part.to_vec())
    }
}

fn check_places(found: &[Diagnostic]) {
    assert!(!found.is_empty() && found.len() <= 100);
    for one in found {
        assert!(one.line > 0 && one.column > 0);
        let text = one.to_string();
        let is_clean = |char: char| !char.is_control() || matches!(char, '\n' | '\t');
        assert!(text.chars().all(is_clean), "{text}");
    }
}

/// Rust of files, or nothing if there is something wrong with them.
fn rust(parts: Vec<&[u8]>, extensibility: Extensibility) -> Option<String> {
    let options = Options {
        extensibility,
        defines: vec![("FUZZ".to_owned(), "1".to_owned())],
        ..Options::default()
    };
    match compile(&["a.idl"], &options, &mut Parts(parts)) {
        Ok(compilation) => {
            let others = [
                compilation.c("a").err(),
                compilation.cpp("a").err(),
                compilation.csharp().err(),
            ];
            for found in others.into_iter().flatten() {
                check_places(&found);
            }
            match compilation.rust() {
                Ok(text) => Some(text),
                Err(found) => {
                    check_places(&found);
                    None
                }
            }
        }
        Err(CompileError::Invalid(found)) => {
            check_places(&found);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Without comments, which belong to what they stand beside.
fn code(rust: &str) -> Vec<&str> {
    let lines = rust.lines().map(str::trim);
    lines.filter(|line| !line.starts_with("//")).collect()
}

fuzz_target!(|input: &[u8]| {
    let extensibility = match input.first() {
        Some(b'@') => Extensibility::Final,
        _ => Extensibility::Appendable,
    };
    let parts: Vec<&[u8]> = input.split(|byte| *byte == 0).take(26).collect();
    let first = rust(parts.clone(), extensibility);
    let Ok(text) = std::str::from_utf8(parts[0]) else {
        return;
    };
    match format("a.idl", text) {
        Ok(once) => {
            let twice = format("a.idl", &once).expect("what is laid out is laid out");
            assert_eq!(twice, once);
            let mut parts = parts;
            parts[0] = once.as_bytes();
            let second = rust(parts, extensibility);
            assert_eq!(second.as_deref().map(code), first.as_deref().map(code));
        }
        Err(found) => check_places(&found),
    }
});
