//! Random template files: a model of them, and its text. Knows nothing of messages.

use std::fmt::Write;

use tickwire_fast::{FieldType, Operator};

use crate::choice::Choices;
use crate::value::{self, Domain};

/// What random templates may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Everything of FAST 1.1, for [`Mode::Strict`](tickwire_fast::Mode::Strict).
    Standard,
    /// And the integers of 8 and 16 bits, for [`Mode::Lenient`](tickwire_fast::Mode::Lenient).
    Dialect,
    /// What the crate fastlib can read too.
    Peer,
}

/// Whose spelling a template file's text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The standard's.
    Standard,
    /// fastlib's: `key` and `dictionary` are attributes of the field, not of its operator; a part says that it is optional,
    /// and a length has a name.
    Peer,
}

/// A template file.
#[derive(Clone, Debug)]
pub struct File {
    pub(crate) templates: Vec<Model>,
    pub(crate) shape: Shape,
    /// Whether fields may have a dictionary of their own, which fastlib knows when it decodes, but not when it encodes.
    pub field_dictionaries: bool,
    dictionary: Option<&'static str>,
}

/// A template.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) items: Vec<Item>,
    id: u32,
    dictionary: Option<&'static str>,
    application_type: Option<&'static str>,
    resets: bool,
}

/// What stands in a template, group or sequence.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Field(Box<Field>),
    /// The fields of an earlier template, by its number.
    Static(usize),
    /// A message of any template.
    Dynamic,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) field_type: FieldType,
    pub(crate) optional: bool,
    pub(crate) form: Form,
    pub(crate) items: Vec<Item>,
    dictionary: Option<&'static str>,
    application_type: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// One operator; of a sequence it is the length's.
    One(Attached),
    /// Exponent and mantissa with operators of their own.
    Split(Attached, Attached),
}

/// An operator with its initial value as text, and a dictionary key that others may have too.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    pub(crate) operator: Operator,
    pub(crate) initial: Option<String>,
    pub(crate) key: Option<String>,
    dictionary: Option<&'static str>,
}

impl Attached {
    /// The text of the only value that there can be.
    pub(crate) fn constant(&self) -> Option<&str> {
        self.initial
            .as_deref()
            .filter(|_| self.operator == Operator::Constant)
    }
}

impl File {
    /// A random file of one to four templates.
    pub fn random(choices: &mut Choices<'_>, shape: Shape) -> Self {
        let mut maker = Maker {
            choices,
            shape,
            names: 0,
            templates: Vec::new(),
            room: MAX_FIELDS,
            references: false,
            field_dictionaries: false,
        };
        maker.references = maker.choices.one_in(2);
        maker.field_dictionaries = maker.choices.one_in(2);
        // fastlib does not read it.
        let dictionary = maker.dictionary(6).filter(|_| shape != Shape::Peer);
        for number in 0..=maker.choices.below(4) {
            let model = maker.template(number);
            maker.templates.push(model);
        }
        Self {
            templates: maker.templates,
            shape,
            field_dictionaries: maker.field_dictionaries,
            dictionary,
        }
    }

    /// Its text.
    pub fn xml(&self, spelling: Spelling) -> String {
        let mut xml =
            String::from("<templates xmlns:scp=\"http://www.fixprotocol.org/ns/fast/scp/1.1\"");
        attribute(&mut xml, "dictionary", self.dictionary);
        xml.push_str(">\n");
        let mut writer = Writer {
            file: self,
            spelling,
            xml,
            ids: 0,
        };
        self.templates
            .iter()
            .for_each(|model| writer.template(model));
        writer.xml + "</templates>\n"
    }
}

struct Maker<'c, 'b> {
    choices: &'c mut Choices<'b>,
    shape: Shape,
    names: u32,
    templates: Vec<Model>,
    /// How many more fields the file may get.
    room: u32,
    /// Whether templates refer to others.
    references: bool,
    field_dictionaries: bool,
}

impl Maker<'_, '_> {
    fn template(&mut self, number: usize) -> Model {
        // The first has no references: messages of any depth can end with it.
        let references = self.references && number > 0;
        let size = self.choices.below(8);
        let mut items: Vec<_> = (0..=size).map(|_| self.item(3, references)).collect();
        if self.shape != Shape::Peer && self.choices.one_in(6) {
            // A presence map of more than 64 bits.
            let many = 56 + self.choices.below(16);
            items.extend((0..many).map(|_| Item::Field(Box::new(self.flag()))));
        }
        Model {
            name: format!("T{number}"),
            id: IDS[number * 3 + self.choices.below(3)],
            dictionary: self.scope_dictionary(3),
            application_type: self.application_type(4),
            resets: self.shape != Shape::Peer && self.choices.one_in(8),
            items,
        }
    }

    fn item(&mut self, depth: u32, references: bool) -> Item {
        if references && self.choices.one_in(6) {
            return match self.choices.one_in(2) {
                true => Item::Dynamic,
                false => Item::Static(self.choices.below(self.templates.len())),
            };
        }
        Item::Field(Box::new(self.field(depth, references)))
    }

    fn field(&mut self, depth: u32, references: bool) -> Field {
        self.room = self.room.saturating_sub(1);
        let types: &[FieldType] = match self.shape {
            Shape::Dialect => &TYPES,
            Shape::Standard | Shape::Peer => &TYPES[..10],
        };
        let field_type = match self.choices.of(types) {
            container if container.is_container() && (depth == 0 || self.room == 0) => {
                FieldType::UInt32
            }
            other => other,
        };
        let optional = self.choices.one_in(2);
        let form = match field_type {
            FieldType::Decimal if self.choices.one_in(2) => Form::Split(
                self.attached(Domain::Exponent, optional),
                self.attached(Domain::Mantissa, false),
            ),
            FieldType::Group => Form::One(Attached::NONE),
            FieldType::Sequence => Form::One(self.attached(Domain::Length, optional)),
            other => Form::One(self.attached(Domain::Field(other), optional)),
        };
        let size = match field_type.is_container() {
            true => self.choices.below(5),
            false => 0,
        };
        Field {
            name: self.name(),
            field_type,
            optional,
            form,
            items: (0..size)
                .map(|_| self.item(depth - 1, references))
                .collect(),
            dictionary: match field_type.is_container() {
                true => self.scope_dictionary(6),
                false => None,
            },
            application_type: match field_type.is_container() {
                true => self.application_type(8),
                false => None,
            },
        }
    }

    /// A small field with a presence bit.
    fn flag(&mut self) -> Field {
        let optional = self.choices.one_in(2);
        Field {
            name: self.name(),
            field_type: FieldType::UInt32,
            optional,
            form: Form::One(Attached {
                operator: self.choices.of(&[
                    Operator::Copy,
                    Operator::Default,
                    Operator::Increment,
                ]),
                initial: Some("1".to_owned()),
                ..Attached::NONE
            }),
            items: Vec::new(),
            dictionary: None,
            application_type: None,
        }
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("F{}", self.names)
    }

    fn attached(&mut self, domain: Domain, optional: bool) -> Attached {
        let field_type = domain.field_type();
        let operators: Vec<_> = OPERATORS
            .into_iter()
            .filter(|operator| operator.applies_to(field_type))
            .filter(|operator| {
                self.shape != Shape::Peer || is_known(*operator, field_type, optional)
            })
            .collect();
        let operator = self.choices.of(&operators);
        let needs_value =
            operator == Operator::Constant || (operator == Operator::Default && !optional);
        let is_part = domain != Domain::Field(field_type);
        let has_value = needs_value
            || operator != Operator::None
                && self.choices.one_in(2)
                && (self.shape != Shape::Peer || is_known_initial(operator, field_type));
        let has_entry = !matches!(
            operator,
            Operator::None | Operator::Constant | Operator::Default
        );
        // Most keys are shared by fields of one type, a few by any.
        let key = match has_entry && self.choices.one_in(6) {
            false => None,
            true if self.choices.one_in(6) => Some("K".to_owned()),
            true => Some(format!("K{}", field_type.name())),
        };
        // fastlib does not look for them on parts of decimals.
        let has_dictionary =
            has_entry && self.field_dictionaries && (self.shape != Shape::Peer || !is_part);
        Attached {
            operator,
            initial: has_value.then(|| value::text(self.choices, domain, self.shape)),
            key: key.filter(|_| self.shape != Shape::Peer || field_type != FieldType::Decimal),
            dictionary: has_dictionary.then(|| self.dictionary(6)).flatten(),
        }
    }

    fn dictionary(&mut self, n: usize) -> Option<&'static str> {
        let names = ["mine", "yours", "global", "template", "type"];
        // fastlib has other thoughts of the current template and type behind a reference.
        let known = match self.shape == Shape::Peer && self.references {
            true => 3,
            false => names.len(),
        };
        self.choices
            .one_in(n)
            .then(|| self.choices.of(&names[..known]))
    }

    /// A dictionary for all fields of a template, group or sequence; fastlib would keep template ids in it.
    fn scope_dictionary(&mut self, n: usize) -> Option<&'static str> {
        match self.shape == Shape::Peer && self.references {
            true => None,
            false => self.dictionary(n),
        }
    }

    fn application_type(&mut self, n: usize) -> Option<&'static str> {
        self.choices
            .one_in(n)
            .then(|| self.choices.of(&["Order", "Trade"]))
    }
}

/// Whether fastlib has the operator, the way the standard has it; `tests/peer.rs` shows where it has not.
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

impl Attached {
    const NONE: Self = Self {
        operator: Operator::None,
        initial: None,
        key: None,
        dictionary: None,
    };
}

struct Writer<'f> {
    file: &'f File,
    spelling: Spelling,
    xml: String,
    /// Field ids so far: fastlib wants one of every field.
    ids: u32,
}

impl Writer<'_> {
    fn template(&mut self, model: &Model) {
        self.open("template", &model.name);
        self.attribute("id", Some(&model.id.to_string()));
        self.attribute("dictionary", model.dictionary);
        self.attribute("scp:reset", model.resets.then_some("yes"));
        self.xml.push_str(">\n");
        self.application_type(model.application_type);
        model.items.iter().for_each(|item| self.item(item));
        self.xml.push_str("</template>\n");
    }

    fn application_type(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.open("typeRef", name);
            self.xml.push_str("/>");
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Dynamic => self.xml.push_str("<templateRef/>\n"),
            Item::Static(number) => {
                self.open("templateRef", &self.file.templates[*number].name);
                self.xml.push_str("/>\n");
            }
            Item::Field(field) => self.field(field),
        }
    }

    fn field(&mut self, field: &Field) {
        let element = field.field_type.name();
        self.open(element, &field.name);
        self.id();
        self.attribute("presence", field.optional.then_some("optional"));
        let is_unicode = field.field_type == FieldType::Unicode;
        self.attribute("charset", is_unicode.then_some("unicode"));
        self.attribute("dictionary", field.dictionary);
        match &field.form {
            Form::Split(exponent, mantissa) => {
                self.xml.push('>');
                self.part(field, "exponent", exponent, field.optional);
                self.part(field, "mantissa", mantissa, false);
            }
            Form::One(length) if field.field_type == FieldType::Sequence => {
                self.xml.push('>');
                self.application_type(field.application_type);
                self.part(field, "length", length, field.optional);
            }
            Form::One(attached) => {
                self.peer_attributes(attached);
                self.xml.push('>');
                self.application_type(field.application_type);
                self.operator(attached);
            }
        }
        field.items.iter().for_each(|item| self.item(item));
        let _ = writeln!(self.xml, "</{element}>");
    }

    fn part(&mut self, field: &Field, element: &str, attached: &Attached, optional: bool) {
        self.xml.push('<');
        self.xml.push_str(element);
        if element == "length" {
            self.id();
        }
        if element == "length" && self.spelling == Spelling::Peer {
            self.attribute("name", Some(&format!("{}N", field.name)));
        }
        if self.spelling == Spelling::Peer {
            self.attribute("presence", optional.then_some("optional"));
        }
        self.peer_attributes(attached);
        self.xml.push('>');
        self.operator(attached);
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

    fn open(&mut self, element: &str, name: &str) {
        let _ = write!(self.xml, "<{element} name=\"{name}\"");
    }

    fn id(&mut self) {
        self.ids += 1;
        let id = self.ids.to_string();
        self.attribute("id", Some(&id));
    }

    fn attribute(&mut self, name: &str, value: Option<&str>) {
        attribute(&mut self.xml, name, value);
    }
}

fn attribute(xml: &mut String, name: &str, value: Option<&str>) {
    let Some(value) = value else {
        return;
    };
    let value = value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;");
    let _ = write!(xml, " {name}=\"{value}\"");
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

const OPERATORS: [Operator; 7] = [
    Operator::None,
    Operator::Constant,
    Operator::Default,
    Operator::Copy,
    Operator::Increment,
    Operator::Delta,
    Operator::Tail,
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
