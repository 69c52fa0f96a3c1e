//! Writers and readers whose types differ.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use tickwire_base::Duration;
use tickwire_cdr::xtypes::{TypeInformation, TypeObjects};
use tickwire_cdr::{Extensibility, Member, Shared, Type, TypeDescription};

use super::tests::*;
use super::*;
use crate::qos::{TypeConsistency, TypeConsistencyKind};

use Extensibility::{Appendable, Final};

/// A struct with a price of this type inside another one.
fn quote(extensibility: Extensibility, price: Type, size: Option<Type>) -> TypeDescription {
    let describe = |name, members| {
        TypeDescription::new(name, extensibility, members).expect("distinct members")
    };
    let level = describe("Level", vec![Member::new("price", 0, price)]);
    let level = Type::Struct(Shared::Counted(Arc::new(level)));
    let mut members = vec![Member::new("level", 0, level)];
    members.extend(size.map(|ty| Member::new("size", 1, ty)));
    describe("market::Quote", members)
}

pub(super) fn announced(ty: &TypeDescription) -> TypeInformation {
    TypeObjects::new().add(ty).expect("a small type")
}

pub(super) fn encoded(information: &TypeInformation) -> Vec<u8> {
    let mut bytes = Vec::new();
    information.encode(&mut bytes).expect("a small type");
    bytes
}

fn endpoint(id: u8, role: Role, ty: &TypeDescription) -> EndpointData {
    let entity = match role {
        Role::Writer => EntityId::user_writer(1, false),
        Role::Reader => EntityId::user_reader(2, false),
    };
    let guid = Guid::new(prefix(id), entity);
    let mut data = EndpointData::new(role, guid, "Quote".to_string(), ty.name.to_string());
    data.type_information = encoded(&announced(ty));
    data.extensibility = Some(ty.extensibility);
    data
}

/// A writer at the first of two nodes and a reader at the second, which knows its own type alone.
pub(super) struct Meeting {
    pub(super) net: Net,
    pub(super) writer: EndpointData,
    pub(super) reader: EndpointData,
}

impl Meeting {
    pub(super) fn of(writer: &TypeDescription, reader: &TypeDescription) -> Self {
        let mut net = Net::new([config(1), config(2)]);
        for (node, ty) in net.nodes.iter_mut().zip([writer, reader]) {
            node.discovery.types_mut().add(ty).expect("a small type");
        }
        Self {
            net,
            writer: endpoint(1, Role::Writer, writer),
            reader: endpoint(2, Role::Reader, reader),
        }
    }

    /// What the two nodes make of it: "match", or the verdict.
    pub(super) fn outcome(mut self) -> String {
        self.net.run(MOMENT);
        self.net.add(0, self.writer);
        self.net.add(1, self.reader);
        self.net.run(MOMENT);
        let [one, other] = [0, 1].map(|index| outcome(&self.net.nodes[index].events));
        assert_eq!(one, other, "both sides agree");
        one
    }

    fn with(mut self, change: impl FnOnce(&mut TypeConsistency)) -> Self {
        change(&mut self.reader.qos.type_consistency);
        self
    }
}

fn outcome(events: &[Event]) -> String {
    let outcomes = events.iter().filter_map(|event| match event {
        Event::ReaderMatched { .. } | Event::WriterMatched { .. } => Some("match".to_string()),
        Event::Incompatible { verdict, .. } => Some(verdict.to_string()),
        _ => None,
    });
    let outcomes: Vec<_> = outcomes.collect();
    outcomes.join(", then ")
}

#[test]
fn the_same_type_matches_whatever_its_name() {
    let ty = quote(Appendable, Type::F64, None);
    let mut meeting = Meeting::of(&ty, &ty);
    meeting.reader.type_name = "Other".to_string();
    // What comes from the wire may be padded.
    meeting.writer.type_information.extend([0, 0]);
    assert_eq!(meeting.outcome(), "match");
}

#[test]
fn an_assignable_type_matches_once_its_objects_are_known() {
    let short = quote(Appendable, Type::F64, None);
    let long = quote(Appendable, Type::F64, Some(Type::U32));
    for (writer, reader) in [(&short, &long), (&long, &short)] {
        let mut meeting = Meeting::of(writer, reader);
        meeting.reader.type_name = "Other".to_string();
        assert_eq!(meeting.outcome(), "match");
    }
}

#[test]
fn a_match_outlives_the_objects_that_it_was_found_by() {
    let narrow = quote(Appendable, Type::F64, None);
    let wide = quote(Appendable, Type::F64, Some(Type::U32));
    let mut meeting = Meeting::of(&narrow, &wide);
    meeting.writer.type_name = "Other".to_string();
    let mut net = meeting.net;
    net.run(MOMENT);
    net.add(0, meeting.writer.clone());
    net.add(1, meeting.reader);
    net.run(MOMENT);
    // Complete objects can be asked for once, and minimal ones then.
    for change in 1..=3 {
        for node in &mut net.nodes {
            node.discovery.types_mut().forget_inserted(0);
            node.events.clear();
        }
        meeting.writer.qos.user_data = vec![change];
        net.add(0, meeting.writer.clone());
        net.run(MOMENT);
        for node in &net.nodes {
            assert_eq!(outcome(&node.events), "match");
        }
    }
}

#[test]
fn types_that_are_not_assignable_do_not_match_and_say_where() {
    let writer = quote(Appendable, Type::I32, None);
    let reader = quote(Appendable, Type::F64, None);
    assert_eq!(
        Meeting::of(&writer, &reader).outcome(),
        "types differ: `market::Quote.level.price`: the writer has int32, the reader double; \
         change one of the types so that the other is assignable"
    );
}

#[test]
fn the_reader_says_what_counts() {
    let text = |bound| quote(Final, Type::String { bound }, None);
    let bounded = || Meeting::of(&text(8), &text(4));
    assert_eq!(bounded().outcome(), "match");
    let strict = bounded().with(|rules| rules.ignore_string_bounds = false);
    let expected = "types differ: `market::Quote.level.price`: the writer has the bound 8";
    assert!(strict.outcome().starts_with(expected));

    let short = quote(Appendable, Type::F64, None);
    let long = quote(Appendable, Type::F64, Some(Type::U32));
    let narrow = Meeting::of(&short, &long).with(|rules| rules.prevent_type_widening = true);
    assert!(narrow.outcome().contains("prevents type widening"));
    let same = |rules: &mut TypeConsistency| {
        rules.kind = TypeConsistencyKind::DisallowTypeCoercion;
    };
    let coerced = Meeting::of(&short, &long).with(same).outcome();
    assert!(coerced.starts_with("types differ: the reader requests the type Minimal"));
    assert_eq!(Meeting::of(&long, &long).with(same).outcome(), "match");
}

#[test]
fn bounds_of_sequences_count_if_the_reader_says_so() {
    let prices = |bound| {
        let element = Shared::Static(&Type::F64);
        quote(Final, Type::Sequence { element, bound }, None)
    };
    let counts = |rules: &mut TypeConsistency| rules.ignore_sequence_bounds = false;
    let longer = || Meeting::of(&prices(8), &prices(4));
    assert_eq!(longer().outcome(), "match");
    let expected = "types differ: `market::Quote.level.price`: the writer has the bound 8";
    assert!(longer().with(counts).outcome().starts_with(expected));
    let shorter = Meeting::of(&prices(4), &prices(8)).with(counts);
    assert_eq!(shorter.outcome(), "match");
}

#[test]
fn names_of_members_count_unless_the_reader_says_otherwise() {
    let named = |name: &'static str| {
        let members = vec![Member::new(name, 0, Type::F64)];
        TypeDescription::new("market::Quote", Appendable, members).expect("one member")
    };
    let renamed = || Meeting::of(&named("price"), &named("rate"));
    let verdict = renamed().outcome();
    assert!(verdict.starts_with("types differ: "), "{verdict}");
    assert!(
        verdict.contains("price") && verdict.contains("rate"),
        "{verdict}"
    );
    let ignored = renamed().with(|rules| rules.ignore_member_names = true);
    assert_eq!(ignored.outcome(), "match");
}

#[test]
fn what_cannot_be_looked_into_goes_by_name() {
    // Types are announced, but nobody has their objects.
    let unknown = |extensibility| {
        let writer = quote(extensibility, Type::I32, None);
        let reader = quote(extensibility, Type::F64, None);
        let mut meeting = Meeting::of(&writer, &reader);
        meeting.net = Net::new([config(1), config(2)]);
        meeting
    };
    assert_eq!(unknown(Appendable).outcome(), "match");
    assert!(unknown(Final).outcome().starts_with("types differ: "));
    let mut other_name = unknown(Appendable);
    other_name.reader.type_name = "Other".to_string();
    assert!(
        other_name
            .outcome()
            .starts_with("type: the reader requests \"Other\"")
    );
    let strict = unknown(Appendable).with(|rules| rules.force_type_validation = true);
    assert!(strict.outcome().starts_with("type unknown: "));
}

#[test]
fn who_says_nothing_of_its_type_is_believed() {
    let silent = || {
        let ty = quote(Final, Type::I32, None);
        let mut meeting = Meeting::of(&ty, &quote(Final, Type::F64, None));
        meeting.writer.type_information.clear();
        meeting
    };
    assert_eq!(silent().outcome(), "match");
    let strict = silent().with(|rules| rules.force_type_validation = true);
    assert!(strict.outcome().starts_with("type unknown: "));
}

#[test]
fn minimal_objects_are_enough() {
    let minimal = |writer: &TypeDescription| {
        let reader = quote(Appendable, Type::F64, None);
        let mut meeting = Meeting::of(writer, &reader);
        let mut information = announced(writer);
        information.complete = None;
        meeting.writer.type_information = encoded(&information);
        meeting.outcome()
    };
    assert_eq!(
        minimal(&quote(Appendable, Type::F64, Some(Type::U8))),
        "match"
    );
    let verdict = minimal(&quote(Appendable, Type::I32, None));
    assert!(verdict.contains(".level.price`: the writer has int32, the reader double"));
}

#[test]
fn types_are_asked_for_once() {
    let writer = quote(Appendable, Type::F64, None);
    let reader = quote(Appendable, Type::F64, Some(Type::U32));
    let mut meeting = Meeting::of(&writer, &reader);
    meeting.net.run(MOMENT);
    for number in 1..=20 {
        let mut data = meeting.writer.clone();
        data.guid.entity = EntityId::user_writer(number, false);
        meeting.net.add(0, data);
    }
    meeting.net.add(1, meeting.reader);
    meeting.net.run(MOMENT);
    let answered = |node: &Node| node.discovery.counters().types_answered;
    assert_eq!(meeting.net.nodes.iter().map(answered).sum::<u64>(), 2);
    let is_match = |event: &Event| matches!(event, Event::WriterMatched { .. });
    assert_eq!(meeting.net.count(1, is_match), 20);
}

#[test]
fn a_peer_that_does_not_answer_is_matched_by_name() {
    let writer = quote(Appendable, Type::F64, None);
    let reader = quote(Appendable, Type::F64, Some(Type::U32));
    let mut meeting = Meeting::of(&writer, &reader);
    meeting.net.run(MOMENT);
    meeting.net.loss_percent = 100;
    let (writer, reader) = (Arc::new(meeting.writer), meeting.reader);
    meeting
        .net
        .call(1, |discovery, now, outbox| {
            discovery.upsert(now, Arc::clone(&writer));
            discovery.add(now, reader, outbox)
        })
        .expect("an endpoint of that node");
    let discovery = &meeting.net.nodes[1].discovery;
    assert_eq!(discovery.verdicts().count(), 0);
    meeting.net.run(Duration::from_millis(1_990));
    assert_eq!(meeting.net.nodes[1].discovery.verdicts().count(), 0);
    meeting.net.run(Duration::from_millis(20));
    assert_eq!(outcome(&meeting.net.nodes[1].events), "match");
    let discovery = &meeting.net.nodes[1].discovery;
    assert_eq!(discovery.counters().type_requests_expired, 1);
    assert_eq!(discovery.endpoints.undecided().len(), 0);
}

#[test]
fn an_endpoint_that_goes_is_not_decided_any_more() {
    let writer = quote(Appendable, Type::F64, None);
    let reader = quote(Appendable, Type::F64, Some(Type::U32));
    let mut meeting = Meeting::of(&writer, &reader);
    meeting.net.run(MOMENT);
    meeting.net.loss_percent = 100;
    let (writer, reader) = (Arc::new(meeting.writer), meeting.reader);
    let guid = reader.guid;
    meeting.net.call(1, |discovery, now, outbox| {
        discovery.upsert(now, Arc::clone(&writer));
        discovery.add(now, reader, outbox).expect("its own");
        assert_eq!(discovery.endpoints.undecided().len(), 1);
        assert!(discovery.remove(now, guid, None, outbox));
        assert_eq!(discovery.endpoints.undecided().len(), 0);
    });
    meeting.net.run(Duration::from_secs(3));
    assert_eq!(outcome(&meeting.net.nodes[1].events), "");
}

/// Endpoints of as many different types, from a number on.
fn writers(types: core::ops::Range<u16>) -> impl Iterator<Item = (EndpointData, TypeDescription)> {
    types.map(|number| {
        let bound = u32::from(number) + 1;
        let ty = quote(Appendable, Type::String { bound }, Some(Type::U8));
        let mut data = endpoint(1, Role::Writer, &ty);
        data.guid.entity = EntityId::user_writer(bound, false);
        (data, ty)
    })
}

/// A node with a reader, and another one that knows the types of its writers if `knows`.
fn many_types(count: u16, knows: bool, limits: impl FnOnce(&mut DiscoveryLimits)) -> Net {
    let mut narrow = config(2);
    limits(&mut narrow.limits);
    let mut net = Net::new([config(1), narrow]);
    net.run(MOMENT);
    let ty = quote(Appendable, Type::String { bound: 9 }, None);
    let types = net.nodes[1].discovery.types_mut();
    types.add(&ty).expect("a small type");
    net.add(1, endpoint(2, Role::Reader, &ty));
    for (data, ty) in writers(0..count) {
        if knows {
            let types = net.nodes[0].discovery.types_mut();
            types.add(&ty).expect("a small type");
        }
        net.call_one(0, |discovery, now, outbox| discovery.add(now, data, outbox))
            .expect("its own");
    }
    net
}

#[test]
fn types_of_many_endpoints_are_asked_for_together() {
    let mut net = many_types(500, true, |_| {});
    net.settle();
    net.run(Duration::from_secs(1));
    let discovery = &net.nodes[1].discovery;
    assert_eq!(discovery.endpoints.undecided().len(), 0);
    assert_eq!(discovery.verdicts().count(), 500);
    let answered = net.nodes[0].discovery.counters().types_answered;
    assert!(answered < 60, "{answered} requests");
}

#[test]
fn only_what_an_answer_decides_is_compared_again() {
    let mut net = many_types(500, true, |_| {});
    net.settle();
    net.run(Duration::from_secs(1));
    let compared = net.nodes[1].discovery.counters().pairs_compared;
    assert!(compared <= 3 * 500, "{compared} comparisons of 500 pairs");
}

#[test]
fn a_participant_has_its_share_of_types() {
    let mut net = many_types(100, true, |limits| limits.max_types_per_participant = 20);
    net.join(config(3));
    net.settle();
    net.run(Duration::from_secs(1));
    let discovery = &net.nodes[1].discovery;
    // Beyond its share, what it writes goes by the name of its type.
    assert_eq!(discovery.verdicts().count(), 100);
    assert!(discovery.counters().types_refused > 0);
    // Others are not kept from matching by it.
    let ty = quote(Appendable, Type::I32, None);
    let types = net.nodes[2].discovery.types_mut();
    types.add(&ty).expect("a small type");
    let data = endpoint(3, Role::Writer, &ty);
    let guid = data.guid;
    net.add(2, data);
    net.run(MOMENT);
    let discovery = &net.nodes[1].discovery;
    let mut verdicts = discovery.verdicts();
    let verdict = verdicts.find(|(writer, ..)| *writer == guid);
    assert!(verdict.is_some_and(|(.., verdict)| !verdict.is_match()));
}

#[test]
fn objects_of_one_participant_take_bounded_memory() {
    let mut net = many_types(100, true, |limits| {
        limits.max_type_bytes_per_participant = 2_000;
    });
    net.settle();
    net.run(Duration::from_secs(1));
    let discovery = &net.nodes[1].discovery;
    assert_eq!(discovery.verdicts().count(), 100);
    assert!(discovery.counters().type_objects_refused > 0);
    assert!(discovery.types().len() < 40, "{}", discovery.types().len());
}

#[test]
fn a_silent_participant_with_many_types_is_waited_for_once() {
    let mut net = many_types(500, false, |_| {});
    net.settle();
    net.run(Duration::from_millis(2_100));
    let discovery = &net.nodes[1].discovery;
    assert_eq!(discovery.verdicts().count(), 500);
    assert_eq!(discovery.endpoints.undecided().len(), 0);
}
