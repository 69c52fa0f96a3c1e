//! Fields with a value: types, operators, dictionary slots. Knows nothing of groups and sequences but their length.

use std::sync::Arc;

use roxmltree::Node;

use super::scope::{Part, Scope, SlotKey};
use super::{Compiler, Extent, index, initial};
use crate::Code;
use crate::error::TemplateError;
use crate::field::{FieldType, Operator};
use crate::plan::{Initial, Kind, SlotEntry, Spec};

/// A field or part of one, before it is an instruction.
struct Leaf<'d> {
    /// Holds the operator element.
    node: Node<'d, 'd>,
    field_type: FieldType,
    optional: bool,
    /// Name that the dictionary key is made of if the operator gives none.
    name: &'d str,
    part: Part,
}

impl<'d> Compiler<'_, 'd> {
    /// A field of one of the simple types.
    pub(super) fn leaf(
        &mut self,
        node: Node<'d, 'd>,
        scope: &Scope<'d>,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        let field_type = self.field_type(node)?;
        let known = ["name", "ns", "id", "presence", "charset"];
        let known = if field_type.is_string() {
            &known[..]
        } else {
            &known[..4]
        };
        self.source.check_attributes(node, known)?;
        let optional = self.source.is_optional(node)?;
        let scope = scope.enter(self.source, node)?;
        let field = self.push_field(node, &scope, field_type, optional)?;
        let name = self.source.required(node, "name")?;
        let parts = ["exponent", "mantissa"].map(|part| self.source.child(node, part));
        if field_type == FieldType::Decimal && parts.iter().any(Option::is_some) {
            return self.split_decimal(node, parts, &scope, field, extent);
        }
        let leaf = Leaf {
            node,
            field_type,
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

    /// A decimal whose parts have operators of their own: an int32 that is optional if the decimal is, and a mandatory
    /// int64 (§6.2.3).
    fn split_decimal(
        &mut self,
        node: Node<'d, 'd>,
        parts: [Option<Node<'d, 'd>>; 2],
        scope: &Scope<'d>,
        field: u32,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        let is_part =
            |child: &Node<'_, '_>| parts.iter().flatten().any(|part| part.id() == child.id());
        if let Some(other) = self
            .source
            .elements(node)?
            .into_iter()
            .find(|child| !is_part(child))
        {
            let detail = format!("{} beside the parts of a decimal", other.tag_name().name());
            return Err(self.source.error(other, Code::S1, detail));
        }
        let optional = self.plan.fields[field as usize].optional;
        let name = self.source.required(node, "name")?;
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
                            node,
                            field_type,
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
        sequence: Node<'d, 'd>,
        scope: &Scope<'d>,
        field: u32,
        optional: bool,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        let field_type = FieldType::UInt32;
        let name = self.source.required(sequence, "name")?;
        let mut lengths = self.source.elements(sequence)?.into_iter();
        let mut next_length = || lengths.find(|child| child.tag_name().name() == "length");
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
                let own = node.attribute("name");
                self.plan.fields[field as usize].length_name = own.map(Box::from);
                let part = if own.is_some() {
                    Part::Whole
                } else {
                    Part::Length
                };
                let scope = scope.enter(self.source, node)?;
                self.spec(
                    &Leaf {
                        node,
                        field_type,
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

    fn field_type(&self, node: Node<'d, 'd>) -> Result<FieldType, TemplateError> {
        let name = node.tag_name().name();
        let field_type = match name {
            "int32" => FieldType::Int32,
            "uInt32" => FieldType::UInt32,
            "int64" => FieldType::Int64,
            "uInt64" => FieldType::UInt64,
            "decimal" => FieldType::Decimal,
            "byteVector" => FieldType::ByteVector,
            "string" => match node.attribute("charset") {
                None | Some("ascii") => FieldType::Ascii,
                Some("unicode") => FieldType::Unicode,
                Some(other) => {
                    return Err(self
                        .source
                        .error(node, Code::S1, format!("charset {other:?}")));
                }
            },
            "int8" => FieldType::Int8,
            "uInt8" => FieldType::UInt8,
            "int16" => FieldType::Int16,
            "uInt16" => FieldType::UInt16,
            other => {
                return Err(self.source.error(
                    node,
                    Code::S1,
                    format!("element {other} is not a field of FAST 1.1"),
                ));
            }
        };
        if self.source.mode == crate::Mode::Strict
            && matches!(name, "int8" | "uInt8" | "int16" | "uInt16")
        {
            let detail = format!("{name} is a dialect: FAST 1.1 has integers of 32 and 64 bits");
            return Err(self.source.error(node, Code::S1, detail));
        }
        Ok(field_type)
    }

    /// The operator of a field or part, with its dictionary slot and initial value.
    fn spec(&mut self, leaf: &Leaf<'d>, scope: &Scope<'d>) -> Result<Spec, TemplateError> {
        let mut spec = Spec {
            optional: leaf.optional,
            tag: tag(leaf.field_type),
            max: leaf.field_type.max(),
            ..super::NO_SPEC
        };
        let Some((node, operator)) = self.operator(leaf)? else {
            return Ok(spec);
        };
        spec.operator = operator;
        spec.uses_map = operator.uses_map(leaf.optional);
        let type_name = leaf.field_type.name();
        if !operator.applies_to(leaf.field_type) {
            return Err(self.source.error(
                node,
                Code::S2,
                format!("{} on {type_name} {}", operator.name(), leaf.name),
            ));
        }
        let value = node.attribute("value");
        match (operator, value) {
            (Operator::Constant, None) => {
                return Err(self.source.error(node, Code::S4, leaf.name.to_owned()));
            }
            (Operator::Default, None) if !leaf.optional => {
                return Err(self.source.error(node, Code::S5, leaf.name.to_owned()));
            }
            (_, None) => {}
            (_, Some(value)) => {
                let is_exponent = leaf.part == Part::Exponent;
                let converted = initial::convert(leaf.field_type, value)
                    .filter(|i| !is_exponent || i.is_exponent());
                let Some(converted) = converted else {
                    let detail = format!("{value:?} for {type_name} {}", leaf.name);
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
            spec.slot = self.slot(node, leaf, scope)?;
        }
        Ok(spec)
    }

    /// The one operator element of a field, if it has any.
    fn operator(&self, leaf: &Leaf<'d>) -> Result<Option<(Node<'d, 'd>, Operator)>, TemplateError> {
        let mut found = None;
        for node in self.source.elements(leaf.node)? {
            let operator = match node.tag_name().name() {
                "constant" => Operator::Constant,
                "default" => Operator::Default,
                "copy" => Operator::Copy,
                "increment" => Operator::Increment,
                "delta" => Operator::Delta,
                "tail" => Operator::Tail,
                // Only a name for the length that precedes the bytes.
                "length"
                    if matches!(leaf.field_type, FieldType::ByteVector | FieldType::Unicode) =>
                {
                    continue;
                }
                other => {
                    return Err(self.source.error(
                        node,
                        Code::S1,
                        format!("{other} is not a field operator"),
                    ));
                }
            };
            if found.is_some() {
                return Err(self.source.error(
                    node,
                    Code::S1,
                    format!("{} has two operators", leaf.name),
                ));
            }
            found = Some((node, operator));
        }
        Ok(found)
    }

    fn slot(
        &mut self,
        operator: Node<'d, 'd>,
        leaf: &Leaf<'d>,
        scope: &Scope<'d>,
    ) -> Result<u32, TemplateError> {
        let (key, part) = match operator.attribute("key") {
            Some(key) => (key, Part::Whole),
            None => (leaf.name, leaf.part),
        };
        let dictionary = operator.attribute("dictionary").unwrap_or(scope.dictionary);
        let slot_key = SlotKey {
            dictionary: scope.dictionary_key(dictionary),
            namespace: operator.attribute("ns").unwrap_or(scope.namespace),
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

fn kind_of(field_type: FieldType) -> Kind {
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
fn tag(field_type: FieldType) -> u8 {
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
