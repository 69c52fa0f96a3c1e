//! Structs and unions.

use std::collections::BTreeSet;

use super::names::{self, camel, derived_member, snake};
use super::{Refused, Rust, extensibility};
use crate::hash::member_id;
use crate::model::{
    AutoId, Definition, Extensibility, IdSource, Member, Position, Struct, TryConstruct, Union,
    Value,
};

impl Rust<'_> {
    pub(super) fn structure(
        &mut self,
        definition: &Definition,
        of: &Struct,
    ) -> Result<(), Refused> {
        let members = self.model.all_members(of);
        if members.is_empty() && !(of.nested && of.extensibility == Extensibility::Final) {
            let message = format!("the struct `{}` has no members", definition.full_name);
            let help = "add one, such as `octet unused;`: Rust's derive needs it";
            return Err(self.refuse(definition.position, message, help));
        }
        self.check_members(definition, &members, snake)?;
        let mut written = Vec::new();
        let mut next_id = 0;
        for member in &members {
            let expected = match of.auto_id {
                AutoId::Sequential => next_id,
                AutoId::Hash => member_id(&member.name),
            };
            next_id = member.id + 1;
            let (ty, mut arguments) = self.member(member, expected, &snake(&member.name))?;
            let default = self.default(member).filter(|_| !member.optional);
            arguments.extend(default.map(|value| format!("default = {value}")));
            let ty = match member.optional {
                true => format!("{}<{ty}>", self.standard("Option", "option")),
                false => ty,
            };
            written.push((*member, ty, arguments));
        }
        self.begin(definition);
        self.text
            .line("#[derive(::tickwire::Topic, Clone, Debug, PartialEq)]");
        let mut arguments = vec![format!("name = {:?}", definition.full_name)];
        arguments.extend(extensibility(of.extensibility));
        arguments.extend(of.nested.then(|| "nested".to_owned()));
        arguments.extend((of.auto_id == AutoId::Hash).then(|| "hash_ids".to_owned()));
        self.text.topic(&arguments);
        let name = camel(&definition.name);
        if written.is_empty() {
            self.text.line(&format!("pub struct {name} {{}}"));
            self.initial(&name);
            return Ok(());
        }
        self.text.open(&format!("pub struct {name} {{"));
        for (member, ty, arguments) in written {
            self.member_doc(member);
            self.text.topic(&arguments);
            let field = names::text(&snake(&member.name));
            self.text.line(&format!("pub {field}: {ty},"));
        }
        self.text.close("}");
        self.initial(&name);
        Ok(())
    }

    /// The comment, unit and range of a member.
    fn member_doc(&mut self, member: &Member) {
        let mut doc = member.doc.clone().unwrap_or_default();
        let mut add = |line: String| {
            if !doc.is_empty() {
                doc.push_str("\n\n");
            }
            doc.push_str(&line);
        };
        if let Some(unit) = &member.unit {
            add(format!("Unit: {unit}"));
        }
        let shown = |value: &Value| match value {
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Char(value) => format!("{value:?}"),
            value => format!("{value:?}"),
        };
        match (&member.range.min, &member.range.max) {
            (Some(min), Some(max)) => add(format!("Range: {} to {}", shown(min), shown(max))),
            (Some(min), None) => add(format!("At least {}", shown(min))),
            (None, Some(max)) => add(format!("At most {}", shown(max))),
            (None, None) => {}
        }
        self.text.doc(&doc);
    }

    /// That no two members have one name in Rust.
    fn check_members(
        &mut self,
        definition: &Definition,
        members: &[&Member],
        to_rust: impl Fn(&str) -> String,
    ) -> Result<(), Refused> {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for member in members {
            if !taken.insert(to_rust(&member.name)) {
                let (name, shown) = (&definition.full_name, to_rust(&member.name));
                let message = format!("two members of `{name}` are `{shown}` in Rust");
                return Err(self.refuse(member.position, message, "rename one of them"));
            }
        }
        Ok(())
    }

    /// The type of a member and what `#[topic(...)]` says of it, given the id and the name that the
    /// derive would take it to have.
    fn member(
        &mut self,
        member: &Member,
        expected_id: u32,
        expected_name: &str,
    ) -> Result<(String, Vec<String>), Refused> {
        let ty = self.ty(&member.ty, member.type_position)?;
        let mut arguments = Vec::new();
        arguments.extend(member.key.then(|| "key".to_owned()));
        arguments.extend(member.must_understand.then(|| "must_understand".to_owned()));
        arguments.extend(member.non_serialized.then(|| "non_serialized".to_owned()));
        match member.try_construct {
            TryConstruct::Discard => {}
            TryConstruct::UseDefault => arguments.push("try_construct = use_default".to_owned()),
            TryConstruct::Trim => arguments.push("try_construct = trim".to_owned()),
        }
        match &member.id_source {
            IdSource::Hash(text) if text.is_empty() => arguments.push("hash_id".to_owned()),
            IdSource::Hash(text) => arguments.push(format!("hash_id = {text:?}")),
            _ if member.id != expected_id => arguments.push(format!("id = {}", member.id)),
            _ => {}
        }
        if member.name != expected_name {
            arguments.push(format!("rename = {:?}", member.name));
        }
        arguments.extend(ty.arguments());
        let text = match member.external {
            true => format!("{}<{}>", self.standard("Box", "boxed"), ty.text),
            false => ty.text,
        };
        Ok((text, arguments))
    }

    /// What a member is by default, if its text says so.
    fn default(&self, member: &Member) -> Option<String> {
        let value = self.value(member.default.as_ref()?, &member.ty);
        Some(match member.external {
            true => format!("::std::boxed::Box::new({value})"),
            false => value,
        })
    }

    pub(super) fn union(&mut self, definition: &Definition, of: &Union) -> Result<(), Refused> {
        let discriminator = self.ty(&of.discriminator, definition.position)?;
        let members: Vec<&Member> = of.cases.iter().map(|case| &case.member).collect();
        self.check_members(definition, &members, camel)?;
        let mut written = Vec::new();
        // Where members have headers, the derive keeps 0 for the discriminator.
        let mut next_id = u32::from(of.extensibility == Extensibility::Mutable);
        for case in &of.cases {
            let variant = camel(&case.member.name);
            let name = derived_member(&variant);
            let (ty, member) = self.member(&case.member, next_id, &name)?;
            next_id = case.member.id + 1;
            let mut arguments = self.labels(&case.labels, of, case.member.position)?;
            if case.default {
                let free = of.unlabelled.as_ref().filter(|_| case.labels.is_empty());
                arguments.push(match free {
                    Some(free) => format!("default = {}", self.value(free, &of.discriminator)),
                    None => "default".to_owned(),
                });
            }
            arguments.extend(member);
            let initial = self.default(&case.member);
            arguments.extend(initial.map(|value| format!("initial = {value}")));
            written.push((case, variant, ty, arguments));
        }
        let name = camel(&definition.name);
        self.begin(definition);
        self.text
            .line("#[derive(::tickwire::Topic, Clone, Debug, PartialEq)]");
        let mut arguments = vec![format!("name = {:?}", definition.full_name)];
        arguments.extend(extensibility(of.extensibility));
        arguments.extend(of.nested.then(|| "nested".to_owned()));
        if discriminator.text != "i32" {
            arguments.push(format!("discriminator = {}", discriminator.text));
        }
        arguments.extend(discriminator.arguments());
        arguments.extend(of.discriminator_key.then(|| "key".to_owned()));
        self.text.topic(&arguments);
        self.text.open(&format!("pub enum {name} {{"));
        let has_default = of.cases.iter().any(|case| case.default);
        let variants: Vec<String> = written
            .iter()
            .map(|(_, variant, ..)| variant.clone())
            .collect();
        for (case, variant, ty, arguments) in written {
            self.member_doc(&case.member);
            self.text.topic(&arguments);
            self.text.line(&format!("{variant}({ty}),"));
        }
        if let Some(free) = of.unlabelled.as_ref().filter(|_| !has_default) {
            let free = self.value(free, &of.discriminator);
            let mut name = "None".to_owned();
            while variants.contains(&name) {
                name.push('_');
            }
            self.text.doc("No member: the discriminator has no label.");
            self.text.topic(&[format!("default = {free}")]);
            self.text.line(&format!("{name},"));
        }
        self.text.close("}");
        self.initial(&name);
        Ok(())
    }

    fn labels(
        &mut self,
        labels: &[Value],
        of: &Union,
        position: Position,
    ) -> Result<Vec<String>, Refused> {
        let mut shown = Vec::new();
        for label in labels {
            if let Value::Integer(value) = label
                && i32::try_from(*value).is_err()
            {
                let message = format!("the label {value} has more than 32 bits");
                let help = "labels of types on the wire are int32: take a smaller one";
                return Err(self.refuse(position, message, help));
            }
            shown.push(self.value(label, &of.discriminator));
        }
        Ok(match shown.as_slice() {
            [] => Vec::new(),
            [one] => vec![format!("case = {one}")],
            several => vec![format!("case({})", several.join(", "))],
        })
    }
}
