//! What receives: the queues of a context, and what has come to them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dds::{BytesInPlace, DataReader, DomainParticipant, Samples, StatusMask};

use super::{deleted, lock};
use crate::failure::{Code, Failure, Result};

/// All queues of a context.
#[derive(Default)]
pub(super) struct Inbox {
    ready: Mutex<Ready>,
    is_closed: AtomicBool,
}

/// A message, and the number of the queue that it has come to.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) queue: u32,
    pub(super) bytes: Arc<BytesInPlace>,
}

/// What was taken from the readers: all that each has, as that costs the least.
#[derive(Default)]
struct Ready {
    queues: Vec<Queue>,
    /// Whether something has come to any of them since it was last looked at.
    has_news: Arc<AtomicBool>,
    batches: Vec<Batch>,
    /// The batch whose turn it is.
    turn: usize,
}

struct Queue {
    reader: DataReader<BytesInPlace>,
    has_news: Arc<AtomicBool>,
}

/// What has come to one queue. Its memory goes back to the reader once all of it was received.
struct Batch {
    queue: u32,
    samples: Samples<BytesInPlace>,
    next: usize,
}

impl Inbox {
    /// One more queue, which has the next number.
    pub(super) fn add(&self, reader: DataReader<BytesInPlace>) {
        let mut ready = lock(&self.ready);
        // Something may have come before anybody is told.
        let has_news = Arc::new(AtomicBool::new(true));
        let any_has_news = Arc::clone(&ready.has_news);
        any_has_news.store(true, Ordering::Release);
        let told = Arc::clone(&has_news);
        let tell = move |_: &DataReader<BytesInPlace>| {
            told.store(true, Ordering::Release);
            any_has_news.store(true, Ordering::Release);
        };
        reader.set_listener_for(StatusMask::DATA_AVAILABLE, tell);
        ready.queues.push(Queue { reader, has_news });
    }

    /// The next message, of each queue in turn. Who waits has `participant` deliver.
    pub(super) fn receive(
        &self,
        participant: &DomainParticipant,
        timeout: Duration,
    ) -> Result<Message> {
        let next = || lock(&self.ready).next();
        let message = next().or_else(|| participant.wait_for_samples(timeout, next));
        message.ok_or_else(|| match self.is_closed() {
            true => deleted(),
            false => Failure::new(Code::TIMEOUT, "no message has come"),
        })
    }

    /// Who waits is told that he does so in vain; to be followed by ending that.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }
}

impl Ready {
    fn next(&mut self) -> Option<Message> {
        let message = self.pop();
        if message.is_some() || !self.has_news.load(Ordering::Relaxed) {
            return message;
        }
        // What comes from here on is news again.
        self.has_news.swap(false, Ordering::AcqRel);
        self.batches.clear();
        for (number, queue) in (0..).zip(&self.queues) {
            if queue.has_news.swap(false, Ordering::AcqRel) {
                let samples = queue.reader.take();
                self.batches.push(Batch {
                    queue: number,
                    samples,
                    next: 0,
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
}

impl Batch {
    fn pop(&mut self) -> Option<Message> {
        while let Some(sample) = self.samples.get(self.next) {
            self.next += 1;
            // Others tell that an exchange has gone.
            if let Some(bytes) = sample.shared() {
                return Some(Message {
                    queue: self.queue,
                    bytes: Arc::clone(bytes),
                });
            }
        }
        None
    }
}
