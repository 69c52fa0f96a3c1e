//! `tickwire fast templates`: lists, fields with their operators, and JSON.

use crate::common::{Folder, tickwire};
use serde_json::{Value, json};

/// The words of the first line of `text` that has `word` among its own.
fn words(text: &str, word: &str) -> Vec<String> {
    let mut lines = text.lines().map(|line| line.split_whitespace());
    let found = lines.find(|line| line.clone().any(|other| other == word));
    found.into_iter().flatten().map(str::to_owned).collect()
}

#[test]
fn templates_are_listed_with_what_they_need() {
    let folder = Folder::new("list");
    folder.generate("complex", &["--messages", "1"]);
    let run = tickwire(&folder, &["fast", "templates", "complex.xml"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        words(&run.stdout, "MarketData"),
        ["1", "MarketData", "26", "1", "9", "yes"]
    );
    assert_eq!(
        words(&run.stdout, "Done"),
        ["99", "Done", "1", "1", "0", "no"]
    );
    let csv = tickwire(&folder, &["fast", "templates", "complex.xml", "-o", "csv"]);
    assert!(
        csv.stdout.contains("\n2,QuoteRequest,14,1,0,no,\n"),
        "{}",
        csv.stdout
    );
}

#[test]
fn fields_have_bits_operators_values_and_entries() {
    let folder = Folder::new("fields");
    folder.generate("complex", &["--messages", "1"]);
    folder.generate("simple", &["--messages", "1"]);
    let run = tickwire(&folder, &["fast", "templates", "complex.xml", "MarketData"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let row = |word| words(&run.stdout, word).join(" ");
    assert_eq!(row("template"), "0 template id uInt32 mandatory copy");
    assert_eq!(row("NoMDEntries"), "length NoMDEntries uInt32 mandatory");
    assert_eq!(
        row("MDEntryType"),
        "2 MDEntryType 269 string mandatory copy \"0\" 2 1 MDEntryType"
    );
    assert_eq!(row("MDEntryPx"), "MDEntryPx 270 decimal mandatory");
    assert_eq!(row("exponent"), "5 exponent int32 mandatory default 0");
    assert_eq!(
        row("mantissa"),
        "mantissa int64 mandatory delta 5 1 MDEntryPx.mantissa"
    );
    assert_eq!(
        row("TradeVolume"),
        "9 TradeVolume 1020 uInt32 optional default"
    );

    let all = tickwire(&folder, &["fast", "templates", "simple.xml", "--fields"]).stdout;
    assert!(
        all.contains("uInt8 0..255") && all.contains("uInt16 0..65535"),
        "{all}"
    );
    let headings = all.lines().filter(|line| line.contains("  id ")).count();
    assert_eq!(headings, 5, "{all}");
}

#[test]
fn json_has_all_that_the_tables_have() {
    let folder = Folder::new("templatejson");
    folder.generate("complex", &["--messages", "1"]);
    let run = tickwire(&folder, &["fast", "templates", "complex.xml", "-o", "json"]);
    let list: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(list[1]["name"], "MarketData");
    let entries = &list[1]["fields"][6];
    assert_eq!(
        (&entries["presence_bits"], &entries["length_name"]),
        (&json!(15), &json!("NoMDEntries"))
    );
    let action = &entries["fields"][0]["instructions"][0];
    assert_eq!(
        *action,
        json!({"part": "value", "type": "uInt32", "operator": "copy", "presence": "mandatory",
            "presence_bit": true, "initial": 1, "entry": 1, "dictionary": "1", "key": "MDUpdateAction"})
    );
}

#[test]
fn a_name_that_no_template_has_is_an_error() {
    let folder = Folder::new("noname");
    folder.generate("complex", &["--messages", "1"]);
    let run = tickwire(&folder, &["fast", "templates", "complex.xml", "Quote"]);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.contains("no template is called Quote"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("hint: "), "{}", run.stderr);
}

#[test]
fn the_sample_of_the_help_is_what_is_shown() {
    let folder = Folder::new("templates-sample");
    let xml = include_bytes!("../../../feed/templates/complex.xml");
    folder.write("complex.xml", xml);
    let help = tickwire(&folder, &["fast", "templates", "--help"]);
    let (_, sample) = help.stdout.split_once("(first lines):\n").unwrap();
    // Word by word, since help is wrapped to the width of the terminal.
    let sample: Vec<_> = sample.split_whitespace().collect();
    let command = ["fast", "templates", "complex.xml", "QuoteRequest"];
    let shown = tickwire(&folder, &command);
    let shown: Vec<_> = shown.stdout.split_whitespace().take(sample.len()).collect();
    assert!(sample.len() > 20);
    assert_eq!(shown, sample);
}

#[test]
fn a_misspelt_attribute_is_told_with_its_place_and_changes_nothing() {
    let folder = Folder::new("misspelt");
    let xml = "<templates>
  <template name=\"A\" id=\"1\" step_id=\"x\">
    <uInt32 name=\"X\" presense=\"optional\"><increment valeu=\"1\" key=\"k\"/></uInt32>
    <uInt32 name=\"Y\" Presence=\"optional\"/>
  </template>
</templates>";
    folder.write("feed.xml", xml.as_bytes());
    folder.write("feed.dat", &[4, 0, 0, 0, 0b1110_0000, 0x81, 0x81, 0x80]);
    let told = "warning: feed.xml:3:22: uInt32 has no attribute presense; did you mean `presence`?\n\
        warning: feed.xml:3:53: increment has no attribute valeu; did you mean `value`?\n";
    for command in [
        &["fast", "templates", "feed.xml"][..],
        &["fast", "idl", "feed.xml"],
        &[
            "fast", "decode", "feed.dat", "-t", "feed.xml", "--limit", "0",
        ],
    ] {
        let run = tickwire(&folder, command);
        assert_eq!((run.status, &*run.stderr), (0, told));
    }
    let strict = tickwire(&folder, &["fast", "templates", "feed.xml", "--strict"]);
    assert_eq!(strict.status, 1);
}
