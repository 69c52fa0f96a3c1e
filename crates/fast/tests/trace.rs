//! What a visitor that traces is told of each read.

use tickwire_fast::{Code, Decoder, Mode, Part, Previous, Step, Templates, Visitor};

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

#[test]
fn an_error_is_the_last_step() {
    let steps = trace(&[&[0xc0, 0x81, 0x81]]);
    let last = steps.last().expect("steps");
    assert_eq!((last.part, last.error), (Part::Value, Some(Code::D5)));
    assert_eq!(last.bytes, 2..2);
    let steps = trace(&[&[0xc0, 0x82]]);
    let last = steps.last().expect("steps");
    assert_eq!((last.part, last.error), (Part::TemplateId, Some(Code::D9)));
}
