//! The corpus compiles, and the Rust of it is laid out as by rustfmt. What its code does is tested in
//! tickwire-idl-conformance.

use std::fs;
use std::path::Path;
use std::process::Command;

use tickwire_idl::{Compilation, Files, Options, compile};

use crate::golden::golden;
use crate::support::{folder, told};

const CORPUS: &[&str] = &[
    "RawBuffer.idl",
    "MarketData.idl",
    "Simple.idl",
    "Complex.idl",
    "cyclone.idl",
    "kinds.idl",
    "encodings.idl",
    "rare.idl",
    "ros/sensor_msgs/msg/BatteryState.idl",
];

/// The corpus, other files of it that not all languages can have, and the small files that are kept in
/// a language, whose files end so: their names and models.
pub(crate) fn corpus(others: &[&str], ending: &str) -> Vec<(String, Compilation)> {
    let options = Options {
        search: vec!["tests/corpus/ros".into()],
        ..Options::default()
    };
    let files = CORPUS.iter().chain(others);
    let all = files.map(|name| {
        let path = Path::new("tests/corpus").join(name);
        let compilation = compile(&[&path], &options, &mut Files);
        let compilation = compilation.unwrap_or_else(|error| panic!("{error}"));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        (stem.into_owned(), compilation)
    });
    let kept = golden().into_iter().filter(|(name, _)| {
        let path = Path::new("tests/golden").join(name);
        path.with_extension(ending).exists()
    });
    all.chain(kept).collect()
}

#[test]
fn rust_is_laid_out_as_by_rustfmt() {
    let folder = folder("rust-corpus");
    let files = corpus(&["services.idl"], "rs");
    let files = files.into_iter().map(|(name, compilation)| {
        let text = compilation.rust().unwrap_or_else(|found| told(&found));
        let path = folder.join(name).with_extension("rs");
        fs::write(&path, text).expect("it can be written");
        path
    });
    let rustfmt = Command::new("rustfmt")
        .args(["--check", "--edition", "2024"])
        .args(files)
        .output()
        .expect("rustfmt is installed");
    let shown = String::from_utf8_lossy(&rustfmt.stdout);
    let errors = String::from_utf8_lossy(&rustfmt.stderr);
    assert!(rustfmt.status.success(), "{shown}{errors}");
}
