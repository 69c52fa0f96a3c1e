//! Those who ask for types without end.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use tickwire_base::Duration;
use tickwire_cdr::xtypes::{Question, Request, RequestIdentity, TypeId};
use tickwire_cdr::{Extensibility, Member, Type, TypeDescription};

use super::builtin_topic::{MAX_MESSAGE_LEN, Received};
use super::tests::*;
use super::type_replies::{LEAST_BYTES_PER_PEER, MAX_BYTES, MAX_BYTES_PER_PEER};
use super::*;

/// A type of many members.
fn wide(name: &str) -> TypeDescription {
    let names = (0..600).map(|n| format!("a_member_of_some_name_{n}"));
    let members = names.zip(0..);
    let members = members.map(|(name, id)| Member::new(&name, id, Type::F64));
    let wide = TypeDescription::new(name, Extensibility::Appendable, members.collect());
    wide.expect("distinct members")
}

/// Adds a type to node 0; gives its complete object's id.
fn add(net: &mut Net, name: &str) -> TypeId {
    let types = net.nodes[0].discovery.types_mut();
    let information = types.add(&wide(name)).expect("fits");
    information.complete.expect("we announce both").id
}

/// Two participants, of which the first has a type: its object's id and bytes.
fn net() -> (Net, TypeId, usize) {
    let mut net = Net::new([config(1), config(2)]);
    let id = add(&mut net, "Wide");
    let len = net.nodes[0].discovery.types().get(id).map(<[u8]>::len);
    net.run(MOMENT);
    (net, id, len.expect("ours"))
}

/// A participant asks node 0 for types, and nobody else hears the answer.
fn ask(net: &mut Net, from: GuidPrefix, types: Vec<TypeId>) -> usize {
    let request = Request {
        identity: RequestIdentity {
            writer: [1; 16],
            sequence_number: 1,
        },
        instance: "dds.builtin.TOS.00000000000000000000000000000000".into(),
        question: Question::Types,
        types,
    };
    let mut payload = Vec::new();
    request.encode(&mut payload).expect("a short request");
    let question = Received {
        writer: Guid::new(from, EntityId::TYPE_LOOKUP_REQUEST_WRITER),
        kind: ChangeKind::Alive,
        key_hash: None,
        payload,
    };
    let discovery = &mut net.nodes[0].discovery;
    let before = discovery.counters().types_answered;
    discovery.handle_type_request(net.now, &question, &mut Outbox::new());
    usize::try_from(discovery.counters().types_answered - before).expect("few")
}

fn intruder(number: u8) -> GuidPrefix {
    let mut prefix = GuidPrefix([0xee; 12]);
    prefix.0[11] = number;
    prefix
}

/// Whether node 1 gets a type from node 0 now.
fn is_told(net: &mut Net, id: TypeId) -> bool {
    net.call(1, |discovery, now, outbox| {
        discovery.request_types(now, prefix(1), vec![id], outbox)
    })
    .expect("known");
    net.run(MOMENT);
    net.nodes[1].discovery.types().get(id).is_some()
}

#[test]
fn one_participant_draws_bounded_bytes_in_a_second() {
    let (mut net, id, len) = net();
    let answered: usize = (0..10_000)
        .map(|_| ask(&mut net, intruder(1), vec![id]))
        .sum();
    assert!(answered * len <= MAX_BYTES_PER_PEER + len);
    assert!(answered * len > MAX_BYTES_PER_PEER / 2);
    let counters = net.nodes[0].discovery.counters();
    assert_eq!(counters.type_requests_refused, 10_000 - answered as u64);
    assert!(is_told(&mut net, id), "another one");
    net.run(Duration::from_secs(1));
    assert_eq!(ask(&mut net, intruder(1), vec![id]), 1);
}

#[test]
fn all_participants_draw_bounded_bytes_and_each_one_some() {
    let (mut net, id, len) = net();
    let mut answered = 0;
    for number in 0..100 {
        answered += (0..200)
            .map(|_| ask(&mut net, intruder(number), vec![id]))
            .sum::<usize>();
    }
    assert!(answered * len <= MAX_BYTES + 100 * (LEAST_BYTES_PER_PEER + len));
    assert!(answered * len > MAX_BYTES);
    assert!(is_told(&mut net, id), "who has drawn nothing yet");
}

#[test]
fn of_types_that_are_too_many_for_one_reply_those_come_that_fit() {
    let (mut net, _, len) = net();
    let count = 2 * MAX_MESSAGE_LEN / len;
    let all: Vec<_> = (0..count)
        .map(|n| add(&mut net, &format!("Wide{n}")))
        .collect();
    net.call(1, |discovery, now, outbox| {
        discovery.request_types(now, prefix(1), all.clone(), outbox)
    })
    .expect("known");
    net.run(MOMENT);
    let known = net.nodes[1].discovery.types();
    let came = all.iter().filter(|id| known.get(**id).is_some()).count();
    assert!((count / 3..=count / 2).contains(&came), "{came} of {count}");
}
