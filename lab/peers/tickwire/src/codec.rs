//! What it costs to encode and decode the typed messages as XCDR1, which is what a final type is sent as.

use lab_program::{Answer, BATCH, Message, Mix, Options, measure_codec};
use tickwire::cdr::{Representation, from_payload_into, to_payload};

use crate::VERSION;
use crate::typed::{MarketData, QuoteRequest, counter, is_quote_request};

struct State {
    mix: Mix,
    examples: (MarketData, QuoteRequest),
    decoded: (MarketData, QuoteRequest),
    buffers: Vec<Vec<u8>>,
}

impl State {
    fn encode(&mut self, number: u64) -> usize {
        let buffer = &mut self.buffers[place(number)];
        buffer.clear();
        match is_quote_request(self.mix, number) {
            true => {
                self.examples.1.counter = counter(number);
                to_payload(&self.examples.1, Representation::Xcdr1, buffer)
            }
            false => {
                self.examples.0.counter = counter(number);
                to_payload(&self.examples.0, Representation::Xcdr1, buffer)
            }
        }
        .expect("the example has an encoding");
        buffer.len()
    }

    fn decode(&mut self, number: u64) {
        let buffer = &self.buffers[place(number)];
        match is_quote_request(self.mix, number) {
            true => from_payload_into(buffer, &mut self.decoded.1),
            false => from_payload_into(buffer, &mut self.decoded.0),
        }
        .expect("it was encoded here");
    }

    fn is_intact(&mut self, number: u64) -> bool {
        match is_quote_request(self.mix, number) {
            true => self.decoded.1.is_intact(number),
            false => self.decoded.0.is_intact(number),
        }
    }
}

fn place(number: u64) -> usize {
    usize::try_from(number % BATCH).expect("no more than a batch")
}

pub(crate) fn measure(options: &Options) -> Result<Answer, String> {
    let mut state = State {
        mix: options.mix,
        examples: (MarketData::example(), QuoteRequest::example()),
        decoded: (MarketData::default(), QuoteRequest::default()),
        buffers: vec![Vec::new(); place(BATCH - 1) + 1],
    };
    measure_codec(
        options,
        VERSION,
        &mut state,
        State::encode,
        State::decode,
        State::is_intact,
    )
}
