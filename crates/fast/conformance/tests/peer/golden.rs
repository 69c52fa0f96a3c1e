//! The golden file: every value of every message is the one that fastlib finds.

#[path = "../../../tests/common/golden.rs"]
mod golden_file;

use tickwire_fast::{Decoder, Message, Mode, Templates};

use crate::events::{Collected, Event, events};

#[test]
fn golden_values_are_those_that_fastlib_finds() {
    let Some((xml, packets)) = golden_file::read("golden_values_are_those_that_fastlib_finds")
    else {
        return;
    };
    let templates = Templates::parse(&xml, Mode::Lenient).unwrap();
    let mut decoder = Decoder::new(&templates);
    // fastlib takes an exponent for mandatory whatever the decimal is, and then wants its default to have a value (S5).
    let its_xml = optional_exponents(&xml);
    let mut its_decoder = fastlib::Decoder::new_from_xml(&its_xml).unwrap();
    let mut message = Message::new();
    let mut values = 0;
    for packet in &packets {
        let mut collected = Collected::default();
        decoder.reset();
        its_decoder.reset();
        assert_eq!(decoder.decode(packet, &mut message), Ok(packet.len()));
        its_decoder.decode_slice(packet, &mut collected).unwrap();
        let ours = events(&message);
        values += ours
            .iter()
            .filter(|event| matches!(event, Event::Value(..)))
            .count();
        assert_eq!(ours, collected.events());
    }
    assert_eq!(values, 1_886_101);
}

fn optional_exponents(xml: &str) -> String {
    let mut parts = xml.split("<default/>").collect::<Vec<_>>().into_iter();
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if text.trim_end().ends_with("<exponent>") {
            text.truncate(text.rfind('>').unwrap_or_default());
            text.push_str(" presence=\"optional\">");
        }
        text.push_str("<default/>");
        text.push_str(part);
    }
    text
}
