//! The instructions of a field, for tools that show templates or translate them: operators, presence bits, dictionary
//! entries. Knows nothing of messages or bytes.

use core::slice;

use crate::decoder::Part;
use crate::message::Value;
use crate::plan::{Initial, Kind, Op, Plan};
use crate::{Decimal, Field, FieldType, Operator};

/// One instruction of a [`Field`]: its value, the presence bit of a group, the length of a sequence, or a part of a
/// decimal that has an operator for each.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    plan: &'a Plan,
    op: &'a Op,
    part: Part,
    field_type: FieldType,
}

/// An entry of a dictionary (FAST 1.1 §6.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot<'a> {
    /// Its number among the entries of all dictionaries of the templates, from 1: fields with the same number share it.
    pub number: u32,
    /// The dictionary's name as the template has it: `global`, `template`, `type` or the user's own.
    pub dictionary: &'a str,
    /// The key: the `key` attribute or the field's name, with `.length`, `.exponent` or `.mantissa` for a part.
    pub key: &'a str,
}

impl<'a> Instruction<'a> {
    /// Which part of the field it is for.
    pub fn part(self) -> Part {
        self.part
    }

    /// Type of the part: a length is uInt32, an exponent int32, a mantissa int64 (FAST 1.1 §6.2).
    pub fn field_type(self) -> FieldType {
        self.field_type
    }

    /// Its operator.
    pub fn operator(self) -> Operator {
        self.op.spec.operator
    }

    /// Whether it can be absent; a mantissa never is by itself.
    pub fn is_optional(self) -> bool {
        self.op.spec.optional
    }

    /// Whether it takes a bit of its segment's presence map (FAST 1.1 §10.5.1).
    pub fn uses_map(self) -> bool {
        self.op.spec.uses_map
    }

    /// The largest value of an integer (the smallest signed one is `-max - 1`); 0 for other types.
    pub fn max(self) -> u64 {
        self.op.spec.max
    }

    /// Its initial value, the `value` attribute converted to the type.
    pub fn initial(self) -> Option<Value<'a>> {
        let spec = &self.op.spec;
        if !spec.has_initial {
            return None;
        }
        match self.op.kind {
            Kind::Unsigned => Some(Value::Unsigned(spec.value)),
            Kind::Signed => Some(Value::Signed(spec.value.cast_signed())),
            Kind::Decimal => {
                Decimal::new(spec.value.cast_signed(), spec.exponent).map(Value::Decimal)
            }
            _ => match self.plan.initials.get(spec.initial as usize)? {
                Initial::Text(text) => Some(Value::Text(text)),
                Initial::Bytes(bytes) => Some(Value::Bytes(bytes)),
            },
        }
    }

    /// Its dictionary entry, if its operator has one: copy, increment, delta and tail do.
    pub fn slot(self) -> Option<Slot<'a>> {
        let number = self.op.spec.slot;
        let entry = self.plan.slots.get(number.checked_sub(1)? as usize)?;
        Some(Slot {
            number,
            dictionary: &entry.dictionary,
            key: &entry.key,
        })
    }
}

/// The instructions of a field, in the order of the wire: none for a dynamic template reference and a mandatory group,
/// two for a decimal with an operator for each part, else one.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    plan: &'a Plan,
    field: Field<'a>,
    next: slice::Iter<'a, Op>,
}

impl<'a> Instructions<'a> {
    pub(crate) fn new(plan: &'a Plan, field: Field<'a>) -> Self {
        let ops = ops_of(plan, field);
        let own = match ops {
            [split, parts @ ..] if split.kind == Kind::Split => parts,
            [sequence, length, ..] if sequence.kind == Kind::Sequence => slice::from_ref(length),
            [group, ..] if group.kind == Kind::Group && !group.spec.optional => &[],
            [template, ..] if template.kind == Kind::Template => &[],
            ops => ops,
        };
        Self {
            plan,
            field,
            next: own.iter(),
        }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Instruction<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let is_first_of_two = self.next.len() == 2;
        let op = self.next.next()?;
        let (part, field_type) = match (self.field.field_type(), op.kind) {
            (FieldType::Sequence, _) => (Part::Length, FieldType::UInt32),
            (FieldType::Decimal, Kind::Signed) if is_first_of_two => {
                (Part::Exponent, FieldType::Int32)
            }
            (FieldType::Decimal, Kind::Signed) => (Part::Mantissa, FieldType::Int64),
            (field_type, _) => (Part::Value, field_type),
        };
        Some(Instruction {
            plan: self.plan,
            op,
            part,
            field_type,
        })
    }
}

/// Most bits of the presence map of a group or sequence element; 0: it has none.
pub(crate) fn map_bits(plan: &Plan, field: Field<'_>) -> u32 {
    ops_of(plan, field)
        .first()
        .map_or(0, |op| op.segment.map_bits)
}

/// What the plan has for a field itself: instructions are in the order of their fields.
fn ops_of<'a>(plan: &'a Plan, field: Field<'_>) -> &'a [Op] {
    let at = u32::try_from(field.index().get()).unwrap_or(u32::MAX);
    let from = plan.ops.partition_point(|op| op.field < at);
    let rest = plan.ops.get(from..).unwrap_or_default();
    let len = rest.iter().take_while(|op| op.field == at).count();
    rest.get(..len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mode, Templates};

    fn described(fields: &str) -> Vec<String> {
        let xml = format!(r#"<template name="T" id="1" dictionary="d">{fields}</template>"#);
        let templates = Templates::parse(&xml, Mode::Strict).unwrap();
        let field = templates.by_name("T").unwrap().fields().next().unwrap();
        let describe = |i: Instruction<'_>| {
            let slot = i.slot().map(|s| (s.number, s.dictionary, s.key));
            format!(
                "{:?} {} {} optional={} bit={} {:?} {slot:?} map={}",
                i.part(),
                i.field_type().name(),
                i.operator().name(),
                i.is_optional(),
                i.uses_map(),
                i.initial(),
                field.map_bits()
            )
        };
        field.instructions().map(describe).collect()
    }

    #[test]
    fn a_field_has_the_instructions_that_the_wire_has() {
        let one = |fields, expected: &str| assert_eq!(described(fields), [expected]);
        one(
            r#"<uInt32 name="A" presence="optional"><copy value="7" key="K" dictionary="global"/></uInt32>"#,
            r#"Value uInt32 copy optional=true bit=true Some(Unsigned(7)) Some((1, "global", "K")) map=0"#,
        );
        one(
            r#"<string name="A"><constant value="x"/></string>"#,
            r#"Value string constant optional=false bit=false Some(Text("x")) None map=0"#,
        );
        one(
            r#"<sequence name="S"><length><copy/></length><int32 name="A"><copy/></int32></sequence>"#,
            r#"Length uInt32 copy optional=false bit=true None Some((1, "d", "S.length")) map=1"#,
        );
        one(
            r#"<group name="G" presence="optional"><int32 name="A"/></group>"#,
            "Value group none optional=true bit=true None None map=0",
        );
        assert_eq!(
            described(
                r#"<decimal name="P" presence="optional"><exponent><default value="-2"/></exponent><mantissa><delta/></mantissa></decimal>"#
            ),
            [
                "Exponent int32 default optional=true bit=true Some(Signed(-2)) None map=0",
                r#"Mantissa int64 delta optional=false bit=false None Some((1, "d", "P.mantissa")) map=0"#,
            ]
        );
        assert!(described(r#"<group name="G"><int32 name="A"/></group>"#).is_empty());
        assert!(described("<templateRef/>").is_empty());
    }
}
