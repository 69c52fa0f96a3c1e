//! Any bytes as a packet, under a template set that has every field type, operator, dictionary,
//! group, sequence and reference; the first byte chooses options.
#![no_main]

#[path = "../fast.rs"]
mod fast;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tickwire_fast::{Mode, Templates};

static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| {
    Templates::parse(
        include_str!("../seeds/template_xml/everything.xml"),
        Mode::Lenient,
    )
    .expect("our own templates load")
});

fuzz_target!(|input: &[u8]| {
    if let Some((&choice, packet)) = input.split_first() {
        fast::decode(&TEMPLATES, choice, packet);
    }
});
