//! What operators do that types, presence and initial values change (FAST 1.1 §6.3, §10.5.1), and the rules that only a
//! strict decoder holds senders to.

use crate::check::{check, template};
use tickwire_fast::{Code, Decoder, DecoderOptions};

#[test]
fn null_is_remembered_as_empty_and_not_as_the_initial_value() {
    check(
        r#"<uInt32 name="F" presence="optional"><increment value="7"/></uInt32>"#,
        &[
            ("C0 81", r#""F":7"#),
            ("80", r#""F":8"#),
            ("A0 80", ""),
            ("80", ""),
            ("A0 81", r#""F":0"#),
            ("80", r#""F":1"#),
        ],
    );
    check(
        r#"<string name="F" charset="unicode" presence="optional"><copy value="é"/></string>"#,
        &[
            ("C0 81", r#""F":"é""#),
            ("A0 80", ""),
            ("80", ""),
            ("A0 81", r#""F":"""#),
            ("80", r#""F":"""#),
            ("A0 83 C3 A8", r#""F":"è""#),
        ],
    );
    // A tail is the exception: of an empty entry its base is the initial value.
    check(
        r#"<string name="F" presence="optional"><tail value="ABC"/></string>"#,
        &[
            ("C0 81", r#""F":"ABC""#),
            ("A0 80", ""),
            ("80", ""),
            ("A0 C4", r#""F":"ABD""#),
        ],
    );
}

#[test]
fn copies_of_every_type() {
    let bytes = r#"<byteVector name="F"><copy/></byteVector>"#;
    check(
        bytes,
        &[
            ("E0 81 82 00 FF", r#""F":"00ff""#),
            ("80", r#""F":"00ff""#),
            ("A0 80", r#""F":"""#),
        ],
    );
    check(bytes, &[("C0 81", "D5")]);
    check(
        r#"<decimal name="F"><copy value="0.5"/></decimal>"#,
        &[
            ("C0 81", r#""F":0.5"#),
            ("A0 81 82", r#""F":2e1"#),
            ("80", r#""F":2e1"#),
        ],
    );
}

#[test]
fn constants_and_defaults_of_decimals() {
    check(
        r#"<decimal name="F" presence="optional"><constant value="-1.5"/></decimal>"#,
        &[("E0 81", r#""F":-1.5"#), ("80", "")],
    );
    check(
        r#"<decimal name="F" presence="optional"><default value="12.50"/></decimal>"#,
        &[
            ("C0 81", r#""F":12.5"#),
            ("A0 80", ""),
            ("A0 FE 85", r#""F":0.05"#),
        ],
    );
}

#[test]
fn the_smallest_int64_follows_the_largest() {
    check(
        r#"<int64 name="F"><increment value="9223372036854775807"/></int64>"#,
        &[
            ("C0 81", r#""F":9223372036854775807"#),
            ("80", r#""F":-9223372036854775808"#),
        ],
    );
}

#[test]
fn deltas_of_bytes_and_unicode() {
    // Only the subtraction length is nullable.
    check(
        r#"<byteVector name="F" presence="optional"><delta/></byteVector>"#,
        &[
            ("C0 81 81 82 01 02", r#""F":"0102""#),
            ("80 80", ""),
            ("80 82 81 FF", r#""F":"01ff""#),
        ],
    );
    check(
        r#"<string name="F" charset="unicode"><delta value="éa"/></string>"#,
        &[("C0 81 FF 81 62", r#""F":"béa""#)],
    );
}

#[test]
fn unicode_without_operator() {
    check(
        r#"<string name="F" charset="unicode" presence="optional"/>"#,
        &[
            ("C0 81 83 C3 A9", r#""F":"é""#),
            ("80 80", ""),
            ("80 81", r#""F":"""#),
        ],
    );
    check(
        r#"<string name="F" charset="unicode"/>"#,
        &[("C0 81 81 FF", "R2")],
    );
}

#[test]
fn r1_decimals_have_bounds() {
    let decimal = r#"<decimal name="F"/>"#;
    check(decimal, &[("C0 81 80 01 00 00 00 00 00 00 00 00 80", "R1")]);
    check(decimal, &[("C0 81 00 C0 81", "R1")]);
    check(decimal, &[("C0 81 C0 81", "R1")]);
}

#[test]
fn parts_of_optional_decimals() {
    check(
        r#"<decimal name="F" presence="optional"><exponent><delta value="-2"/></exponent><mantissa><delta/></mantissa></decimal>"#,
        &[
            ("C0 81 81 85", r#""F":0.05"#),
            ("80 80", ""),
            ("80 81 81", r#""F":0.06"#),
        ],
    );
    // The exponent's bit, and the mantissa's if there is an exponent.
    check(
        r#"<decimal name="F" presence="optional"><exponent><constant value="-2"/></exponent><mantissa><copy/></mantissa></decimal>"#,
        &[
            ("F0 81 85", r#""F":0.05"#),
            ("A0", r#""F":0.05"#),
            ("80", ""),
        ],
    );
    check(
        r#"<decimal name="F" presence="optional"><exponent><default value="-2"/></exponent></decimal>"#,
        &[("C0 81 85", r#""F":0.05"#), ("A0 80", "")],
    );
}

#[test]
fn lengths_with_operators() {
    let sequence = |presence: &str, operator: &str| {
        format!(
            r#"<sequence name="S" {presence}><length>{operator}</length><uInt32 name="A"/></sequence>"#
        )
    };
    check(
        &sequence(r#"presence="optional""#, "<copy/>"),
        &[
            ("E0 81 82 85", r#""S":[{"A":5}]"#),
            ("80 86", r#""S":[{"A":6}]"#),
            ("A0 80", ""),
            ("80", ""),
        ],
    );
    check(
        &sequence("", "<delta/>"),
        &[
            ("C0 81 81 85", r#""S":[{"A":5}]"#),
            ("80 80 86", r#""S":[{"A":6}]"#),
            ("80 FF", r#""S":[]"#),
        ],
    );
    check(
        &sequence("", r#"<default value="1"/>"#),
        &[("C0 81 85", r#""S":[{"A":5}]"#), ("A0 80", r#""S":[]"#)],
    );
}

/// The bit of an optional group is in the map of what is around it, and only that gives the outer group a map.
#[test]
fn groups_within_groups() {
    check(
        r#"<group name="G" presence="optional"><group name="H" presence="optional"><uInt32 name="A"/></group></group>"#,
        &[
            ("E0 81 C0 85", r#""G":{"H":{"A":5}}"#),
            ("A0 80", r#""G":{}"#),
            ("80", ""),
        ],
    );
}

#[test]
fn bytes_that_say_nothing_are_refused_only_if_strict() {
    let integer = r#"<uInt32 name="F"/>"#;
    let group = r#"<group name="G"><uInt32 name="A"><copy/></uInt32></group>"#;
    let cases: [(&str, &[u8], Code); 6] = [
        (integer, &[0xc0, 0x00, 0x81, 0x85], Code::R6),
        (integer, &[0xc0, 0x81, 0x00, 0x85], Code::R6),
        (integer, &[0x40, 0x80, 0x81, 0x85], Code::R7),
        (integer, &[0xe0, 0x81, 0x85], Code::R8),
        (group, &[0xc0, 0x81, 0xe0, 0x85], Code::R8),
        (r#"<string name="F"/>"#, &[0xc0, 0x81, 0x00, 0xc1], Code::R9),
    ];
    for (fields, bytes, code) in cases {
        let templates = template(fields);
        let decode = |strict| {
            let options = DecoderOptions {
                strict,
                ..DecoderOptions::default()
            };
            Decoder::with_options(&templates, options).decode(bytes, &mut ())
        };
        assert_eq!(decode(false), Ok(bytes.len()), "{bytes:02x?}");
        let refused = decode(true).map_err(|error| error.code);
        assert_eq!(refused, Err(code), "{bytes:02x?}");
    }
}
