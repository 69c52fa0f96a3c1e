//! One process of a run.

use std::ffi::CString;
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use lab_program::{Handler, Idle, Options, Peer, fill};
use rusteron_media_driver::bindings::aeron_controlled_fragment_handler_action_en::{
    AERON_ACTION_ABORT, AERON_ACTION_BREAK, AERON_ACTION_CONTINUE,
};
use rusteron_media_driver::bindings::aeron_controlled_fragment_handler_action_t as Action;
use rusteron_media_driver::{
    Aeron, AeronCError, AeronContext, AeronControlledFragmentClosureAssembler, AeronDriver,
    AeronExclusivePublication, AeronHeader, AeronSubscription, Handlers,
};

use crate::driver;
use crate::idle::{Strategy, Waiting};

/// Fields are closed in this order.
pub(crate) struct Session {
    options: Options,
    strategy: Strategy,
    outgoing: Mutex<Outgoing>,
    subscription: Mutex<AeronSubscription>,
    _client: Aeron,
    driver: Option<AeronDriver>,
}

struct Outgoing {
    publication: AeronExclusivePublication,
    message: Vec<u8>,
    /// What to do when there is no room.
    strategy: Strategy,
}

impl Outgoing {
    /// Offers again while there is no room, or nobody.
    fn offer(&self, bytes: &[u8]) -> Result<(), String> {
        let mut waiting = None;
        loop {
            match self.publication.offer(bytes) {
                Ok(_) => return Ok(()),
                Err(error) if error.is_retryable() => {}
                Err(error) => return Err(told(error)),
            }
            let waiting = waiting.get_or_insert_with(|| Waiting::new(self.strategy, ROOM, ROOM));
            if !waiting.idle() {
                return Err("the other side does not read".into());
            }
        }
    }
}

impl Session {
    pub(crate) fn open(options: &Options, strategy: Option<Strategy>) -> Result<Self, String> {
        let is_passive = options.job.is_passive();
        let has_driver = is_passive && options.index == 0;
        let driver = has_driver.then(|| driver::start(options)).transpose()?;
        let folder = driver::folder(options)?;
        let client = || {
            let context = AeronContext::new()?;
            context.set_dir(&driver::path(&folder))?;
            context.set_driver_timeout_ms(PATIENCE.as_millis() as u64)?;
            context.set_pre_touch_mapped_memory(true)?;
            let client = Aeron::new(&context)?;
            client.start()?;
            Ok(client)
        };
        let client: Aeron = client().map_err(|error: AeronCError| told(error))?;
        let (out, r#in) = match is_passive {
            true => (BACK, THERE),
            false => (THERE, BACK),
        };
        let strategy = Strategy::of(options, strategy);
        let channel = channel(options);
        // The subscription first: who sees a publication of this process knows that it hears.
        let subscription = client
            .async_add_subscription(&channel, r#in, Handlers::NONE, Handlers::NONE)
            .map_err(told)?;
        let subscription = wait_for(|| subscription.poll().map_err(told))?;
        let publication = client
            .async_add_exclusive_publication(&channel, out)
            .map_err(told)?;
        let publication = wait_for(|| publication.poll().map_err(told))?;
        Ok(Self {
            options: options.clone(),
            outgoing: Mutex::new(Outgoing {
                publication,
                message: vec![0; options.payload_len()],
                strategy,
            }),
            strategy,
            subscription: Mutex::new(subscription),
            _client: client,
            driver,
        })
    }

    fn subscription(&self) -> MutexGuard<'_, AeronSubscription> {
        self.subscription.lock().expect("no panic")
    }

    fn outgoing(&self) -> MutexGuard<'_, Outgoing> {
        self.outgoing.lock().expect("no panic")
    }

    /// How many of the other side send to this process.
    fn senders(&self) -> usize {
        let images = self.subscription().image_count().unwrap_or_default();
        usize::try_from(images).unwrap_or_default()
    }
}

impl Peer for Session {
    type Message = [u8];

    /// Subscribers say that they are there, by one byte, once they see all publishers.
    fn meet(&self) -> Result<(), String> {
        if self.options.job.is_passive() {
            let publishers = usize::from(self.options.publishers);
            wait_for(|| Ok((self.senders() >= publishers).then_some(())))?;
            return self.echo(&[0]);
        }
        let mut missing = usize::from(self.options.subscribers);
        wait_for(|| {
            let take = |_: &[u8], _: AeronHeader| {
                missing = missing.saturating_sub(1);
                AERON_ACTION_CONTINUE
            };
            let taken = self.subscription().controlled_poll_fn(take, FRAGMENTS);
            taken.map_err(told)?;
            Ok((missing == 0).then_some(()))
        })
    }

    fn send(&self, number: u64, time: u64) -> Result<(), String> {
        let mut outgoing = self.outgoing();
        fill(&mut outgoing.message, number, time);
        outgoing.offer(&outgoing.message)
    }

    fn echo(&self, message: &[u8]) -> Result<(), String> {
        self.outgoing().offer(message)
    }

    fn run<H: Handler<[u8]>>(&self, idle: Idle, handler: H) -> H {
        let mut waiting = Waiting::new(self.strategy, idle.first, idle.between);
        let mut taking = Taking {
            handler,
            is_over: false,
        };
        let is_fragmented = self.options.payload_len() > MTU - HEADER_LEN;
        let assembler = is_fragmented.then(AeronControlledFragmentClosureAssembler::new);
        let Ok(mut assembler) = assembler.transpose() else {
            return taking.handler;
        };
        let subscription = self.subscription();
        loop {
            let taken = match &mut assembler {
                Some(assembler) => {
                    assembler.poll(&*subscription, &mut taking, Taking::take, FRAGMENTS)
                }
                None => {
                    let take = |bytes: &[u8], header: AeronHeader| taking.take(bytes, header);
                    subscription.controlled_poll_fn(take, FRAGMENTS)
                }
            };
            if taking.is_over {
                return taking.handler;
            }
            match taken {
                Ok(1..) => waiting.reset(),
                Ok(_) if waiting.idle() => {}
                // What went wrong shows as nothing that comes.
                _ => return taking.handler,
            }
        }
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            (
                "channel",
                channel(&self.options).to_string_lossy().into_owned(),
            ),
            ("driver", "in the first subscriber".into()),
            (
                "idle strategy",
                format!("{:?}", self.strategy).to_lowercase(),
            ),
            ("pre.touch.mapped.memory", "true".into()),
            (
                "shared.idle.strategy",
                driver::IDLE_STRATEGY.to_string_lossy().into_owned(),
            ),
            (
                "shared.idle.strategy.init.args",
                driver::IDLE_TIME.to_string_lossy().into_owned(),
            ),
            ("threading.mode", "SHARED".into()),
        ]
    }
}

impl Drop for Session {
    /// The driver ends last: when all publications have been read and closed.
    fn drop(&mut self) {
        if self.driver.is_some() {
            let patience = Duration::from_secs(self.options.idle + 1);
            let mut waiting = Waiting::new(Strategy::Backoff, patience, patience);
            while self.senders() > 0 && waiting.idle() {}
        }
    }
}

struct Taking<H> {
    handler: H,
    is_over: bool,
}

impl<H: Handler<[u8]>> Taking<H> {
    /// A poll goes on with the next publisher after a break.
    fn take(&mut self, message: &[u8], _header: AeronHeader) -> Action {
        if self.is_over {
            return AERON_ACTION_ABORT;
        }
        self.is_over = self.handler.take(message).is_break();
        match self.is_over {
            true => AERON_ACTION_BREAK,
            false => AERON_ACTION_CONTINUE,
        }
    }
}

/// A message takes an eighth of a term at most.
fn channel(options: &Options) -> CString {
    let term = TERM.max((8 * options.payload_len()).next_power_of_two());
    CString::new(format!("aeron:ipc?term-length={term}|mtu={MTU}")).expect("no zero")
}

/// Asks until there is an answer.
fn wait_for<T>(mut ask: impl FnMut() -> Result<Option<T>, String>) -> Result<T, String> {
    let mut waiting = Waiting::new(Strategy::Backoff, PATIENCE, PATIENCE);
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        if !waiting.idle() {
            return Err("the other side has not come".into());
        }
    }
}

pub(crate) fn told(error: impl Display) -> String {
    error.to_string()
}

/// Streams.
const THERE: i32 = 1;
const BACK: i32 = 2;
/// Bytes of a term, three of which make a log: the default is 64 MB, of which a short run would touch each byte once.
const TERM: usize = 16 << 20;
/// The longest that there is: what is longer goes in fragments.
const MTU: usize = 65_504;
/// Of a frame.
const HEADER_LEN: usize = 32;
/// What one poll takes at most.
const FRAGMENTS: usize = 10;
/// How long the other side may take to come.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the other side may leave a log full.
const ROOM: Duration = Duration::from_secs(10);
