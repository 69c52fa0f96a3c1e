//! Definitions so that each comes after what it needs.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::members_of;
use crate::model::{DefinitionId, DefinitionKind, Model, Type};

/// What a definition needs.
#[derive(Default)]
struct Needs {
    /// To be complete before.
    complete: Vec<DefinitionId>,
    /// To be there at all.
    declared: Vec<DefinitionId>,
}

/// These definitions and whatever they need, in order; or one that contains itself in a way that has
/// no such order.
pub(crate) fn order(
    model: &Model,
    roots: impl IntoIterator<Item = DefinitionId>,
) -> Result<Vec<DefinitionId>, DefinitionId> {
    let mut order = Vec::new();
    let mut done: BTreeMap<DefinitionId, bool> = BTreeMap::new();
    // What is only declared is looked at last.
    let mut later: BTreeSet<DefinitionId> = BTreeSet::new();
    let mut roots: Vec<DefinitionId> = roots.into_iter().collect();
    loop {
        for root in roots {
            let mut open = vec![(root, None::<Vec<DefinitionId>>)];
            while let Some((id, rest)) = open.last_mut() {
                let id = *id;
                let Some(rest) = rest else {
                    match done.get(&id) {
                        Some(true) => {
                            open.pop();
                        }
                        Some(false) => return Err(id),
                        None => {
                            done.insert(id, false);
                            let mut needs = needs(model, id);
                            needs.complete.reverse();
                            later.extend(needs.declared);
                            *rest = Some(needs.complete);
                        }
                    }
                    continue;
                };
                match rest.pop() {
                    Some(next) => open.push((next, None)),
                    None => {
                        done.insert(id, true);
                        order.push(id);
                        open.pop();
                    }
                }
            }
        }
        later.retain(|id| !done.contains_key(id));
        if later.is_empty() {
            return Ok(order);
        }
        roots = std::mem::take(&mut later).into_iter().collect();
    }
}

fn needs(model: &Model, id: DefinitionId) -> Needs {
    let mut needs = Needs::default();
    let kind = &model.definition(id).kind;
    match kind {
        DefinitionKind::Typedef(ty) => needs.add(model, ty, true),
        DefinitionKind::Const(ty, _) => needs.add(model, ty, true),
        DefinitionKind::Union(of) => needs.add(model, &of.discriminator, true),
        _ => {}
    }
    for member in members_of(model, kind) {
        // In IDL what is optional is complete, too.
        needs.add(model, &member.ty, !member.external);
    }
    needs
}

impl Needs {
    /// Adds what a type needs, which is `inline` where a value of it is a part of another one.
    fn add(&mut self, model: &Model, ty: &Type, inline: bool) {
        match ty {
            Type::Named(id) => match &model.definition(*id).kind {
                DefinitionKind::Struct(_) | DefinitionKind::Union(_) => match inline {
                    true => self.complete.push(*id),
                    false => self.declared.push(*id),
                },
                DefinitionKind::Typedef(of) => {
                    self.complete.push(*id);
                    self.add(model, of, inline);
                }
                _ => self.complete.push(*id),
            },
            Type::Sequence { element, .. } => self.add(model, element, false),
            // C has no pointer to an array of what is not complete.
            Type::Array { element, .. } => self.add(model, element, true),
            Type::Map { key, value, .. } => {
                self.add(model, key, false);
                self.add(model, value, false);
            }
            Type::Primitive(_) | Type::String { .. } | Type::WString { .. } => {}
        }
    }
}
