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
use crate::start;
use crate::{Handler, Idle, Message, Peer};

/// Sends all messages.
pub(super) fn send<P: Peer>(options: &Options, peer: &Arc<P>) -> Findings {
    let mut findings = Findings::default();
    let publisher = u64::from(options.index) << PUBLISHER_SHIFT;
    // The schedule of a rate has no room for a pause after the warm-up.
    let first = options.rate.map_or(options.warmup, |_| 0);
    if options.rate.is_some() {
        expect_samples(&mut findings.late, options.count);
    }
    let mut begin = now();
    for number in 0..options.total() {
        if number == first {
            if findings.sent(start::begin(options)).is_break() {
                break;
            }
            begin = now();
        }
        let is_measured = number >= options.warmup;
        let mut time = 0;
        if let Some(rate) = options.rate {
            time = begin + due(number, rate);
            let at = wait_until(time);
            if is_measured {
                findings.late.push(at - time);
            }
        }
        if is_measured {
            findings.meter.begin();
        }
        let sent = peer.send(publisher | number, time);
        if findings.sent(sent).is_break() {
            break;
        }
        findings.sent += u64::from(is_measured);
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

/// Leaves the processor to others until then; returns when it was so far.
///
/// It yields, because threads of the system are bound to the same core: who keeps that for himself keeps them from
/// sending what was sent before. Whoever takes the core then may keep it beyond that time, which makes the message
/// late by no fault of the system: how late is a stage of its own, and has to be small beside what is measured.
fn wait_until(time: u64) -> u64 {
    loop {
        let at = now();
        if at >= time {
            return at;
        }
        thread::yield_now();
    }
}

/// Touches the memory of all samples, so that none of it is new while time is taken.
fn expect_samples(samples: &mut Vec<u64>, count: u64) {
    samples.resize(usize::try_from(count).unwrap_or_default(), 0);
    samples.clear();
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
        warmed: Vec::new(),
        findings: Findings::default(),
    };
    let publisher_count = u64::from(options.publishers);
    expect_samples(&mut receiver.warmed, options.warmup * publisher_count);
    if options.rate.is_some() {
        expect_samples(
            &mut receiver.findings.samples,
            options.count * publisher_count,
        );
    }
    let Receiver {
        publishers,
        warmed,
        mut findings,
        ..
    } = peer.run(options.idle(), receiver);
    if let (Some(start), Some(end)) = (start::agreed(options), findings.meter.ended())
        && end > start
    {
        let late = warmed.iter().filter(|&&at| at >= start).count();
        let late = u64::try_from(late).unwrap_or_default();
        findings.taken = (findings.received + late, end - start);
    }
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
    /// When the messages of the warm-up came.
    warmed: Vec<u64>,
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
        let is_late = own < received.next();
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
        } else {
            self.warmed.push(now());
        }
        let is_burst_end = self
            .options
            .demand
            .is_some_and(|demand| (own + 1) % demand == 0);
        if is_burst_end && self.options.responds() {
            let answered = self.peer.echo(message);
            self.findings.sent(answered)?;
        }
        let is_last = own + 1 >= self.options.total();
        if !is_last && !is_late {
            return ControlFlow::Continue(());
        }
        let is_over = !self.are_missing();
        if is_last || is_over {
            self.findings.meter.end(now());
        }
        match is_over {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl<P> Receiver<P> {
    fn are_missing(&self) -> bool {
        let total = self.options.total();
        self.publishers
            .iter()
            .any(|received| received.next() < total || received.lost(total) > 0)
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::options::Arguments;

    #[derive(clap::Args)]
    struct None {}

    /// Brings these numbers, and says how many were wanted.
    struct Line(Vec<u64>);

    struct Number(u64);

    impl Message for Number {
        fn number(&self, _expected: u64) -> u64 {
            self.0
        }

        fn time(&self) -> Option<u64> {
            None
        }

        fn is_intact(&self, number: u64) -> bool {
            self.0 == number
        }
    }

    impl Peer for Line {
        type Message = Number;

        fn meet(&self) -> Result<(), String> {
            Ok(())
        }

        fn send(&self, _number: u64, _time: u64) -> Result<(), String> {
            Err("nothing is sent".into())
        }

        fn echo(&self, _message: &Number) -> Result<(), String> {
            Ok(())
        }

        fn run<H: Handler<Number>>(&self, _idle: Idle, mut handler: H) -> H {
            let mut numbers = self.0.iter();
            let ended = numbers.any(|&number| handler.take(&Number(number)).is_break());
            assert!(ended, "the handler waits for more");
            assert_eq!(numbers.len(), 0, "the handler ended too early");
            handler
        }
    }

    #[test]
    fn whatever_comes_last_ends_it() {
        for last in [[0, 1, 2, 3], [0, 2, 3, 1], [1, 2, 3, 0]] {
            let given = ["program", "--system", "x", "--job", "receive"];
            let counts = ["--count", "4", "--warmup", "0"];
            let all = given.iter().chain(&counts);
            let options = Arguments::<None>::try_parse_from(all).expect("options that exist");
            let found = receive(&options.common, &Arc::new(Line(last.to_vec())));
            assert_eq!((found.received, found.lost, found.wrong), (4, 0, 0));
            assert_eq!(found.out_of_order, u64::from(last[3] != 3));
        }
    }

    #[test]
    fn what_is_late_of_the_warm_up_counts_from_the_publishers_start() {
        let dir = std::env::temp_dir().join(format!("lab-taken-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        let given = ["program", "--system", "x", "--job", "receive"];
        let counts = ["--count", "3", "--warmup", "2", "--dir"];
        let dir_text = dir.to_string_lossy().into_owned();
        let all = given.into_iter().chain(counts).chain([dir_text.as_str()]);
        let options = Arguments::<None>::try_parse_from(all).expect("options that exist");
        let receive = || receive(&options.common, &Arc::new(Line(vec![0, 1, 2, 3, 4])));
        assert_eq!(receive().taken, (0, 0), "nobody has told");
        for (start, taken) in [(1, 5), (u64::MAX, 0)] {
            std::fs::write(dir.join("start.0"), start.to_string()).expect("a file");
            let found = receive();
            assert_eq!((found.received, found.taken.0), (3, taken));
            assert_eq!(found.taken.1 > 0, taken > 0);
        }
        std::fs::remove_dir_all(&dir).expect("our own folder");
    }
}
