//! What receives: the queues of a context, and what has come to them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dds::{BytesInPlace, DataReader, GuardCondition, Sample, Samples, StateMask, WaitSet};

use super::{Patience, deleted, lock};
use crate::failure::{Code, Failure, Result};

/// All queues of a context.
pub(super) struct Inbox {
    ready: Mutex<Ready>,
    wait_set: WaitSet,
    /// Holds while messages lie ready that their readers no longer have, and somebody waits.
    more: GuardCondition,
    end: GuardCondition,
    is_closed: AtomicBool,
}

/// A message, and the number of the queue that it has come to.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) queue: u32,
    pub(super) sample: Sample<BytesInPlace>,
}

/// What was taken from the readers: all that each has, as that costs the least.
#[derive(Default)]
struct Ready {
    queues: Vec<DataReader<BytesInPlace>>,
    batches: Vec<Batch>,
    /// The batch whose turn it is.
    turn: usize,
    waiting: usize,
    /// Whether those who wait are told that there is more.
    is_told: bool,
}

/// What has come to one queue. Its memory goes back to the reader once all of it was received.
struct Batch {
    queue: u32,
    samples: Samples<BytesInPlace>,
    next: usize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        let inbox = Self {
            ready: Mutex::default(),
            wait_set: WaitSet::new(),
            more: GuardCondition::new(),
            end: GuardCondition::new(),
            is_closed: AtomicBool::new(false),
        };
        inbox.wait_set.attach(&inbox.more.condition());
        inbox.wait_set.attach(&inbox.end.condition());
        inbox
    }

    /// One more queue, which has the next number.
    pub(super) fn add(&self, queue: DataReader<BytesInPlace>) {
        let condition = queue.read_condition(StateMask::ANY);
        lock(&self.ready).queues.push(queue);
        self.wait_set.attach(&condition);
    }

    /// The next message, of each queue in turn.
    pub(super) fn receive(&self, timeout: Duration) -> Result<Message> {
        let mut patience = Patience::new(timeout);
        loop {
            let mut ready = lock(&self.ready);
            let message = ready.next();
            ready.waiting += usize::from(message.is_none());
            self.tell(&mut ready);
            drop(ready);
            if let Some(message) = message {
                return Ok(message);
            }
            let waited = match timeout {
                Duration::ZERO => None,
                _ => self.wait_set.wait(patience.left()).ok(),
            };
            lock(&self.ready).waiting -= 1;
            if self.is_closed() {
                return Err(deleted());
            }
            if waited.is_none() {
                return Err(Failure::new(Code::TIMEOUT, "no message has come"));
            }
        }
    }

    /// Who waits does so no more.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.end.set(true);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Has those who wait know of what their readers do not tell them.
    fn tell(&self, ready: &mut Ready) {
        let is_more = ready.waiting > 0 && ready.has_more();
        if ready.is_told != is_more {
            ready.is_told = is_more;
            self.more.set(is_more);
        }
    }
}

impl Ready {
    fn next(&mut self) -> Option<Message> {
        if let Some(message) = self.pop() {
            return Some(message);
        }
        self.batches.clear();
        for (queue, reader) in (0..).zip(&self.queues) {
            let samples = reader.take();
            if !samples.is_empty() {
                let next = 0;
                self.batches.push(Batch {
                    queue,
                    samples,
                    next,
                });
            }
        }
        self.pop()
    }

    fn pop(&mut self) -> Option<Message> {
        for _ in 0..self.batches.len() {
            self.turn = match self.turn + 1 {
                turn if turn < self.batches.len() => turn,
                _ => 0,
            };
            let message = self.batches.get_mut(self.turn).and_then(Batch::pop);
            if message.is_some() {
                return message;
            }
        }
        None
    }

    fn has_more(&self) -> bool {
        let mut batches = self.batches.iter();
        batches.any(|batch| batch.next < batch.samples.len())
    }
}

impl Batch {
    fn pop(&mut self) -> Option<Message> {
        while let Some(sample) = self.samples.get(self.next) {
            self.next += 1;
            // Others tell that an exchange has gone.
            if sample.data().is_some() {
                return Some(Message {
                    queue: self.queue,
                    sample: sample.clone(),
                });
            }
        }
        None
    }
}
