//! A service and a client in Rust of the interface `Desk` (`services.py` says what they do).

#[allow(missing_docs, unreachable_pub, reason = "it is generated")]
mod services {
    include!(concat!(env!("OUT_DIR"), "/services.rs"));
}

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::io::{self, Read};
use std::panic;
use std::time::Duration;

use services::market::{
    Closed, Level, Quotes, QuotesLevelsException, QuotesPriceException, Service, Unknown, quotes,
};
use services::{Clock, Desk, DeskClient, DeskHaltException, DeskService};
use tickwire::DomainParticipant;
use tickwire::rpc::{CallError, RemoteException, Served, Server};

/// Knows one security.
#[derive(Default)]
struct Book {
    depth: i32,
    subscribed: BTreeSet<(String, String)>,
}

impl Service for Book {
    fn get_version(&mut self) -> Served<String> {
        Ok("1.2".into())
    }

    fn ping(&mut self) -> Served<()> {
        Ok(())
    }
}

impl Quotes for Book {
    fn price(&mut self, security_id: String) -> Served<f64, QuotesPriceException> {
        match security_id.as_str() {
            "TICK" => Ok(101.25),
            "OLD" => Err(Closed {
                reason: "delisted".into(),
            }
            .into()),
            "" => Err(RemoteException::InvalidArgument.into()),
            "FAULT" => panic!("a fault"),
            _ => match self.subscribed.contains(&(security_id, "last".into())) {
                true => Ok(1.0),
                false => Err(Unknown {}.into()),
            },
        }
    }

    fn levels(
        &mut self,
        security_id: String,
        side: quotes::Side,
        count: i32,
    ) -> Served<(Vec<Level>, i32, bool), QuotesLevelsException> {
        if security_id != "TICK" {
            return Err(Unknown {}.into());
        }
        let sign = if side == quotes::Side::Bid { -1 } else { 1 };
        let given = count.clamp(0, 2);
        let levels = (0..given).map(|level| Level {
            price: 101.25 + f64::from(sign * level) / 4.0,
            size: 100,
        });
        Ok((levels.collect(), given, given < count))
    }

    fn subscribe(&mut self, security_id: String, r#type: String) {
        self.subscribed.insert((security_id, r#type));
    }

    fn r#type(&mut self, self_: u8) -> Served<u8> {
        Ok(self_ + 1)
    }

    fn get_depth(&mut self) -> Served<i32> {
        Ok(self.depth)
    }

    fn set_depth(&mut self, depth: i32) -> Served<()> {
        self.depth = depth;
        Ok(())
    }
}

impl Clock for Book {
    fn now(&mut self) -> Served<u64> {
        Err(RemoteException::Unsupported.into())
    }
}

impl Desk for Book {
    fn halt(&mut self, all: bool) -> Served<(), DeskHaltException> {
        match all {
            true => Ok(()),
            false => Err(Closed::default().into()),
        }
    }
}

/// Calls every operation, in every way that it can end.
fn call(participant: &DomainParticipant, name: &str) -> Result<(), String> {
    let desk = DeskClient::new(participant, &*format!("Desk_{name}"), PATIENCE);
    let desk = desk.map_err(|error| error.to_string())?;
    let closed = |reason: &str| Closed {
        reason: reason.into(),
    };
    expect("version", desk.get_version(), Ok("1.2".into()))?;
    expect("ping", desk.ping(), Ok(()))?;
    expect("set_depth", desk.set_depth(7), Ok(()))?;
    expect("depth", desk.get_depth(), Ok(7))?;
    expect("price", desk.price("TICK".into()), Ok(101.25))?;
    let raised = |raised| Err(CallError::Raised(raised));
    let old = QuotesPriceException::Closed(closed("delisted"));
    expect("closed", desk.price("OLD".into()), raised(old))?;
    let unknown = QuotesPriceException::Unknown(Unknown {});
    expect("unknown", desk.price("X".into()), raised(unknown))?;
    let invalid = Err(CallError::Remote(RemoteException::InvalidArgument));
    expect("invalid", desk.price(String::new()), invalid)?;
    let fault = Err(CallError::Remote(RemoteException::UnknownException));
    expect("fault", desk.price("FAULT".into()), fault)?;
    let level = |price| Level { price, size: 100 };
    let levels = vec![level(101.25), level(101.0)];
    let given = desk.levels("TICK".into(), quotes::Side::Bid, 5);
    expect("levels", given, Ok((levels, 2, true)))?;
    let none = desk.levels("X".into(), quotes::Side::Ask, 5);
    let unknown = QuotesLevelsException::Unknown(Unknown {});
    expect("no levels", none, Err(CallError::Raised(unknown)))?;
    let told = desk.subscribe("rust".into(), "last".into());
    expect("subscribe", told, Ok(()))?;
    expect("subscribed", desk.price("rust".into()), Ok(1.0))?;
    expect("type", desk.r#type(4), Ok(5))?;
    let unsupported = Err(CallError::Remote(RemoteException::Unsupported));
    expect("now", desk.now(), unsupported)?;
    expect("halt", desk.halt(true), Ok(()))?;
    let halted = DeskHaltException::Closed(closed(""));
    expect(
        "not halted",
        desk.halt(false),
        Err(CallError::Raised(halted)),
    )
}

fn expect<T: PartialEq + Debug>(what: &str, is: T, expected: T) -> Result<(), String> {
    match is == expected {
        true => Ok(()),
        false => Err(format!("{what} is {is:?}, not {expected:?}")),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let participant = DomainParticipant::new(0)?;
    let mut arguments = std::env::args().skip(1);
    let (job, names) = (arguments.next(), arguments.next());
    let names = names.ok_or("say whose service")?;
    match job.as_deref() {
        Some("serve") => {
            // Faults are what is tried.
            panic::set_hook(Box::new(|_| {}));
            let service = DeskService(Book::default());
            let server = Server::new(&participant, &*format!("Desk_{names}"), service)?;
            let running = server.spawn()?;
            io::stdin().read_to_end(&mut Vec::new())?;
            drop(running);
        }
        Some("call") => {
            for name in names.split(',') {
                let verdict = call(&participant, name);
                println!("{name} {}", verdict.err().as_deref().unwrap_or("ok"));
            }
        }
        _ => return Err("serve NAME, or call NAMES".into()),
    }
    Ok(())
}

/// Longer than a program takes to start.
const PATIENCE: Duration = Duration::from_secs(20);
