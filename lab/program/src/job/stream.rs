//! Messages go as fast as they can, in bursts that are answered, or by the clock.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::Findings;
use crate::clock::now;
use crate::message::own_number;
use crate::options::Options;
use crate::received::Received;
use crate::{Handler, Idle, Message, Peer};

/// Sends all messages.
pub(super) fn send<P: Peer>(options: &Options, peer: &Arc<P>) -> Findings {
    let mut findings = Findings::default();
    let publisher = u64::from(options.index) << PUBLISHER_SHIFT;
    let begin = now();
    for number in 0..options.total() {
        let time = match options.rate {
            Some(rate) => wait_until(begin + due(number, rate)),
            None => 0,
        };
        if number == options.warmup {
            findings.meter.begin();
        }
        let sent = peer.send(publisher | number, time);
        if findings.sent(sent).is_break() {
            break;
        }
        findings.sent += u64::from(number >= options.warmup);
        if options
            .demand
            .is_some_and(|demand| (number + 1) % demand == 0)
        {
            // What does not come is missing where it is received.
            let _answer = peer.run(ANSWER, Once);
        }
    }
    findings.meter.end(now());
    findings
}

/// When message `number` is to be sent, after the first.
fn due(number: u64, rate: u64) -> u64 {
    let nanoseconds = u128::from(number) * 1_000_000_000 / u128::from(rate);
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}

/// Leaves the processor to others until then; returns the time that was waited for.
fn wait_until(time: u64) -> u64 {
    while now() < time {
        thread::yield_now();
    }
    time
}

/// Takes one message, whatever it is.
struct Once;

impl<M: Message + ?Sized> Handler<M> for Once {
    fn take(&mut self, _answer: &M) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// Receives all messages, and looks at each.
pub(super) fn receive<P: Peer>(options: &Options, peer: &Arc<P>) -> Findings {
    let publishers = (0..options.publishers).map(|_| Received::from(0));
    let mut receiver = Receiver {
        options: options.clone(),
        peer: Arc::clone(peer),
        publishers: publishers.collect(),
        findings: Findings::default(),
    };
    if options.rate.is_some() {
        let count = options.count * u64::from(options.publishers);
        receiver
            .findings
            .samples
            .resize(usize::try_from(count).unwrap_or_default(), 0);
        receiver.findings.samples.clear();
    }
    let Receiver {
        publishers,
        mut findings,
        ..
    } = peer.run(options.idle(), receiver);
    for received in &publishers {
        findings.lost += received.lost(options.total());
        findings.out_of_order += received.out_of_order;
        findings.wrong += received.repeated;
    }
    if findings.lost > 0 {
        let lost = findings.lost;
        findings.fail(format!("{lost} messages have not come"));
    }
    findings
}

struct Receiver<P> {
    options: Options,
    peer: Arc<P>,
    publishers: Vec<Received>,
    findings: Findings,
}

impl<P: Peer> Handler<P::Message> for Receiver<P> {
    fn take(&mut self, message: &P::Message) -> ControlFlow<()> {
        let expected = self.publishers[0].next();
        let number = message.number(expected);
        let (publisher, own) = (number >> PUBLISHER_SHIFT, own_number(number));
        let publisher = usize::try_from(publisher).unwrap_or(usize::MAX);
        let Some(received) = self.publishers.get_mut(publisher) else {
            self.findings.corrupt(number);
            return ControlFlow::Continue(());
        };
        received.take(own);
        if own % CHECK_EVERY == 0 && !message.is_intact(number) {
            self.findings.corrupt(number);
        }
        if own >= self.options.warmup {
            self.findings.meter.begin();
            self.findings.received += 1;
            if self.options.rate.is_some()
                && let Some(time) = message.time()
            {
                self.findings.samples.push(now().saturating_sub(time));
            }
        }
        let is_burst_end = self
            .options
            .demand
            .is_some_and(|demand| (own + 1) % demand == 0);
        if is_burst_end && self.options.responds() {
            let answered = self.peer.echo(message);
            self.findings.sent(answered)?;
        }
        if own + 1 < self.options.total() {
            return ControlFlow::Continue(());
        }
        self.findings.meter.end(now());
        let is_over = |received: &Received| received.next() >= self.options.total();
        let are_missing = self
            .publishers
            .iter()
            .any(|received| !is_over(received) || received.lost(self.options.total()) > 0);
        match are_missing {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// The highest byte of a number is the publisher's index.
const PUBLISHER_SHIFT: u32 = 56;
/// Of these one is compared whole.
const CHECK_EVERY: u64 = 64;
/// How long the answer to a burst may take.
const ANSWER: Idle = Idle {
    first: Duration::from_millis(100),
    between: Duration::from_millis(100),
};
