//! Every operator in every state of its dictionary entry (FAST 1.1 §6.3), decoded from the bytes that the standard's
//! appendix 3.2 or its rules give, and encoded back to the same bytes.

use crate::check::{check, template};
use tickwire_fast::{Code, Encoder, Message};

#[test]
fn none() {
    check(
        r#"<uInt32 name="F"/>"#,
        &[("C0 81 85", r#""F":5"#), ("80 86", r#""F":6"#)],
    );
    check(
        r#"<uInt32 name="F" presence="optional"/>"#,
        &[("C0 81 86", r#""F":5"#), ("80 80", "")],
    );
    check(
        r#"<decimal name="F"/>"#,
        &[("C0 81 82 39 45 A3", r#""F":942755e2"#)],
    );
    check(
        r#"<decimal name="F"/>"#,
        &[("C0 81 FE 39 45 A3", r#""F":9427.55"#)],
    );
    // Only the exponent is nullable.
    check(
        r#"<decimal name="F" presence="optional"/>"#,
        &[("C0 81 83 39 45 A3", r#""F":942755e2"#), ("80 80", "")],
    );
}

#[test]
fn constant() {
    check(
        r#"<uInt32 name="F"><constant value="7"/></uInt32>"#,
        &[("C0 81", r#""F":7"#), ("80", r#""F":7"#)],
    );
    let optional = r#"<uInt32 name="F" presence="optional"><constant value="7"/></uInt32>"#;
    check(
        optional,
        &[("E0 81", r#""F":7"#), ("80", ""), ("A0", r#""F":7"#)],
    );
    check(
        r#"<string name="F"><constant value="x y"/></string>"#,
        &[("C0 81", r#""F":"x y""#)],
    );
}

#[test]
fn default() {
    let mandatory = r#"<uInt32 name="F"><default value="7"/></uInt32>"#;
    check(
        mandatory,
        &[
            ("C0 81", r#""F":7"#),
            ("A0 88", r#""F":8"#),
            ("80", r#""F":7"#),
        ],
    );
    let optional = r#"<uInt32 name="F" presence="optional"><default value="7"/></uInt32>"#;
    check(
        optional,
        &[("C0 81", r#""F":7"#), ("A0 80", ""), ("A0 89", r#""F":8"#)],
    );
    let nothing = r#"<string name="F" presence="optional"><default/></string>"#;
    check(
        nothing,
        &[
            ("C0 81", ""),
            ("A0 00 80", r#""F":"""#),
            ("A0 C1", r#""F":"A""#),
        ],
    );
    check(
        r#"<decimal name="F"><default value="12.50"/></decimal>"#,
        &[("C0 81", r#""F":12.5"#)],
    );
}

#[test]
fn copy() {
    let plain = r#"<uInt32 name="F"><copy/></uInt32>"#;
    check(
        plain,
        &[
            ("E0 81 85", r#""F":5"#),
            ("80", r#""F":5"#),
            ("A0 86", r#""F":6"#),
            ("80", r#""F":6"#),
        ],
    );
    // D5: undefined, no initial value.
    check(plain, &[("C0 81", "D5")]);
    let initial = r#"<uInt32 name="F"><copy value="7"/></uInt32>"#;
    check(
        initial,
        &[
            ("C0 81", r#""F":7"#),
            ("80", r#""F":7"#),
            ("A0 81", r#""F":1"#),
        ],
    );
    // Optional: undefined without initial value becomes empty; NULL makes empty; empty is absent, not initial.
    let optional = r#"<uInt32 name="F" presence="optional"><copy value="7"/></uInt32>"#;
    check(
        optional,
        &[
            ("C0 81", r#""F":7"#),
            ("A0 80", ""),
            ("80", ""),
            ("A0 88", r#""F":7"#),
            ("80", r#""F":7"#),
        ],
    );
    check(
        r#"<uInt32 name="F" presence="optional"><copy/></uInt32>"#,
        &[("C0 81", ""), ("80", ""), ("A0 81", r#""F":0"#)],
    );
    let text = r#"<string name="F"><copy/></string>"#;
    check(
        text,
        &[
            ("E0 81 43 4D C5", r#""F":"CME""#),
            ("80", r#""F":"CME""#),
            ("A0 80", r#""F":"""#),
            ("80", r#""F":"""#),
        ],
    );
    check(text, &[("C0 81", "D5")]);
    let decimal = r#"<decimal name="F" presence="optional"><copy/></decimal>"#;
    check(
        decimal,
        &[
            ("E0 81 FE 85", r#""F":0.05"#),
            ("80", r#""F":0.05"#),
            ("A0 80", ""),
            ("80", ""),
        ],
    );
}

#[test]
fn increment() {
    let plain = r#"<uInt32 name="F"><increment/></uInt32>"#;
    check(
        plain,
        &[
            ("E0 81 81", r#""F":1"#),
            ("80", r#""F":2"#),
            ("80", r#""F":3"#),
            ("A0 81", r#""F":1"#),
        ],
    );
    check(plain, &[("C0 81", "D5")]);
    // The initial value itself comes first.
    check(
        r#"<uInt32 name="F"><increment value="7"/></uInt32>"#,
        &[("C0 81", r#""F":7"#), ("80", r#""F":8"#)],
    );
    // The largest value is followed by the smallest.
    check(
        r#"<int32 name="F"><increment value="2147483647"/></int32>"#,
        &[("C0 81", r#""F":2147483647"#), ("80", r#""F":-2147483648"#)],
    );
    check(
        r#"<uInt64 name="F"><increment value="18446744073709551615"/></uInt64>"#,
        &[("C0 81", r#""F":18446744073709551615"#), ("80", r#""F":0"#)],
    );
    let optional = r#"<uInt32 name="F" presence="optional"><increment/></uInt32>"#;
    check(
        optional,
        &[
            ("E0 81 82", r#""F":1"#),
            ("80", r#""F":2"#),
            ("A0 80", ""),
            ("80", ""),
        ],
    );
}

#[test]
fn integer_delta() {
    // The standard's example: 942755, 942753, 942756, 942755.
    check(
        r#"<int32 name="F"><delta/></int32>"#,
        &[
            ("C0 81 39 45 A3", r#""F":942755"#),
            ("80 FE", r#""F":942753"#),
            ("80 83", r#""F":942756"#),
            ("80 FF", r#""F":942755"#),
        ],
    );
    check(
        r#"<uInt32 name="F"><delta value="10"/></uInt32>"#,
        &[("C0 81 FF", r#""F":9"#), ("80 80", r#""F":9"#)],
    );
    // NULL leaves the previous value.
    let optional = r#"<uInt32 name="F" presence="optional"><delta/></uInt32>"#;
    check(
        optional,
        &[
            ("C0 81 86", r#""F":5"#),
            ("80 80", ""),
            ("80 81", r#""F":5"#),
        ],
    );
    // One bit more than the type: from 4294967295 to 17.
    check(
        r#"<uInt32 name="F"><delta value="4294967295"/></uInt32>"#,
        &[("C0 81 70 00 00 00 92", r#""F":17"#), ("80 EE", "R4")],
    );
    check(
        r#"<uInt64 name="F"><delta value="18446744073709551615"/></uInt64>"#,
        &[("C0 81 81", "R4")],
    );
    check(
        r#"<int64 name="F"><delta value="-9223372036854775808"/></int64>"#,
        &[("C0 81 FF", "R4")],
    );
}

#[test]
fn decimal_delta() {
    check(
        r#"<decimal name="F"><delta/></decimal>"#,
        &[
            ("C0 81 FE 39 45 A3", r#""F":9427.55"#),
            ("80 80 FB", r#""F":9427.50"#),
            ("80 FF 85", r#""F":942.755"#),
        ],
    );
    // The initial value is normalized: 12·10^3.
    check(
        r#"<decimal name="F"><delta value="12000"/></decimal>"#,
        &[("C0 81 FF 81", r#""F":13e2"#)],
    );
    check(
        r#"<decimal name="F" presence="optional"><delta value="12000"/></decimal>"#,
        &[("C0 81 80", ""), ("80 81 80", r#""F":12e3"#)],
    );
    check(
        r#"<decimal name="F"><delta/></decimal>"#,
        &[("C0 81 BF 80", r#""F":0e63"#), ("80 81 80", "R1")],
    );
}

#[test]
fn string_delta() {
    // The standard's example: back, back, and front with "negative zero".
    check(
        r#"<string name="F"><delta/></string>"#,
        &[
            ("C0 81 80 47 45 48 B6", r#""F":"GEH6""#),
            ("80 82 4D B6", r#""F":"GEM6""#),
            ("80 FD 45 D3", r#""F":"ESM6""#),
            ("80 FF 52 53 59 AD", r#""F":"RSY-ESM6""#),
            ("80 85 80", r#""F":"RSY""#),
            ("80 84 80", "D7"),
        ],
    );
    let optional = r#"<string name="F" presence="optional"><delta value="AB"/></string>"#;
    check(
        optional,
        &[
            ("C0 81 81 80", r#""F":"AB""#),
            ("80 80", ""),
            ("80 82 C3", r#""F":"AC""#),
            ("80 FC 80", "D7"),
        ],
    );
    // A delta may cut a character in two; the result is checked.
    let unicode = r#"<string name="F" charset="unicode"><delta/></string>"#;
    check(
        unicode,
        &[
            ("C0 81 80 82 C3 A9", r#""F":"é""#),
            ("80 81 81 A8", r#""F":"è""#),
            ("80 81 80", "R2"),
        ],
    );
    let bytes = r#"<byteVector name="F"><delta value="01 02"/></byteVector>"#;
    check(
        bytes,
        &[
            ("C0 81 81 81 FF", r#""F":"01ff""#),
            ("80 FE 80", r#""F":"ff""#),
        ],
    );
    check(bytes, &[("C0 81 0F 7F 7F 7F FF 80", "D7")]);
}

#[test]
fn tail() {
    let plain = r#"<string name="F"><tail/></string>"#;
    check(
        plain,
        &[
            ("E0 81 47 45 48 B6", r#""F":"GEH6""#),
            ("A0 4D B6", r#""F":"GEM6""#),
            ("80", r#""F":"GEM6""#),
            ("A0 4C 4F 4E 47 45 D2", r#""F":"LONGER""#),
        ],
    );
    // §6.3.8 says D6 where appendix 4 says D5.
    check(plain, &[("C0 81", "D6")]);
    let initial = r#"<string name="F"><tail value="ABC"/></string>"#;
    check(
        initial,
        &[("C0 81", r#""F":"ABC""#), ("A0 C4", r#""F":"ABD""#)],
    );
    let optional = r#"<string name="F" presence="optional"><tail/></string>"#;
    check(
        optional,
        &[
            ("C0 81", ""),
            ("A0 C4", r#""F":"D""#),
            ("A0 80", ""),
            ("80", ""),
        ],
    );
    let bytes = r#"<byteVector name="F"><tail value="0102"/></byteVector>"#;
    check(
        bytes,
        &[("E0 81 81 FF", r#""F":"01ff""#), ("80", r#""F":"01ff""#)],
    );
    check(
        r#"<string name="F" charset="unicode"><tail value="é"/></string>"#,
        &[("E0 81 81 28", "R2")],
    );
}

/// §10.5.1: exponent nullable, mantissa a mandatory int64 whose bit is there only with an exponent. The standard prints
/// `39 45 A4` for the first mantissa of its extended example, which would be the nullable form.
#[test]
fn decimal_with_two_operators() {
    let copies = r#"<decimal name="F" presence="optional"><exponent><copy/></exponent><mantissa><copy/></mantissa></decimal>
        <uInt32 name="G"><copy/></uInt32>"#;
    check(
        copies,
        &[
            ("F8 81 FE 39 45 A3 81", r#""F":9427.55,"G":1"#),
            ("90 39 45 A8", r#""F":9427.60,"G":1"#),
            ("80", r#""F":9427.60,"G":1"#),
            // NULL exponent: the next bit is G's.
            ("B0 80 82", r#""G":2"#),
            ("80", r#""G":2"#),
        ],
    );
    let golden = r#"<decimal name="F"><exponent><default value="0"/></exponent><mantissa><delta/></mantissa></decimal>"#;
    check(
        golden,
        &[
            ("C0 81 9A", r#""F":26"#),
            ("80 81", r#""F":27"#),
            ("A0 FE 81", r#""F":0.28"#),
        ],
    );
    let one_part = r#"<decimal name="F"><exponent><constant value="-2"/></exponent></decimal>"#;
    check(one_part, &[("C0 81 85", r#""F":0.05"#)]);
    let wide = r#"<decimal name="F"><exponent><delta/></exponent></decimal>"#;
    check(wide, &[("C0 81 00 C0 80", "R1")]);
}

#[test]
fn d3_a_fixed_exponent_loses_no_digits() {
    let templates = template(
        r#"<decimal name="F"><exponent><constant value="-2"/></exponent><mantissa/></decimal>"#,
    );
    let mut encoder = Encoder::new(&templates);
    let mut encode = |text: &str| {
        let mut message = Message::new();
        let value: tickwire_fast::Decimal = text.parse().unwrap();
        message
            .build(templates.by_name("T").unwrap())
            .set("F", value)
            .unwrap();
        let mut out = Vec::new();
        encoder.reset();
        encoder
            .encode(&message, &mut out)
            .map(|()| out)
            .map_err(|error| error.code)
    };
    assert_eq!(encode("0.1"), Ok(vec![0xc0, 0x81, 0x8a]));
    assert_eq!(encode("0.100"), Ok(vec![0xc0, 0x81, 0x8a]));
    assert_eq!(encode("0.001"), Err(Code::D3));
    assert_eq!(encode("9223372036854775807"), Err(Code::D3));
}

#[test]
fn optional_groups_take_a_bit_and_keep_their_entries() {
    let fields = r#"<group name="G" presence="optional"><uInt32 name="A"><copy/></uInt32></group>
        <group name="H"><uInt32 name="B"/></group>"#;
    check(
        fields,
        &[
            ("E0 81 C0 85 81", r#""G":{"A":5},"H":{"B":1}"#),
            ("80 81", r#""H":{"B":1}"#),
            // Still 5: an absent group does not touch its fields' entries.
            ("A0 80 81", r#""G":{"A":5},"H":{"B":1}"#),
        ],
    );
}

#[test]
fn sequences_and_their_lengths() {
    let plain = r#"<sequence name="S"><uInt32 name="A"/></sequence>"#;
    check(
        plain,
        &[
            ("C0 81 82 85 86", r#""S":[{"A":5},{"A":6}]"#),
            ("80 80", r#""S":[]"#),
        ],
    );
    let optional = r#"<sequence name="S" presence="optional"><uInt32 name="A"><increment/></uInt32></sequence>"#;
    // Elements share their entries.
    check(
        optional,
        &[
            ("C0 81 83 C0 85 80", r#""S":[{"A":5},{"A":6}]"#),
            ("80 80", ""),
            ("80 81", r#""S":[]"#),
        ],
    );
    let copied =
        r#"<sequence name="S"><length name="N"><copy/></length><uInt32 name="A"/></sequence>"#;
    check(
        copied,
        &[
            ("E0 81 81 85", r#""S":[{"A":5}]"#),
            ("80 86", r#""S":[{"A":6}]"#),
        ],
    );
    let constant = r#"<sequence name="S" presence="optional"><length><constant value="1"/></length><uInt32 name="A"/></sequence>"#;
    check(constant, &[("E0 81 85", r#""S":[{"A":5}]"#), ("80", "")]);
    let nested =
        r#"<sequence name="S"><sequence name="R"><uInt32 name="A"/></sequence></sequence>"#;
    check(
        nested,
        &[("C0 81 82 81 85 80", r#""S":[{"R":[{"A":5}]},{"R":[]}]"#)],
    );
}

#[test]
fn shared_keys() {
    let fields = |one: &str, other: &str| {
        format!(
            r#"<{one} name="A"><copy key="K"/></{one}><{other} name="B"><copy key="K"/></{other}>"#
        )
    };
    check(
        &fields("uInt32", "uInt32"),
        &[("E0 81 85", r#""A":5,"B":5"#)],
    );
    check(&fields("uInt32", "int32"), &[("E0 81 85", "D4")]);
    let empty = r#"<uInt32 name="A" presence="optional"><copy key="K"/></uInt32>"#;
    check(
        &format!(r#"{empty}<uInt32 name="B"><copy key="K"/></uInt32>"#),
        &[("C0 81", "D6")],
    );
    check(
        &format!(r#"{empty}<uInt32 name="B"><increment key="K"/></uInt32>"#),
        &[("C0 81", "D6")],
    );
    check(
        &format!(r#"{empty}<uInt32 name="B"><delta key="K"/></uInt32>"#),
        &[("C0 81 81", "D6")],
    );
    let empty = r#"<string name="A" presence="optional"><copy key="K"/></string>"#;
    check(
        &format!(r#"{empty}<string name="B"><tail key="K"/></string>"#),
        &[("C0 81", "D7")],
    );
    check(
        &format!(r#"{empty}<string name="B"><delta key="K"/></string>"#),
        &[("C0 81 80 80", "D6")],
    );
}
