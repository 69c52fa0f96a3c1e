//! Fields as they are written: an element of a type's name, or FAST 1.2's `field` with a type in it, its own or one that
//! a `define` has given a name. Knows nothing of types or instructions.
//!
//! ```text
//! <uInt32 name="A"><copy/></uInt32>                                  one layer
//! <field name="A"><uInt32><copy/></uInt32></field>                   field, uInt32
//! <field name="A" presence="optional"><type name="T"/></field>       field, type, and what T is defined as
//! ```

use roxmltree::Node;

use super::Compiler;
use super::source::Source;
use crate::error::TemplateError;
use crate::{Code, Mode};

/// The elements that describe one field, the nearest to its use first. What one of them says (presence, operator,
/// dictionary) counts before what those after it say.
pub(super) struct Declaration<'d> {
    layers: Vec<Node<'d, 'd>>,
}

impl<'d> Declaration<'d> {
    pub(super) fn layers(&self) -> &[Node<'d, 'd>] {
        &self.layers
    }

    /// The element that stands among the instructions.
    pub(super) fn place(&self) -> Node<'d, 'd> {
        self.layers[0]
    }

    /// The element whose name is the type's.
    pub(super) fn body(&self) -> Node<'d, 'd> {
        self.layers[self.layers.len() - 1]
    }

    pub(super) fn attribute(&self, source: &Source<'d>, attribute: &str) -> Option<&'d str> {
        let mut layers = self.layers.iter();
        layers.find_map(|layer| source.attribute(*layer, attribute))
    }

    pub(super) fn is_optional(&self, source: &Source<'d>) -> Result<bool, TemplateError> {
        for layer in &self.layers {
            if let Some(optional) = source.presence(*layer)? {
                return Ok(optional);
            }
        }
        Ok(false)
    }

    /// The field's name. mFAST leaves it out where a sequence has elements of one field.
    pub(super) fn name(&self, source: &Source<'d>) -> Result<&'d str, TemplateError> {
        let mut named = self
            .layers
            .iter()
            .filter(|node| source.name(**node) != "type");
        let name = named.find_map(|layer| source.attribute(*layer, "name"));
        let in_sequence = || {
            let parent = self.place().parent();
            parent.is_some_and(|parent| source.name(parent) == "sequence")
        };
        match name.filter(|name| !name.is_empty()) {
            Some(name) => Ok(name),
            None if source.mode == Mode::Lenient && in_sequence() => Ok(UNNAMED),
            None => source.required(self.place(), "name"),
        }
    }

    /// In strict mode, refuses attributes that no field of this type has.
    pub(super) fn check_attributes(
        &self,
        source: &Source<'d>,
        known: &[&str],
    ) -> Result<(), TemplateError> {
        let mut layers = self.layers.iter();
        layers.try_for_each(|layer| match source.name(*layer) {
            "type" => source.check_attributes(*layer, &["name", "presence"]),
            "field" => source.check_attributes(*layer, &["name", "ns", "id", "presence"]),
            _ => source.check_attributes(*layer, known),
        })
    }
}

impl<'d> Compiler<'_, 'd> {
    /// Follows `field` and `type` to the element that has the type.
    pub(super) fn declaration(&self, node: Node<'d, 'd>) -> Result<Declaration<'d>, TemplateError> {
        let mut layers = vec![node];
        let mut at = node;
        loop {
            at = match self.source.name(at) {
                "field" => self.type_of(at)?,
                "type" => {
                    let name = self.source.required(at, "name")?;
                    let Some(body) = self.types.get(name) else {
                        let detail = format!("no type is called {name}");
                        return Err(self.source.error(at, Code::S1, detail));
                    };
                    *body
                }
                // mFAST takes the name of a defined type as an element's.
                other => match self.types.get(other) {
                    Some(body) if self.source.mode == Mode::Lenient => *body,
                    _ => return Ok(Declaration { layers }),
                },
            };
            if layers.len() == MAX_LAYERS {
                let detail = format!("a type through more than {MAX_LAYERS} names");
                return Err(self.source.error(node, Code::S1, detail));
            }
            layers.push(at);
        }
    }

    /// The one child of `field` or `define` that is a type.
    pub(super) fn type_of(&self, node: Node<'d, 'd>) -> Result<Node<'d, 'd>, TemplateError> {
        let children = self.source.elements(node)?;
        let mut types = children
            .into_iter()
            .filter(|child| !OPERATORS.contains(&self.source.name(*child)));
        let name = self.source.name(node);
        match (types.next(), types.next()) {
            (Some(found), None) => Ok(found),
            (None, _) => Err(self
                .source
                .error(node, Code::S1, format!("{name} without a type"))),
            (_, Some(second)) => {
                Err(self
                    .source
                    .error(second, Code::S1, format!("{name} with two types")))
            }
        }
    }
}

pub(super) const OPERATORS: [&str; 6] =
    ["constant", "default", "copy", "increment", "delta", "tail"];

/// What a field without a name is called.
pub(super) const UNNAMED: &str = "element";
/// Types that are defined by types: more than anyone needs, and an end for those that are defined by themselves.
const MAX_LAYERS: usize = 16;
