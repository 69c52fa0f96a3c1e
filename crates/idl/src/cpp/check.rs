//! What C++ cannot have.

use std::collections::BTreeSet;

use super::{Cpp, Refused, names};
use crate::c::facts::{bitset_fields, members_of};
use crate::diagnostic::MAX_ERRORS;
use crate::model::{Definition, DefinitionId, DefinitionKind, Position, Primitive, Type, Value};

impl<'m> Cpp<'m> {
    /// Finds all that C++ cannot have, and takes the names of everything.
    pub(super) fn check(&mut self) {
        let model = self.model;
        for (id, definition) in model.definitions() {
            if self.refusals.len() >= MAX_ERRORS {
                return;
            }
            // What was refused is noted, and the rest may be, too.
            let _noted = self.check_definition(id, definition);
        }
    }

    fn check_definition(&mut self, id: DefinitionId, of: &'m Definition) -> Result<(), Refused> {
        if self.hidden.contains(&id) {
            return Ok(());
        }
        let (full_name, position) = (&of.full_name, of.position);
        match &of.kind {
            DefinitionKind::Module(_) | DefinitionKind::Annotation(_) => return Ok(()),
            DefinitionKind::Interface(interface) => {
                return self.check_interface(id, of, interface);
            }
            _ => {}
        }
        let name = names::qualified(self.model, of);
        self.take(id, name.clone())?;
        match &of.kind {
            DefinitionKind::Const(ty, _) | DefinitionKind::Typedef(ty) => {
                self.check_type(ty, position)?;
            }
            DefinitionKind::Enum(of_enum) => {
                let scope = name.rsplit_once("::").map_or("", |(scope, _)| scope);
                for literal in &of_enum.literals {
                    let literal = names::constant(of, &literal.name);
                    self.take(id, format!("{scope}::{literal}"))?;
                }
            }
            DefinitionKind::Bitmask(_) => self.take(id, format!("{name}Bits"))?,
            DefinitionKind::Bitset(of) if bitset_fields(self.model, of).is_empty() => {
                let message = format!("no field of the bitset `{full_name}` has a name");
                return Err(self.refuse(position, message, "name one"));
            }
            _ => {}
        }
        self.known.insert(id);
        self.check_members(id, of)
    }

    pub(super) fn take(&mut self, id: DefinitionId, name: String) -> Result<(), Refused> {
        let Some(other) = self.taken.insert(name.clone(), id) else {
            return Ok(());
        };
        let definition = self.model.definition(id);
        let (position, full_name) = (definition.position, &definition.full_name);
        let other = &self.model.definition(other).full_name;
        let message = match other == full_name {
            true => format!("`{full_name}` would have `{name}` twice in C++"),
            false => format!("`{full_name}` and `{other}` both have `{name}` in C++"),
        };
        Err(self.refuse(position, message, "rename one of them"))
    }

    fn check_members(&mut self, id: DefinitionId, of: &'m Definition) -> Result<(), Refused> {
        let full_name = &of.full_name;
        let mut taken = BTreeSet::new();
        match &of.kind {
            DefinitionKind::Union(of) => {
                taken.extend(["_d", "_d_", "_u_", "_which", "_select"].map(str::to_owned));
                for case in &of.cases {
                    let (position, labels) = (case.member.position, &case.labels);
                    let wide = labels.iter().find_map(|label| match label {
                        Value::Integer(value) => {
                            Some(*value).filter(|it| i32::try_from(*it).is_err())
                        }
                        _ => None,
                    });
                    if let Some(value) = wide {
                        let message = format!("the label {value} has more than 32 bits");
                        let help = "labels of types on the wire are int32: take a smaller one";
                        return Err(self.refuse(position, message, help));
                    }
                }
            }
            DefinitionKind::Struct(of_struct) => {
                let is_exception = self.services.exceptions.contains(&id);
                if is_exception {
                    // Exceptions say what they are.
                    taken.insert("what".to_owned());
                }
                if self.model.all_members(of_struct).is_empty() && !is_exception {
                    let message = format!("the struct `{full_name}` has no members");
                    let help = "add one, such as `octet unused;`";
                    return Err(self.refuse(of.position, message, help));
                }
            }
            _ => return Ok(()),
        }
        let class = names::path(self.model, of).pop().unwrap_or_default();
        for member in members_of(self.model, &of.kind) {
            let name = names::identifier(&member.name);
            if name == class {
                let message = format!("a member of `{full_name}` is called as that is");
                return Err(self.refuse(member.position, message, "rename it"));
            }
            // Structs have the value besides.
            let field = matches!(of.kind, DefinitionKind::Struct(_)).then(|| format!("{name}_"));
            for name in field.into_iter().chain([name]) {
                if !taken.insert(name.clone()) {
                    let message = format!("two members of `{full_name}` have `{name}` in C++");
                    return Err(self.refuse(member.position, message, "rename one of them"));
                }
            }
            self.check_type(&member.ty, member.type_position)?;
        }
        Ok(())
    }

    pub(super) fn check_type(&mut self, ty: &Type, position: Position) -> Result<(), Refused> {
        match ty {
            Type::Primitive(Primitive::LongDouble) => {
                let message = "`long double` has no encoding here";
                Err(self.refuse(position, message, "take `double`"))
            }
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                self.check_type(element, position)
            }
            Type::Map { key, value, .. } => {
                self.check_type(key, position)?;
                self.check_type(value, position)
            }
            _ => Ok(()),
        }
    }
}
