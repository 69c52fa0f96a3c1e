//! Decoders and encoders that the build script generated, behind one trait: of the feeds' templates, of hand-written ones that have
//! everything, and of random ones. And the text of a message, as the interpreter has it and as a struct's `Debug` does.

use std::collections::HashMap;
use std::fmt::{Debug, Write};

use tickwire_fast::generated::{Decode, Decoder, Encode, Encoder, Protocol};
use tickwire_fast::{
    DecodeError, DecoderOptions, EncodeError, FieldType, Fields, Message, Mode, Record, Templates,
    Value,
};

use crate::template::Shape;

/// A template file and the code that was generated of it.
#[derive(Clone, Copy, Debug)]
pub struct Generated {
    /// The file's name without extension.
    pub name: &'static str,
    /// Its text.
    pub xml: &'static str,
    /// How it is read.
    pub mode: Mode,
    /// The template of messages without an id.
    pub default: Option<&'static str>,
    /// What random messages of it may have.
    pub shape: Shape,
    /// Makes a decoder and an encoder.
    pub codec: fn(DecoderOptions) -> Box<dyn Codec>,
}

impl Generated {
    /// What the code was generated of.
    pub fn templates(&self) -> Templates {
        // The build script has read the file likewise.
        let templates = Templates::parse(self.xml, self.mode).expect("a valid file");
        match self.default {
            Some(name) => templates.with_default(name).expect("a template's name"),
            None => templates,
        }
    }
}

/// A generated decoder, and a generated encoder that encodes again what was decoded.
pub trait Codec {
    /// Decodes the message at the start of `bytes`.
    ///
    /// # Errors
    /// As the decoder's.
    fn decode(&mut self, bytes: &[u8]) -> Result<usize, DecodeError>;

    /// The `Debug` form of the struct that the last message was decoded into; `reset` for the session's reset message,
    /// and empty if there was an error.
    fn text(&self) -> &str;

    /// What the last message was encoded to again.
    ///
    /// # Errors
    /// The encoder's.
    fn encoded(&self) -> Result<&[u8], &EncodeError>;

    /// Resets the decoder.
    fn reset(&mut self);

    /// The decoder's.
    fn lose(&mut self);

    /// Resets the encoder.
    fn reset_encoder(&mut self);
}

/// What a decoder decodes; generated code has no other name for it.
trait Of {
    type Messages: Protocol;
}

impl<M: Protocol> Of for Decoder<M> {
    type Messages = M;
}

/// A decoder with its handler.
struct Pair<M: Protocol> {
    decoder: Decoder<M>,
    seen: Seen<M>,
}

/// The handler of all generated decoders.
struct Seen<M: Protocol> {
    text: String,
    encoder: Encoder<M>,
    encoded: Result<Vec<u8>, EncodeError>,
}

impl<M: Protocol> Pair<M> {
    fn new(decoder: Decoder<M>, encoder: Encoder<M>) -> Self {
        Self {
            decoder,
            seen: Seen {
                text: String::new(),
                encoder,
                encoded: Ok(Vec::new()),
            },
        }
    }
}

impl<M: Protocol> Seen<M> {
    fn message<T: Encode<M> + Debug>(&mut self, message: &T) {
        let _ = write!(self.text, "{message:?}");
        let mut out = Vec::new();
        self.encoded = self.encoder.encode(message, &mut out).map(|()| out);
    }

    fn session_reset(&mut self) {
        self.text.push_str("reset");
        let mut out = Vec::new();
        self.encoder.encode_reset(&mut out);
        self.encoded = Ok(out);
    }
}

impl<M: Protocol + Decode<Seen<M>>> Codec for Pair<M> {
    fn decode(&mut self, bytes: &[u8]) -> Result<usize, DecodeError> {
        self.seen.text.clear();
        self.decoder.decode(bytes, &mut self.seen)
    }

    fn text(&self) -> &str {
        &self.seen.text
    }

    fn encoded(&self) -> Result<&[u8], &EncodeError> {
        self.seen.encoded.as_deref()
    }

    fn reset(&mut self) {
        self.decoder.reset();
    }

    fn lose(&mut self) {
        self.decoder.lose();
    }

    fn reset_encoder(&mut self) {
        self.seen.encoder.reset();
    }
}

include!(concat!(env!("OUT_DIR"), "/generated_files.rs"));

/// The text that the `Debug` form of a generated struct has for this message, without the names of types, and names of
/// members in small letters; `reset` for the session's reset message.
pub fn debug_text(message: &Message) -> String {
    let Some(template) = message.template() else {
        return "reset".to_owned();
    };
    let mut text = String::new();
    record(
        template.name(),
        template.fields(),
        message.record(),
        &mut text,
    );
    text
}

/// The fields of a struct called `name`, which is only written where there are none.
fn record(name: &str, fields: Fields<'_>, values: Record<'_>, text: &mut String) {
    if fields.clone().next().is_none() {
        text.push_str(&plain(name));
        return;
    }
    let mut taken: HashMap<String, u32> = HashMap::new();
    text.push_str("{ ");
    for (number, field) in fields.enumerate() {
        let name = plain(field.name());
        let count = taken.entry(name.clone()).or_default();
        *count += 1;
        text.push_str(if number == 0 { "" } else { ", " });
        text.push_str(&name);
        if *count > 1 {
            let _ = write!(text, "{count}");
        }
        text.push_str(": ");
        let value = values.at(field.index());
        let is_option = field.is_optional() || field.field_type() == FieldType::Template;
        match value {
            None => text.push_str("none"),
            Some(value) if is_option => {
                text.push_str("some(");
                self::value(field, value, text);
                text.push(')');
            }
            Some(value) => self::value(field, value, text),
        }
    }
    text.push_str(" }");
}

fn value(field: tickwire_fast::Field<'_>, value: Value<'_>, text: &mut String) {
    let _ = match value {
        Value::Unsigned(number) => match field.enumeration() {
            // A variant has a name that is one: the element's, or if that is a number its id.
            Some(elements) => {
                let names = elements
                    .with_value(number)
                    .map(|element| (&*element.name, element.id.as_deref()));
                let name = match names {
                    Some((name, Some(id))) if name.starts_with(char::is_numeric) => id,
                    Some((name, _)) => name,
                    None => "",
                };
                write!(text, "{}", plain(name))
            }
            None if field.is_boolean() => write!(text, "{}", number == 1),
            None => write!(text, "{number}"),
        },
        Value::Signed(number) => write!(text, "{number}"),
        Value::Decimal(decimal) => write!(
            text,
            "{{ mantissa: {}, exponent: {} }}",
            decimal.mantissa(),
            decimal.exponent()
        ),
        Value::Text(value) => write!(text, "{value:?}"),
        Value::Bytes(value) => write!(text, "{value:?}"),
        Value::Group(values) => return record(field.name(), field.fields(), values, text),
        Value::Sequence(sequence) => {
            text.push('[');
            for (number, element) in sequence.iter().enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                record(field.name(), field.fields(), element, text);
            }
            text.push(']');
            Ok(())
        }
        Value::Template(template, values) => {
            let _ = write!(text, "{}(", plain(template.name()));
            record(template.name(), template.fields(), values, text);
            text.push(')');
            Ok(())
        }
    };
}

/// The `Debug` form of a generated struct as [`debug_text`] writes it.
pub fn plain_debug(debug: &str) -> String {
    let mut text = String::new();
    let mut chars = debug.chars();
    let mut in_string = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => in_string = !in_string,
            '\\' if in_string => {
                text.push(c);
                text.extend(chars.next());
                continue;
            }
            '{' if !in_string => {
                let name = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == ' ');
                let keep = if text.ends_with(": ") {
                    text.len()
                } else {
                    name.len()
                };
                text.truncate(keep);
                text.push_str(if text.ends_with(':') || text.ends_with(',') {
                    " "
                } else {
                    ""
                });
            }
            _ => {}
        }
        match c {
            '_' if !in_string => {}
            c if in_string => text.push(c),
            c => text.push(c.to_ascii_lowercase()),
        }
    }
    text
}

/// A name without capitals and underscores: what is left of it in every spelling.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| *c != '_')
        .map(|c| c.to_ascii_lowercase())
        .collect()
}
