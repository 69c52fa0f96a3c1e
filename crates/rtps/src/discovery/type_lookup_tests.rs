//! Asking for types and answering.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use tickwire_base::Duration;
use tickwire_cdr::xtypes::{
    Question, Reply, Request, RequestIdentity, TypeId, TypeInformation, TypeWithDependencies,
};
use tickwire_cdr::{Extensibility, Member, Shared, Type, TypeDescription};

use super::builtin_topic::Received;
use super::tests::*;
use super::*;

/// A keyed struct that refers to another one.
fn quote() -> TypeDescription {
    let describe = |name, members| {
        TypeDescription::new(name, Extensibility::Appendable, members).expect("distinct members")
    };
    let level = describe("Level", vec![Member::new("price", 0, Type::F64)]);
    let levels = Type::Sequence {
        element: Shared::Counted(Arc::new(Type::Struct(Shared::Counted(Arc::new(level))))),
        bound: 0,
    };
    let security = Member::new("security", 0, Type::U32);
    describe("Quote", vec![security, Member::new("levels", 1, levels)])
}

fn complete_of(information: &TypeInformation) -> &TypeWithDependencies {
    information.complete.as_ref().expect("we announce both")
}

fn received(event: &Event) -> Option<Vec<TypeId>> {
    match event {
        Event::TypesReceived { types, .. } => Some(types.clone()),
        _ => None,
    }
}

/// Three participants of which the first knows a type that the others do not.
fn net() -> (Net, TypeInformation) {
    let mut net = Net::new([config(1), config(2), config(3)]);
    let types = net.nodes[0].discovery.types_mut();
    let information = types.add(&quote()).expect("a small type");
    net.run(MOMENT);
    (net, information)
}

fn ask(net: &mut Net, whom: u8, types: Vec<TypeId>) -> Result<(), RequestError> {
    net.call(1, |discovery, now, outbox| {
        discovery.request_types(now, prefix(whom), types, outbox)
    })
}

#[test]
fn a_type_never_seen_before_is_learnt_from_its_owner() {
    let (mut net, information) = net();
    let complete = complete_of(&information).id;
    let mut asked = vec![complete];
    let all = &complete_of(&information).dependencies;
    asked.extend(all.iter().map(|(id, _)| *id));
    assert_eq!(ask(&mut net, 1, asked.clone()), Ok(()));
    let got: Vec<_> = net.nodes[1].events.iter().filter_map(received).collect();
    assert_eq!(got, [asked]);
    let described = net.nodes[1].discovery.types().describe(complete);
    let described = described.expect("all objects are there");
    assert_eq!(described.name, quote().name);
    assert!(
        net.nodes[2]
            .events
            .iter()
            .filter_map(received)
            .next()
            .is_none()
    );
    assert_eq!(net.nodes[2].discovery.types().len(), 0);
}

#[test]
fn a_question_to_anybody_is_answered_by_who_knows() {
    let (mut net, information) = net();
    let request = Request {
        identity: RequestIdentity {
            writer: [1; 16],
            sequence_number: 1,
        },
        instance: "dds.builtin.TOS.00000000000000000000000000000000".into(),
        question: Question::Types,
        types: vec![complete_of(&information).id],
    };
    let mut payload = Vec::new();
    request.encode(&mut payload).expect("a short request");
    let question = Received {
        writer: Guid::new(prefix(3), EntityId::TYPE_LOOKUP_REQUEST_WRITER),
        kind: ChangeKind::Alive,
        key_hash: None,
        payload,
    };
    for (node, answers) in [(0, 1), (1, 0)] {
        net.call(node, |discovery, now, outbox| {
            discovery.handle_type_request(now, &question, outbox);
        });
        let counters = net.nodes[node].discovery.counters();
        assert_eq!(counters.types_answered, answers);
    }
}

#[test]
fn who_does_not_know_the_type_says_so() {
    let (mut net, information) = net();
    assert_eq!(ask(&mut net, 3, vec![complete_of(&information).id]), Ok(()));
    let got: Vec<_> = net.nodes[1].events.iter().filter_map(received).collect();
    assert_eq!(got, [vec![]]);
    assert_eq!(
        ask(&mut net, 9, vec![]),
        Err(RequestError::UnknownParticipant)
    );
}

#[test]
fn questions_and_answers_survive_loss() {
    for seed in 1..=50 {
        let (mut net, information) = net();
        net.random = seed * 0x9e37_79b9;
        net.loss_percent = 40;
        ask(&mut net, 1, vec![complete_of(&information).id]).expect("known");
        net.run(Duration::from_secs(5));
        assert_eq!(
            net.count(1, |event| received(event).is_some()),
            1,
            "seed {seed}"
        );
    }
}

#[test]
fn what_was_not_asked_for_is_not_kept() {
    let (mut net, information) = net();
    let complete = complete_of(&information);
    let (level, _) = complete.dependencies[0];
    net.loss_percent = 100;
    ask(&mut net, 3, vec![complete.id]).expect("known");
    net.loss_percent = 0;
    // The other one answers with another type, and with that under the name of the right one.
    let known = net.nodes[0].discovery.types().clone();
    let object = known.get(level).expect("a dependency");
    let requester = Guid::new(prefix(2), EntityId::TYPE_LOOKUP_REQUEST_WRITER);
    let reply = Reply {
        identity: RequestIdentity {
            writer: requester.to_bytes(),
            sequence_number: 1,
        },
        objects: vec![(level, object), (complete.id, object)],
        complete_to_minimal: Vec::new(),
    };
    net.call(2, |discovery, now, outbox| {
        let replies = &mut discovery.type_lookup.replies_topic;
        let payload = |payload: &mut Vec<u8>| reply.encode(payload);
        replies.write(now, ChangeKind::Alive, None, outbox, payload)
    })
    .expect("room");
    let got: Vec<_> = net.nodes[1].events.iter().filter_map(received).collect();
    assert_eq!(got, [vec![]]);
    assert_eq!(net.nodes[1].discovery.types().len(), 0);
}

#[test]
fn another_participant_may_answer_if_it_has_all() {
    let (mut net, information) = net();
    let complete = complete_of(&information);
    let (level, _) = complete.dependencies[0];
    net.loss_percent = 100;
    ask(&mut net, 1, vec![complete.id, level]).expect("known");
    net.loss_percent = 0;
    let known = net.nodes[0].discovery.types().clone();
    let requester = Guid::new(prefix(2), EntityId::TYPE_LOOKUP_REQUEST_WRITER);
    // The first two are no whole answer, so they may be meant to keep the true one away.
    for ids in [&[][..], &[level], &[complete.id, level]] {
        let objects = ids.iter().filter_map(|&id| Some((id, known.get(id)?)));
        let reply = Reply {
            identity: RequestIdentity {
                writer: requester.to_bytes(),
                sequence_number: 1,
            },
            objects: objects.collect(),
            complete_to_minimal: Vec::new(),
        };
        net.call(2, |discovery, now, outbox| {
            let replies = &mut discovery.type_lookup.replies_topic;
            let payload = |payload: &mut Vec<u8>| reply.encode(payload);
            replies.write(now, ChangeKind::Alive, None, outbox, payload)
        })
        .expect("room");
    }
    let got: Vec<_> = net.nodes[1].events.iter().filter_map(received).collect();
    assert_eq!(got, [vec![complete.id, level]]);
}

#[test]
fn an_answer_that_names_its_own_writer_is_known_by_its_types() {
    let (mut net, information) = net();
    let complete = complete_of(&information);
    let (level, _) = complete.dependencies[0];
    net.loss_percent = 100;
    ask(&mut net, 3, vec![complete.id]).expect("known");
    net.loss_percent = 0;
    let known = net.nodes[0].discovery.types().clone();
    let replier = Guid::new(prefix(3), EntityId::TYPE_LOOKUP_REPLY_WRITER);
    let mut writer = replier.to_bytes();
    writer.chunks_mut(4).for_each(<[u8]>::reverse);
    // The first one is somebody else's, by the same number.
    for id in [level, complete.id] {
        let reply = Reply {
            identity: RequestIdentity {
                writer,
                sequence_number: 1,
            },
            objects: vec![(id, known.get(id).expect("its owner has it"))],
            complete_to_minimal: Vec::new(),
        };
        net.call(2, |discovery, now, outbox| {
            let replies = &mut discovery.type_lookup.replies_topic;
            let payload = |payload: &mut Vec<u8>| reply.encode(payload);
            replies.write(now, ChangeKind::Alive, None, outbox, payload)
        })
        .expect("room");
    }
    let got: Vec<_> = net.nodes[1].events.iter().filter_map(received).collect();
    assert_eq!(got, [vec![complete.id]]);
}

#[test]
fn who_never_answers_is_not_waited_for() {
    let (mut net, information) = net();
    let wanted = vec![complete_of(&information).id];
    net.loss_percent = 100;
    let asked = (0..2_000).take_while(|_| ask(&mut net, 3, wanted.clone()).is_ok());
    assert_eq!(asked.count(), 256);
    assert_eq!(ask(&mut net, 3, wanted.clone()), Err(RequestError::TooMany));
    assert_eq!(
        ask(&mut net, 1, wanted.clone()),
        Ok(()),
        "others may be asked"
    );
    // The peer is alive but does not speak of types.
    let now = net.now + Duration::from_secs(10);
    let mut outbox = Outbox::new();
    let discovery = &mut net.nodes[1].discovery;
    discovery.participants.heard(now, prefix(3), true, None);
    discovery.participants.heard(now, prefix(1), true, None);
    assert!(discovery.poll_timeout().is_some_and(|at| at <= now));
    discovery.handle_timeout(now, &mut outbox);
    assert_eq!(discovery.counters().type_requests_expired, 257);
    net.loss_percent = 0;
    assert_eq!(ask(&mut net, 1, wanted), Ok(()));
    net.run(Duration::from_secs(1));
    assert_eq!(net.count(1, |event| received(event).is_some()), 1);
}

#[test]
fn types_of_others_take_bounded_memory() {
    let (mut net, information) = net();
    let complete = complete_of(&information).clone();
    let (level, level_size) = complete.dependencies[0];
    net.nodes[1].discovery.config.limits.max_type_bytes = complete.size.max(level_size) as usize;
    for id in [level, complete.id] {
        ask(&mut net, 1, vec![id]).expect("known");
    }
    let discovery = &mut net.nodes[1].discovery;
    assert_eq!(discovery.counters().types_forgotten, 1);
    assert_eq!(discovery.types().get(level), None);
    assert!(discovery.types().get(complete.id).is_some());
    // What is ours, too, stays.
    let own = discovery.types_mut().add(&quote()).expect("a small type");
    assert_eq!(own, information);
    assert_eq!(discovery.types_mut().forget_inserted(0), 0);
    assert!(discovery.types().describe(complete.id).is_ok());
}
