//! The names that templates have as types of topics. Both the types that are made at run time and those that are
//! generated take them from here, so that they are the same types. Knows nothing of DDS but what a name may be.

use std::collections::HashMap;

use super::names::{Namer, idl};
use crate::{Element, Elements, Field, FieldIndex, FieldType, Fields, Template, Templates};

/// Names for the topic types of templates: those of the templates wherever IDL allows them.
///
/// | of | name |
/// |---|---|
/// | a template | its own |
/// | a field | its own |
/// | the struct of a group or of a sequence's elements | all names from the template down, with underscores between |
/// | an enumeration | `Type` in a module with such a name |
/// | the bits of a set | a module with such a name |
/// | an element of an enumeration | its own, or its id if only that begins with a letter |
///
/// Characters that IDL does not have become underscores, a name that begins with no letter gets an `N`, and a name that
/// is taken, be it in other case (IDL 4.2 §7.2.3), gets a number. Templates without an id have no messages and no names.
#[derive(Clone, Debug)]
pub struct TopicNames {
    /// By the template's number.
    templates: Box<[Box<str>]>,
    /// By field index.
    members: Box<[Box<str>]>,
    /// By field index; empty for fields without a type of their own.
    types: Box<[Box<str>]>,
    /// Of fields that are enumerations.
    literals: HashMap<FieldIndex, Box<[Box<str>]>>,
}

impl TopicNames {
    /// The names of all templates that have messages, and of their fields. Cost: one pass over the fields, and the names' memory.
    pub fn new(templates: &Templates) -> Self {
        let mut types = Namer::idl(&["decimal"]);
        let named = templates
            .iter()
            .map(|template| match template.has_messages() {
                true => types.unique(idl(template.name())).into(),
                false => Box::default(),
            });
        let mut names = Self {
            templates: named.collect(),
            members: vec![Box::default(); templates.field_count()].into(),
            types: vec![Box::default(); templates.field_count()].into(),
            literals: HashMap::new(),
        };
        for template in templates.iter().filter(|template| template.has_messages()) {
            let name = names.template(template).to_owned();
            names.scope(&name, template.fields(), &mut types);
        }
        names
    }

    /// The name of a template's type. Empty for a template without messages, or of other templates.
    pub fn template(&self, template: Template<'_>) -> &str {
        let name = self.templates.get(template.index as usize);
        name.map_or("", |name| name)
    }

    /// The name of a field as a member.
    pub fn member(&self, field: Field<'_>) -> &str {
        at(&self.members, field.index())
    }

    /// The name of the struct of a group or of a sequence's elements, of an enumeration, or of the module of a set's bits.
    /// Empty for other fields.
    pub fn nested(&self, field: Field<'_>) -> &str {
        at(&self.types, field.index())
    }

    /// The names of an enumeration's elements, whose numbers count up from 0. None for other fields, and for an
    /// enumeration with other numbers, which lenient mode allows: that stays an integer.
    pub fn literals(&self, field: Field<'_>) -> &[Box<str>] {
        self.literals
            .get(&field.index())
            .map_or(&[], |literals| literals)
    }

    fn scope(&mut self, outer: &str, fields: Fields<'_>, types: &mut Namer) {
        // A struct's name means the struct inside it, too (IDL 4.2 §7.5.2).
        let mut members = Namer::idl(&[&outer.to_ascii_lowercase()]);
        for field in fields {
            let index = field.index().get();
            if let Some(name) = self.members.get_mut(index) {
                *name = members.unique(idl(field.name())).into();
            }
            if let Some(elements) = counted(field) {
                let module = types.unique(format!("{outer}_{}", idl(field.name())));
                if let Some(name) = self.types.get_mut(index) {
                    *name = format!("{module}::Type").into();
                }
                let mut literals = Namer::idl(&["type", &module.to_ascii_lowercase()]);
                let named = elements
                    .iter()
                    .map(|element| literals.unique(idl(label(element))).into());
                self.literals.insert(field.index(), named.collect());
            }
            if field.set().is_some() {
                let module = types.unique(format!("{outer}_{}", idl(field.name())));
                if let Some(name) = self.types.get_mut(index) {
                    *name = module.into();
                }
            }
            if matches!(field.field_type(), FieldType::Group | FieldType::Sequence) {
                let nested = types.unique(format!("{outer}_{}", idl(field.name())));
                self.scope(&nested, field.fields(), types);
                if let Some(name) = self.types.get_mut(index) {
                    *name = nested.into();
                }
            }
        }
    }
}

/// The elements of a field that is an enumeration whose integers are 0, 1, 2 and so on.
pub(super) fn counted(field: Field<'_>) -> Option<&Elements> {
    let elements = field.enumeration()?;
    let counts = (0..)
        .zip(elements.iter())
        .all(|(number, element)| element.value == number);
    (counts && !elements.is_empty()).then_some(elements)
}

/// What an element is called: many venues have the value of a FIX field as the name and words as the id.
pub(super) fn label(element: &Element) -> &str {
    let is_word = |text: &&str| text.starts_with(|first: char| first.is_ascii_alphabetic());
    let id = element.id.as_deref().filter(is_word);
    Some(&*element.name)
        .filter(is_word)
        .or(id)
        .unwrap_or(&element.name)
}

fn at(names: &[Box<str>], index: FieldIndex) -> &str {
    names.get(index.get()).map_or("", |name| name)
}
