//! Templates as a program asks about them: names, ids, fields. Knows nothing of messages.

use std::sync::Arc;

use crate::compile;
use crate::error::{TemplateError, TemplateWarning};
use crate::field::{FieldIndex, FieldType, Operator, TemplateId};
use crate::instruction::{self, Instructions};
use crate::meaning::{Elements, Meaning, Timestamp};
use crate::plan::{FieldEntry, Plan, TemplateEntry};

/// How strictly template XML is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// FAST 1.1 with the types of the FAST 1.2 extension, and nothing else; what is refused is said with its place.
    #[default]
    Strict,
    /// Also what templates of venues, QuickFAST and mFAST have: `int8 uInt8 int16 uInt16`, vectors of integers, elements of
    /// enumerations with a `value`, `nop`, `view`, `reset="Y"` without a namespace, names in other capitals, attributes of
    /// unknown meaning, characters left over between elements, byte vectors that are text, namespace prefixes that nobody
    /// declares, XML declarations that are none or not at the start, and what came in by copy and paste: no-break and
    /// zero-width spaces, typographic quotes, full-width characters.
    Lenient,
}

/// The templates of a session, compiled to an instruction plan. Cheap to clone, free to share between threads.
#[derive(Clone, Debug)]
pub struct Templates {
    pub(crate) plan: Arc<Plan>,
    /// Index of the template of messages without an id.
    pub(crate) default: Option<u32>,
}

impl Templates {
    /// Reads a template file: a `templates` element or one `template`.
    ///
    /// Cost: one pass over the XML; static template references are expanded at their place.
    ///
    /// # Errors
    /// The first thing that is wrong, with line and column: not well-formed or not valid (S1, in [`Mode::Strict`] also
    /// whatever is not FAST 1.1), an operator or initial value that does not suit the field (S2 to S5), a reference to
    /// a name that is not there (D8).
    pub fn parse(xml: &str, mode: Mode) -> Result<Self, TemplateError> {
        Ok(Self::of(compile::compile(xml, mode)?))
    }

    /// What is odd about the file, in its order: misspelt attributes that [`Mode::Lenient`] passes over, the first 100.
    pub fn warnings(&self) -> &[TemplateWarning] {
        &self.plan.warnings
    }

    pub(crate) fn of(plan: Plan) -> Self {
        Self {
            plan: Arc::new(plan),
            default: None,
        }
    }

    /// The same templates with one for the messages that have no template id where none is known to copy (§10): the
    /// first of this name, with or without an id of its own. For feeds whose messages never have ids, as those of OPRA,
    /// whose template has none either. `None` if no template has the name.
    ///
    /// Decoders, encoders and generated code go by it. By default there is no such template, and a message like that is
    /// an error (D5). After losses it is an error all the same (`Lost`), unless no template has an id that could be lost.
    pub fn with_default(mut self, name: &str) -> Option<Self> {
        self.default = Some(self.by_name(name)?.index);
        Some(self)
    }

    /// The template of messages without an id.
    pub fn default_template(&self) -> Option<Template<'_>> {
        self.template(self.default?)
    }

    /// Whether messages can name their template.
    pub(crate) fn has_ids(&self) -> bool {
        self.iter().any(|template| template.id().is_some())
    }

    /// The templates of a strict file that can be compiled; `refused` gets the numbers and errors of the others.
    pub(crate) fn parse_each(
        xml: &str,
        mut refused: impl FnMut(u32, TemplateError),
    ) -> Result<Self, TemplateError> {
        compile::compile_each(xml, Mode::Strict, Some(&mut refused)).map(Self::of)
    }

    /// All templates, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = Template<'_>> {
        (0u32..)
            .zip(&self.plan.templates)
            .map(|(index, entry)| Template {
                templates: self,
                index,
                entry,
            })
    }

    /// The template with this id.
    pub fn by_id(&self, id: TemplateId) -> Option<Template<'_>> {
        self.template(self.plan.by_id(id.0)?)
    }

    /// The template with this name, the first one if namespaces make several.
    pub fn by_name(&self, name: &str) -> Option<Template<'_>> {
        self.iter().find(|template| template.name() == name)
    }

    /// The field with this index, `None` if the index is of other templates.
    pub fn field(&self, index: FieldIndex) -> Option<Field<'_>> {
        let entry = self.plan.field(index.0)?;
        Some(Field {
            templates: self,
            index,
            entry,
        })
    }

    /// Number of fields of all templates: one more than the largest [`FieldIndex`].
    pub fn field_count(&self) -> usize {
        self.plan.fields.len()
    }

    pub(crate) fn template(&self, index: u32) -> Option<Template<'_>> {
        self.plan.template(index).map(|entry| Template {
            templates: self,
            index,
            entry,
        })
    }

    /// Whether both have the same plan; they may differ in the default.
    pub(crate) fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.plan, &other.plan)
    }
}

/// One template.
#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    pub(crate) templates: &'a Templates,
    pub(crate) index: u32,
    pub(crate) entry: &'a TemplateEntry,
}

impl<'a> Template<'a> {
    /// The template's name.
    pub fn name(self) -> &'a str {
        &self.entry.name
    }

    /// The namespace of its name; empty if it has none.
    pub fn namespace(self) -> &'a str {
        &self.entry.namespace
    }

    /// Its id; a template without one can only be referenced by name, or be the default.
    pub fn id(self) -> Option<TemplateId> {
        self.entry.id.map(TemplateId)
    }

    /// Whether it is that of messages without an id: see [`Templates::with_default`].
    pub fn is_default(self) -> bool {
        self.templates.default == Some(self.index)
    }

    /// Whether there can be messages of it: it has an id, or is the default.
    pub fn has_messages(self) -> bool {
        self.entry.id.is_some() || self.is_default()
    }

    /// Whether a message of this template resets the dictionaries first (`scp:reset`).
    pub fn resets(self) -> bool {
        self.entry.reset
    }

    /// Most bits of its presence map, that of the template id included.
    pub fn map_bits(self) -> u32 {
        self.entry.map_bits
    }

    /// Its fields, those of static template references in their place.
    pub fn fields(self) -> Fields<'a> {
        Fields {
            templates: self.templates,
            next: self.entry.fields.start,
            end: self.entry.fields.end,
        }
    }

    /// The field with this name, the first one if there are several; fields of groups and sequences are theirs.
    pub fn field(self, name: &str) -> Option<Field<'a>> {
        self.fields().find(|field| field.name() == name)
    }

    /// The templates that it belongs to.
    pub fn templates(self) -> &'a Templates {
        self.templates
    }
}

impl PartialEq for Template<'_> {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.entry, other.entry)
    }
}

impl Eq for Template<'_> {}

/// One field of a template, group or sequence.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    templates: &'a Templates,
    index: FieldIndex,
    entry: &'a FieldEntry,
}

impl<'a> Field<'a> {
    /// What visitors get as the field's identity.
    pub fn index(self) -> FieldIndex {
        self.index
    }

    /// The field's name; a dynamic template reference is called `templateRef`.
    pub fn name(self) -> &'a str {
        &self.entry.name
    }

    /// The `id` attribute as it is written, the FIX tag in most templates.
    pub fn id(self) -> Option<&'a str> {
        self.entry.id.as_deref()
    }

    /// Its type. Enumerations, sets and booleans are unsigned integers, timestamps signed ones, and bit groups groups.
    pub fn field_type(self) -> FieldType {
        self.entry.field_type
    }

    /// Whether a message may come without it.
    pub fn is_optional(self) -> bool {
        self.entry.optional
    }

    /// Its operator; that of the length for a sequence, that of the mantissa for a decimal with two.
    pub fn operator(self) -> Operator {
        self.entry.operator
    }

    /// What is in the stream or the dictionary for the field itself, without the fields that it has. Cost: a search.
    pub fn instructions(self) -> Instructions<'a> {
        Instructions::new(&self.templates.plan, self)
    }

    /// Most bits of the presence map that a group or each element of a sequence begins with; 0: there is no such map.
    pub fn map_bits(self) -> u32 {
        instruction::map_bits(&self.templates.plan, self)
    }

    /// The names from the template down to the field, joined with dots.
    pub fn path(self) -> &'a str {
        &self.entry.path
    }

    /// The name of a sequence's length field, if the template gives one.
    pub fn length_name(self) -> Option<&'a str> {
        self.entry.length_name.as_deref()
    }

    /// The elements, if the field is an enumeration: its integers are theirs (FAST 1.2).
    pub fn enumeration(self) -> Option<&'a Elements> {
        match &self.entry.meaning {
            Meaning::Enumeration(elements) => Some(elements),
            _ => None,
        }
    }

    /// The elements, if the field is a set: its integers are sums of theirs (FAST 1.2).
    pub fn set(self) -> Option<&'a Elements> {
        match &self.entry.meaning {
            Meaning::Set(elements) => Some(elements),
            _ => None,
        }
    }

    /// Whether the field is a boolean: its integers are 0 and 1 (FAST 1.2).
    pub fn is_boolean(self) -> bool {
        self.entry.meaning == Meaning::Boolean
    }

    /// What is counted and from when, if the field is a timestamp: a signed integer (FAST 1.2).
    pub fn timestamp(self) -> Option<&'a Timestamp> {
        match &self.entry.meaning {
            Meaning::Timestamp(timestamp) => Some(timestamp),
            _ => None,
        }
    }

    /// The largest integer that it can have, of its elements if it is an enumeration or a set.
    pub(crate) fn max(self) -> u64 {
        self.entry.max
    }

    /// How many bits the field takes in its bit group, or all fields of a bit group together (FAST 1.2); `None` if it is
    /// neither. A bit group's [type](Self::field_type) is a group.
    pub fn bit_width(self) -> Option<u32> {
        (self.entry.bits > 0).then_some(self.entry.bits.into())
    }

    /// The type's name in template XML, with the types of FAST 1.2, which [`field_type`](Self::field_type) shows as the
    /// integers that they are.
    pub fn type_name(self) -> &'static str {
        match (&self.entry.meaning, self.entry.field_type) {
            (Meaning::Enumeration(_), _) => "enum",
            (Meaning::Set(_), _) => "set",
            (Meaning::Boolean, _) => "boolean",
            (Meaning::Timestamp(_), _) => "timestamp",
            (Meaning::Plain, FieldType::Group) if self.entry.bits > 0 => "bitGroup",
            (Meaning::Plain, field_type) if self.entry.bits > 0 => {
                small_integer(field_type, self.entry.bits)
            }
            (Meaning::Plain, field_type) => field_type.name(),
        }
    }

    /// The templates that it belongs to.
    pub fn templates(self) -> &'a Templates {
        self.templates
    }

    /// The fields of a group or of a sequence's elements; none for other types.
    pub fn fields(self) -> Fields<'a> {
        Fields {
            templates: self.templates,
            next: self.index.0 + 1,
            end: self.entry.end,
        }
    }
}

/// The fields of a template, group or sequence, in order.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    templates: &'a Templates,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        if self.next >= self.end {
            return None;
        }
        let field = self.templates.field(FieldIndex(self.next))?;
        self.next = field.entry.end;
        Some(field)
    }
}

/// The name of an integer type that only bit groups have.
fn small_integer(field_type: FieldType, bits: u8) -> &'static str {
    const SIGNED: [&str; 8] = ["", "", "int2", "int3", "int4", "int5", "int6", "int7"];
    const UNSIGNED: [&str; 8] = [
        "", "uInt1", "uInt2", "uInt3", "uInt4", "uInt5", "uInt6", "uInt7",
    ];
    let names = if field_type.is_signed() {
        SIGNED
    } else {
        UNSIGNED
    };
    names.get(usize::from(bits)).copied().unwrap_or_default()
}
