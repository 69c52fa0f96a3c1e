//! Any text as a template file, in both modes; what loads is then decoded with.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_fast::{Decoder, Message, Mode, Templates};

fuzz_target!(|text: &str| {
    for mode in [Mode::Strict, Mode::Lenient] {
        if let Ok(templates) = Templates::parse(text, mode) {
            let mut decoder = Decoder::new(&templates);
            let mut message = Message::new();
            for template in templates.iter() {
                for byte in [0x80, 0xff] {
                    let id = template.id().map_or(0x80, |id| id.0 as u8 | 0x80);
                    let mut packet = [byte; 64];
                    packet[..2].copy_from_slice(&[0xff, id]);
                    let _ = decoder.decode_packet(&packet, &mut message);
                }
            }
        }
    }
});
