//! From bytes of FAST to readers of a topic, without a field touched by hand.

use std::net::UdpSocket;
use std::time::Duration;

use tickwire::{
    DataReaderQos, DataWriterQos, DomainParticipant, DynamicType, Serialized, TopicSupport,
};
use tickwire_fast::{BuildError, Decimal, Encoder, Message};
use tickwire_gateway::{Mapper, Mapping};

use super::generated::{self, OrderBook, order_book};
use super::{at_run_time, templates};

/// A message with every kind of field, as a program that knows no struct makes it.
fn order_book() -> Result<Message, BuildError> {
    let templates = templates();
    let mut message = Message::new();
    let template = templates
        .by_name("Order-Book")
        .ok_or(BuildError::NoField("".into()))?;
    let decimal = |mantissa, exponent| Decimal::new(mantissa, exponent).unwrap_or_default();
    message
        .build(template)
        .set("Symbol", "TICK")?
        .set("SecurityID", 4_711_u64)?
        .set("MsgSeqNum", 1_u64)?
        .set("Type", -1_i64)?
        .set("SendingTime", 1_700_000_000_000_000_000_i64)?
        .set("Text", "größer als vierundzwanzig Bytes")?
        .set("Raw", &b"\x00\xff"[..])?
        .set("Last", decimal(60_752, -2))?
        .set_elements("Conditions", ["R"])?
        .group("Party", |party| party.set("PartyID", "P").map(drop))?
        .group("Bits", |bits| {
            bits.set("Open", 1_u64)?
                .set("Phase", 5_u64)?
                .set("Side", "2")
                .map(drop)
        })?
        .sequence("MDEntries", [-1, 2], |entry, number| {
            entry
                .set("Side", "1")?
                .set("MDEntryPx", decimal(number, 3))?
                .set("MDEntrySize", number)?;
            if number > 0 {
                entry.sequence("Orders", [7_u64], |order, id| {
                    order.set("OrderID", id)?.set("Side", "Type").map(drop)
                })?;
            }
            Ok(())
        })?;
    Ok(message)
}

/// Keeps the last message.
#[derive(Default)]
struct Last(Option<OrderBook>);

impl generated::Handler for Last {
    fn order_book(&mut self, message: &OrderBook) {
        self.0 = Some(message.clone());
    }
}

fn decoded(message: &Message) -> OrderBook {
    let templates = message.template().unwrap().templates();
    let mut bytes = Vec::new();
    Encoder::new(templates).encode(message, &mut bytes).unwrap();
    let mut last = Last::default();
    let len = generated::Decoder::new().decode(&bytes, &mut last).unwrap();
    assert_eq!(len, bytes.len());
    last.0.unwrap()
}

/// The sample that the gateway publishes of the same message.
fn mapped(message: &Message) -> Serialized {
    let templates = message.template().unwrap().templates();
    let mut mapper = Mapper::new(templates, Mapping::TopicPerType);
    let mut sample = None;
    let kept = mapper.map(message, |_, _, made| {
        sample = Some(made.clone());
        Ok::<(), std::convert::Infallible>(())
    });
    kept.unwrap();
    sample.unwrap()
}

#[test]
fn a_decoded_struct_has_what_was_encoded() {
    let book = decoded(&order_book().unwrap());
    assert_eq!(book.symbol, "TICK");
    assert_eq!(book.last, Decimal::new(60_752, -2));
    assert_eq!(book.conditions, order_book::conditions::R);
    assert_eq!(book.bits.side, order_book::bits::Side::Sell);
    assert_eq!(book.md_entries.len(), 2);
    assert_eq!(book.md_entries[1].orders.as_ref().unwrap()[0].order_id, 7);
}

#[test]
fn a_struct_and_the_gateway_make_the_same_bytes() {
    let message = order_book().unwrap();
    let mut payload = Vec::new();
    let representation = tickwire::cdr::Representation::Xcdr2;
    decoded(&message)
        .write_payload(&(), representation, &mut payload)
        .unwrap();
    assert_eq!(payload, mapped(&message).payload());
}

#[test]
fn a_decoded_message_is_published_as_it_is() {
    let (domain, _reservation) = own_domain();
    let participant = || DomainParticipant::new(domain).unwrap();
    let (publisher, typed, dynamic) = (participant(), participant(), participant());
    let reliable = || DataReaderQos::default().reliable();

    let writer_topic = publisher.topic::<OrderBook>("Books").unwrap();
    let qos = DataWriterQos::default().reliable(PATIENCE);
    let writer = publisher.writer_with(&writer_topic, qos).unwrap();
    let typed_topic = typed.topic::<OrderBook>("Books").unwrap();
    let typed_reader = typed.reader_with(&typed_topic, reliable()).unwrap();
    let ty = DynamicType::described(at_run_time("Order-Book"));
    let dynamic_topic = dynamic.topic_of::<Serialized>("Books", ty).unwrap();
    let dynamic_reader = dynamic.reader_with(&dynamic_topic, reliable()).unwrap();
    writer.wait_for_matched(2, PATIENCE).unwrap();

    let message = order_book().unwrap();
    let book = decoded(&message);
    writer.write(&book).unwrap();

    typed_reader.wait_for_data(PATIENCE).unwrap();
    assert_eq!(typed_reader.take().data().next(), Some(&book));
    dynamic_reader.wait_for_data(PATIENCE).unwrap();
    let samples = dynamic_reader.take();
    let sample = samples.data().next().unwrap();
    assert_eq!(sample.payload(), mapped(&message).payload());
}

/// A DDS domain that no other test on this machine uses while the socket is open.
fn own_domain() -> (u32, UdpSocket) {
    let reserved = (1..=220_u16).rev().find_map(|id| {
        let reservation = UdpSocket::bind(("127.0.0.1", 7_400 + 250 * id + 249)).ok()?;
        Some((u32::from(id), reservation))
    });
    reserved.expect("not all domains are in use")
}

const PATIENCE: Duration = Duration::from_secs(10);
