//! One process of a run.

use std::mem;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use iceoryx2::node::{Node, NodeBuilder};
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{BackpressureStrategy, LogLevel, set_log_level};
use lab_program::{Handler, Idle, Options, Peer, Wait, fill};

use crate::channel::{Channel, Service, buffered, told};

pub(crate) struct Session {
    options: Options,
    publisher: Publisher<Service, [u8], ()>,
    subscriber: Subscriber<Service, [u8], ()>,
    notifier: Notifier<Service>,
    listener: Listener<Service>,
    outgoing: Mutex<Vec<u8>>,
    r#in: Channel,
    out: Channel,
    _node: Node<Service>,
}

impl Session {
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        set_log_level(LogLevel::Error);
        let node = NodeBuilder::new().create::<Service>().map_err(told)?;
        let publishers = usize::from(options.publishers);
        let subscribers = usize::from(options.subscribers);
        let there = Channel::open(&node, options, "there", publishers, subscribers)?;
        let back = Channel::open(&node, options, "back", subscribers, publishers)?;
        let (out, r#in) = match options.job.is_passive() {
            true => (back, there),
            false => (there, back),
        };
        let publisher = out
            .data
            .publisher_builder()
            .initial_max_slice_len(options.payload_len())
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(told)?;
        Ok(Self {
            options: options.clone(),
            publisher,
            subscriber: r#in.data.subscriber_builder().create().map_err(told)?,
            notifier: out.events.notifier_builder().create().map_err(told)?,
            listener: r#in.events.listener_builder().create().map_err(told)?,
            outgoing: Mutex::new(vec![0; options.payload_len()]),
            out,
            r#in,
            _node: node,
        })
    }

    fn blocks(&self) -> bool {
        self.options.wait == Wait::Block
    }

    fn write(&self, bytes: &[u8]) -> Result<(), String> {
        let sample = self.publisher.loan_slice_uninit(bytes.len());
        let sample = sample.map_err(told)?.write_from_slice(bytes);
        sample.send().map_err(told)?;
        if self.blocks() {
            self.notifier.notify().map_err(told)?;
        }
        Ok(())
    }

    /// Waits until there may be something, or until then.
    fn wait(&self, end: Instant) {
        if self.blocks() {
            let patience = end.saturating_duration_since(Instant::now());
            // What went wrong shows as nothing that comes.
            let _events = self.listener.timed_wait(|_| {}, patience);
        } else {
            std::hint::spin_loop();
        }
    }
}

impl Peer for Session {
    type Message = [u8];

    /// A publisher waits for subscribers only that are connected. So these connect as soon as all
    /// publishers are there, and say so with a sample of one byte.
    fn meet(&self) -> Result<(), String> {
        let end = Instant::now() + PATIENCE;
        let mut missing = usize::from(self.options.subscribers);
        let mut are_there = || -> Result<bool, String> {
            if self.options.job.is_passive() {
                let others = usize::from(self.options.publishers);
                return Ok(self.r#in.senders() >= others && self.out.receivers() >= others);
            }
            while missing > 0 && self.subscriber.receive().map_err(told)?.is_some() {
                missing -= 1;
            }
            Ok(missing == 0)
        };
        while !are_there()? {
            if Instant::now() > end {
                return Err("the other side has not come".into());
            }
            #[expect(clippy::disallowed_methods, reason = "the others are other processes")]
            thread::sleep(Duration::from_millis(1));
        }
        self.subscriber.has_samples().map_err(told)?;
        match self.options.job.is_passive() {
            true => self.write(&[0]),
            false => Ok(()),
        }
    }

    fn send(&self, number: u64, time: u64) -> Result<(), String> {
        let mut outgoing = self.outgoing.lock().expect("no panic");
        fill(&mut outgoing, number, time);
        self.write(&outgoing)
    }

    fn echo(&self, message: &[u8]) -> Result<(), String> {
        self.write(message)
    }

    fn run<H: Handler<[u8]>>(&self, idle: Idle, mut handler: H) -> H {
        let mut end = Instant::now() + idle.first;
        let (mut looks, mut has_come) = (0_u32, false);
        loop {
            while let Ok(Some(sample)) = self.subscriber.receive() {
                has_come = true;
                if handler.take(sample.payload()).is_break() {
                    return handler;
                }
            }
            looks = looks.wrapping_add(1);
            if self.blocks() || looks % LOOKS_AT_THE_CLOCK == 0 {
                let now = Instant::now();
                if mem::take(&mut has_come) {
                    end = now + idle.between;
                } else if now > end {
                    return handler;
                }
            }
            self.wait(end);
        }
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("backpressure_strategy", "RetryUntilDelivered".into()),
            ("enable_safe_overflow", "false".into()),
            (
                "subscriber_max_buffer_size",
                buffered(&self.options).to_string(),
            ),
        ]
    }
}

impl Drop for Session {
    /// Samples end with who sent them: waits until the others have taken theirs and are gone.
    fn drop(&mut self) {
        let end = Instant::now() + Duration::from_secs(self.options.idle + 1);
        let is_active = !self.options.job.is_passive();
        while is_active && self.r#in.senders() > 0 && Instant::now() < end {
            #[expect(clippy::disallowed_methods, reason = "the others are other processes")]
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// How often a polling process looks before it looks at the clock.
const LOOKS_AT_THE_CLOCK: u32 = 1024;
/// How long the other side may take to come.
const PATIENCE: Duration = Duration::from_secs(30);
