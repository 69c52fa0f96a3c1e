//! Bit groups (FAST 1.2). Knows nothing of fields that have bytes of their own.

use super::declaration::{Declaration, OPERATORS};
use super::field::{kind_of, tag};
use super::scope::{Part, Scope};
use super::types::{Type, small_integer};
use super::{Compiler, Extent, NO_SPEC};
use crate::bit_group::{self, MAX_WIDTH};
use crate::error::TemplateError;
use crate::field::{FieldType, Operator};
use crate::plan::{Kind, Spec};
use crate::{Code, Mode};

impl<'d> Compiler<'_, 'd> {
    /// A bit group and its fields. FAST 1.2 gives it neither a NULL nor a text for initial values, so it is mandatory
    /// and has no operator or copy.
    pub(super) fn bit_group(
        &mut self,
        declaration: &Declaration<'d>,
        scope: &Scope<'d>,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        declaration.check_attributes(self.source, &["name", "ns", "id"])?;
        let body = declaration.body();
        if declaration.is_optional(self.source)? {
            let detail = "FAST 1.2 has no NULL for a bit group: it cannot be optional".to_owned();
            return Err(self.source.error(declaration.place(), Code::S1, detail));
        }
        let scope = scope.enter_field(self.source, declaration)?;
        let name = declaration.name(self.source)?;
        let field = self.push_field(declaration, &scope, FieldType::Group, false)?;
        let op = self.push_op(Kind::BitGroup, field, NO_SPEC);
        let inner = scope.below(self.plan_path(field));
        let mut width = 0;
        for node in self.source.elements(body)? {
            if !OPERATORS.contains(&self.source.name(node)) {
                width += self.bit_field(&self.declaration(node)?, &inner)?;
            }
            if width > MAX_WIDTH {
                let detail = format!("a bit group of more than {MAX_WIDTH} bits");
                return Err(self.source.error(node, Code::S1, detail));
            }
        }
        if width == 0 {
            let detail = "a bit group without fields".to_owned();
            return Err(self.source.error(body, Code::S1, detail));
        }
        let spec = Spec {
            width: width as u8,
            ..self.bit_group_operator(declaration, name, &scope)?
        };
        self.plan.fields[field as usize].operator = spec.operator;
        self.plan.fields[field as usize].bits = spec.width;
        self.close(op, field, Extent::default());
        self.plan.ops[op].spec = spec;
        extent.add(spec.uses_map.into(), u32::from(!spec.uses_map));
        Ok(())
    }

    fn bit_group_operator(
        &mut self,
        declaration: &Declaration<'d>,
        name: &'d str,
        scope: &Scope<'d>,
    ) -> Result<Spec, TemplateError> {
        let Some((node, operator)) = self.operator(declaration.layers(), name)? else {
            return Ok(NO_SPEC);
        };
        if operator != Operator::Copy {
            let detail = format!("{} on bitGroup {name}", operator.name());
            return Err(self.source.error(node, Code::S2, detail));
        }
        if let Some(value) = self.source.attribute(node, "value") {
            let detail = format!("{value:?} for bitGroup {name}");
            return Err(self.source.error(node, Code::S3, detail));
        }
        Ok(Spec {
            operator,
            uses_map: true,
            tag: tag(FieldType::Group),
            slot: self.slot(node, name, Part::Whole, scope)?,
            ..NO_SPEC
        })
    }

    /// A field of a bit group; returns its bits.
    fn bit_field(
        &mut self,
        declaration: &Declaration<'d>,
        scope: &Scope<'d>,
    ) -> Result<u32, TemplateError> {
        let body = declaration.body();
        let optional = declaration.is_optional(self.source)?;
        let refused = |detail| Err(self.source.error(declaration.place(), Code::S1, detail));
        let element = self.source.name(body);
        let (r#type, width) = match (element, small_integer(element)) {
            (_, Some(_)) if optional => {
                return refused(format!(
                    "{element} has no bits for NULL: it cannot be optional"
                ));
            }
            (_, Some((field_type, bits))) => {
                let value_bits = bits - u8::from(field_type.is_signed());
                let r#type = Type {
                    max: (1 << value_bits) - 1,
                    ..field_type.into()
                };
                (r#type, u32::from(bits))
            }
            ("enum" | "set" | "boolean", None) => {
                let r#type = self.type_of_leaf(declaration)?;
                let width = bit_group::width(r#type.max, optional);
                (r#type, width)
            }
            (other, None) => return refused(format!("{other} in a bit group")),
        };
        declaration.check_attributes(self.source, r#type.attributes())?;
        let name = declaration.name(self.source)?;
        // The operator of a defined type is for fields that stand alone.
        let own = match self.source.mode {
            Mode::Strict => declaration.layers(),
            Mode::Lenient => &declaration.layers()[..1],
        };
        if let Some((node, operator)) = self.operator(own, name)? {
            let detail = format!("{} on a field of a bit group", operator.name());
            return Err(self.source.error(node, Code::S2, detail));
        }
        let field = self.push_field(declaration, scope, r#type.field_type, optional)?;
        let spec = Spec {
            optional,
            max: r#type.max,
            tag: tag(r#type.field_type),
            width: u8::try_from(width).unwrap_or(u8::MAX),
            ..NO_SPEC
        };
        self.push_op(kind_of(r#type.field_type), field, spec);
        let entry = &mut self.plan.fields[field as usize];
        (entry.max, entry.bits) = (r#type.max, spec.width);
        entry.meaning = r#type.meaning;
        Ok(width)
    }
}
