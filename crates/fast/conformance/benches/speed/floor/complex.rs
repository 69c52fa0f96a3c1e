//! MarketData, QuoteRequest and Done.

use super::{Fault, Reader, Sink, Total};

/// A string where it is in the packet, its last byte with the stop bit.
#[derive(Clone, Copy, Default)]
struct Text<'a>(&'a [u8]);

#[derive(Clone, Copy, Default)]
struct Decimal {
    mantissa: i64,
    exponent: i32,
}

struct Done;

struct MarketData<'a, 'b> {
    msg_seq_num: u32,
    sending_time: u32,
    trade_date: u32,
    md_entries: &'b [MdEntry<'a>],
}

#[derive(Clone, Copy, Default)]
struct MdEntry<'a> {
    md_update_action: u32,
    md_price_level: Option<u32>,
    md_entry_type: Text<'a>,
    open_close_settle_flag: Option<u32>,
    security_id: u32,
    rpt_seq: u32,
    md_entry_px: Decimal,
    md_entry_time: u32,
    md_entry_size: Option<i32>,
    number_of_orders: Option<u32>,
    trading_session_id: Option<Text<'a>>,
    net_chg_prev_day: Option<Decimal>,
    trade_volume: Option<u32>,
    trade_condition: Option<Text<'a>>,
    tick_direction: Option<Text<'a>>,
    quote_condition: Option<Text<'a>>,
    aggressor_side: Option<u32>,
    match_event_indicator: Option<Text<'a>>,
}

struct QuoteRequest<'a, 'b> {
    msg_seq_num: u32,
    sending_time: u32,
    quote_req_id: Option<Text<'a>>,
    related_sym: &'b [RelatedSym],
}

#[derive(Clone, Copy, Default)]
struct RelatedSym {
    order_qty: Option<u64>,
    side: Option<u32>,
    transact_time: u64,
    quote_type: u32,
    security_id: u32,
}

/// Previous values of a MarketData's entries. The template resets, so they begin undefined with each message.
#[derive(Default)]
struct Dictionary<'a> {
    md_update_action: u32,
    md_entry_type: Text<'a>,
    security_id: u32,
    rpt_seq: u32,
    md_entry_px: i64,
    md_entry_time: u32,
    md_entry_size: i32,
    number_of_orders: u32,
    net_chg_prev_day: i64,
    /// Which of those without an initial value have one, in the map bits of an entry.
    known: u32,
}

/// Room for the elements of one message.
#[derive(Default)]
pub(crate) struct Room<'a> {
    md_entries: [MdEntry<'a>; MOST],
    related_sym: [RelatedSym; MOST],
}

/// Decodes the messages of a packet.
pub(crate) fn packet<'a>(
    bytes: &'a [u8],
    room: &mut Room<'a>,
    sink: &mut impl Sink,
) -> Result<(), Fault> {
    let mut reader = Reader::new(bytes);
    let len = reader.len();
    let mut template = 0;
    while reader.at < len {
        let map = reader.map();
        if map >> 31 != 0 {
            template = reader.u32();
        }
        match template {
            1 => market_data(&mut reader, &mut room.md_entries, sink)?,
            2 => quote_request(&mut reader, &mut room.related_sym, sink)?,
            99 => sink.take(&Done),
            _ => return Err(Fault),
        }
        if reader.fault || reader.at > len {
            return Err(Fault);
        }
    }
    Ok(())
}

#[inline(always)]
fn market_data<'a>(
    reader: &mut Reader<'a>,
    entries: &mut [MdEntry<'a>; MOST],
    sink: &mut impl Sink,
) -> Result<(), Fault> {
    let msg_seq_num = reader.u32();
    let sending_time = reader.u32();
    let trade_date = reader.u32();
    let count = reader.u32() as usize;
    let md_entries = entries.get_mut(..count).ok_or(Fault)?;
    let mut dictionary = Dictionary {
        md_update_action: 1,
        md_entry_type: Text(b"\xb0"),
        ..Dictionary::default()
    };
    for entry in &mut *md_entries {
        *entry = dictionary.entry(reader);
    }
    sink.take(&MarketData {
        msg_seq_num,
        sending_time,
        trade_date,
        md_entries,
    });
    Ok(())
}

impl<'a> Dictionary<'a> {
    #[inline(always)]
    fn entry(&mut self, reader: &mut Reader<'a>) -> MdEntry<'a> {
        let map = reader.map();
        self.known |= map & NEEDED;
        reader.fault |= self.known & NEEDED != NEEDED;
        if bit(map, 0) {
            self.md_update_action = reader.u32();
        }
        let md_price_level = if bit(map, 1) {
            reader.nullable_u32()
        } else {
            Some(1)
        };
        if bit(map, 2) {
            self.md_entry_type = text(reader);
        }
        let open_close_settle_flag = reader.nullable_u32();
        if bit(map, 3) {
            self.security_id = reader.u32();
        }
        self.rpt_seq = if bit(map, 4) {
            reader.u32()
        } else {
            self.rpt_seq.wrapping_add(1)
        };
        let px_exponent = if bit(map, 5) { signed(reader) } else { 0 };
        self.md_entry_px = add(reader, self.md_entry_px);
        if bit(map, 6) {
            self.md_entry_time = reader.u32();
        }
        let md_entry_size = nullable_delta(reader, self.md_entry_size.into()).map(|size| {
            reader.fault |= i32::try_from(size).is_err();
            self.md_entry_size = size as i32;
            size as i32
        });
        let number_of_orders = nullable_delta(reader, self.number_of_orders.into()).map(|orders| {
            reader.fault |= u32::try_from(orders).is_err();
            self.number_of_orders = orders as u32;
            orders as u32
        });
        let trading_session_id = if bit(map, 7) {
            nullable_text(reader)
        } else {
            Some(Text(b"\xb2"))
        };
        let chg_exponent = if bit(map, 8) {
            nullable_signed(reader)
        } else {
            None
        };
        let net_chg_prev_day = chg_exponent.map(|exponent| {
            self.net_chg_prev_day = add(reader, self.net_chg_prev_day);
            decimal(reader, self.net_chg_prev_day, exponent)
        });
        MdEntry {
            md_update_action: self.md_update_action,
            md_price_level,
            md_entry_type: self.md_entry_type,
            open_close_settle_flag,
            security_id: self.security_id,
            rpt_seq: self.rpt_seq,
            md_entry_px: decimal(reader, self.md_entry_px, px_exponent),
            md_entry_time: self.md_entry_time,
            md_entry_size,
            number_of_orders,
            trading_session_id,
            net_chg_prev_day,
            trade_volume: if bit(map, 9) {
                reader.nullable_u32()
            } else {
                None
            },
            trade_condition: if bit(map, 10) {
                nullable_text(reader)
            } else {
                None
            },
            tick_direction: if bit(map, 11) {
                nullable_text(reader)
            } else {
                None
            },
            quote_condition: if bit(map, 12) {
                nullable_text(reader)
            } else {
                None
            },
            aggressor_side: if bit(map, 13) {
                reader.nullable_u32()
            } else {
                None
            },
            match_event_indicator: if bit(map, 14) {
                nullable_text(reader)
            } else {
                Some(Text(b"\xb1"))
            },
        }
    }
}

fn quote_request(
    reader: &mut Reader<'_>,
    symbols: &mut [RelatedSym; MOST],
    sink: &mut impl Sink,
) -> Result<(), Fault> {
    let msg_seq_num = reader.u32();
    let sending_time = reader.u32();
    let quote_req_id = nullable_text(reader);
    let count = reader.u32() as usize;
    let related_sym = symbols.get_mut(..count).ok_or(Fault)?;
    for symbol in &mut *related_sym {
        let map = reader.map();
        *symbol = RelatedSym {
            order_qty: u64(reader).checked_sub(1),
            side: if bit(map, 0) {
                reader.nullable_u32()
            } else {
                Some(1)
            },
            transact_time: u64(reader),
            quote_type: if bit(map, 1) { reader.u32() } else { 1 },
            security_id: reader.u32(),
        };
    }
    sink.take(&QuoteRequest {
        msg_seq_num,
        sending_time,
        quote_req_id,
        related_sym,
    });
    Ok(())
}

#[inline(always)]
fn bit(map: u32, number: u32) -> bool {
    map << number >> 31 != 0
}

/// Signed integer of at most 4 bytes, or by the general way.
#[inline(always)]
fn signed(reader: &mut Reader<'_>) -> i64 {
    let word = reader.load();
    let low = |at: u32| (word >> (8 * at) & 0x7f) as i32;
    let (value, len) = if word & 0x80 != 0 {
        (low(0) << 25 >> 25, 1)
    } else if word & 0x8000 != 0 {
        ((low(0) << 25 | low(1) << 18) >> 18, 2)
    } else if word & 0x80_0000 != 0 {
        ((low(0) << 25 | low(1) << 18 | low(2) << 11) >> 11, 3)
    } else if word & 0x8000_0000 != 0 {
        (
            (low(0) << 25 | low(1) << 18 | low(2) << 11 | low(3) << 4) >> 4,
            4,
        )
    } else {
        return wide_signed(reader);
    };
    reader.at += len;
    value.into()
}

#[cold]
#[inline(never)]
fn wide_signed(reader: &mut Reader<'_>) -> i64 {
    let negative = reader
        .bytes
        .get(reader.at)
        .is_some_and(|first| first & 0x40 != 0);
    let mut value = if negative { -1 } else { 0 };
    for len in 1..=10 {
        let Some(byte) = reader.bytes.get(reader.at) else {
            break;
        };
        reader.at += 1;
        reader.fault |= len == 10 && !matches!(value >> 56, 0 | -1);
        value = value << 7 | i64::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            return value;
        }
    }
    reader.fault = true;
    0
}

#[cold]
#[inline(never)]
fn u64(reader: &mut Reader<'_>) -> u64 {
    let mut value: u64 = 0;
    for _ in 1..=10 {
        let Some(byte) = reader.bytes.get(reader.at) else {
            break;
        };
        reader.at += 1;
        reader.fault |= value >> 57 != 0;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            return value;
        }
    }
    reader.fault = true;
    0
}

#[inline(always)]
fn nullable_signed(reader: &mut Reader<'_>) -> Option<i64> {
    match signed(reader) {
        0 => None,
        value => Some(value - i64::from(value > 0)),
    }
}

#[inline(always)]
fn add(reader: &mut Reader<'_>, base: i64) -> i64 {
    let (sum, overflow) = base.overflowing_add(signed(reader));
    reader.fault |= overflow;
    sum
}

#[inline(always)]
fn nullable_delta(reader: &mut Reader<'_>, base: i64) -> Option<i64> {
    let delta = nullable_signed(reader)?;
    let (sum, overflow) = base.overflowing_add(delta);
    reader.fault |= overflow;
    Some(sum)
}

#[inline(always)]
fn decimal(reader: &mut Reader<'_>, mantissa: i64, exponent: i64) -> Decimal {
    reader.fault |= !(-63..=63).contains(&exponent);
    Decimal {
        mantissa,
        exponent: exponent as i32,
    }
}

#[inline(always)]
fn text<'a>(reader: &mut Reader<'a>) -> Text<'a> {
    let rest = reader.bytes.get(reader.at..).unwrap_or_default();
    if let Some(first) = rest.first_chunk::<1>()
        && first[0] & 0x80 != 0
    {
        reader.at += 1;
        return Text(first);
    }
    let len = rest
        .iter()
        .position(|byte| byte & 0x80 != 0)
        .map_or(0, |last| last + 1);
    reader.fault |= len == 0;
    reader.at += len;
    Text(rest.get(..len).unwrap_or_default())
}

#[inline(always)]
fn nullable_text<'a>(reader: &mut Reader<'a>) -> Option<Text<'a>> {
    let text = text(reader);
    match text.0 {
        [0x80] => None,
        [0, inner @ ..] => Some(Text(inner)),
        _ => Some(text),
    }
}

impl Total for MarketData<'_, '_> {
    fn total(&self) -> u64 {
        let own = self.msg_seq_num + self.sending_time + self.trade_date;
        self.md_entries
            .iter()
            .fold(HEADER_LEN + u64::from(own), |total, entry| {
                total.wrapping_add(entry.total())
            })
    }
}

impl MdEntry<'_> {
    fn total(&self) -> u64 {
        let text = |text: Option<Text<'_>>| text.map_or(0, |text| text.0.len() as u64);
        let decimal = |value: Decimal| {
            value
                .mantissa
                .wrapping_add(value.exponent.into())
                .cast_unsigned()
        };
        let numbers = [
            Some(self.md_update_action),
            self.md_price_level,
            self.open_close_settle_flag,
            Some(9),
            Some(self.security_id),
            Some(self.rpt_seq),
            Some(self.md_entry_time),
            self.number_of_orders,
            self.trade_volume,
            self.aggressor_side,
        ];
        let texts = [
            Some(self.md_entry_type),
            self.trading_session_id,
            self.trade_condition,
            self.tick_direction,
            self.quote_condition,
            self.match_event_indicator,
        ];
        numbers
            .into_iter()
            .map(|number| number.map_or(0, u64::from))
            .chain(texts.into_iter().map(text))
            .chain([
                decimal(self.md_entry_px),
                self.net_chg_prev_day.map_or(0, decimal),
                self.md_entry_size
                    .map_or(0, |size| i64::from(size).cast_unsigned()),
            ])
            .fold(0, u64::wrapping_add)
    }
}

impl Total for QuoteRequest<'_, '_> {
    fn total(&self) -> u64 {
        let text = self.quote_req_id.map_or(0, |text| text.0.len() as u64);
        let own = u64::from(self.msg_seq_num) + u64::from(self.sending_time) + text;
        self.related_sym
            .iter()
            .fold(HEADER_LEN + own, |total, symbol| {
                total
                    + 5
                    + 9
                    + symbol.order_qty.unwrap_or(0)
                    + u64::from(symbol.side.unwrap_or(0))
                    + symbol.transact_time
                    + u64::from(symbol.quote_type)
                    + u64::from(symbol.security_id)
            })
    }
}

impl Total for Done {
    fn total(&self) -> u64 {
        2
    }
}

/// Bytes of the three constant strings "1.0", one letter, and "Test Exchange".
const HEADER_LEN: u64 = 3 + 1 + 13;
/// Most elements of a sequence.
const MOST: usize = 16;
/// The map bits of an entry's fields that must have a value: SecurityID, RptSeq and MDEntryTime.
const NEEDED: u32 = 0x1a00_0000;
