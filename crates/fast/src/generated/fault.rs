//! What goes wrong while a message is read or written, before its names are looked up.

use std::sync::Arc;

use crate::{Code, DecodeError, EncodeError, TemplateId};

/// What is wrong with a message, and where.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    code: Code,
    field: Option<u32>,
    element: Option<u32>,
    template: Option<&'static str>,
    unknown_template: Option<TemplateId>,
}

impl Fault {
    #[cold]
    #[inline(never)]
    pub(super) fn of_field(code: Code, field: u32) -> Self {
        Self {
            field: Some(field),
            ..Self::of(code)
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn of(code: Code) -> Self {
        Self {
            code,
            field: None,
            element: None,
            template: None,
            unknown_template: None,
        }
    }

    /// No template has this id.
    #[cold]
    pub fn unknown_template(id: u32) -> Self {
        Self {
            unknown_template: Some(TemplateId(id)),
            ..Self::of(Code::D9)
        }
    }

    pub(super) fn is_unknown_template(&self) -> bool {
        self.unknown_template.is_some() && self.template.is_none()
    }

    /// The same in this template, unless it is in one within.
    #[cold]
    pub fn in_template(mut self, name: &'static str) -> Self {
        self.template.get_or_insert(name);
        self
    }

    /// The same in this field, unless it is in one within.
    #[cold]
    pub fn in_field(mut self, field: u32) -> Self {
        self.field.get_or_insert(field);
        self
    }

    /// The same in this element of a sequence, unless it is in one within.
    #[cold]
    pub fn in_element(mut self, field: u32, index: u32) -> Self {
        self.element.get_or_insert(index);
        self.in_field(field)
    }

    /// A mandatory value is missing.
    #[cold]
    pub fn missing() -> Self {
        Self::of(Code::Missing)
    }

    #[cold]
    pub(super) fn into_encode_error(self, paths: &[&str]) -> EncodeError {
        let path = |field| paths.get(usize::try_from(field).ok()?).copied();
        EncodeError {
            code: self.code,
            template: self.template.map(Arc::from),
            field: self.field.and_then(path).map(Arc::from),
            element: self.element,
        }
    }

    #[cold]
    pub(super) fn into_error(self, offset: usize, paths: &[&str]) -> DecodeError {
        let path = |field| paths.get(usize::try_from(field).ok()?).copied();
        DecodeError {
            code: self.code,
            offset,
            template: self.template.map(Arc::from),
            unknown_template: self.unknown_template,
            field: self.field.and_then(path).map(Arc::from),
            element: self.element,
        }
    }
}
