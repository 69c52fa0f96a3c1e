//! `docs/qos.md` says what the table of settings says.

use tickwire_profiles::{Entity, settings};

#[test]
fn every_setting_is_in_the_documentation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/qos.md");
    let text = std::fs::read_to_string(path).expect("the documentation is there");
    let mut section = String::new();
    let mut missing = Vec::new();
    for setting in settings() {
        let entities: Vec<_> = setting
            .entities
            .iter()
            .map(|entity| Entity::name(*entity))
            .collect();
        section.clear();
        for path in [setting.dds_xml, setting.fast_dds] {
            section += &match path {
                "" => " |".to_owned(),
                path => format!(" `{path}` |"),
            };
        }
        let (key, default, meaning) = (setting.key, setting.default, setting.meaning);
        let of = entities.join(", ");
        let row = format!("| `{key}` | {of} | `{default}` |{section} {meaning} |");
        if !text.contains(&row) {
            missing.push(row);
        }
    }
    assert!(
        missing.is_empty(),
        "docs/qos.md lacks\n{}",
        missing.join("\n")
    );
}
