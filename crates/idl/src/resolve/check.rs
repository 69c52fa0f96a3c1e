//! Types whose values would have no end.

use super::Resolver;
use crate::model::{DefinitionId, DefinitionKind, Member, Type, Union};

impl Resolver<'_> {
    /// Tells types of which every value contains another one: through members that are always there,
    /// whether or not they are external, and of unions the member that a value has at first.
    pub(super) fn check_endless(&mut self) {
        let count = self.model.definitions.len();
        let mut state = vec![State::New; count];
        for index in 0..count {
            // Types that are being looked at, each with those in it that are not.
            let mut open: Vec<(usize, Vec<DefinitionId>)> = Vec::new();
            if state[index] == State::New {
                state[index] = State::Open;
                open.push((index, self.always_in(index)));
            }
            while let Some((of, rest)) = open.last_mut() {
                let Some(next) = rest.pop() else {
                    state[*of] = State::Done;
                    open.pop();
                    continue;
                };
                let next = next.0 as usize;
                match state[next] {
                    State::New => {
                        state[next] = State::Open;
                        let inner = self.always_in(next);
                        open.push((next, inner));
                    }
                    State::Open => {
                        let name = &self.model.definitions[next].name;
                        let message = format!("every value of `{name}` contains another one");
                        let span = self.spans[next];
                        self.context.error(span, message).help(
                            "make a member on the way @optional, a sequence, or of a union not the \
                             first case",
                        );
                    }
                    State::Done => {}
                }
            }
        }
    }

    /// The types that a value of this one always contains.
    fn always_in(&self, index: usize) -> Vec<DefinitionId> {
        let mut found = Vec::new();
        match &self.model.definitions[index].kind {
            DefinitionKind::Struct(of) => {
                found.extend(of.base);
                let members = of.members.iter().filter(|member| !member.optional);
                members.for_each(|member| self.add_named(&member.ty, &mut found));
            }
            DefinitionKind::Union(of) => {
                if let Some(member) = first_member(of) {
                    self.add_named(&member.ty, &mut found);
                }
            }
            _ => {}
        }
        found
    }

    fn add_named(&self, ty: &Type, found: &mut Vec<DefinitionId>) {
        match self.model.resolve(ty) {
            Type::Named(id) => found.push(*id),
            Type::Array { element, .. } => self.add_named(element, found),
            _ => {}
        }
    }
}

/// The member that a union has until another one is chosen: the default, or the first.
fn first_member(of: &Union) -> Option<&Member> {
    let default = of.cases.iter().find(|case| case.default);
    match (default, &of.unlabelled) {
        (Some(default), _) => Some(&default.member),
        (None, Some(_)) => None,
        (None, None) => of.cases.first().map(|case| &case.member),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}
