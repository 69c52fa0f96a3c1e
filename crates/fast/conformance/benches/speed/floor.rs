//! What hand-written code needs: one straight function per template, made for these templates and nothing else.
//!
//! The packets have zeros behind them, so that 8 bytes can be loaded wherever a message may end. Strings stay where they
//! are in the packet. Faults (D2, D5, D9, a missing stop bit, truncation) are noticed, but nothing says where.

pub(crate) mod complex;
pub(crate) mod simple;

use std::hint::black_box;

use crate::data::{Data, PADDING};

/// Something is wrong with the packet.
#[derive(Debug)]
pub(crate) struct Fault;

/// What a message is given to.
pub(crate) trait Sink {
    fn take<T: Total>(&mut self, message: &T);
}

/// A message whose values can be added up.
pub(crate) trait Total {
    fn total(&self) -> u64;
}

/// Demands that every value is in memory, and does nothing with it.
pub(crate) struct Discard;

impl Sink for Discard {
    #[inline(always)]
    fn take<T: Total>(&mut self, message: &T) {
        black_box(message);
    }
}

/// Adds up all values.
struct Adder(u64);

impl Sink for Adder {
    fn take<T: Total>(&mut self, message: &T) {
        self.0 = self.0.wrapping_add(message.total());
    }
}

/// A pass over all packets of the simple data.
pub(crate) fn simple(data: &Data) -> impl FnMut() {
    || {
        for packet in &data.padded {
            assert!(simple::packet(packet, &mut Discard).is_ok());
        }
    }
}

/// A pass over all packets of the complex data.
pub(crate) fn complex(data: &Data) -> impl FnMut() {
    let mut room = complex::Room::default();
    move || {
        for packet in &data.padded {
            assert!(complex::packet(packet, &mut room, &mut Discard).is_ok());
        }
    }
}

/// The sum of all values of the data.
pub(crate) fn total(data: &Data) -> Result<u64, Fault> {
    let mut sum = Adder(0);
    let mut room = complex::Room::default();
    for packet in &data.padded {
        match data.name {
            "simple" => simple::packet(packet, &mut sum)?,
            _ => complex::packet(packet, &mut room, &mut sum)?,
        }
    }
    Ok(sum.0)
}

/// The bytes of a packet and how far it was read.
#[derive(Clone, Copy)]
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Something was wrong somewhere.
    fault: bool,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            fault: false,
        }
    }

    fn len(&self) -> usize {
        self.bytes.len() - PADDING
    }

    /// The next 8 bytes, the first in the lowest place; zeros behind the end.
    #[inline(always)]
    fn load(&self) -> u64 {
        match self.bytes.get(self.at..self.at + 8) {
            Some(bytes) => bytes
                .first_chunk()
                .map_or(0, |bytes| u64::from_le_bytes(*bytes)),
            None => 0,
        }
    }

    /// Presence map of at most 4 bytes, its first bit on top.
    #[inline(always)]
    fn map(&mut self) -> u32 {
        let word = self.load();
        let (a, b, c) = (
            word as u32 & 0x7f,
            word as u32 >> 8 & 0x7f,
            word as u32 >> 16 & 0x7f,
        );
        if word & 0x80 != 0 {
            self.at += 1;
            return a << 25;
        }
        if word & 0x8000 != 0 {
            self.at += 2;
            return a << 25 | b << 18;
        }
        self.fault |= word & 0x80_0000 == 0;
        self.at += 3;
        a << 25 | b << 18 | c << 11
    }

    /// Unsigned integer of 32 bits.
    #[inline(always)]
    fn u32(&mut self) -> u32 {
        let word = self.load();
        let low = |value: u64| (value & 0x7f) as u32;
        if word & 0x80 != 0 {
            self.at += 1;
            return low(word);
        }
        if word & 0x8000 != 0 {
            self.at += 2;
            return low(word) << 7 | low(word >> 8);
        }
        if word & 0x80_0000 != 0 {
            self.at += 3;
            return low(word) << 14 | low(word >> 8) << 7 | low(word >> 16);
        }
        if word & 0x8000_0000 != 0 {
            self.at += 4;
            return low(word) << 21 | low(word >> 8) << 14 | low(word >> 16) << 7 | low(word >> 24);
        }
        self.fault |= word & 0x80_0000_0070 != 0x80_0000_0000;
        self.at += 5;
        low(word) << 28
            | low(word >> 8) << 21
            | low(word >> 16) << 14
            | low(word >> 24) << 7
            | low(word >> 32)
    }

    /// Nullable unsigned integer of 32 bits.
    #[inline(always)]
    fn nullable_u32(&mut self) -> Option<u32> {
        // 2^32 - 1 would be sent as 2^32, which has 33 bits.
        self.u32().checked_sub(1)
    }
}
