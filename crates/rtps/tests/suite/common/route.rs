//! Datagrams to writers and readers, as a participant takes them apart.

use tickwire_base::Instant;
use tickwire_rtps::Outbox;
use tickwire_rtps::reader::{Reader, Sink};
use tickwire_rtps::wire::{Context, EntityId, MessageReader, Submessage};
use tickwire_rtps::writer::{Log, Writer};

/// Hands a datagram's submessages to a writer, as a participant does.
pub fn tell_writer<L: Log>(
    writer: &mut Writer<L>,
    now: Instant,
    datagram: &[u8],
    outbox: &mut Outbox,
) {
    let guid = writer.guid();
    for item in MessageReader::new(datagram).expect("a header") {
        let (context, submessage) = item.expect("well-formed submessages");
        if !context.is_for(guid.prefix) {
            continue;
        }
        route_to_writer(writer, now, &context, &submessage, outbox);
    }
}

/// Hands a submessage to a writer if it is the one named.
pub fn route_to_writer<L: Log>(
    writer: &mut Writer<L>,
    now: Instant,
    context: &Context<'_>,
    submessage: &Submessage<'_>,
    outbox: &mut Outbox,
) {
    let guid = writer.guid();
    match submessage {
        Submessage::AckNack(acknack) if acknack.writer == guid.entity => {
            writer.handle_acknack(now, context, acknack, outbox);
        }
        Submessage::NackFrag(nack) if nack.writer == guid.entity => {
            writer.handle_nack_frag(now, context, nack, outbox);
        }
        _ => {}
    }
}

/// Hands a datagram's submessages to a reader, as a participant does.
pub fn tell_reader(
    reader: &mut Reader,
    sink: &mut impl Sink,
    now: Instant,
    datagram: &[u8],
    outbox: &mut Outbox,
) {
    let guid = reader.guid();
    for item in MessageReader::new(datagram).expect("a header") {
        let (context, submessage) = item.expect("well-formed submessages");
        if !context.is_for(guid.prefix) {
            continue;
        }
        route_to_reader(reader, sink, now, &context, &submessage, outbox);
    }
}

/// Hands a submessage to a reader if it is among those named.
pub fn route_to_reader(
    reader: &mut Reader,
    sink: &mut impl Sink,
    now: Instant,
    context: &Context<'_>,
    submessage: &Submessage<'_>,
    outbox: &mut Outbox,
) {
    let guid = reader.guid();
    let mine = |entity| entity == EntityId::UNKNOWN || entity == guid.entity;
    match submessage {
        Submessage::Data(data) if mine(data.reader) => {
            reader.handle_data(now, context, data, sink);
        }
        Submessage::DataFrag(data) if mine(data.reader) => {
            reader.handle_data_frag(now, context, data, sink);
        }
        Submessage::Heartbeat(heartbeat) if mine(heartbeat.reader) => {
            reader.handle_heartbeat(now, context, heartbeat, sink, outbox);
        }
        Submessage::HeartbeatFrag(heartbeat) if mine(heartbeat.reader) => {
            reader.handle_heartbeat_frag(now, context, heartbeat, outbox);
        }
        Submessage::Gap(gap) if mine(gap.reader) => {
            reader.handle_gap(context, gap, sink);
        }
        _ => {}
    }
    reader.answer_owed(outbox);
}
