//! Random messages of any templates. Knows nothing of XML or bytes.

use tickwire_fast::{
    BuildError, Builder, Decimal, Field, FieldType, Fields, Instruction, Message, Operator, Part,
    Record, Template, Templates, Value,
};

use crate::choice::Choices;
use crate::template::Shape;
use crate::value;

/// Makes messages that suit their templates, each with values that often follow from those of the one before.
#[derive(Debug)]
pub struct Messages<'t, 'b> {
    templates: Vec<Template<'t>>,
    /// Where the values come from; what it has not used is the caller's.
    pub choices: Choices<'b>,
    shape: Shape,
    /// Counts values, so that some are one more than before.
    count: u64,
}

impl<'t, 'b> Messages<'t, 'b> {
    /// Messages of all templates that have some.
    pub fn new(templates: &'t Templates, shape: Shape, choices: Choices<'b>) -> Self {
        let templates = templates.iter();
        Self {
            templates: templates
                .filter(|template| template.has_messages())
                .collect(),
            choices,
            shape,
            count: 0,
        }
    }

    /// Makes `message` one of any template.
    ///
    /// # Errors
    /// None that a template file with different names for different fields can cause.
    pub fn fill(&mut self, message: &mut Message) -> Result<(), BuildError> {
        let template = self.template(0);
        self.count += 1;
        self.fields(template.fields(), &mut message.build(template), 0)
    }

    /// Any template; the first one if it is in a few others.
    fn template(&mut self, depth: u32) -> Template<'t> {
        let number = match depth {
            0..3 => self.choices.below(self.templates.len()),
            _ => 0,
        };
        self.templates[number]
    }

    fn fields(
        &mut self,
        fields: Fields<'t>,
        into: &mut Builder<'_>,
        depth: u32,
    ) -> Result<(), BuildError> {
        for field in fields {
            if !field.is_optional() || !self.choices.one_in(3) {
                self.field(field, into, depth)?;
            }
        }
        Ok(())
    }

    fn field(
        &mut self,
        field: Field<'t>,
        into: &mut Builder<'_>,
        depth: u32,
    ) -> Result<(), BuildError> {
        let name = field.name();
        let done = match field.field_type() {
            FieldType::Template => {
                let template = self.template(depth);
                into.template(template, |inner| {
                    self.fields(template.fields(), inner, depth + 1)
                })
            }
            FieldType::Group => into.group(name, |group| self.fields(field.fields(), group, depth)),
            FieldType::Sequence => {
                let len = match constant(field, Part::Length) {
                    Some(Value::Unsigned(len)) => usize::try_from(len).unwrap_or_default(),
                    _ => self.choices.below(4),
                };
                into.sequence(name, 0..len, |element, _| {
                    self.count += 1;
                    self.fields(field.fields(), element, depth)
                })
            }
            _ => match constant(field, Part::Value) {
                // A mandatory one need not be said.
                Some(_) if !field.is_optional() && self.choices.one_in(2) => return Ok(()),
                Some(value) => into.set(name, value),
                None => self.set(field, into),
            },
        };
        done.map(|_| ())
    }

    fn set<'m, 'i>(
        &mut self,
        field: Field<'_>,
        into: &'i mut Builder<'m>,
    ) -> Result<&'i mut Builder<'m>, BuildError> {
        let name = field.name();
        match field.field_type() {
            FieldType::Decimal => into.set(name, self.decimal(field)),
            FieldType::ByteVector => into.set(name, &value::bytes(&mut self.choices)[..]),
            FieldType::Ascii | FieldType::Unicode => into.set(name, self.text(field).as_str()),
            _ => match self.integer(field) {
                negative @ ..0 => into.set(name, i64::try_from(negative).unwrap_or_default()),
                value => into.set(name, u64::try_from(value).unwrap_or_default()),
            },
        }
    }

    fn integer(&mut self, field: Field<'_>) -> i128 {
        if let Some(elements) = field.enumeration() {
            return (self.choices.below(elements.len())) as i128;
        }
        let bits = match (field.set(), field.bit_width()) {
            (Some(elements), _) => elements.len() as u32,
            (None, _) if field.is_boolean() => 1,
            (None, Some(bits)) => bits,
            (None, None) => return self.number(field, field.field_type()),
        };
        let bits = bits - u32::from(field.field_type().is_signed());
        let any = i128::from(self.choices.byte()) & ((1 << bits) - 1);
        match field.field_type().is_signed() && self.choices.one_in(2) {
            true => -1 - any,
            false => any,
        }
    }

    /// An integer; where fastlib takes no more than 64 bits of it, one that needs no more.
    fn number(&mut self, field: Field<'_>, field_type: FieldType) -> i128 {
        let needs_width = |instruction: Instruction<'_>| match instruction.operator() {
            Operator::Increment | Operator::Delta => true,
            _ if instruction.is_optional() => true,
            _ => instruction
                .slot()
                .is_some_and(|slot| slot.key != field.name()),
        };
        match self.shape.is_for_peer() && field.instructions().any(needs_width) {
            true => value::small(&mut self.choices, field_type, self.count),
            false => value::integer(&mut self.choices, field_type, self.count),
        }
    }

    fn text(&mut self, field: Field<'_>) -> String {
        let text = match field.field_type() {
            FieldType::Ascii => value::ascii(&mut self.choices, self.shape),
            _ => value::unicode(&mut self.choices),
        };
        // A tail cannot shorten: most are given strings of one length.
        match field.operator() == Operator::Tail && !self.choices.one_in(16) {
            true => format!("{text:->16}"),
            false => text,
        }
    }

    /// A decimal with what constants of its parts demand.
    fn decimal(&mut self, field: Field<'_>) -> Decimal {
        let exponent = match constant(field, Part::Exponent) {
            Some(Value::Signed(exponent)) => i8::try_from(exponent).unwrap_or_default(),
            _ => value::exponent(&mut self.choices),
        };
        let mantissa = match constant(field, Part::Mantissa) {
            Some(Value::Signed(mantissa)) => mantissa,
            _ => i64::try_from(self.number(field, FieldType::Int64)).unwrap_or_default(),
        };
        Decimal::new(mantissa, exponent).unwrap_or_default()
    }
}

/// The value that a part of a field has to have.
fn constant(field: Field<'_>, part: Part) -> Option<Value<'_>> {
    field
        .instructions()
        .find(|instruction| {
            instruction.part() == part && instruction.operator() == Operator::Constant
        })?
        .initial()
}

/// Makes `message` one of any template with values that may suit or not, in order or not; what does not suit is refused
/// by the builder.
pub fn scribble(templates: &Templates, choices: &mut Choices<'_>, message: &mut Message) {
    let all: Vec<_> = templates.iter().collect();
    if !all.is_empty() {
        let template = choices.of(&all);
        scribble_fields(
            &all,
            template.fields(),
            choices,
            &mut message.build(template),
            4,
        );
    }
}

fn scribble_fields(
    all: &[Template<'_>],
    fields: Fields<'_>,
    choices: &mut Choices<'_>,
    into: &mut Builder<'_>,
    depth: u32,
) {
    for field in fields {
        let name = match choices.below(16) {
            0 => "F1",
            1 => continue,
            _ => field.name(),
        };
        let inner = depth.saturating_sub(1);
        let _ = match field.field_type() {
            FieldType::Group if depth > 0 => into.group(name, |group| {
                scribble_fields(all, field.fields(), choices, group, inner);
                Ok(())
            }),
            FieldType::Sequence if depth > 0 => {
                into.sequence(name, 0..choices.below(4), |element, _| {
                    scribble_fields(all, field.fields(), choices, element, inner);
                    Ok(())
                })
            }
            FieldType::Template if depth > 0 => {
                let template = choices.of(all);
                into.template(template, |message| {
                    scribble_fields(all, template.fields(), choices, message, inner);
                    Ok(())
                })
            }
            own => match choices.below(8) {
                0 => into.set(name, choices.bits()),
                1 => into.set(name, choices.bits().cast_signed()),
                2 => into.set(name, value::unicode(choices).as_str()),
                3 => into.set(name, &value::bytes(choices)[..]),
                _ if own == FieldType::Decimal => {
                    let mantissa = choices.bits().cast_signed();
                    let decimal = Decimal::new(mantissa, value::exponent(choices));
                    into.set(name, decimal.unwrap_or_default())
                }
                _ if own == FieldType::ByteVector => into.set(name, &value::bytes(choices)[..]),
                _ if own.is_string() => {
                    into.set(name, value::ascii(choices, Shape::Standard).as_str())
                }
                _ => into.set(name, choices.byte()),
            },
        };
    }
}

/// Whether `whole` has all that `part` has, in the same order: a decoded message has the mandatory constants and the
/// groups of nothing else that the encoded one left out.
pub fn is_within(part: Record<'_>, whole: Record<'_>) -> bool {
    let mut rest = whole;
    let mut part = part;
    part.all(|(field, value)| {
        rest.find(|(other, _)| other.index() == field.index())
            .is_some_and(|(_, other)| match (value, other) {
                (Value::Group(part), Value::Group(whole)) => is_within(part, whole),
                (Value::Sequence(part), Value::Sequence(whole)) => {
                    part.len() == whole.len()
                        && part
                            .iter()
                            .zip(whole.iter())
                            .all(|(part, whole)| is_within(part, whole))
                }
                (Value::Template(part_of, part), Value::Template(whole_of, whole)) => {
                    part_of == whole_of && is_within(part, whole)
                }
                // An exponent that the template fixes is that of the same number (D3).
                (Value::Decimal(part), Value::Decimal(whole))
                    if constant(field, Part::Exponent).is_some() =>
                {
                    part.normalized() == whole.normalized()
                }
                (part, whole) => part == whole,
            })
    })
}
