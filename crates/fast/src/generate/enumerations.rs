//! The enums and the bits of sets of generated code, as text.

use std::fmt::Write as _;

use super::model::{Member, Model, Set, Type};
use super::types::quoted;
use crate::Element;

/// An enum, and how it is made of its number on the wire; `as u64` leads back.
pub(super) fn enumeration(model: &Model<'_>, of: usize) -> String {
    let mut out = String::new();
    if let Some(of) = model.enumerations.get(of) {
        let topic = if model.topics {
            ", ::tickwire::Topic"
        } else {
            ""
        };
        let _infallible = writeln!(
            out,
            "/// Of the enumeration {}.\n#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq{topic})]",
            quoted(of.field.path())
        );
        if model.topics {
            let _infallible = writeln!(out, "#[topic(name = {:?})]", of.topic_name);
        }
        let _infallible = writeln!(out, "pub enum {} {{", of.name);
        for (number, variant) in of.variants.iter().enumerate() {
            let _infallible = writeln!(out, "    /// {}", description(variant.element));
            if number == 0 {
                out.push_str("    #[default]\n");
            }
            if model.topics && variant.topic_name != variant.name {
                let _infallible = writeln!(out, "    #[topic(rename = {:?})]", variant.topic_name);
            }
            let _infallible = writeln!(out, "    {} = {number},", variant.name);
        }
        let _infallible = write!(
            out,
            "}}\n\nimpl {} {{\n    /// The element with this number.\n    \
             pub const fn from_number(number: u64) -> Option<Self> {{\n        \
             Some(match number {{\n",
            of.name
        );
        for (number, variant) in of.variants.iter().enumerate() {
            let _infallible = writeln!(out, "            {number} => Self::{},", variant.name);
        }
        out.push_str("            _ => return None,\n        })\n    }\n}\n\n");
    }
    out
}

/// The bits of a set, each a constant.
pub(super) fn set(set: &Set<'_>, member: &Member<'_>) -> String {
    let ty = if member.ty == Type::U32 { "u32" } else { "u64" };
    let mut out = format!(
        "/// Bits of the set {}.\npub mod {} {{\n",
        quoted(member.field.path()),
        set.module
    );
    for (name, element) in &set.constants {
        let (description, value) = (description(element), element.value);
        let _infallible = writeln!(
            out,
            "    /// {description}\n    pub const {name}: {ty} = {value:#x};"
        );
    }
    out.push_str("}\n\n");
    out
}

pub(super) fn description(element: &Element) -> String {
    match &element.id {
        Some(id) => format!("{}, id {}.", quoted(&element.name), quoted(id)),
        None => format!("{}.", quoted(&element.name)),
    }
}

#[cfg(test)]
mod tests {
    use crate::generate::{RustOptions, rust};
    use crate::{Mode, Templates};

    fn generated(fields: &str) -> String {
        let xml = format!(
            r#"<templates xmlns="http://www.fixprotocol.org/ns/fast/td/1.2"><template name="Quote" id="1">{fields}</template></templates>"#
        );
        let templates = Templates::parse(&xml, Mode::Lenient).unwrap();
        let options = RustOptions {
            topics: true,
            ..RustOptions::default()
        };
        rust(&templates, &options)
    }

    #[test]
    fn an_enumeration_is_an_enum() {
        let text = generated(
            r#"<enum name="Side" presence="optional"><element name="1" id="Buy"/><element name="sell"/><element name="8"/></enum>"#,
        );
        let expected = r#"pub mod quote {
    /// Of the enumeration `Side`.
    #[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq, ::tickwire::Topic)]
    #[topic(name = "Quote_Side::Type")]
    pub enum Side {
        /// `1`, id `Buy`.
        #[default]
        Buy = 0,
        /// `sell`.
        #[topic(rename = "sell")]
        Sell = 1,
        /// `8`.
        #[topic(rename = "N8")]
        _8 = 2,
    }

    impl Side {
        /// The element with this number.
        pub const fn from_number(number: u64) -> Option<Self> {
            Some(match number {
                0 => Self::Buy,
                1 => Self::Sell,
                2 => Self::_8,
                _ => return None,
            })
        }
    }
}
"#;
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("pub side: Option<quote::Side>,"), "{text}");
    }

    /// Lenient mode takes numbers as mFAST has them; an enum has no place for those in between.
    #[test]
    fn an_enumeration_with_gaps_stays_an_integer() {
        let text = generated(
            r#"<enum name="Side"><element name="A" value="1"/><element name="B" value="5"/></enum>"#,
        );
        assert!(text.contains("pub side: u32,"), "{text}");
        assert!(!text.contains("pub enum"), "{text}");
    }

    #[test]
    fn a_set_is_an_integer_with_a_constant_for_each_bit() {
        let text = generated(
            r#"<set name="TradeCondition"><element name="U" id="Exchange Last"/><element name="3" id="Opening"/></set>"#,
        );
        let expected = r#"pub mod quote {
    /// Bits of the set `TradeCondition`.
    pub mod trade_condition {
        /// `U`, id `Exchange Last`.
        pub const U: u32 = 0x1;
        /// `3`, id `Opening`.
        pub const OPENING: u32 = 0x2;
    }
}
"#;
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("pub trade_condition: u32,"), "{text}");
    }

    #[test]
    fn booleans_and_timestamps_are_what_rust_has() {
        let text = generated(r#"<boolean name="Open" presence="optional"/><timestamp name="At"/>"#);
        assert!(text.contains("pub open: Option<bool>,"), "{text}");
        assert!(text.contains("pub at: i64,"), "{text}");
    }
}
