//! What nobody may do: announce without end, or for others.

use proptest::prelude::*;

use super::*;

#[test]
fn a_flood_meets_a_limit() {
    let mut narrow = config(1);
    narrow.limits.max_participants = 2;
    narrow.limits.max_endpoints_per_participant = 1;
    let mut net = Net::new([narrow, config(2), config(3), config(4)]);
    net.add(1, writer(2, "Quote"));
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    let discovery = &net.nodes[0].discovery;
    assert_eq!(discovery.participants().count(), 2);
    assert!(discovery.counters().participants_refused > 0);
    assert_eq!(discovery.endpoints().count(), 1);
    assert_eq!(discovery.counters().endpoints_refused, 1);
}

/// A reader with 60,000 octets of user data, one of many.
fn heavy_reader(id: u8, key: u32) -> EndpointData {
    let mut data = reader(id, "Quote");
    data.guid = Guid::new(prefix(id), EntityId::user_reader(key, true));
    data.qos.user_data = vec![7; 60_000];
    data
}

#[test]
fn what_one_participant_announces_takes_bounded_memory() {
    let mut narrow = config(1);
    narrow.limits.max_bytes_per_participant = 200_000;
    let mut net = Net::new([narrow, config(2), config(3)]);
    (1..=5).for_each(|key| net.add(1, heavy_reader(2, key)));
    net.add(2, reader(3, "Quote"));
    net.run(MOMENT);
    let known = |net: &Net| net.nodes[0].discovery.endpoints().count();
    let refused = |net: &Net| net.nodes[0].discovery.counters().endpoints_refused;
    assert_eq!((known(&net), refused(&net)), (3 + 1, 2));
    // What grows is refused, what shrinks or goes makes room.
    let mut first = heavy_reader(2, 1);
    first.qos.topic_data = vec![8; 60_000];
    net.add(1, first.clone());
    net.run(MOMENT);
    assert_eq!((known(&net), refused(&net)), (4, 3));
    first.qos.topic_data.clear();
    first.qos.user_data.clear();
    net.add(1, first);
    net.add(1, heavy_reader(2, 6));
    net.run(MOMENT);
    assert_eq!((known(&net), refused(&net)), (5, 3));
    net.call(1, |discovery, now, outbox| {
        discovery.remove(now, heavy_reader(2, 6).guid, None, outbox)
    });
    net.add(1, heavy_reader(2, 7));
    net.run(MOMENT);
    assert_eq!((known(&net), refused(&net)), (5, 3));
}

#[test]
fn what_all_participants_announce_takes_bounded_memory() {
    let mut narrow = config(1);
    narrow.limits.max_bytes = 150_000;
    let mut net = Net::new([narrow, config(2), config(3)]);
    net.add(1, heavy_reader(2, 1));
    net.add(1, heavy_reader(2, 2));
    net.add(2, heavy_reader(3, 1));
    net.run(MOMENT);
    assert_eq!(net.nodes[0].discovery.endpoints().count(), 2);
    assert_eq!(net.nodes[0].discovery.counters().endpoints_refused, 1);
    // All that one held is free when it goes.
    net.call(1, |discovery, _, outbox| discovery.close(outbox));
    net.call(2, |discovery, now, outbox| {
        let updated = discovery.update_participant(now, |own| own.user_data = vec![1; 20_000]);
        discovery.handle_timeout(now, outbox);
        updated
    })
    .expect("short enough");
    net.add(2, heavy_reader(3, 2));
    net.run(MOMENT);
    let discovery = &net.nodes[0].discovery;
    assert_eq!(discovery.counters().participants_refused, 0);
    assert!(discovery.endpoint(heavy_reader(3, 2).guid).is_some());
}

#[test]
fn an_announcement_that_nobody_would_take_is_not_made() {
    let mut net = Net::new([config(1)]);
    let mut data = heavy_reader(1, 1);
    data.qos.topic_data = vec![8; 65_000];
    data.qos.group_data = vec![9; 65_000];
    net.add(0, data.clone());
    data.qos.partition = (0..4_000).map(|n| n.to_string()).collect();
    data.type_information = vec![0; 60_000];
    let result = net.call(0, |discovery, now, outbox| discovery.add(now, data, outbox));
    assert!(matches!(result, Err(AddError::TooLarge { .. })));
}

#[test]
fn a_participant_speaks_only_for_itself() {
    let mut net = pair();
    net.run(MOMENT);
    net.count(1, |_| true);
    let mut key = Vec::new();
    ParticipantData::write_key(&mut key, prefix(1));
    let mut qos = Vec::new();
    let mut list = crate::wire::ParameterListWriter::new(&mut qos);
    list.status_info(StatusInfo::DISPOSED);
    list.finish();
    let mut outbox = Outbox::new();
    outbox.message(prefix(7), &[metatraffic(2)]).data(&Data {
        reader: EntityId::SPDP_READER,
        writer: EntityId::SPDP_WRITER,
        sequence_number: SequenceNumber(1),
        inline_qos: InlineQos {
            bytes: &qos,
            little_endian: true,
        },
        payload: SerializedPayload::Key(&key),
    });
    net.deliver(&outbox);
    net.settle();
    assert_eq!(net.count(1, |_| true), 0);
    assert_eq!(net.nodes[1].discovery.counters().misbehaved, 1);
}

#[test]
fn an_endpoint_belongs_to_no_publisher_of_another_participant() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    let own = Guid::new(prefix(1), EntityId::user_publisher(3));
    let foreign = Guid::new(prefix(2), EntityId::user_publisher(3));
    for (group, believed) in [(own, Some(own)), (foreign, None)] {
        let data = EndpointData {
            group: Some(group),
            ..writer(1, "Quote")
        };
        let guid = data.guid;
        net.add(0, data);
        net.run(MOMENT);
        let heard = net.nodes[1].discovery.endpoint(guid);
        assert_eq!(heard.map(|data| data.group), Some(believed));
    }
    assert_eq!(net.nodes[1].discovery.counters().misbehaved, 1);
}

#[test]
fn a_foreign_endpoint_is_not_ours_to_add() {
    let mut net = Net::new([config(1)]);
    let result = net.call(0, |discovery, now, outbox| {
        discovery.add(now, writer(2, "Quote"), outbox)
    });
    assert_eq!(result, Err(AddError::Foreign));
    let mut long = writer(1, "Quote");
    long.qos.user_data = vec![0; 70_000];
    let result = net.call(0, |discovery, now, outbox| discovery.add(now, long, outbox));
    assert!(matches!(result, Err(AddError::TooLong(_))));
    assert_eq!(net.nodes[0].discovery.endpoints().count(), 0);
}

proptest! {
    #[test]
    fn garbage_between_participants_never_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        every in 1..4_usize,
    ) {
        let mut net = pair();
        let mut seen = 0;
        // Everything that one says reaches the other with bytes changed.
        for _ in 0..20 {
            let mut outbox = Outbox::new();
            let node = &mut net.nodes[0];
            node.discovery.handle_timeout(net.now, &mut outbox);
            node.discovery.add(net.now, writer(1, "Quote"), &mut outbox).expect("own endpoint");
            for (datagram, _) in outbox.datagrams() {
                seen += 1;
                let mut bytes = datagram.to_vec();
                for (index, value) in changes.iter().filter(|_| seen % every == 0) {
                    let index = index.index(bytes.len());
                    bytes[index] = *value;
                }
                let Ok(reader) = MessageReader::new(&bytes) else { continue };
                for (context, submessage) in reader.map_while(Result::ok) {
                    net.call(1, |discovery, now, outbox| {
                        discovery.handle(now, &context, &submessage, outbox);
                    });
                }
            }
            net.now = net.now + Duration::from_millis(120);
        }
        prop_assert!(net.nodes[1].discovery.participants().count() <= 20);
    }
}
