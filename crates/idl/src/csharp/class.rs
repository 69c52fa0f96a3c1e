//! Structs and unions as classes, and beside each the class that reads and writes it.

use super::encode::extensibility;
use super::text::{doc, literal};
use super::types::{declared, initial, initial_member, is_primitive, is_value, name};
use super::{CSharp, block, names};
use crate::c::facts::{Kind, initial_case, kind, members_of};
use crate::c::idl;
use crate::c::text::Text;
use crate::model::{Definition, DefinitionId, DefinitionKind, Member, Struct, Type, Union, Value};

impl<'m> CSharp<'m> {
    pub(super) fn structure(
        &mut self,
        id: DefinitionId,
        definition: &'m Definition,
        of: &'m Struct,
    ) {
        let mut text = Text::default();
        let global = name(self.model, id);
        let own = names::identifier(&definition.name);
        let base = of.base.map(|base| format!("{}, ", name(self.model, base)));
        let topic = match of.nested {
            true => String::new(),
            false => format!("global::Tickwire.ITopicType<{global}>, "),
        };
        doc(&mut text, definition.doc.as_deref().unwrap_or_default());
        block(
            &mut text,
            &format!(
                "public partial class {own} : {}{topic}global::System.IEquatable<{global}>",
                base.unwrap_or_default()
            ),
        );
        for member in &of.members {
            self.comment(&mut text, member);
            let ty = super::types::of_member(self.model, member);
            let initial = initial_member(self.model, member);
            let initial = initial.map(|initial| format!(" = {initial}"));
            let at = names::member(&member.name, &definition.name);
            text.line(&format!("public {ty} {at}{};", initial.unwrap_or_default()));
        }
        let members = self.model.all_members(of);
        let same: Vec<String> = members
            .iter()
            .map(|member| {
                // A member may be called as a variable is.
                let other = format!("other.{}", self.member_name(member));
                let at = self.own_place(member);
                match member.optional && is_value(self.model, &member.ty) {
                    true => format!("{at}.Equals({other})"),
                    false => self.same(&member.ty, &at, &other, 0),
                }
            })
            .collect();
        let mut bases = Vec::new();
        let mut base = of.base;
        while let Some(id) = base
            && let DefinitionKind::Struct(of) = &self.model.definition(id).kind
        {
            bases.push(name(self.model, id));
            base = of.base;
        }
        self.equality(&mut text, &global, "virtual ", &same, &bases);
        let keys = members.iter().any(|member| member.key);
        let hashed: Vec<String> = members
            .iter()
            .filter(|member| member.key || !keys)
            .filter(|member| self.is_scalar(&member.ty))
            .map(|member| self.hash(member, &self.own_place(member)))
            .collect();
        self.hash_code(&mut text, "17", &hashed);
        if !of.nested {
            text.line("");
            let support = super::types::support(self.model, id);
            text.line(&format!(
                "global::Tickwire.TopicSupport<{global}> global::Tickwire.ITopicType<{global}>.Support {{ \
                 get {{ return {support}.Instance; }} }}"
            ));
        }
        text.close("}");
        text.line("");
        text.line(&format!(
            "/// <summary>Reads and writes <see cref=\"{own}\"/>.</summary>"
        ));
        let support = format!("{}Support", definition.name);
        match of.nested {
            true => block(&mut text, &format!("public static class {support}")),
            false => {
                block(
                    &mut text,
                    &format!(
                        "public sealed class {support} : global::Tickwire.TopicSupport<{global}>"
                    ),
                );
                self.topic(&mut text, id, definition, of, &support);
            }
        }
        for key in [false, true] {
            self.encode_struct(&mut text, id, of, key);
            self.decode_struct(&mut text, id, of, key);
        }
        text.close("}");
        self.put(definition, &text);
    }

    /// What a type of topics has.
    fn topic(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        definition: &Definition,
        of: &'m Struct,
        support: &str,
    ) {
        let global = name(self.model, id);
        let has_key = members_of(self.model, &definition.kind)
            .iter()
            .any(|member| member.key);
        text.line("/// <summary>The one that there is.</summary>");
        text.line(&format!(
            "public static readonly {support} Instance = new {support}();"
        ));
        text.line("");
        text.line(&format!("{support}() {{ }}"));
        for (ty, name, value) in [
            ("string", "TypeName", literal(&definition.full_name)),
            ("bool", "HasKey", has_key.to_string()),
            (
                "global::Tickwire.Cdr.Extensibility",
                "Extensibility",
                extensibility(of.extensibility).to_owned(),
            ),
        ] {
            text.line("");
            text.line("/// <summary>As in IDL.</summary>");
            text.line(&format!(
                "public override {ty} {name} {{ get {{ return {value}; }} }}"
            ));
        }
        text.line("");
        text.line("/// <summary>The type and all that it needs.</summary>");
        block(text, "public override string Idl");
        block(text, "get");
        text.open("return");
        let idl = idl::idl(self.model, id);
        let mut lines = idl.lines().peekable();
        while let Some(line) = lines.next() {
            let end = if lines.peek().is_some() { " +" } else { ";" };
            text.line(&format!("{}{end}", literal(&format!("{line}\n"))));
        }
        text.close("}");
        text.close("}");
        for (head, call) in [
            (format!("{global} Create()"), format!("new {global}()")),
            (
                format!("bool Write({global} value, global::Tickwire.Cdr.CdrWriter w)"),
                "Encode(value, w)".to_owned(),
            ),
            (
                format!("bool Read({global} value, global::Tickwire.Cdr.CdrReader r)"),
                "Decode(value, r)".to_owned(),
            ),
            (
                format!("bool WriteKey({global} value, global::Tickwire.Cdr.CdrWriter w)"),
                match has_key {
                    true => "EncodeKey(value, w)",
                    false => "true",
                }
                .to_owned(),
            ),
            (
                format!("bool ReadKey({global} value, global::Tickwire.Cdr.CdrReader r)"),
                match has_key {
                    true => "DecodeKey(value, r)",
                    false => "true",
                }
                .to_owned(),
            ),
        ] {
            text.line("");
            text.line("/// <summary>As the function of the base says.</summary>");
            text.line(&format!("public override {head} {{ return {call}; }}"));
        }
    }

    pub(super) fn union(&mut self, id: DefinitionId, definition: &'m Definition, of: &'m Union) {
        let mut text = Text::default();
        let global = name(self.model, id);
        let own = names::identifier(&definition.name);
        let discriminator = declared(self.model, &of.discriminator);
        let (case, label) = initial_case(of);
        let label = label.map(|label| super::types::value(self.model, label, &of.discriminator));
        let initial_label = label
            .or_else(|| initial(self.model, &of.discriminator))
            .unwrap_or_else(|| format!("default({discriminator})"));
        doc(&mut text, definition.doc.as_deref().unwrap_or_default());
        block(
            &mut text,
            &format!("public sealed partial class {own} : global::System.IEquatable<{global}>"),
        );
        text.line(&format!("{discriminator} _d = {initial_label};"));
        for (index, each) in of.cases.iter().enumerate() {
            let ty = declared(self.model, &each.member.ty);
            let initial = initial_member(self.model, &each.member).filter(|_| case == Some(index));
            let initial = initial.map(|initial| format!(" = {initial}"));
            text.line(&format!("{ty} _{index}{};", initial.unwrap_or_default()));
        }
        text.line("");
        text.line(
            "/// <summary>Which member there is. Where a change makes it another one, that begins \
             anew.</summary>",
        );
        block(&mut text, &format!("public {discriminator} Discriminator"));
        text.line("get { return _d; }");
        block(&mut text, "set");
        text.line("int now = _Case(value);");
        block(&mut text, "if (now != _Case(_d))");
        for (index, each) in of.cases.iter().enumerate() {
            let ty = declared(self.model, &each.member.ty);
            match initial_member(self.model, &each.member) {
                Some(initial) => text.line(&format!(
                    "_{index} = now == {index} ? {initial} : default({ty});"
                )),
                None => text.line(&format!("_{index} = default({ty});")),
            }
        }
        text.close("}");
        text.line("_d = value;");
        text.close("}");
        text.close("}");
        for (index, each) in of.cases.iter().enumerate() {
            self.property(&mut text, definition, of, index, &each.member);
        }
        text.line("");
        block(&mut text, &format!("static int _Case({discriminator} d)"));
        block(&mut text, "switch (d)");
        for (index, each) in of.cases.iter().enumerate() {
            self.labels(&mut text, of, &each.labels, each.default);
            text.line(&format!("    return {index};"));
        }
        text.close("}");
        if !of.cases.iter().any(|case| case.default) {
            text.line("return -1;");
        }
        text.close("}");
        text.line("");
        block(&mut text, &format!("bool _IsSame({global} other)"));
        block(&mut text, "switch (_Case(_d))");
        for (index, each) in of.cases.iter().enumerate() {
            let (one, other) = (format!("_{index}"), format!("other._{index}"));
            let same = self.same(&each.member.ty, &one, &other, 0);
            text.line(&format!("case {index}:"));
            text.line(&format!("    return {same};"));
        }
        text.line("default:");
        text.line("    return true;");
        text.close("}");
        text.close("}");
        self.equality(
            &mut text,
            &global,
            "",
            &["_d == other._d".to_owned(), "_IsSame(other)".to_owned()],
            &[],
        );
        self.hash_code(&mut text, "17", &["_d.GetHashCode()".to_owned()]);
        text.close("}");
        text.line("");
        text.line(&format!(
            "/// <summary>Reads and writes <see cref=\"{own}\"/>.</summary>"
        ));
        block(
            &mut text,
            &format!("public static class {}Support", definition.name),
        );
        for key in [false, true] {
            self.encode_union(&mut text, id, of, key);
            self.decode_union(&mut text, id, of, key);
        }
        text.close("}");
        self.put(definition, &text);
    }

    fn property(
        &mut self,
        text: &mut Text,
        definition: &Definition,
        of: &Union,
        index: usize,
        member: &Member,
    ) {
        let ty = declared(self.model, &member.ty);
        let at = names::member(&member.name, &definition.name);
        text.line("");
        self.comment(text, member);
        block(text, &format!("public {ty} {at}"));
        block(text, "get");
        text.when(
            &format!("_Case(_d) != {index}"),
            &format!(
                "throw new global::System.InvalidOperationException({});",
                literal(&format!(
                    "{}.{} is not the member that there is",
                    definition.full_name, member.name
                ))
            ),
        );
        text.line(&format!("return _{index};"));
        text.close("}");
        block(text, "set");
        let label = of.cases.get(index).and_then(|case| case.labels.first());
        let label = label.or(of.unlabelled.as_ref());
        if let Some(label) = label {
            let label = super::types::value(self.model, label, &of.discriminator);
            text.when(
                &format!("_Case(_d) != {index}"),
                &format!("Discriminator = {label};"),
            );
        }
        text.line(&format!("_{index} = value;"));
        text.close("}");
        text.close("}");
    }

    /// `switch` over a discriminator, with statements for the member of each case.
    pub(super) fn switch(
        &mut self,
        text: &mut Text,
        of: &'m Union,
        discriminator: &str,
        mut write: impl FnMut(&mut Self, &mut Text, &'m Member),
    ) {
        block(text, &format!("switch ({discriminator})"));
        for case in &of.cases {
            self.labels(text, of, &case.labels, case.default);
            text.open("{");
            write(self, text, &case.member);
            text.line("break;");
            text.close("}");
        }
        text.close("}");
    }

    pub(super) fn labels(&self, text: &mut Text, of: &Union, labels: &[Value], default: bool) {
        for label in labels {
            let shown = super::types::value(self.model, label, &of.discriminator);
            text.line(&format!("case {shown}:"));
        }
        if default {
            text.line("default:");
        }
    }

    /// The comment, unit and range of a member.
    pub(super) fn comment(&self, text: &mut Text, member: &Member) {
        let mut comment = member.doc.clone().unwrap_or_default();
        let mut add = |line: String| {
            if !comment.is_empty() {
                comment.push('\n');
            }
            comment.push_str(&line);
        };
        if let Some(unit) = &member.unit {
            add(format!("Unit: {unit}"));
        }
        let shown = |value: &Value| match value {
            Value::Integer(value) => value.to_string(),
            value => format!("{value:?}"),
        };
        match (&member.range.min, &member.range.max) {
            (Some(min), Some(max)) => add(format!("Range: {} to {}", shown(min), shown(max))),
            (Some(min), None) => add(format!("At least {}", shown(min))),
            (None, Some(max)) => add(format!("At most {}", shown(max))),
            (None, None) => {}
        }
        if member.optional {
            add("null: absent".to_owned());
        }
        match kind(self.model, &member.ty) {
            Kind::String(bound @ 1..) => add(format!("At most {bound} bytes of UTF-8")),
            Kind::WString(bound @ 1..) => add(format!("At most {bound} units")),
            Kind::Sequence(_, bound @ 1..) => add(format!("At most {bound} elements")),
            Kind::Map(_, _, bound @ 1..) => add(format!("At most {bound} entries")),
            _ => {}
        }
        doc(text, &comment);
    }

    /// An expression that says whether two values are the same.
    fn same(&self, ty: &Type, one: &str, other: &str, depth: usize) -> String {
        let (a, b) = (format!("a{depth}"), format!("b{depth}"));
        let inner = |element: &Type| {
            let same = self.same(element, &a, &b, depth + 1);
            format!("({a}, {b}) => {same}")
        };
        let array = |element: &Type, call: &str| {
            let of = declared(self.model, element);
            let inner = inner(element);
            format!("global::Tickwire.Cdr.Same.{call}<{of}>({one}, {other}, {inner})")
        };
        match kind(self.model, ty) {
            Kind::Primitive(primitive) if primitive.is_float() => format!("{one}.Equals({other})"),
            Kind::Primitive(_) | Kind::Enum(..) | Kind::Bitmask(..) => format!("{one} == {other}"),
            Kind::String(_) | Kind::WString(_) => format!("{one} == {other}"),
            Kind::Bitset(..) => format!("{one}.Equals({other})"),
            Kind::Struct(_) | Kind::Union(_) => format!("Equals({one}, {other})"),
            Kind::Sequence(element, _) if is_primitive(self.model, element) => {
                array(element, "Arrays")
            }
            Kind::Sequence(element, _) => array(element, "Lists"),
            Kind::Array(element, dimensions) => array(
                element,
                if dimensions.len() == 1 {
                    "Arrays"
                } else {
                    "Blocks"
                },
            ),
            Kind::Map(key, value, _) => {
                let (key, of) = (declared(self.model, key), declared(self.model, value));
                let inner = inner(value);
                format!("global::Tickwire.Cdr.Same.Maps<{key}, {of}>({one}, {other}, {inner})")
            }
        }
    }

    /// `bases` are classes whose equality is this one, too.
    fn equality(
        &self,
        text: &mut Text,
        global: &str,
        how: &str,
        same: &[String],
        bases: &[String],
    ) {
        text.line("");
        text.line("/// <summary>Whether all members are the same.</summary>");
        block(text, &format!("public {how}bool Equals({global} other)"));
        text.when("ReferenceEquals(this, other)", "return true;");
        text.when(
            "ReferenceEquals(other, null) || GetType() != other.GetType()",
            "return false;",
        );
        for same in same {
            text.when(&format!("!({same})"), "return false;");
        }
        text.line("return true;");
        text.close("}");
        for base in bases {
            text.line("");
            text.line("/// <summary>Whether it is one with the same members.</summary>");
            block(text, &format!("public override bool Equals({base} other)"));
            text.line(&format!("return Equals(other as {global});"));
            text.close("}");
        }
        text.line("");
        text.line("/// <summary>Whether it is one with the same members.</summary>");
        block(text, "public override bool Equals(object other)");
        text.line(&format!("return Equals(other as {global});"));
        text.close("}");
    }

    fn is_scalar(&self, ty: &Type) -> bool {
        is_value(self.model, ty)
            || matches!(kind(self.model, ty), Kind::String(_) | Kind::WString(_))
    }

    fn hash(&self, member: &Member, at: &str) -> String {
        match is_value(self.model, &member.ty) {
            true => format!("{at}.GetHashCode()"),
            false => format!("({at} == null ? 0 : {at}.GetHashCode())"),
        }
    }

    fn hash_code(&self, text: &mut Text, start: &str, hashed: &[String]) {
        text.line("");
        text.line("/// <summary>Of the key, or of what is no collection.</summary>");
        block(text, "public override int GetHashCode()");
        block(text, "unchecked");
        text.line(&format!("int hash = {start};"));
        for hashed in hashed {
            text.line(&format!("hash = hash * 31 + {hashed};"));
        }
        text.line("return hash;");
        text.close("}");
        text.close("}");
    }

    /// The head of a function for a value or its key; false if that is all there is to it.
    pub(super) fn begin_function(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        what: &str,
        by: &str,
        key: bool,
    ) -> bool {
        let of = name(self.model, id);
        let suffix = if key { "Key" } else { "" };
        text.line("");
        text.line("/// <summary>For generated code.</summary>");
        block(
            text,
            &format!("public static bool {what}{suffix}({of} value, global::Tickwire.Cdr.{by})"),
        );
        if key && !self.facts.definition_is_partial(id) {
            let by = by.chars().last().unwrap_or_default();
            text.line(&format!("return {what}(value, {by});"));
            text.close("}");
            return false;
        }
        true
    }

    /// `"trading::Order.price"`, for errors.
    pub(super) fn path(&self, member: &str) -> String {
        literal(&format!("{}.{member}", self.scope.0))
    }

    /// The function by which a struct or union is read or written.
    pub(super) fn function(&self, id: DefinitionId, what: &str, key: bool) -> String {
        let suffix = match key && self.facts.definition_is_partial(id) {
            true => "Key",
            false => "",
        };
        let support = super::types::support(self.model, id);
        format!("{support}.{what}{suffix}")
    }

    /// What a member is called in its class.
    pub(super) fn member_name(&self, member: &Member) -> String {
        let owner = self.owners.get(&std::ptr::from_ref(member));
        self.name_in(&member.name, owner.copied())
    }

    /// What a member of this name is called in a class.
    pub(super) fn name_in(&self, name: &str, class: Option<DefinitionId>) -> String {
        let is_of_exceptions = names::EXCEPTION.contains(&name);
        match class {
            Some(id) if is_of_exceptions && self.services.exceptions.contains(&id) => {
                format!("{name}_")
            }
            Some(id) => names::member(name, &self.model.definition(id).name),
            None => names::member(name, ""),
        }
    }

    /// Where a member of this class is.
    fn own_place(&self, member: &Member) -> String {
        format!("this.{}", self.member_name(member))
    }

    /// Where a member of `value` is.
    pub(super) fn place(&self, member: &Member) -> String {
        format!("value.{}", self.member_name(member))
    }
}

/// The members that stand in the text of a struct or union.
pub(super) fn members_in(kind: &DefinitionKind) -> Vec<&Member> {
    match kind {
        DefinitionKind::Struct(of) => of.members.iter().collect(),
        DefinitionKind::Union(of) => of.cases.iter().map(|case| &case.member).collect(),
        _ => Vec::new(),
    }
}
