//! Bytes against the values that they must decode to.

use tickwire_fast::{Decoder, DecoderOptions, Encoder, Message, Mode, Templates, json};

/// One template with these fields.
pub(crate) fn template(fields: &str) -> Templates {
    let xml = format!(r#"<templates><template name="T" id="1">{fields}</template></templates>"#);
    Templates::parse(&xml, Mode::Strict).unwrap()
}

/// Decodes message after message, given as hexadecimal bytes after presence map and template id. Expected is the JSON of
/// the fields, or an error's code. What decodes must be encoded to the same bytes.
pub(crate) fn check(fields: &str, messages: &[(&str, &str)]) {
    let templates = template(fields);
    let mut decoder = Decoder::with_options(
        &templates,
        DecoderOptions {
            strict: true,
            ..DecoderOptions::default()
        },
    );
    let mut encoder = Encoder::new(&templates);
    let (mut message, mut out) = (Message::new(), Vec::new());
    for (hex, expected) in messages {
        let bytes: Vec<u8> = hex
            .split_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect();
        match decoder.decode(&bytes, &mut message) {
            Ok(consumed) => {
                assert_eq!(consumed, bytes.len(), "{fields} {hex}");
                let mut text = String::new();
                json::write(&message, &mut text).unwrap();
                let fields_only = text
                    .replace(r#""template":"T","#, "")
                    .replace(r#""template":"T""#, "");
                assert_eq!(fields_only, format!("{{{expected}}}"), "{fields} {hex}");
                out.clear();
                encoder.encode(&message, &mut out).unwrap();
                assert_eq!(out, bytes, "{fields} {expected}: encoded {out:02x?}");
            }
            Err(error) => {
                assert_eq!(
                    format!("{:?}", error.code),
                    *expected,
                    "{fields} {hex}: {error}"
                );
                assert_eq!(error.template.as_deref(), Some("T"));
                return;
            }
        }
    }
}
