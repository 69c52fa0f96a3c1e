//! Structs: classes with accessors, as the OMG's mapping has them.

use super::{Cpp, names, print};
use crate::c::facts::{Kind, kind};
use crate::c::text::literal;
use crate::model::{DefinitionId, Member, Struct, Type};

impl<'m> Cpp<'m> {
    pub(super) fn structure(&mut self, id: DefinitionId, name: &str, of: &'m Struct) {
        let all = self.model.all_members(of);
        let sizes = all.iter().map(|member| self.member_size(member));
        let size = sizes.fold(0, usize::saturating_add);
        self.sizes.insert(id, size);
        let is_exception = self.services.exceptions.contains(&id);
        let base = match is_exception {
            true => Some(" : public std::exception".to_owned()),
            false => of.base.map(|id| format!(" : public {}", self.name(id))),
        };
        self.text
            .open(&format!("class {name}{} {{", base.unwrap_or_default()));
        self.text.label("public:");
        self.text.line(&format!("{name}() = default;"));
        let parameters = self.parameters(&all);
        let explicit = if all.len() == 1 { "explicit " } else { "" };
        if !all.is_empty() {
            self.text.line(&format!("{explicit}{name}({parameters});"));
        }
        if is_exception {
            let what = literal(&self.model.definition(id).full_name);
            self.text.line(&format!(
                "const char *what() const noexcept override {{ return {what}; }}"
            ));
        }
        for member in &of.members {
            self.accessors(member);
        }
        self.text.line("");
        for declared in [
            format!("friend bool operator==(const {name} &_a, const {name} &_b);"),
            format!("friend bool operator!=(const {name} &_a, const {name} &_b);"),
            format!("friend void swap({name} &_a, {name} &_b);"),
        ] {
            self.text.line(&declared);
        }
        self.text.line("");
        self.text.label("private:");
        for member in &of.members {
            let ty = self.member_type(member);
            let field = field(member);
            let value = match self.initial(member) {
                Some(value) => format!("{{{value}}}"),
                None => "{}".to_owned(),
            };
            self.text.line(&format!("{ty} {field}{value};"));
        }
        self.text.close("};");

        let here = self.namespaces.clone();
        self.enter_functions(&here);
        if !all.is_empty() {
            self.constructor(name, of, &parameters, &all);
        }
        for member in &of.members {
            self.setters(name, member);
        }
        let same = all.iter().map(|member| {
            let member = names::identifier(&member.name);
            format!("_a.{member}() == _b.{member}()")
        });
        let same = same.collect::<Vec<_>>().join("\n        && ");
        self.operators(name, &same);
        let shown = all.iter().map(|it| (it.name.as_str(), print::value(it)));
        let shown: Vec<_> = shown.collect();
        let full_name = self.name(id);
        print::print_members(&mut self.functions, &full_name, &shown);
        self.struct_codec(id, of, &all);
    }

    /// Those of the constructor that takes all members.
    fn parameters(&self, members: &[&Member]) -> String {
        let parameters = members.iter().map(|member| {
            let (ty, name) = (self.member_type(member), names::identifier(&member.name));
            match self.is_large(member) {
                true => format!("const {ty} &{name}"),
                false => format!("{ty} {name}"),
            }
        });
        parameters.collect::<Vec<_>>().join(", ")
    }

    fn constructor(&mut self, name: &str, of: &Struct, parameters: &str, all: &[&Member]) {
        let pass = |member: &&Member| {
            let name = names::identifier(&member.name);
            match self.is_small(member) || self.is_large(member) {
                true => name,
                false => format!("std::move({name})"),
            }
        };
        let (inherited, own) = all.split_at(all.len() - of.members.len());
        let mut parts = Vec::new();
        if let Some(base) = of.base {
            let inherited: Vec<String> = inherited.iter().map(pass).collect();
            parts.push(format!("{}({})", self.name(base), inherited.join(", ")));
        }
        for member in own {
            parts.push(format!("{}({})", field(member), pass(member)));
        }
        let text = &mut self.functions;
        text.line("");
        text.open(&format!("inline {name}::{name}({parameters})"));
        text.line(&format!(": {}", parts.join(", ")));
        text.close("{");
        text.line("}");
    }

    /// Declares how a member is read and set.
    pub(super) fn accessors(&mut self, member: &Member) {
        let doc = self.doc(member);
        let (ty, name, field) = (
            self.member_type(member),
            names::identifier(&member.name),
            field(member),
        );
        let text = &mut self.text;
        text.line("");
        text.doc(&doc);
        let small = self.is_small(member);
        let constant = if small {
            ty.clone()
        } else {
            format!("const {ty} &")
        };
        let text = &mut self.text;
        text.line(&format!(
            "{} {{ return {field}; }}",
            of(&constant, &format!("{name}() const"))
        ));
        text.line(&format!("{ty} &{name}() {{ return {field}; }}"));
        if small {
            text.line(&format!("void {name}({ty} value);"));
        } else {
            text.line(&format!("void {name}(const {ty} &value);"));
            text.line(&format!("void {name}({ty} &&value);"));
        }
    }

    /// Defines how a member is set.
    fn setters(&mut self, class: &str, member: &Member) {
        let (ty, name) = (self.member_type(member), names::identifier(&member.name));
        let field = field(member);
        let ways = match self.is_small(member) {
            true => vec![(format!("{ty} value"), "value")],
            false => vec![
                (format!("const {ty} &value"), "value"),
                (format!("{ty} &&value"), "std::move(value)"),
            ],
        };
        self.functions.line("");
        for (parameter, value) in ways {
            self.functions.line(&format!(
                "inline void {class}::{name}({parameter}) {{ {field} = {value}; }}"
            ));
        }
    }

    /// `==`, `!=` and `swap`. Their parameters begin with `_`, as no name of IDL does: a type may be called `a`.
    pub(super) fn operators(&mut self, name: &str, same: &str) {
        let text = &mut self.functions;
        text.line("");
        let (same, both) = match same {
            "" => ("true", format!("const {name} &, const {name} &")),
            same => (same, format!("const {name} &_a, const {name} &_b")),
        };
        text.open(&format!("inline bool operator==({both}) {{"));
        text.line(&format!("return {same};"));
        text.close("}");
        text.line(&format!(
            "inline bool operator!=(const {name} &_a, const {name} &_b) {{ return !(_a == _b); }}"
        ));
        text.open(&format!("inline void swap({name} &_a, {name} &_b) {{"));
        text.line(&format!(
            "::tickwire::detail::Local<{name}> was(std::move(_a));"
        ));
        text.line("_a = std::move(_b);");
        text.line("_b = std::move(*was);");
        text.close("}");
    }

    /// The comment of a member, its unit, range and bound.
    pub(super) fn doc(&self, member: &Member) -> String {
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
        let shown = |value| self.value(value, &member.ty);
        match (&member.range.min, &member.range.max) {
            (Some(min), Some(max)) => add(format!("Range: {} to {}", shown(min), shown(max))),
            (Some(min), None) => add(format!("At least {}", shown(min))),
            (None, Some(max)) => add(format!("At most {}", shown(max))),
            (None, None) => {}
        }
        if let Some(bound) = self.bound(&member.ty) {
            add(bound);
        }
        doc
    }

    /// What C++ does not say of a type.
    fn bound(&self, ty: &Type) -> Option<String> {
        match kind(self.model, ty) {
            Kind::String(bound @ 1..) => Some(format!("At most {bound} bytes")),
            Kind::WString(bound @ 1..) => Some(format!("At most {bound} units")),
            Kind::Sequence(_, bound @ 1..) => Some(format!("At most {bound} elements")),
            Kind::Map(_, _, bound @ 1..) => Some(format!("At most {bound} entries")),
            _ => None,
        }
    }
}

/// Where a member is kept.
fn field(member: &Member) -> String {
    format!("{}_", names::identifier(&member.name))
}

/// A type before what is of it.
pub(super) fn of(ty: &str, what: &str) -> String {
    match ty.ends_with('&') {
        true => format!("{ty}{what}"),
        false => format!("{ty} {what}"),
    }
}
