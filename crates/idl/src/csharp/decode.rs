//! Functions that read values.

use super::encode::{CDR, STATUS, extensibility, not_shaped, total};
use super::types::{
    declared, initial, initial_member, is_primitive, is_value, name, new_array, support,
};
use super::{CSharp, types};
use crate::c::facts::{Kind, kind, members_for, non_serialized, trimmed};
use crate::c::runs::{parts, wire};
use crate::c::text::Text;
use crate::model::{
    DefinitionId, Extensibility, Member, Primitive, Struct, TryConstruct, Type, Union,
};

/// How a member is read: the member, for errors, and whether there is its key alone.
struct How {
    path: String,
    key: bool,
    /// Whether the beginning is kept of what has more than its bound allows.
    trim: bool,
}

impl How {
    fn fail(&self) -> String {
        format!("return r.Unread({});", self.path)
    }

    /// How what is in the member is read.
    fn inside(&self, key: bool) -> Self {
        Self {
            path: self.path.clone(),
            key,
            trim: false,
        }
    }
}

impl<'m> CSharp<'m> {
    pub(super) fn decode_struct(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        of: &'m Struct,
        key: bool,
    ) {
        if !self.begin_function(text, id, "Decode", "CdrReader r", key) {
            return;
        }
        let kind = extensibility(of.extensibility);
        let members = members_for(self.model, of, key);
        text.line(&format!("{CDR}.CdrScope scope;"));
        text.when(
            &format!("!r.EnterStruct({kind}, out scope)"),
            "return false;",
        );
        match of.extensibility {
            Extensibility::Mutable => self.decode_mutable(text, &members, key),
            extensibility => {
                for (part, alignment, size) in parts(self.model, &members, extensibility) {
                    match part {
                        [member] => self.decode_member(text, member, extensibility, key),
                        _ => self.decode_run(text, part, alignment, size, extensibility),
                    }
                }
            }
        }
        text.line("r.LeaveStruct(ref scope);");
        // Of what is not all of its key, that is read alone.
        if !key {
            for member in non_serialized(self.model, of) {
                text.line(&self.reset(member));
            }
        }
        text.line("return true;");
        text.close("}");
    }

    fn decode_mutable(&mut self, text: &mut Text, members: &[&'m Member], key: bool) {
        text.line(&format!("{CDR}.CdrMember member;"));
        for index in 0..members.len() {
            text.line(&format!("bool seen{index} = false;"));
        }
        super::block(text, "while (r.NextMember(ref scope, out member))");
        super::block(text, "switch (member.Id)");
        for (index, member) in members.iter().enumerate() {
            text.open(&format!("case {}:", member.id));
            let how = self.how_read(member, key);
            // One that comes again makes what it had anew.
            if let Some(weight) = self.weight_of_new(&member.ty) {
                let again = format!("seen{index} && !r.Charge(1, {weight})");
                text.when(&again, &how.fail());
            }
            text.line(&format!("seen{index} = true;"));
            let at = self.place(member);
            self.decode_target(text, member, &at, &how);
            text.close("    break;");
        }
        text.open("default:");
        text.when("!r.SkipUnknown(ref member)", "return false;");
        text.close("    break;");
        text.close("}");
        text.line("r.LeaveMember(ref member);");
        text.close("}");
        text.when(&format!("r.Status != {STATUS}.Ok"), "return false;");
        for (index, member) in members.iter().enumerate() {
            let reset = self.reset(member);
            text.when(&format!("!seen{index}"), &reset);
        }
    }

    /// A statement that makes a member what it is at first.
    fn reset(&self, member: &Member) -> String {
        let of = types::of_member(self.model, member);
        let initial = initial_member(self.model, member);
        let initial = initial.unwrap_or_else(|| format!("default({of})"));
        format!("{} = {initial};", self.place(member))
    }

    fn decode_run(
        &mut self,
        text: &mut Text,
        part: &[&'m Member],
        alignment: usize,
        size: usize,
        of: Extensibility,
    ) {
        let is_final = of == Extensibility::Final;
        if is_final {
            let fail = part
                .first()
                .map(|member| self.how_read(member, false).fail());
            text.when(
                &format!("!r.Take({alignment}, {size})"),
                &fail.unwrap_or_default(),
            );
        } else {
            super::block(text, &format!("if (r.Peek({alignment}, {size}))"));
        }
        let mut offset = 0;
        for member in part {
            let value = self.place(member);
            let how = self.how_read(member, false);
            match kind(self.model, &member.ty) {
                Kind::Array(element, dimensions) => {
                    let kind = kind(self.model, element);
                    let size = wire(self.model, &kind).map_or(1, |(_, size)| size);
                    let all = self.all_of(element);
                    self.flat_target(text, element, &dimensions, &value, |_, text, flat| {
                        text.line(&format!("r.Get{all}({offset}, {flat});"));
                    });
                    offset += size * total(&dimensions);
                }
                kind => {
                    let Some((function, _, size)) = self.number(&kind) else {
                        continue;
                    };
                    let get = format!("r.Get{function}({offset})");
                    match kind {
                        Kind::Primitive(Primitive::Boolean) => {
                            let call = format!("!r.GetBoolean({offset}, out {value})");
                            text.when(&call, &how.fail());
                        }
                        Kind::Enum(id, _) => self.set_literal(text, id, &get, &value, &how),
                        Kind::Bitmask(id, _) => {
                            let of = name(self.model, id);
                            text.line(&format!("{value} = ({of}){get};"));
                        }
                        Kind::Bitset(id, _) => {
                            let of = name(self.model, id);
                            text.line(&format!("{value} = new {of}({get});"));
                        }
                        _ => text.line(&format!("{value} = {get};")),
                    }
                    offset += size;
                }
            }
        }
        if !is_final {
            super::otherwise(text);
            for member in part {
                self.decode_member(text, member, of, false);
            }
            text.close("}");
        }
    }

    /// What functions for arrays of numbers are called.
    fn all_of(&self, element: &Type) -> &'static str {
        match kind(self.model, element) {
            Kind::Primitive(Primitive::Char) => "AllChars",
            _ => "All",
        }
    }

    /// Statements that read numbers into an array, through one of one dimension where it has more.
    fn flat_target(
        &mut self,
        text: &mut Text,
        element: &Type,
        dimensions: &[u32],
        value: &str,
        read: impl FnOnce(&mut Self, &mut Text, &str),
    ) {
        let new = new_array(self.model, element, dimensions);
        if let [_] = dimensions {
            text.when(&not_shaped(value, dimensions), &format!("{value} = {new};"));
            return read(self, text, value);
        }
        let (flat, of) = (self.enter(), declared(self.model, element));
        let count = total(dimensions);
        text.open("{");
        text.line(&format!("{of}[] {flat} = new {of}[{count}];"));
        read(self, text, &flat);
        text.line(&format!("{value} = {new};"));
        text.line(&format!(
            "global::System.Buffer.BlockCopy({flat}, 0, {value}, 0, \
             global::System.Buffer.ByteLength({flat}));"
        ));
        text.close("}");
        self.scope.1 -= 1;
    }

    fn set_literal(&mut self, text: &mut Text, id: DefinitionId, get: &str, to: &str, how: &How) {
        let (support, of) = (support(self.model, id), name(self.model, id));
        let number = self.enter();
        text.open("{");
        text.line(&format!("{of} {number} = ({of}){get};"));
        text.when(
            &format!("!{support}.IsLiteral({number}) && !r.NotConstructed({STATUS}.Literal)"),
            &how.fail(),
        );
        text.line(&format!("{to} = {number};"));
        text.close("}");
        self.scope.1 -= 1;
    }

    fn how_read(&self, member: &Member, key: bool) -> How {
        How {
            path: self.path(&member.name),
            key,
            trim: member.try_construct == TryConstruct::Trim,
        }
    }

    /// A member of a struct that is not mutable.
    fn decode_member(&mut self, text: &mut Text, member: &'m Member, of: Extensibility, key: bool) {
        let how = self.how_read(member, key);
        let value = self.place(member);
        if member.optional {
            text.open("{");
            text.line(&format!("{CDR}.CdrMember member;"));
            text.line("bool present;");
            let id = member.id;
            let enter = format!("!r.EnterOptional(ref scope, {id}, out member, out present)");
            text.when(&enter, &how.fail());
            super::block(text, "if (present)");
            self.decode_target(text, member, &value, &how);
            text.line("r.LeaveMember(ref member);");
            super::otherwise(text);
            text.line(&format!("{value} = null;"));
            text.close("}");
            return text.close("}");
        }
        if of == Extensibility::Final {
            return self.decode_target(text, member, &value, &how);
        }
        super::block(text, "if (r.HasMember(ref scope))");
        self.decode_target(text, member, &value, &how);
        super::otherwise(text);
        text.line(&self.reset(member));
        text.close("}");
    }

    /// Statements that read a member that is there.
    fn decode_target(&mut self, text: &mut Text, member: &'m Member, value: &str, how: &How) {
        self.tried(text, member, |c, text| {
            c.decode_present(text, member, value, how)
        });
    }

    /// Statements that read a member, and others that make it what it is at first if its type cannot hold what there is.
    fn tried(&mut self, text: &mut Text, member: &Member, read: impl FnOnce(&mut Self, &mut Text)) {
        if member.try_construct != TryConstruct::UseDefault {
            return read(self, text);
        }
        text.open("{");
        text.line("bool outer = r.BeginTry();");
        read(self, text);
        let reset = self.reset(member);
        text.when("r.EndTry(outer)", &reset);
        text.close("}");
    }

    fn decode_present(&mut self, text: &mut Text, member: &'m Member, value: &str, how: &How) {
        if !member.optional {
            return self.decode(text, &member.ty, value, how);
        }
        if is_value(self.model, &member.ty) {
            return self.decode_apart(text, &member.ty, value, None, how);
        }
        if let Some(weight) = self.weight_of_new(&member.ty) {
            text.when(
                &format!("{value} == null && !r.Charge(1, {weight})"),
                &how.fail(),
            );
        }
        self.decode(text, &member.ty, value, how);
    }

    /// The memory of a new value; none of one for which there are as many bytes.
    fn weight_of_new(&self, ty: &Type) -> Option<u64> {
        match kind(self.model, ty) {
            Kind::String(_) | Kind::WString(_) => None,
            Kind::Sequence(element, _) if is_primitive(self.model, element) => None,
            _ if is_value(self.model, ty) => None,
            _ => Some(self.weights.element(self.model, ty)),
        }
    }

    /// The same by a variable, where the target is none; it begins with `old`.
    fn decode_apart(
        &mut self,
        text: &mut Text,
        ty: &'m Type,
        target: &str,
        old: Option<&str>,
        how: &How,
    ) {
        let variable = self.enter().replace('i', "v");
        let of = declared(self.model, ty);
        let old = old.map_or_else(|| format!("default({of})"), str::to_owned);
        text.open("{");
        text.line(&format!("{of} {variable} = {old};"));
        self.decode(text, ty, &variable, how);
        text.line(&format!("{target} = {variable};"));
        text.close("}");
        self.scope.1 -= 1;
    }

    /// Statements that read a parameter of an operation.
    pub(super) fn decode_parameter(
        &mut self,
        text: &mut Text,
        ty: &'m Type,
        value: &str,
        name: &str,
    ) {
        let path = self.path(name);
        let how = How {
            path,
            key: false,
            trim: false,
        };
        self.decode(text, ty, value, &how);
    }

    /// Statements that read a value into a variable.
    fn decode(&mut self, text: &mut Text, ty: &'m Type, value: &str, how: &How) {
        if how.trim {
            return self.decode_trimmed(text, ty, value, how);
        }
        self.decode_kind(text, &kind(self.model, ty), (ty, 0), value, how);
    }

    /// The same of what keeps its beginning.
    fn decode_trimmed(&mut self, text: &mut Text, ty: &'m Type, value: &str, how: &How) {
        let (kind, bound) = trimmed(kind(self.model, ty));
        self.decode_kind(text, &kind, (ty, bound), value, &how.inside(how.key));
        let function = match kind {
            _ if bound == 0 => return,
            Kind::String(_) => "Utf8",
            Kind::WString(_) => "Utf16",
            Kind::Sequence(..) => "First",
            _ => return,
        };
        text.line(&format!(
            "{value} = {CDR}.Trimmed.{function}({value}, {bound});"
        ));
    }

    /// The same of a type of that kind; `keep` is how many entries of a map are kept, 0 for all.
    fn decode_kind(
        &mut self,
        text: &mut Text,
        kind: &Kind<'m>,
        (ty, keep): (&'m Type, u32),
        value: &str,
        how: &How,
    ) {
        let fail = how.fail();
        match kind {
            Kind::String(bound) => {
                text.when(&format!("!r.ReadString(ref {value}, {bound})"), &fail);
            }
            Kind::WString(bound) => {
                text.when(&format!("!r.ReadWString(ref {value}, {bound})"), &fail);
            }
            Kind::Struct(id) | Kind::Union(id) => {
                let function = self.function(*id, "Decode", how.key);
                let new = format!("{value} = new {}();", name(self.model, *id));
                text.when(&format!("{value} == null"), &new);
                text.when(&format!("!{function}({value}, r)"), &fail);
            }
            Kind::Sequence(element, bound) if is_primitive(self.model, element) => {
                let chars = match self.all_of(element) {
                    "AllChars" => "Char",
                    _ => "",
                };
                text.when(
                    &format!("!r.Read{chars}Sequence(ref {value}, {bound})"),
                    &fail,
                );
            }
            Kind::Sequence(element, bound) => self.decode_list(text, element, *bound, value, how),
            Kind::Map(key, of, bound) => {
                self.decode_map(text, (key, of), (*bound, keep), value, how);
            }
            Kind::Array(element, dimensions) => {
                if is_primitive(self.model, element) {
                    let all = self.all_of(element);
                    self.flat_target(text, element, dimensions, value, |_, text, flat| {
                        text.when(&format!("!r.Read{all}({flat})"), &fail);
                    });
                    return;
                }
                let scope = format!("scope{}", self.scope.1 + 1);
                let count = dimensions.first().copied().unwrap_or(1);
                text.open("{");
                text.line(&format!("{CDR}.CdrScope {scope};"));
                text.when(&format!("!r.EnterArray({count}, out {scope})"), &fail);
                let new = new_array(self.model, element, dimensions);
                text.when(&not_shaped(value, dimensions), &format!("{value} = {new};"));
                self.each(text, dimensions, |c, text, index| {
                    c.decode(text, element, &format!("{value}{index}"), how);
                });
                text.line(&format!("r.Leave(ref {scope});"));
                text.close("}");
            }
            Kind::Primitive(primitive) => {
                let function = super::names::function(*primitive);
                text.when(&format!("!r.Read{function}(out {value})"), &fail);
            }
            _ => {
                let Some((function, of, _)) = self.number(kind) else {
                    return;
                };
                let number = self.enter().replace('i', "n");
                text.open("{");
                text.line(&format!("{of} {number};"));
                text.when(&format!("!r.Read{function}(out {number})"), &fail);
                match kind {
                    Kind::Enum(id, _) => self.set_literal(text, *id, &number, value, how),
                    Kind::Bitset(id, _) => {
                        let of = name(self.model, *id);
                        text.line(&format!("{value} = new {of}({number});"));
                    }
                    _ => text.line(&format!(
                        "{value} = ({}){number};",
                        declared(self.model, ty)
                    )),
                }
                text.close("}");
                self.scope.1 -= 1;
            }
        }
    }

    /// Begins a sequence or map; its length is in the second variable.
    fn enter_elements(
        &mut self,
        text: &mut Text,
        (least, weight): (usize, u64),
        (bound, primitive): (u32, bool),
        how: &How,
    ) -> (String, String) {
        let number = self.scope.1;
        let (scope, length) = (format!("scope{number}"), format!("length{number}"));
        text.open("{");
        text.line(&format!("{CDR}.CdrScope {scope};"));
        text.line(&format!("int {length};"));
        let least = least.min(i32::MAX as usize);
        text.when(
            &format!(
                "!r.EnterSequence({bound}, {primitive}, {least}, {weight}, out {scope}, out \
                 {length})"
            ),
            &how.fail(),
        );
        (scope, length)
    }

    fn decode_list(
        &mut self,
        text: &mut Text,
        element: &'m Type,
        bound: u32,
        value: &str,
        how: &How,
    ) {
        let i = self.enter();
        let least = match how.key && self.facts.is_partial(self.model, element) {
            true => 1,
            false => self.facts.least(self.model, element),
        };
        let weight = self.weights.element(self.model, element);
        let (scope, length) = self.enter_elements(text, (least, weight), (bound, false), how);
        let of = declared(self.model, element);
        let list = format!("global::System.Collections.Generic.List<{of}>");
        text.when(
            &format!("{value} == null"),
            &format!("{value} = new {list}({length});"),
        );
        text.when(
            &format!("{value}.Count > {length}"),
            &format!("{value}.RemoveRange({length}, {value}.Count - {length});"),
        );
        super::block(text, &format!("for (int {i} = 0; {i} < {length}; {i}++)"));
        // What is there is used again.
        let at = format!("e{}", self.scope.1);
        let old = format!("{i} < {value}.Count ? {value}[{i}] : default({of})");
        text.line(&format!("{of} {at} = {old};"));
        self.decode(text, element, &at, how);
        text.line(&format!("if ({i} < {value}.Count)"));
        text.line(&format!("    {value}[{i}] = {at};"));
        text.line("else");
        text.line(&format!("    {value}.Add({at});"));
        text.close("}");
        text.line(&format!("r.Leave(ref {scope});"));
        text.close("}");
        self.scope.1 -= 1;
    }

    fn decode_map(
        &mut self,
        text: &mut Text,
        (key, of): (&'m Type, &'m Type),
        (bound, keep): (u32, u32),
        value: &str,
        how: &How,
    ) {
        let i = self.enter();
        let primitive = is_primitive(self.model, key) && is_primitive(self.model, of);
        let least = self
            .facts
            .least(self.model, key)
            .saturating_add(self.facts.least(self.model, of));
        let weight = self.weights.element(self.model, key) + self.weights.element(self.model, of);
        let weight = (weight + 16).min(i32::MAX as u64);
        let how = how.inside(false);
        let (scope, length) = self.enter_elements(text, (least, weight), (bound, primitive), &how);
        let (key_type, of_type) = (declared(self.model, key), declared(self.model, of));
        let map = format!("global::System.Collections.Generic.Dictionary<{key_type}, {of_type}>");
        let keys = types::map_keys(self.model, key);
        let other = keys.as_ref().map_or_else(String::new, |keys| {
            format!(" || !ReferenceEquals({value}.Comparer, {keys})")
        });
        let keys = keys.unwrap_or_default();
        text.when(
            &format!("{value} == null{other}"),
            &format!("{value} = new {map}({keys});"),
        );
        text.line(&format!("{value}.Clear();"));
        super::block(text, &format!("for (int {i} = 0; {i} < {length}; {i}++)"));
        let number = self.scope.1;
        let (key_at, at) = (format!("k{number}"), format!("e{number}"));
        text.line(&format!("{key_type} {key_at} = default({key_type});"));
        text.line(&format!("{of_type} {at} = default({of_type});"));
        self.decode(text, key, &key_at, &how);
        self.decode(text, of, &at, &how);
        let put = format!("{value}[{key_at}] = {at};");
        match keep {
            0 => text.line(&put),
            keep => text.when(&format!("{i} < {keep}"), &put),
        }
        text.close("}");
        text.line(&format!("r.Leave(ref {scope});"));
        text.close("}");
        self.scope.1 -= 1;
    }

    pub(super) fn decode_union(
        &mut self,
        text: &mut Text,
        id: DefinitionId,
        of: &'m Union,
        key: bool,
    ) {
        if !self.begin_function(text, id, "Decode", "CdrReader r", key) {
            return;
        }
        let kind = extensibility(of.extensibility);
        let is_mutable = of.extensibility == Extensibility::Mutable;
        let discriminator = declared(self.model, &of.discriminator);
        let initial = initial(self.model, &of.discriminator);
        let initial = initial.unwrap_or_else(|| format!("default({discriminator})"));
        text.line(&format!("{CDR}.CdrScope scope;"));
        text.line(&format!("{discriminator} d = {initial};"));
        if is_mutable {
            text.line(&format!("{CDR}.CdrMember member;"));
        }
        text.when(
            &format!("!r.EnterStruct({kind}, out scope)"),
            "return false;",
        );
        let how = How {
            path: self.path("discriminator"),
            key,
            trim: false,
        };
        if is_mutable {
            text.when("!r.EnterDiscriminator(ref scope, out member)", &how.fail());
        }
        // Of a literal that is not known it is not known either what follows.
        let by_enum = matches!(
            crate::c::facts::kind(self.model, &of.discriminator),
            Kind::Enum(..)
        );
        if by_enum {
            text.line("bool tried = r.BeginTry();");
        }
        self.decode(text, &of.discriminator, "d", &how);
        if is_mutable {
            text.line("r.LeaveMember(ref member);");
        }
        if by_enum {
            let path = &how.path;
            text.when(
                "r.EndTry(tried)",
                &format!("return r.SkipUnion({kind}, ref scope) || r.Unread({path});"),
            );
        }
        text.line("value.Discriminator = d;");
        let skip = "!r.SkipMembers(ref scope)";
        if key && of.discriminator_key {
            if is_mutable {
                text.when(skip, "return false;");
            }
        } else {
            super::block(text, "switch (d)");
            for case in &of.cases {
                self.labels(text, of, &case.labels, case.default);
                let member = &case.member;
                let how = self.how_read(member, key);
                text.open("{");
                match is_mutable {
                    true => self.decode_case(text, member, &how),
                    false => self.decode_property(text, member, &how),
                }
                text.line("break;");
                text.close("}");
            }
            if is_mutable && !of.cases.iter().any(|case| case.default) {
                text.line("default:");
                text.line("{");
                text.line(&format!("    if ({skip})"));
                text.line("        return false;");
                text.line("    break;");
                text.line("}");
            }
            text.close("}");
        }
        text.line("r.LeaveStruct(ref scope);");
        text.line("return true;");
        text.close("}");
    }

    fn decode_property(&mut self, text: &mut Text, member: &'m Member, how: &How) {
        let value = self.place(member);
        self.tried(text, member, |c, text| {
            c.decode_apart(text, &member.ty, &value, Some(&value), how);
        });
    }

    /// The member of a mutable union, which may be missing.
    fn decode_case(&mut self, text: &mut Text, member: &'m Member, how: &How) {
        text.line("bool found = false;");
        super::block(text, "while (r.NextMember(ref scope, out member))");
        super::block(text, &format!("if (member.Id == {})", member.id));
        text.line("found = true;");
        self.decode_property(text, member, how);
        text.close("}");
        super::block(text, "else if (!r.SkipUnknown(ref member))");
        text.line("return false;");
        text.close("}");
        text.line("r.LeaveMember(ref member);");
        text.close("}");
        text.when(&format!("r.Status != {STATUS}.Ok"), "return false;");
        let reset = self.reset(member);
        text.when("!found", &reset);
    }
}
