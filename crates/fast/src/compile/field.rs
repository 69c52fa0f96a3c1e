//! Fields with a value: types, operators, dictionary slots. Knows nothing of groups and sequences but their length.

use std::sync::Arc;

use roxmltree::Node;

use super::declaration::{Declaration, OPERATORS};
use super::scope::{Part, Scope, SlotKey};
use super::types::Type;
use super::{Compiler, Extent, index, initial};
use crate::error::TemplateError;
use crate::field::{FieldType, Operator};
use crate::plan::{Initial, Kind, SlotEntry, Spec};
use crate::{Code, Mode};

/// A field or part of one, before it is an instruction.
struct Leaf<'a, 'd> {
    /// Any of them may hold the operator element; the first that does counts.
    layers: &'a [Node<'d, 'd>],
    r#type: &'a Type,
    optional: bool,
    /// Name that the dictionary key is made of if the operator gives none.
    name: &'d str,
    part: Part,
}

impl<'d> Compiler<'_, 'd> {
    /// A field of one of the simple types.
    pub(super) fn leaf(
        &mut self,
        declaration: &Declaration<'d>,
        scope: &Scope<'d>,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        let r#type = self.type_of_leaf(declaration)?;
        let field_type = r#type.field_type;
        declaration.check_attributes(self.source, r#type.attributes())?;
        let optional = declaration.is_optional(self.source)?;
        let scope = scope.enter_field(self.source, declaration)?;
        let name = declaration.name(self.source)?;
        let field = self.push_field(declaration, &scope, field_type, optional)?;
        let entry = &mut self.plan.fields[field as usize];
        (entry.meaning, entry.max) = (r#type.meaning.clone(), r#type.max);
        if field_type == FieldType::Decimal
            && let Some(split) = self.split(declaration)
        {
            return self.split_decimal(split, name, &scope, field, extent);
        }
        let leaf = Leaf {
            layers: declaration.layers(),
            r#type: &r#type,
            optional,
            name,
            part: Part::Whole,
        };
        let spec = self.spec(&leaf, &scope)?;
        self.plan.fields[field as usize].operator = spec.operator;
        self.push_op(kind_of(field_type), field, spec);
        extent.add(
            u32::from(spec.operator.uses_map(optional)),
            min_bytes(&spec, field_type),
        );
        Ok(())
    }

    /// The element that holds the exponent or mantissa of a decimal with two operators.
    fn split(&self, declaration: &Declaration<'d>) -> Option<Node<'d, 'd>> {
        let has = |node: &&Node<'d, 'd>, names: &[&str]| {
            names
                .iter()
                .any(|name| self.source.child(**node, name).is_some())
        };
        let mut layers = declaration.layers().iter();
        let parts = ["exponent", "mantissa"];
        let said = layers.find(|node| has(node, &parts) || has(node, &OPERATORS))?;
        has(&said, &parts).then_some(*said)
    }

    /// A decimal whose parts have operators of their own: an int32 that is optional if the decimal is, and a mandatory
    /// int64 (§6.2.3).
    fn split_decimal(
        &mut self,
        node: Node<'d, 'd>,
        name: &'d str,
        scope: &Scope<'d>,
        field: u32,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        let parts = ["exponent", "mantissa"].map(|part| self.source.child(node, part));
        let is_part =
            |child: &Node<'_, '_>| parts.iter().flatten().any(|part| part.id() == child.id());
        if let Some(other) = self
            .source
            .elements(node)?
            .into_iter()
            .find(|child| !is_part(child))
        {
            let detail = format!("{} beside the parts of a decimal", self.source.name(other));
            return Err(self.source.error(other, Code::S1, detail));
        }
        let optional = self.plan.fields[field as usize].optional;
        let op = self.push_op(
            Kind::Split,
            field,
            Spec {
                optional,
                ..super::NO_SPEC
            },
        );
        let roles = [
            (FieldType::Int32, optional, Part::Exponent),
            (FieldType::Int64, false, Part::Mantissa),
        ];
        for (part_node, (field_type, optional, part)) in parts.into_iter().zip(roles) {
            let spec = match part_node {
                Some(node) => {
                    self.source.check_attributes(node, &[])?;
                    self.spec(
                        &Leaf {
                            layers: &[node],
                            r#type: &field_type.into(),
                            optional,
                            name,
                            part,
                        },
                        scope,
                    )?
                }
                None => Spec {
                    optional,
                    max: field_type.max(),
                    tag: tag(field_type),
                    ..super::NO_SPEC
                },
            };
            self.plan.fields[field as usize].operator = spec.operator;
            self.push_op(Kind::Signed, field, spec);
            let mantissa_of_optional =
                part == Part::Mantissa && self.plan.fields[field as usize].optional;
            let min = if mantissa_of_optional {
                0
            } else {
                min_bytes(&spec, field_type)
            };
            extent.add(u32::from(spec.operator.uses_map(optional)), min);
        }
        self.plan.ops[op].segment.body = 2;
        Ok(())
    }

    /// The length of a sequence: a uInt32 that is optional if the sequence is (§6.2.5).
    pub(super) fn length(
        &mut self,
        declaration: &Declaration<'d>,
        scope: &Scope<'d>,
        field: u32,
        optional: bool,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        let field_type = FieldType::UInt32;
        let name = declaration.name(self.source)?;
        let mut lengths = self.source.elements(declaration.body())?.into_iter();
        let mut next_length = || lengths.find(|child| self.source.name(*child) == "length");
        let (length, second) = (next_length(), next_length());
        if let Some(second) = second {
            let detail = format!("{name} has two lengths");
            return Err(self.source.error(second, Code::S1, detail));
        }
        let spec = match length {
            None => Spec {
                optional,
                max: field_type.max(),
                tag: tag(field_type),
                ..super::NO_SPEC
            },
            Some(node) => {
                self.source.check_attributes(node, &["name", "ns", "id"])?;
                let own = self.source.attribute(node, "name");
                self.plan.fields[field as usize].length_name = own.map(Box::from);
                let part = if own.is_some() {
                    Part::Whole
                } else {
                    Part::Length
                };
                let scope = scope.enter(self.source, node)?;
                self.spec(
                    &Leaf {
                        layers: &[node],
                        r#type: &field_type.into(),
                        optional,
                        name: own.unwrap_or(name),
                        part,
                    },
                    &scope,
                )?
            }
        };
        self.plan.fields[field as usize].operator = spec.operator;
        if let Some(sequence) = self.plan.ops.last_mut() {
            sequence.spec.uses_map = spec.uses_map;
        }
        self.push_op(Kind::Unsigned, field, spec);
        extent.add(
            u32::from(spec.operator.uses_map(optional)),
            min_bytes(&spec, field_type),
        );
        Ok(())
    }

    /// The operator of a field or part, with its dictionary slot and initial value.
    fn spec(&mut self, leaf: &Leaf<'_, 'd>, scope: &Scope<'d>) -> Result<Spec, TemplateError> {
        let mut spec = Spec {
            optional: leaf.optional,
            tag: tag(leaf.r#type.field_type),
            max: leaf.r#type.max,
            ..super::NO_SPEC
        };
        let Some((node, operator)) = self.operator(leaf.layers, leaf.name)? else {
            return Ok(spec);
        };
        spec.operator = operator;
        spec.uses_map = operator.uses_map(leaf.optional);
        if !operator.applies_to(leaf.r#type.field_type) {
            let detail = format!(
                "{} on {} {}",
                operator.name(),
                leaf.r#type.name(),
                leaf.name
            );
            return Err(self.source.error(node, Code::S2, detail));
        }
        match (operator, self.source.attribute(node, "value")) {
            (Operator::Constant, None) => {
                return Err(self.source.error(node, Code::S4, leaf.name.to_owned()));
            }
            (Operator::Default, None) if !leaf.optional => {
                return Err(self.source.error(node, Code::S5, leaf.name.to_owned()));
            }
            (_, None) => {}
            (_, Some(value)) => {
                let is_exponent = leaf.part == Part::Exponent;
                let converted = leaf
                    .r#type
                    .initial(value, self.source.mode)
                    .filter(|i| !is_exponent || i.is_exponent());
                let Some(converted) = converted else {
                    let detail = format!("{value:?} for {} {}", leaf.r#type.name(), leaf.name);
                    return Err(self.source.error(node, Code::S3, detail));
                };
                self.keep_text(node, value.len())?;
                self.set_initial(&mut spec, converted);
            }
        }
        if matches!(operator, Operator::Constant | Operator::Default) {
            self.source.check_attributes(node, &["value"])?;
        } else {
            self.source
                .check_attributes(node, &["value", "key", "ns", "dictionary"])?;
            spec.slot = self.slot(node, leaf.name, leaf.part, scope)?;
        }
        Ok(spec)
    }

    /// The one operator element of a field, if it has any: that of the first layer with one.
    pub(super) fn operator(
        &self,
        layers: &[Node<'d, 'd>],
        name: &str,
    ) -> Result<Option<(Node<'d, 'd>, Operator)>, TemplateError> {
        for layer in layers {
            let mut found = None;
            for node in self.source.elements(*layer)? {
                let operator = match self.source.name(node) {
                    "constant" => Operator::Constant,
                    "default" => Operator::Default,
                    "copy" => Operator::Copy,
                    "increment" => Operator::Increment,
                    "delta" => Operator::Delta,
                    "tail" => Operator::Tail,
                    other if self.is_part_of_type(*layer, other) => continue,
                    other => {
                        let detail = format!("{other} is not a field operator");
                        return Err(self.source.error(node, Code::S1, detail));
                    }
                };
                if found.is_some() {
                    let detail = format!("{name} has two operators");
                    return Err(self.source.error(node, Code::S1, detail));
                }
                found = Some((node, operator));
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Whether a child of a field's element says something else than the operator.
    fn is_part_of_type(&self, layer: Node<'d, 'd>, child: &str) -> bool {
        match self.source.name(layer) {
            // What QuickFAST calls the absence of an operator.
            _ if child == "nop" => self.source.mode == Mode::Lenient,
            "field" | "bitGroup" => true,
            "enum" | "set" => child == "element",
            // Only a name for the length that precedes the bytes.
            "byteVector" | "string" => child == "length",
            // A decimal whose parts have operators, under a use that has one for both.
            "decimal" => matches!(child, "exponent" | "mantissa"),
            _ => false,
        }
    }

    pub(super) fn slot(
        &mut self,
        operator: Node<'d, 'd>,
        name: &'d str,
        part: Part,
        scope: &Scope<'d>,
    ) -> Result<u32, TemplateError> {
        let said = |attribute| self.source.attribute(operator, attribute);
        let (key, part) = match said("key") {
            Some(key) => (key, Part::Whole),
            None => (name, part),
        };
        let dictionary = said("dictionary").unwrap_or(scope.dictionary);
        let slot_key = SlotKey {
            dictionary: scope.dictionary_key(dictionary),
            namespace: said("ns").unwrap_or(scope.namespace),
            key,
            part,
        };
        if let Some(slot) = self.slots.get(&slot_key) {
            return Ok(*slot);
        }
        let entry = SlotEntry {
            dictionary: Arc::from(dictionary),
            key: Arc::from(part.key(key)),
        };
        self.keep_text(operator, entry.dictionary.len() + entry.key.len())?;
        self.plan.slots.push(entry);
        self.plan.slot_count = index(self.plan.slots.len());
        self.slots.insert(slot_key, self.plan.slot_count);
        Ok(self.plan.slot_count)
    }

    fn set_initial(&mut self, spec: &mut Spec, value: initial::Value) {
        spec.has_initial = true;
        match value {
            initial::Value::Integer(bits) => spec.value = bits,
            initial::Value::Decimal(decimal) => {
                spec.value = decimal.mantissa().cast_unsigned();
                spec.exponent = decimal.exponent();
            }
            initial::Value::Text(text) => self.push_initial(spec, Initial::Text(text)),
            initial::Value::Bytes(bytes) => self.push_initial(spec, Initial::Bytes(bytes)),
        }
    }

    fn push_initial(&mut self, spec: &mut Spec, value: Initial) {
        spec.initial = index(self.plan.initials.len());
        self.plan.initials.push(value);
    }
}

pub(super) fn kind_of(field_type: FieldType) -> Kind {
    match field_type {
        FieldType::Decimal => Kind::Decimal,
        FieldType::Ascii => Kind::Ascii,
        FieldType::Unicode => Kind::Unicode,
        FieldType::ByteVector => Kind::Bytes,
        signed if signed.is_signed() => Kind::Signed,
        _ => Kind::Unsigned,
    }
}

/// What tells types apart in the dictionary (D4); never 0, which says "empty" there.
pub(super) fn tag(field_type: FieldType) -> u8 {
    field_type as u8 + 1
}

/// Fewest bytes that the field takes in the stream.
fn min_bytes(spec: &Spec, field_type: FieldType) -> u32 {
    match spec.operator {
        Operator::Delta | Operator::None if spec.optional => 1,
        Operator::Delta if field_type.is_integer() => 1,
        Operator::None if field_type != FieldType::Decimal => 1,
        Operator::Delta | Operator::None => 2,
        _ => 0,
    }
}
