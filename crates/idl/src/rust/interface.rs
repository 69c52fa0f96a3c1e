//! Interfaces: a trait for who implements a service, a client for who calls it, and what turns the requests of the one into
//! calls of the other.

use std::collections::BTreeSet;

use super::names::{self, camel, snake};
use super::{Refused, Rust};
use crate::model::{Definition, DefinitionId, DefinitionKind, Interface, Type};
use crate::services::{Call, Service, exception_member};

/// An operation in the words of Rust.
struct Method<'m> {
    call: &'m Call,
    name: String,
    /// Names and types of what it takes.
    inputs: Vec<(String, String)>,
    /// Names of what comes back as members, in the order in which Rust has it: the result first.
    outputs: Vec<String>,
    /// The type of all that.
    result: String,
    /// The enum of its exceptions, with the variants, the members for them and their types.
    exception: Option<String>,
    raises: Vec<(String, String, String)>,
}

impl Method<'_> {
    /// Generic arguments of what it gives.
    fn gives(&self) -> Vec<String> {
        let mut arguments = vec![self.result.clone()];
        arguments.extend(self.exception.clone());
        arguments
    }
}

impl Rust<'_> {
    /// Names that an interface needs beside its own, in its module.
    pub(super) fn more_names(&self, id: DefinitionId, definition: &Definition) -> Vec<String> {
        let DefinitionKind::Interface(of) = &definition.kind else {
            return Vec::new();
        };
        let mut all = Vec::new();
        if !of.definitions.is_empty() {
            all.push(snake(&definition.name));
        }
        if let Some(service) = self.services.services.get(&id) {
            let name = camel(&definition.name);
            all.extend(["Client", "Service"].map(|what| format!("{name}{what}")));
            let own = service.calls.iter().filter(|call| call.of == id);
            let raising = own.filter(|call| !call.raises.is_empty());
            all.extend(raising.map(|call| exception_name(&definition.name, &call.name)));
        }
        all
    }

    pub(super) fn interface(
        &mut self,
        id: DefinitionId,
        definition: &Definition,
        of: &Interface,
    ) -> Result<(), Refused> {
        if !of.definitions.is_empty() {
            self.text.item();
            self.text
                .doc(&format!("What `{}` defines.", definition.name));
            let name = names::text(&snake(&definition.name));
            self.text.open(&format!("pub mod {name} {{"));
            let outer = self.scope.replace(id);
            self.scope(&of.definitions);
            self.scope = outer;
            self.text.close("}");
        }
        let services = self.services;
        let Some(service) = services.services.get(&id) else {
            if of.definitions.is_empty() {
                let message = format!("the interface `{}` has no operations", definition.full_name);
                let help = "give it one, or remove it";
                return Err(self.refuse(definition.position, message, help));
            }
            return Ok(());
        };
        let methods = self.methods(definition, service)?;
        let name = camel(&definition.name);
        let own: Vec<&Method<'_>> = methods.iter().filter(|m| m.call.of == id).collect();
        own.iter().for_each(|method| self.exceptions(method));
        self.service_trait(definition, of, &own);
        self.client(&name, service, &methods);
        self.service(&name, service, &methods);
        Ok(())
    }

    fn methods<'s>(
        &mut self,
        definition: &Definition,
        service: &'s Service,
    ) -> Result<Vec<Method<'s>>, Refused> {
        let mut taken: BTreeSet<String> = CLIENT.map(str::to_owned).into();
        let mut methods = Vec::new();
        for call in &service.calls {
            let name = snake(&call.name);
            let both = [name.clone(), format!("{name}_async")];
            for name in both {
                if !taken.insert(name.clone()) {
                    let of = &definition.full_name;
                    let message = format!("two methods of the client of `{of}` are `{name}`");
                    return Err(self.refuse(call.position, message, "rename the operation"));
                }
            }
            methods.push(self.method(call, name)?);
        }
        Ok(methods)
    }

    fn method<'s>(&mut self, call: &'s Call, name: String) -> Result<Method<'s>, Refused> {
        let mut inputs = Vec::new();
        for (name, ty) in &call.inputs {
            inputs.push((names::text(&snake(name)), self.plain(ty, call)?));
        }
        let mut outputs = Vec::new();
        for (name, ty) in &call.outputs {
            outputs.push((names::text(&snake(name)), self.plain(ty, call)?));
        }
        if call.returns {
            outputs.rotate_right(1);
        }
        let types: Vec<&str> = outputs.iter().map(|(_, ty)| ty.as_str()).collect();
        let result = match types.as_slice() {
            [one] => (*one).to_owned(),
            several => format!("({})", several.join(", ")),
        };
        let of = self.model.definition(call.of);
        let exception = (!call.raises.is_empty())
            .then(|| self.path_in(of.scope, &exception_name(&of.name, &call.name)));
        let raises = call.raises.iter().map(|id| {
            let raised = self.model.definition(*id);
            let member = names::text(&snake(&exception_member(&raised.full_name)));
            (camel(&raised.name), member, self.path(*id))
        });
        let raises: Vec<_> = raises.collect();
        let mut variants = BTreeSet::new();
        if raises.iter().any(|(variant, ..)| !variants.insert(variant)) {
            let message = format!("two exceptions of `{}` have one name in Rust", call.name);
            return Err(self.refuse(call.position, message, "rename one of them"));
        }
        Ok(Method {
            call,
            name: names::text(&name),
            inputs,
            outputs: outputs.into_iter().map(|(name, _)| name).collect(),
            result,
            exception,
            raises,
        })
    }

    fn plain(&mut self, ty: &Type, call: &Call) -> Result<String, Refused> {
        self.ty(ty, call.position).map(|ty| ty.text)
    }

    /// What makes an exception an error.
    pub(super) fn error(&mut self, name: &str) {
        self.text.item();
        self.text
            .open(&format!("impl ::core::fmt::Display for {name} {{"));
        self.text
            .open("fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {");
        self.text.line("::core::fmt::Debug::fmt(self, f)");
        self.text.close("}");
        self.text.close("}");
        self.text.item();
        self.text
            .line(&format!("impl ::core::error::Error for {name} {{}}"));
    }

    /// The enum of what an operation raises.
    fn exceptions(&mut self, method: &Method<'_>) {
        let Some(name) = &method.exception else {
            return;
        };
        self.text.item();
        self.text
            .doc(&format!("What `{}` raises.", method.call.name));
        self.text.line("#[derive(Clone, Debug, PartialEq)]");
        self.text.open(&format!("pub enum {name} {{"));
        for (variant, _, ty) in &method.raises {
            self.text.doc(&format!("`{variant}`"));
            self.text.line(&format!("{variant}({ty}),"));
        }
        self.text.close("}");
        self.text.item();
        self.text
            .open(&format!("impl ::core::fmt::Display for {name} {{"));
        self.text
            .open("fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {");
        self.text.open("match self {");
        for (variant, ..) in &method.raises {
            self.text.line(&format!(
                "Self::{variant}(raised) => ::core::fmt::Display::fmt(raised, f),"
            ));
        }
        self.text.close("}");
        self.text.close("}");
        self.text.close("}");
        self.text.item();
        self.text
            .line(&format!("impl ::core::error::Error for {name} {{}}"));
        for (variant, _, ty) in &method.raises {
            self.text.item();
            let into = format!("::tickwire::rpc::Failure<{name}>");
            self.text
                .open(&format!("impl ::core::convert::From<{ty}> for {into} {{"));
            self.text.open(&format!("fn from(raised: {ty}) -> Self {{"));
            self.text
                .line(&format!("Self::Raised({name}::{variant}(raised))"));
            self.text.close("}");
            self.text.close("}");
        }
    }

    fn service_trait(&mut self, definition: &Definition, of: &Interface, own: &[&Method<'_>]) {
        self.begin(definition);
        let bases = of.bases.iter().filter(|id| {
            // Interfaces that define types alone have no trait.
            self.services.services.contains_key(id)
        });
        let bases: Vec<String> = bases.map(|id| self.path(*id)).collect();
        let bases = match bases.as_slice() {
            [] => "::core::marker::Send + 'static".to_owned(),
            bases => bases.join(" + "),
        };
        let name = camel(&definition.name);
        if own.is_empty() {
            self.text.line(&format!("pub trait {name}: {bases} {{}}"));
            return;
        }
        self.text.open(&format!("pub trait {name}: {bases} {{"));
        for method in own {
            self.text.item();
            if let Some(doc) = &method.call.doc {
                self.text.doc(doc);
            }
            let gives = match method.call.answer {
                Some(_) => generic("::tickwire::rpc::Served", &method.gives()),
                None => String::new(),
            };
            let arguments = parameters("&mut self", &method.inputs);
            self.signature(&method.name, &arguments, &gives, ";");
        }
        self.text.close("}");
    }

    fn client(&mut self, name: &str, service: &Service, methods: &[Method<'_>]) {
        let (request, reply) = (self.path(service.request), self.path(service.reply));
        let client = format!("::tickwire::rpc::Client<{request}, {reply}>");
        self.text.item();
        self.text
            .doc(&format!("Calls a service of the interface `{name}`."));
        self.text.line("#[derive(Clone, Debug)]");
        self.text.open(&format!("pub struct {name}Client {{"));
        self.text.line(&format!("client: {client},"));
        self.text.close("}");
        self.text.item();
        self.text.line(ALLOWED);
        self.text.open(&format!("impl {name}Client {{"));
        self.text.doc(
            "A client of a service, by its name or its topics. A call takes up to `timeout`, the time until \
             the service is found among it.",
        );
        let arguments = [
            "participant: &::tickwire::DomainParticipant",
            "service: impl ::core::convert::Into<::tickwire::rpc::ServiceConfig>",
            "timeout: ::core::time::Duration",
        ];
        let gives = "::core::result::Result<Self, ::tickwire::rpc::CreateError>";
        self.signature("new", &arguments.map(str::to_owned), gives, " {");
        self.text
            .line("let client = ::tickwire::rpc::Client::new(participant, service, timeout)?;");
        self.text.line("Ok(Self { client })");
        self.text.close("}");
        self.text.item();
        self.text.doc("What it calls by.");
        let this = ["&self".to_owned()];
        self.signature("client", &this, &format!("&{client}"), " {");
        self.text.line("&self.client");
        self.text.close("}");
        self.text.item();
        self.text.doc("The same with another time-out.");
        let arguments = parameters(
            "&self",
            &[("timeout".to_owned(), "::core::time::Duration".to_owned())],
        );
        self.signature("with_timeout", &arguments, "Self", " {");
        self.text
            .line("let client = self.client.with_timeout(timeout);");
        self.text.line("Self { client }");
        self.text.close("}");
        for method in methods {
            self.client_method(method, &reply);
        }
        self.text.close("}");
        for method in methods {
            self.request_from(method, &request);
        }
        if methods.iter().any(|method| method.call.answer.is_some()) {
            self.text.item();
            self.text.line(ALLOWED);
            self.text.open(&format!("impl {reply} {{"));
            for method in methods {
                self.outcome(method);
            }
            self.text.close("}");
        }
    }

    fn client_method(&mut self, method: &Method<'_>, reply: &str) {
        let arguments = parameters("&self", &method.inputs);
        self.text.item();
        if let Some(doc) = &method.call.doc {
            self.text.doc(doc);
        }
        if method.call.answer.is_none() {
            let gives = "::tickwire::rpc::Called<()>";
            self.signature(&method.name, &arguments, gives, " {");
            self.input(method);
            self.text.line("self.client.tell(&input.into())");
            self.text.close("}");
            return;
        }
        let plain = method.name.trim_start_matches("r#");
        let outcome = format!("let outcome = {reply}::{plain}_outcome;");
        let gives = generic("::tickwire::rpc::Called", &method.gives());
        self.signature(&method.name, &arguments, &gives, " {");
        self.input(method);
        self.text.line(&outcome);
        self.text.line("self.client.call(&input.into(), outcome)");
        self.text.close("}");
        self.text.item();
        self.text
            .doc(&format!("Calls `{}` and does not wait.", method.call.name));
        let mut gives = vec![reply.to_owned()];
        gives.extend(method.gives());
        let gives = generic("::tickwire::rpc::Started", &gives);
        self.signature(&format!("{plain}_async"), &arguments, &gives, " {");
        self.input(method);
        self.text.line(&outcome);
        self.text.line("self.client.start(&input.into(), outcome)");
        self.text.close("}");
    }

    /// `input`, of what a method takes.
    fn input(&mut self, method: &Method<'_>) {
        let ty = self.path(method.call.input);
        let mutable = if method.inputs.is_empty() { "" } else { "mut " };
        self.text
            .line(&format!("let {mutable}input = {ty}::default();"));
        for (name, _) in &method.inputs {
            self.text.line(&format!("input.{name} = {name};"));
        }
    }

    /// What makes a request of the arguments of an operation.
    fn request_from(&mut self, method: &Method<'_>, request: &str) {
        let input = self.path(method.call.input);
        self.text.item();
        self.text.line(ALLOWED);
        self.text.open(&format!(
            "impl ::core::convert::From<{input}> for {request} {{"
        ));
        self.text
            .open(&format!("fn from(input: {input}) -> Self {{"));
        self.text.open("Self {");
        self.text.line(&format!("{}: Some(input),", method.name));
        self.text
            .line("..<Self as ::core::default::Default>::default()");
        self.text.close("}");
        self.text.close("}");
        self.text.close("}");
    }

    /// What an operation has of a reply.
    fn outcome(&mut self, method: &Method<'_>) {
        if method.call.answer.is_none() {
            return;
        }
        let plain = method.name.trim_start_matches("r#");
        let gives = generic("::tickwire::rpc::Called", &method.gives());
        self.text.item();
        let this = ["&self".to_owned()];
        self.private(&format!("{plain}_outcome"), &this, &gives);
        self.text.open(&format!(
            "let result = match ::tickwire::rpc::outcome(&self.{}, self.remote_ex) {{",
            method.name
        ));
        self.text.line("Ok(result) => result,");
        self.text.line("Err(error) => return Err(error),");
        self.text.close("};");
        for (variant, member, _) in &method.raises {
            let exception = method.exception.as_deref().unwrap_or_default();
            self.text
                .open(&format!("if let Some(raised) = &result.{member} {{"));
            self.text.line(&format!(
                "let raised = {exception}::{variant}(raised.clone());"
            ));
            self.text
                .line("return Err(::tickwire::rpc::CallError::Raised(raised));");
            self.text.close("}");
        }
        let out = if method.outputs.is_empty() {
            "_"
        } else {
            "out"
        };
        self.text
            .open(&format!("let Some({out}) = &result.result else {{"));
        self.text
            .line("return Err(::tickwire::rpc::CallError::InvalidReply);");
        self.text.close("};");
        let outputs = method.outputs.iter();
        let outputs: Vec<String> = outputs.map(|name| format!("out.{name}.clone()")).collect();
        match outputs.as_slice() {
            [] => self.text.line("Ok(())"),
            [one] => self.text.line(&format!("Ok({one})")),
            several => self.arguments("Ok((", several, "))"),
        }
        self.text.close("}");
    }

    fn service(&mut self, name: &str, service: &Service, methods: &[Method<'_>]) {
        let (request, reply) = (self.path(service.request), self.path(service.reply));
        self.text.item();
        self.text.doc(&format!(
            "Has a service of the interface `{name}` asked what requests ask, for `tickwire::rpc::Server`."
        ));
        self.text.line("#[derive(Clone, Debug)]");
        self.text
            .line(&format!("pub struct {name}Service<S>(pub S);"));
        self.text.item();
        self.text.line(ALLOWED);
        let service = "::tickwire::rpc::Service";
        self.text.open(&format!(
            "impl<S: {name}> {service} for {name}Service<S> {{"
        ));
        self.text.line(&format!("type Request = {request};"));
        self.text.line(&format!("type Reply = {reply};"));
        self.text.line("");
        let arguments = ["&mut self", "request: &Self::Request"].map(str::to_owned);
        let gives = "::tickwire::rpc::Answer<Self::Reply>";
        self.private("call", &arguments, gives);
        self.text.line("let mut asked = 0;");
        for method in methods {
            let name = &method.name;
            self.text
                .line(&format!("asked += u32::from(request.{name}.is_some());"));
        }
        self.text.open("if asked > 1 {");
        self.text
            .line("return ::tickwire::rpc::Answer::not_one(asked);");
        self.text.close("}");
        for method in methods {
            let (name, plain) = (&method.name, method.name.trim_start_matches("r#"));
            self.text
                .open(&format!("if let Some(input) = &request.{name} {{"));
            self.text
                .line(&format!("return self.answer_{plain}(input);"));
            self.text.close("}");
        }
        self.text.line("::tickwire::rpc::Answer::not_one(asked)");
        self.text.close("}");
        self.text.item();
        let arguments = ["exception: ::tickwire::rpc::RemoteException".to_owned()];
        self.private("refusal", &arguments, "Self::Reply");
        self.text
            .line("let mut reply = <Self::Reply as ::core::default::Default>::default();");
        self.text.line("reply.remote_ex = Some(exception);");
        self.text.line("reply");
        self.text.close("}");
        self.text.close("}");
        self.text.item();
        self.text.line(ALLOWED);
        self.text
            .open(&format!("impl<S: {name}> {name}Service<S> {{"));
        for method in methods {
            self.text.item();
            self.answer(method, &reply);
        }
        self.text.close("}");
    }

    /// Has the service do what an operation asks, and makes a reply of it.
    fn answer(&mut self, method: &Method<'_>, reply: &str) {
        let plain = method.name.trim_start_matches("r#");
        let input = self.path(method.call.input);
        let unused = if method.inputs.is_empty() { "_" } else { "" };
        let arguments = parameters(
            "&mut self",
            &[(format!("{unused}input"), format!("&{input}"))],
        );
        let gives = format!("::tickwire::rpc::Answer<{reply}>");
        self.private(&format!("answer_{plain}"), &arguments, &gives);
        let inputs = method.inputs.iter();
        let inputs: Vec<String> = inputs
            .map(|(name, _)| format!("input.{name}.clone()"))
            .collect();
        self.text.line("let service = &mut self.0;");
        let Some((output, result)) = method.call.answer else {
            self.arguments(&format!("service.{}(", method.name), &inputs, ");");
            self.text.line("::tickwire::rpc::Answer::Nothing");
            return self.text.close("}");
        };
        let begin = format!("let served = service.{}(", method.name);
        self.arguments(&begin, &inputs, ");");
        let (output, result) = (self.path(output), self.path(result));
        self.text
            .line(&format!("let mut result = {result}::default();"));
        self.text.open("let is_raised = match served {");
        match method.outputs.as_slice() {
            [] => {
                self.text.open("Ok(()) => {");
                self.text.line(&format!("let out = {output}::default();"));
            }
            outputs => {
                self.text.open("Ok(value) => {");
                self.text
                    .line(&format!("let mut out = {output}::default();"));
                for (index, name) in outputs.iter().enumerate() {
                    match outputs {
                        [_] => self.text.line(&format!("out.{name} = value;")),
                        _ => self.text.line(&format!("out.{name} = value.{index};")),
                    }
                }
            }
        }
        self.text.line("result.result = Some(out);");
        self.text.line("false");
        self.text.close("}");
        if let Some(exception) = &method.exception {
            self.text
                .open("Err(::tickwire::rpc::Failure::Raised(raised)) => {");
            self.text.open("match raised {");
            for (variant, member, _) in &method.raises {
                self.text
                    .open(&format!("{exception}::{variant}(raised) => {{"));
                self.text.line(&format!("result.{member} = Some(raised);"));
                self.text.close("}");
            }
            self.text.close("}");
            self.text.line("true");
            self.text.close("}");
        }
        self.text
            .open("Err(::tickwire::rpc::Failure::Remote(exception)) => {");
        self.text
            .line("return ::tickwire::rpc::Answer::Refused(exception);");
        self.text.close("}");
        self.text.close("};");
        self.text
            .line(&format!("let mut reply = {reply}::default();"));
        self.text
            .line(&format!("reply.{} = Some(result);", method.name));
        self.text
            .line("::tickwire::rpc::Answer::of(reply, is_raised)");
        self.text.close("}");
    }

    /// A public function of a block, or one of a trait if it ends with a semicolon.
    fn signature(&mut self, name: &str, arguments: &[String], gives: &str, end: &str) {
        let public = if end == ";" { "" } else { "pub " };
        self.function(public, name, arguments, gives, end);
    }

    fn private(&mut self, name: &str, arguments: &[String], gives: &str) {
        self.function("", name, arguments, gives, " {");
    }

    /// The head of a function, in as many lines as rustfmt gives it.
    fn function(&mut self, public: &str, name: &str, arguments: &[String], gives: &str, end: &str) {
        let gives = match gives {
            "" => String::new(),
            gives => format!(" -> {gives}"),
        };
        let line = format!("{public}fn {name}({}){gives}{end}", arguments.join(", "));
        let opens = end == " {";
        if self.text.fits(&line) {
            return match opens {
                true => self.text.open(&line),
                false => self.text.line(&line),
            };
        }
        self.text.open(&format!("{public}fn {name}("));
        for argument in arguments {
            self.text.line(&format!("{argument},"));
        }
        self.text.leave();
        let last = format!("){gives}{end}");
        let (most, arguments) = outer_arguments(&gives);
        // Before a block, rustfmt wants as much room to spare as the line is indented by.
        let spare = " ".repeat(if opens { self.text.indent() } else { 0 });
        if self.text.fits(&format!("{last}{spare}")) {
            self.text.line(&last);
        } else if opens && self.text.fits(&format!("){gives}")) {
            self.text.line(&format!("){gives}"));
            self.text.line("{");
        } else {
            self.text.open(&format!("){most}"));
            for argument in arguments {
                self.text.line(&format!("{argument},"));
            }
            self.text.close(&format!(">{end}"));
        }
        match opens {
            true => self.text.enter(),
            false => self.text.item_ended(),
        }
    }

    /// A call, in as many lines as rustfmt gives it.
    fn arguments(&mut self, begin: &str, arguments: &[String], end: &str) {
        let joined = arguments.join(", ");
        let line = format!("{begin}{joined}{end}");
        if joined.len() <= MAX_CALL && self.text.fits(&line) {
            return self.text.line(&line);
        }
        self.text.open(begin);
        for argument in arguments {
            self.text.line(&format!("{argument},"));
        }
        self.text.close(end);
    }
}

/// The enum of what an operation raises.
fn exception_name(interface: &str, operation: &str) -> String {
    format!("{}{}Exception", camel(interface), camel(operation))
}

fn parameters(this: &str, more: &[(String, String)]) -> Vec<String> {
    let more = more.iter().map(|(name, ty)| format!("{name}: {ty}"));
    std::iter::once(this.to_owned()).chain(more).collect()
}

fn generic(name: &str, arguments: &[String]) -> String {
    format!("{name}<{}>", arguments.join(", "))
}

/// What stands before the generic arguments of a type, and these.
fn outer_arguments(ty: &str) -> (&str, Vec<&str>) {
    let inner = ty
        .find('<')
        .and_then(|at| Some((at + 1, ty.get(at + 1..ty.len() - 1)?)));
    let Some((at, inner)) = inner else {
        return (ty, Vec::new());
    };
    let (mut depth, mut start, mut all) = (0_usize, 0, Vec::new());
    for (index, char) in inner.char_indices() {
        match char {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(inner[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    all.push(inner[start..].trim());
    (&ty[..at], all)
}

/// Methods of a client that are not of its interface.
const CLIENT: [&str; 3] = ["new", "client", "with_timeout"];
/// What generated code does in the same way for all types, whether or not it is needed for some.
const ALLOWED: &str = "#[allow(clippy::all, dead_code)]";
/// Characters of the arguments of a call that rustfmt leaves on one line.
const MAX_CALL: usize = 60;
