//! Interfaces.

use std::collections::{BTreeSet, HashMap};

use super::annotations::Place;
use super::scope::Entry;
use super::{Resolver, Result};
use crate::limits;
use crate::model::{
    Attribute, DefinitionId, DefinitionKind, Direction, Interface, Operation, Parameter,
};
use crate::source::Span;
use crate::syntax::{self, Export, Head, Name, Path};

impl Resolver<'_> {
    pub(super) fn interface(
        &mut self,
        head: &Head,
        name: &Name,
        bases: &[Path],
        exports: &[Export],
    ) -> Result<()> {
        // Before it is defined itself, so that it is none of its own.
        let bases = bases.iter().filter_map(|base| self.interface_base(base));
        let bases: Vec<DefinitionId> = bases.collect();
        let kind = DefinitionKind::Interface(Interface::default());
        let (id, _) = self.define(head, name, Place::INTERFACE, kind)?;
        self.ahead.remove(&id);
        let outer = self.scope.replace(id);
        let mut names: HashMap<String, Span> = HashMap::new();
        let (mut operations, mut attributes) = (Vec::new(), Vec::new());
        for export in exports {
            match export {
                // What was wrong is told.
                Export::Definition(definition) => drop(self.definition(definition)),
                Export::Operation(operation) => {
                    self.check_scope_name(&operation.name, &name.text);
                    self.check_export(&operation.name, &mut names);
                    operations.extend(self.operation(operation));
                }
                Export::Attribute(attribute) => {
                    let names_of = attribute.names.iter();
                    for attribute in names_of {
                        self.check_scope_name(attribute, &name.text);
                        self.check_export(attribute, &mut names);
                    }
                    attributes.extend(self.attribute(attribute));
                }
            }
        }
        self.scope = outer;
        self.check_inherited(name, &bases, &names);
        if let DefinitionKind::Interface(of) = &mut self.model.definitions[id.0 as usize].kind {
            (of.bases, of.operations, of.attributes) = (bases, operations, attributes);
        }
        Ok(())
    }

    fn check_export(&mut self, name: &Name, names: &mut HashMap<String, Span>) {
        let other = names.insert(name.text.to_ascii_lowercase(), name.span);
        if let Some(other) = other {
            let message = format!(
                "two are called `{}`, whatever the case of letters",
                name.text
            );
            let problem = self.context.error(name.span, message);
            problem
                .help("rename one of them")
                .note("the other one is", other);
        }
    }

    /// That what an interface has from its bases has other names than what it has itself (IDL 4.2 §7.4.3.4.3.5), and not
    /// one name twice.
    fn check_inherited(
        &mut self,
        name: &Name,
        bases: &[DefinitionId],
        own: &HashMap<String, Span>,
    ) {
        let mut rest = bases.to_vec();
        let mut known: BTreeSet<DefinitionId> = BTreeSet::new();
        let mut taken: HashMap<String, DefinitionId> = HashMap::new();
        while let Some(base) = rest.pop() {
            let DefinitionKind::Interface(of) = &self.model.definition(base).kind else {
                continue;
            };
            if !known.insert(base) {
                continue;
            }
            rest.extend(&of.bases);
            let operations = of.operations.iter().map(|operation| &operation.name);
            let attributes = of.attributes.iter().map(|attribute| &attribute.name);
            let names: Vec<String> = operations.chain(attributes).cloned().collect();
            self.inherited += names.len();
            if self.inherited > limits::INHERITED {
                let message = "this inherits too many operations, with those of other types";
                let problem = self.context.error(name.span, message);
                problem.help("inherit from fewer interfaces");
                return;
            }
            let of = self.model.definition(base).full_name.clone();
            for inherited in names {
                let key = inherited.to_ascii_lowercase();
                if let Some(span) = own.get(&key) {
                    let message = format!("`{inherited}` is inherited from `{of}` already");
                    let problem = self.context.error(*span, message);
                    problem.help("rename it: operations and attributes are not redefined");
                } else if let Some(other) = taken.insert(key, base) {
                    let other = &self.model.definition(other).full_name;
                    let message = format!("`{inherited}` is inherited from `{other}` and `{of}`");
                    let problem = self.context.error(name.span, message);
                    problem.help("rename one of them, or inherit from one of these");
                }
            }
        }
    }

    /// That nobody would wait for what an operation gives if it is `oneway`.
    fn check_oneway(&mut self, of: &syntax::Operation) {
        let gives = of.parameters.iter();
        let mut gives = gives.filter(|(_, direction, ..)| *direction != Direction::In);
        let what = match (&of.result, gives.next()) {
            (Some(_), _) => "a result".to_owned(),
            (None, Some((.., name))) => format!("`{}`", name.text),
            (None, None) if !of.raises.is_empty() => "exceptions".to_owned(),
            (None, None) => return,
        };
        let message = format!("nobody waits for {what} of a oneway operation");
        let problem = self.context.error(of.name.span, message);
        problem.help(
            "remove `oneway`, or have it return void, take `in` parameters and raise nothing",
        );
    }

    fn operation(&mut self, operation: &syntax::Operation) -> Option<Operation> {
        let applied = self.annotations(&operation.head.annotations, Place::OPERATION);
        let result = match &operation.result {
            Some(spec) => Some(self.ty(spec, true).ok()?),
            None => None,
        };
        let mut parameters = Vec::new();
        for (annotations, direction, spec, name) in &operation.parameters {
            self.annotations(annotations, Place::PARAMETER);
            parameters.push(Parameter {
                position: self.position(name.span),
                direction: *direction,
                ty: self.ty(spec, true).ok()?,
                name: name.text.to_string(),
            });
        }
        if operation.oneway || applied.oneway {
            self.check_oneway(operation);
        }
        let raises = operation.raises.iter();
        let raises = raises.filter_map(|path| self.named(path, "exception"));
        Some(Operation {
            raises: raises.collect(),
            name: operation.name.text.to_string(),
            position: self.position(operation.name.span),
            doc: operation.head.doc.clone().or(applied.comment),
            annotations: applied.others,
            oneway: operation.oneway || applied.oneway,
            result,
            parameters,
        })
    }

    fn attribute(&mut self, attribute: &syntax::Attribute) -> Vec<Attribute> {
        self.annotations(&attribute.head.annotations, Place::ATTRIBUTE);
        let Ok(ty) = self.ty(&attribute.ty, true) else {
            return Vec::new();
        };
        let bytes = attribute.head.doc.as_ref().map_or(0, String::len);
        let bytes = bytes.saturating_mul(attribute.names.len());
        let first = attribute.names.first().map(|name| name.span);
        if first.is_some_and(|span| self.charge(bytes, span).is_err()) {
            return Vec::new();
        }
        let all = attribute.names.iter().map(|name| Attribute {
            name: name.text.to_string(),
            position: self.position(name.span),
            doc: attribute.head.doc.clone(),
            readonly: attribute.readonly,
            ty: ty.clone(),
        });
        all.collect()
    }

    fn interface_base(&mut self, path: &Path) -> Option<DefinitionId> {
        let id = self.named(path, "interface")?;
        if !self.ahead.contains_key(&id) {
            return Some(id);
        }
        // What was wrong is told.
        let _told = self.no_base(path, "an interface that is defined before");
        None
    }

    /// A definition that begins with this keyword.
    fn named(&mut self, path: &Path, keyword: &str) -> Option<DefinitionId> {
        let entry = self.lookup(path).ok()?;
        if let Entry::Definition(id) = entry
            && self.model.definition(id).kind.keyword() == keyword
        {
            return Some(id);
        }
        let message = format!("`{}` is no {keyword}", path.text());
        let problem = self.context.error(path.span, message);
        problem.help(format_args!(
            "write the name of one, or define it before by `{keyword}`"
        ));
        None
    }
}
