//! Interfaces: one of C# for who implements a service, a client for who calls it, and what turns the requests of the one
//! into calls of the other, over `Tickwire.Rpc` (bindings/dotnet/src/Rpc). Exceptions are classes.

use std::collections::BTreeSet;

use super::text::{doc, literal};
use super::types::{declared, initial, initial_member, name, of_member, support};
use super::{CSharp, Refused, block, names};
use crate::c::idl;
use crate::c::text::Text;
use crate::hash::member_id;
use crate::model::{Definition, DefinitionId, DefinitionKind, Direction, Interface, Struct, Type};
use crate::services::{Call, Service, exception_member};

impl<'m> CSharp<'m> {
    pub(super) fn check_interface(
        &mut self,
        id: DefinitionId,
        definition: &'m Definition,
        of: &Interface,
    ) -> Result<(), Refused> {
        let full_name = &definition.full_name;
        if !of.definitions.is_empty() {
            self.take(id, names::global(self.model, definition, names::TYPES))?;
        }
        let services = self.services;
        let Some(service) = services.services.get(&id) else {
            if of.definitions.is_empty() {
                let message = format!("the interface `{full_name}` has no operations");
                return Err(self.refuse(definition.position, message, "give it one, or remove it"));
            }
            return Ok(());
        };
        for suffix in ["", CLIENT, SERVICE, WIRE] {
            self.take(id, names::global(self.model, definition, suffix))?;
        }
        let mut taken = BTreeSet::new();
        for suffix in ["", CLIENT, SERVICE] {
            taken.insert(format!("{}{suffix}", definition.name));
        }
        for call in &service.calls {
            let name = names::operation(&call.name);
            for name in [name.clone(), names::task(&name)] {
                if !taken.insert(name.clone()) {
                    let message =
                        format!("`{name}` of `{full_name}` means something else in its client");
                    return Err(self.refuse(call.position, message, "rename the operation"));
                }
            }
            self.check_parameters(call)?;
            if call.of == id && call.outputs.len() > 1 {
                self.take(id, self.out(call))?;
            }
        }
        Ok(())
    }

    fn check_parameters(&mut self, call: &'m Call) -> Result<(), Refused> {
        let fields: Vec<String> = self.fields(call);
        let parameters = call.parameters(self.model);
        let parameters = parameters.iter().map(|it| names::parameter(it.name));
        for names in [parameters.collect(), fields] {
            let mut taken = BTreeSet::new();
            for name in names {
                if !taken.insert(name.clone()) {
                    let message = format!("two parameters of `{}` are `{name}` in C#", call.name);
                    return Err(self.refuse(call.position, message, "rename one of them"));
                }
            }
        }
        for parameter in call.parameters(self.model) {
            self.check_type(parameter.ty, call.position)?;
        }
        let result = call.result();
        result.map_or(Ok(()), |ty| self.check_type(ty, call.position))
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
        let mut text = Text::default();
        let bases = of.bases.iter();
        let bases = bases.filter(|id| services.services.contains_key(id));
        let bases: Vec<String> = bases.map(|id| name(self.model, *id)).collect();
        let bases = match bases.as_slice() {
            [] => String::new(),
            bases => format!(" : {}", bases.join(", ")),
        };
        doc(&mut text, definition.doc.as_deref().unwrap_or_default());
        let own = names::identifier(&definition.name);
        block(&mut text, &format!("public interface {own}{bases}"));
        let mut calls = service.calls.iter().filter(|call| call.of == id).peekable();
        while let Some(call) = calls.next() {
            doc(&mut text, call.doc.as_deref().unwrap_or_default());
            text.line(&format!("{};", self.signature(call)));
            if calls.peek().is_some() {
                text.line("");
            }
        }
        text.close("}");
        for call in service.calls.iter().filter(|call| call.of == id) {
            if call.outputs.len() > 1 {
                self.all_out(&mut text, definition, call);
            }
        }
        text.line("");
        self.wire(&mut text, id, definition, service);
        text.line("");
        self.client(&mut text, definition, service);
        text.line("");
        self.service(&mut text, definition, service);
        self.put(definition, &text);
    }

    /// What a task has for a result, as it has but one: all that comes back of an operation.
    fn all_out(&self, text: &mut Text, definition: &Definition, call: &Call) {
        text.line("");
        let operation = &call.name;
        doc(
            text,
            &format!("What comes back of {operation} of {}.", definition.name),
        );
        let own = format!("{}{}", definition.name, names::out(operation));
        block(text, &format!("public struct {own}"));
        for ((_, ty), field) in call.outputs.iter().zip(self.fields(call)) {
            text.line(&format!("public {} {field};", declared(self.model, ty)));
        }
        text.close("}");
    }

    /// An exception has the fields of a struct, but is equal to itself alone.
    pub(super) fn exception(
        &mut self,
        id: DefinitionId,
        definition: &'m Definition,
        of: &'m Struct,
    ) {
        let mut text = Text::default();
        let own = names::identifier(&definition.name);
        doc(&mut text, definition.doc.as_deref().unwrap_or_default());
        block(
            &mut text,
            &format!("public partial class {own} : global::System.Exception"),
        );
        for member in &of.members {
            self.comment(&mut text, member);
            let ty = of_member(self.model, member);
            let initial = initial_member(self.model, member);
            let initial = initial.map(|initial| format!(" = {initial}"));
            let at = self.name_in(&member.name, Some(id));
            text.line(&format!("public {ty} {at}{};", initial.unwrap_or_default()));
        }
        text.close("}");
        text.line("");
        text.line(&format!(
            "/// <summary>Reads and writes <see cref=\"{own}\"/>.</summary>"
        ));
        block(
            &mut text,
            &format!("public static class {}Support", definition.name),
        );
        self.encode_struct(&mut text, id, of, false);
        self.decode_struct(&mut text, id, of, false);
        text.close("}");
        self.put(definition, &text);
    }

    /// The types of requests and replies, and functions for what operations take and give.
    fn wire(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        definition: &Definition,
        service: &'m Service,
    ) {
        block(text, &format!("static class {}{WIRE}", definition.name));
        text.line(&format!(
            "internal static readonly {RPC}.Interface Interface = new {RPC}.Interface("
        ));
        for id in [service.request, service.reply] {
            let name = literal(&self.model.definition(id).full_name);
            text.line(&format!("    {name},"));
            let idl = idl::idl(self.model, id);
            let mut lines = idl.lines().peekable();
            while let Some(line) = lines.next() {
                let end = if lines.peek().is_some() { " +" } else { "," };
                text.line(&format!("    {}{end}", literal(&format!("{line}\n"))));
            }
        }
        let calls = &service.calls;
        let all = calls.iter().map(|call| member_id(&call.name));
        let empty = calls.iter().filter(|call| call.inputs.is_empty());
        let empty = empty.map(|call| member_id(&call.name));
        text.line(&format!("    {},", array(all)));
        text.line(&format!("    {});", array(empty)));
        let scope = self.scope.0.clone();
        for call in calls.iter().filter(|call| call.of == id) {
            self.scope = (format!("{scope}.{}", call.name), 0);
            for (way, all) in [("In", &call.inputs), ("Out", &call.outputs)] {
                if !all.is_empty() {
                    self.write_all(text, way, call, all);
                    self.read_all(text, way, call, all);
                }
            }
            if call.answer.is_some() {
                self.outcome(text, call);
            }
        }
        self.scope = (scope, 0);
        text.close("}");
    }

    fn write_all(&mut self, text: &mut Text, way: &str, call: &Call, all: &'m [(String, Type)]) {
        let parameters = all.iter().zip(0..);
        let parameters =
            parameters.map(|((_, ty), n)| format!(", {} _{n}", declared(self.model, ty)));
        let parameters: String = parameters.collect();
        text.line("");
        block(
            text,
            &format!(
                "internal static bool Write{way}_{}(global::Tickwire.Cdr.CdrWriter w{parameters})",
                call.name
            ),
        );
        for ((name, ty), n) in all.iter().zip(0..) {
            self.encode_parameter(text, ty, &format!("_{n}"), name);
        }
        text.line("return true;");
        text.close("}");
    }

    fn read_all(&mut self, text: &mut Text, way: &str, call: &Call, all: &'m [(String, Type)]) {
        let parameters = all.iter().zip(0..);
        let parameters =
            parameters.map(|((_, ty), n)| format!(", ref {} _{n}", declared(self.model, ty)));
        let parameters: String = parameters.collect();
        text.line("");
        block(
            text,
            &format!(
                "internal static bool Read{way}_{}(global::Tickwire.Cdr.CdrReader r{parameters})",
                call.name
            ),
        );
        for ((name, ty), n) in all.iter().zip(0..) {
            self.decode_parameter(text, ty, &format!("_{n}"), name);
        }
        text.line("return true;");
        text.close("}");
    }

    /// A call of one of these functions; true where there is nothing to write or read.
    fn by_wire(&self, what: &str, call: &Call, by: &str, arguments: &[String]) -> String {
        if arguments.is_empty() {
            return "true".to_owned();
        }
        format!(
            "{}.{what}_{}({by}, {})",
            self.wire_of(call),
            call.name,
            arguments.join(", ")
        )
    }

    /// The class of these functions.
    fn wire_of(&self, call: &Call) -> String {
        names::global(self.model, self.model.definition(call.of), WIRE)
    }

    fn client(&mut self, text: &mut Text, definition: &Definition, service: &'m Service) {
        let class = &definition.name;
        let global = names::global(self.model, definition, "");
        doc(
            text,
            &format!(
                "Calls a service of the interface {class}. A call takes up to the time-out, the time until the service is found \
                 among it."
            ),
        );
        block(
            text,
            &format!("public sealed class {class}{CLIENT} : {RPC}.Client, {global}"),
        );
        doc(
            text,
            "A client of a service, by its name or its two topics.",
        );
        text.open(&format!(
            "public {class}{CLIENT}(global::Tickwire.DomainParticipant participant, {RPC}.ServiceTopics service, \
             global::System.TimeSpan timeout)"
        ));
        text.line(&format!(
            ": base(participant, service, {class}{WIRE}.Interface, timeout)"
        ));
        text.close("{");
        text.line("}");
        for call in &service.calls {
            text.line("");
            let comment = call.doc.as_deref().unwrap_or("As the interface says.");
            doc(text, comment);
            block(text, &format!("public {}", self.signature(call)));
            self.call(text, call, None);
            text.close("}");
            text.line("");
            doc(text, comment);
            text.line(
                "/// <returns>A task, which no thread waits for: see <see cref=\"T:Tickwire.Rpc.Client\"/>.</returns>",
            );
            let cancel = self.cancel(call);
            block(text, &self.task_signature(call, &cancel));
            self.call(text, call, Some(&cancel));
            text.close("}");
        }
        text.close("}");
    }

    /// Sends a request, and gives back what the reply says; in a task that `cancel` cancels, or waits.
    fn call(&self, text: &mut Text, call: &Call, cancel: Option<&str>) {
        let empty = call.raises.iter().map(|id| self.raised(*id));
        let mut empty: Vec<u32> = empty.filter_map(|(id, is)| is.then_some(id)).collect();
        if call.answer.is_some() && call.outputs.is_empty() {
            empty.push(member_id(RESULT));
        }
        let empty = match empty.as_slice() {
            [] => "null".to_owned(),
            empty => array(empty.iter().copied()),
        };
        let id = member_id(&call.name);
        block(
            text,
            &format!("using ({RPC}.ClientCall _call = _Begin({id}u, {empty}))"),
        );
        let inputs = call.inputs.iter();
        let inputs: Vec<String> = inputs.map(|(name, _)| names::parameter(name)).collect();
        let write = self.by_wire("WriteIn", call, "_call.Writer", &inputs);
        let how = match call.answer {
            Some(_) => "Ask",
            None => "Tell",
        };
        text.line(&match cancel {
            Some(cancel) => {
                format!("await _call.{how}Async({write}, {cancel}).ConfigureAwait(false);")
            }
            None => format!("_call.{how}({write});"),
        });
        let outcome = format!("{}.Outcome_{}(_call)", self.wire_of(call), call.name);
        let is_all = cancel.is_some() || call.outputs.len() == usize::from(call.returns);
        match call.outputs.as_slice() {
            _ if call.answer.is_none() => {}
            [] => text.line(&format!("{outcome};")),
            _ if is_all => text.line(&format!("return {outcome};")),
            [(name, _)] => text.line(&format!("{} = {outcome};", names::parameter(name))),
            outputs => {
                text.line(&format!("{} _all = {outcome};", self.gives(call)));
                let out = outputs.len() - usize::from(call.returns);
                for (((name, _), field), at) in outputs.iter().zip(self.fields(call)).zip(0..) {
                    text.line(&match at < out {
                        true => format!("{} = _all.{field};", names::parameter(name)),
                        false => format!("return _all.{field};"),
                    });
                }
            }
        }
        text.close("}");
    }

    /// What a reply says.
    fn outcome(&self, text: &mut Text, call: &Call) {
        text.line("");
        let gives = self.gives(call);
        let own = format!("Outcome_{}", call.name);
        block(
            text,
            &format!("internal static {gives} {own}({RPC}.ClientCall _call)"),
        );
        block(text, "for (;;)");
        block(text, "switch (_call.Next())");
        text.line(&format!("case {}u:", member_id(RESULT)));
        text.open("{");
        let mut read = Vec::new();
        for ((_, ty), n) in call.outputs.iter().zip(0..) {
            self.variable(text, ty, n);
            read.push(format!("ref _{n}"));
        }
        let read = self.by_wire("ReadOut", call, "_call.Reader", &read);
        text.line(&format!("_call.Read({read});"));
        text.line(&match call.outputs.len() {
            0 => "return;".to_owned(),
            1 => "return _0;".to_owned(),
            _ => {
                let fields = self.fields(call);
                let fields = fields.iter().zip(0..);
                let fields: Vec<String> = fields.map(|(it, n)| format!("{it} = _{n}")).collect();
                format!("return new {} {{ {} }};", self.out(call), fields.join(", "))
            }
        });
        text.close("}");
        for id in &call.raises {
            let (of, support) = (name(self.model, *id), support(self.model, *id));
            let (member, _) = self.raised(*id);
            text.line(&format!("case {member}u:"));
            text.open("{");
            text.line(&format!("{of} _raised = new {of}();"));
            text.line(&format!(
                "_call.Read({support}.Decode(_raised, _call.Reader));"
            ));
            text.line("throw _raised;");
            text.close("}");
        }
        text.line("default:");
        text.line("    _call.Skip();");
        text.line("    break;");
        for _ in 0..3 {
            text.close("}");
        }
    }

    fn service(&mut self, text: &mut Text, definition: &Definition, service: &'m Service) {
        let class = &definition.name;
        let global = names::global(self.model, definition, "");
        doc(
            text,
            &format!(
                "Serves the interface {class}: a thread calls the implementation, one request after the other, until this is \
                 disposed of or its participant is."
            ),
        );
        block(
            text,
            &format!("public sealed class {class}{SERVICE} : {RPC}.Service"),
        );
        text.line(&format!("readonly {global} _of;"));
        text.line("");
        doc(
            text,
            "A service by its name or its two topics. It serves at once.",
        );
        text.open(&format!(
            "public {class}{SERVICE}(global::Tickwire.DomainParticipant participant, {RPC}.ServiceTopics service, \
             {global} implementation)"
        ));
        text.line(&format!(
            ": base(participant, service, {class}{WIRE}.Interface, implementation)"
        ));
        text.close("{");
        text.line("    _of = implementation;");
        text.line("    _Start();");
        text.line("}");
        text.line("");
        doc(text, "For the base.");
        block(
            text,
            &format!("protected override void _Answer({RPC}.ServiceCall _call)"),
        );
        block(text, "switch (_call.Operation)");
        for call in &service.calls {
            text.line(&format!("case {}u:", member_id(&call.name)));
            text.open("{");
            self.answer(text, call);
            text.line("break;");
            text.close("}");
        }
        text.close("}");
        text.close("}");
        text.close("}");
    }

    /// Has the implementation do what an operation asks.
    fn answer(&mut self, text: &mut Text, call: &'m Call) {
        let parameters = call.parameters(self.model);
        for (parameter, n) in parameters.iter().zip(0..) {
            match parameter.direction {
                Direction::Out => {
                    let ty = declared(self.model, parameter.ty);
                    text.line(&format!("{ty} _{n};"));
                }
                _ => self.variable(text, parameter.ty, n),
            }
        }
        let these = |wanted: Direction, how: &str| {
            let all = parameters.iter().zip(0..);
            let all = all
                .filter(move |(it, _)| it.direction == wanted || it.direction == Direction::InOut);
            let all = all.map(|(_, n)| format!("{how}_{n}"));
            all.collect::<Vec<String>>()
        };
        if !call.inputs.is_empty() {
            let read = self.by_wire(
                "ReadIn",
                call,
                "_call.Reader",
                &these(Direction::In, "ref "),
            );
            text.line(&format!("_call.Read({read});"));
        }
        let arguments = parameters.iter().zip(0..).map(|(it, n)| {
            let how = match it.direction {
                Direction::In => "",
                Direction::InOut => "ref ",
                Direction::Out => "out ",
            };
            format!("{how}_{n}")
        });
        let arguments: Vec<String> = arguments.collect();
        let mut written = these(Direction::Out, "");
        let mut asked = format!(
            "_of.{}({});",
            names::operation(&call.name),
            arguments.join(", ")
        );
        if let Some(ty) = call.result() {
            text.line(&format!("{} _return;", declared(self.model, ty)));
            written.push("_return".to_owned());
            asked = format!("_return = {asked}");
        }
        if call.raises.is_empty() {
            text.line(&asked);
        } else {
            block(text, "try");
            text.line(&asked);
            text.close("}");
        }
        for id in &call.raises {
            let (of, support) = (name(self.model, *id), support(self.model, *id));
            let (member, _) = self.raised(*id);
            block(text, &format!("catch ({of} _raised)"));
            text.line(&format!("_call.Open({member}u);"));
            text.line(&format!(
                "_call.Raised({support}.Encode(_raised, _call.Writer));"
            ));
            text.line("break;");
            text.close("}");
        }
        if call.answer.is_some() {
            let result = member_id(RESULT);
            text.line(&format!("_call.Open({result}u);"));
            let write = self.by_wire("WriteOut", call, "_call.Writer", &written);
            text.line(&format!("_call.Returned({write});"));
        }
    }

    /// A variable that begins as a member of its type does.
    fn variable(&self, text: &mut Text, ty: &Type, n: usize) {
        let of = declared(self.model, ty);
        let initial = initial(self.model, ty).unwrap_or_else(|| format!("default({of})"));
        text.line(&format!("{of} _{n} = {initial};"));
    }

    /// The member of results that an exception is, and whether it is without bytes.
    fn raised(&self, id: DefinitionId) -> (u32, bool) {
        let of = self.model.definition(id);
        let is_empty = matches!(&of.kind, DefinitionKind::Struct(of) if of.members.is_empty());
        (member_id(&exception_member(&of.full_name)), is_empty)
    }

    /// What an operation gives, with what comes back of its parameters.
    fn gives(&self, call: &Call) -> String {
        match call.outputs.as_slice() {
            [] => "void".to_owned(),
            [(_, ty)] => declared(self.model, ty),
            _ => self.out(call),
        }
    }

    /// The struct of all that comes back.
    fn out(&self, call: &Call) -> String {
        let of = self.model.definition(call.of);
        names::global(self.model, of, &names::out(&call.name))
    }

    /// The names of its fields, as on the wire.
    fn fields(&self, call: &Call) -> Vec<String> {
        let fields = call.outputs.iter();
        fields.map(|(name, _)| names::member(name, "")).collect()
    }

    /// What cancels a task.
    fn cancel(&self, call: &Call) -> String {
        let parameters = call.parameters(self.model);
        let taken = parameters.iter().map(|it| names::parameter(it.name));
        let taken: BTreeSet<String> = taken.collect();
        let mut name = "cancel".to_owned();
        while taken.contains(&name) {
            name.push('_');
        }
        name
    }

    fn task_signature(&self, call: &Call, cancel: &str) -> String {
        let gives = match self.gives(call).as_str() {
            "void" => String::new(),
            gives => format!("<{gives}>"),
        };
        let parameters = call.parameters(self.model);
        let taken = parameters
            .iter()
            .filter(|it| it.direction != Direction::Out);
        let taken = taken.map(|it| {
            let (ty, name) = (declared(self.model, it.ty), names::parameter(it.name));
            format!("{ty} {name}, ")
        });
        let taken: String = taken.collect();
        let name = names::task(&names::operation(&call.name));
        let token = "global::System.Threading.CancellationToken";
        format!(
            "public async global::System.Threading.Tasks.Task{gives} {name}({taken}{token} {cancel} = default({token}))"
        )
    }

    fn signature(&self, call: &Call) -> String {
        let result = call.result();
        let gives = result.map_or_else(|| "void".to_owned(), |ty| declared(self.model, ty));
        let parameters = call.parameters(self.model);
        let parameters = parameters.iter().map(|it| {
            let (ty, name) = (declared(self.model, it.ty), names::parameter(it.name));
            match it.direction {
                Direction::In => format!("{ty} {name}"),
                Direction::InOut => format!("ref {ty} {name}"),
                Direction::Out => format!("out {ty} {name}"),
            }
        });
        let parameters: Vec<String> = parameters.collect();
        let name = names::operation(&call.name);
        format!("{gives} {name}({})", parameters.join(", "))
    }
}

/// An array of ids.
fn array(all: impl Iterator<Item = u32>) -> String {
    let all: Vec<String> = all.map(|id| format!("{id}u")).collect();
    match all.is_empty() {
        true => "new uint[0]".to_owned(),
        false => format!("new uint[] {{ {} }}", all.join(", ")),
    }
}

const RPC: &str = "global::Tickwire.Rpc";
/// The member of a result that is there where nothing is raised.
const RESULT: &str = "result";
/// Behind the name of an interface, the classes that are made of it.
const CLIENT: &str = "Client";
const SERVICE: &str = "Service";
const WIRE: &str = "Wire";
