//! The names that templates have as types of topics. Both the types that are made at run time and those that are
//! generated take them from here, so that they are the same types. Knows nothing of DDS but what a name may be.

use super::names::{Namer, idl};
use crate::{Field, FieldIndex, FieldType, Fields, Template, Templates};

/// Names for the topic types of templates: those of the templates wherever IDL allows them.
///
/// | of | name |
/// |---|---|
/// | a template | its own |
/// | a field | its own |
/// | the struct of a group or of a sequence's elements | all names from the template down, with underscores between |
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
}

impl TopicNames {
    /// The names of all templates with ids, and of their fields. Cost: one pass over the fields, and the names' memory.
    pub fn new(templates: &Templates) -> Self {
        let mut types = Namer::idl(&["decimal"]);
        let named = templates.iter().map(|template| match template.id() {
            Some(_) => types.unique(idl(template.name())).into(),
            None => Box::default(),
        });
        let mut names = Self {
            templates: named.collect(),
            members: vec![Box::default(); templates.field_count()].into(),
            types: vec![Box::default(); templates.field_count()].into(),
        };
        for template in templates.iter().filter(|template| template.id().is_some()) {
            let name = names.template(template).to_owned();
            names.scope(&name, template.fields(), &mut types);
        }
        names
    }

    /// The name of a template's type. Empty for a template without an id, or of other templates.
    pub fn template(&self, template: Template<'_>) -> &str {
        let name = self.templates.get(template.index as usize);
        name.map_or("", |name| name)
    }

    /// The name of a field as a member.
    pub fn member(&self, field: Field<'_>) -> &str {
        at(&self.members, field.index())
    }

    /// The name of the struct of a group or of a sequence's elements. Empty for other fields.
    pub fn nested(&self, field: Field<'_>) -> &str {
        at(&self.types, field.index())
    }

    fn scope(&mut self, outer: &str, fields: Fields<'_>, types: &mut Namer) {
        let mut members = Namer::idl(&[]);
        for field in fields {
            let index = field.index().get();
            if let Some(name) = self.members.get_mut(index) {
                *name = members.unique(idl(field.name())).into();
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

fn at(names: &[Box<str>], index: FieldIndex) -> &str {
    names.get(index.get()).map_or("", |name| name)
}
