//! The table "Rules and their tests" of docs/fast.md names tests that exist.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn the_tests_of_the_table_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let docs = fs::read_to_string(root.join("docs/fast.md")).unwrap();
    let (_, table) = docs.split_once("## Rules and their tests").unwrap();
    let table = table.split("\n## ").next().unwrap_or_default();
    let named = table.split('`').filter_map(|text| text.split_once("::"));
    let mut count = 0;
    for (file, test) in named {
        let exists = files(&root, file).iter().any(|path| {
            let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            text.contains(&format!("fn {test}("))
        });
        assert!(exists, "{file}::{test}");
        count += 1;
    }
    assert!(count > 60, "{count}");
}

fn files(root: &Path, name: &str) -> Vec<PathBuf> {
    let paths = match name {
        "wire" => vec!["crates/fast/src/wire/tests.rs".to_owned()],
        "initial" => vec!["crates/fast/src/compile/initial.rs".to_owned()],
        "block" => vec!["crates/fast/src/block.rs".to_owned()],
        "framing" => vec!["crates/feed/src/framing/tests.rs".to_owned()],
        "peer" => ["disagreements", "golden"]
            .map(|file| format!("crates/fast/conformance/tests/peer/{file}.rs"))
            .to_vec(),
        other => vec![format!("crates/fast/tests/suite/{other}.rs")],
    };
    paths.into_iter().map(|path| root.join(path)).collect()
}
