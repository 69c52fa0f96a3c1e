//! Interfaces: a struct of functions for who implements a service, functions of a client, and what turns requests into calls,
//! over `tickwire/rpc.h`. What operations take and give are structs, which have the functions of any.

use std::collections::BTreeSet;

use super::facts::{Kind, kind};
use super::text::{Text, literal};
use super::{C, Refused, idl, names};
use crate::hash::member_id;
use crate::model::{Definition, DefinitionId, Direction, Interface, Struct, Type};
use crate::services::{Call, Service, Services, exception_member};

/// What is on the wire and has no struct: requests, replies, results, and what is empty of the rest.
pub(super) fn without_structs(services: &Services<'_>) -> BTreeSet<DefinitionId> {
    let mut types = services.wire_types();
    for call in services
        .services
        .values()
        .flat_map(|service| &service.calls)
    {
        if !call.inputs.is_empty() {
            types.remove(&call.input);
        }
        if let Some((output, _)) = call.answer.filter(|_| !call.outputs.is_empty()) {
            types.remove(&output);
        }
    }
    types
}

impl<'m> C<'m> {
    pub(super) fn check_interface(
        &mut self,
        id: DefinitionId,
        definition: &'m Definition,
        of: &Interface,
    ) -> Result<(), Refused> {
        let (full_name, position) = (&definition.full_name, definition.position);
        let services = self.services;
        let Some(service) = services.services.get(&id) else {
            if of.definitions.is_empty() {
                let message = format!("the interface `{full_name}` has no operations");
                return Err(self.refuse(position, message, "give it one, or remove it"));
            }
            return Ok(());
        };
        let name = names::global(definition);
        self.take(id, name.clone())?;
        for suffix in INTERFACE_NAMES {
            self.take(id, format!("{name}_{suffix}"))?;
        }
        let mut functions = BTreeSet::from([CONTEXT.to_owned()]);
        for call in &service.calls {
            for what in ["", "answer_", "raises_"] {
                self.take(id, format!("{name}_{what}{}", call.name))?;
            }
            let function = names::member(&call.name);
            if !functions.insert(function.clone()) {
                let message = format!("`{full_name}` has `{function}` twice in C");
                return Err(self.refuse(call.position, message, "rename the operation"));
            }
            let mut taken = BTreeSet::new();
            for parameter in call.parameters(self.model) {
                let parameter = names::parameter(parameter.name);
                if !taken.insert(parameter.clone()) || parameter == RESULT {
                    let message = format!("`{parameter}` of `{}` is there twice in C", call.name);
                    return Err(self.refuse(call.position, message, "rename the parameter"));
                }
            }
        }
        Ok(())
    }

    /// How a service raises an exception, and a client finds it.
    pub(super) fn exception(&mut self, id: DefinitionId, of: &Struct) {
        let name = self.names[&id].clone();
        let is_empty = of.members.is_empty();
        let raise = format!("{name} *{name}_raise(tw_rpc_exception *exception)");
        let raised = format!("const {name} *{name}_raised(const tw_rpc_exception *exception)");
        if self.services.services.is_empty() {
            return;
        }
        let text = &mut self.header;
        text.doc("Raises it, in an operation: what is returned is to be filled in, and NULL without memory.");
        text.line(&format!("{raise};"));
        text.doc("What an operation has raised, if it is one of these; else NULL.");
        text.line(&format!("{raised};"));
        let text = &mut self.source;
        text.line("");
        text.line(&format!("TW_RPC_TYPE({name}, {is_empty});"));
        for (head, result, function) in [
            (raise, format!("{name} *"), "tw_rpc_raise"),
            (raised, format!("const {name} *"), "tw_rpc_raised"),
        ] {
            text.line("");
            text.line(&head);
            text.open("{");
            text.line(&format!(
                "return ({result}){function}(exception, &{name}_rpc);"
            ));
            text.close("}");
        }
    }

    pub(super) fn interface(&mut self, id: DefinitionId, definition: &'m Definition) {
        let services = self.services;
        let Some(service) = services.services.get(&id) else {
            return;
        };
        let name = names::global(definition);
        self.interface_header(&name, definition, service);
        let mut text = Text::default();
        let own = service.calls.iter().filter(|call| call.of == id);
        for call in own {
            for id in structs(call) {
                let name = &self.names[&id];
                text.line("");
                text.line(&format!("TW_RPC_TYPE({name}, false);"));
            }
        }
        for call in &service.calls {
            self.answer(&mut text, &name, call);
        }
        self.operations(&mut text, &name, service);
        for (call, index) in service.calls.iter().zip(0..) {
            self.ask(&mut text, &name, call, index);
        }
        let open = self.open_functions(&name);
        for (head, body) in open {
            text.line("");
            text.line(&head);
            text.open("{");
            text.line(&body);
            text.close("}");
        }
        self.source.out.push_str(&text.out);
    }

    /// The functions that make clients and services, and what they do.
    fn open_functions(&self, name: &str) -> [(String, String); 2] {
        let client = format!(
            "tw_result {name}_client_open({name}_client *client, tw_participant *participant, const char *service, const char \
             *reply_topic, int64_t timeout_ns)"
        );
        let service = format!(
            "tw_result {name}_service_open(tw_rpc_service *service, tw_participant *participant, const char *name, const char \
             *reply_topic, const {name} *implementation)"
        );
        [
            (
                client,
                format!(
                    "return tw_rpc_client_open(&client->rpc, &{name}_interface, participant, service, reply_topic, timeout_ns);"
                ),
            ),
            (
                service,
                format!(
                    "return tw_rpc_service_open(service, &{name}_interface, participant, name, reply_topic, implementation);"
                ),
            ),
        ]
    }

    fn interface_header(&mut self, name: &str, definition: &Definition, service: &'m Service) {
        let of = &definition.full_name;
        let mut text = Text::default();
        text.line("");
        let doc = definition.doc.as_deref().unwrap_or_default();
        let what = format!("What a service of {of} does, each with `context`.");
        text.doc(format!("{doc}\n{what}").trim_start());
        text.open(&format!("typedef struct {name} {{"));
        text.line(&format!("void *{CONTEXT};"));
        for call in &service.calls {
            text.doc(call.doc.as_deref().unwrap_or_default());
            let parameters = self.prototype(call, "void *_context", "tw_rpc_exception *_exception");
            text.line(&format!(
                "void (*{})({parameters});",
                names::member(&call.name)
            ));
        }
        text.close(&format!("}} {name};"));
        text.line("");
        text.doc(&format!("A client of a service of {of}."));
        text.open(&format!("typedef struct {name}_client {{"));
        text.line("tw_rpc_client rpc;");
        text.close(&format!("}} {name}_client;"));
        text.line("");
        let docs = [
            "A client of the service of a name, whose calls take up to the time-out, the time until the service is found among \
             it; or of two topics. It ends with tw_delete() of its `rpc.requester`.",
            "A service under a name, or of two topics, which tw_rpc_answer() has answer. It ends with tw_delete() of its \
             `replier`, and the implementation is to stay until then.",
        ];
        for ((head, _), doc) in self.open_functions(name).iter().zip(docs) {
            text.doc(doc);
            text.line(&format!("{head};"));
        }
        for call in &service.calls {
            text.line("");
            text.doc(call.doc.as_deref().unwrap_or_default());
            text.line(&format!("{};", self.client_head(name, call)));
        }
        self.header.out.push_str(&text.out);
    }

    fn client_head(&self, name: &str, call: &Call) -> String {
        let client = format!("const {name}_client *_client");
        let parameters = self.prototype(call, &client, "tw_rpc_exception *_exception");
        format!("tw_result {name}_{}({parameters})", call.name)
    }

    /// The parameters of an operation, between two others.
    fn prototype(&self, call: &Call, first: &str, last: &str) -> String {
        let mut all = vec![first.to_owned()];
        for parameter in call.parameters(self.model) {
            let name = names::parameter(parameter.name);
            all.push(match parameter.direction {
                Direction::In => self.given(parameter.ty, &name),
                Direction::InOut | Direction::Out => self.taken_from(parameter.ty, &name),
            });
        }
        if let Some(ty) = call.result() {
            all.push(self.taken_from(ty, RESULT));
        }
        all.push(last.to_owned());
        all.join(", ")
    }

    /// The declaration of what an operation takes.
    fn given(&self, ty: &Type, name: &str) -> String {
        match kind(self.model, ty) {
            Kind::String(_) => format!("const char *{name}"),
            Kind::WString(_) => format!("const uint16_t *{name}"),
            Kind::Struct(_) | Kind::Union(_) | Kind::Sequence(..) | Kind::Map(..) => {
                format!("const {}", self.declare(ty, &format!("*{name}")))
            }
            _ => self.declare(ty, name),
        }
    }

    /// The declaration of what an operation gives.
    fn taken_from(&self, ty: &Type, name: &str) -> String {
        match self.is_array(ty) {
            true => self.declare(ty, name),
            false => self.declare_pointer(ty, name),
        }
    }

    fn declare_pointer(&self, ty: &Type, name: &str) -> String {
        self.declare(ty, &format!("*{name}"))
    }

    fn is_array(&self, ty: &Type) -> bool {
        matches!(kind(self.model, ty), Kind::Array(..))
    }

    /// Has the implementation do what an operation asks.
    fn answer(&mut self, text: &mut Text, name: &str, call: &'m Call) {
        let member = names::member(&call.name);
        text.line("");
        text.line(&format!(
            "static void {name}_answer_{}(const void *_of, void *_taken, void *_given, tw_rpc_exception *_exception)",
            call.name
        ));
        text.open("{");
        text.line(&format!("const {name} *_self = (const {name} *)_of;"));
        for (variable, from, id) in [
            (
                "_in",
                "_taken",
                (!call.inputs.is_empty()).then_some(call.input),
            ),
            ("_out", "_given", output(call)),
        ] {
            match id {
                Some(id) => {
                    let of = &self.names[&id];
                    text.line(&format!("{of} *{variable} = ({of} *){from};"));
                }
                None => text.line(&format!("(void){from};")),
            }
        }
        let mut arguments = vec![format!("_self->{CONTEXT}")];
        for parameter in call.parameters(self.model) {
            let field = names::member(parameter.name);
            let (given, taken) = (format!("_in->{field}"), format!("_out->{field}"));
            if parameter.direction == Direction::InOut {
                text.line(&format!("tw_rpc_swap(&{given}, &{taken}, sizeof {given});"));
            }
            arguments.push(
                match (parameter.direction, kind(self.model, parameter.ty)) {
                    (
                        Direction::In,
                        Kind::Struct(_) | Kind::Union(_) | Kind::Sequence(..) | Kind::Map(..),
                    ) => format!("&{given}"),
                    (Direction::In, _) => given,
                    (_, Kind::Array(..)) => taken,
                    _ => format!("&{taken}"),
                },
            );
        }
        if let Some(ty) = call.result() {
            let at = if self.is_array(ty) { "" } else { "&" };
            arguments.push(format!("{at}_out->{RETURN}"));
        }
        arguments.push("_exception".to_owned());
        text.when(
            &format!("_self->{member} == NULL"),
            "tw_rpc_refuse(_exception, TW_RPC_UNSUPPORTED);",
        );
        text.line("else");
        text.line(&format!("    _self->{member}({});", arguments.join(", ")));
        text.close("}");
    }

    /// The tables of an interface.
    fn operations(&self, text: &mut Text, name: &str, service: &'m Service) {
        for call in service.calls.iter().filter(|call| !call.raises.is_empty()) {
            text.line("");
            text.open(&format!(
                "static const tw_rpc_raises {name}_raises_{}[] = {{",
                call.name
            ));
            for id in &call.raises {
                let member = member_id(&exception_member(&self.model.definition(*id).full_name));
                text.line(&format!("{{ {member}, &{}_rpc }},", self.names[id]));
            }
            text.close("};");
        }
        text.line("");
        text.open(&format!(
            "static const tw_rpc_operation {name}_operations[] = {{"
        ));
        for call in &service.calls {
            let ty = |id: Option<DefinitionId>| match id {
                Some(id) => format!("&{}_rpc", self.names[&id]),
                None => "NULL".to_owned(),
            };
            let raises = match call.raises.is_empty() {
                true => "NULL".to_owned(),
                false => format!("{name}_raises_{}", call.name),
            };
            text.line(&format!(
                "{{ {}, {}, {}, {raises}, {}, {}, {name}_answer_{} }},",
                member_id(&call.name),
                ty((!call.inputs.is_empty()).then_some(call.input)),
                ty(output(call)),
                call.raises.len(),
                call.answer.is_none(),
                call.name,
            ));
        }
        text.close("};");
        for (what, id) in [("request", service.request), ("reply", service.reply)] {
            text.line("");
            self.idl_text(text, &format!("static const char {name}_{what}_idl[]"), id);
        }
        let type_name = |id| literal(&self.model.definition(id).full_name);
        text.line("");
        text.open(&format!(
            "static const tw_rpc_interface {name}_interface = {{"
        ));
        text.line(&format!(
            "{}, {name}_request_idl,",
            type_name(service.request)
        ));
        text.line(&format!("{}, {name}_reply_idl,", type_name(service.reply)));
        text.line(&format!("{name}_operations, {},", service.calls.len()));
        text.close("};");
    }

    /// Calls an operation of a service.
    fn ask(&mut self, text: &mut Text, name: &str, call: &'m Call, index: usize) {
        text.line("");
        text.line(&self.client_head(name, call));
        text.open("{");
        let (mut input, mut output_at) = ("NULL", "NULL");
        if !call.inputs.is_empty() {
            text.line(&format!("{} _in;", self.names[&call.input]));
            input = "&_in";
        }
        if let Some(id) = output(call) {
            text.line(&format!("{} _out;", self.names[&id]));
            output_at = "&_out";
            text.line("tw_result _status;");
        }
        if !call.inputs.is_empty() {
            // It owns nothing, and is not freed.
            text.line("tw_rpc_zero(&_in, sizeof _in);");
        }
        let parameters = call.parameters(self.model);
        for parameter in &parameters {
            let (field, name) = (
                names::member(parameter.name),
                names::parameter(parameter.name),
            );
            let is_in = parameter.direction == Direction::In;
            if parameter.direction == Direction::Out {
                continue;
            }
            text.line(&match kind(self.model, parameter.ty) {
                Kind::Array(..) => {
                    format!("tw_rpc_move(_in.{field}, {name}, sizeof _in.{field});")
                }
                Kind::String(_) if is_in => format!("_in.{field} = (char *){name};"),
                Kind::WString(_) if is_in => format!("_in.{field} = (uint16_t *){name};"),
                Kind::Struct(_) | Kind::Union(_) | Kind::Sequence(..) | Kind::Map(..) => {
                    format!("_in.{field} = *{name};")
                }
                _ if is_in => format!("_in.{field} = {name};"),
                _ => format!("_in.{field} = *{name};"),
            });
        }
        let asked = format!(
            "tw_rpc_call(&_client->rpc, &{name}_operations[{index}], {input}, {output_at}, _exception)"
        );
        let Some(id) = output(call) else {
            text.line(&format!("return {asked};"));
            return text.close("}");
        };
        text.line("tw_rpc_zero(&_out, sizeof _out);");
        text.line(&format!("_status = {asked};"));
        text.open("if (_status != TW_OK) {");
        text.line(&format!("{}_free(&_out);", self.names[&id]));
        text.line("return _status;");
        text.close("}");
        let outputs = parameters.iter();
        let outputs = outputs.filter(|it| it.direction != Direction::In);
        for parameter in outputs {
            let name = names::parameter(parameter.name);
            let is_array = self.is_array(parameter.ty);
            if parameter.direction == Direction::InOut {
                let at = if is_array {
                    name.clone()
                } else {
                    format!("(*{name})")
                };
                self.free(text, parameter.ty, &at);
            }
            self.give(text, &name, &names::member(parameter.name), is_array);
        }
        if let Some(ty) = call.result() {
            self.give(text, RESULT, RETURN, self.is_array(ty));
        }
        text.line("return TW_OK;");
        text.close("}");
    }

    fn give(&self, text: &mut Text, to: &str, field: &str, is_array: bool) {
        text.line(&match is_array {
            true => format!("tw_rpc_move({to}, _out.{field}, sizeof _out.{field});"),
            false => format!("*{to} = _out.{field};"),
        });
    }

    /// The IDL of a type, longer than some compilers take without a word.
    pub(super) fn idl_text(&self, text: &mut Text, head: &str, id: DefinitionId) {
        let idl = idl::idl(self.model, id);
        for line in [
            "#ifdef __GNUC__",
            "#pragma GCC diagnostic push",
            "#pragma GCC diagnostic ignored \"-Woverlength-strings\"",
            "#endif",
        ] {
            text.line(line);
        }
        text.open(&format!("{head} ="));
        let mut lines = idl.lines().peekable();
        while let Some(line) = lines.next() {
            let end = if lines.peek().is_some() { "" } else { ";" };
            text.line(&format!("{}{end}", literal(&format!("{line}\n"))));
        }
        text.close("#ifdef __GNUC__");
        text.line("#pragma GCC diagnostic pop");
        text.line("#endif");
    }
}

/// What comes back of a call, if anything does.
fn output(call: &Call) -> Option<DefinitionId> {
    let answer = call.answer.filter(|_| !call.outputs.is_empty());
    answer.map(|(output, _)| output)
}

/// The structs of what a call takes and gives.
fn structs(call: &Call) -> impl Iterator<Item = DefinitionId> {
    let input = (!call.inputs.is_empty()).then_some(call.input);
    input.into_iter().chain(output(call))
}

/// What functions of a service are passed.
const CONTEXT: &str = "context";
/// The parameter of a function through which it gives its result, and the member of what comes back.
const RESULT: &str = "_result";
const RETURN: &str = "return_";
/// Behind the name of an interface, what there is besides its operations.
const INTERFACE_NAMES: &[&str] = &[
    "client",
    "client_open",
    "service_open",
    "interface",
    "operations",
    "request_idl",
    "reply_idl",
];
/// Behind the name of an exception, what there is besides the functions of structs.
pub(super) const EXCEPTION_NAMES: &[&str] = &["raise", "raised", "rpc"];
