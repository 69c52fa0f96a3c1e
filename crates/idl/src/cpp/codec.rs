//! How structs and unions are encoded and decoded.

use super::{Cpp, names};
use crate::c::facts::{Kind, initial_case, kind, length_code, members_for, non_serialized};
use crate::c::idl;
use crate::c::runs::{parts, wire};
use crate::c::text::literal;
use crate::model::{Case, DefinitionId, Extensibility, Member, Struct, TryConstruct, Type, Union};

impl<'m> Cpp<'m> {
    /// What is known of a struct, and its functions.
    pub(super) fn struct_codec(&mut self, id: DefinitionId, of: &'m Struct, all: &[&'m Member]) {
        let has_key = all.iter().any(|member| member.key);
        let apart = self.apart(all);
        self.traits_of(
            id,
            of.extensibility,
            (!of.nested).then_some(has_key),
            &apart,
        );
        let here = self.function_namespaces.clone();
        self.enter_functions(&["tickwire".to_owned(), "cdr".to_owned()]);
        for key in [false, true] {
            if key && !self.facts.definition_is_partial(id) {
                continue;
            }
            let members = members_for(self.model, of, key);
            self.encode_struct(id, of, &members, key);
            self.decode_struct(id, of, &members, key);
        }
        self.apart_function(id, &apart);
        if !of.nested {
            self.idl(id);
        }
        self.enter_functions(&here);
    }

    /// The codecs of those members that have memory elsewhere at first.
    fn apart(&self, members: &[&Member]) -> Vec<String> {
        let apart = members
            .iter()
            .filter(|it| !it.optional && (it.external || self.is_apart(&it.ty)));
        apart.map(|member| self.member_codec(member)).collect()
    }

    fn is_apart(&self, ty: &Type) -> bool {
        match kind(self.model, ty) {
            Kind::Array(element, _) => self.is_apart(element),
            Kind::Struct(id) | Kind::Union(id) => self.apart.contains(&id),
            _ => false,
        }
    }

    fn traits_of(
        &mut self,
        id: DefinitionId,
        of: Extensibility,
        topic: Option<bool>,
        apart: &[String],
    ) {
        let model = self.model;
        let full_name = &model.definition(id).full_name;
        let name = self.name(id);
        let least = self.facts.least(model, &Type::Named(id));
        let partial = self.facts.definition_is_partial(id);
        let key_least = if partial { 1 } else { least };
        let text = &mut self.traits;
        text.line("");
        text.line("template <>");
        text.open(&format!("struct Codec<{name}> {{"));
        text.line(&format!(
            "static constexpr const char *name = {};",
            literal(full_name)
        ));
        text.line(&format!(
            "static constexpr tw_cdr_extensibility extensibility = {};",
            extensibility(of)
        ));
        text.line(&format!(
            "static constexpr std::size_t least = {least}, key_least = {key_least};"
        ));
        text.line(&format!(
            "static bool encode(const {name} &v, tw_cdr_writer *w);"
        ));
        text.line(&format!("static bool decode({name} &v, tw_cdr_reader *r);"));
        match partial {
            true => {
                text.line(&format!(
                    "static bool encode_key(const {name} &v, tw_cdr_writer *w);"
                ));
                text.line(&format!(
                    "static bool decode_key({name} &v, tw_cdr_reader *r);"
                ));
            }
            false => {
                text.line(&format!(
                    "static bool encode_key(const {name} &v, tw_cdr_writer *w) {{ return encode(v, w); }}"
                ));
                text.line(&format!(
                    "static bool decode_key({name} &v, tw_cdr_reader *r) {{ return decode(v, r); }}"
                ));
            }
        }
        if !apart.is_empty() {
            self.apart.insert(id);
            text.line("static std::size_t apart();");
        }
        if let Some(has_key) = topic {
            text.line(&format!("static constexpr bool has_key = {has_key};"));
            text.line("static const char *idl();");
        }
        text.close("};");
    }

    fn apart_function(&mut self, id: DefinitionId, apart: &[String]) {
        if apart.is_empty() {
            return;
        }
        let name = self.name(id);
        let size = apart.iter().map(|codec| format!("{codec}::apart()"));
        let size = size.collect::<Vec<_>>().join(" + ");
        let text = &mut self.functions;
        text.line("");
        text.line(&format!(
            "inline std::size_t Codec<{name}>::apart() {{ return {size}; }}"
        ));
    }

    fn idl(&mut self, id: DefinitionId) {
        let idl = idl::idl(self.model, id);
        let name = self.name(id);
        let text = &mut self.functions;
        text.line("");
        text.open(&format!("inline const char *Codec<{name}>::idl() {{"));
        text.line("return");
        let mut lines = idl.lines().peekable();
        while let Some(line) = lines.next() {
            let end = if lines.peek().is_some() { "" } else { ";" };
            text.line(&format!("    {}{end}", literal(&format!("{line}\n"))));
        }
        text.close("}");
    }

    /// `"trading::Order.price"`, for errors.
    fn path(&self, id: DefinitionId, member: &str) -> String {
        literal(&format!("{}.{member}", self.model.definition(id).full_name))
    }

    fn begin(&mut self, id: DefinitionId, what: &str, key: bool) {
        let name = self.name(id);
        let suffix = if key { "_key" } else { "" };
        let text = &mut self.functions;
        text.line("");
        let parameters = match what {
            "encode" => format!("const {name} &v, tw_cdr_writer *w"),
            _ => format!("{name} &v, tw_cdr_reader *r"),
        };
        text.open(&format!(
            "inline bool Codec<{name}>::{what}{suffix}({parameters}) {{"
        ));
    }

    fn encode_struct(
        &mut self,
        id: DefinitionId,
        of: &'m Struct,
        members: &[&'m Member],
        key: bool,
    ) {
        let kind = extensibility(of.extensibility);
        self.begin(id, "encode", key);
        if members.is_empty() {
            self.functions.line("(void)v;");
        }
        self.functions.line("tw_cdr_mark mark;");
        self.functions.when(
            &format!("!tw_cdr_open_struct(w, {kind}, &mark)"),
            "return false;",
        );
        for (part, alignment, size) in parts(self.model, members, of.extensibility) {
            match part {
                [member] => self.encode_member(id, member, of.extensibility, key),
                _ => self.encode_run(id, part, alignment, size),
            }
        }
        self.functions
            .line(&format!("return tw_cdr_close_struct(w, {kind}, &mark);"));
        self.functions.close("}");
    }

    fn encode_run(&mut self, id: DefinitionId, part: &[&'m Member], alignment: usize, size: usize) {
        for member in part {
            if matches!(kind(self.model, &member.ty), Kind::Enum(..)) {
                let codec = self.codec(&member.ty);
                let fail = self.unwritten(id, &member.name);
                self.functions
                    .when(&format!("!{codec}::check(w, {})", place(member)), &fail);
            }
        }
        self.functions.open("{");
        self.functions.line(&format!(
            "std::uint8_t *at = tw_cdr_room(w, {alignment}, {size});"
        ));
        self.functions.when("at == nullptr", "return false;");
        let mut offset = 0;
        for member in part {
            let codec = self.codec(&member.ty);
            self.functions.line(&format!(
                "{codec}::put({}, {}, w->swap);",
                at(offset),
                place(member)
            ));
            offset += self.plain_size(member);
        }
        self.functions.close("}");
    }

    /// Bytes of a number, or of an array of numbers.
    fn plain_size(&self, member: &Member) -> usize {
        let size = |kind: &Kind<'_>| wire(self.model, kind).map_or(0, |(_, size)| size);
        match kind(self.model, &member.ty) {
            Kind::Array(element, dimensions) => {
                let counts = dimensions.iter().map(|count| *count as usize);
                counts.fold(size(&kind(self.model, element)), usize::saturating_mul)
            }
            other => size(&other),
        }
    }

    fn unwritten(&self, id: DefinitionId, member: &str) -> String {
        format!("return tw_cdr_unwritten(w, {});", self.path(id, member))
    }

    fn unread(&self, id: DefinitionId, member: &str) -> String {
        format!("return tw_cdr_unread(r, {});", self.path(id, member))
    }

    fn encode_member(&mut self, of: DefinitionId, member: &Member, kind: Extensibility, key: bool) {
        let fail = self.unwritten(of, &member.name);
        let (codec, value) = (self.member_codec(member), place(member));
        let (id, must) = (member.id, member.must_understand);
        let call = match (kind, member.optional) {
            (Extensibility::Mutable, optional) => {
                let code = length_code(self.model, &member.ty);
                let (there, value) = match optional {
                    true => (format!("{value} && "), format!("*{value}")),
                    false => (String::new(), value),
                };
                format!("{there}!write_member<{codec}, {key}>(w, {id}, {must}, {code}, {value})")
            }
            (_, true) => format!("!write_optional<{codec}, {key}>(w, {id}, {must}, {value})"),
            _ => format!("!{codec}::write<{key}>(w, {value})"),
        };
        self.functions.when(&call, &fail);
    }

    fn decode_struct(
        &mut self,
        id: DefinitionId,
        of: &'m Struct,
        members: &[&'m Member],
        key: bool,
    ) {
        let kind = extensibility(of.extensibility);
        self.begin(id, "decode", key);
        if members.is_empty() {
            self.functions.line("(void)v;");
        }
        self.functions.line("tw_cdr_scope scope;");
        self.functions.when(
            &format!("!tw_cdr_enter_struct(r, {kind}, &scope)"),
            "return false;",
        );
        if of.extensibility == Extensibility::Mutable {
            self.decode_mutable(id, members, key);
        } else {
            for (part, alignment, size) in parts(self.model, members, of.extensibility) {
                match part {
                    [member] => self.decode_member(id, member, of.extensibility, key),
                    _ => self.decode_run(id, part, alignment, size, of.extensibility),
                }
            }
        }
        self.functions.line("tw_cdr_leave_struct(r, &scope);");
        // Of what is not all of its key, that is read alone.
        if !key {
            for member in non_serialized(self.model, of) {
                let reset = self.reset(member);
                self.functions.line(&reset);
            }
        }
        self.functions.line("return true;");
        self.functions.close("}");
    }

    fn decode_mutable(&mut self, of: DefinitionId, members: &[&'m Member], key: bool) {
        self.functions.line("tw_cdr_member member;");
        self.functions
            .line(&format!("bool seen[{}] = {{}};", members.len()));
        self.functions
            .open("while (tw_cdr_next_member(r, &scope, &member)) {");
        self.functions.open("switch (member.id) {");
        for (index, member) in members.iter().enumerate() {
            self.functions.label(&format!("case {}:", member.id));
            self.functions.line(&format!("seen[{index}] = true;"));
            self.decode_present(of, member, key);
            self.functions.line("break;");
        }
        let text = &mut self.functions;
        text.label("default:");
        text.when("!tw_cdr_skip_unknown(r, &member)", "return false;");
        text.line("break;");
        text.close("}");
        text.line("tw_cdr_leave_member(r, &member);");
        text.close("}");
        text.when("r->status != TW_CDR_OK", "return false;");
        for (index, member) in members.iter().enumerate() {
            let reset = self.reset(member);
            self.functions.when(&format!("!seen[{index}]"), &reset);
        }
    }

    /// A statement that makes a member what it begins with.
    fn reset(&self, member: &Member) -> String {
        let value = place(member);
        match (&member.default, member.optional) {
            (_, true) => format!("{value}.reset();"),
            (Some(default), _) if member.external => {
                let (ty, default) = (self.member_type(member), self.value(default, &member.ty));
                format!("{value} = {ty}({default});")
            }
            (Some(default), _) => format!("{value} = {};", self.value(default, &member.ty)),
            _ => format!("{}::reset({value});", self.member_codec(member)),
        }
    }

    fn decode_present(&mut self, of: DefinitionId, member: &Member, key: bool) {
        if member.try_construct != TryConstruct::UseDefault {
            return self.decode_there(of, member, key);
        }
        self.functions.open("{");
        self.functions
            .line("const bool outer = tw_cdr_begin_try(r);");
        self.decode_there(of, member, key);
        let reset = self.reset(member);
        self.functions.when("tw_cdr_end_try(r, outer)", &reset);
        self.functions.close("}");
    }

    fn decode_there(&mut self, of: DefinitionId, member: &Member, key: bool) {
        let (codec, cut) = self.reading_codec(member);
        let value = place(member);
        let fail = self.unread(of, &member.name);
        let call = match member.optional {
            true => format!("!read_present<{codec}, {key}>(r, {value})"),
            false => format!("!{codec}::read<{key}>(r, {value})"),
        };
        self.functions.when(&call, &fail);
        if let Some(bound) = cut {
            let star = if member.optional { "*" } else { "" };
            let star = format!("{star}{}", if member.external { "*" } else { "" });
            self.functions
                .line(&format!("trim({star}{value}, {bound});"));
        }
    }

    /// The codec by which a member is read, and what it is cut to after that.
    fn reading_codec(&self, member: &Member) -> (String, Option<u32>) {
        match member.try_construct {
            TryConstruct::Trim => self.trimming_codec(member),
            _ => (self.member_codec(member), None),
        }
    }

    /// A member of a struct that is not mutable.
    fn decode_member(&mut self, of: DefinitionId, member: &Member, kind: Extensibility, key: bool) {
        if member.optional {
            return self.decode_optional(of, member, key);
        }
        if kind == Extensibility::Final {
            return self.decode_present(of, member, key);
        }
        self.functions.open("if (tw_cdr_has_member(r, &scope)) {");
        self.decode_present(of, member, key);
        self.functions.turn("} else {");
        let reset = self.reset(member);
        self.functions.line(&reset);
        self.functions.close("}");
    }

    fn decode_optional(&mut self, of: DefinitionId, member: &Member, key: bool) {
        let fail = self.unread(of, &member.name);
        let (codec, cut) = self.reading_codec(member);
        let (value, id) = (place(member), member.id);
        let call = format!("!read_optional<{codec}, {key}>(r, &scope, {id}, {value})");
        let is_tried = member.try_construct == TryConstruct::UseDefault;
        if is_tried {
            self.functions.open("{");
            self.functions
                .line("const bool outer = tw_cdr_begin_try(r);");
        }
        self.functions.when(&call, &fail);
        if let Some(bound) = cut {
            let star = if member.external { "**" } else { "*" };
            let trim = format!("trim({star}{value}, {bound});");
            self.functions.when(&value, &trim);
        }
        if is_tried {
            let reset = self.reset(member);
            self.functions.when("tw_cdr_end_try(r, outer)", &reset);
            self.functions.close("}");
        }
    }

    fn decode_run(
        &mut self,
        id: DefinitionId,
        part: &[&'m Member],
        alignment: usize,
        size: usize,
        of: Extensibility,
    ) {
        self.functions.open("{");
        let is_final = of == Extensibility::Final;
        let function = if is_final { "take" } else { "peek" };
        self.functions.line(&format!(
            "const std::uint8_t *at = tw_cdr_{function}(r, {alignment}, {size});"
        ));
        if is_final {
            let fail = part.first().map(|member| self.unread(id, &member.name));
            self.functions
                .when("at == nullptr", &fail.unwrap_or_default());
        } else {
            self.functions.open("if (at != nullptr) {");
        }
        let mut offset = 0;
        for member in part {
            let codec = self.codec(&member.ty);
            let fail = self.unread(id, &member.name);
            let get = format!("!{codec}::get(r, {}, {})", at(offset), place(member));
            self.functions.when(&get, &fail);
            offset += self.plain_size(member);
        }
        if !is_final {
            self.functions.turn("} else {");
            for member in part {
                self.decode_member(id, member, of, false);
            }
            self.functions.close("}");
        }
        self.functions.close("}");
    }

    pub(super) fn union_codec(&mut self, id: DefinitionId, of: &'m Union) {
        // The member that there is at first; what becomes another one is charged by itself.
        let first = initial_case(of).0.and_then(|case| of.cases.get(case));
        let first: Vec<&Member> = first.iter().map(|case| &case.member).collect();
        let apart = self.apart(&first);
        self.traits_of(id, of.extensibility, None, &apart);
        let here = self.function_namespaces.clone();
        self.enter_functions(&["tickwire".to_owned(), "cdr".to_owned()]);
        for key in [false, true] {
            if !key || self.facts.definition_is_partial(id) {
                self.encode_union(id, of, key);
                self.decode_union(id, of, key);
            }
        }
        self.apart_function(id, &apart);
        self.enter_functions(&here);
    }

    fn encode_union(&mut self, id: DefinitionId, of: &'m Union, key: bool) {
        let kind = extensibility(of.extensibility);
        let codec = self.codec(&of.discriminator);
        self.begin(id, "encode", key);
        let fail = self.unwritten(id, "discriminator");
        let text = &mut self.functions;
        text.line("tw_cdr_mark mark;");
        text.when(
            &format!("!tw_cdr_open_struct(w, {kind}, &mark)"),
            "return false;",
        );
        let call = match of.extensibility {
            Extensibility::Mutable => {
                let code = length_code(self.model, &of.discriminator);
                format!("!write_member<{codec}, {key}>(w, 0, true, {code}, v._d())")
            }
            _ => format!("!{codec}::write<{key}>(w, v._d())"),
        };
        text.when(&call, &fail);
        if !(key && of.discriminator_key) {
            self.open_switch(of, "v._d()");
            for case in &of.cases {
                self.labels(case);
                self.encode_member(id, &case.member, of.extensibility, key);
                self.functions.line("break;");
            }
            if !of.cases.iter().any(|case| case.default) {
                self.functions.label("default:");
                self.functions.line("break;");
            }
            self.functions.close("}");
        }
        self.functions
            .line(&format!("return tw_cdr_close_struct(w, {kind}, &mark);"));
        self.functions.close("}");
    }

    fn decode_union(&mut self, id: DefinitionId, of: &'m Union, key: bool) {
        let kind = extensibility(of.extensibility);
        let is_mutable = of.extensibility == Extensibility::Mutable;
        let codec = self.codec(&of.discriminator);
        let discriminator = self.ty(&of.discriminator);
        let by_enum = matches!(
            crate::c::facts::kind(self.model, &of.discriminator),
            Kind::Enum(..)
        );
        self.begin(id, "decode", key);
        let fail = self.unread(id, "discriminator");
        let text = &mut self.functions;
        text.line("tw_cdr_scope scope;");
        text.line(&format!("{discriminator} d{{}};"));
        if is_mutable {
            text.line("tw_cdr_member member;");
        }
        text.when(
            &format!("!tw_cdr_enter_struct(r, {kind}, &scope)"),
            "return false;",
        );
        if is_mutable {
            text.when("!tw_cdr_enter_discriminator(r, &scope, &member)", &fail);
        }
        // Of a literal that is not known it is not known either what follows.
        if by_enum {
            text.line("const bool tried = tw_cdr_begin_try(r);");
        }
        text.when(&format!("!{codec}::read<{key}>(r, d)"), &fail);
        if is_mutable {
            text.line("tw_cdr_leave_member(r, &member);");
        }
        if by_enum {
            let unread = fail.trim_start_matches("return ");
            let skip = format!("return tw_cdr_skip_union(r, {kind}, &scope) || {unread}");
            text.when("tw_cdr_end_try(r, tried)", &skip);
        }
        self.charge_case(of);
        self.functions.line("v._d(d);");
        let skip = "!tw_cdr_skip_members(r, &scope)";
        if key && of.discriminator_key {
            if is_mutable {
                self.functions.when(skip, "return false;");
            }
        } else {
            self.open_switch(of, "d");
            for case in &of.cases {
                self.labels(case);
                match is_mutable {
                    true => self.decode_case(id, &case.member, key),
                    false => self.decode_present(id, &case.member, key),
                }
                self.functions.line("break;");
            }
            if !of.cases.iter().any(|case| case.default) {
                self.functions.label("default:");
                if is_mutable {
                    self.functions.when(skip, "return false;");
                }
                self.functions.line("break;");
            }
            self.functions.close("}");
        }
        self.functions.line("tw_cdr_leave_struct(r, &scope);");
        self.functions.line("return true;");
        self.functions.close("}");
    }

    /// Charges the memory that a union takes elsewhere when the discriminator `d` chooses a member.
    fn charge_case(&mut self, of: &'m Union) {
        let is_charged = |case: &Case| !self.apart(&[&case.member]).is_empty();
        let charged: Vec<bool> = of.cases.iter().map(is_charged).collect();
        if !charged.contains(&true) {
            return;
        }
        self.open_switch(of, "d");
        for (case, is_charged) in of.cases.iter().zip(charged) {
            self.labels(case);
            if is_charged {
                let codec = self.member_codec(&case.member);
                self.functions.when(
                    &format!("!tw_cdr_charge(r, 1, {codec}::apart())"),
                    "return false;",
                );
            }
            self.functions.line("break;");
        }
        if !of.cases.iter().any(|case| case.default) {
            self.functions.label("default:");
            self.functions.line("break;");
        }
        self.functions.close("}");
    }

    /// The member of a mutable union, which may be missing.
    fn decode_case(&mut self, of: DefinitionId, member: &Member, key: bool) {
        self.functions.open("{");
        self.functions.line("bool found = false;");
        self.functions
            .open("while (tw_cdr_next_member(r, &scope, &member)) {");
        self.functions
            .open(&format!("if (member.id == {}) {{", member.id));
        self.functions.line("found = true;");
        self.decode_present(of, member, key);
        self.functions
            .turn("} else if (!tw_cdr_skip_unknown(r, &member)) {");
        let text = &mut self.functions;
        text.line("return false;");
        text.close("}");
        text.line("tw_cdr_leave_member(r, &member);");
        text.close("}");
        text.when("r->status != TW_CDR_OK", "return false;");
        let reset = self.reset(member);
        self.functions.when("!found", &reset);
        self.functions.close("}");
    }
}

/// Where a member of `v` is.
fn place(member: &Member) -> String {
    format!("v.{}()", names::identifier(&member.name))
}

fn at(offset: usize) -> String {
    match offset {
        0 => "at".to_owned(),
        offset => format!("at + {offset}"),
    }
}

fn extensibility(extensibility: Extensibility) -> &'static str {
    match extensibility {
        Extensibility::Final => "TW_CDR_FINAL",
        Extensibility::Appendable => "TW_CDR_APPENDABLE",
        Extensibility::Mutable => "TW_CDR_MUTABLE",
    }
}
