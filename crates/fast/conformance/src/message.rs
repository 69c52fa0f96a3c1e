//! Random messages that suit the templates of a [`File`]. Knows nothing of bytes.

use tickwire_fast::{
    BuildError, Builder, Decimal, FieldType, Message, Operator, Record, Templates, Value,
};

use crate::choice::Choices;
use crate::template::{Attached, Field, File, Form, Item, Shape};
use crate::value;

/// Makes messages, each with values that often follow from those of the one before.
#[derive(Debug)]
pub struct Messages<'f, 'b> {
    file: &'f File,
    templates: &'f Templates,
    /// Where the values come from; what it has not used is the caller's.
    pub choices: Choices<'b>,
    shape: Shape,
    /// Counts values, so that some are one more than before.
    count: u64,
}

impl<'f, 'b> Messages<'f, 'b> {
    /// Messages of `file`, of which `templates` were read; with values that suit the shape that it has.
    pub fn new(file: &'f File, templates: &'f Templates, choices: Choices<'b>) -> Self {
        Self {
            file,
            templates,
            choices,
            shape: file.shape,
            count: 0,
        }
    }

    /// Makes `message` one of any template of the file.
    ///
    /// # Errors
    /// None, if the templates are those of the file.
    pub fn fill(&mut self, message: &mut Message) -> Result<(), BuildError> {
        let number = self.choices.below(self.file.templates.len());
        let model = &self.file.templates[number];
        let template = self
            .templates
            .by_name(&model.name)
            .ok_or(BuildError::NoField(model.name.as_str().into()))?;
        self.count += 1;
        self.items(&model.items, &mut message.build(template), 0)
    }

    fn items(
        &mut self,
        items: &[Item],
        into: &mut Builder<'_>,
        depth: u32,
    ) -> Result<(), BuildError> {
        let file = self.file;
        for item in items {
            match item {
                Item::Field(field) if field.optional && self.choices.one_in(3) => {}
                Item::Field(field) => self.field(field, into, depth)?,
                Item::Static(number) => self.items(&file.templates[*number].items, into, depth)?,
                Item::Dynamic => self.inner(into, depth)?,
            }
        }
        Ok(())
    }

    fn inner(&mut self, into: &mut Builder<'_>, depth: u32) -> Result<(), BuildError> {
        let number = match depth {
            0..3 => self.choices.below(self.file.templates.len()),
            _ => 0,
        };
        let model = &self.file.templates[number];
        let template = self
            .templates
            .by_name(&model.name)
            .ok_or(BuildError::NoField(model.name.as_str().into()))?;
        into.template(template, |inner| self.items(&model.items, inner, depth + 1))
            .map(|_| ())
    }

    fn field(
        &mut self,
        field: &Field,
        into: &mut Builder<'_>,
        depth: u32,
    ) -> Result<(), BuildError> {
        let name = &field.name;
        let constant = match &field.form {
            Form::One(attached) => attached.constant(),
            Form::Split(..) => None,
        };
        let done = match field.field_type {
            FieldType::Group => into.group(name, |group| self.items(&field.items, group, depth)),
            FieldType::Sequence => {
                let len = match constant {
                    Some(text) => parsed(text),
                    None => self.choices.below(4),
                };
                into.sequence(name, 0..len, |element, _| {
                    self.count += 1;
                    self.items(&field.items, element, depth)
                })
            }
            // A mandatory constant need not be said.
            _ if constant.is_some() && !field.optional && self.choices.one_in(2) => return Ok(()),
            FieldType::Decimal => into.set(name, self.decimal(field, constant)),
            FieldType::ByteVector => {
                let bytes = match constant {
                    Some(hex) => unhex(hex),
                    None => value::bytes(&mut self.choices),
                };
                into.set(name, &bytes[..])
            }
            FieldType::Ascii | FieldType::Unicode => {
                let text = match constant {
                    Some(text) => text.to_owned(),
                    None => self.text(field),
                };
                into.set(name, text.as_str())
            }
            integer => {
                let value = match constant {
                    Some(text) => parsed(text),
                    None => self.integer(integer, field.optional, &field.form),
                };
                match u64::try_from(value) {
                    Ok(value) => into.set(name, Value::Unsigned(value)),
                    Err(_) => into.set(
                        name,
                        Value::Signed(i64::try_from(value).unwrap_or_default()),
                    ),
                }
            }
        };
        done.map(|_| ())
    }

    /// An integer; where fastlib takes no more than 64 bits of it, one that needs no more.
    fn integer(&mut self, field_type: FieldType, optional: bool, form: &Form) -> i128 {
        let keeps_to_width = match form {
            Form::One(Attached { operator, key, .. }) => match operator {
                Operator::None | Operator::Constant | Operator::Default => true,
                Operator::Copy => key.is_none(),
                _ => false,
            },
            Form::Split(..) => false,
        };
        match self.shape == Shape::Peer && (optional || !keeps_to_width) {
            true => value::small(&mut self.choices, field_type, self.count),
            false => value::integer(&mut self.choices, field_type, self.count),
        }
    }

    fn text(&mut self, field: &Field) -> String {
        let text = match field.field_type {
            FieldType::Ascii => value::ascii(&mut self.choices, self.shape),
            _ => value::unicode(&mut self.choices),
        };
        // A tail cannot shorten: most are given strings of one length.
        match &field.form {
            Form::One(attached) if attached.operator == Operator::Tail => {
                match self.choices.one_in(16) {
                    true => text,
                    false => format!("{text:->16}"),
                }
            }
            _ => text,
        }
    }

    /// A decimal with what constants of it or of its parts demand.
    fn decimal(&mut self, field: &Field, constant: Option<&str>) -> Decimal {
        if let Some(text) = constant {
            return parsed::<Decimal>(text).normalized();
        }
        let exponent = value::exponent(&mut self.choices);
        let is_whole =
            matches!(&field.form, Form::One(attached) if attached.operator != Operator::Delta);
        let mantissa = self.integer(FieldType::Int64, !is_whole, &field.form);
        let mantissa = i64::try_from(mantissa).unwrap_or_default();
        let decimal = Decimal::new(mantissa, exponent).unwrap_or_default();
        let Form::Split(exponent, mantissa) = &field.form else {
            return decimal;
        };
        let exponent = Attached::constant(exponent).map_or(decimal.exponent(), parsed);
        let mantissa = Attached::constant(mantissa).map_or(decimal.mantissa(), parsed);
        Decimal::new(mantissa, exponent).unwrap_or_default()
    }
}

/// What the text of an initial value says; the generator of templates wrote it.
fn parsed<T: std::str::FromStr + Default>(text: &str) -> T {
    text.parse().unwrap_or_default()
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Vec<u8> = text.chars().filter_map(digit).collect();
    digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect()
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
                (part, whole) => part == whole,
            })
    })
}
