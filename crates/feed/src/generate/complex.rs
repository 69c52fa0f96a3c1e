//! Book updates in repeating groups: MarketData over many securities, and QuoteRequests.
//!
//! Messages are numbered from 0. Message `i` is a QuoteRequest if `i` is a multiple of 100; else a
//! MarketData whose first entries are of security `i` modulo their number, and whose entries after
//! the average number are of the next one.

use tickwire_fast::{Decimal, FieldIndex, Message, Templates, Visitor};

use super::fields::{Layout, Sample, sequence, start};
use super::random::Random;
use super::{GenerateError, Summary};

/// How much complex data, and of what shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComplexOptions {
    /// Messages before Done. Default 30,000.
    pub messages: u32,
    /// The most bytes a packet has, unless one message is longer. Default 1: each message is a
    /// packet of its own.
    pub packet_bytes: usize,
    /// Securities, 1 to 100,000. Default 100.
    pub securities: u32,
    /// Average entries in a MarketData, 1 to 1,000; they go from 1 to twice that less 1. Default 3.
    pub entries: u32,
    /// Whether all entries of a message are of one security. Default no.
    pub one_security: bool,
    /// Which of the possible data. Default 1.
    pub seed: u64,
}

impl Default for ComplexOptions {
    fn default() -> Self {
        Self {
            messages: 30_000,
            packet_bytes: 1,
            securities: 100,
            entries: 3,
            one_security: false,
            seed: 1,
        }
    }
}

/// The messages one after the other, and the books that they are about.
#[derive(Debug)]
pub(super) struct ComplexMessages {
    templates: Templates,
    market_data: Group,
    quote_request: Group,
    options: ComplexOptions,
    random: Random,
    made: u32,
    done: bool,
    time_ms: u64,
    books: Vec<Book>,
}

/// A template with one repeating group.
#[derive(Debug)]
struct Group {
    name: &'static str,
    header: Layout,
    sequence: FieldIndex,
    entry: Layout,
}

/// What has been told of a security.
#[derive(Clone, Debug)]
struct Book {
    security_id: u64,
    report: u64,
    price: i64,
    close: i64,
    volume: u64,
}

impl ComplexMessages {
    pub(super) fn new(
        templates: &Templates,
        options: ComplexOptions,
    ) -> Result<Self, GenerateError> {
        let max = crate::framing::MAX_PACKET_LEN as u64;
        GenerateError::check("packet size", options.packet_bytes as u64, 1, max)?;
        GenerateError::check("securities", options.securities.into(), 1, 100_000)?;
        GenerateError::check("entries", options.entries.into(), 1, 1_000)?;
        let mut random = Random::new(options.seed);
        let books = (0..options.securities)
            .map(|number| Book::new(number, &mut random))
            .collect();
        Ok(Self {
            templates: templates.clone(),
            market_data: Group::new(templates, "MarketData", "MDEntries", &ENTRY_FIELDS),
            quote_request: Group::new(templates, "QuoteRequest", "RelatedSym", &RELATED_FIELDS),
            options,
            random,
            made: 0,
            done: false,
            time_ms: OPENING_MS,
            books,
        })
    }

    pub(super) fn next(&mut self, message: &mut Message, summary: &mut Summary) -> bool {
        if self.done {
            return false;
        }
        summary.messages += 1;
        if self.made == self.options.messages {
            self.done = true;
            start(message, &self.templates, "Done");
            return true;
        }
        let number = self.made;
        self.made += 1;
        self.time_ms += self.random.below(3);
        if number.is_multiple_of(QUOTE_REQUEST_EVERY) {
            self.quote_request(number, message);
            summary.samples += 1;
            summary.entries += 1;
        } else {
            summary.samples += self.market_data(number, message);
            summary.entries += u64::from(self.entry_count(number));
        }
        true
    }

    /// Says how many securities the message is about.
    fn market_data(&mut self, number: u32, message: &mut Message) -> u64 {
        let count = self.entry_count(number);
        self.market_data
            .begin(&self.templates, message, &self.header(number), count);
        let mut next_security = false;
        for at in 0..count {
            let ahead = at >= self.options.entries && !self.options.one_security;
            next_security |= ahead;
            let security = (number + u32::from(ahead)) % self.options.securities;
            let values = self.entry(security, at);
            self.market_data.entry(message, at, &values);
        }
        self.market_data.end(message);
        1 + u64::from(next_security && self.options.securities > 1)
    }

    fn quote_request(&mut self, number: u32, message: &mut Message) {
        let security = number / QUOTE_REQUEST_EVERY % self.options.securities;
        let book = &self.books[security as usize];
        let quantity = 100 * (1 + self.random.below(20));
        let values = [
            if self.random.percent(50) {
                Sample::Unsigned(quantity)
            } else {
                Sample::Absent
            },
            Sample::Unsigned(1 + self.random.below(2)),
            Sample::Unsigned(self.time_ms),
            Sample::Unsigned(1),
            Sample::Unsigned(book.security_id),
        ];
        self.quote_request
            .begin(&self.templates, message, &self.header(number), 1);
        self.quote_request.entry(message, 0, &values);
        self.quote_request.end(message);
    }

    fn header(&self, number: u32) -> [Sample; 3] {
        [
            Sample::Unsigned(u64::from(number) + 1),
            Sample::Unsigned(self.time_ms),
            Sample::Unsigned(TRADE_DATE),
        ]
    }

    fn entry_count(&self, number: u32) -> u32 {
        number % (2 * self.options.entries - 1) + 1
    }

    /// Values in the order of [`ENTRY_FIELDS`].
    fn entry(&mut self, security: u32, at: u32) -> [Sample; 16] {
        let random = &mut self.random;
        let book = &mut self.books[security as usize];
        let kind = random.below(3);
        let is_trade = kind == 2;
        book.price = (book.price + random.below(5).cast_signed() - 2).max(1);
        book.report += 1;
        let size = 1 + random.below(500);
        book.volume += if is_trade { size } else { 0 };
        let of_trade = |value| if is_trade { value } else { Sample::Absent };
        let of_book = |value| if is_trade { Sample::Absent } else { value };
        [
            Sample::Unsigned(random.below(3)),
            of_book(Sample::Unsigned(u64::from(at % 10) + 1)),
            Sample::Text(["0", "1", "2"][kind as usize]),
            if random.percent(5) {
                Sample::Unsigned(4)
            } else {
                Sample::Absent
            },
            Sample::Unsigned(book.security_id),
            Sample::Unsigned(book.report),
            price(book.price),
            Sample::Unsigned(self.time_ms),
            Sample::Signed(size.cast_signed()),
            of_book(Sample::Unsigned(1 + random.below(20))),
            Sample::Text("2"),
            of_trade(price(book.price - book.close)),
            of_trade(Sample::Unsigned(book.volume)),
            of_trade(Sample::Text("W")),
            of_trade(Sample::Text(["0", "2"][random.below(2) as usize])),
            of_trade(Sample::Unsigned(1 + random.below(2))),
        ]
    }
}

impl Group {
    fn new(templates: &Templates, name: &'static str, group: &str, entry: &[&str]) -> Self {
        let template = templates.by_name(name);
        let header = Layout::new(
            template.into_iter().flat_map(|template| template.fields()),
            &HEADER_FIELDS,
        );
        // Our own templates have the group: a test reads every field back.
        let (sequence, entry) = template
            .and_then(|template| sequence(template, group, entry))
            .expect("a template of ours");
        Self {
            name,
            header,
            sequence,
            entry,
        }
    }

    fn begin(&self, templates: &Templates, message: &mut Message, header: &[Sample], count: u32) {
        start(message, templates, self.name);
        self.header.put(message, header);
        message.begin_sequence(self.sequence, count);
    }

    fn entry(&self, message: &mut Message, at: u32, values: &[Sample]) {
        message.begin_element(self.sequence, at);
        self.entry.put(message, values);
        message.end_element(self.sequence);
    }

    fn end(&self, message: &mut Message) {
        message.end_sequence(self.sequence);
    }
}

impl Book {
    fn new(number: u32, random: &mut Random) -> Self {
        let price = 5_000 + random.below(20_000).cast_signed();
        Self {
            security_id: FIRST_SECURITY + u64::from(number),
            report: 0,
            price,
            close: price,
            volume: 0,
        }
    }
}

/// A price of so many hundredths.
fn price(hundredths: i64) -> Sample {
    Decimal::new(hundredths, -2).map_or(Sample::Absent, Sample::Decimal)
}

const HEADER_FIELDS: [&str; 3] = ["MsgSeqNum", "SendingTime", "TradeDate"];

const ENTRY_FIELDS: [&str; 16] = [
    "MDUpdateAction",
    "MDPriceLevel",
    "MDEntryType",
    "OpenCloseSettleFlag",
    "SecurityID",
    "RptSeq",
    "MDEntryPx",
    "MDEntryTime",
    "MDEntrySize",
    "NumberOfOrders",
    "TradingSessionID",
    "NetChgPrevDay",
    "TradeVolume",
    "TradeCondition",
    "TickDirection",
    "AggressorSide",
];

const RELATED_FIELDS: [&str; 5] = [
    "OrderQty",
    "Side",
    "TransactTime",
    "QuoteType",
    "SecurityID",
];

const QUOTE_REQUEST_EVERY: u32 = 100;
const FIRST_SECURITY: u64 = 1_000;
const TRADE_DATE: u64 = 20_100_209;
/// Half past nine, in milliseconds since midnight.
const OPENING_MS: u64 = 34_200_000;
