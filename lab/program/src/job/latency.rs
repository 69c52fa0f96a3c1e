//! A message goes, its echoes come, the next one goes.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::Findings;
use crate::clock::now;
use crate::options::Options;
use crate::{Handler, Message, Peer};

/// Sends, and measures until the last responder has answered.
pub(super) fn ping<P: Peer>(options: &Options, peer: &Arc<P>) -> Findings {
    let mut pinger = Pinger {
        options: options.clone(),
        peer: Arc::clone(peer),
        number: 0,
        sent_at: 0,
        echoes: 0,
        findings: Findings::default(),
    };
    // No page of it is to be touched for the first time while time is taken.
    pinger
        .findings
        .samples
        .resize(usize::try_from(options.count).unwrap_or_default(), 0);
    pinger.findings.samples.clear();
    let flow = pinger.begin_round();
    let mut pinger = match flow {
        ControlFlow::Continue(()) => peer.run(options.idle(), pinger),
        ControlFlow::Break(()) => pinger,
    };
    if pinger.number < options.total() {
        let number = pinger.number;
        pinger.findings.lost = options.total() - number;
        pinger.findings.fail(format!("no echo of message {number}"));
    }
    pinger.findings
}

struct Pinger<P> {
    options: Options,
    peer: Arc<P>,
    /// The message that is under way.
    number: u64,
    sent_at: u64,
    /// Those of it that have come.
    echoes: u8,
    findings: Findings,
}

impl<P: Peer> Pinger<P> {
    fn begin_round(&mut self) -> ControlFlow<()> {
        let is_measured = self.number >= self.options.warmup;
        if is_measured {
            self.findings.meter.begin();
            self.findings.sent += 1;
        }
        self.echoes = 0;
        self.sent_at = now();
        let sent = self.peer.send(self.number, self.sent_at);
        self.findings.sent(sent)
    }
}

impl<P: Peer> Handler<P::Message> for Pinger<P> {
    fn take(&mut self, echo: &P::Message) -> ControlFlow<()> {
        let at = now();
        let mut is_right = echo.number(self.number) == self.number;
        self.echoes += 1;
        let is_last = self.echoes >= self.options.echoes();
        if is_last {
            // Not before the time of the last has been taken.
            is_right &= echo.is_intact(self.number);
        }
        if !is_right {
            self.findings.corrupt(self.number);
        }
        if !is_last {
            return ControlFlow::Continue(());
        }
        if self.number >= self.options.warmup {
            self.findings.samples.push(at - self.sent_at);
            self.findings.received += 1;
        }
        self.number += 1;
        if self.number == self.options.total() {
            self.findings.meter.end(at);
            return ControlFlow::Break(());
        }
        self.begin_round()
    }
}

/// Echoes what comes, if it is to; else only takes it.
pub(super) fn pong<P: Peer>(options: &Options, peer: &Arc<P>) -> Findings {
    let ponger = Ponger {
        options: options.clone(),
        peer: Arc::clone(peer),
        taken: 0,
        findings: Findings::default(),
    };
    let mut ponger = peer.run(options.idle(), ponger);
    let missing = options.total() - ponger.taken;
    if missing > 0 {
        ponger.findings.lost = missing;
        ponger
            .findings
            .fail(format!("{missing} messages have not come"));
    }
    ponger.findings
}

struct Ponger<P> {
    options: Options,
    peer: Arc<P>,
    taken: u64,
    findings: Findings,
}

impl<P: Peer> Handler<P::Message> for Ponger<P> {
    fn take(&mut self, message: &P::Message) -> ControlFlow<()> {
        if self.options.responds() {
            let echoed = self.peer.echo(message);
            self.findings.sent(echoed)?;
        }
        let number = self.taken;
        if message.number(number) != number {
            self.findings.corrupt(number);
        }
        if number >= self.options.warmup {
            self.findings.meter.begin();
            self.findings.received += 1;
            self.findings.sent += u64::from(self.options.responds());
        }
        self.taken += 1;
        if self.taken == self.options.total() {
            self.findings.meter.end(now());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
