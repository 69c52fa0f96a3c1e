//! MarketData and QuoteRequest of the first article, a topic of each.

use std::sync::{Arc, Mutex};

use lab_program::{Handler, Idle, Message, Mix, Options, Peer};
use tickwire::{DataReader, DataWriter, Topic, TopicSupport, cdr};

use crate::inlet::Inlet;
use crate::session::{Session, deliver};
use crate::told;

#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "MiddlewareNewsBrief::MarketDataEntry", final)]
pub(crate) struct MarketDataEntry {
    md_update_action: u32,
    md_price_level: u32,
    md_entry_type: String,
    open_close_settle_flag: u32,
    security_id_source: u32,
    security_id: u32,
    rpt_seq: u32,
    md_entry_px: f64,
    md_entry_time: u32,
    md_entry_size: i32,
    number_of_orders: u32,
    trading_session_id: String,
    net_chg_prev_day: f64,
    trade_volume: u32,
    trade_condition: String,
    tick_direction: String,
    quote_condition: String,
    aggressor_side: u32,
    match_event_indicator: String,
}

#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "MiddlewareNewsBrief::MarketData", final)]
pub(crate) struct MarketData {
    is_echo: bool,
    pub(crate) counter: u32,
    #[topic(key)]
    security_id: u32,
    appl_version_id: String,
    message_type: String,
    sender_comp_id: String,
    msg_seq_num: u32,
    sending_time: u32,
    trade_date: u32,
    md_entries: Vec<MarketDataEntry>,
}

#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "MiddlewareNewsBrief::RelatedSym", final)]
pub(crate) struct RelatedSym {
    symbol: String,
    order_quantity: u64,
    side: u32,
    transact_time: u64,
    quote_type: u32,
    security_id: u32,
    security_id_source: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "MiddlewareNewsBrief::QuoteRequest", final)]
pub(crate) struct QuoteRequest {
    is_echo: bool,
    pub(crate) counter: u32,
    #[topic(key)]
    security_id: u32,
    appl_version_id: String,
    message_type: String,
    sender_comp_id: String,
    msg_seq_num: u32,
    sending_time: u32,
    quote_req_id: String,
    related: Vec<RelatedSym>,
}

impl MarketData {
    /// The article's test data.
    pub(crate) fn example() -> Self {
        let entry = MarketDataEntry {
            md_update_action: 1,
            md_price_level: 2,
            md_entry_type: "7".into(),
            open_close_settle_flag: 3,
            security_id_source: 9,
            security_id: 99,
            rpt_seq: 2,
            md_entry_px: 100.0,
            md_entry_time: 12345,
            md_entry_size: 50,
            number_of_orders: 10,
            trading_session_id: "2".into(),
            net_chg_prev_day: 10.0,
            trade_volume: 30,
            trade_condition: "W".into(),
            tick_direction: "0".into(),
            quote_condition: "C".into(),
            aggressor_side: 2,
            match_event_indicator: "1".into(),
        };
        Self {
            is_echo: false,
            counter: 0,
            security_id: 2112,
            appl_version_id: "1.0".into(),
            message_type: "100".into(),
            sender_comp_id: "Test Exchange".into(),
            msg_seq_num: 4,
            sending_time: 58_781,
            trade_date: 20_100_422,
            md_entries: vec![entry; 3],
        }
    }
}

impl QuoteRequest {
    /// The article's test data.
    pub(crate) fn example() -> Self {
        let symbol = RelatedSym {
            symbol: "321".into(),
            order_quantity: 25,
            side: 1,
            transact_time: 58_781,
            quote_type: 1,
            security_id: 99,
            security_id_source: 9,
        };
        Self {
            is_echo: false,
            counter: 0,
            security_id: 2112,
            appl_version_id: "1.0".into(),
            message_type: "100".into(),
            sender_comp_id: "Test Exchange".into(),
            msg_seq_num: 4,
            sending_time: 58_781,
            quote_req_id: "R".into(),
            related: vec![symbol; 3],
        }
    }
}

/// Whether message `number` of a mix is a QuoteRequest.
pub(crate) fn is_quote_request(mix: Mix, number: u64) -> bool {
    match mix {
        Mix::Equal => number % 10 == 5,
        // What the article's program for OpenDDS did, whose place this has: `if (i % 5)`.
        Mix::Published => !number.is_multiple_of(5),
        Mix::Marketdata => false,
        Mix::Quoterequest => true,
    }
}

/// What a handler sees: one of the two.
pub(crate) trait TypedMessage: Message {
    fn write_to(&self, typed: &Typed) -> Result<(), String>;
}

pub(crate) struct Typed {
    mix: Mix,
    market_data: Leg<MarketData>,
    quote_requests: Leg<QuoteRequest>,
    session: Session,
}

struct Leg<T: TopicSupport> {
    writer: DataWriter<T>,
    reader: DataReader<T>,
    outgoing: Mutex<T>,
}

impl<T: cdr::Topic + Send + Sync + 'static> Leg<T> {
    fn open(session: &Session, name: &str, example: T) -> Result<Self, String> {
        let participant = &session.participant;
        let topic = |writes| {
            participant
                .topic::<T>(&session.topic(name, writes))
                .map_err(told)
        };
        Ok(Self {
            writer: participant
                .writer_with(&topic(true)?, session.writer_qos())
                .map_err(told)?,
            reader: participant
                .reader_with(&topic(false)?, session.reader_qos())
                .map_err(told)?,
            outgoing: Mutex::new(example),
        })
    }
}

impl Typed {
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        let session = Session::open(options)?;
        Ok(Self {
            mix: options.mix,
            market_data: Leg::open(&session, "MarketData", MarketData::example())?,
            quote_requests: Leg::open(&session, "QuoteRequest", QuoteRequest::example())?,
            session,
        })
    }
}

impl Peer for Typed {
    type Message = dyn TypedMessage;

    fn meet(&self) -> Result<(), String> {
        self.session
            .meet(&self.market_data.writer, &self.market_data.reader)?;
        self.session
            .meet(&self.quote_requests.writer, &self.quote_requests.reader)
    }

    fn send(&self, number: u64, _time: u64) -> Result<(), String> {
        let counter = counter(number);
        match is_quote_request(self.mix, number) {
            true => {
                let mut outgoing = self.quote_requests.outgoing.lock().expect("no panic");
                outgoing.counter = counter;
                self.quote_requests.writer.write(&outgoing)
            }
            false => {
                let mut outgoing = self.market_data.outgoing.lock().expect("no panic");
                outgoing.counter = counter;
                self.market_data.writer.write(&outgoing)
            }
        }
        .map(drop)
        .map_err(told)
    }

    fn echo(&self, message: &(dyn TypedMessage + 'static)) -> Result<(), String> {
        message.write_to(self)
    }

    fn run<H: Handler<dyn TypedMessage>>(&self, idle: Idle, handler: H) -> H {
        let inlet = Arc::new(Inlet::new(handler));
        let (market_data, quote_requests) = (&self.market_data.reader, &self.quote_requests.reader);
        deliver(market_data, &inlet, |data| data);
        deliver(quote_requests, &inlet, |data| data);
        self.session.wait(idle, &inlet);
        market_data.stop_taking();
        quote_requests.stop_taking();
        inlet.end()
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        self.session.settings()
    }
}

impl TypedMessage for MarketData {
    fn write_to(&self, typed: &Typed) -> Result<(), String> {
        typed.market_data.writer.write(self).map(drop).map_err(told)
    }
}

impl TypedMessage for QuoteRequest {
    fn write_to(&self, typed: &Typed) -> Result<(), String> {
        typed
            .quote_requests
            .writer
            .write(self)
            .map(drop)
            .map_err(told)
    }
}

impl Message for MarketData {
    fn number(&self, _expected: u64) -> u64 {
        self.counter.into()
    }

    fn time(&self) -> Option<u64> {
        None
    }

    fn is_intact(&self, number: u64) -> bool {
        *self
            == Self {
                counter: counter(number),
                ..Self::example()
            }
    }
}

impl Message for QuoteRequest {
    fn number(&self, _expected: u64) -> u64 {
        self.counter.into()
    }

    fn time(&self) -> Option<u64> {
        None
    }

    fn is_intact(&self, number: u64) -> bool {
        *self
            == Self {
                counter: counter(number),
                ..Self::example()
            }
    }
}

/// The article's counter has 32 bits.
pub(crate) fn counter(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).expect("32 bits")
}
