//! The members that a filter compares: where they are in a type, and taking their values out of a
//! payload.

use alloc::vec::Vec;

use super::held::{Held, Slot};
use crate::dynamic::{self, Form, Value, Visitor};
use crate::{Member, TypeDescription, UnionDescription};

/// The wanted members as a tree, whose first node is the sample.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    description: TypeDescription,
    nodes: Vec<Node>,
    /// Where the walk is; empty between two of them.
    frames: Vec<Frame>,
}

/// A place on the way to a wanted member, or the member.
#[derive(Clone, Debug, Default)]
struct Node {
    children: Vec<(Step, usize)>,
    wanted: Option<(usize, Part)>,
}

/// From a value to a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// To the member with this id.
    Member(u32),
    /// To the element with this index.
    Element(usize),
}

/// What of a slot a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Whole,
    /// Of a decimal, the first member.
    Mantissa,
    /// Of a decimal, the second; it comes last and makes the slot present.
    Exponent,
}

impl Paths {
    pub(super) fn new(description: TypeDescription) -> Self {
        Self {
            description,
            nodes: Vec::from([Node::default()]),
            frames: Vec::new(),
        }
    }

    /// Notes that the value at the end of `steps` goes into `slot`; if it already goes elsewhere,
    /// gives that slot.
    pub(super) fn want(&mut self, steps: &[Step], slot: usize, part: Part) -> usize {
        let mut at = 0;
        for &step in steps {
            let next = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else {
                return slot;
            };
            at = match child(node, step) {
                Some(existing) => existing,
                None => {
                    node.children.push((step, next));
                    self.nodes.push(Node::default());
                    next
                }
            };
        }
        match self.nodes.get_mut(at) {
            Some(node) => node.wanted.get_or_insert((slot, part)).0,
            None => slot,
        }
    }

    /// Puts the wanted values of a payload into their slots.
    pub(super) fn read(
        &mut self,
        payload: &[u8],
        form: Form,
        slots: &mut [Slot],
    ) -> Result<(), dynamic::Error> {
        for slot in slots.iter_mut() {
            slot.is_present = false;
        }
        self.frames.clear();
        let mut walk = Walk {
            nodes: &self.nodes,
            frames: &mut self.frames,
            slots,
        };
        dynamic::visit(&self.description, payload, form, &mut walk)
    }
}

fn child(node: &Node, step: Step) -> Option<usize> {
    let found = node.children.iter().find(|(other, _)| *other == step);
    found.map(|(_, child)| *child)
}

/// A value with parts that the walk is inside of.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Its node, if anything inside of it is wanted.
    node: Option<usize>,
    /// Which part comes next.
    next: Step,
}

struct Walk<'a> {
    nodes: &'a [Node],
    frames: &'a mut Vec<Frame>,
    slots: &'a mut [Slot],
}

impl Walk<'_> {
    /// The node of the value that comes now.
    fn enter(&mut self) -> Option<usize> {
        let Some(frame) = self.frames.last_mut() else {
            return Some(0);
        };
        let step = frame.next;
        if let Step::Element(index) = &mut frame.next {
            *index += 1;
        }
        child(self.nodes.get(frame.node?)?, step)
    }

    fn begin(&mut self, first: Step) {
        let node = self.enter();
        self.frames.push(Frame { node, next: first });
    }

    fn store(&mut self, slot: usize, part: Part, value: Value<'_>) {
        let Some(slot) = self.slots.get_mut(slot) else {
            return;
        };
        match (part, &mut slot.held, value) {
            (Part::Mantissa, Held::Decimal(mantissa, _), Value::Signed(value)) => {
                *mantissa = value;
                return;
            }
            (Part::Exponent, Held::Decimal(_, exponent), Value::Signed(value)) => {
                // What does not fit is beyond all that can be compared with.
                *exponent = i32::try_from(value).unwrap_or(i32::MAX);
            }
            (_, held, value) => held.set(value),
        }
        slot.is_present = true;
    }
}

impl Visitor for Walk<'_> {
    fn begin_struct(&mut self, _: &TypeDescription) {
        self.begin(Step::Member(u32::MAX));
    }

    fn end_struct(&mut self) {
        self.frames.pop();
    }

    /// The discriminator is no member that a filter could name.
    fn begin_union(&mut self, _: &UnionDescription) {
        self.begin(Step::Member(u32::MAX));
    }

    fn end_union(&mut self) {
        self.frames.pop();
    }

    fn member(&mut self, member: &Member) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next = Step::Member(member.id);
        }
    }

    fn begin_sequence(&mut self, _: usize) {
        self.begin(Step::Element(0));
    }

    fn end_sequence(&mut self) {
        self.frames.pop();
    }

    /// Nothing in a map can be named.
    fn begin_map(&mut self, _: usize) {
        self.enter();
        let next = Step::Member(u32::MAX);
        self.frames.push(Frame { node: None, next });
    }

    fn map_key(&mut self) {}

    fn end_map(&mut self) {
        self.frames.pop();
    }

    fn value(&mut self, value: Value<'_>) {
        let node = self.enter().and_then(|node| self.nodes.get(node));
        if let Some((slot, part)) = node.and_then(|node| node.wanted) {
            self.store(slot, part, value);
        }
    }
}
