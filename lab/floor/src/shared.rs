//! Shared memory: two rings for each pair of processes, and a doorbell for each process.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use lab_program::{Handler, Idle, Options, Peer, Wait, fill};

use crate::doorbell::Doorbell;
use crate::ring::Ring;
use crate::{Incoming, pairs};

pub(crate) struct SharedMemory {
    options: Options,
    own: Doorbell,
    links: Vec<Link>,
    outgoing: Mutex<Vec<u8>>,
}

struct Link {
    outward: Ring,
    inward: Ring,
    other: Doorbell,
}

impl SharedMemory {
    /// Whoever comes first makes the files.
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        let is_passive = options.job.is_passive();
        let file = |name: String| options.dir.join(name);
        let ring = |name: String| {
            Ring::open(&file(name), options.payload_len()).map_err(|error| error.to_string())
        };
        let doorbell =
            |name: String| Doorbell::open(&file(name)).map_err(|error| error.to_string());
        let link = |pair: u16| {
            let (there, back) = (
                ring(format!("{pair}.there"))?,
                ring(format!("{pair}.back"))?,
            );
            let subscribers = u16::from(options.subscribers);
            let (publisher, subscriber) = (pair / subscribers, pair % subscribers);
            let (outward, inward, other) = match is_passive {
                true => (back, there, format!("publisher.{publisher}")),
                false => (there, back, format!("subscriber.{subscriber}")),
            };
            let other = doorbell(other)?;
            Ok(Link {
                outward,
                inward,
                other,
            })
        };
        let kind = if is_passive {
            "subscriber"
        } else {
            "publisher"
        };
        Ok(Self {
            options: options.clone(),
            own: doorbell(format!("{kind}.{}", options.index))?,
            links: pairs(options)
                .into_iter()
                .map(link)
                .collect::<Result<_, String>>()?,
            outgoing: Mutex::new(vec![0; options.payload_len()]),
        })
    }

    fn blocks(&self) -> bool {
        self.options.wait == Wait::Block
    }

    /// Waits until `is_ready`; says whether it is.
    fn wait(&self, patience: Duration, is_ready: impl Fn() -> bool) -> bool {
        if is_ready() {
            return true;
        }
        let end = Instant::now() + patience;
        loop {
            if self.blocks() {
                self.own
                    .sleep(end.saturating_duration_since(Instant::now()), &is_ready);
                if is_ready() {
                    return true;
                }
            }
            for _ in 0..if self.blocks() { 0 } else { LOOKS_AT_THE_CLOCK } {
                if is_ready() {
                    return true;
                }
                std::hint::spin_loop();
            }
            if Instant::now() > end {
                return false;
            }
        }
    }

    fn write(&self, link: &Link, bytes: &[u8]) -> Result<(), String> {
        if !self.wait(ROOM, || link.outward.has_room()) {
            return Err("the other side does not read".into());
        }
        link.outward.write(bytes);
        if self.blocks() {
            link.other.ring();
        }
        Ok(())
    }
}

impl Peer for SharedMemory {
    type Message = Incoming;

    fn meet(&self) -> Result<(), String> {
        Ok(())
    }

    fn send(&self, number: u64, time: u64) -> Result<(), String> {
        let mut outgoing = self.outgoing.lock().expect("no panic");
        fill(&mut outgoing, number, time);
        self.links
            .iter()
            .try_for_each(|link| self.write(link, &outgoing))
    }

    fn echo(&self, message: &Incoming) -> Result<(), String> {
        self.write(&self.links[message.link], message.bytes())
    }

    fn run<H: Handler<Incoming>>(&self, idle: Idle, mut handler: H) -> H {
        let mut incoming = Incoming::new(0, self.options.payload_len(), 1);
        let mut patience = idle.first;
        loop {
            let has_message = || self.links.iter().any(|link| link.inward.has_message());
            if !self.wait(patience, has_message) {
                return handler;
            }
            for (at, link) in self.links.iter().enumerate() {
                while link.inward.has_message() {
                    incoming.link = at;
                    link.inward.read(&mut incoming.buffer);
                    if self.blocks() {
                        link.other.ring();
                    }
                    if handler.take(&incoming).is_break() {
                        return handler;
                    }
                }
            }
            patience = idle.between;
        }
    }
}

/// How often a polling process looks before it looks at the clock.
const LOOKS_AT_THE_CLOCK: u32 = 1024;
/// How long the other side may leave a ring full.
const ROOM: Duration = Duration::from_secs(10);
