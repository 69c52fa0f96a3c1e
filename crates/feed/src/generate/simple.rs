//! Small messages of an order book: Quote, New, Change, Remove in turn.

use tickwire_fast::{Message, Templates};

use super::fields::{Layout, Sample, start};
use super::random::Random;
use super::{GenerateError, Summary};

/// How much simple data, and how packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimpleOptions {
    /// Messages before Done, a quarter of each kind. Default 30,000.
    pub messages: u32,
    /// The most bytes a packet has, unless one message is longer. Default 1,024.
    pub packet_bytes: usize,
    /// Which of the possible data. Default 1.
    pub seed: u64,
}

impl Default for SimpleOptions {
    fn default() -> Self {
        Self {
            messages: 30_000,
            packet_bytes: 1_024,
            seed: 1,
        }
    }
}

/// The messages one after the other, and the orders that they are about.
#[derive(Debug)]
pub(super) struct SimpleMessages {
    templates: Templates,
    kinds: [(&'static str, Layout); 4],
    options: SimpleOptions,
    random: Random,
    made: u32,
    done: bool,
    timestamp_ms: u64,
    next_order_id: u64,
    orders: Vec<Order>,
}

#[derive(Clone, Copy, Debug)]
struct Order {
    id: u64,
    security: u64,
    side: u64,
    price: u64,
    volume: u64,
}

impl SimpleMessages {
    pub(super) fn new(
        templates: &Templates,
        options: SimpleOptions,
    ) -> Result<Self, GenerateError> {
        let max = crate::framing::MAX_PACKET_LEN as u64;
        GenerateError::check("packet size", options.packet_bytes as u64, 1, max)?;
        let kinds = KINDS.map(|name| {
            let fields = templates
                .by_name(name)
                .into_iter()
                .flat_map(|template| template.fields());
            (name, Layout::new(fields, &FIELDS))
        });
        let mut messages = Self {
            templates: templates.clone(),
            kinds,
            options,
            random: Random::new(options.seed),
            made: 0,
            done: false,
            timestamp_ms: OPENING_MS,
            next_order_id: FIRST_ORDER_ID,
            orders: Vec::new(),
        };
        for _ in 0..ORDERS_AT_OPENING {
            messages.add_order();
        }
        Ok(messages)
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
        summary.samples += 1;
        let kind = self.made as usize % KINDS.len();
        self.made += 1;
        self.timestamp_ms += u64::from(self.random.percent(20));
        let order = self.step(kind);
        let values = [
            Sample::Unsigned(u64::from(self.made)),
            Sample::Unsigned(self.timestamp_ms),
            Sample::Unsigned(order.id),
            Sample::Unsigned(order.volume),
            Sample::Unsigned(order.price),
            Sample::Unsigned(1 + order.security % 3),
            Sample::Unsigned(FIRST_SECURITY + order.security),
            Sample::Unsigned(SECURITY_TYPE_STOCK),
            Sample::Unsigned(SESSION),
            Sample::Unsigned(order.side),
        ];
        let (name, layout) = &self.kinds[kind];
        start(message, &self.templates, name);
        layout.put(message, &values);
        true
    }

    /// What happens to the book, and to which order.
    fn step(&mut self, kind: usize) -> Order {
        match KINDS[kind] {
            "New" => self.add_order(),
            "Remove" => {
                let at = self.any_order();
                self.orders.swap_remove(at)
            }
            kind => {
                let at = self.any_order();
                let order = &mut self.orders[at];
                order.price = (order.price + self.random.below(5))
                    .saturating_sub(2)
                    .max(1);
                if kind == "Change" {
                    order.volume = 100 * (1 + self.random.below(50));
                }
                *order
            }
        }
    }

    fn add_order(&mut self) -> Order {
        let security = self.random.below(SECURITIES);
        let order = Order {
            id: self.next_order_id,
            security,
            side: 1 + self.random.below(2),
            price: 1_000 + 25 * security + self.random.below(20),
            volume: 100 * (1 + self.random.below(50)),
        };
        self.next_order_id += 1;
        self.orders.push(order);
        order
    }

    /// An index of `orders`, which are never empty: one comes for each that goes, and it comes first.
    fn any_order(&mut self) -> usize {
        self.random.below(self.orders.len() as u64) as usize
    }
}

const KINDS: [&str; 4] = ["Quote", "New", "Change", "Remove"];

const FIELDS: [&str; 10] = [
    "SequenceNumber",
    "Timestamp",
    "OrderId",
    "Volume",
    "Price",
    "ExchangeId",
    "SecurityId",
    "SecurityType",
    "SessionId",
    "Side",
];

/// Half past nine, in milliseconds since midnight.
const OPENING_MS: u64 = 34_200_000;
const FIRST_ORDER_ID: u64 = 700_000;
const ORDERS_AT_OPENING: u32 = 500;
const SECURITIES: u64 = 100;
const FIRST_SECURITY: u64 = 1_000;
const SECURITY_TYPE_STOCK: u64 = 1;
const SESSION: u64 = 2;
