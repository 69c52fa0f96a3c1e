//! `tickwire fast rust` and `tickwire fast idl`: source text on standard output.

use crate::common::{Folder, tickwire};

#[test]
fn rust_has_a_struct_for_each_template() {
    let folder = Folder::new("rust");
    folder.generate("complex", &["--messages", "1"]);
    let run = tickwire(&folder, &["fast", "rust", "complex.xml"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for line in [
        "pub struct MarketData {",
        "    pub md_entries: Vec<market_data::MdEntries>,",
        "        pub md_entry_px: ::tickwire_fast::Decimal,",
    ] {
        assert!(run.stdout.contains(line), "{line} in\n{}", run.stdout);
    }
    assert!(!run.stdout.contains("Topic"), "{}", run.stdout);

    let arguments = [
        "fast",
        "rust",
        "complex.xml",
        "--topics",
        "--key",
        "MsgSeqNum",
    ];
    let run = tickwire(&folder, &arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let keyed = "    #[topic(key, rename = \"MsgSeqNum\")]\n    pub msg_seq_num: u32,";
    assert!(run.stdout.contains(keyed), "{}", run.stdout);
}

#[test]
fn idl_has_the_types_of_the_topics() {
    let folder = Folder::new("idl");
    folder.generate("complex", &["--messages", "1"]);
    let arguments = ["fast", "idl", "complex.xml", "--key", "MsgSeqNum"];
    let run = tickwire(&folder, &arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for line in [
        "  sequence<MarketData_MDEntries> MDEntries;",
        "  @optional int32 MDEntrySize;",
        "  @key uint32 MsgSeqNum;",
        "  Decimal MDEntryPx;",
    ] {
        assert!(run.stdout.contains(line), "{line} in\n{}", run.stdout);
    }
}

#[test]
fn idl_has_the_type_of_the_default_template() {
    let folder = Folder::new("idldefault");
    let xml = br#"<template name="OPRA"><uInt32 name="Price"/></template>"#;
    folder.write("opra.xml", xml);
    let arguments = ["fast", "idl", "opra.xml", "--default-template", "OPRA"];
    let run = tickwire(&folder, &arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("uint32 Price;"), "{}", run.stdout);
}

#[test]
fn a_key_that_no_template_can_have_is_refused() {
    let folder = Folder::new("keys");
    folder.generate("complex", &["--messages", "1"]);
    let run = tickwire(
        &folder,
        &["fast", "idl", "complex.xml", "--key", "MDEntryPx"],
    );
    assert_eq!(run.status, 1);
    assert!(
        run.stderr
            .contains("no template can have the key MDEntryPx"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("hint: a key is a mandatory field"),
        "{}",
        run.stderr
    );
    let run = tickwire(
        &folder,
        &["fast", "rust", "complex.xml", "--key", "MsgSeqNum"],
    );
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("hint: add `--topics`"),
        "{}",
        run.stderr
    );
}

#[test]
fn templates_without_ids_are_refused() {
    let folder = Folder::new("ids");
    folder.write("header.xml", b"<template name=\"Header\"/>");
    for command in ["rust", "idl"] {
        let run = tickwire(&folder, &["fast", command, "header.xml"]);
        assert_eq!(run.status, 1);
        assert!(
            run.stderr.contains("no template has an id")
                && run.stderr.contains("`--default-template`"),
            "{}",
            run.stderr
        );
        assert!(run.stdout.is_empty(), "{}", run.stdout);
    }
}

#[test]
fn wrong_templates_are_shown_with_a_caret() {
    let folder = Folder::new("caret");
    folder.write(
        "bad.xml",
        b"<template name=\"T\" id=\"1\">\n  <uInt32 name=\"A\"><tail/></uInt32>\n</template>",
    );
    let run = tickwire(&folder, &["fast", "rust", "bad.xml"]);
    assert_eq!(run.status, 1);
    let excerpt = "2 |   <uInt32 name=\"A\"><tail/></uInt32>\n  |                    ^";
    assert!(run.stderr.contains(excerpt), "{}", run.stderr);
}
