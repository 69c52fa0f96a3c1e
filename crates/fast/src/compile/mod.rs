//! From template XML to the instruction plan (FAST 1.1 §9 and appendix 1). Runs once per file; knows nothing of bytes.

mod bit_group;
mod characters;
mod declaration;
mod field;
mod initial;
mod scope;
mod source;
mod text;
mod types;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use roxmltree::{Document, Node, NodeId};

use crate::error::TemplateError;
use crate::field::{FieldType, Operator};
use crate::meaning::{Elements, Meaning};
use crate::plan::{FieldEntry, Kind, Op, Plan, Segment, Spec, TemplateEntry};
use crate::{Code, Mode};

use declaration::Declaration;
use scope::{Scope, SlotKey};
use source::Source;
use text::Text;

/// Compiles a template file.
pub(crate) fn compile(xml: &str, mode: Mode) -> Result<Plan, TemplateError> {
    let mut text = Text::new(xml, mode)?;
    loop {
        // No document type declarations, hence no entities that grow.
        let refused = match Document::parse(text.xml()) {
            Ok(document) => return compile_document(&text, &document, mode),
            Err(refused) => refused,
        };
        if mode == Mode::Strict || !text.mend(&refused) {
            return Err(text.xml_error(&refused));
        }
    }
}

fn compile_document<'d>(
    text: &'d Text<'d>,
    document: &'d Document<'d>,
    mode: Mode,
) -> Result<Plan, TemplateError> {
    let source = Source::new(text, document, mode);
    let mut compiler = Compiler {
        source: &source,
        plan: Plan::default(),
        slots: HashMap::new(),
        names: HashMap::new(),
        types: HashMap::new(),
        elements: HashMap::new(),
        ids: HashSet::new(),
        expanding: Vec::new(),
        expanded: 0,
        text_bytes: 0,
    };
    compiler.file(document.root_element())?;
    Ok(compiler.plan)
}

struct Compiler<'s, 'd> {
    source: &'s Source<'d>,
    plan: Plan,
    slots: HashMap<SlotKey<'d>, u32>,
    /// Templates by namespace and name, with the scope that they stand in.
    names: HashMap<(&'d str, &'d str), Declared<'d>>,
    /// Defined types by name: the elements that they are defined as (FAST 1.2).
    types: HashMap<&'d str, Node<'d, 'd>>,
    /// Elements of the enumerations and sets so far.
    elements: HashMap<NodeId, Arc<Elements>>,
    /// Template ids so far.
    ids: HashSet<u32>,
    /// Numbers of the templates that are being expanded, outermost first.
    expanding: Vec<u32>,
    /// XML nodes that static references led to, each time they did.
    expanded: usize,
    /// Bytes of names and initial values in the plan.
    text_bytes: usize,
}

#[derive(Clone)]
struct Declared<'d> {
    node: Node<'d, 'd>,
    number: u32,
    scope: Scope<'d>,
}

/// What the instructions of a segment add up to.
#[derive(Clone, Copy, Default)]
struct Extent {
    map_bits: u32,
    min_bytes: u32,
}

impl Extent {
    fn add(&mut self, map_bits: u32, min_bytes: u32) {
        self.map_bits = self.map_bits.saturating_add(map_bits);
        self.min_bytes = self.min_bytes.saturating_add(min_bytes).min(MAX_MIN_BYTES);
    }
}

impl<'d> Compiler<'_, 'd> {
    fn file(&mut self, root: Node<'d, 'd>) -> Result<(), TemplateError> {
        let outer = Scope::default();
        let templates = match self.source.name(root) {
            "template" => vec![self.declare(root, &outer)?],
            "templates" => {
                self.source
                    .check_attributes(root, &["ns", "templateNs", "dictionary"])?;
                let scope = outer.enter(self.source, root)?;
                let mut templates = Vec::new();
                for node in self.source.elements(root)? {
                    match self.source.name(node) {
                        "template" => templates.push(self.declare(node, &scope)?),
                        "define" => self.define(node)?,
                        // mFAST's, which says nothing of messages.
                        "view" if self.source.mode == Mode::Lenient => {}
                        other => {
                            let detail = format!("element {other} in templates");
                            return Err(self.source.error(node, Code::S1, detail));
                        }
                    }
                }
                templates
            }
            other => {
                let detail = format!("root element {other}, not templates");
                return Err(self.source.error(root, Code::S1, detail));
            }
        };
        for template in templates {
            self.template(&template)?;
        }
        self.plan.index_ids();
        Ok(())
    }

    /// Notes a template's name, so that references may come before it.
    fn declare(
        &mut self,
        node: Node<'d, 'd>,
        scope: &Scope<'d>,
    ) -> Result<Declared<'d>, TemplateError> {
        let name = self.source.required(node, "name")?;
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let declared = Declared {
            node,
            number,
            scope: scope.clone(),
        };
        let namespace = self
            .source
            .attribute(node, "templateNs")
            .unwrap_or(scope.template_namespace);
        if self
            .names
            .insert((namespace, name), declared.clone())
            .is_some()
        {
            return Err(self.source.error(
                node,
                Code::S1,
                format!("two templates are called {name}"),
            ));
        }
        Ok(declared)
    }

    /// Notes a type's name (FAST 1.2).
    fn define(&mut self, node: Node<'d, 'd>) -> Result<(), TemplateError> {
        self.source.check_attributes(node, &["name"])?;
        let name = self.source.required(node, "name")?;
        let body = self.type_of(node)?;
        if self.types.insert(name, body).is_some() {
            let detail = format!("two types are called {name}");
            return Err(self.source.error(node, Code::S1, detail));
        }
        Ok(())
    }

    fn template(&mut self, declared: &Declared<'d>) -> Result<(), TemplateError> {
        let node = declared.node;
        self.source.check_attributes(
            node,
            &["name", "templateNs", "ns", "id", "dictionary", "reset"],
        )?;
        let id = self.source.number(node, "id")?;
        if let Some(id) = id.filter(|id| !self.ids.insert(*id)) {
            return Err(self.source.error(
                node,
                Code::S1,
                format!("two templates have the id {id}"),
            ));
        }
        let scope = declared
            .scope
            .enter(self.source, node)?
            .in_template(declared.number);
        let (fields, ops) = (self.next_field(), self.next_op());
        self.expanding.push(declared.number);
        // The template id's presence bit, and the presence map itself.
        let mut extent = Extent {
            map_bits: 1,
            min_bytes: 1,
        };
        self.instructions(node, &scope, &mut extent)?;
        self.expanding.pop();
        let entry = TemplateEntry {
            name: Arc::from(self.source.required(node, "name")?),
            namespace: Box::from(scope.template_namespace),
            id,
            reset: self.source.reset(node)?,
            fields: fields..self.next_field(),
            ops: ops..self.next_op(),
            map_bits: extent.map_bits,
        };
        self.plan.templates.push(entry);
        Ok(())
    }

    /// The fields of a template, group or sequence, in order.
    fn instructions(
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
        self.expanded += target.descendants().take(MAX_EXPANDED).count();
        if self.expanded > MAX_EXPANDED {
            let detail = format!("references lead to more than {MAX_EXPANDED} nodes");
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
        self.close(op, field, inner);
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
        let field = self.push_named(node, declaration::UNNAMED, scope, field_type, false)?;
        let spec = Spec {
            max: field_type.max(),
            tag: field::tag(field_type),
            ..NO_SPEC
        };
        self.push_op(field::kind_of(field_type), field, spec);
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

    /// Adds a field's description; its `end` is set by [`close`](Self::close) if it gets fields of its own.
    fn push_field(
        &mut self,
        declaration: &Declaration<'d>,
        scope: &Scope<'d>,
        field_type: FieldType,
        optional: bool,
    ) -> Result<u32, TemplateError> {
        let name = declaration.name(self.source)?;
        let field = self.push_named(declaration.place(), name, scope, field_type, optional)?;
        if let Some(id) = declaration.attribute(self.source, "id") {
            self.keep_text(declaration.place(), id.len())?;
            self.plan.fields[field as usize].id = Some(id.into());
        }
        Ok(field)
    }

    fn push_named(
        &mut self,
        node: Node<'d, 'd>,
        name: &str,
        scope: &Scope<'d>,
        field_type: FieldType,
        optional: bool,
    ) -> Result<u32, TemplateError> {
        let path: Arc<str> = if scope.path.is_empty() {
            Arc::from(name)
        } else {
            Arc::from(format!("{}.{name}", scope.path))
        };
        self.keep_text(node, path.len() + name.len())?;
        let field = self.next_field();
        self.plan.fields.push(FieldEntry {
            name: Box::from(name),
            id: None,
            field_type,
            optional,
            operator: Operator::None,
            end: field + 1,
            path,
            length_name: None,
            meaning: Meaning::Plain,
            max: field_type.max(),
            bits: 0,
        });
        Ok(field)
    }

    /// Accounts for text that the plan gets a copy of.
    fn keep_text(&mut self, node: Node<'d, 'd>, bytes: usize) -> Result<(), TemplateError> {
        self.text_bytes += bytes;
        if self.text_bytes > MAX_TEXT_BYTES {
            let detail = format!("more than {MAX_TEXT_BYTES} bytes of names and values");
            return Err(self.source.error(node, Code::S1, detail));
        }
        Ok(())
    }

    fn push_op(&mut self, kind: Kind, field: u32, spec: Spec) -> usize {
        self.plan.ops.push(Op {
            kind,
            field,
            spec,
            segment: Segment::default(),
        });
        self.plan.ops.len() - 1
    }

    /// Completes the description and the instruction of a field with everything below it.
    fn close(&mut self, op: usize, field: u32, inner: Extent) -> Segment {
        let end = self.next_field();
        self.plan.fields[field as usize].end = end;
        let body = self.next_op() - index(op) - 1;
        let min_bytes = inner
            .min_bytes
            .saturating_add(u32::from(inner.map_bits > 0))
            .min(MAX_MIN_BYTES);
        let segment = Segment {
            body,
            map_bits: inner.map_bits,
            min_bytes,
        };
        self.plan.ops[op].segment = segment;
        segment
    }

    fn plan_path(&self, field: u32) -> Arc<str> {
        self.plan.fields[field as usize].path.clone()
    }

    fn next_field(&self) -> u32 {
        index(self.plan.fields.len())
    }

    fn next_op(&self) -> u32 {
        index(self.plan.ops.len())
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

/// Index into the plan: bounded by [`MAX_OPS`].
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

const FIELD_ATTRIBUTES: [&str; 5] = ["name", "ns", "id", "presence", "dictionary"];

/// The operation of a field that has no operator of its own.
const NO_SPEC: Spec = Spec {
    operator: Operator::None,
    optional: false,
    tag: 0,
    has_initial: false,
    uses_map: false,
    width: 0,
    exponent: 0,
    slot: 0,
    initial: u32::MAX,
    value: 0,
    max: 0,
};

/// Static references may multiply a small file: in instructions, in the work of looking, and in memory. No venue's
/// templates come near.
const MAX_OPS: usize = 100_000;
const MAX_EXPANDED: usize = 1_000_000;
const MAX_TEXT_BYTES: usize = 1 << 26;
/// Levels of groups, sequences and static references; decoding recurses as deep.
const MAX_DEPTH: u32 = 64;
/// Minimum lengths are only needed to refuse absurd sequence lengths.
const MAX_MIN_BYTES: u32 = 1 << 16;
