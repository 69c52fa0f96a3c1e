//! From template XML to the instruction plan (FAST 1.1 §9 and appendix 1). Runs once per file; knows nothing of bytes.

mod bit_group;
mod characters;
mod container;
mod declaration;
mod field;
mod initial;
mod limits;
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
use crate::plan::{Action, FieldEntry, Initial, Kind, Op, Plan, Segment, Spec, TemplateEntry};
use crate::{Code, Mode};

use declaration::Declaration;
use scope::{Scope, SlotKey};
use source::Source;
use text::Text;

/// Compiles a template file.
pub(crate) fn compile(xml: &str, mode: Mode) -> Result<Plan, TemplateError> {
    compile_each(xml, mode, None)
}

/// Compiles the templates of a file that can be, and tells `refused` the numbers of the others, with what is wrong;
/// without it the first one refuses the file. What is no template's fault always does: its XML, or an element that is
/// none.
pub(crate) fn compile_each(
    xml: &str,
    mode: Mode,
    refused: Option<Refused<'_>>,
) -> Result<Plan, TemplateError> {
    let mut text = Text::new(xml, mode)?;
    limits::check(&text)?;
    loop {
        // No document type declarations, hence no entities that grow.
        let error = match Document::parse(text.xml()) {
            Ok(document) => return compile_document(&text, &document, mode, refused),
            Err(error) => error,
        };
        if mode == Mode::Strict || !text.mend(&error) {
            return Err(text.xml_error(&error));
        }
    }
}

/// Takes a template's number and error.
type Refused<'r> = &'r mut dyn FnMut(u32, TemplateError);

fn compile_document<'d>(
    text: &'d Text<'d>,
    document: &'d Document<'d>,
    mode: Mode,
    refused: Option<Refused<'_>>,
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
        max_expanded: MAX_EXPANDED,
        text_bytes: 0,
    };
    compiler.file(document.root_element(), refused)?;
    let mut plan = compiler.plan;
    plan.warnings = source.into_warnings();
    Ok(plan)
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
    /// XML nodes that static references led to, each time they did: in all templates, or in this one if others do
    /// without it.
    expanded: usize,
    /// How many there may be.
    max_expanded: usize,
    /// Bytes of names and initial values in the plan.
    text_bytes: usize,
}

#[derive(Clone)]
struct Declared<'d> {
    node: Node<'d, 'd>,
    number: u32,
    scope: Scope<'d>,
}

/// How much a plan has.
struct PlanSize {
    fields: usize,
    ops: usize,
    initials: usize,
    slots: u32,
    text_bytes: usize,
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
    fn file(
        &mut self,
        root: Node<'d, 'd>,
        mut refused: Option<Refused<'_>>,
    ) -> Result<(), TemplateError> {
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
        let mut unexpanded = MAX_EXPANDED;
        for (left, template) in (1..=templates.len()).rev().zip(&templates) {
            let before = self.size();
            if refused.is_some() {
                // An equal share of what is left: one that is refused takes nothing from the others.
                unexpanded -= core::mem::take(&mut self.expanded);
                self.max_expanded = unexpanded / left;
            }
            if let Err(error) = self.template(template) {
                match &mut refused {
                    Some(refused) => refused(template.number, error),
                    None => return Err(error),
                }
                self.shrink(&before);
            }
        }
        self.plan.index_ids();
        Ok(())
    }

    fn size(&self) -> PlanSize {
        PlanSize {
            fields: self.plan.fields.len(),
            ops: self.plan.ops.len(),
            initials: self.plan.initials.len(),
            slots: self.plan.slot_count,
            text_bytes: self.text_bytes,
        }
    }

    /// Forgets what a template that is refused has added to the plan.
    fn shrink(&mut self, to: &PlanSize) {
        self.plan.fields.truncate(to.fields);
        self.plan.ops.truncate(to.ops);
        self.plan.initials.truncate(to.initials);
        self.plan.slots.truncate(to.slots as usize);
        self.plan.slot_count = to.slots;
        self.slots.retain(|_, slot| *slot <= to.slots);
        self.text_bytes = to.text_bytes;
        self.expanding.clear();
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
            weight: self.weight(ops, extent.min_bytes),
        };
        self.plan.templates.push(entry);
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
            action: Action::of(kind, &spec),
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
            weight: 0,
        };
        self.plan.ops[op].segment = segment;
        segment
    }

    /// What a segment with the instructions from `first` on costs of the decoder's budget: 1 for itself, for each
    /// instruction and for each byte of text that it can take from the template, less what its bytes pay for. Elements
    /// of sequences within it cost their own weight.
    pub(super) fn weight(&self, first: u32, min_bytes: u32) -> u32 {
        let mut cost = 1u32;
        let mut next = self.plan.ops[first as usize..].iter();
        while let Some(op) = next.next() {
            let is_given = matches!(op.spec.operator, Operator::Constant | Operator::Default);
            let initial = self.plan.initials.get(op.spec.initial as usize);
            let text = initial
                .filter(|_| is_given)
                .map_or(&[][..], Initial::as_bytes);
            cost = cost.saturating_add(1 + index(text.len()));
            if op.kind == Kind::Sequence {
                next = next.as_slice()[op.segment.body as usize..].iter();
            }
        }
        cost.saturating_sub(min_bytes * PAID_BY_BYTE)
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

/// Index into the plan: bounded by [`MAX_OPS`].
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

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
/// Minimum lengths are only needed to refuse absurd sequence lengths.
const MAX_MIN_BYTES: u32 = 1 << 16;
/// Units of the budget that each byte of a segment pays for.
const PAID_BY_BYTE: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_template_leaves_nothing_behind() {
        let field = |name: &str| {
            format!("<string name='{name}'><copy dictionary='{name}' value='{name}'/></string>")
        };
        let (bad, good) = (field("Bad"), field("Good"));
        let bad = format!("<template name='Bad' id='1'>{bad}<nonsense/></template>");
        let good = format!("<template name='Good' id='2'>{good}</template>");
        let compile = |templates: &str| {
            let mut refused = Vec::new();
            let xml = format!("<templates>{templates}</templates>");
            let plan = compile_each(
                &xml,
                Mode::Strict,
                Some(&mut |number, _| refused.push(number)),
            );
            let plan = plan.expect("well-formed");
            let slots: Vec<_> = plan.slots.iter().map(|slot| slot.key.clone()).collect();
            let sizes = (plan.ops.len(), plan.initials.len(), plan.slot_count);
            (refused, slots, sizes)
        };
        let (refused, slots, sizes) = compile(&format!("{bad}{good}"));
        assert_eq!(refused, [0]);
        assert_eq!((Vec::new(), slots, sizes), compile(&good));
    }
}
