//! `tickwire fast explain`: which message, what of it, and what is said where it goes wrong.

use crate::common::{Folder, Run, tickwire};
use serde_json::{Value, json};

const XML: &[u8] = br#"<templates>
  <template name="Trade" id="1">
    <uInt32 name="Seq"><increment/></uInt32>
    <string name="Symbol"><copy value="ABC"/></string>
    <decimal name="Price"><exponent><default value="-2"/></exponent><mantissa><delta/></mantissa></decimal>
    <group name="Terms" presence="optional"><uInt32 name="Days"/></group>
    <sequence name="Legs"><length name="NoLegs"/><uInt32 name="Qty"/><string name="Side" presence="optional"/></sequence>
    <templateRef/>
  </template>
  <template name="Note" id="2"><byteVector name="Data"/></template>
</templates>"#;

/// Two packets: one with two messages, one whose message has a Seq that is not known.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("trade.xml", XML);
    let first = [
        0xf4, 0x81, 0x87, 0x58, 0x59, 0xda, 0x09, 0xe2, 0x82, 0x82, 0x83, 0xc2, 0x84, 0x80, 0xc0,
        0x82, 0x8a, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ];
    let second = [0xc0, 0x81, 0x8a, 0x80, 0xc0, 0x82, 0x80];
    let packets = [
        &[&first[..], &second].concat()[..],
        &[0xc0, 0x81, 0x90, 0xff],
    ];
    let framed = packets.map(|packet| {
        let len = u32::try_from(packet.len()).expect("short");
        [&len.to_le_bytes()[..], packet].concat()
    });
    folder.write("trade.dat", &framed.concat());
    folder
}

fn explain(folder: &Folder, options: &[&str]) -> Run {
    let command = ["fast", "explain", "trade.dat", "-t", "trade.xml"];
    tickwire(folder, &[&command[..], options].concat())
}

/// Lines with blanks made one, from the row of the message's heading on.
fn rows(run: &Run) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    run.stdout.lines().skip(3).map(words).collect()
}

#[test]
fn every_byte_bit_and_dictionary_entry_is_accounted_for() {
    let folder = folder("explain");
    let run = explain(&folder, &["--reset", "packet"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout
            .starts_with("trade.dat: packet 0, message 0 in it, byte 4, 27 bytes\n")
    );
    assert!(!run.stdout.contains('\x1b'), "no colour but on a terminal");
    let expected = [
        "message Trade",
        "4 f4 presence map 1110100",
        "5 81 0=1 template id copy undefined 1 1",
        "6 87 1=1 Seq increment undefined 7 7",
        "7 58 59 da 2=1 Symbol copy \"ABC\" undefined \"XYZ\" \"XYZ\"",
        "Price 12.50 (1250e-2)",
        "3=0 exponent default -2 -2",
        "10 09 e2 mantissa delta undefined 1250 1250",
        "4=1 Terms group",
        "12 82 Days 2",
        "13 82 Legs 2 elements",
        "Legs[0]",
        "14 83 Qty 3",
        "15 c2 Side \"B\"",
        "Legs[1]",
        "16 84 Qty 4",
        "17 80 Side absent",
        "templateRef Note",
        "18 c0 presence map 1000000",
        "19 82 0=1 template id copy 1 2 2",
        "20 8a 00 01 02 03 04 05 06 Data 00010203040506070809",
        "28 07 08 09",
    ];
    assert_eq!(rows(&run), expected);
}

#[test]
fn messages_before_it_have_filled_the_dictionaries() {
    let folder = folder("explainsecond");
    let by_number = explain(&folder, &["-m", "1"]);
    let expected = [
        "31 c0 presence map 1000000",
        "32 81 0=1 template id copy 2 1 1",
        "1=0 Seq increment 7 8 8",
        "2=0 Symbol copy \"ABC\" \"XYZ\" \"XYZ\" \"XYZ\"",
        "Price 12.60 (1260e-2)",
    ];
    assert_eq!(rows(&by_number)[1..6], expected, "{}", by_number.stderr);
    let by_packet = explain(&folder, &["--packet", "0", "-m", "1"]);
    let by_byte = explain(&folder, &["--byte", "33"]);
    assert_eq!(by_packet.stdout, by_number.stdout);
    assert_eq!(by_byte.stdout, by_number.stdout);
}

#[test]
fn a_message_that_fails_is_shown_up_to_the_byte_with_what_was_expected() {
    let folder = folder("explainbad");
    let run = explain(&folder, &["--failed"]);
    assert_eq!(run.status, 1);
    let rows = rows(&run);
    assert_eq!(
        rows[3],
        "44 1=0 Seq increment undefined undefined <-- D5: mandatory field not in the stream, without previous or initial value"
    );
    assert_eq!(
        rows[5],
        "byte 44, template Trade, field Seq: D5: mandatory field not in the stream, without previous or initial value"
    );
    assert_eq!(
        rows[6],
        "expected presence bit 1 is 0: a previous value in the dictionary, which is undefined"
    );
    assert!(rows[7].starts_with("rule D5: "), "{rows:?}");
    assert!(
        rows[7..].iter().any(|row| row.starts_with("to do ")),
        "{rows:?}"
    );
    assert!(
        run.stderr
            .contains("trade.dat: packet 1, message 0: byte 44"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_fails_between_two_fields_has_a_row_too() {
    let folder = folder("explainlength");
    // 127 elements of at least two bytes each, of which none is there.
    let bad = [0xf0, 0x81, 0x87, 0x58, 0x59, 0xda, 0x82, 0xff, 0x81];
    let framed = [&[9, 0, 0, 0][..], &bad].concat();
    folder.write("trade.dat", &framed);
    let run = explain(&folder, &["--failed"]);
    let last = rows(&run)
        .into_iter()
        .take_while(|row| !row.is_empty())
        .last();
    assert_eq!(
        last.as_deref(),
        Some("12 81 Legs <-- the bytes end before the message does")
    );
    let wanted = "no more elements than the packet has bytes for";
    assert!(run.stdout.contains(wanted), "{}", run.stdout);
}

#[test]
fn json_has_paths_bytes_and_values() {
    let folder = folder("explainjson");
    let run = explain(&folder, &["-o", "json"]);
    let object: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(
        (&object["template"], &object["length"]),
        (&json!("Trade"), &json!(27))
    );
    let rows = object["rows"].as_array().expect("an array");
    let row = |path: &str| rows.iter().rfind(|row| row["path"] == path).expect("a row");
    assert_eq!(row("Legs[1].Qty")["bytes"], "84");
    assert_eq!(row("Legs[1].Side")["value"], json!({"state": "absent"}));
    assert_eq!(row("Price")["value"]["mantissa"], 1250);
    assert_eq!(row("Seq")["before"], json!({"state": "undefined"}));
    assert_eq!(row("Seq")["presence_bit"], json!({"index": 1, "value": 1}));
    assert_eq!(row("templateRef.Data")["bytes"], "8a00010203040506070809");

    let bad = explain(&folder, &["--failed", "-o", "json"]);
    let object: Value = serde_json::from_str(&bad.stdout).expect("JSON");
    assert_eq!(object["error"]["code"], "D5");
    assert_eq!(object["length"], Value::Null);
}

#[test]
fn what_is_not_there_is_said_with_what_to_try() {
    let folder = folder("explainnone");
    for (options, words) in [
        (
            &["-m", "2"][..],
            "2 messages can be decoded, numbered from 0: the last is 1\n",
        ),
        (&["--byte", "2"], "byte 2 is in no message"),
        (&["--packet", "5"], "no message 0 in packet 5"),
    ] {
        let run = explain(&folder, options);
        assert_eq!(run.status, 1);
        assert!(run.stderr.contains(words), "{}", run.stderr);
        assert!(run.stderr.contains("hint: "), "{}", run.stderr);
    }
    assert_eq!(explain(&folder, &["-m", "1", "--failed"]).status, 2);
}

#[test]
fn where_nothing_decodes_the_way_to_read_the_file_is_found() {
    let folder = Folder::new("explain-way");
    folder.generate("simple", &["--messages", "400"]);
    folder.generate("complex", &["--messages", "400"]);
    let hint_of = |command: &str, file: &str, xml: &str, options: &[&str]| {
        let arguments = ["fast", command, file, "-t", xml];
        let run = tickwire(&folder, &[&arguments, options].concat());
        assert_eq!(run.status, 1, "{}", run.stderr);
        let hint = run.stderr.lines().rfind(|line| line.starts_with("hint: "));
        hint.unwrap_or_default().to_owned()
    };
    for command in ["decode", "explain"] {
        for wrong in ["block", "step", "none"] {
            let hint = hint_of(command, "simple.dat", "simple.xml", &["--framing", wrong]);
            assert!(
                hint.starts_with("hint: with `--framing u32le` the first "),
                "{command} {wrong}: {hint}"
            );
        }
        let hint = hint_of(command, "simple.dat", "simple.xml", &["--preamble", "cme"]);
        assert!(
            hint.starts_with("hint: with `--preamble none` the first "),
            "{hint}"
        );
        // A venue decides about several things at once.
        let hint = hint_of(
            command,
            "simple.dat",
            "simple.xml",
            &["--venue", "moex-asts"],
        );
        let expected = "hint: with `--preamble none --reset packet` the first ";
        assert!(hint.starts_with(expected), "{hint}");
    }
    // One damaged packet hides neither the right way nor how many it decodes.
    let mut damaged = folder.read("simple.dat");
    damaged[4..8].fill(0xff);
    folder.write("damaged.dat", &damaged);
    for command in ["decode", "explain"] {
        for (options, way) in [
            (["--framing", "step"], "--framing u32le"),
            (["--preamble", "cme"], "--preamble none"),
        ] {
            let hint = hint_of(command, "damaged.dat", "simple.xml", &options);
            let expected = format!("hint: with `{way}` 4 of the first 5 packets can be decoded");
            assert_eq!(hint, expected, "{command}");
        }
    }
    // Nothing but the templates is wrong.
    let other = br#"<template name="A" id="70"><uInt32 name="X"/></template>"#;
    folder.write("other.xml", other);
    for command in ["decode", "explain"] {
        let hint = hint_of(command, "simple.dat", "other.xml", &[]);
        let expected = "hint: other.xml has the template ids 70, but the first packets ask for ";
        assert!(hint.starts_with(expected), "{command}: {hint}");
    }
    let hint = hint_of("decode", "simple.dat", "complex.xml", &[]);
    assert!(hint.contains("complex.xml"), "{hint}");
    // What is to be done is the same in all places.
    let failed = ["fast", "explain", "simple.dat", "-t", "complex.xml"];
    let run = tickwire(
        &folder,
        &[&failed[..], &["--failed", "-o", "json"]].concat(),
    );
    let object: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let to_do = object["error"]["to_do"].as_str().expect("text");
    assert_eq!(format!("hint: {to_do}"), hint);
    assert!(run.stderr.ends_with(&format!("{hint}\n")), "{}", run.stderr);
}

#[test]
fn parts_of_a_packet_number_their_messages_together() {
    let folder = Folder::new("parts");
    let xml = br#"<template name="A" id="1"><uInt32 name="X"/></template>"#;
    folder.write("a.xml", xml);
    // Two B3 messages of one chunk in one packet.
    let packet = "00000001 0001 0001 0003 c08185  00000002 0001 0001 0003 c08186";
    folder.write("a.hex", packet.as_bytes());
    let explain = ["fast", "explain", "a.hex", "-t", "a.xml"];
    let form = ["--venue", "b3", "--framing", "hex", "-o", "json"];
    for which in [
        &["--message", "1"][..],
        &["--packet", "0", "--message", "1"],
        &["--byte", "24"],
    ] {
        let run = tickwire(&folder, &[&explain[..], &form, which].concat());
        assert_eq!(run.status, 0, "{which:?}: {}", run.stderr);
        let object: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(object["offset"], 23, "{which:?}");
        assert_eq!(
            (&object["packet"], &object["message"]),
            (&0.into(), &1.into())
        );
    }
}

#[test]
fn the_first_failure_is_named_and_a_bad_packet_before_it_too() {
    let folder = Folder::new("explainfirst");
    let xml = br#"<template name="A" id="1"><uInt32 name="X"/></template>"#;
    folder.write("a.xml", xml);
    let failed = |packets: &str| {
        folder.write("a.hex", packets.as_bytes());
        let explain = ["fast", "explain", "a.hex", "-t", "a.xml", "--failed"];
        let form = ["--venue", "b3", "--framing", "hex"];
        tickwire(&folder, &[&explain[..], &form].concat())
    };
    let (good, short) = ("00000001 0001 0001 0003 c08185", "00000001");
    let bad = "00000002 0001 0001 0003 c08182 00000003 0001 0001 0002 c082";
    let both = failed(&format!("{good}\n{short}\n{bad}\n"));
    assert_eq!(both.status, 1);
    assert!(both.stderr.contains("packet 1: byte 13: packet of 4 bytes"));
    assert!(
        both.stderr
            .contains("error: a.hex: packet 2, message 1: byte 41: D9"),
        "{}",
        both.stderr
    );
    let only = failed(&format!("{good}\n{short}\n"));
    assert_eq!(only.status, 1);
    let words = "error: a.hex: packet 1: byte 13: packet of 4 bytes";
    assert!(only.stderr.contains(words), "{}", only.stderr);
}
