//! Small files of IDL, one for each thing that IDL has, and what each language makes of them: both are in
//! tests/golden, to be read beside each other. To keep what there is now: `TICKWIRE_BLESS=1 cargo test
//! -p tickwire-idl golden`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use tickwire_idl::{Compilation, Diagnostic, Files, Options, compile};

/// More than this nobody reads.
const MAX_LINES: usize = 500;

/// Their names, in order.
fn files() -> Vec<PathBuf> {
    let folder = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"));
    let files = folder.expect("it is there");
    let mut files: Vec<_> = files
        .map(|file| file.expect("it can be read").path())
        .collect();
    files.sort();
    files
}

/// The small files, by their names.
pub(crate) fn golden() -> Vec<(String, Compilation)> {
    let idl = files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "idl"));
    let all = idl.map(|path| {
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // Relative, since generated text names it.
        let path = Path::new("tests/golden").join(format!("{stem}.idl"));
        let compilation = compile(&[path], &Options::default(), &mut Files);
        (stem, compilation.unwrap_or_else(|error| panic!("{error}")))
    });
    all.collect()
}

/// The texts of a file in each language that can have it, by the endings of their names.
fn texts(name: &str, compilation: &Compilation) -> Vec<(&'static str, String)> {
    let mut texts = Vec::new();
    let mut add = |ending, text: Result<String, Vec<Diagnostic>>| {
        texts.extend(text.ok().map(|text| (ending, text)));
    };
    add("rs", compilation.rust());
    add("h", compilation.c(name).map(|both| both.header));
    add("c", compilation.c(name).map(|both| both.source));
    add("hpp", compilation.cpp(name));
    add("cs", compilation.csharp());
    texts
}

#[test]
fn what_is_made_of_small_files_is_as_it_is_kept() {
    let bless = env::var_os("TICKWIRE_BLESS").is_some();
    let mut made = BTreeSet::new();
    for (name, compilation) in golden() {
        made.insert(format!("{name}.idl"));
        for (ending, text) in texts(&name, &compilation) {
            let file = format!("{name}.{ending}");
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/golden")
                .join(&file);
            if bless {
                fs::write(&path, &text).expect("the golden file can be written");
            }
            let kept = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                text == kept,
                "{name}.idl gives another {file} than is kept:\n{text}"
            );
            assert!(
                text.lines().count() <= MAX_LINES,
                "{file} is too long to be read"
            );
            made.insert(file);
        }
    }
    // What a language cannot have any more is missed here.
    let kept = files().into_iter().filter_map(|path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    });
    assert_eq!(made, kept.collect());
}
