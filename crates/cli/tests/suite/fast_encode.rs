//! `tickwire fast encode`: what `decode -o jsonl` prints becomes the same bytes again, and errors name line and field.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::common::{Folder, Run, tickwire};
use tickwire_fast::{Encoder, Fields, Message, Mode, ResetPolicy, Templates};
use tickwire_fast_conformance::{Choices, Messages, Shape, Spelling, templates};

/// Decodes a file, encodes the lines, and compares the bytes.
fn round_trip(folder: &Folder, file: &str, xml: &str, decode: &[&str], encode: &[&str]) {
    let decoding = ["fast", "decode", file, "-t", xml, "-o", "jsonl"];
    let decoded = tickwire(folder, &[&decoding[..], decode].concat());
    assert_eq!(decoded.status, 0, "{}", decoded.stderr);
    folder.write("lines.jsonl", decoded.stdout.as_bytes());
    let encoding = [
        "fast",
        "encode",
        "lines.jsonl",
        "-t",
        xml,
        "--out",
        "again.dat",
    ];
    let encoded = tickwire(folder, &[&encoding[..], decode, encode].concat());
    assert_eq!(encoded.status, 0, "{file}: {}", encoded.stderr);
    let (before, after) = (folder.read(file), folder.read("again.dat"));
    let differs = before
        .iter()
        .zip(&after)
        .position(|(one, other)| one != other);
    assert!(
        before == after,
        "{file} {decode:?}: {} and {} bytes, first at {differs:?}",
        before.len(),
        after.len()
    );
}

#[test]
fn generated_files_come_back_byte_for_byte() {
    let folder = Folder::new("encode");
    folder.generate("simple", &["--messages", "500"]);
    folder.generate("complex", &["--messages", "500"]);
    round_trip(&folder, "simple.dat", "simple.xml", &[], &[]);
    round_trip(
        &folder,
        "complex.dat",
        "complex.xml",
        &[],
        &["--messages-per-packet", "1"],
    );
}

#[test]
fn the_golden_file_comes_back_byte_for_byte() {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let Some(golden) = above.map(|f| f.join("shared/golden")).find(|f| f.is_dir()) else {
        // Past the harness, which keeps what passing tests print to itself.
        let problem = "NOT RUN: the_golden_file_comes_back_byte_for_byte: no folder shared/golden \
                       beside the repository";
        let _ = writeln!(std::io::stderr(), "{problem}");
        return;
    };
    let folder = Folder::new("encodegolden");
    for (name, here) in [
        ("complex30000.dat", "golden.dat"),
        ("complex-templates.xml", "golden.xml"),
    ] {
        folder.write(
            here,
            &fs::read(golden.join(name)).expect("the folder has it"),
        );
    }
    round_trip(
        &folder,
        "golden.dat",
        "golden.xml",
        &[],
        &["--messages-per-packet", "1"],
    );
}

#[test]
fn random_messages_of_random_templates_come_back_in_every_framing_and_policy() {
    let folder = Folder::new("encoderandom");
    let forms = [
        (ResetPolicy::Packet, "packet", "u32le"),
        (ResetPolicy::Message, "message", "u32le"),
        (ResetPolicy::Template, "template", "none"),
        (ResetPolicy::Never, "never", "none"),
    ];
    for seed in 0..48_u64 {
        let shape = [Shape::Standard, Shape::Extension, Shape::Dialect][(seed % 3) as usize];
        let (reset, word, framing) = forms[(seed / 3 % 4) as usize];
        let xml = templates(&mut Choices::from_seed(seed), shape, Spelling::Standard);
        folder.write("random.xml", xml.as_bytes());
        let templates = Templates::parse(&xml, Mode::Lenient).expect("random templates are good");
        // JSON does not tell which of two fields of one name is absent.
        if templates
            .iter()
            .any(|template| has_twins(template.fields()))
        {
            continue;
        }
        let mut messages = Messages::new(&templates, shape, Choices::from_seed(!seed));
        let mut encoder = Encoder::with_reset(&templates, reset);
        let mut message = Message::new();
        let mut file = Vec::new();
        for _ in 0..12 {
            if reset == ResetPolicy::Packet {
                encoder.reset();
            }
            let mut packet = Vec::new();
            messages.fill(&mut message).expect("it suits its template");
            if encoder.encode(&message, &mut packet).is_err() {
                break;
            }
            if framing == "u32le" {
                let len = u32::try_from(packet.len()).expect("short");
                file.extend(len.to_le_bytes());
            }
            file.extend(packet);
        }
        // A file without packets is none to decode.
        if file.is_empty() {
            continue;
        }
        folder.write("random.dat", &file);
        let options = ["--reset", word, "--framing", framing];
        round_trip(
            &folder,
            "random.dat",
            "random.xml",
            &options,
            &["--messages-per-packet", "1"],
        );
    }
}

/// Whether fields of one level share a name.
fn has_twins(fields: Fields<'_>) -> bool {
    let mut names: Vec<_> = fields.clone().map(|field| field.name()).collect();
    names.sort_unstable();
    let twins = names.windows(2).any(|pair| pair[0] == pair[1]);
    twins || fields.into_iter().any(|field| has_twins(field.fields()))
}

#[test]
fn a_venues_preamble_and_framing_are_written_as_they_are_read() {
    let folder = Folder::new("encodevenue");
    folder.generate("simple", &["--messages", "40"]);
    let decoded = tickwire(
        &folder,
        &[
            "fast",
            "decode",
            "simple.dat",
            "-t",
            "simple.xml",
            "-o",
            "jsonl",
        ],
    );
    folder.write("simple.jsonl", decoded.stdout.as_bytes());
    for options in [
        &["--venue", "moex-spectra"][..],
        &["--venue", "cqg-tcp"],
        &["--venue", "sse"],
        &["--venue", "opra"],
        &["--venue", "b3", "--messages-per-packet", "1"],
        &["--venue", "plain"],
        &["--framing", "hex"],
    ] {
        let encode = [
            "fast",
            "encode",
            "simple.jsonl",
            "-t",
            "simple.xml",
            "--out",
            "venue.dat",
            "-p",
            "200",
        ];
        let encoded = tickwire(&folder, &[&encode[..], options].concat());
        assert_eq!(encoded.status, 0, "{options:?}: {}", encoded.stderr);
        let decode = [
            "fast",
            "decode",
            "venue.dat",
            "-t",
            "simple.xml",
            "-o",
            "jsonl",
        ];
        let again = tickwire(&folder, &[&decode[..], &options[..2]].concat());
        assert_eq!(again.status, 0, "{options:?}: {}", again.stderr);
        assert_eq!(again.stdout, decoded.stdout, "{options:?}");
    }
}

const XML: &str = r#"<templates>
  <template name="Q" id="1">
    <uInt32 name="Seq"/><string name="Symbol" presence="optional"/><decimal name="Price" presence="optional"/>
    <decimal name="Cents" presence="optional"><exponent><constant value="-2"/></exponent><mantissa/></decimal>
    <byteVector name="Raw" presence="optional"/>
    <sequence name="Legs" presence="optional"><uInt32 name="Qty"/><string name="Side" presence="optional"/></sequence>
    <enum name="Kind" presence="optional"><element name="Buy"/><element name="Sell"/></enum>
    <group name="More" presence="optional"><int64 name="Big"/></group>
  </template></templates>"#;

fn encode(folder: &Folder, lines: &str, options: &[&str]) -> Run {
    folder.write("q.xml", XML.as_bytes());
    folder.write("q.jsonl", lines.as_bytes());
    let encode = [
        "fast",
        "encode",
        "q.jsonl",
        "-t",
        "q.xml",
        "--framing",
        "hex",
    ];
    tickwire(folder, &[&encode[..], options].concat())
}

#[test]
fn values_are_exact_and_members_come_in_any_order() {
    let folder = Folder::new("encodevalues");
    let lines = r#"
{"More":{"Big":-9223372036854775808},"Seq":4294967295,"template":"Q","Legs":[{"Side":"B","Qty":1},{"Qty":2}]}
{"template":"Q","Seq":1,"Price":-9223372036854775807e-3,"Cents":7.5,"Raw":"00fF","Kind":"Sell","Symbol":null}
{"template":"Q","Seq":2,"Price":12e3,"Cents":3,"Symbol":"a\"b"}
"#;
    folder.write("q.dat", &[]);
    let run = encode(&folder, lines, &["--out", "q.dat"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("wrote q.dat: 3 messages in 1 packet"),
        "{}",
        run.stderr
    );
    let decode = [
        "fast",
        "decode",
        "q.dat",
        "-t",
        "q.xml",
        "--framing",
        "hex",
        "-o",
        "jsonl",
    ];
    let decoded = tickwire(&folder, &decode);
    let expected = r#"{"template":"Q","Seq":4294967295,"Legs":[{"Qty":1,"Side":"B"},{"Qty":2}],"More":{"Big":-9223372036854775808}}
{"template":"Q","Seq":1,"Price":-9223372036854775.807,"Cents":7.50,"Raw":"00ff","Kind":"Sell"}
{"template":"Q","Seq":2,"Symbol":"a\"b","Price":12e3,"Cents":3.00}
"#;
    assert_eq!(decoded.stdout, expected, "{}", decoded.stderr);
}

#[test]
fn what_cannot_be_encoded_is_told_with_line_and_field() {
    let folder = Folder::new("encodewrong");
    for (line, words) in [
        (
            "{",
            "q.jsonl: line 2: column 1: EOF while parsing an object",
        ),
        ("[]", "line 2: invalid type: sequence, expected an object"),
        (
            r#"{"Seq":1}"#,
            "line 2: no member `template` says which template it is",
        ),
        (r#"{"template":"X"}"#, "line 2: no template is called X"),
        (
            r#"{"template":"Q"}"#,
            "line 2: message, template Q, field Seq: mandatory field without a value",
        ),
        (
            r#"{"template":"Q","Seq":4294967296}"#,
            "line 2: field Seq: out of the range of uInt32",
        ),
        (
            r#"{"template":"Q","Seq":"1"}"#,
            r#"line 2: field Seq: "1" is not an integer of 64 bits"#,
        ),
        (
            r#"{"template":"Q","Seq":1.5}"#,
            "line 2: field Seq: 1.5 is not an integer of 64 bits",
        ),
        (
            r#"{"template":"Q","Seq":1,"Sqe":2}"#,
            "line 2: field Sqe: the template has no such field here",
        ),
        (
            r#"{"template":"Q","Seq":1,"Symbol":"é"}"#,
            "line 2: field Symbol: the string has characters that ASCII does not",
        ),
        (
            r#"{"template":"Q","Seq":1,"Price":92233720368547758.085}"#,
            "line 2: field Price: 92233720368547758.085 has more digits",
        ),
        (
            r#"{"template":"Q","Seq":1,"Cents":0.125}"#,
            "line 2: message, template Q, field Cents: D3",
        ),
        (
            r#"{"template":"Q","Seq":1,"Raw":"abc"}"#,
            "line 2: field Raw: a byte vector is two hexadecimal digits",
        ),
        (
            r#"{"template":"Q","Seq":1,"Kind":"Hold"}"#,
            "line 2: field Kind: no such element; there are Buy Sell",
        ),
        (
            r#"{"template":"Q","Seq":1,"Legs":[{"Qty":1},{"Qty":-1}]}"#,
            "line 2: field Legs[1].Qty: out of the range of uInt32",
        ),
        (
            r#"{"template":"Q","Seq":1,"Legs":{"Qty":1}}"#,
            "line 2: field Legs: ",
        ),
        (
            r#"{"template":"Q","Seq":1,"More":[]}"#,
            "line 2: field More: [] is not an object",
        ),
    ] {
        let good = r#"{"template":"Q","Seq":1}"#;
        let run = encode(&folder, &format!("{good}\n{line}\n{good}\n"), &[]);
        assert_eq!(run.status, 1, "{line}");
        assert!(run.stderr.contains(words), "{line}: {}", run.stderr);
        if words.contains("no template") || words.contains("no such field") {
            assert!(run.stderr.contains("hint: "), "{line}: {}", run.stderr);
        }
        assert_eq!(
            run.stdout.lines().count(),
            1,
            "{line}: what precedes it is written"
        );
    }
}

#[test]
fn a_file_stays_as_it_is_if_there_is_nothing_to_write() {
    let folder = Folder::new("encode-stays");
    let xml =
        r#"<templates><template name="A" id="1"><uInt32 name="n" id="1"/></template></templates>"#;
    folder.write("a.xml", xml.as_bytes());
    folder.write("out.dat", b"keep");
    for (lines, status, kept) in [
        ("no lines", 1, true),
        (r#"{"template":"A","fields":{"n":"x"}}"#, 1, true),
        ("", 0, false),
    ] {
        folder.write("lines.jsonl", lines.as_bytes());
        let arguments = "fast encode lines.jsonl -t a.xml --out out.dat";
        let run = tickwire(&folder, &arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(run.status, status, "{lines}: {}", run.stderr);
        assert_eq!(folder.read("out.dat") == b"keep", kept, "{lines}");
    }
}

#[test]
fn null_passes_over_one_of_two_fields_of_a_name() {
    let folder = Folder::new("encodetwins");
    let xml = r#"<template name="T" id="1"><uInt32 name="A" presence="optional"/><uInt32 name="A" presence="optional"/></template>"#;
    folder.write("t.xml", xml.as_bytes());
    folder.write("t.jsonl", br#"{"template":"T","A":null,"A":1}"#);
    let encode = [
        "fast",
        "encode",
        "t.jsonl",
        "-t",
        "t.xml",
        "--framing",
        "hex",
    ];
    let run = tickwire(&folder, &encode);
    assert_eq!(run.stdout, "c0818082\n", "{}", run.stderr);
}

#[test]
fn an_empty_object_is_the_sessions_reset() {
    let folder = Folder::new("encodereset");
    let line = r#"{"template":"Q","Seq":1}"#;
    let run = encode(
        &folder,
        &format!("{line}\n{{}}\n{line}\n"),
        &["--reset", "template"],
    );
    assert_eq!(
        run.stdout, "c081818080808080c0f8c081818080808080\n",
        "{}",
        run.stderr
    );
}

/// OPRA's messages have no template id, and its template has none.
#[test]
fn messages_without_an_id_are_of_the_default_template() {
    let folder = Folder::new("encode-default");
    let xml = r#"<template name="OPRA"><uInt32 name="Type"><copy/></uInt32><uInt32 name="Price"/></template>"#;
    folder.write("opra.xml", xml.as_bytes());
    let lines = "{\"template\":\"OPRA\",\"Type\":5,\"Price\":7}\n{\"template\":\"OPRA\",\"Type\":5,\"Price\":8}\n";
    folder.write("opra.jsonl", lines.as_bytes());
    let with = |command: &[&str]| {
        let options = ["-t", "opra.xml", "--framing", "hex", "--default-template"];
        tickwire(&folder, &[&["fast"], command, &options, &["OPRA"]].concat())
    };
    let encoded = with(&["encode", "opra.jsonl"]);
    assert_eq!(
        (encoded.stdout.as_str(), encoded.status),
        ("a085878088\n", 0),
        "{}",
        encoded.stderr
    );
    folder.write("opra.hex", encoded.stdout.as_bytes());
    let decoded = with(&["decode", "opra.hex", "-o", "jsonl"]);
    assert_eq!(
        (decoded.stdout.as_str(), decoded.status),
        (lines, 0),
        "{}",
        decoded.stderr
    );
    let explained = with(&["explain", "opra.hex", "-m", "1"]);
    assert_eq!(
        explained.status, 0,
        "{}{}",
        explained.stdout, explained.stderr
    );
    assert!(explained.stdout.contains("OPRA"), "{}", explained.stdout);
    let handled = [
        "feed",
        "run",
        "--decode-only",
        "--file",
        "opra.hex",
        "-t",
        "opra.xml",
        "--framing",
        "hex",
        "-o",
        "json",
    ];
    let handled = tickwire(
        &folder,
        &[&handled[..], &["--default-template", "OPRA"]].concat(),
    );
    assert_eq!(handled.status, 0, "{}", handled.stderr);
    assert!(
        handled.stdout.contains("\"decoded\": 2"),
        "{}",
        handled.stdout
    );
    let plain = [
        "fast",
        "decode",
        "opra.hex",
        "-t",
        "opra.xml",
        "--framing",
        "hex",
    ];
    let refused = tickwire(&folder, &plain);
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("D5"), "{}", refused.stderr);
    let explain = [&["fast", "explain"], &plain[2..], &["--failed"]].concat();
    let explained = tickwire(&folder, &explain);
    assert!(
        explained.stdout.contains("`--default-template`"),
        "{}{}",
        explained.stdout,
        explained.stderr
    );
    let encode = ["fast", "encode", "opra.jsonl", "-t", "opra.xml"];
    let refused = tickwire(&folder, &[&encode[..], &["--framing", "hex"]].concat());
    assert!(
        refused.stderr.contains("D9") && refused.stderr.contains("`--default-template`"),
        "{}",
        refused.stderr
    );
    let unknown = tickwire(
        &folder,
        &[&plain[..], &["--default-template", "CTA"]].concat(),
    );
    assert_eq!(unknown.status, 1, "{}", unknown.stderr);
    assert!(
        unknown.stderr.contains("no template is called CTA"),
        "{}",
        unknown.stderr
    );
}
