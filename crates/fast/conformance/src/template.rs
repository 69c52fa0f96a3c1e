//! Random template files as text. Knows nothing of messages.

use std::fmt::Write;

use tickwire_fast::{FieldType, Operator};

use crate::choice::Choices;
use crate::value::{self, Domain};

/// What random templates may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Everything of FAST 1.1, for [`Mode::Strict`](tickwire_fast::Mode::Strict).
    Standard,
    /// And the types of FAST 1.2.
    Extension,
    /// And the integers of 8 and 16 bits, for [`Mode::Lenient`](tickwire_fast::Mode::Lenient).
    Dialect,
    /// What the crate fastlib can encode and decode, too.
    Peer,
    /// What it can decode: fields may have a dictionary of their own, which its encoder forgets.
    PeerDecoder,
}

impl Shape {
    /// Whether fastlib has to know it.
    pub(crate) fn is_for_peer(self) -> bool {
        matches!(self, Self::Peer | Self::PeerDecoder)
    }
}

/// Whose spelling the text has; what it means is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The standard's.
    Standard,
    /// fastlib's: `key` and `dictionary` are attributes of the field, not of its operator; a part says that it is
    /// optional, and a length has a name.
    Peer,
}

/// A random file of one to four templates, `T0` to `T3`.
pub fn templates(choices: &mut Choices<'_>, shape: Shape, spelling: Spelling) -> String {
    let mut writer = Writer {
        references: choices.one_in(2),
        choices,
        shape,
        spelling,
        xml: String::from("<templates xmlns:scp=\"http://www.fixprotocol.org/ns/fast/scp/1.1\""),
        fields: 0,
        templates: 0,
    };
    // fastlib does not look for it here.
    let dictionary = writer.dictionary(6).filter(|_| !shape.is_for_peer());
    writer.attribute("dictionary", dictionary);
    writer.xml.push_str(">\n");
    for _ in 0..=writer.choices.below(4) {
        writer.template();
    }
    writer.xml + "</templates>\n"
}

struct Writer<'c, 'b> {
    choices: &'c mut Choices<'b>,
    shape: Shape,
    spelling: Spelling,
    xml: String,
    /// Fields so far; the number of the last is its name.
    fields: u32,
    /// Templates that are complete.
    templates: usize,
    /// Whether templates refer to others.
    references: bool,
}

/// An operator with its initial value as text, and a dictionary key that others may have too.
struct Attached {
    operator: Operator,
    initial: Option<String>,
    key: Option<String>,
    dictionary: Option<&'static str>,
}

impl Writer<'_, '_> {
    fn template(&mut self) {
        let number = self.templates;
        self.open("template", &format!("T{number}"));
        let id = IDS[number * 3 + self.choices.below(3)];
        self.attribute("id", Some(&id.to_string()));
        let dictionary = self.scope_dictionary(3);
        self.attribute("dictionary", dictionary);
        let resets = !self.shape.is_for_peer() && self.choices.one_in(8);
        self.attribute("scp:reset", resets.then_some("yes"));
        self.xml.push_str(">\n");
        self.application_type(4);
        for _ in 0..=self.choices.below(8) {
            self.item(3);
        }
        if !self.shape.is_for_peer() && self.choices.one_in(6) {
            // A presence map of more than 64 bits.
            for _ in 0..56 + self.choices.below(16) {
                self.flag();
            }
        }
        self.xml.push_str("</template>\n");
        self.templates += 1;
    }

    /// A field, or a reference; the first template has none of these, so that messages of any depth can end with it.
    fn item(&mut self, depth: u32) {
        if !self.references || self.templates == 0 || !self.choices.one_in(6) {
            return self.field(depth);
        }
        self.xml.push_str("<templateRef");
        if self.choices.one_in(2) {
            let name = format!("T{}", self.choices.below(self.templates));
            self.attribute("name", Some(&name));
        }
        self.xml.push_str("/>\n");
    }

    fn field(&mut self, depth: u32) {
        let types: &[FieldType] = match self.shape {
            Shape::Dialect => &TYPES,
            _ => &TYPES[..10],
        };
        if matches!(self.shape, Shape::Extension | Shape::Dialect) && self.choices.one_in(5) {
            return self.extended();
        }
        match self.choices.of(types) {
            FieldType::Group if depth > 0 && self.fields < MAX_FIELDS => self.group(depth),
            FieldType::Sequence if depth > 0 && self.fields < MAX_FIELDS => self.sequence(depth),
            FieldType::Group | FieldType::Sequence => self.leaf(FieldType::UInt32),
            FieldType::Decimal if self.choices.one_in(2) => self.split_decimal(),
            other => self.leaf(other),
        }
    }

    fn leaf(&mut self, field_type: FieldType) {
        let optional = self.open_field(field_type.name());
        let charset = (field_type == FieldType::Unicode).then_some("unicode");
        self.attribute("charset", charset);
        let attached = self.attached(Domain::Field(field_type), optional);
        self.peer_attributes(&attached);
        self.xml.push('>');
        self.operator(&attached);
        self.close(field_type.name());
    }

    fn split_decimal(&mut self) {
        let optional = self.open_field("decimal");
        self.xml.push('>');
        self.part("exponent", Domain::Exponent, optional);
        self.part("mantissa", Domain::Mantissa, false);
        self.close("decimal");
    }

    fn group(&mut self, depth: u32) {
        self.open_field("group");
        self.container(depth, None);
    }

    fn sequence(&mut self, depth: u32) {
        let optional = self.open_field("sequence");
        self.container(depth, Some(optional));
    }

    /// The rest of a group or, with whether it is optional, of a sequence.
    fn container(&mut self, depth: u32, sequence: Option<bool>) {
        let dictionary = self.scope_dictionary(6);
        self.attribute("dictionary", dictionary);
        self.xml.push('>');
        self.application_type(8);
        if let Some(optional) = sequence {
            self.part("length", Domain::Length, optional);
        }
        for _ in 0..self.choices.below(5) {
            self.item(depth - 1);
        }
        self.close(if sequence.is_some() {
            "sequence"
        } else {
            "group"
        });
    }

    /// A small field with a presence bit.
    fn flag(&mut self) {
        self.open_field("uInt32");
        let operator = self.choices.of(&["copy", "default", "increment"]);
        let _ = writeln!(self.xml, "><{operator} value=\"1\"/></uInt32>");
    }

    /// A field of FAST 1.2.
    fn extended(&mut self) {
        let kind = self
            .choices
            .of(&["enum", "set", "boolean", "timestamp", "bitGroup"]);
        if kind == "bitGroup" {
            return self.bit_group();
        }
        let optional = self.open_field(kind);
        if kind == "timestamp" {
            let unit = self
                .choices
                .of(&["day", "second", "millisecond", "nanosecond"]);
            self.attribute("unit", Some(unit));
        }
        self.xml.push('>');
        self.elements(kind);
        let known = ["none", "constant", "default", "copy", "increment", "delta"];
        let operator = self.choices.of(&known);
        let needs_value = operator == "constant" || operator == "default" && !optional;
        let value = match kind {
            "enum" | "set" => "e0",
            _ => "1",
        };
        let has_value = needs_value || self.choices.one_in(2);
        if operator != "none" {
            let _ = write!(self.xml, "<{operator}");
            self.attribute("value", has_value.then_some(value));
            self.xml.push_str("/>");
        }
        self.close(kind);
    }

    fn bit_group(&mut self) {
        self.fields += 1;
        self.open("bitGroup", &format!("F{}", self.fields));
        self.xml.push('>');
        for _ in 0..=self.choices.below(5) {
            let small = ["enum", "set", "boolean", "int2", "int7", "uInt1", "uInt7"];
            let kind = self.choices.of(&small);
            let can_be_absent = matches!(kind, "enum" | "set" | "boolean");
            let optional = can_be_absent && self.choices.one_in(2);
            self.fields += 1;
            self.open(kind, &format!("F{}", self.fields));
            self.attribute("presence", optional.then_some("optional"));
            self.xml.push('>');
            self.elements(kind);
            self.close(kind);
        }
        if self.choices.one_in(2) {
            self.xml.push_str("<copy/>");
        }
        self.close("bitGroup");
    }

    fn elements(&mut self, kind: &str) {
        if matches!(kind, "enum" | "set") {
            for number in 0..=self.choices.below(6) {
                let _ = write!(self.xml, "<element name=\"e{number}\"/>");
            }
        }
    }

    /// A length, exponent or mantissa.
    fn part(&mut self, element: &str, domain: Domain, optional: bool) {
        let attached = self.attached(domain, optional);
        self.xml.push('<');
        self.xml.push_str(element);
        if self.spelling == Spelling::Peer {
            let name = format!("F{}N", self.fields);
            self.attribute("name", (domain == Domain::Length).then_some(&name));
            self.attribute("id", Some("1"));
            self.attribute("presence", optional.then_some("optional"));
        }
        self.peer_attributes(&attached);
        self.xml.push('>');
        self.operator(&attached);
        let _ = write!(self.xml, "</{element}>");
    }

    fn operator(&mut self, attached: &Attached) {
        if attached.operator == Operator::None {
            return;
        }
        self.xml.push('<');
        self.xml.push_str(attached.operator.name());
        self.attribute("value", attached.initial.as_deref());
        if self.spelling == Spelling::Standard {
            self.attribute("key", attached.key.as_deref());
            self.attribute("dictionary", attached.dictionary);
        }
        self.xml.push_str("/>");
    }

    fn peer_attributes(&mut self, attached: &Attached) {
        if self.spelling == Spelling::Peer {
            self.attribute("key", attached.key.as_deref());
            self.attribute("dictionary", attached.dictionary);
        }
    }

    fn application_type(&mut self, n: usize) {
        if self.choices.one_in(n) {
            let name = self.choices.of(&["Order", "Trade"]);
            self.open("typeRef", name);
            self.xml.push_str("/>");
        }
    }

    /// Begins a field that may be optional, and says whether it is.
    fn open_field(&mut self, element: &str) -> bool {
        self.fields += 1;
        self.open(element, &format!("F{}", self.fields));
        let id = self.fields.to_string();
        self.attribute("id", Some(&id));
        let optional = self.choices.one_in(2);
        self.attribute("presence", optional.then_some("optional"));
        optional
    }

    fn open(&mut self, element: &str, name: &str) {
        let _ = write!(self.xml, "<{element} name=\"{name}\"");
    }

    fn close(&mut self, element: &str) {
        let _ = writeln!(self.xml, "</{element}>");
    }

    fn attribute(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value else {
            return;
        };
        let value = value
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;");
        let _ = write!(self.xml, " {name}=\"{value}\"");
    }

    fn attached(&mut self, domain: Domain, optional: bool) -> Attached {
        use Operator::{Constant, Copy, Default, Delta, Increment, None, Tail};
        let field_type = domain.field_type();
        let is_for_peer = self.shape.is_for_peer();
        let operators: Vec<_> = [None, Constant, Default, Copy, Increment, Delta, Tail]
            .into_iter()
            .filter(|operator| operator.applies_to(field_type))
            .filter(|operator| !is_for_peer || is_known(*operator, field_type, optional))
            .collect();
        let operator = self.choices.of(&operators);
        let needs_value = operator == Constant || (operator == Default && !optional);
        let can_have_value =
            operator != None && (!is_for_peer || is_known_initial(operator, field_type));
        let has_value = needs_value || can_have_value && self.choices.one_in(2);
        let has_entry = !matches!(operator, None | Constant | Default);
        // Most keys are shared by fields of one type, a few by any.
        let key = match has_entry && self.choices.one_in(6) {
            false => Option::None,
            true if self.choices.one_in(6) => Some("K".to_owned()),
            true => Some(format!("K{}", field_type.name())),
        };
        // fastlib does not look for them on parts of decimals.
        let has_dictionary = has_entry
            && match self.shape {
                Shape::Peer => false,
                Shape::PeerDecoder => domain == Domain::Field(field_type),
                _ => true,
            };
        Attached {
            operator,
            initial: has_value.then(|| value::text(self.choices, domain, self.shape)),
            key: key.filter(|_| !is_for_peer || field_type != FieldType::Decimal),
            dictionary: has_dictionary.then(|| self.dictionary(6)).flatten(),
        }
    }

    fn dictionary(&mut self, n: usize) -> Option<&'static str> {
        let names = ["mine", "yours", "global", "template", "type"];
        // fastlib has other thoughts of the current template and type behind a reference.
        let known = match self.shape.is_for_peer() && self.references {
            true => 3,
            false => names.len(),
        };
        let is_given = self.choices.one_in(n);
        is_given.then(|| self.choices.of(&names[..known]))
    }

    /// A dictionary for all fields of a template, group or sequence; fastlib would keep template ids in it.
    fn scope_dictionary(&mut self, n: usize) -> Option<&'static str> {
        match self.shape.is_for_peer() && self.references {
            true => None,
            false => self.dictionary(n),
        }
    }
}

/// Whether fastlib has the operator, the way the standard has it; `tests/peer/disagreements.rs` shows where it has not.
fn is_known(operator: Operator, field_type: FieldType, optional: bool) -> bool {
    match field_type {
        FieldType::Decimal => {
            matches!(operator, Operator::None | Operator::Copy | Operator::Delta)
        }
        FieldType::Ascii | FieldType::Unicode | FieldType::ByteVector => {
            !optional || !matches!(operator, Operator::Delta | Operator::Tail)
        }
        _ => true,
    }
}

/// Whether fastlib takes an initial value of this operator for what the standard does.
fn is_known_initial(operator: Operator, field_type: FieldType) -> bool {
    operator != Operator::Increment
        && (field_type != FieldType::Decimal || operator == Operator::Delta)
}

const TYPES: [FieldType; 14] = [
    FieldType::UInt32,
    FieldType::Int32,
    FieldType::UInt64,
    FieldType::Int64,
    FieldType::Ascii,
    FieldType::Unicode,
    FieldType::ByteVector,
    FieldType::Decimal,
    FieldType::Group,
    FieldType::Sequence,
    FieldType::Int8,
    FieldType::UInt8,
    FieldType::Int16,
    FieldType::UInt16,
];

/// Ids of one to five bytes, three for each template; 120 is also the session's reset message.
const IDS: [u32; 12] = [
    1,
    2,
    3,
    120,
    127,
    128,
    300,
    16_383,
    16_384,
    2_097_151,
    2_097_152,
    4_294_967_295,
];
/// Fields after which a file gets no more groups and sequences.
const MAX_FIELDS: u32 = 60;
