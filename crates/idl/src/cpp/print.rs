//! What `<<` of `std::ostream` shows, by `tickwire/print.hpp`. Templates, so that headers of IDL need no `<ostream>`, and
//! that a program's own `<<` for a type comes before ours.

use super::{Cpp, names};
use crate::c::text::{Text, literal};
use crate::model::{Definition, Enum, Member, Union};

impl<'m> Cpp<'m> {
    pub(super) fn print_enum(&mut self, definition: &Definition, of: &Enum) {
        let full_name = names::qualified(self.model, definition);
        let text = &mut self.text;
        open(text, &full_name, "v");
        text.open("switch (v) {");
        for it in &of.literals {
            let name = names::identifier(&it.name);
            text.label(&format!("case {full_name}::{name}:"));
            text.line(&format!("return out << {};", literal(&it.name)));
        }
        text.close("}");
        text.line("return out << static_cast<std::int32_t>(v);");
        text.close("}");
    }

    /// `[_d: 1, limit: 101.25]`
    pub(super) fn print_union(&mut self, full_name: &str, of: &'m Union) {
        open(&mut self.functions, full_name, "v");
        print(&mut self.functions, "[", "_d", "v._d()");
        self.open_switch(of, "v._d()");
        for case in &of.cases {
            self.labels(case);
            let text = &mut self.functions;
            print(text, ", ", &case.member.name, &value(&case.member));
            text.line("break;");
        }
        let text = &mut self.functions;
        if !of.cases.iter().any(|case| case.default) {
            text.label("default:");
            text.line("break;");
        }
        text.close("}");
        text.line("return out << \"]\";");
        text.close("}");
    }
}

/// `[symbol: "ESZ6", price: 101.25]`, of members and how they are read.
pub(super) fn print_members(text: &mut Text, full_name: &str, members: &[(&str, String)]) {
    open(text, full_name, if members.is_empty() { "" } else { "v" });
    let mut before = "[";
    for (name, value) in members {
        print(text, before, name, value);
        before = ", ";
    }
    let end = if members.is_empty() { "[]" } else { "]" };
    text.line(&format!("return out << \"{end}\";"));
    text.close("}");
}

/// How a member of `v` is read.
pub(super) fn value(member: &Member) -> String {
    format!("v.{}()", names::identifier(&member.name))
}

fn open(text: &mut Text, full_name: &str, parameter: &str) {
    text.line("");
    text.line("template <class Traits>");
    text.open(&format!(
        "std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, const {full_name} &{parameter}) {{"
    ));
}

fn print(text: &mut Text, before: &str, name: &str, value: &str) {
    let shown = literal(&format!("{before}{name}: "));
    text.line(&format!("::tickwire::cdr::print(out << {shown}, {value});"));
}
