//! What a visitor that traces is told of each read.

use std::ops::Range;

use tickwire_fast::{
    Code, Decoder, DecoderOptions, Mode, Part, Previous, Step, Templates, Visitor,
};

#[derive(Default)]
struct Steps(Vec<Step>);

impl Visitor for Steps {
    const TRACED: bool = true;

    fn step(&mut self, step: &Step) {
        self.0.push(step.clone());
    }
}

const XML: &str = r#"<template name="T" id="1">
    <uInt32 name="A"><copy/></uInt32>
    <sequence name="S"><string name="B"><tail/></string></sequence>
    <decimal name="C"><exponent><default value="-2"/></exponent><mantissa><delta/></mantissa></decimal>
    <uInt32 name="D"><increment value="7"/></uInt32>
</template>"#;

fn trace(packets: &[&[u8]]) -> Vec<Step> {
    let templates = Templates::parse(XML, Mode::Strict).expect("valid");
    let mut decoder = Decoder::new(&templates);
    let mut steps = Steps::default();
    for packet in packets {
        steps.0.clear();
        let _ = decoder.decode(packet, &mut steps);
    }
    steps.0
}

#[test]
fn every_part_is_told_with_bytes_bit_and_dictionary() {
    let first: &[u8] = &[0xe0, 0x81, 0x85, 0x81, 0xc0, 0x58, 0xd9, 0x83];
    let steps = trace(&[first, &[0xa0, 0x86, 0x81, 0x80, 0x81]]);
    let seen: Vec<_> = steps
        .iter()
        .map(|step| {
            let bit = step.presence.map(|bit| (bit.index, bit.set));
            (step.part, step.bytes.clone(), bit, step.integer)
        })
        .collect();
    assert_eq!(
        seen,
        [
            (Part::PresenceMap, 0..1, None, None),
            (Part::TemplateId, 1..1, Some((0, false)), Some(1)),
            (Part::Value, 1..2, Some((1, true)), Some(6)),
            (Part::Length, 2..3, None, Some(1)),
            (Part::PresenceMap, 3..4, None, None),
            (Part::Value, 4..4, Some((0, false)), None),
            (Part::Exponent, 4..4, Some((2, false)), Some(-2)),
            (Part::Mantissa, 4..5, None, Some(4)),
            (Part::Value, 5..5, Some((3, false)), Some(8)),
        ]
    );
    assert_eq!(steps[2].before, Previous::Unsigned(5));
    assert_eq!(steps[2].after, Previous::Unsigned(6));
    assert_eq!(steps[5].before, Previous::Bytes(b"XY".to_vec()));
    assert_eq!(steps[6].before, Previous::None);
    assert_eq!(steps[7].before, Previous::Signed(3));
    assert_eq!(steps[8].after, Previous::Unsigned(8));
}

/// Fields of a template, a message of it, and the error that ends the message: its code, part, field and bytes.
type Refusal<'a> = (&'a str, &'a [u8], Code, Part, &'a str, Range<usize>);

#[test]
fn every_error_is_the_last_step() {
    let number = "<uInt32 name='A'/>";
    let copy = "<uInt32 name='A'><copy/></uInt32>";
    let other_type =
        "<uInt32 name='A'><copy key='K'/></uInt32><string name='B'><copy key='K'/></string>";
    let emptied = "<uInt32 name='A' presence='optional'><copy key='K'/></uInt32><uInt32 name='B'><copy key='K'/></uInt32>";
    let bits = "<bitGroup name='G'><enum name='E'><element name='a'/><element name='b'/><element name='c'/></enum></bitGroup>";
    let split =
        "<decimal name='A'><exponent><copy/></exponent><mantissa><copy/></mantissa></decimal>";
    let sequence = "<sequence name='S'><uInt32 name='A'/></sequence>";
    let endless = "<sequence name='S'><length><constant value='4000000000'/></length></sequence>";
    let long = format!(
        "<string name='A'><constant value='{}'/></string>",
        "x".repeat(1 << 21)
    );
    let deep = [0xc0, 0x81].repeat(100);
    let refusals: [Refusal<'_>; 24] = [
        (
            number,
            &[0xc0, 0x81, 0x10, 0, 0, 0, 0x80],
            Code::D2,
            Part::Value,
            "A",
            2..2,
        ),
        (
            bits,
            &[0xc0, 0x81, 0xe0],
            Code::D2,
            Part::Value,
            "G.E",
            3..3,
        ),
        (
            other_type,
            &[0xe0, 0x81, 0x85],
            Code::D4,
            Part::Value,
            "B",
            3..3,
        ),
        (copy, &[0xc0, 0x81], Code::D5, Part::Value, "A", 2..2),
        (copy, &[0x80], Code::D5, Part::TemplateId, "", 1..1),
        (
            emptied,
            &[0xe0, 0x81, 0x80],
            Code::D6,
            Part::Value,
            "B",
            3..3,
        ),
        (
            "<string name='A'><delta/></string>",
            &[0xc0, 0x81, 0x85, 0x80],
            Code::D7,
            Part::Value,
            "A",
            2..4,
        ),
        (number, &[0xc0, 0x82], Code::D9, Part::TemplateId, "", 1..1),
        (
            "<templateRef/>",
            &[0xc0, 0x81, 0xc0, 0xf8],
            Code::D9,
            Part::TemplateId,
            "templateRef",
            3..3,
        ),
        (
            "<decimal name='A'/>",
            &[0xc0, 0x81, 0x00, 0xc0, 0x81],
            Code::R1,
            Part::Value,
            "A",
            2..5,
        ),
        (
            split,
            &[0xf0, 0x81, 0x00, 0xc0, 0x81],
            Code::R1,
            Part::Value,
            "A",
            5..5,
        ),
        (
            "<string name='A' charset='unicode'/>",
            &[0xc0, 0x81, 0x81, 0xff],
            Code::R2,
            Part::Value,
            "A",
            4..4,
        ),
        (
            "<uInt32 name='A'><delta/></uInt32>",
            &[0xc0, 0x81, 0xff],
            Code::R4,
            Part::Value,
            "A",
            2..3,
        ),
        (
            number,
            &[0xc0, 0x81, 0x00, 0x81],
            Code::R6,
            Part::Value,
            "A",
            2..2,
        ),
        (
            number,
            &[0x40, 0x80, 0x81, 0x81],
            Code::R7,
            Part::PresenceMap,
            "",
            0..0,
        ),
        (
            number,
            &[0xe0, 0x81, 0x81],
            Code::R8,
            Part::PresenceMap,
            "",
            3..3,
        ),
        (
            "<string name='A'/>",
            &[0xc0, 0x81, 0x00, 0xc1],
            Code::R9,
            Part::Value,
            "A",
            2..2,
        ),
        (
            number,
            &[0xc0, 0x81],
            Code::Truncated,
            Part::Value,
            "A",
            2..2,
        ),
        (
            sequence,
            &[0xc0, 0x81, 0x85, 0x81],
            Code::Truncated,
            Part::Length,
            "S",
            3..3,
        ),
        (endless, &[0xc0, 0x81], Code::Limit, Part::Length, "S", 2..2),
        (
            &long,
            &[0xc0, 0x81],
            Code::Limit,
            Part::TemplateId,
            "",
            2..2,
        ),
        (
            "<templateRef/>",
            &deep,
            Code::Depth,
            Part::PresenceMap,
            "templateRef",
            130..130,
        ),
        (copy, &[0xc0, 0x81], Code::Lost, Part::Value, "A", 2..2),
        (copy, &[0x80], Code::Lost, Part::TemplateId, "", 1..1),
    ];
    for (fields, bytes, code, part, field, place) in refusals {
        let xml = format!("<template name='T' id='1'>{fields}</template>");
        let templates = Templates::parse(&xml, Mode::Strict).expect("valid");
        let options = DecoderOptions {
            strict: true,
            ..DecoderOptions::default()
        };
        let mut decoder = Decoder::with_options(&templates, options);
        if code == Code::Lost {
            decoder.lose();
        }
        let mut steps = Steps::default();
        let error = decoder.decode(bytes, &mut steps).expect_err(code.meaning());
        assert_eq!(error.code, code);
        let Some((last, earlier)) = steps.0.split_last() else {
            panic!("{code:?} has no step")
        };
        let name = last.field.and_then(|field| templates.field(field));
        assert_eq!(
            (
                last.error,
                last.part,
                name.map_or("", |field| field.path()),
                last.bytes.clone()
            ),
            (Some(code), part, field, place),
            "{fields}"
        );
        assert_eq!(
            (error.field.as_deref().unwrap_or_default(), error.offset),
            (field, last.bytes.end)
        );
        assert!(earlier.iter().all(|step| step.error.is_none()));
    }
}
