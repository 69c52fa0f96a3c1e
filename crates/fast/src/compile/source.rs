//! Template XML as the compiler reads it: elements of FAST's namespace, attributes, places for errors. Knows nothing of
//! what elements mean.

use std::cell::RefCell;
use std::collections::HashSet;

use roxmltree::{Attribute, Document, Node};
use tickwire_base::nearest_name;

use super::characters;
use super::text::Text;
use crate::error::{TemplateError, TemplateWarning};
use crate::{Code, Mode};

/// A parsed template file.
pub(super) struct Source<'d> {
    text: &'d Text<'d>,
    namespace: Option<&'d str>,
    pub(super) mode: Mode,
    warnings: RefCell<Warnings>,
}

/// What is odd about a file that is accepted.
#[derive(Default)]
struct Warnings {
    list: Vec<TemplateWarning>,
    /// Bytes of the file that have one: references lead to an element again and again.
    at: HashSet<usize>,
}

impl<'d> Source<'d> {
    /// The root element's namespace is FAST's, whichever version it names; elements of others are skipped (§9).
    pub(super) fn new(text: &'d Text<'d>, document: &'d Document<'d>, mode: Mode) -> Self {
        Self {
            text,
            namespace: document.root_element().tag_name().namespace(),
            mode,
            warnings: RefCell::default(),
        }
    }

    /// What was odd, once the file has been compiled.
    pub(super) fn into_warnings(self) -> Vec<TemplateWarning> {
        let mut warnings = self.warnings.into_inner().list;
        warnings.sort_by_key(|warning| (warning.line, warning.column));
        warnings
    }

    /// The child elements that are FAST's. Text between them is refused in strict mode.
    pub(super) fn elements(
        &self,
        parent: Node<'d, 'd>,
    ) -> Result<Vec<Node<'d, 'd>>, TemplateError> {
        let mut elements = Vec::new();
        for child in parent.children() {
            if child.is_text() {
                let mut text = child.text().unwrap_or_default().char_indices();
                let stray = text.find(|(_, c)| !c.is_ascii_whitespace());
                if let (Mode::Strict, Some((at, stray))) = (self.mode, stray) {
                    let detail = format!("character {} between elements", characters::name(stray));
                    return Err(self.error_at(child.range().start + at, Code::S1, detail));
                }
            } else if child.is_element() && self.is_fast(child) {
                elements.push(child);
            }
        }
        Ok(elements)
    }

    /// The first child element of this name.
    pub(super) fn child(&self, parent: Node<'d, 'd>, name: &str) -> Option<Node<'d, 'd>> {
        parent
            .children()
            .find(|child| child.is_element() && self.is_fast(*child) && self.name(*child) == name)
    }

    /// An element's name, in lenient mode with the standard's capitals.
    pub(super) fn name(&self, node: Node<'d, 'd>) -> &'d str {
        let name = node.tag_name().name();
        match self.mode {
            Mode::Strict => name,
            Mode::Lenient => {
                let mut known = NAMES.iter();
                let known = known.find(|known| known.eq_ignore_ascii_case(name));
                known.copied().unwrap_or(name)
            }
        }
    }

    /// An attribute without a namespace, in lenient mode whatever the capitals of its name.
    pub(super) fn attribute(&self, node: Node<'d, 'd>, name: &str) -> Option<&'d str> {
        match node.attribute(name) {
            None if self.mode == Mode::Lenient => node
                .attributes()
                .find(|a| a.namespace().is_none() && a.name().eq_ignore_ascii_case(name))
                .map(|attribute| attribute.value()),
            found => found,
        }
    }

    /// Whether an attribute's value is this word, in lenient mode whatever its capitals and the blanks around it.
    pub(super) fn is_word(&self, value: &str, word: &str) -> bool {
        match self.mode {
            Mode::Strict => value == word,
            Mode::Lenient => value.trim().eq_ignore_ascii_case(word),
        }
    }

    /// Whether an element is FAST's: its namespace is the root's or that of a version of FAST.
    fn is_fast(&self, node: Node<'d, 'd>) -> bool {
        let namespace = node.tag_name().namespace();
        namespace == self.namespace
            || namespace.is_some_and(|namespace| {
                VERSIONS.contains(&namespace)
                    || self.mode == Mode::Lenient && namespace.contains("/td/")
            })
    }

    pub(super) fn has_type(&self, template: Node<'d, 'd>) -> bool {
        self.child(template, "typeRef").is_some()
    }

    pub(super) fn required(
        &self,
        node: Node<'d, 'd>,
        attribute: &str,
    ) -> Result<&'d str, TemplateError> {
        let missing = || {
            self.error(
                node,
                Code::S1,
                format!("{} without {attribute}", self.name(node)),
            )
        };
        self.attribute(node, attribute)
            .filter(|value| !value.is_empty())
            .ok_or_else(missing)
    }

    pub(super) fn number(
        &self,
        node: Node<'d, 'd>,
        attribute: &str,
    ) -> Result<Option<u32>, TemplateError> {
        let Some(text) = self.attribute(node, attribute) else {
            return Ok(None);
        };
        let wrong = |_| {
            self.error(
                node,
                Code::S1,
                format!("{attribute} {text:?} is not a 32-bit number"),
            )
        };
        text.trim().parse().map(Some).map_err(wrong)
    }

    /// Whether a field is optional, if its element says.
    pub(super) fn presence(&self, node: Node<'d, 'd>) -> Result<Option<bool>, TemplateError> {
        match self.attribute(node, "presence") {
            None => Ok(None),
            Some(word) if self.is_word(word, "mandatory") => Ok(Some(false)),
            Some(word) if self.is_word(word, "optional") => Ok(Some(true)),
            Some(other) => Err(self.error(node, Code::S1, format!("presence {other:?}"))),
        }
    }

    /// Whether a template resets the dictionaries: `scp:reset="yes"`, or in the dialect of QuickFAST and mFAST `reset`
    /// without a namespace and with other words. Some venues write both.
    pub(super) fn reset(&self, node: Node<'d, 'd>) -> Result<bool, TemplateError> {
        let mut resets = false;
        for attribute in node.attributes().filter(|attribute| {
            let namespace = attribute.namespace();
            attribute.name() == "reset" && namespace.is_none_or(|ns| ns.contains("fixprotocol"))
        }) {
            let value = attribute.value();
            let refused = |detail| Err(self.error_at(attribute.range().start, Code::S1, detail));
            if self.mode == Mode::Strict && attribute.namespace().is_none() {
                return refused(format!(
                    "reset={value:?} is a dialect: the standard has scp:reset in the namespace of SCP"
                ));
            }
            resets |= match (self.mode, value) {
                (_, "yes") => true,
                (_, "no") => false,
                (Mode::Lenient, word) => ["y", "yes", "t", "true", "1"]
                    .iter()
                    .any(|yes| yes.eq_ignore_ascii_case(word.trim())),
                (Mode::Strict, _) => {
                    return refused(format!("reset={value:?} is neither yes nor no"));
                }
            };
        }
        Ok(resets)
    }

    /// In strict mode, refuses attributes that FAST does not give this element; those of other namespaces are skipped.
    /// In lenient mode, warns of those that are nearly one that it could have.
    pub(super) fn check_attributes(
        &self,
        node: Node<'d, 'd>,
        known: &[&str],
    ) -> Result<(), TemplateError> {
        let is_known = |name: &str| match self.mode {
            Mode::Strict => known.contains(&name),
            Mode::Lenient => known.iter().any(|known| known.eq_ignore_ascii_case(name)),
        };
        for attribute in node.attributes() {
            if attribute.namespace().is_some() || is_known(attribute.name()) {
                continue;
            }
            let detail = format!("{} has no attribute {}", self.name(node), attribute.name());
            match self.mode {
                Mode::Strict => {
                    return Err(self.error_at(attribute.range().start, Code::S1, detail));
                }
                Mode::Lenient => self.warn_of(node, attribute, known, &detail),
            }
        }
        Ok(())
    }

    /// Dialects have attributes of their own. What is nearly a name of FAST's, which the element does not have, is
    /// misspelt.
    fn warn_of(
        &self,
        node: Node<'d, 'd>,
        attribute: Attribute<'d, 'd>,
        known: &[&str],
        detail: &str,
    ) {
        let absent = known.iter().copied();
        let mut absent = absent.filter(|name| self.attribute(node, name).is_none());
        let name = attribute.name();
        let near = nearest_name(name, absent.clone());
        let Some(near) = near.or_else(|| absent.find(|known| is_swapped(name, known))) else {
            return;
        };
        let at = attribute.range().start;
        let mut warnings = self.warnings.borrow_mut();
        if warnings.list.len() < MAX_WARNINGS && warnings.at.insert(at) {
            let detail = format!("{detail}; did you mean `{near}`?");
            let place = self.error_at(at, Code::S1, detail);
            warnings.list.push(place.into());
        }
    }

    pub(super) fn error(&self, node: Node<'d, 'd>, code: Code, detail: String) -> TemplateError {
        self.error_at(node.range().start, code, detail)
    }

    fn error_at(&self, at: usize, code: Code, detail: String) -> TemplateError {
        self.text.error(at, code, detail)
    }
}

/// Whether two neighbouring letters are all that is in another order.
fn is_swapped(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let differs = |(x, y): (&u8, &u8)| x != y;
    let Some(at) = a.iter().zip(b).position(differs) else {
        return false;
    };
    match (&a[at..], &b[at..]) {
        ([x1, x2, rest_a @ ..], [y1, y2, rest_b @ ..]) => (x1, x2) == (y2, y1) && rest_a == rest_b,
        _ => false,
    }
}

/// As many oddities are told.
const MAX_WARNINGS: usize = 100;

/// The namespaces of FAST templates.
const VERSIONS: [&str; 3] = [
    "http://www.fixprotocol.org/ns/fast/td/1.1",
    "http://www.fixprotocol.org/ns/fast/td/1.2",
    "http://www.fixprotocol.org/ns/template-definition",
];

/// The elements of templates, of FAST 1.1 and 1.2 and of the dialects.
const NAMES: [&str; 41] = [
    "templates",
    "template",
    "define",
    "field",
    "type",
    "typeRef",
    "templateRef",
    "group",
    "sequence",
    "length",
    "int32",
    "uInt32",
    "int64",
    "uInt64",
    "decimal",
    "exponent",
    "mantissa",
    "string",
    "byteVector",
    "constant",
    "default",
    "copy",
    "increment",
    "delta",
    "tail",
    "enum",
    "set",
    "element",
    "boolean",
    "timestamp",
    "bitGroup",
    "int8",
    "uInt8",
    "int16",
    "uInt16",
    "int32Vector",
    "uInt32Vector",
    "int64Vector",
    "uInt64Vector",
    "view",
    "nop",
];
