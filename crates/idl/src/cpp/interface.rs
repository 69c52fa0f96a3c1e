//! Interfaces: an abstract struct for who implements a service, a client for who calls it, and what turns the requests of
//! the one into calls of the other, over `tickwire/rpc.hpp`.

use super::{Cpp, Refused, names};
use crate::c::facts::{Kind, kind};
use crate::c::idl;
use crate::c::text::literal;
use crate::hash::member_id;
use crate::model::{Definition, DefinitionId, DefinitionKind, Direction, Interface, Struct, Type};
use crate::services::{Call, exception_member};

impl<'m> Cpp<'m> {
    pub(super) fn check_interface(
        &mut self,
        id: DefinitionId,
        definition: &'m Definition,
        of: &Interface,
    ) -> Result<(), Refused> {
        let (full_name, position) = (&definition.full_name, definition.position);
        let name = names::qualified(self.model, definition);
        if !of.definitions.is_empty() {
            self.take(id, format!("{name}{}", names::TYPES))?;
        }
        let services = self.services;
        let Some(service) = services.services.get(&id) else {
            if of.definitions.is_empty() {
                let message = format!("the interface `{full_name}` has no operations");
                return Err(self.refuse(position, message, "give it one, or remove it"));
            }
            return Ok(());
        };
        let class = self.class(definition);
        let of_client = [
            class.clone(),
            format!("{class}Client"),
            format!("{class}Service"),
            "wait_for_service".to_owned(),
        ];
        for suffix in ["", "Client", "Service", WIRE] {
            self.take(id, format!("{name}{suffix}"))?;
        }
        for call in &service.calls {
            let name = names::identifier(&call.name);
            if of_client.contains(&name) {
                let message =
                    format!("`{name}` of `{full_name}` means something else in its client");
                return Err(self.refuse(call.position, message, "rename the operation"));
            }
            for (_, ty) in call.inputs.iter().chain(&call.outputs) {
                self.check_type(ty, call.position)?;
            }
        }
        Ok(())
    }

    fn class(&self, definition: &Definition) -> String {
        let mut path = names::path(self.model, definition);
        path.pop().unwrap_or_default()
    }

    pub(super) fn interface(
        &mut self,
        id: DefinitionId,
        definition: &'m Definition,
        of: &Interface,
    ) {
        let services = self.services;
        let Some(service) = services.services.get(&id) else {
            return;
        };
        let mut path = names::path(self.model, definition);
        let class = path.pop().unwrap_or_default();
        self.enter_functions(&path);
        let own = service.calls.iter().filter(|call| call.of == id);
        let bases = of.bases.iter();
        let bases = bases.filter(|id| services.services.contains_key(id));
        let bases: Vec<String> = bases
            .map(|id| format!("public virtual {}", self.name(*id)))
            .collect();
        let bases = match bases.as_slice() {
            [] => String::new(),
            bases => format!(" : {}", bases.join(", ")),
        };
        let text = &mut self.functions;
        text.line("");
        text.doc(definition.doc.as_deref().unwrap_or_default());
        text.open(&format!("struct {class}{bases} {{"));
        text.line(&format!("virtual ~{class}() = default;"));
        for call in own {
            let signature = self.signature(call);
            let text = &mut self.functions;
            text.line("");
            text.doc(call.doc.as_deref().unwrap_or_default());
            text.line(&format!("virtual {signature} = 0;"));
        }
        self.functions.close("};");
        self.types_on_the_wire(&class, service.request, service.reply, &service.calls);
        self.client(&class, &service.calls);
        let full_name = self.name(id);
        self.service(&class, &full_name, &service.calls);
    }

    /// The types of requests and replies, and which operations there are.
    fn types_on_the_wire(
        &mut self,
        class: &str,
        request: DefinitionId,
        reply: DefinitionId,
        calls: &[Call],
    ) {
        let operations = calls.iter().map(|call| self.operation(call));
        let operations: Vec<String> = operations.collect();
        self.functions.line("");
        self.functions.open(&format!("struct {class}{WIRE} {{"));
        self.functions.line(&format!(
            "static constexpr ::tickwire::rpc::detail::Operation operations[] = {{{}}};",
            operations.join(", ")
        ));
        self.functions
            .open("static ::tickwire::rpc::detail::Types types() {");
        self.functions.line("return {");
        for (id, end) in [(request, ","), (reply, "};")] {
            let name = literal(&self.model.definition(id).full_name);
            self.functions.line(&format!("    {name},"));
            let idl = idl::idl(self.model, id);
            let mut lines = idl.lines().peekable();
            while let Some(line) = lines.next() {
                let end = if lines.peek().is_some() { "" } else { end };
                let line = literal(&format!("{line}\n"));
                self.functions.line(&format!("    {line}{end}"));
            }
        }
        self.functions.close("}");
        self.functions.close("};");
    }

    fn operation(&self, call: &Call) -> String {
        let id = member_id(&call.name);
        format!(
            "{{{id}u, {}, {}}}",
            call.inputs.is_empty(),
            call.outputs.is_empty()
        )
    }

    fn client(&mut self, class: &str, calls: &[Call]) {
        let text = &mut self.functions;
        text.line("");
        text.doc(&format!(
            "Calls a service of the interface {class}. A call takes up to `timeout`, the time until the service is found \
             among it."
        ));
        text.open(&format!("class {class}Client : public {class} {{"));
        text.label("public:");
        text.open(&format!(
            "{class}Client(const ::dds::domain::DomainParticipant &participant, const ::tickwire::rpc::Topics &service, \
             const ::dds::core::Duration &timeout)"
        ));
        text.line(&format!(
            ": _requester(participant, service, {class}{WIRE}::types(), timeout)"
        ));
        text.close("{");
        text.line("}");
        text.doc("Throws TimeoutError if there is none in time.");
        text.line(
            "void wait_for_service(const ::dds::core::Duration &timeout) { _requester.wait_for_service(timeout); }",
        );
        for call in calls {
            self.client_method(call);
        }
        self.functions.line("");
        self.functions.label("private:");
        self.functions
            .line("::tickwire::rpc::detail::Requester _requester;");
        self.functions.close("};");
    }

    fn client_method(&mut self, call: &Call) {
        let signature = self.signature(call);
        self.functions.line("");
        self.functions.open(&format!("{signature} override {{"));
        let write = self.each("write", "_w", &call.inputs);
        let write = format!(
            "[&](::tw_cdr_writer *{}) {{ return {write}; }}",
            used("_w", &call.inputs)
        );
        if call.answer.is_none() {
            let id = member_id(&call.name);
            self.functions
                .line(&format!("_requester.tell({id}u, {write});"));
            return self.functions.close("}");
        }
        if let Some(ty) = call.result() {
            let (ty, codec) = (self.ty(ty), self.wire_codec(ty));
            self.functions.line(&format!(
                "{ty} _return = ::tickwire::cdr::initial<{codec}>();"
            ));
        }
        let read = self.each("read", "_r", &call.outputs);
        let read = format!(
            "[&](::tw_cdr_reader *{}) {{ return {read}; }}",
            used("_r", &call.outputs)
        );
        let raises = call.raises.iter().map(|id| {
            let of = self.model.definition(*id);
            let member = member_id(&exception_member(&of.full_name));
            let is_empty = matches!(&of.kind, DefinitionKind::Struct(of) if is_empty(of));
            let name = self.name(*id);
            format!(", ::tickwire::rpc::detail::Raises<{name}>{{{member}u, {is_empty}}}")
        });
        let raises: String = raises.collect();
        let operation = self.operation(call);
        self.functions.line(&format!(
            "_requester.call({operation}, {write}, {read}{raises});"
        ));
        if call.result().is_some() {
            self.functions.line("return _return;");
        }
        self.functions.close("}");
    }

    /// Within the class, what it and its parameters are called has other meanings: the interface has its name in full.
    fn service(&mut self, class: &str, interface: &str, calls: &[Call]) {
        let text = &mut self.functions;
        text.line("");
        text.doc(&format!(
            "Serves the interface {class}: a thread calls the implementation, one request after the other, as long as \
             this lives."
        ));
        text.open(&format!("class {class}Service {{"));
        text.label("public:");
        text.open(&format!(
            "{class}Service(const ::dds::domain::DomainParticipant &participant, const ::tickwire::rpc::Topics &service, \
             std::shared_ptr<{interface}> implementation)"
        ));
        text.line(&format!(
            ": _server(participant, service, {class}{WIRE}::types(), {class}{WIRE}::operations, {},",
            calls.len()
        ));
        text.line("          [implementation](::tickwire::rpc::detail::Call &_call) { answer(*implementation, _call); })");
        text.close("{");
        text.line("}");
        text.line("/** What came of requests so far. */");
        text.line(
            "::tickwire::rpc::ServiceCounters counters() const { return _server.counters(); }",
        );
        text.line("");
        text.label("private:");
        text.open(&format!(
            "static void answer({interface} &_of, ::tickwire::rpc::detail::Call &_call) {{"
        ));
        text.open("switch (_call.operation()) {");
        for call in calls {
            let id = member_id(&call.name);
            self.functions.label(&format!("case {id}u: {{"));
            self.answer(call);
            self.functions.line("break;");
            self.functions.label("}");
        }
        let text = &mut self.functions;
        text.close("}");
        text.close("}");
        text.line("");
        text.line("::tickwire::rpc::detail::Server _server;");
        text.close("};");
    }

    /// Has the implementation do what an operation asks.
    fn answer(&mut self, call: &Call) {
        let parameters = call.parameters(self.model);
        for parameter in &parameters {
            let (ty, codec) = (self.ty(parameter.ty), self.wire_codec(parameter.ty));
            let name = names::identifier(parameter.name);
            self.functions.line(&format!(
                "{ty} {name} = ::tickwire::cdr::initial<{codec}>();"
            ));
        }
        if !call.inputs.is_empty() {
            let read = self.each("read", "_r", &call.inputs);
            let read = format!("[&](::tw_cdr_reader *_r) {{ return {read}; }}");
            self.functions
                .when(&format!("!_call.arguments({read})"), "return;");
        }
        let names = parameters.iter().map(|it| names::identifier(it.name));
        let names: Vec<String> = names.collect();
        let asked = format!(
            "_of.{}({})",
            names::identifier(&call.name),
            names.join(", ")
        );
        if !call.raises.is_empty() {
            self.functions.open("try {");
        }
        match call.result() {
            Some(ty) => {
                let ty = self.ty(ty);
                self.functions
                    .line(&format!("const {ty} _return = {asked};"));
            }
            None => self.functions.line(&format!("{asked};")),
        }
        if call.answer.is_some() {
            let write = self.each("write", "_w", &call.outputs);
            let unused = used("_w", &call.outputs);
            self.functions.line(&format!(
                "_call.returned([&](::tw_cdr_writer *{unused}) {{ return {write}; }});"
            ));
        }
        if !call.raises.is_empty() {
            for id in &call.raises {
                let member = member_id(&exception_member(&self.model.definition(*id).full_name));
                let name = self.name(*id);
                self.functions
                    .turn(&format!("}} catch (const {name} &_raised) {{"));
                self.functions
                    .line(&format!("_call.raised({member}u, _raised);"));
            }
            self.functions.close("}");
        }
    }

    /// An expression that writes or reads parameters one after the other.
    fn each(&self, what: &str, by: &str, all: &[(String, Type)]) -> String {
        let each = all.iter().map(|(name, ty)| {
            let name = match name.as_str() {
                RESULT => "_return".to_owned(),
                name => names::identifier(name),
            };
            let codec = self.wire_codec(ty);
            format!("{codec}::{what}<false>({by}, {name})")
        });
        let each: Vec<String> = each.collect();
        match each.as_slice() {
            [] => "true".to_owned(),
            each => each.join(" && "),
        }
    }

    /// A codec as it is named outside of its namespace.
    fn wire_codec(&self, ty: &Type) -> String {
        let codec = self.codec(ty);
        let mut out = String::new();
        // Names of codecs begin with capitals; those of types have `::` or `std::` before them.
        let mut previous = ' ';
        for char in codec.chars() {
            if char.is_ascii_uppercase() && matches!(previous, ' ' | '<') {
                out.push_str("::tickwire::cdr::");
            }
            out.push(char);
            previous = char;
        }
        out
    }

    fn signature(&self, call: &Call) -> String {
        let gives = call
            .result()
            .map_or_else(|| "void".to_owned(), |ty| self.ty(ty));
        let parameters = call.parameters(self.model);
        let parameters = parameters.iter().map(|it| {
            let (ty, name) = (self.ty(it.ty), names::identifier(it.name));
            let is_small = matches!(
                kind(self.model, it.ty),
                Kind::Primitive(_) | Kind::Enum(..) | Kind::Bitmask(..)
            );
            match it.direction {
                Direction::In if is_small => format!("{ty} {name}"),
                Direction::In => format!("const {ty} &{name}"),
                Direction::Out | Direction::InOut => format!("{ty} &{name}"),
            }
        });
        let parameters: Vec<String> = parameters.collect();
        let name = names::identifier(&call.name);
        format!("{gives} {name}({})", parameters.join(", "))
    }
}

fn is_empty(of: &Struct) -> bool {
    of.members.is_empty()
}

/// The name of an argument of a function, if it uses it.
fn used(name: &'static str, all: &[(String, Type)]) -> &'static str {
    if all.is_empty() { "" } else { name }
}

const RESULT: &str = "return_";
/// Behind the name of an interface, what has its types on the wire.
const WIRE: &str = "Wire";
