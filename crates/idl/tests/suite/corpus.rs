//! The corpus compiles, and the Rust of it is that which is kept in tests/golden. To keep what there
//! is now: `TICKWIRE_BLESS=1 cargo test -p tickwire-idl`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tickwire_idl::{Files, Options, compile};

pub(crate) const CORPUS: &[&str] = &[
    "RawBuffer.idl",
    "MarketData.idl",
    "Simple.idl",
    "Complex.idl",
    "cyclone.idl",
    "kinds.idl",
    "encodings.idl",
    "ros/sensor_msgs/msg/BatteryState.idl",
];

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

#[test]
fn rust_is_as_it_is_kept() {
    let options = Options {
        search: vec!["tests/corpus/ros".into()],
        ..Options::default()
    };
    for name in CORPUS.iter().chain(&["services.idl"]) {
        // Relative, since generated text names it.
        let path = Path::new("tests/corpus").join(name);
        let compilation = compile(&[path], &options, &mut Files);
        let compilation = compilation.unwrap_or_else(|error| panic!("{error}"));
        let text = compilation.rust().unwrap_or_else(|found| {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            panic!("{}", found.join("\n"))
        });
        let stem = Path::new(name).file_stem().unwrap_or_default();
        let golden = tests().join("golden").join(stem).with_extension("rs");
        if env::var_os("TICKWIRE_BLESS").is_some() {
            fs::write(&golden, &text).expect("the golden file can be written");
        }
        let kept = fs::read_to_string(&golden).unwrap_or_default();
        assert!(
            text == kept,
            "{name} gives other Rust than {}:\n{text}",
            golden.display()
        );
    }
}

#[test]
fn rust_is_laid_out_as_by_rustfmt() {
    let golden = fs::read_dir(tests().join("golden")).expect("there are golden files");
    let files = golden.map(|entry| entry.expect("it can be read").path());
    let rustfmt = Command::new("rustfmt")
        .args(["--check", "--edition", "2024"])
        .args(files)
        .output()
        .expect("rustfmt is installed");
    let shown = String::from_utf8_lossy(&rustfmt.stdout);
    assert!(rustfmt.status.success(), "{shown}");
}
