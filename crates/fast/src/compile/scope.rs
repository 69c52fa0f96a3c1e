//! What a template element inherits from those around it. Knows nothing of instructions.

use std::borrow::Cow;
use std::sync::Arc;

use roxmltree::Node;

use super::declaration::Declaration;
use super::source::Source;
use crate::error::TemplateError;

/// The surroundings of an element: dictionary, namespaces, current template and application type (FAST 1.1 §6.3.1).
#[derive(Clone)]
pub(super) struct Scope<'d> {
    pub(super) dictionary: &'d str,
    pub(super) namespace: &'d str,
    pub(super) template_namespace: &'d str,
    pub(super) template: u32,
    /// Namespace and name of the application type; `None` is the type "any".
    pub(super) application_type: Option<(&'d str, &'d str)>,
    /// Names from the template down.
    pub(super) path: Arc<str>,
    pub(super) depth: u32,
}

impl Default for Scope<'_> {
    fn default() -> Self {
        Self {
            dictionary: "global",
            namespace: "",
            template_namespace: "",
            template: 0,
            application_type: None,
            path: Arc::from(""),
            depth: 0,
        }
    }
}

/// Which dictionary an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum DictionaryKey<'d> {
    Global,
    Template(u32),
    Type(Option<(&'d str, &'d str)>),
    User(&'d str),
}

/// The part of a field that an entry is for: names of parts are implicit and collide with no other (§6.2.3, §6.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Whole,
    Length,
    Exponent,
    Mantissa,
}

impl Part {
    /// What the entry is called, of a field or `key` attribute called `name`.
    pub(super) fn key(self, name: &str) -> Cow<'_, str> {
        match self {
            Self::Whole => Cow::Borrowed(name),
            Self::Length => Cow::Owned(format!("{name}.length")),
            Self::Exponent => Cow::Owned(format!("{name}.exponent")),
            Self::Mantissa => Cow::Owned(format!("{name}.mantissa")),
        }
    }
}

/// What tells one dictionary entry from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SlotKey<'d> {
    pub(super) dictionary: DictionaryKey<'d>,
    pub(super) namespace: &'d str,
    pub(super) key: &'d str,
    pub(super) part: Part,
}

impl<'d> Scope<'d> {
    /// The scope inside `node`.
    pub(super) fn enter(
        &self,
        source: &Source<'d>,
        node: Node<'d, 'd>,
    ) -> Result<Self, TemplateError> {
        let mut scope = self.clone();
        scope.depth += 1;
        let inherited = |name, outer| source.attribute(node, name).unwrap_or(outer);
        scope.dictionary = inherited("dictionary", scope.dictionary);
        scope.namespace = inherited("ns", scope.namespace);
        scope.template_namespace = inherited("templateNs", scope.template_namespace);
        if let Some(reference) = source.child(node, "typeRef") {
            source.check_attributes(reference, &["name", "ns"])?;
            let namespace = source.attribute(reference, "ns").unwrap_or(scope.namespace);
            scope.application_type = Some((namespace, source.required(reference, "name")?));
        }
        Ok(scope)
    }

    /// The scope inside a field: what is said nearest to its use counts.
    pub(super) fn enter_field(
        &self,
        source: &Source<'d>,
        declaration: &Declaration<'d>,
    ) -> Result<Self, TemplateError> {
        let mut scope = self.clone();
        for layer in declaration.layers().iter().rev() {
            scope = scope.enter(source, *layer)?;
        }
        Ok(scope)
    }

    /// The scope of a template's own fields.
    pub(super) fn in_template(self, template: u32) -> Self {
        Self { template, ..self }
    }

    /// The scope of the fields of a group or sequence at `path`.
    pub(super) fn below(&self, path: Arc<str>) -> Self {
        Self {
            path,
            ..self.clone()
        }
    }

    /// This template's scope where it is expanded at a static reference in `outer`: the application type stays unless
    /// the template has its own.
    pub(super) fn reached_from(self, outer: &Self, has_type: bool) -> Self {
        let application_type = if has_type {
            self.application_type
        } else {
            outer.application_type
        };
        Self {
            application_type,
            path: outer.path.clone(),
            depth: outer.depth + 1,
            ..self
        }
    }

    /// The dictionary called `name` from here.
    pub(super) fn dictionary_key(&self, name: &'d str) -> DictionaryKey<'d> {
        match name {
            "global" => DictionaryKey::Global,
            "template" => DictionaryKey::Template(self.template),
            "type" => DictionaryKey::Type(self.application_type),
            user => DictionaryKey::User(user),
        }
    }
}
