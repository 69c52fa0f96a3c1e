//! Quote, New, Change, Remove and Done.

use super::{Fault, Reader, Sink, Total};

struct Done;
struct New(Order);
struct Change(Order);

struct Quote {
    sequence_number: u32,
    timestamp: u32,
    order_id: u32,
    volume: u32,
    price: u32,
    exchange_id: u8,
    security_id: u16,
    security_type: u8,
    session_id: u8,
}

struct Order {
    quote: Quote,
    side: u8,
}

struct Remove {
    sequence_number: u32,
    timestamp: u32,
    order_id: u32,
    exchange_id: u8,
    security_id: u16,
    security_type: u8,
    session_id: u8,
    side: u8,
}

/// Previous values: all templates share the global dictionary.
#[derive(Clone, Copy, Default)]
struct Dictionary {
    sequence_number: u32,
    timestamp: u32,
    order_id: u32,
    volume: u32,
    price: u32,
    exchange_id: u8,
    security_id: u16,
    security_type: u8,
    session_id: u8,
    side: u8,
    /// Which of them have a value, in the presence-map bits of New.
    known: u32,
}

/// Decodes the messages of a packet.
pub(crate) fn packet(bytes: &[u8], sink: &mut impl Sink) -> Result<(), Fault> {
    let mut reader = Reader::new(bytes);
    let mut dictionary = Dictionary::default();
    let mut template = 0;
    let len = reader.len();
    while reader.at < len {
        let map = reader.map();
        if map >> 31 != 0 {
            template = reader.u32();
        }
        match template {
            1 => sink.take(&dictionary.quote(&mut reader, map)),
            2 => sink.take(&New(dictionary.order(&mut reader, map))),
            3 => sink.take(&Change(dictionary.order(&mut reader, map))),
            4 => sink.take(&dictionary.remove(&mut reader, map)),
            99 => sink.take(&Done),
            _ => return Err(Fault),
        }
        if reader.fault || reader.at > len {
            return Err(Fault);
        }
    }
    Ok(())
}

impl Dictionary {
    #[inline(always)]
    fn order(&mut self, reader: &mut Reader<'_>, map: u32) -> Order {
        let quote = self.quote(reader, map);
        self.known |= map & SIDE;
        reader.fault |= self.known & SIDE == 0;
        let side = byte(reader, map, 10, &mut self.side);
        Order { quote, side }
    }

    #[inline(always)]
    fn quote(&mut self, reader: &mut Reader<'_>, map: u32) -> Quote {
        self.known |= map & QUOTE;
        reader.fault |= self.known & QUOTE != QUOTE;
        self.sequence_number = match bit(map, 1) {
            true => reader.u32(),
            false => self.sequence_number.wrapping_add(1),
        };
        copy(reader, map, 2, &mut self.timestamp);
        copy(reader, map, 3, &mut self.order_id);
        copy(reader, map, 4, &mut self.volume);
        copy(reader, map, 5, &mut self.price);
        byte(reader, map, 6, &mut self.exchange_id);
        short(reader, map, 7, &mut self.security_id);
        byte(reader, map, 8, &mut self.security_type);
        byte(reader, map, 9, &mut self.session_id);
        Quote {
            sequence_number: self.sequence_number,
            timestamp: self.timestamp,
            order_id: self.order_id,
            volume: self.volume,
            price: self.price,
            exchange_id: self.exchange_id,
            security_id: self.security_id,
            security_type: self.security_type,
            session_id: self.session_id,
        }
    }

    #[inline(always)]
    fn remove(&mut self, reader: &mut Reader<'_>, map: u32) -> Remove {
        // The bits of the first three fields are at New's places, the others two places before.
        self.known |= map & 0x7000_0000 | (map << 2 >> 4 & 0x03e0_0000);
        reader.fault |= self.known & REMOVE != REMOVE;
        self.sequence_number = match bit(map, 1) {
            true => reader.u32(),
            false => self.sequence_number.wrapping_add(1),
        };
        copy(reader, map, 2, &mut self.timestamp);
        copy(reader, map, 3, &mut self.order_id);
        byte(reader, map, 4, &mut self.exchange_id);
        short(reader, map, 5, &mut self.security_id);
        byte(reader, map, 6, &mut self.security_type);
        byte(reader, map, 7, &mut self.session_id);
        byte(reader, map, 8, &mut self.side);
        Remove {
            sequence_number: self.sequence_number,
            timestamp: self.timestamp,
            order_id: self.order_id,
            exchange_id: self.exchange_id,
            security_id: self.security_id,
            security_type: self.security_type,
            session_id: self.session_id,
            side: self.side,
        }
    }
}

#[inline(always)]
fn bit(map: u32, number: u32) -> bool {
    map << number >> 31 != 0
}

#[inline(always)]
fn copy(reader: &mut Reader<'_>, map: u32, number: u32, previous: &mut u32) {
    if bit(map, number) {
        *previous = reader.u32();
    }
}

#[inline(always)]
fn short(reader: &mut Reader<'_>, map: u32, number: u32, previous: &mut u16) {
    if bit(map, number) {
        let value = reader.u32();
        reader.fault |= value > u16::MAX.into();
        *previous = value as u16;
    }
}

/// A value of one byte, nearly always: taken without a branch on whether it is there.
#[inline(always)]
fn byte(reader: &mut Reader<'_>, map: u32, number: u32, previous: &mut u8) -> u8 {
    let present = bit(map, number);
    if present {
        let value = reader.u32();
        reader.fault |= value > u8::MAX.into();
        *previous = value as u8;
    }
    *previous
}

impl Total for Quote {
    fn total(&self) -> u64 {
        MESSAGE_TYPE + self.fields()
    }
}

impl Quote {
    fn fields(&self) -> u64 {
        [
            self.sequence_number,
            self.timestamp,
            self.order_id,
            self.volume,
            self.price,
            self.exchange_id.into(),
            self.security_id.into(),
            self.security_type.into(),
            self.session_id.into(),
        ]
        .map(u64::from)
        .iter()
        .sum()
    }
}

impl Total for New {
    fn total(&self) -> u64 {
        MESSAGE_TYPE + 1 + self.0.quote.fields() + u64::from(self.0.side)
    }
}

impl Total for Change {
    fn total(&self) -> u64 {
        MESSAGE_TYPE + 2 + self.0.quote.fields() + u64::from(self.0.side)
    }
}

impl Total for Remove {
    fn total(&self) -> u64 {
        let quote = Quote {
            sequence_number: self.sequence_number,
            timestamp: self.timestamp,
            order_id: self.order_id,
            volume: 0,
            price: 0,
            exchange_id: self.exchange_id,
            security_id: self.security_id,
            security_type: self.security_type,
            session_id: self.session_id,
        };
        MESSAGE_TYPE + 3 + quote.fields() + u64::from(self.side)
    }
}

impl Total for Done {
    fn total(&self) -> u64 {
        99
    }
}

/// MessageType of a Quote; those of the next templates follow.
const MESSAGE_TYPE: u64 = 11;
/// The map bits of the fields of a Quote, of a Remove at the places of New, and of Side.
const QUOTE: u32 = 0x7fc0_0000;
const REMOVE: u32 = 0x73e0_0000;
const SIDE: u32 = 0x0020_0000;
