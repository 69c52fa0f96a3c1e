//! Template files: what is refused, where and why, and what is taken for what.

use tickwire_fast::{
    Code, DecodeError, Decoder, DecoderOptions, Encoder, Message, Mode, TemplateId, Templates, json,
};

fn refused(xml: &str) -> (Code, u32, u32, String) {
    let error = Templates::parse(xml, Mode::Strict).unwrap_err();
    (error.code, error.line, error.column, error.detail.into())
}

/// Wraps a field in a template, on line 2 from column 1.
fn field(xml: &str) -> String {
    format!("<template name=\"T\" id=\"1\">\n{xml}</template>")
}

fn decode(decoder: &mut Decoder, bytes: &[u8]) -> Result<String, DecodeError> {
    let mut message = Message::new();
    decoder.decode(bytes, &mut message)?;
    let mut text = String::new();
    json::write(&message, &mut text).unwrap();
    Ok(text)
}

#[test]
fn s1_to_s5_have_line_and_column() {
    let cases = [
        (
            "<uInt32 name=\"F\"><tail/></uInt32>",
            Code::S2,
            18,
            "tail on uInt32 F",
        ),
        (
            "<string name=\"F\"><increment/></string>",
            Code::S2,
            18,
            "increment on string F",
        ),
        (
            "<decimal name=\"F\"><increment/></decimal>",
            Code::S2,
            19,
            "increment on decimal F",
        ),
        (
            "<uInt32 name=\"F\"><copy value=\"-1\"/></uInt32>",
            Code::S3,
            18,
            "\"-1\" for uInt32 F",
        ),
        (
            "<decimal name=\"F\"><exponent><copy value=\"64\"/></exponent></decimal>",
            Code::S3,
            29,
            "\"64\" for int32 F",
        ),
        ("<uInt32 name=\"F\"><constant/></uInt32>", Code::S4, 18, "F"),
        ("<uInt32 name=\"F\"><default/></uInt32>", Code::S5, 18, "F"),
        (
            "<uInt32 name=\"F\"><constant value=\"1\" key=\"K\"/></uInt32>",
            Code::S1,
            38,
            "constant has no attribute key",
        ),
        (
            "<sequence name=\"F\"><length/><length/></sequence>",
            Code::S1,
            29,
            "F has two lengths",
        ),
        ("<uInt32/>", Code::S1, 1, "uInt32 without name"),
        (
            "<uInt32 name=\"F\" presence=\"maybe\"/>",
            Code::S1,
            1,
            "presence \"maybe\"",
        ),
        (
            "<uInt32 name=\"F\" presense=\"optional\"/>",
            Code::S1,
            18,
            "uInt32 has no attribute presense",
        ),
        (
            "<uInt32 name=\"F\"><copy/><delta/></uInt32>",
            Code::S1,
            25,
            "F has two operators",
        ),
        (
            "<uInt32 name=\"F\"><paste/></uInt32>",
            Code::S1,
            18,
            "paste is not a field operator",
        ),
        (
            "<float name=\"F\"/>",
            Code::S1,
            1,
            "element float is not a field of FAST",
        ),
        (
            "<uInt16 name=\"F\"/>",
            Code::S1,
            1,
            "uInt16 is a dialect: FAST has integers of 32 and 64 bits",
        ),
        (
            "<uInt32 name=\"F\"/>\u{a0}",
            Code::S1,
            19,
            "U+00A0 NO-BREAK SPACE, which XML does not take for a blank",
        ),
        (
            "<uInt32\u{a0}name=\"F\"/>",
            Code::S1,
            8,
            "U+00A0 NO-BREAK SPACE, which XML does not take for a blank",
        ),
        (
            "<uInt32 name=\"F\"/>;",
            Code::S1,
            19,
            "character U+003B between elements",
        ),
        ("<templateRef name=\"X\"/>", Code::D8, 1, "X"),
        (
            "<templateRef name=\"T\"/>",
            Code::S1,
            1,
            "template T contains itself",
        ),
    ];
    for (xml, code, column, detail) in cases {
        assert_eq!(
            refused(&field(xml)),
            (code, 2, column, detail.to_owned()),
            "{xml}"
        );
    }
    let (code, line, ..) = refused("<templates>\n<template name='A'>\n</templates>");
    assert_eq!((code, line), (Code::S1, 3));
    assert_eq!(refused("<a/>").3, "root element a, not templates");
    assert_eq!(
        refused("<templates><template name='A' id='x'/></templates>").3,
        "id \"x\" is not a 32-bit number"
    );
    assert_eq!(
        refused("<templates><template name='A' id='1'/><template name='B' id='1'/></templates>").3,
        "two templates have the id 1"
    );
    assert_eq!(
        refused("<templates><template name='A'/><template name='A'/></templates>").3,
        "two templates are called A"
    );
}

#[test]
fn lenient_mode_takes_the_dialects() {
    let xml = "<template name=\"T\" id=\"1\" reset=\"Y\">\u{a0}<uInt8\u{a0}name=\"A\"/><int16 name=\"B\" decimalPlaces=\"2\"/><!--\u{a0}-->
        <string name=\"C\" charset=\"unicode\"><constant value=\"a\u{a0}b\"/></string></template>";
    assert_eq!(refused(xml).2, 37);
    let templates = Templates::parse(xml, Mode::Lenient).unwrap();
    assert!(templates.by_id(TemplateId(1)).unwrap().resets());
    let mut decoder = Decoder::new(&templates);
    assert_eq!(
        decode(&mut decoder, &[0xc0, 0x81, 0x01, 0xff, 0x81]).unwrap(),
        "{\"template\":\"T\",\"A\":255,\"B\":1,\"C\":\"a\u{a0}b\"}"
    );
    // D2: 256 is no uInt8.
    let error = decode(&mut decoder, &[0xc0, 0x81, 0x02, 0x80, 0x81]).unwrap_err();
    assert_eq!(
        (error.code, error.offset, error.field.as_deref()),
        (Code::D2, 2, Some("A"))
    );
    assert_eq!(
        error.to_string(),
        "byte 2, template T, field A: D2: integer out of the range of its type"
    );
}

#[test]
fn d9_unknown_template_and_d5_missing_template_id() {
    let templates = Templates::parse(&field("<uInt32 name='A'/>"), Mode::Strict).unwrap();
    for (bytes, code, offset) in [
        (&[0xc0, 0x85][..], Code::D9, 1),
        (&[0x80, 0x81], Code::D5, 1),
        (&[], Code::Truncated, 0),
    ] {
        let error = decode(&mut Decoder::new(&templates), bytes).unwrap_err();
        assert_eq!(
            (error.code, error.offset, error.template),
            (code, offset, None)
        );
    }
}

#[test]
fn sequences_that_cost_nothing_are_bounded() {
    let xml = field(
        "<sequence name='S'><sequence name='R'><length><constant value='4000000000'/></length><uInt32 name='A'><constant value='1'/></uInt32></sequence></sequence>",
    );
    let mut decoder = Decoder::new(&Templates::parse(&xml, Mode::Strict).unwrap());
    let error = decode(&mut decoder, &[0xc0, 0x81, 0x81]).unwrap_err();
    assert_eq!(
        (error.code, error.field.as_deref(), error.element),
        (Code::Limit, Some("S.R"), Some(0))
    );
    let xml = field("<sequence name='S'><uInt32 name='A'/></sequence>");
    let mut decoder = Decoder::new(&Templates::parse(&xml, Mode::Strict).unwrap());
    let error = decode(
        &mut decoder,
        &[0xc0, 0x81, 0x0f, 0x7f, 0x7f, 0x7f, 0xff, 0x81],
    )
    .unwrap_err();
    assert_eq!(
        (error.code, error.field.as_deref()),
        (Code::Truncated, Some("S"))
    );
}

#[test]
fn strings_copied_from_the_dictionary_are_bounded() {
    let xml = field("<sequence name='S'><length/><string name='A'><copy/></string></sequence>");
    let templates = Templates::parse(&xml, Mode::Strict).unwrap();
    let mut decoder = Decoder::with_options(
        &templates,
        DecoderOptions {
            budget: 1000,
            ..DecoderOptions::default()
        },
    );
    let text = [vec![0x41; 99], vec![0xc1]].concat();
    let message = |copies: u8| {
        [
            vec![0xc0, 0x81, 0x80 | (copies + 1), 0xc0],
            text.clone(),
            vec![0x80; copies.into()],
        ]
        .concat()
    };
    assert!(decode(&mut decoder, &message(10)).is_ok());
    assert_eq!(
        decode(&mut decoder, &message(11)).unwrap_err().code,
        Code::Limit
    );
}

#[test]
fn plans_are_shared_between_threads() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Templates>();
    is_send_and_sync::<Decoder>();
    is_send_and_sync::<Encoder>();
    is_send_and_sync::<Message>();
}

/// The error shows the line and a caret under the place.
#[test]
fn errors_show_their_place() {
    let error = |xml: &str, mode| Templates::parse(xml, mode).unwrap_err().to_string();
    assert_eq!(
        error(
            "<template name='T'>\n\t<string name='é'><increment/></string></template>",
            Mode::Strict
        ),
        "line 2 column 19: S2: the operator is not applicable to the field's type (increment on string é)\n  |\n\
         2 | \t<string name='é'><increment/></string></template>\n  | \t                 ^"
    );
    // The XML parser's errors, too; also at the end.
    assert_eq!(
        error(
            "<templates>\n  <template name='A'>\n</templates>",
            Mode::Lenient
        ),
        "line 3 column 1: S1: the template XML is not valid (expected 'template' tag, not 'templates')\n  |\n\
         3 | </templates>\n  | ^"
    );
    assert_eq!(
        error("", Mode::Strict),
        "line 1 column 1: S1: the template XML is not valid (the document does not have a root node)\n  |\n1 | \n  | ^"
    );
}

/// Characters from documents and web pages: named in strict mode, taken for what was meant in lenient mode.
#[test]
fn pasted_characters() {
    let plain = "<template name=\"T\" id=\"1\"> <uInt32 name=\"A\"/> </template>";
    let count = |xml: &str| Templates::parse(xml, Mode::Lenient).map(|t| t.field_count());
    for (xml, column, name) in [
        (
            plain.replace("> <", ">\u{a0}<"),
            27,
            "U+00A0 NO-BREAK SPACE, which XML does not take for a blank",
        ),
        (
            plain.replace("uInt32 ", "uInt32\u{3000}"),
            35,
            "U+3000 IDEOGRAPHIC SPACE, which XML does not take for a blank",
        ),
        (
            plain.replace("uInt32", "uInt\u{200b}32"),
            33,
            "U+200B ZERO WIDTH SPACE, which XML does not skip",
        ),
        (
            plain.replace("<uInt", "\u{feff}<uInt"),
            28,
            "U+FEFF ZERO WIDTH NO-BREAK SPACE, which XML does not skip",
        ),
        (
            plain.replace("\"A\"", "\u{201c}A\u{201d}"),
            41,
            "U+201C LEFT DOUBLE QUOTATION MARK, which XML does not take for \"",
        ),
        (
            plain.replace("\"A\"", "\u{2018}A\u{2019}"),
            41,
            "U+2018 LEFT SINGLE QUOTATION MARK, which XML does not take for '",
        ),
        (
            plain.replace("<uInt", "\u{ff1c}uInt"),
            28,
            "U+FF1C FULLWIDTH LESS-THAN SIGN, which XML does not take for <",
        ),
        (
            plain.replace("=\"A", "\u{ff1d}\"A"),
            40,
            "U+FF1D FULLWIDTH EQUALS SIGN, which XML does not take for =",
        ),
        (
            plain.replace("32", "３２"),
            33,
            "U+FF13 FULLWIDTH DIGIT THREE, which XML does not take for 3",
        ),
        (
            plain.replace("\"A\"", "\"A\u{200b}\""),
            43,
            "U+200B ZERO WIDTH SPACE, which XML does not skip",
        ),
    ] {
        assert_eq!(
            refused(&xml),
            (Code::S1, 1, column, name.to_owned()),
            "{xml}"
        );
        let templates = Templates::parse(&xml, Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
        let template = templates.by_name("T").unwrap();
        assert!(template.field("A").is_some(), "{xml}");
    }
    // A byte order mark is XML's own. Comments and values keep what they have.
    assert_eq!(count(&format!("\u{feff}{plain}")).unwrap(), 1);
    assert!(
        Templates::parse(
            &format!("\u{feff}{plain}<!-- \u{a0}\u{201c} -->"),
            Mode::Strict
        )
        .is_ok()
    );
    let value = field("<string name='A' charset='unicode'><constant value='“a\u{a0}b”'/></string>");
    for mode in [Mode::Strict, Mode::Lenient] {
        let templates = Templates::parse(&value, mode).unwrap();
        let text = decode(&mut Decoder::new(&templates), &[0xc0, 0x81]).unwrap();
        assert_eq!(text, "{\"template\":\"T\",\"A\":\"“a\u{a0}b”\"}");
    }
    // Places are those in the file, whatever was mended before them.
    let xml = "\u{feff}<template name='T' id='1'>\u{a0}\u{200b}\u{200b}<uInt32 name='A'><paste/></uInt32></template>";
    let error = Templates::parse(xml, Mode::Lenient).unwrap_err();
    assert_eq!((error.line, error.column), (1, 47));
}

/// What QuickFAST, mFAST and venues' files have that the standard has not.
#[test]
fn dialects() {
    let in_file = |inner: &str| {
        format!("<templates><template name='T' id='1'>{inner}</template></templates>")
    };
    for (xml, detail) in [
        // SPECTRA and mFAST's tests: a prefix that nobody declares.
        (
            "<templates><template name='T' id='1' reset='T' scp:reset='yes'><uInt32 name='A'/></template></templates>".to_owned(),
            "an unknown namespace prefix 'scp'",
        ),
        // mFAST's tests: a declaration that is none; one behind a comment.
        (
            format!("<?xml version=\\\" 1.0 \\\"?>{}", in_file("<uInt32 name='A'/>")),
            "expected a quote not '\\'",
        ),
        (
            format!("<!-- c --><?xml version='1.0'?>{}", in_file("<uInt32 name='A'/>")),
            "unexpected XML declaration",
        ),
        // QuickFAST's tests: characters left over; "nop"; capitals; attributes of its own.
        (in_file("\"<uInt32 name='A'/>"), "character U+0022 between elements"),
        (in_file("<uInt32 name='A'><nop/></uInt32>"), "nop is not a field operator"),
        (in_file("<uint32 NAME='A'/>"), "element uint32 is not a field of FAST"),
        (in_file("<uInt32 name='A' presence='Mandatory'/>"), "presence \"Mandatory\""),
        (in_file("<uInt32 name='A' ignore_overflows='yes'/>"), "uInt32 has no attribute ignore_overflows"),
        (in_file("<int8 name='A'/>"), "int8 is a dialect: FAST has integers of 32 and 64 bits"),
        // mFAST: views, vectors, sequences of one field without a name.
        ("<templates><view reference='T'/><template name='T' id='1'><uInt32 name='A'/></template></templates>".to_owned(), "element view in templates"),
        (
            "<templates><define name='D'><uInt32/></define><template name='T' id='1'><D name='A'/></template></templates>".to_owned(),
            "element D is not a field of FAST",
        ),
        (in_file("<sequence name='A'><uInt32/></sequence>"), "uInt32 without name"),
        (in_file("<int32Vector name='A'/>"), "int32Vector is a dialect: FAST has sequences"),
    ] {
        assert_eq!(refused(&xml).3, detail, "{xml}");
        let templates = Templates::parse(&xml, Mode::Lenient).unwrap_or_else(|e| panic!("{e}"));
        let template = templates.by_name("T").unwrap();
        assert!(template.field("A").is_some(), "{xml}");
        assert_eq!(template.resets(), xml.contains("reset"), "{xml}");
    }
}

/// S2: every operator on every type that does not have it, and only there (§6.3).
#[test]
fn s2_operators_and_types() {
    let has = |operator: &str, element: &str| match operator {
        "increment" => element.starts_with("int") || element.starts_with("uInt"),
        "tail" => matches!(element, "string" | "byteVector"),
        _ => true,
    };
    let elements = [
        "int32",
        "uInt32",
        "int64",
        "uInt64",
        "decimal",
        "string",
        "byteVector",
    ];
    for element in elements {
        for operator in ["constant", "default", "copy", "increment", "delta", "tail"] {
            let value = if matches!(element, "string" | "byteVector") {
                ""
            } else {
                "1"
            };
            let xml = field(&format!(
                "<{element} name='F'><{operator} value='{value}'/></{element}>"
            ));
            let code = Templates::parse(&xml, Mode::Strict)
                .map(|_| ())
                .map_err(|e| e.code);
            let expected = if has(operator, element) {
                Ok(())
            } else {
                Err(Code::S2)
            };
            assert_eq!(code, expected, "{operator} on {element}");
        }
    }
    // A length, an exponent and a mantissa are integers: all but tail.
    for operator in ["constant", "default", "copy", "increment", "delta", "tail"] {
        for (before, after) in [
            ("<sequence name='F'><length>", "</length></sequence>"),
            ("<decimal name='F'><exponent>", "</exponent></decimal>"),
            ("<decimal name='F'><mantissa>", "</mantissa></decimal>"),
        ] {
            let xml = field(&format!("{before}<{operator} value='1'/>{after}"));
            let code = Templates::parse(&xml, Mode::Strict)
                .map(|_| ())
                .map_err(|e| e.code);
            let expected = if operator == "tail" {
                Err(Code::S2)
            } else {
                Ok(())
            };
            assert_eq!(code, expected, "{before}{operator}");
        }
    }
}

/// S3: initial values that their type cannot hold (§6.3.2, appendix 3).
#[test]
fn s3_initial_values() {
    for (element, bad) in [
        (
            "int32",
            &["2147483648", "-2147483649", "1.0", "", "0x1", "1 2", "+1"][..],
        ),
        ("uInt32", &["4294967296", "-1", "a"]),
        ("int64", &["9223372036854775808", "1e3"]),
        ("uInt64", &["18446744073709551616", "-0x"]),
        ("decimal", &["9223372036854775808", "1,5", ".", "e", "--1"]),
        ("string", &["\u{e9}"]),
        ("byteVector", &["0", "0g", "x"]),
    ] {
        for operator in ["constant", "default", "copy", "delta"] {
            for value in bad {
                let xml = field(&format!(
                    "<{element} name='F'><{operator} value='{value}'/></{element}>"
                ));
                let code = Templates::parse(&xml, Mode::Strict)
                    .map(|_| ())
                    .map_err(|e| e.code);
                assert_eq!(code, Err(Code::S3), "{operator} {value:?} on {element}");
            }
        }
    }
}

/// S4 and S5: a constant needs a value, and so does a default that is mandatory; whatever the type or part.
#[test]
fn s4_and_s5_values_that_are_missing() {
    for element in ["int32", "uInt64", "decimal", "string", "byteVector"] {
        for (operator, presence, expected) in [
            ("constant", "mandatory", Err(Code::S4)),
            ("constant", "optional", Err(Code::S4)),
            ("default", "mandatory", Err(Code::S5)),
            ("default", "optional", Ok(())),
            ("copy", "mandatory", Ok(())),
        ] {
            let xml = field(&format!(
                "<{element} name='F' presence='{presence}'><{operator}/></{element}>"
            ));
            let code = Templates::parse(&xml, Mode::Strict)
                .map(|_| ())
                .map_err(|e| e.code);
            assert_eq!(code, expected, "{presence} {operator} on {element}");
        }
    }
    // A mantissa is mandatory whatever its decimal is (§10.5.1).
    let mantissa = field(
        "<decimal name='F' presence='optional'><exponent><default/></exponent><mantissa><default/></mantissa></decimal>",
    );
    assert_eq!(refused(&mantissa).0, Code::S5);
    let length =
        field("<sequence name='F' presence='optional'><length><default/></length></sequence>");
    assert!(Templates::parse(&length, Mode::Strict).is_ok());
}

/// Presence maps of any length, and templates with thousands of fields.
#[test]
fn presence_maps_have_any_length() {
    for count in [6, 7, 63, 64, 65, 70, 1000, 20_000] {
        let fields: String = (0..count)
            .map(|n| format!("<uInt32 name='F{n}' presence='optional'><copy/></uInt32>"))
            .collect();
        let templates = Templates::parse(&field(&fields), Mode::Strict).unwrap();
        assert_eq!(templates.field_count(), count);
        let template = templates.by_name("T").unwrap();
        assert_eq!(template.map_bits() as usize, count + 1);
        let options = DecoderOptions {
            strict: true,
            ..DecoderOptions::default()
        };
        let mut decoder = Decoder::with_options(&templates, options);
        let mut encoder = Encoder::new(&templates);
        // None, the first, the last, all; then as before, which takes one byte.
        for present in [&[][..], &[0], &[count - 1], &(0..count).collect::<Vec<_>>()] {
            let mut message = Message::new();
            let mut builder = message.build(template);
            for n in present {
                builder.set(&format!("F{n}"), *n as u32 + 1).unwrap();
            }
            let (mut bytes, mut decoded) = (Vec::new(), Message::new());
            encoder.encode(&message, &mut bytes).unwrap();
            assert_eq!(decoder.decode(&bytes, &mut decoded), Ok(bytes.len()));
            assert!(
                decoded == message,
                "{count} fields, {} present",
                present.len()
            );
            let map_bytes = bytes.iter().take_while(|byte| **byte < 0x80).count() + 1;
            assert!(map_bytes <= (count + 1).div_ceil(7));
            bytes.clear();
            encoder.encode(&message, &mut bytes).unwrap();
            assert_eq!(bytes, [0x80]);
            assert_eq!(decoder.decode(&bytes, &mut decoded), Ok(1));
            assert!(decoded == message);
        }
    }
}

/// A small file whose types are used again and again stops at a bound, not after all of the work.
#[test]
fn types_that_multiply_are_bounded() {
    let elements: String = (0..20_000)
        .map(|n| format!("<element name='e{n}'/>"))
        .collect();
    let uses: String = (0..20_000)
        .map(|n| format!("<field name='F{n}'><type name='E'/></field>"))
        .collect();
    let xml = format!(
        "<templates><define name='E'><enum>{elements}</enum></define><template name='T'>{uses}</template></templates>"
    );
    assert_eq!(
        refused(&xml).3,
        "references lead to more than 1000000 nodes"
    );
    let level = |n: u32| {
        let inner = format!("<field name='A'><type name='L{}'/></field>", n + 1).repeat(10);
        format!("<define name='L{n}'><group>{inner}</group></define>")
    };
    let levels: String = (0..10).map(level).collect();
    let xml = format!(
        "<templates>{levels}<define name='L10'><uInt32/></define><template name='T'><field name='A'><type name='L0'/></field></template></templates>"
    );
    assert_eq!(refused(&xml).3, "more than 100000 instructions");
}
