//! Any text as a template file, in both modes, up to a zero byte; what loads decodes what follows,
//! and is shown as Rust.
#![no_main]

#[path = "../fast.rs"]
mod fast;

use libfuzzer_sys::fuzz_target;
use tickwire_fast::{Mode, Templates};

fuzz_target!(|input: &[u8]| {
    let zero = input.iter().position(|byte| *byte == 0);
    let (text, packet) = input.split_at(zero.unwrap_or(input.len()));
    let text = String::from_utf8_lossy(text);
    for mode in [Mode::Strict, Mode::Lenient] {
        match Templates::parse(&text, mode) {
            Ok(templates) => {
                fast::decode(&templates, packet.first().copied().unwrap_or(0), packet);
                for template in templates.iter().take(4) {
                    let id = template.id().map_or(0x80, |id| id.0 as u8 | 0x80);
                    for byte in [0x80, 0xff] {
                        let mut packet = [byte; 64];
                        packet[..2].copy_from_slice(&[0xff, id]);
                        fast::decode(&templates, 0, &packet);
                    }
                }
            }
            Err(error) => {
                assert!(error.line > 0 && error.column > 0, "{error}");
                let _ = error.to_string();
            }
        }
    }
});
