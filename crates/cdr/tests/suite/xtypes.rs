//! Type objects, byte for byte as Eclipse Cyclone DDS makes them, and the way back.

use crate::fixtures::kinds;
use crate::fixtures::types::{Primitives, appendable, final_, mutable};
use crate::fixtures::{hex, type_objects, unhex};
use crate::random::any_struct;
use proptest::prelude::*;
use tickwire_cdr::xtypes::{
    DescribeError, EquivalenceKind, Question, Reply, Request, RequestIdentity, TypeId,
    TypeInformation, TypeObjects,
};
use tickwire_cdr::{
    ByteOrder, Case, Encapsulation, EnumDescription, Extensibility, InvalidDescription, Literal,
    Member, Reader, Representation, Topic, Type, TypeDescription, UnionDescription,
};

fn information(description: &TypeDescription) -> (TypeInformation, TypeObjects) {
    let mut objects = TypeObjects::new();
    let information = objects.add(description).unwrap();
    (information, objects)
}

/// Dependencies have no order.
fn sorted(mut information: TypeInformation) -> TypeInformation {
    for of in [&mut information.minimal, &mut information.complete]
        .into_iter()
        .flatten()
    {
        of.dependencies.sort();
    }
    information
}

fn parsed(name: &str) -> TypeInformation {
    let (_, theirs) = type_objects(name, "type_information").next().unwrap();
    let parsed = TypeInformation::parse(&theirs, ByteOrder::Little).unwrap();
    let mut again = Vec::new();
    parsed.encode(&mut again).unwrap();
    assert_eq!(hex(&again), hex(&theirs), "{name}");
    parsed
}

/// What the peer's objects say.
fn learnt(name: &str) -> TypeObjects {
    let mut objects = TypeObjects::new();
    for (hash, bytes) in type_objects(name, "object-") {
        let id = objects.insert(&bytes).unwrap();
        assert_eq!(hex(&id.hash), hash, "{name}");
    }
    objects
}

/// The identifier of an object that has this hash.
fn id_of(hash: &str, object: &[u8]) -> TypeId {
    let kind = match object[4] {
        0xf1 => EquivalenceKind::Minimal,
        _ => EquivalenceKind::Complete,
    };
    TypeId {
        kind,
        hash: unhex(hash).try_into().unwrap(),
        component: None,
    }
}

/// Byte for byte the objects of Cyclone DDS 11.
fn check_bytes<T: Topic>(name: &str) {
    let (ours, objects) = information(T::DESCRIPTION);
    for (hash, bytes) in type_objects(name, "object-") {
        let id = id_of(&hash, &bytes);
        let object = objects.get(id).map(hex);
        assert_eq!(object, Some(hex(&bytes)), "{name} {id:?}");
    }
    let count = type_objects(name, "object-").count();
    assert_eq!(objects.len(), count, "{name}");
    assert_eq!(sorted(parsed(name)), sorted(ours.clone()), "{name}");
    let complete = ours.complete.unwrap().id;
    let minimal = ours.minimal.map(|minimal| minimal.id);
    assert_eq!(objects.minimal_of(complete), minimal);
    let learnt = learnt(name);
    assert_eq!(&learnt.describe(complete).unwrap(), T::DESCRIPTION);
}

/// The objects of idlc 0.10 differ in two flags, but not in what they mean: key members are said to be
/// indispensable, and no literal is said to be the default. So many objects have neither, and are the same
/// byte for byte.
fn check_meaning<T: Topic>(name: &str, same: usize) {
    let complete = parsed(name).complete.unwrap().id;
    let learnt = learnt(name);
    assert_eq!(&learnt.describe(complete).unwrap(), T::DESCRIPTION);
    let (ours, objects) = information(T::DESCRIPTION);
    let complete = ours.complete.unwrap().id;
    assert_eq!(&objects.describe(complete).unwrap(), T::DESCRIPTION);
    let theirs: Vec<_> = type_objects(name, "object-").collect();
    assert_eq!(objects.len(), theirs.len(), "{name}");
    let common = theirs
        .iter()
        .filter(|(hash, bytes)| objects.get(id_of(hash, bytes)) == Some(bytes));
    assert_eq!(common.count(), same, "{name}");
}

#[test]
fn objects_agree_with_cyclone() {
    check_bytes::<Primitives>("primitives");
    check_bytes::<final_::Book>("book_final");
    check_bytes::<appendable::Book>("book_appendable");
    check_bytes::<mutable::Book>("book_mutable");
    check_bytes::<final_::Keyed>("keyed_final");
    check_bytes::<appendable::Keyed>("keyed_appendable");
    check_bytes::<mutable::Keyed>("keyed_mutable");
}

#[test]
fn objects_of_idlc_0_10_mean_the_same() {
    check_meaning::<kinds::Everything>("everything", 12);
    check_meaning::<kinds::Plain>("plain", 12);
    check_meaning::<kinds::Loose>("loose", 8);
    check_meaning::<kinds::Hashed>("hashed", 0);
    check_meaning::<kinds::Outer>("outer", 2);
}

#[test]
fn a_peer_learns_a_type_by_asking() {
    let (information, ours) = information(mutable::Book::DESCRIPTION);
    let complete = information.complete.unwrap();
    let mut types = vec![complete.id];
    types.extend(complete.dependencies.iter().map(|(id, _)| *id));
    let identity = RequestIdentity {
        writer: [7; 16],
        sequence_number: (3 << 32) + 9,
    };
    let request = Request {
        identity,
        question: Question::Types,
        instance: "dds.builtin.TOS.".into(),
        types,
    };

    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    request.encode(&mut asked).unwrap();
    let received = Request::parse(&asked).unwrap().unwrap();
    assert_eq!(received, request);
    received.answer(&ours, &mut answered).unwrap();
    let reply = Reply::parse(&answered).unwrap().unwrap();
    assert_eq!(reply.identity, identity);
    assert_eq!(reply.complete_to_minimal.len(), 5);

    let dependencies = Request {
        question: Question::Dependencies { after: 0 },
        ..received
    };
    let mut about = Vec::new();
    dependencies.encode(&mut about).unwrap();
    assert_eq!(Request::parse(&about), Ok(Some(dependencies.clone())));
    about.clear();
    dependencies.answer(&ours, &mut about).unwrap();
    assert_eq!(Reply::parse(&about), Ok(None));
    for (id, size) in &complete.dependencies {
        let listed = [&[0xf2][..], &id.hash, &[0], &size.to_le_bytes()].concat();
        assert!(
            about.windows(listed.len()).any(|window| window == listed),
            "{id:?}"
        );
    }

    let mut learnt = TypeObjects::new();
    assert_eq!(
        learnt.describe(complete.id),
        Err(DescribeError::Missing(complete.id))
    );
    for (id, object) in reply.objects {
        assert_eq!(learnt.insert(object), Ok(id));
    }
    assert_eq!(
        &learnt.describe(complete.id).unwrap(),
        mutable::Book::DESCRIPTION
    );
}

/// The hashes of listed dependencies, and the continuation point.
fn listed(reply: &[u8]) -> (Vec<[u8; 14]>, Vec<u8>) {
    let encapsulation = Encapsulation {
        representation: Representation::Xcdr2,
        order: ByteOrder::Little,
        extensibility: Extensibility::Final,
    };
    let mut reader = Reader::new(&reply[4..], encapsulation);
    let reader = &mut reader;
    // Identity, exception, operation and return code.
    (0..7).for_each(|_| assert!(reader.read_u32().is_ok()));
    let _ = reader.begin_struct(Extensibility::Appendable).unwrap();
    assert_eq!(reader.read_u32(), Ok(0x05aa_fb31));
    let _ = reader.begin_struct(Extensibility::Appendable).unwrap();
    assert_eq!(reader.read_u32(), Ok(0));
    let out = reader.begin_struct(Extensibility::Mutable).unwrap();
    let (mut hashes, mut continuation) = (Vec::new(), Vec::new());
    while let Some(member) = reader.next_member(&out).unwrap() {
        let is_list = member.id == 0x0ba4_dfc9;
        let elements = reader.begin_sequence(0, !is_list, 1).unwrap();
        for _ in 0..elements.count {
            if !is_list {
                continuation.push(reader.read_u8().unwrap());
                continue;
            }
            let with_size = reader.begin_struct(Extensibility::Appendable).unwrap();
            assert_eq!(reader.read_u8(), Ok(0xf2));
            hashes.push([(); 14].map(|()| reader.read_u8().unwrap()));
            reader.end_struct(with_size);
        }
        reader.end_sequence(elements);
        reader.end_member(member);
    }
    (hashes, continuation)
}

#[test]
fn many_dependencies_are_told_in_parts() {
    let part = |bound| {
        let member = vec![Member::new("x", 0, Type::String { bound })];
        let part =
            TypeDescription::new(&format!("Part{bound}"), Extensibility::Final, member).unwrap();
        Member::new(&format!("m{bound}"), bound, Type::Struct(part.into()))
    };
    let whole = (1..=600).map(part).collect();
    let whole = TypeDescription::new("Whole", Extensibility::Final, whole).unwrap();
    let (information, objects) = information(&whole);
    let complete = information.complete.unwrap();
    let mut after = 0;
    let mut told = Vec::new();
    for (count, next) in [(256, Some(256)), (256, Some(512)), (88, None)] {
        let mut asked = Vec::new();
        let request = Request {
            identity: RequestIdentity {
                writer: [1; 16],
                sequence_number: 1,
            },
            question: Question::Dependencies { after },
            instance: String::new(),
            types: vec![complete.id],
        };
        request.encode(&mut asked).unwrap();
        let request = Request::parse(&asked).unwrap().unwrap();
        let mut reply = Vec::new();
        request.answer(&objects, &mut reply).unwrap();
        let (hashes, continuation) = listed(&reply);
        assert_eq!(hashes.len(), count);
        told.extend(hashes);
        let expected: Option<u32> = next;
        let bytes = expected.map(|next| next.to_be_bytes().to_vec());
        assert_eq!(continuation, bytes.unwrap_or_default());
        after = expected.unwrap_or_default();
    }
    let all: Vec<_> = complete
        .dependencies
        .iter()
        .map(|(id, _)| id.hash)
        .collect();
    assert_eq!(told, all);
}

#[test]
fn lookup_messages_agree_with_cyclone() {
    let (_, question) = type_objects("side", "request").next().unwrap();
    let (_, answer) = type_objects("side", "reply").next().unwrap();
    let request = Request::parse(&question).unwrap().unwrap();
    let reply = Reply::parse(&answer).unwrap().unwrap();
    assert_eq!(request.identity, reply.identity);
    assert_eq!(request.instance, format!("dds.builtin.TOS.{:032}", 0));

    let objects = learnt("book_final");
    let known: Vec<_> = request
        .types
        .iter()
        .map(|id| (*id, objects.get(*id).unwrap()))
        .collect();
    assert_eq!(reply.objects, known);

    let mut again = Vec::new();
    request.encode(&mut again).unwrap();
    assert_eq!(hex(&again), hex(&question));
    again.clear();
    reply.encode(&mut again).unwrap();
    assert_eq!(hex(&again), hex(&answer));
}

/// A complete struct object with one member, whose identifier is given.
fn object_with(identifier: &[u8]) -> Vec<u8> {
    let name = [2, 0, 0, 0, b'x', 0, 0, 0];
    let mut member = [&[0, 0, 0, 0, 1, 0][..], identifier].concat();
    member.resize(member.len().next_multiple_of(4), 0);
    member.extend(name);
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let member = [&length(&member), &member[..]].concat();
    let members = [&[1, 0, 0, 0], &member[..]].concat();
    let header = [&[0, 0, 0, 0], &name[..6], &[0, 0]].concat();
    let body = [
        &[0xf2, 0x51, 1, 0],
        &[10, 0, 0, 0],
        &header[..],
        &length(&members),
        &members,
    ]
    .concat();
    [&length(&body), &body[..]].concat()
}

#[test]
fn what_is_not_supported_is_named() {
    let mut objects = TypeObjects::new();
    let mut describe = |identifier: &[u8]| {
        let id = objects.insert(&object_with(identifier)).unwrap();
        objects.describe(id)
    };
    let plain = describe(&[0x07]).unwrap();
    assert_eq!(*plain.members, [Member::new("x", 0, Type::U32)]);
    let plain = describe(&[0x11]).unwrap();
    assert_eq!(*plain.members, [Member::new("x", 0, Type::WChar)]);
    assert_eq!(
        describe(&[0x0b]),
        Err(DescribeError::Unsupported("long double"))
    );
    assert!(matches!(
        describe(&[0xb0]),
        Err(DescribeError::Malformed(..))
    ));
    assert_eq!(
        describe(&[0x99]),
        Err(DescribeError::Unsupported("unknown kind of type"))
    );
    let minimal = [&[0xf1][..], &[9; 14]].concat();
    let id = TypeId {
        kind: EquivalenceKind::Minimal,
        hash: [9; 14],
        component: None,
    };
    assert_eq!(describe(&minimal), Err(DescribeError::Minimal(id)));
}

#[test]
fn unions_that_break_the_rules_are_refused() {
    let new = |discriminator, cases| {
        UnionDescription::new("U", Extensibility::Mutable, discriminator, cases).map(drop)
    };
    let case = |name: &str, id, labels: &[i32], default| Case {
        member: Member::new(name, id, Type::U8),
        labels: labels.to_vec().into(),
        default,
    };
    let (a, b) = (
        |labels| case("a", 1, labels, false),
        |labels| case("b", 2, labels, false),
    );
    assert_eq!(new(Type::I32, vec![a(&[1]), b(&[2])]), Ok(()));
    for (discriminator, cases, expected) in [
        (Type::I32, vec![], InvalidDescription::NoMember),
        (Type::F32, vec![a(&[1])], InvalidDescription::Discriminator),
        (
            Type::I32,
            vec![a(&[1, 2]), b(&[2])],
            InvalidDescription::DuplicateLabel(2),
        ),
        (
            Type::I32,
            vec![a(&[])],
            InvalidDescription::NoLabel("a".into()),
        ),
        (
            Type::I32,
            vec![case("a", 1, &[], true), case("b", 2, &[], true)],
            InvalidDescription::TwoDefaults,
        ),
        // The discriminator's own id.
        (
            Type::I32,
            vec![case("a", 0, &[1], false)],
            InvalidDescription::DuplicateId(0),
        ),
    ] {
        assert_eq!(new(discriminator, cases), Err(expected));
    }
}

#[test]
fn literals_that_break_the_rules_are_refused() {
    let check = |bit_bound, literals: &[(&str, i32)]| {
        let literal = |(name, value): &(&str, i32)| Literal {
            name: (*name).into(),
            value: *value,
        };
        let description = EnumDescription {
            name: "E".into(),
            extensibility: Extensibility::Final,
            bit_bound,
            literals: literals.iter().map(literal).collect::<Vec<_>>().into(),
        };
        description.check()
    };
    assert_eq!(check(32, &[("A", 1), ("B", 2)]), Ok(()));
    let twice = |name: &str| Err(InvalidDescription::DuplicateLiteral(name.into()));
    assert_eq!(check(32, &[("A", 1), ("A", 2)]), twice("A"));
    assert_eq!(check(32, &[("A", 1), ("B", 1)]), twice("B"));
    assert_eq!(check(33, &[]), Err(InvalidDescription::BitBound(33)));
    assert_eq!(check(0, &[]), Err(InvalidDescription::BitBound(0)));
}

#[test]
fn descriptions_that_break_the_rules_are_refused() {
    let new = |members| TypeDescription::new("T", Extensibility::Final, members);
    let member = |name, id| Member::new(name, id, Type::U8);
    assert_eq!(new(vec![]), Err(InvalidDescription::NoMember));
    assert_eq!(
        new(vec![member("a", 1), member("b", 1)]),
        Err(InvalidDescription::DuplicateId(1))
    );
    assert_eq!(
        new(vec![member("a", 1), member("a", 2)]),
        Err(InvalidDescription::DuplicateName("a".into()))
    );
    let key = Member {
        key: true,
        optional: true,
        ..member("k", 0)
    };
    assert_eq!(
        new(vec![key]),
        Err(InvalidDescription::OptionalKey("k".into()))
    );
}

proptest! {
    #[test]
    fn descriptions_return_from_their_objects(description in any_struct()) {
        let (information, objects) = information(&description);
        prop_assert_eq!(objects.describe(information.complete.unwrap().id), Ok(description));
        prop_assert!(objects.describe(information.minimal.unwrap().id).is_ok());
    }

    #[test]
    fn damaged_objects_and_messages_are_survived(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in any::<prop::sample::Index>(),
    ) {
        let (information, objects) = information(appendable::Book::DESCRIPTION);
        let complete = information.complete.as_ref().unwrap();
        let hurt = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            for (at, byte) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            let end = end.index(bytes.len() * 2).min(bytes.len());
            bytes.truncate(end);
            bytes
        };
        let mut damaged = objects.clone();
        if let Ok(id) = damaged.insert(&hurt(objects.get(complete.id).unwrap())) {
            let _ = damaged.describe(id);
        }
        let mut bytes = Vec::new();
        information.encode(&mut bytes).unwrap();
        let _ = TypeInformation::parse(&hurt(&bytes), ByteOrder::Little);
        let identity = RequestIdentity { writer: [0; 16], sequence_number: 1 };
        let request = Request { identity, question: Question::Types, instance: String::new(), types: vec![complete.id] };
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        request.encode(&mut asked).unwrap();
        request.answer(&objects, &mut answered).unwrap();
        let _ = Request::parse(&hurt(&asked));
        let _ = Reply::parse(&hurt(&answered));
    }
}

#[test]
fn a_type_asked_for_again_and_again_is_told_once() {
    let (information, objects) = information(appendable::Book::DESCRIPTION);
    let id = information.complete.unwrap().id;
    let request = Request {
        identity: RequestIdentity {
            writer: [1; 16],
            sequence_number: 1,
        },
        instance: String::from("dds.builtin.TOS."),
        question: Question::Types,
        types: vec![id; 10_000],
    };
    let (mut asked, mut answer) = (Vec::new(), Vec::new());
    request.encode(&mut asked).unwrap();
    let request = Request::parse(&asked).unwrap().unwrap();
    request.answer(&objects, &mut answer).unwrap();
    assert_eq!(Reply::parse(&answer).unwrap().unwrap().objects.len(), 1);
}
