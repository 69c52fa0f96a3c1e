//! What has fields: templates' contents, groups, sequences and references, which nest. Knows nothing of operators.

use roxmltree::Node;

use super::declaration::{Declaration, UNNAMED};
use super::field::{kind_of, tag};
use super::scope::Scope;
use super::{Compiler, Extent, MAX_OPS, NO_SPEC, index};
use crate::error::TemplateError;
use crate::field::FieldType;
use crate::plan::{Kind, Segment, Spec};
use crate::{Code, Mode};

impl<'d> Compiler<'_, 'd> {
    /// The fields of a template, group or sequence, in order.
    pub(super) fn instructions(
        &mut self,
        parent: Node<'d, 'd>,
        scope: &Scope<'d>,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        for node in self.source.elements(parent)? {
            if self.plan.ops.len() > MAX_OPS {
                return Err(self.source.error(
                    node,
                    Code::S1,
                    format!("more than {MAX_OPS} instructions"),
                ));
            }
            if scope.depth > MAX_DEPTH {
                return Err(self.source.error(
                    node,
                    Code::S1,
                    format!("more than {MAX_DEPTH} levels"),
                ));
            }
            match self.source.name(node) {
                "typeRef" => {}
                "length" if self.source.name(parent) == "sequence" => {}
                "templateRef" => self.reference(node, scope, extent)?,
                _ => self.field(node, scope, extent)?,
            }
        }
        Ok(())
    }

    /// A field of any type, whatever way its type is written.
    fn field(
        &mut self,
        node: Node<'d, 'd>,
        scope: &Scope<'d>,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        let declaration = self.declaration(node)?;
        let body = declaration.body();
        for layer in declaration.layers().iter().skip(1) {
            self.count_expanded(node, *layer)?;
        }
        match self.source.name(body) {
            "group" => self.group(&declaration, scope, extent),
            "sequence" => self.sequence(&declaration, scope, extent),
            vector if vector_element(vector).is_some() => {
                if self.source.mode == Mode::Strict {
                    let detail = format!("{vector} is a dialect: FAST has sequences");
                    return Err(self.source.error(body, Code::S1, detail));
                }
                self.sequence(&declaration, scope, extent)
            }
            "bitGroup" => self.bit_group(&declaration, scope, extent),
            _ => self.leaf(&declaration, scope, extent),
        }
    }

    /// Accounts for the work that a name leads to.
    fn count_expanded(
        &mut self,
        place: Node<'d, 'd>,
        target: Node<'d, 'd>,
    ) -> Result<(), TemplateError> {
        let left = self.max_expanded - self.expanded;
        let count = target.descendants().take(left + 1).count();
        self.expanded += count.min(left);
        if count > left {
            let max = self.max_expanded;
            let detail = format!("references lead to more than {max} nodes");
            return Err(self.source.error(place, Code::S1, detail));
        }
        Ok(())
    }

    fn group(
        &mut self,
        declaration: &Declaration<'d>,
        scope: &Scope<'d>,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        declaration.check_attributes(self.source, &FIELD_ATTRIBUTES)?;
        let optional = declaration.is_optional(self.source)?;
        let scope = scope.enter_field(self.source, declaration)?;
        let field = self.push_field(declaration, &scope, FieldType::Group, optional)?;
        let op = self.push_op(
            Kind::Group,
            field,
            Spec {
                optional,
                uses_map: optional,
                ..NO_SPEC
            },
        );
        let mut inner = Extent::default();
        self.instructions(
            declaration.body(),
            &scope.below(self.plan_path(field)),
            &mut inner,
        )?;
        let segment = self.close(op, field, inner);
        extent.add(
            u32::from(optional),
            if optional { 0 } else { segment.min_bytes },
        );
        Ok(())
    }

    fn sequence(
        &mut self,
        declaration: &Declaration<'d>,
        scope: &Scope<'d>,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        declaration.check_attributes(self.source, &FIELD_ATTRIBUTES)?;
        let optional = declaration.is_optional(self.source)?;
        let scope = scope.enter_field(self.source, declaration)?;
        let field = self.push_field(declaration, &scope, FieldType::Sequence, optional)?;
        let op = self.push_op(
            Kind::Sequence,
            field,
            Spec {
                optional,
                ..NO_SPEC
            },
        );
        self.length(declaration, &scope, field, optional, extent)?;
        let mut inner = Extent::default();
        let (body, below) = (declaration.body(), scope.below(self.plan_path(field)));
        match vector_element(self.source.name(body)) {
            Some(element) => self.element(body, element, &below, &mut inner)?,
            None => self.instructions(body, &below, &mut inner)?,
        }
        let Segment { min_bytes, .. } = self.close(op, field, inner);
        // The element's instructions follow those of the sequence and its length.
        self.plan.ops[op].segment.weight = self.weight(index(op) + 2, min_bytes);
        Ok(())
    }

    /// The one field of a vector's elements, which has no name.
    fn element(
        &mut self,
        node: Node<'d, 'd>,
        field_type: FieldType,
        scope: &Scope<'d>,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        let field = self.push_named(node, UNNAMED, scope, field_type, false)?;
        let spec = Spec {
            max: field_type.max(),
            tag: tag(field_type),
            ..NO_SPEC
        };
        self.push_op(kind_of(field_type), field, spec);
        extent.add(0, 1);
        Ok(())
    }

    /// `templateRef`: with a name the other template's fields stand in its place, without one any template may follow
    /// on the wire (§6.4).
    fn reference(
        &mut self,
        node: Node<'d, 'd>,
        scope: &Scope<'d>,
        extent: &mut Extent,
    ) -> Result<(), TemplateError> {
        self.source
            .check_attributes(node, &["name", "templateNs", "ns"])?;
        let Some(name) = self.source.attribute(node, "name") else {
            let name = FieldType::Template.name();
            let field = self.push_named(node, name, scope, FieldType::Template, false)?;
            self.push_op(Kind::Template, field, NO_SPEC);
            extent.add(0, 1);
            return Ok(());
        };
        let namespace = self
            .source
            .attribute(node, "templateNs")
            .unwrap_or(scope.template_namespace);
        let Some(target) = self.names.get(&(namespace, name)).cloned() else {
            return Err(self.source.error(node, Code::D8, name.to_owned()));
        };
        if self.expanding.contains(&target.number) {
            return Err(self.source.error(
                node,
                Code::S1,
                format!("template {name} contains itself"),
            ));
        }
        self.count_expanded(node, target.node)?;
        self.expanding.push(target.number);
        let inner = target
            .scope
            .enter(self.source, target.node)?
            .in_template(target.number);
        self.instructions(
            target.node,
            &inner.reached_from(scope, self.source.has_type(target.node)),
            extent,
        )?;
        self.expanding.pop();
        Ok(())
    }
}

/// The type of the elements of mFAST's vectors of integers, which travel as sequences of one field.
fn vector_element(name: &str) -> Option<FieldType> {
    match name {
        "int32Vector" => Some(FieldType::Int32),
        "uInt32Vector" => Some(FieldType::UInt32),
        "int64Vector" => Some(FieldType::Int64),
        "uInt64Vector" => Some(FieldType::UInt64),
        _ => None,
    }
}

const FIELD_ATTRIBUTES: [&str; 5] = ["name", "ns", "id", "presence", "dictionary"];

/// Levels of groups, sequences and static references; decoding recurses as deep.
const MAX_DEPTH: u32 = 64;
