//! Any bytes as a packet, under random templates: the first byte chooses options, the second how
//! many bytes choose the templates.
#![no_main]

#[path = "../fast.rs"]
mod fast;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Some((&choice, input)) = input.split_first() {
        let (_, templates, packet) = fast::random(input);
        fast::decode(&templates, choice, packet);
    }
});
