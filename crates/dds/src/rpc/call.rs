//! Calls that are under way, and the replies that end them.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hashbrown::HashMap;
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::error::CallError;
use super::requester::RequesterCounters;
use crate::core::Core;
use crate::reader::{DataReader, Sample, SampleInfo};
use crate::signal::{Ended, lock};
use crate::type_support::TopicSupport;

/// A reply.
pub struct Reply<P> {
    value: Arc<P>,
    info: SampleInfo,
}

impl<P> Reply<P> {
    fn new(sample: &Sample<P>) -> Option<Self> {
        Some(Self {
            value: Arc::clone(sample.shared()?),
            info: *sample.info(),
        })
    }

    /// Its circumstances.
    pub fn info(&self) -> &SampleInfo {
        &self.info
    }
}

impl<P> Deref for Reply<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.value
    }
}

impl<P: fmt::Debug> fmt::Debug for Reply<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// The calls of one requester. Its own lock, of which nothing is called.
pub(super) struct Calls<P> {
    state: Mutex<State<P>>,
    limit: usize,
    /// Whether nobody is to wait any more.
    pub(super) ended: Ended,
}

struct State<P> {
    pending: HashMap<SequenceNumber, Slot<P>>,
    /// Requests that are being written, whose numbers are not known yet.
    in_write: usize,
    /// Replies to those: a service may be quicker than the writer's return.
    early: HashMap<SequenceNumber, Reply<P>>,
    counters: RequesterCounters,
}

enum Slot<P> {
    Waiting(Option<Waker>),
    Answered(Reply<P>),
}

impl<P> Calls<P> {
    pub(super) fn new(limit: usize) -> Self {
        let state = State {
            pending: HashMap::new(),
            in_write: 0,
            early: HashMap::new(),
            counters: RequesterCounters::default(),
        };
        Self {
            state: Mutex::new(state),
            limit: limit.max(1),
            ended: Ended::default(),
        }
    }

    pub(super) fn counters(&self) -> RequesterCounters {
        lock(&self.state).counters
    }

    pub(super) fn count_told(&self) {
        lock(&self.state).counters.requests += 1;
    }

    /// Makes room for a call; an error if there is none.
    pub(super) fn begin(&self) -> Result<(), CallError> {
        let mut state = lock(&self.state);
        if state.pending.len() + state.in_write >= self.limit {
            state.counters.refused += 1;
            return Err(CallError::TooMany { limit: self.limit });
        }
        state.in_write += 1;
        Ok(())
    }

    /// The request was written under this number, or not at all.
    pub(super) fn written(&self, number: Option<SequenceNumber>) {
        let mut state = lock(&self.state);
        state.in_write -= 1;
        if let Some(number) = number {
            state.counters.requests += 1;
            let slot = match state.early.remove(&number) {
                Some(reply) => {
                    state.counters.replies += 1;
                    Slot::Answered(reply)
                }
                None => Slot::Waiting(None),
            };
            state.pending.insert(number, slot);
        }
        if state.in_write == 0 {
            state.counters.late += state.early.len() as u64;
            state.early.clear();
        }
    }

    /// Takes what has come, and says whether somebody may wait for it.
    pub(super) fn receive(&self, writer: Guid, reader: &DataReader<P>) -> bool
    where
        P: TopicSupport,
    {
        let mut wakers = Vec::new();
        let mut is_awaited = false;
        let samples = reader.take();
        let mut state = lock(&self.state);
        for sample in &samples {
            // Ends of instances, where the type has a key, are no replies.
            let Some(reply) = Reply::new(sample) else {
                continue;
            };
            match reply.info.related {
                Some(related) if related.writer == writer => {
                    is_awaited |= state.answer(related.sequence_number, reply, &mut wakers);
                }
                Some(_) => state.counters.for_others += 1,
                None => state.counters.unrelated += 1,
            }
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        is_awaited
    }

    fn take(&self, number: SequenceNumber) -> Option<Reply<P>> {
        let mut state = lock(&self.state);
        match state.pending.remove(&number)? {
            Slot::Answered(reply) => Some(reply),
            waiting @ Slot::Waiting(_) => {
                state.pending.insert(number, waiting);
                None
            }
        }
    }

    /// Nobody waits for it any more.
    fn forget(&self, number: SequenceNumber) {
        let mut state = lock(&self.state);
        if let Some(Slot::Waiting(_)) = state.pending.remove(&number) {
            state.counters.given_up += 1;
        }
    }

    /// Has a waker called when the reply comes; the reply, if it has come.
    fn poll(&self, number: SequenceNumber, waker: &Waker) -> Option<Reply<P>> {
        let mut state = lock(&self.state);
        match state.pending.get_mut(&number)? {
            Slot::Waiting(of) => {
                *of = Some(waker.clone());
                None
            }
            Slot::Answered(_) => match state.pending.remove(&number)? {
                Slot::Answered(reply) => Some(reply),
                Slot::Waiting(_) => None,
            },
        }
    }
}

impl<P> State<P> {
    /// Keeps a reply to one of our requests for who waits for it; false if nobody does.
    fn answer(&mut self, number: SequenceNumber, reply: Reply<P>, wakers: &mut Vec<Waker>) -> bool {
        match self.pending.get_mut(&number) {
            Some(slot @ Slot::Waiting(_)) => {
                self.counters.replies += 1;
                let before = std::mem::replace(slot, Slot::Answered(reply));
                if let Slot::Waiting(Some(waker)) = before {
                    wakers.push(waker);
                }
                true
            }
            None if self.in_write > 0 && self.early.len() < self.in_write + SPARE_EARLY => {
                self.early.insert(number, reply);
                false
            }
            // A second service has answered, too, or too late.
            _ => {
                self.counters.late += 1;
                false
            }
        }
    }
}

/// Replies that are kept beside those to requests that are being written: they may be to others that were given up.
const SPARE_EARLY: usize = 64;

/// A call that was sent. Wait for the reply by [`wait`](Self::wait), look for it by [`take`](Self::take), or `await` it: the
/// future has no time-out of its own. Dropped, it gives the call up.
#[must_use = "the call is given up when this is dropped"]
pub struct PendingReply<P> {
    pub(super) calls: Arc<Calls<P>>,
    pub(super) core: Arc<Core>,
    pub(super) number: SequenceNumber,
}

impl<P> PendingReply<P> {
    /// Waits for the reply.
    ///
    /// # Errors
    /// [`CallError::Timeout`] when that takes longer than `timeout`; the call is given up then.
    pub fn wait(self, timeout: Duration) -> Result<Reply<P>, CallError> {
        let reply = self.wait_for(timeout);
        reply.ok_or(CallError::Timeout { waited: timeout })
    }

    /// Waits for the reply for a while; the call goes on if none comes.
    pub fn wait_for(&self, time: Duration) -> Option<Reply<P>> {
        let ready = self.calls.ended.or(|| self.take());
        self.core.wait(time, ready).flatten()
    }

    /// The reply, if it has come; once.
    pub fn take(&self) -> Option<Reply<P>> {
        self.calls.take(self.number)
    }

    /// The number of the request among all that its requester has written.
    pub fn number(&self) -> SequenceNumber {
        self.number
    }
}

impl<P> Future for PendingReply<P> {
    type Output = Reply<P>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Reply<P>> {
        match self.calls.poll(self.number, context.waker()) {
            Some(reply) => Poll::Ready(reply),
            None => Poll::Pending,
        }
    }
}

impl<P> Drop for PendingReply<P> {
    fn drop(&mut self) {
        self.calls.forget(self.number);
    }
}

impl<P> fmt::Debug for PendingReply<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingReply")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
