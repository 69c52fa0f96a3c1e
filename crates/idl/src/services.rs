//! What interfaces become on the wire: the structs of requests and replies by the Enhanced Service Mapping of DDS-RPC 1.0
//! (§7.5.1.2), added to a model as if its text had defined them. Back ends and comparisons read them like all others.
//!
//! ```text
//! interface Quotes { double price(in string symbol, out long size) raises (Closed); };
//!
//! module detail {
//!   @final @nested struct Quotes_price_In { string symbol; };
//!   @final @nested struct Quotes_price_Out { long size; double return_; };
//!   @mutable @nested struct Quotes_price_Result {
//!     @optional @hashid Quotes_price_Out result;
//!     @optional @hashid Closed Closed_ex;
//!   };
//!   @mutable struct Quotes_Request { @optional @hashid Quotes_price_In price; };
//!   @mutable struct Quotes_Reply {
//!     @optional @hashid Quotes_price_Result price;
//!     @optional @hashid dds::rpc::RemoteExceptionCode_t remoteEx;
//!   };
//! };
//! ```
//!
//! Of the members of requests, replies and results exactly one is there (`@choice`). Names are those that Fast DDS has.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::Model;
use crate::hash::member_id;
use crate::model::{
    Definition, DefinitionId, DefinitionKind, Direction, Enum, Extensibility, IdSource, Interface,
    Literal, Member, Position, Range, Struct, TryConstruct, Type,
};

/// A model with what its interfaces become.
#[derive(Debug)]
pub struct Services<'m> {
    /// With the structs of requests and replies.
    pub model: Cow<'m, Model>,
    /// By their interfaces.
    pub services: BTreeMap<DefinitionId, Service>,
    /// Exceptions, which are structs now.
    pub exceptions: BTreeSet<DefinitionId>,
    /// `dds::rpc::RemoteExceptionCode_t`, which belongs to no scope, if there is an interface.
    pub remote_exception: Option<DefinitionId>,
}

/// What an interface becomes.
#[derive(Debug)]
pub struct Service {
    /// Operations and attributes, those of bases first.
    pub calls: Vec<Call>,
    /// The struct of its requests.
    pub request: DefinitionId,
    /// The struct of its replies.
    pub reply: DefinitionId,
}

/// An operation, or a half of an attribute.
#[derive(Clone, Debug)]
pub struct Call {
    /// The interface that has it.
    pub of: DefinitionId,
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub position: Position,
    /// The comment at it.
    pub doc: Option<String>,
    /// Parameters that it takes.
    pub inputs: Vec<(String, Type)>,
    /// Parameters that come back; the result, `return_`, is the last.
    pub outputs: Vec<(String, Type)>,
    /// Whether there is a result.
    pub returns: bool,
    /// Exceptions that it can end with.
    pub raises: Vec<DefinitionId>,
    /// The struct of what it takes.
    pub input: DefinitionId,
    /// What comes back and what of it is there; none if it is oneway.
    pub answer: Option<(DefinitionId, DefinitionId)>,
}

/// A parameter of a call, as IDL has it.
#[derive(Clone, Copy, Debug)]
pub struct CallParameter<'m> {
    /// Which way it goes.
    pub direction: Direction,
    /// The name.
    pub name: &'m str,
    /// The type.
    pub ty: &'m Type,
}

impl Call {
    /// What stands in the text of the operation, in its order; of an attribute that is set, its value.
    pub fn parameters<'m>(&self, model: &'m Model) -> Vec<CallParameter<'m>> {
        let DefinitionKind::Interface(of) = &model.definition(self.of).kind else {
            return Vec::new();
        };
        let operation = of.operations.iter().find(|it| it.name == self.name);
        if let Some(operation) = operation {
            let parameters = operation.parameters.iter();
            let parameters = parameters.map(|parameter| CallParameter {
                direction: parameter.direction,
                name: &parameter.name,
                ty: &parameter.ty,
            });
            return parameters.collect();
        }
        let attribute = self.name.strip_prefix("set_");
        let attribute = attribute.and_then(|name| of.attributes.iter().find(|it| it.name == name));
        let value = attribute.map(|attribute| CallParameter {
            direction: Direction::In,
            name: &attribute.name,
            ty: &attribute.ty,
        });
        value.into_iter().collect()
    }

    /// The type of the result.
    pub fn result(&self) -> Option<&Type> {
        let last = self.outputs.last().filter(|_| self.returns);
        last.map(|(_, ty)| ty)
    }
}

impl<'m> Services<'m> {
    /// What is on the wire and is nobody's: requests, replies, and what is in them.
    pub fn wire_types(&self) -> BTreeSet<DefinitionId> {
        let mut types: BTreeSet<_> = self.remote_exception.into_iter().collect();
        for service in self.services.values() {
            types.extend([service.request, service.reply]);
            for call in &service.calls {
                types.insert(call.input);
                types.extend(call.answer.into_iter().flat_map(<[_; 2]>::from));
            }
        }
        types
    }

    /// What the interfaces of a model become.
    pub fn of(model: &'m Model) -> Self {
        let mut interfaces = Vec::new();
        let mut exceptions = BTreeSet::new();
        for (id, definition) in model.definitions() {
            match definition.kind {
                DefinitionKind::Interface(_) => interfaces.push(id),
                DefinitionKind::Exception(_) => drop(exceptions.insert(id)),
                _ => {}
            }
        }
        let mut services = Self {
            model: Cow::Borrowed(model),
            services: BTreeMap::new(),
            exceptions,
            remote_exception: None,
        };
        for id in services.exceptions.clone() {
            services.make_struct(id);
        }
        if !interfaces.is_empty() {
            services.remote_exception = Some(services.push(None, remote_exception()));
        }
        for id in interfaces {
            services.add(id);
        }
        services
    }

    /// An exception is a struct that nobody makes a topic of.
    fn make_struct(&mut self, id: DefinitionId) {
        let kind = &mut self.model.to_mut().definitions[id.0 as usize].kind;
        if let DefinitionKind::Exception(members) = kind {
            *kind = DefinitionKind::Struct(Struct {
                extensibility: Extensibility::Final,
                nested: true,
                members: std::mem::take(members),
                ..Struct::default()
            });
        }
    }

    fn add(&mut self, id: DefinitionId) {
        let definition = self.model.definition(id).clone();
        let DefinitionKind::Interface(interface) = &definition.kind else {
            return;
        };
        let mut calls = self.inherited(interface);
        let own = own_calls(id, interface);
        if calls.is_empty() && own.is_empty() {
            return;
        }
        let detail = self.detail(definition.scope, definition.position);
        calls.extend(
            own.into_iter()
                .map(|call| self.complete(call, &definition, detail)),
        );
        let mut request = Vec::new();
        let mut reply = Vec::new();
        for call in &calls {
            let choice = |ty| choice(&call.name, ty, call.position);
            request.push(choice(call.input));
            reply.extend(call.answer.map(|(_, result)| choice(result)));
        }
        if let Some(exception) = self.remote_exception {
            reply.push(choice("remoteEx", exception, definition.position));
        }
        let topic = |members| Struct {
            extensibility: Extensibility::Mutable,
            members,
            ..Struct::default()
        };
        let named = |what| format!("{}_{what}", definition.name);
        let at = definition.position;
        let request = self.push_struct(detail, named("Request"), at, topic(request));
        let reply = self.push_struct(detail, named("Reply"), at, topic(reply));
        let service = Service {
            calls,
            request,
            reply,
        };
        self.services.insert(id, service);
    }

    /// What an interface has from its bases, each of them once.
    fn inherited(&self, interface: &Interface) -> Vec<Call> {
        let mut known = BTreeSet::new();
        let bases = interface.bases.iter();
        let bases = bases.filter_map(|base| self.services.get(base));
        let calls = bases.flat_map(|base| &base.calls);
        let new = calls.filter(|call| known.insert((call.of, call.name.clone())));
        new.cloned().collect()
    }

    /// Gives a call its structs.
    fn complete(&mut self, call: Call, of: &Definition, detail: DefinitionId) -> Call {
        let named = |what| format!("{}_{}_{what}", of.name, call.name);
        let at = call.position;
        let input = arguments(&call.inputs, at);
        let input = self.push_struct(detail, named("In"), at, input);
        let mut answer = None;
        if call.answer.is_some() {
            let output = arguments(&call.outputs, at);
            let output = self.push_struct(detail, named("Out"), at, output);
            let mut members = vec![choice("result", output, at)];
            for exception in &call.raises {
                let name = &self.model.definition(*exception).full_name;
                members.push(choice(&exception_member(name), *exception, at));
            }
            let result = Struct {
                extensibility: Extensibility::Mutable,
                nested: true,
                members,
                ..Struct::default()
            };
            let result = self.push_struct(detail, named("Result"), at, result);
            answer = Some((output, result));
        }
        Call {
            input,
            answer,
            ..call
        }
    }

    /// The module of a scope that has what nobody writes: `detail`, which the text may have, too.
    fn detail(&mut self, scope: Option<DefinitionId>, position: Position) -> DefinitionId {
        let is_detail = |id: &DefinitionId| {
            let definition = self.model.definition(*id);
            definition.name == DETAIL && matches!(definition.kind, DefinitionKind::Module(_))
        };
        if let Some(id) = self.list(scope).iter().copied().find(is_detail) {
            return id;
        }
        let doc = "What requests and replies are made of.";
        let definition = Definition {
            name: DETAIL.to_owned(),
            full_name: String::new(),
            scope,
            position,
            doc: Some(doc.to_owned()),
            annotations: Vec::new(),
            kind: DefinitionKind::Module(Vec::new()),
        };
        self.push(scope, definition)
    }

    fn list(&self, scope: Option<DefinitionId>) -> &[DefinitionId] {
        match scope.map(|scope| &self.model.definition(scope).kind) {
            Some(DefinitionKind::Module(list)) => list,
            _ => &self.model.root,
        }
    }

    fn push_struct(
        &mut self,
        scope: DefinitionId,
        name: String,
        position: Position,
        of: Struct,
    ) -> DefinitionId {
        let definition = Definition {
            name,
            full_name: String::new(),
            scope: Some(scope),
            position,
            doc: None,
            annotations: Vec::new(),
            kind: DefinitionKind::Struct(of),
        };
        self.push(Some(scope), definition)
    }

    /// Adds a definition. Without a scope and with a full name it is listed nowhere.
    fn push(&mut self, scope: Option<DefinitionId>, definition: Definition) -> DefinitionId {
        let outer = scope.map(|scope| self.model.definition(scope).full_name.clone());
        let is_listed = definition.full_name.is_empty();
        let full_name = match outer {
            _ if !is_listed => definition.full_name.clone(),
            Some(outer) => format!("{outer}::{}", definition.name),
            None => definition.name.clone(),
        };
        let model = self.model.to_mut();
        let id = DefinitionId(model.definitions.len() as u32);
        model.definitions.push(Definition {
            full_name,
            ..definition
        });
        let list = match scope {
            _ if !is_listed => return id,
            None => &mut model.root,
            Some(scope) => match &mut model.definitions[scope.0 as usize].kind {
                DefinitionKind::Module(list) => list,
                _ => return id,
            },
        };
        list.push(id);
        id
    }
}

/// The member of a result for an exception, by the exception's full name.
pub fn exception_member(full_name: &str) -> String {
    format!("{}_ex", full_name.replace("::", "_"))
}

impl Model {
    /// The same with what its interfaces become on the wire: structs of requests and replies, in a module `detail` beside
    /// each interface, and exceptions as structs. Definitions keep their ids.
    pub fn with_services(&self) -> Self {
        Services::of(self).model.into_owned()
    }
}

/// The operations and the attributes of an interface itself, without their structs.
fn own_calls(of: DefinitionId, interface: &Interface) -> Vec<Call> {
    let mut calls = Vec::new();
    for operation in &interface.operations {
        let of_direction = |wanted: Direction| {
            let parameters = operation.parameters.iter();
            let wanted = parameters.filter(move |parameter| {
                parameter.direction == wanted || parameter.direction == Direction::InOut
            });
            wanted.map(|parameter| (parameter.name.clone(), parameter.ty.clone()))
        };
        let result = operation.result.iter().cloned();
        let result = result.map(|ty| (RESULT.to_owned(), ty));
        calls.push(Call {
            of,
            name: operation.name.clone(),
            position: operation.position,
            doc: operation.doc.clone(),
            inputs: of_direction(Direction::In).collect(),
            outputs: of_direction(Direction::Out).chain(result).collect(),
            returns: operation.result.is_some(),
            raises: operation.raises.clone(),
            input: of,
            answer: (!operation.oneway).then_some((of, of)),
        });
    }
    for attribute in &interface.attributes {
        let half = |kind: &str, inputs, outputs: Vec<(String, Type)>| Call {
            of,
            name: format!("{kind}_{}", attribute.name),
            position: attribute.position,
            doc: attribute.doc.clone(),
            inputs,
            returns: !outputs.is_empty(),
            outputs,
            raises: Vec::new(),
            input: of,
            answer: Some((of, of)),
        };
        let value = |name: &str| vec![(name.to_owned(), attribute.ty.clone())];
        calls.push(half("get", Vec::new(), value(RESULT)));
        if !attribute.readonly {
            calls.push(half("set", value(&attribute.name), Vec::new()));
        }
    }
    calls
}

/// What an operation takes, or gives back.
fn arguments(of: &[(String, Type)], position: Position) -> Struct {
    let members = of.iter().zip(0..).map(|((name, ty), id)| Member {
        id,
        ..member(name, ty.clone(), position)
    });
    Struct {
        extensibility: Extensibility::Final,
        nested: true,
        members: members.collect(),
        ..Struct::default()
    }
}

/// One member of several, of which one is there.
fn choice(name: &str, ty: DefinitionId, position: Position) -> Member {
    Member {
        id: member_id(name),
        id_source: IdSource::Hash(String::new()),
        optional: true,
        ..member(name, Type::Named(ty), position)
    }
}

fn member(name: &str, ty: Type, position: Position) -> Member {
    Member {
        name: name.to_owned(),
        position,
        type_position: position,
        doc: None,
        annotations: Vec::new(),
        ty,
        id: 0,
        id_source: IdSource::Automatic,
        key: false,
        optional: false,
        external: false,
        must_understand: false,
        non_serialized: false,
        try_construct: TryConstruct::Discard,
        default: None,
        range: Range::default(),
        unit: None,
    }
}

/// What a service says instead of a result (DDS-RPC 1.0 §7.5.2).
fn remote_exception() -> Definition {
    let names = [
        "OK",
        "UNSUPPORTED",
        "INVALID_ARGUMENT",
        "OUT_OF_RESOURCES",
        "UNKNOWN_OPERATION",
        "UNKNOWN_EXCEPTION",
    ];
    let literals = names.iter().zip(0..).map(|(name, value)| Literal {
        name: format!("REMOTE_EX_{name}"),
        position: Position::default(),
        doc: None,
        annotations: Vec::new(),
        value,
    });
    Definition {
        name: "RemoteExceptionCode_t".to_owned(),
        full_name: "dds::rpc::RemoteExceptionCode_t".to_owned(),
        scope: None,
        position: Position::default(),
        doc: None,
        annotations: Vec::new(),
        kind: DefinitionKind::Enum(Enum {
            extensibility: Extensibility::Appendable,
            bit_bound: 32,
            literals: literals.collect(),
            default: 0,
        }),
    }
}

/// The module of what is made of interfaces.
const DETAIL: &str = "detail";
/// What the result of an operation is called among what comes back.
const RESULT: &str = "return_";
