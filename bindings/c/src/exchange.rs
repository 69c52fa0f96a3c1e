//! Exchanges and queues: what `include/tickwire/exchange.h` declares. [`context`] has what sends and binds, by the
//! [`names`] of both; [`inbox`] is what receives, and [`handed`] has what the caller has received and not freed.

mod context;
mod handed;
mod inbox;
mod names;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dds::rendezvous::DEFAULT_PORT;
use dds::{COPIED_LEN, HandedMemory};

pub(crate) use context::Context;
use names::{End, Scope};

use crate::border::{self, ContextPointer, Free, Freeing, Out, Pointer, Text, export};
use crate::failure::{Code, Failure};
use crate::handle::{self, Handle, get};
use crate::participant;
use crate::qos;
use crate::time::timeout;

export! {
    fn tw_mq_create(rendezvous: Text, domain: u32, qos: Handle, mq: Out<Handle>) {
        let mq = mq.place("mq")?;
        let profile = qos::profile(qos)?;
        let mut builder = participant::builder(&profile, domain);
        if let Some(rendezvous) = rendezvous.optional("rendezvous")? {
            builder = builder.rendezvous(&reference(rendezvous));
        }
        mq.put(handle::add(Handle::NULL, Context::new(builder, profile)?)?);
        Ok(())
    }

    fn tw_mq_create_exchange(mq: Handle, name: Text, scope: i32, exchange: Out<u32>) {
        let exchange = exchange.place("exchange")?;
        let scope = Scope::of(scope)?;
        let mq = get::<Context>(mq)?;
        exchange.put(mq.create(End::Exchange, name.get("name")?, scope)?);
        Ok(())
    }

    fn tw_mq_create_queue(mq: Handle, name: Text, scope: i32, queue: Out<u32>) {
        let place = queue.optional("queue")?;
        let scope = Scope::of(scope)?;
        let mq = get::<Context>(mq)?;
        let queue = mq.create(End::Queue, name.get("name")?, scope)?;
        if let Some(place) = place {
            place.put(queue);
        }
        Ok(())
    }

    fn tw_mq_bind(mq: Handle, exchange: Text, queue: Text) {
        let mq = get::<Context>(mq)?;
        mq.bind(exchange.get("exchange")?, queue.get("queue")?)
    }

    fn tw_mq_send(
        mq: Handle,
        exchange: u32,
        data: ContextPointer,
        len: usize,
        free_data: Free,
        timeout_ns: i64,
    ) {
        // Freed, whatever becomes of the message.
        let owner = border::Context::new(data, free_data);
        let data = owner.bytes();
        let mq = get::<Context>(mq)?;
        let timeout = timeout(timeout_ns)?;
        if len <= COPIED_LEN || !owner.is_told() {
            let data = data.get(len, "data")?;
            return mq.send(exchange, data, timeout);
        }
        let memory: HandedMemory = Arc::new(border::Owned::new(data, len, owner)?);
        mq.send_handed(exchange, &memory, timeout)
    }

    fn tw_mq_wait_for_bound(mq: Handle, exchange: u32, count: u32, timeout_ns: i64) {
        let mq = get::<Context>(mq)?;
        mq.wait_for_bound(exchange, count, timeout(timeout_ns)?)
    }

    fn tw_mq_wait_for_acknowledgments(mq: Handle, timeout_ns: i64) {
        let mq = get::<Context>(mq)?;
        mq.wait_for_acknowledgments(timeout(timeout_ns)?)
    }

    fn tw_mq_receive(
        mq: Handle,
        timeout_ns: i64,
        data: Out<Pointer>,
        len: Out<usize>,
        free_data: Out<Freeing>,
        queue: Out<u32>,
    ) {
        let data = data.place("data")?;
        let len = len.place("len")?;
        let free_data = free_data.place("free_data")?;
        let queue = queue.optional("queue")?;
        let message = get::<Context>(mq)?.receive(timeout(timeout_ns)?)?;
        if let Some(queue) = queue {
            queue.put(message.queue);
        }
        let bytes = handed::hand_out(message.bytes);
        data.put(bytes.0);
        len.put(bytes.1);
        free_data.put(handed::take_back);
        Ok(())
    }
}

/// What names a rendezvous: the name of a host, too, which has it at the default port.
fn reference(text: &str) -> Cow<'_, str> {
    let is_host = !text.contains([':', '/']) && !Path::new(text).exists();
    match is_host {
        true => format!("{text}:{DEFAULT_PORT}").into(),
        false => text.into(),
    }
}

/// How long somebody still waits, from the first time that he asks.
struct Patience {
    timeout: Duration,
    begun: Option<Instant>,
}

impl Patience {
    fn new(timeout: Duration) -> Self {
        let begun = None;
        Self { timeout, begun }
    }

    fn left(&mut self) -> Duration {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        self.timeout.saturating_sub(begun.elapsed())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who waits for something in a context that another thread deletes.
#[cold]
fn deleted() -> Failure {
    let message = "the context of exchanges was deleted by another thread";
    Failure::new(Code::BAD_HANDLE, message)
}
