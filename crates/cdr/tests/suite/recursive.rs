//! Types that contain themselves, or each other.

#![allow(
    clippy::use_self,
    reason = "types are to be able to name themselves both ways"
)]

use tickwire_cdr::dynamic::{Form, Omissions, from_json, key_hash, to_json};
use tickwire_cdr::xtypes::{
    Component, Consistency, DescribeError, EquivalenceKind, Question, Reply, Request,
    RequestIdentity, TypeId, TypeInformation, TypeObjects, check_assignable,
};
use tickwire_cdr::{
    Decode, DecodeErrorKind, EncodeErrorKind, KeyScratch, Representation, Topic, Type,
    TypeDescription, from_payload_into, to_payload,
};

#[derive(Topic, Debug, Clone, PartialEq)]
#[topic(name = "rec::Node", crate = tickwire_cdr)]
struct Node {
    #[topic(key)]
    name: String,
    children: Vec<Self>,
}

#[derive(Topic, Debug, Clone, PartialEq)]
#[topic(name = "rec::Chain", mutable, crate = tickwire_cdr)]
struct Chain {
    value: i32,
    next: Option<Box<Chain>>,
}

#[derive(Topic, Debug, Clone, PartialEq)]
#[topic(name = "rec::Expression", final, crate = tickwire_cdr)]
enum Expression {
    Number(f64),
    Negative(Box<Expression>),
    Call(Call),
}

#[derive(Topic, Debug, Clone, PartialEq)]
#[topic(name = "rec::Call", final, crate = tickwire_cdr)]
struct Call {
    name: String,
    arguments: Vec<Vec<Expression>>,
    pair: Vec<[Expression; 2]>,
}

/// Contains types that contain each other, but not the other way round.
#[derive(Topic, Debug, Clone, PartialEq)]
#[topic(name = "rec::Rule", crate = tickwire_cdr)]
struct Rule {
    #[topic(key)]
    id: u32,
    left: Expression,
    right: Expression,
    tree: Node,
}

fn node(depth: usize) -> Node {
    Node {
        name: format!("{depth}"),
        children: match depth {
            0 => vec![],
            _ => vec![node(depth - 1), node(0)],
        },
    }
}

fn rule() -> Rule {
    let two = || Expression::Negative(Box::new(Expression::Number(2.0)));
    let call = Call {
        name: "max".into(),
        arguments: vec![vec![two(), two()], vec![]],
        pair: vec![[two(), two()]],
    };
    Rule {
        id: 7,
        left: Expression::Call(call),
        right: two(),
        tree: node(3),
    }
}

fn returns<T: Topic + Clone + PartialEq + std::fmt::Debug>(value: &T) {
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let mut payload = Vec::new();
        to_payload(value, representation, &mut payload).unwrap();
        let mut again = T::initial();
        from_payload_into(&payload, &mut again).unwrap();
        assert_eq!(&again, value);
        for description in [T::DESCRIPTION.clone(), learnt(T::DESCRIPTION)] {
            let mut json = String::new();
            to_json(&description, &payload, Form::Sample, &mut json).unwrap();
            let mut written = Vec::new();
            let refused = Omissions::Refused;
            from_json(&description, &json, refused, representation, &mut written).unwrap();
            assert_eq!(written, payload, "{json}");
            let hash = |of: &TypeDescription| {
                let mut scratch = KeyScratch::default();
                key_hash(of, &payload, Form::Sample, representation, &mut scratch).unwrap()
            };
            assert_eq!(hash(&description), hash(T::DESCRIPTION));
        }
    }
}

fn objects_of(description: &TypeDescription) -> (TypeInformation, TypeObjects) {
    let mut objects = TypeObjects::new();
    let information = objects.add(description).unwrap();
    (information, objects)
}

fn complete_of(description: &TypeDescription) -> TypeId {
    objects_of(description).0.complete.unwrap().id
}

/// All that a peer tells of a type.
fn reply_of(information: &TypeInformation, objects: &TypeObjects) -> Vec<u8> {
    let complete = information.complete.as_ref().unwrap();
    let dependencies = complete.dependencies.iter().map(|(id, _)| *id);
    let identity = RequestIdentity {
        writer: [1; 16],
        sequence_number: 1,
    };
    let request = Request {
        identity,
        instance: String::new(),
        question: Question::Types,
        types: dependencies.chain([complete.id]).collect(),
    };
    let mut asked = Vec::new();
    request.encode(&mut asked).unwrap();
    let request = Request::parse(&asked).unwrap().unwrap();
    let mut payload = Vec::new();
    request.answer(objects, &mut payload).unwrap();
    payload
}

/// The type as a peer knows it that had nothing but the objects.
fn learnt(description: &TypeDescription) -> TypeDescription {
    let (information, objects) = objects_of(description);
    let mut announced = Vec::new();
    information.encode(&mut announced).unwrap();
    let order = tickwire_cdr::ByteOrder::Little;
    assert_eq!(
        TypeInformation::parse(&announced, order).as_ref(),
        Ok(&information)
    );
    let payload = reply_of(&information, &objects);
    let reply = Reply::parse(&payload).unwrap().unwrap();
    let mut known = TypeObjects::new();
    let right = reply.right_objects();
    assert_eq!(right.len(), reply.objects.len());
    for (id, object) in right {
        known.insert_part(id, object);
    }
    known.describe(information.complete.unwrap().id).unwrap()
}

#[test]
fn values_return() {
    returns(&node(4));
    returns(&rule());
    returns(&Chain {
        value: 1,
        next: Some(Box::new(Chain {
            value: 2,
            next: None,
        })),
    });
}

#[test]
fn a_type_that_is_learnt_is_the_same_type() {
    for description in [Node::DESCRIPTION, Chain::DESCRIPTION, Rule::DESCRIPTION] {
        let learnt = learnt(description);
        assert_eq!(complete_of(&learnt), complete_of(description));
        let consistency = Consistency::default();
        assert_eq!(check_assignable(description, &learnt, consistency), Ok(()));
        assert_eq!(check_assignable(&learnt, description, consistency), Ok(()));
        assert_eq!(check_assignable(&learnt, &learnt, consistency), Ok(()));
        assert_eq!(learnt, learnt.clone());
        assert_eq!(&learnt, description);
        assert_eq!(learnt, self::learnt(description));
        assert!(format!("{learnt:?}").contains("rec::"));
    }
}

#[test]
fn types_of_a_circle_are_numbered_in_order_of_their_names() {
    let (information, objects) = objects_of(Node::DESCRIPTION);
    let complete = information.complete.unwrap();
    let component = complete.id.component.unwrap();
    // `rec::Node` comes before its member's collection, `rec::Node.1.s`.
    assert_eq!((component.length, component.index), (2, 1));
    let [(collection, _)] = complete.dependencies[..] else {
        panic!("{:?}", complete.dependencies);
    };
    assert_eq!(collection.component.unwrap().index, 2);
    assert_eq!(collection.hash, complete.id.hash);
    assert_eq!(objects.dependencies_of(complete.id), complete.dependencies);
    assert_eq!(
        objects.minimal_of(complete.id),
        Some(information.minimal.unwrap().id)
    );
    // By a reference alone, a type is the only one of its circle.
    let chain = complete_of(Chain::DESCRIPTION).component.unwrap();
    assert_eq!((chain.length, chain.index), (1, 1));
    // What only contains circles is known by a hash of its own.
    assert_eq!(complete_of(Rule::DESCRIPTION).component, None);
}

#[test]
fn a_part_of_another_circle_is_not_believed() {
    let (information, objects) = objects_of(Node::DESCRIPTION);
    let payload = reply_of(&information, &objects);
    let reply = Reply::parse(&payload).unwrap().unwrap();
    let id = information.complete.unwrap().id;
    let (_, object) = *reply
        .objects
        .iter()
        .find(|(other, _)| *other == id)
        .unwrap();
    let mut changed = object.to_vec();
    let name = changed.windows(4).position(|four| four == b"Node").unwrap();
    changed[name] = b'M';
    let mut forged = reply.clone();
    for part in &mut forged.objects {
        if part.0 == id {
            part.1 = &changed;
        }
    }
    assert_eq!(forged.right_objects(), []);
    // Twice, of which one is right: only that is believed.
    forged.objects.extend(&reply.objects);
    let mut right = forged.right_objects();
    right.sort_unstable();
    let mut expected = reply.objects.clone();
    expected.sort_unstable();
    assert_eq!(right, expected);
    let mut alone = reply.clone();
    alone.objects.retain(|(other, _)| *other == id);
    assert_eq!(alone.right_objects(), []);
    let mut known = TypeObjects::new();
    known.insert_part(id, object);
    let missing = known.describe(id).unwrap_err();
    assert!(matches!(missing, DescribeError::Missing(part) if part != id));
}

/// A type like `Node`, but for one member.
#[derive(Topic, Debug, Clone, PartialEq)]
#[topic(name = "rec::Node", crate = tickwire_cdr)]
struct OtherNode {
    #[topic(key)]
    name: String,
    children: Vec<OtherNode>,
    size: u16,
}

/// The same type as `Node` to everyone but the compiler.
#[derive(Topic, Debug, Clone, PartialEq)]
#[topic(name = "rec::Node", crate = tickwire_cdr)]
struct SameNode {
    #[topic(key)]
    name: String,
    children: Vec<SameNode>,
}

#[test]
fn comparing_ends_and_finds_what_differs() {
    let consistency = Consistency::default();
    let (one, other) = (Node::DESCRIPTION, OtherNode::DESCRIPTION);
    assert_eq!(check_assignable(one, other, consistency), Ok(()));
    let strict = Consistency {
        prevent_type_widening: true,
        ..consistency
    };
    for (one, other) in [
        (other.clone(), one.clone()),
        (learnt(other), learnt(one)),
        (other.clone(), learnt(one)),
    ] {
        let reasons = check_assignable(&one, &other, strict).unwrap_err();
        let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
        let reason = "the writer does not have it, but the reader prevents type widening";
        let places = ["rec::Node.children[].size", "rec::Node.size"];
        assert_eq!(reasons, places.map(|place| format!("`{place}`: {reason}")));
    }
    assert_ne!(complete_of(one), complete_of(other));
    assert_ne!(one, other);
    assert_ne!(learnt(one), learnt(other));
    // One of the program, another of the program, one learnt: the same three times.
    assert_eq!(one, SameNode::DESCRIPTION);
    assert_eq!(&learnt(one), SameNode::DESCRIPTION);
}

#[test]
fn values_that_nest_too_deeply_are_refused() {
    // 1000 nodes, each the only child of the one before, in XCDR1: name "", one child.
    let mut payload = vec![0, 1, 0, 0];
    for _ in 0..1_000 {
        payload.extend([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    }
    payload.extend([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let error = from_payload_into(&payload, &mut Node::initial()).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::TooDeep);
    let error = to_json(
        Node::DESCRIPTION,
        &payload,
        Form::Sample,
        &mut String::new(),
    );
    assert_eq!(error.unwrap_err().error.kind, DecodeErrorKind::TooDeep);
    // What would not be read is not written.
    let chain = |depth| {
        (0..depth).fold(
            Node {
                name: String::new(),
                children: vec![],
            },
            |inner, _| Node {
                name: String::new(),
                children: vec![inner],
            },
        )
    };
    for (depth, fits) in [(64, true), (65, false), (300, false)] {
        for representation in [Representation::Xcdr1, Representation::Xcdr2] {
            let mut payload = Vec::new();
            let written = to_payload(&chain(depth), representation, &mut payload);
            match fits {
                true => from_payload_into(&payload, &mut Node::initial()).unwrap(),
                false => assert_eq!(written.unwrap_err().kind, EncodeErrorKind::TooDeep),
            }
        }
    }
    let json = format!(
        "{}{}",
        r#"{"name":"","children":["#.repeat(70),
        "]}".repeat(70)
    );
    let refused = Omissions::Refused;
    from_json(
        Node::DESCRIPTION,
        &json,
        refused,
        Representation::Xcdr2,
        &mut vec![],
    )
    .unwrap_err();
}

#[test]
fn a_part_of_a_learnt_type_lives_no_longer_than_the_type() {
    let description = learnt(Node::DESCRIPTION);
    let Type::Sequence { element, .. } = &description.members[1].ty else {
        panic!("{description:?}");
    };
    let Type::Struct(inside) = &**element else {
        panic!("{description:?}");
    };
    let link = inside.members[1].ty.clone();
    assert_eq!(link.to_string(), "sequence<struct rec::Node>");
    drop(description);
    assert_eq!(link.to_string(), "sequence<recursive type>");
}

/// A part of an object with its length before it.
fn delimited(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    out.resize(out.len().next_multiple_of(4), 0);
    let begin = out.len() + 4;
    out.extend([0; 4]);
    fill(out);
    let len = u32::try_from(out.len() - begin).unwrap();
    out[begin - 4..begin].copy_from_slice(&len.to_le_bytes());
}

fn number(out: &mut Vec<u8>, number: u32) {
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend(number.to_le_bytes());
}

const CIRCLE: u32 = 15;

fn part(index: u32) -> TypeId {
    TypeId {
        kind: EquivalenceKind::Complete,
        hash: [7; 14],
        component: Some(Component {
            length: CIRCLE,
            index,
        }),
    }
}

/// The identifier of a part of the circle.
fn refer(out: &mut Vec<u8>, index: u32) {
    out.push(0xb0);
    delimited(out, |out| {
        out.push(0xf2);
        out.extend([7; 14]);
        number(out, CIRCLE);
        number(out, index);
    });
}

/// A map from a part of the circle to the same.
fn map_of(index: u32) -> Vec<u8> {
    let mut object = Vec::new();
    delimited(&mut object, |out| {
        out.extend([0xf2, 0x62, 0, 0]);
        delimited(out, |out| {
            number(out, 0);
            out.push(0);
        });
        for _ in 0..2 {
            delimited(out, |out| {
                out.extend([1, 0]);
                match index {
                    CIRCLE => out.push(0x04),
                    _ => refer(out, index + 1),
                }
                out.extend([0, 0]);
            });
        }
    });
    object
}

fn struct_of(members: u32) -> Vec<u8> {
    let mut object = Vec::new();
    delimited(&mut object, |out| {
        out.extend([0xf2, 0x51, 1, 0]);
        delimited(out, |out| {
            out.extend([0, 0, 0, 0, 2, 0, 0, 0, b'x', 0]);
        });
        delimited(out, |out| {
            number(out, members);
            for id in 0..members {
                delimited(out, |out| {
                    number(out, id);
                    out.extend([1, 0]);
                    refer(out, 2);
                    number(out, 6);
                    out.extend(format!("{id:05}\0").bytes());
                    out.extend([0, 0]);
                });
            }
        });
    });
    object
}

#[test]
fn what_is_described_anew_at_each_reference_is_bounded() {
    let describe = |members, depth| {
        let mut known = TypeObjects::new();
        known.insert_part(part(1), &struct_of(members));
        for index in 2..=CIRCLE {
            let of = if index < depth { index } else { CIRCLE };
            known.insert_part(part(index), &map_of(of));
        }
        known.describe(part(1)).map(|ty| ty.members.len())
    };
    // A map is no key, which shows when all of it is there.
    let is_key = |result| matches!(result, Err(DescribeError::Invalid(_)));
    assert!(is_key(describe(2, 4)));
    assert!(is_key(describe(1_000, 4)));
    // Thirteen levels are 8,192 maps of the last, for each member.
    assert_eq!(describe(1, CIRCLE), Err(DescribeError::TooLarge));
    assert_eq!(describe(4_000, CIRCLE), Err(DescribeError::TooLarge));
}
