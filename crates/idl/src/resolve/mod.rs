//! Syntax to model: names are looked up, constants evaluated, annotations given their meaning, and
//! what is against the rules of IDL 4.2 or XTypes 1.3 is told.
//!
//! A definition in which something is wrong stays known by its name, so that one fault is told once.

mod aggregate;
mod annotations;
mod check;
mod constant;
mod enumerated;
mod index;
mod interface;
mod pragma;
mod scope;
mod types;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::Options;
use crate::limits;
use crate::model::{
    self, AnnotationParameter, AutoId, Definition, DefinitionId, DefinitionKind, File, Model,
    Position, Struct, Type, Union,
};
use crate::parse::Syntax;
use crate::preprocess::Context;
use crate::source::Span;
use crate::syntax::{self, Head, Name};

use aggregate::Seen;
use annotations::{Applied, Place};
use index::Index;
use scope::Entry;

/// The model of these definitions. What is wrong is told to the context. `is_read` is whether all of the text is there.
pub(crate) fn resolve(
    context: &mut Context,
    syntax: &Syntax,
    is_read: bool,
    options: &Options,
) -> Model {
    let Syntax {
        definitions,
        skipped,
    } = syntax;
    let files = context.sources.files().map(|source| File {
        path: source.path.to_string(),
        included: source.included_from.is_some(),
    });
    let model = Model {
        files: files.collect(),
        ..Model::default()
    };
    let is_whole = !context.problems.has_errors();
    let mut resolver = Resolver {
        context,
        options,
        model,
        index: Index::new(definitions),
        is_whole,
        is_read,
        skipped,
        scopes: HashMap::new(),
        spans: Vec::new(),
        scope: None,
        ahead: HashMap::new(),
        defining: None,
        unknown: HashSet::new(),
        pragmas: Vec::new(),
        defaults: Defaults::default(),
        depths: HashMap::new(),
        aliases: HashMap::new(),
        literals: HashMap::new(),
        inherited: 0,
        copied: 0,
    };
    resolver.definitions(definitions);
    resolver.finish();
    resolver.model
}

/// What was wrong is told already.
#[derive(Debug)]
struct Wrong;

type Result<T> = std::result::Result<T, Wrong>;

struct Resolver<'a> {
    context: &'a mut Context,
    options: &'a Options,
    model: Model,
    /// Where all names are defined, also those that come later.
    index: Index,
    /// Whether all of the text was understood, so that what is not known is not in it.
    is_whole: bool,
    /// Whether there was all of the text, understood or not.
    is_read: bool,
    /// Words of definitions that were not understood.
    skipped: &'a HashSet<String>,
    /// What names mean in each scope, in small letters.
    scopes: HashMap<(Option<DefinitionId>, String), Entry>,
    /// Where the names of the definitions stand.
    spans: Vec<Span>,
    /// The module or interface that is being read.
    scope: Option<DefinitionId>,
    /// Types that are declared, or being defined, and where.
    ahead: HashMap<DefinitionId, Span>,
    /// The constant whose value is being read.
    defining: Option<Span>,
    /// Names that were told to be unknown.
    unknown: HashSet<String>,
    pragmas: Vec<pragma::Pragma>,
    /// What the modules around say of their types.
    defaults: Defaults,
    /// Of typedefs: levels of sequences, maps and arrays, and elements of arrays.
    depths: HashMap<DefinitionId, (usize, u64)>,
    /// Of typedefs: how many of them are behind each other.
    aliases: HashMap<DefinitionId, usize>,
    /// Literals of enums by their names.
    literals: HashMap<(DefinitionId, Rc<str>), u32>,
    /// Members that structs have from their bases.
    inherited: usize,
    /// Bytes of strings, comments and annotations that the model has.
    copied: usize,
}

/// What a module says of the types in it.
#[derive(Clone, Copy, Default)]
struct Defaults {
    /// `@default_nested`
    nested: bool,
    /// `@autoid`
    auto_id: AutoId,
}

impl Resolver<'_> {
    fn definitions(&mut self, all: &[syntax::Definition]) {
        for definition in all {
            if self.context.problems.is_full() {
                return;
            }
            // What was wrong is told, and the rest may be good.
            let _told = self.definition(definition);
        }
    }

    fn definition(&mut self, definition: &syntax::Definition) -> Result<()> {
        let head = &definition.head;
        match &definition.kind {
            syntax::DefinitionKind::Module(name, inner) => self.module(head, name, inner),
            syntax::DefinitionKind::Const(ty, name, value) => {
                let ty = self.constant_type(ty)?;
                self.defining = Some(name.span);
                let value = self.value(value, &ty);
                self.defining = None;
                let value = value?;
                self.define(head, name, Place::CONST, DefinitionKind::Const(ty, value))?;
                Ok(())
            }
            syntax::DefinitionKind::StructAhead(name) => {
                self.declare(name, DefinitionKind::Struct(Struct::default()))
            }
            syntax::DefinitionKind::Struct {
                name,
                base,
                members,
            } => self.structure(head, name, base.as_ref(), members),
            syntax::DefinitionKind::UnionAhead(name) => self.declare(name, unknown_union()),
            syntax::DefinitionKind::Union {
                name,
                switch,
                discriminator,
                cases,
            } => self.union(head, name, switch, discriminator, cases),
            syntax::DefinitionKind::Enum(name, items) => self.enumeration(head, name, items),
            syntax::DefinitionKind::Bitmask(name, items) => self.bitmask(head, name, items),
            syntax::DefinitionKind::Bitset { name, base, fields } => {
                self.bitset(head, name, base.as_ref(), fields)
            }
            syntax::DefinitionKind::Typedef(ty, declarators) => {
                for declarator in declarators {
                    if self.context.problems.is_full() {
                        break;
                    }
                    let resolved = self.declared_type(ty, declarator, false)?;
                    let depth = self.depth(&resolved, declarator.name.span)?;
                    let aliases = self.aliases_of(&resolved, declarator.name.span)?;
                    let kind = DefinitionKind::Typedef(resolved);
                    let (id, _) = self.define(head, &declarator.name, Place::TYPEDEF, kind)?;
                    self.depths.insert(id, depth);
                    self.aliases.insert(id, aliases);
                }
                Ok(())
            }
            syntax::DefinitionKind::Exception(name, members) => {
                let (id, _) = self.define(
                    head,
                    name,
                    Place::EXCEPTION,
                    DefinitionKind::Exception(Vec::new()),
                )?;
                let members = self.members(members, Seen::of(name), AutoId::Sequential, 0);
                self.model.definitions[id.0 as usize].kind = DefinitionKind::Exception(members);
                Ok(())
            }
            syntax::DefinitionKind::InterfaceAhead(name) => {
                self.declare(name, DefinitionKind::Interface(model::Interface::default()))
            }
            syntax::DefinitionKind::Interface {
                name,
                bases,
                exports,
            } => self.interface(head, name, bases, exports),
            syntax::DefinitionKind::Annotation {
                name,
                parameters,
                definitions,
            } => self.annotation_definition(head, name, parameters, definitions),
            syntax::DefinitionKind::Pragma(text, span) => {
                self.pragma(text, *span);
                Ok(())
            }
        }
    }

    fn module(&mut self, head: &Head, name: &Name, inner: &[syntax::Definition]) -> Result<()> {
        let (id, applied) = match self.here(&name.text) {
            Some(Entry::Definition(id)) if self.is_module(id, name) => {
                (id, self.annotations(&head.annotations, Place::MODULE))
            }
            _ => {
                let kind = DefinitionKind::Module(Vec::new());
                self.define(head, name, Place::MODULE, kind)?
            }
        };
        let defaults = Defaults {
            nested: applied.default_nested.unwrap_or(self.defaults.nested),
            auto_id: applied.auto_id.unwrap_or(self.defaults.auto_id),
        };
        let outer = (self.scope, self.defaults);
        (self.scope, self.defaults) = (Some(id), defaults);
        self.definitions(inner);
        (self.scope, self.defaults) = outer;
        Ok(())
    }

    /// Whether this is a module of this very name, which is opened anew.
    fn is_module(&self, id: DefinitionId, name: &Name) -> bool {
        let definition = self.model.definition(id);
        matches!(definition.kind, DefinitionKind::Module(_)) && definition.name == *name.text
    }

    fn annotation_definition(
        &mut self,
        head: &Head,
        name: &Name,
        parameters: &[syntax::AnnotationParameter],
        definitions: &[syntax::Definition],
    ) -> Result<()> {
        let kind = DefinitionKind::Annotation(Vec::new());
        let (id, _) = self.define_annotation(head, name, kind)?;
        if let Some(extra) = parameters.get(limits::ANNOTATION_PARAMETERS) {
            let problem = self
                .context
                .error(extra.name.span, "an annotation has no more parameters");
            problem.help("make two annotations of it");
        }
        let outer = self.scope.replace(id);
        self.definitions(definitions);
        let mut all: Vec<AnnotationParameter> = Vec::new();
        for parameter in parameters.iter().take(limits::ANNOTATION_PARAMETERS) {
            let Ok(ty) = self.constant_type(&parameter.ty) else {
                continue;
            };
            let value = parameter.default.as_ref();
            let default = value.and_then(|value| self.value(value, &ty).ok());
            all.push(AnnotationParameter {
                name: parameter.name.text.to_string(),
                ty,
                default,
            });
        }
        self.scope = outer;
        self.model.definitions[id.0 as usize].kind = DefinitionKind::Annotation(all);
        Ok(())
    }

    /// Adds a definition to the scope that is being read.
    fn define(
        &mut self,
        head: &Head,
        name: &Name,
        place: Place,
        kind: DefinitionKind,
    ) -> Result<(DefinitionId, Applied)> {
        let applied = self.annotations(&head.annotations, place);
        let doc = self.doc(head, &applied, name.span)?;
        let annotations = self.copied(&applied, name.span)?;
        let id = match self.declared(name, &kind) {
            Some(id) => id,
            None => {
                self.check_full_name(name)?;
                self.enter(name, Entry::Definition(self.next_id()))?;
                self.push(name, kind)
            }
        };
        self.list(id);
        let position = self.position(name.span);
        let definition = &mut self.model.definitions[id.0 as usize];
        (definition.doc, definition.annotations) = (doc, annotations);
        definition.position = position;
        self.spans[id.0 as usize] = name.span;
        Ok((id, applied))
    }

    /// Annotations have names of their own (IDL 4.2 §7.4.15.3.1).
    fn define_annotation(
        &mut self,
        head: &Head,
        name: &Name,
        kind: DefinitionKind,
    ) -> Result<(DefinitionId, Applied)> {
        let text: Rc<str> = format!("@{}", name.text).into();
        let name = Name {
            text,
            span: name.span,
        };
        self.define(head, &name, Place::ANNOTATION, kind)
    }

    /// That a name with all scopes around it is no longer than peers take.
    fn check_full_name(&mut self, name: &Name) -> Result<()> {
        let scope = self.scope.map(|scope| self.model.definition(scope));
        let length = scope.map_or(0, |scope| scope.full_name.len() + 2) + name.text.len();
        if length <= limits::NAME_BYTES {
            return Ok(());
        }
        let message = format!("this name has {length} letters, with those of its modules");
        let problem = self.context.error(name.span, message);
        problem.help(format_args!(
            "peers take up to {}: shorten it",
            limits::NAME_BYTES
        ));
        Err(Wrong)
    }

    /// Counts bytes that the model has of strings, comments and annotations; an error if they are
    /// more than anybody writes, since little text can repeat much.
    fn charge(&mut self, bytes: usize, span: Span) -> Result<()> {
        self.copied = self.copied.saturating_add(bytes);
        if self.copied <= limits::COPIED_BYTES {
            return Ok(());
        }
        let problem = self.context.error(span, "this repeats too much text");
        problem.help("shorten comments, strings and annotations, or compile parts of it apart");
        Err(Wrong)
    }

    fn next_id(&self) -> DefinitionId {
        DefinitionId(self.model.definitions.len() as u32)
    }

    fn push(&mut self, name: &Name, kind: DefinitionKind) -> DefinitionId {
        let id = self.next_id();
        let text = name.text.trim_start_matches('@');
        let full_name = match self.scope {
            Some(scope) => format!("{}::{text}", self.model.definition(scope).full_name),
            None => text.to_owned(),
        };
        self.model.definitions.push(Definition {
            name: text.to_owned(),
            full_name,
            scope: self.scope,
            position: self.position(name.span),
            doc: None,
            annotations: Vec::new(),
            kind,
        });
        self.spans.push(name.span);
        id
    }

    /// Appends a definition to the list of its scope.
    fn list(&mut self, id: DefinitionId) {
        let list = match self.scope {
            None => &mut self.model.root,
            Some(scope) => match &mut self.model.definitions[scope.0 as usize].kind {
                DefinitionKind::Module(list) => list,
                DefinitionKind::Interface(interface) => &mut interface.definitions,
                _ => return,
            },
        };
        list.push(id);
    }

    /// `struct Node;`
    fn declare(&mut self, name: &Name, kind: DefinitionKind) -> Result<()> {
        let known = self.here(&name.text);
        if let Some(Entry::Definition(id)) = known
            && self.model.definition(id).kind.keyword() == kind.keyword()
            && self.model.definition(id).name == *name.text
        {
            return Ok(());
        }
        self.check_full_name(name)?;
        self.enter(name, Entry::Definition(self.next_id()))?;
        let id = self.push(name, kind);
        self.ahead.insert(id, name.span);
        Ok(())
    }

    /// The id that a declaration gave to what is being defined.
    fn declared(&mut self, name: &Name, kind: &DefinitionKind) -> Option<DefinitionId> {
        let Some(Entry::Definition(id)) = self.here(&name.text) else {
            return None;
        };
        let definition = self.model.definition(id);
        let same = definition.kind.keyword() == kind.keyword() && definition.name == *name.text;
        (same && self.ahead.contains_key(&id)).then_some(id)
    }

    /// Ends what a definition begins, once all of it is known.
    fn complete(&mut self, id: DefinitionId, kind: DefinitionKind) {
        self.ahead.remove(&id);
        self.model.definitions[id.0 as usize].kind = kind;
    }

    fn position(&self, span: Span) -> Position {
        let (line, column) = self.context.sources.line_column(span);
        Position {
            file: span.file,
            line,
            column,
        }
    }

    /// What can be told only when all is read.
    fn finish(&mut self) {
        let mut ahead: Vec<_> = self.ahead.drain().collect();
        ahead.sort_unstable_by_key(|(id, _)| *id);
        if self.is_whole {
            for (id, span) in ahead {
                let name = &self.model.definition(id).name;
                let message = format!("`{name}` is declared and never defined");
                self.context
                    .error(span, message)
                    .help("define it, or remove this");
            }
        }
        self.apply_pragmas();
        self.check_endless();
    }
}

/// What stands for a union until it is defined.
fn unknown_union() -> DefinitionKind {
    DefinitionKind::Union(Union {
        discriminator: Type::Primitive(model::Primitive::Boolean),
        discriminator_key: false,
        extensibility: model::Extensibility::Appendable,
        nested: false,
        auto_id: AutoId::Sequential,
        cases: Vec::new(),
        unlabelled: None,
    })
}
