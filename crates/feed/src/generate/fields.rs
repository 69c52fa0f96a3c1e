//! Sample values by field name, written into messages.

use tickwire_fast::{Decimal, FieldIndex, Message, Template, Templates, Visitor};

/// A sample value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sample {
    Unsigned(u64),
    Signed(i64),
    Decimal(Decimal),
    Text(&'static str),
    Absent,
}

/// Which of a set of named values go into a template, group or element, in its order.
#[derive(Debug)]
pub(super) struct Layout(Vec<(FieldIndex, usize)>);

impl Layout {
    /// Pairs the fields with the positions of their names in `names`; fields without one, constants
    /// mostly, are left to the template.
    pub(super) fn new<'a>(
        fields: impl Iterator<Item = tickwire_fast::Field<'a>>,
        names: &[&str],
    ) -> Self {
        Self(
            fields
                .filter_map(|field| {
                    let at = names.iter().position(|name| *name == field.name())?;
                    Some((field.index(), at))
                })
                .collect(),
        )
    }

    /// Sets the fields to `values`, which are in the order of the names.
    pub(super) fn put(&self, message: &mut Message, values: &[Sample]) {
        for &(field, at) in &self.0 {
            match values.get(at) {
                Some(Sample::Unsigned(value)) => message.unsigned(field, *value),
                Some(Sample::Signed(value)) => message.signed(field, *value),
                Some(Sample::Decimal(value)) => message.decimal(field, *value),
                Some(Sample::Text(value)) => message.text(field, value),
                Some(Sample::Absent) | None => {}
            }
        }
    }
}

/// Starts `message` as one of the template called `name`, which our own templates have.
pub(super) fn start(message: &mut Message, templates: &Templates, name: &str) {
    if let Some(template) = templates.by_name(name) {
        message.start(template);
    }
}

/// The sequence called `name` of a template, and the fields of its elements.
pub(super) fn sequence(
    template: Template<'_>,
    name: &str,
    names: &[&str],
) -> Option<(FieldIndex, Layout)> {
    let field = template.field(name)?;
    Some((field.index(), Layout::new(field.fields(), names)))
}
