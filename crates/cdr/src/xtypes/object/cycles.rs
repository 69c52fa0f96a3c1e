//! Which types contain each other, so that none of their identifiers can be had before the others'
//! (XTypes 1.3 §7.3.4.9.1). Knows nothing of objects and hashes.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::Origin;
use crate::{Member, Type};

/// A type that is part of a circle.
pub(super) struct Vertex {
    /// Full name; of a collection, which has none, that of its place: `Node.1.s`.
    pub(super) name: String,
    pub(super) subject: Subject,
    edges: Vec<usize>,
}

pub(super) enum Subject {
    Named(Origin),
    /// In a circle even what is a plain collection elsewhere has an object.
    Collection(Type),
}

/// The circles that a type leads to, each in order of names.
pub(super) fn components(root: &Origin) -> Vec<Vec<Vertex>> {
    let mut graph = Graph {
        vertices: Vec::new(),
    };
    graph.named(root.clone());
    let reached: Vec<Vec<bool>> = (0..graph.vertices.len())
        .map(|from| graph.reached_from(from))
        .collect();
    let reaches = |from: usize, to: usize| {
        let reached: Option<&Vec<bool>> = reached.get(from);
        reached.and_then(|reached| reached.get(to)) == Some(&true)
    };
    let mut components: Vec<(usize, Vec<Vertex>)> = Vec::new();
    for (index, vertex) in graph.vertices.into_iter().enumerate() {
        let mut known = components.iter_mut();
        match known.find(|(of, _)| reaches(*of, index) && reaches(index, *of)) {
            Some((_, component)) => component.push(vertex),
            None if reaches(index, index) => components.push((index, vec![vertex])),
            None => {}
        }
    }
    let components = components.into_iter().map(|(_, mut component)| {
        component.sort_by(|one, other| one.name.cmp(&other.name));
        component
    });
    components.collect()
}

struct Graph {
    vertices: Vec<Vertex>,
}

impl Graph {
    fn named(&mut self, origin: Origin) -> Option<usize> {
        let is_known = |vertex: &Vertex| match &vertex.subject {
            Subject::Named(other) => other.same(&origin),
            Subject::Collection(_) => false,
        };
        if let Some(known) = self.vertices.iter().position(is_known) {
            return Some(known);
        }
        let members: Vec<Member> = match &origin {
            Origin::Struct(of) => of.members.to_vec(),
            Origin::Union(of) => of.cases.iter().map(|case| case.member.clone()).collect(),
            Origin::Enum(_) | Origin::Bitmask(_) | Origin::Bitset(_) => return None,
        };
        let name = String::from(origin.name());
        let own = self.vertices.len();
        self.vertices.push(Vertex {
            name: name.clone(),
            subject: Subject::Named(origin),
            edges: Vec::new(),
        });
        for member in &members {
            let to = self.ty(&member.ty, place(&name, member.id));
            if let Some(vertex) = self.vertices.get_mut(own) {
                vertex.edges.extend(to);
            }
        }
        Some(own)
    }

    fn ty(&mut self, ty: &Type, place: String) -> Option<usize> {
        let inner = match ty {
            Type::Recursive(link) => return self.ty(&link.target()?, place),
            Type::Sequence { element, .. } => element,
            Type::Array { .. } => ty.innermost(),
            Type::Map { value, .. } => value,
            other => return self.named(Origin::of(other)?),
        };
        let name = collection_place(ty, &place);
        let to = self.ty(inner, name.clone())?;
        self.vertices.push(Vertex {
            name,
            subject: Subject::Collection(ty.clone()),
            edges: vec![to],
        });
        Some(self.vertices.len() - 1)
    }

    /// Whether each vertex can be reached by one step at least.
    fn reached_from(&self, from: usize) -> Vec<bool> {
        let mut reached = vec![false; self.vertices.len()];
        let mut next = vec![from];
        while let Some(vertex) = next.pop() {
            let edges = self.vertices.get(vertex).map(|vertex| &vertex.edges);
            for &to in edges.into_iter().flatten() {
                if let Some(reached) = reached.get_mut(to).filter(|reached| !**reached) {
                    *reached = true;
                    next.push(to);
                }
            }
        }
        reached
    }
}

/// Where a member is.
pub(super) fn place(of: &str, member: u32) -> String {
    format!("{of}.{member}")
}

/// What a collection in that place is called.
pub(super) fn collection_place(ty: &Type, place: &str) -> String {
    match ty {
        Type::Sequence { .. } => format!("{place}.s"),
        Type::Array { .. } => format!("{place}.a"),
        _ => format!("{place}.m"),
    }
}
