//! Serves the interface of `idl/quotes.idl`, and calls it.
//!
//! `cargo run --release -p request-reply`

use std::error::Error;
use std::time::Duration;

use tickwire::DomainParticipant;
use tickwire::rpc::{Served, Server};

mod quotes {
    #![allow(missing_docs, unreachable_pub)]
    include!(concat!(env!("OUT_DIR"), "/quotes.rs"));
}

use quotes::exchange::{
    Quotes, QuotesClient, QuotesLastPriceException, QuotesService, UnknownSecurity,
};

/// Knows one security, and how often it was asked.
#[derive(Default)]
struct Exchange {
    asked: u32,
}

impl Quotes for Exchange {
    fn last_price(&mut self, security_id: String) -> Served<f64, QuotesLastPriceException> {
        self.asked += 1;
        match security_id.as_str() {
            "TICK" => Ok(101.25),
            _ => Err(UnknownSecurity { security_id }.into()),
        }
    }

    fn get_asked(&mut self) -> Served<u32> {
        Ok(self.asked)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    ask_and_answer(&DomainParticipant::new(0)?)
}

fn ask_and_answer(participant: &DomainParticipant) -> Result<(), Box<dyn Error>> {
    let service = QuotesService(Exchange::default());
    // Answers on a thread of its own until this is dropped.
    let _running = Server::new(participant, "Quotes", service)?.spawn()?;

    // This could be another program, on another machine.
    let client = QuotesClient::new(participant, "Quotes", Duration::from_secs(5))?;
    println!("TICK {}", client.last_price("TICK".into())?);
    if let Err(error) = client.last_price("GONE".into()) {
        println!("GONE {error}");
    }
    // Without waiting, any number of calls can be under way.
    let first = client.last_price_async("TICK".into())?;
    let second = client.last_price_async("TICK".into())?;
    println!("TICK {}", second.wait(Duration::from_secs(5))?);
    println!("TICK {}", first.wait(Duration::from_secs(5))?);
    println!("asked {} times", client.get_asked()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        let builder = super::DomainParticipant::builder(0);
        let builder = builder.domain_tag(&std::process::id().to_string());
        let participant = builder.build().expect("a participant");
        super::ask_and_answer(&participant).expect("it ends well");
    }
}
