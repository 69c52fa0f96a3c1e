//! Requests and replies.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use dds::rpc::{PendingReply, Replier, Reply, Requester, ServiceConfig};
use dds::{DynamicType, SampleIdentity, SequenceNumber, Serialized};

use crate::border::{Bytes, ContextPointer, EndCallback, Ending, In, Out, Text, export};
use crate::either::Either;
use crate::failure::{Code, Failure, Result};
use crate::guid::Guid;
use crate::handle::{self, Handle, Object, get};
use crate::participant::Participant;
use crate::samples::{Given, Room};
use crate::types::Type;

pub(crate) type AnyRequester = Requester<Serialized, Serialized>;
pub(crate) type AnyReplier = Replier<Serialized, Serialized>;

/// A call that was sent and nobody waits for. It is in the table of handles until its reply comes, or it is given up: who
/// takes it out of there ends it.
pub(crate) struct Call {
    /// What makes room for another call when it is dropped.
    pending: Mutex<Option<PendingReply<Serialized>>>,
    /// Who is told of the end, once the call has begun.
    ending: Mutex<Option<Ending>>,
}

impl Call {
    fn begin(&self, handle: Handle, ending: Ending) {
        *lock(&self.ending) = Some(ending);
        let waker = Waker::from(Arc::new(Ring(handle)));
        let mut context = Context::from_waker(&waker);
        let poll = |pending: &mut PendingReply<_>| Pin::new(pending).poll(&mut context);
        let polled = lock(&self.pending).as_mut().map(poll);
        if let Some(Poll::Ready(reply)) = polled {
            // Another thread may have deleted the requester.
            let _ = handle::remove(handle);
            self.end(Ok(reply));
        }
    }

    fn end(&self, reply: std::result::Result<Reply<Serialized>, Code>) {
        let ending = lock(&self.ending).take();
        if let Some(ending) = ending {
            ending.tell(reply.and_then(|reply| {
                let room = Room::new().map_err(|failure| failure.code())?;
                Ok(given(&reply, room))
            }));
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // Who is told may send another one.
        *lock(&self.pending) = None;
        self.end(Err(Code::BAD_HANDLE));
    }
}

/// Ends a call when its reply has come.
struct Ring(Handle);

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        // Else it was given up meanwhile.
        for object in handle::remove(self.0).unwrap_or_default() {
            if let Some(call) = Call::of(&object) {
                let reply = lock(&call.pending).as_ref().and_then(PendingReply::take);
                if let Some(reply) = reply {
                    call.end(Ok(reply));
                }
            }
        }
    }
}

fn given(reply: &Reply<Serialized>, room: Room) -> Given {
    room.give_message(reply.payload().to_vec(), reply.info())
}

/// Each change is one step: what another thread's panic leaves is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A type of payloads, which requests and replies have.
fn payloads(ty: Handle) -> Result<DynamicType> {
    match &get::<Type>(ty)?.dds {
        Either::Payloads(ty) => Ok(ty.clone()),
        Either::Bytes(_) => {
            let message = "requests and replies are payloads; take a type of IDL";
            Err(Failure::new(Code::PRECONDITION, message))
        }
    }
}

fn config(request_topic: &Text, reply_topic: &Text) -> Result<ServiceConfig> {
    let request_topic = request_topic.get("request_topic")?;
    let reply_topic = reply_topic.get("reply_topic")?;
    Ok(ServiceConfig::topics(request_topic, reply_topic))
}

export! {
    fn tw_requester_create(
        participant: Handle,
        request_topic: Text,
        reply_topic: Text,
        request_type: Handle,
        reply_type: Handle,
        requester: Out<Handle>,
    ) {
        let requester = requester.place("requester")?;
        let entry = get::<Participant>(participant)?;
        let config = config(&request_topic, &reply_topic)?;
        let (request, reply) = (payloads(request_type)?, payloads(reply_type)?);
        let made: AnyRequester = Requester::of(&entry.dds, config, request, reply)?;
        requester.put(handle::add(participant, made)?);
        Ok(())
    }

    fn tw_requester_wait_for_service(requester: Handle, timeout_ns: i64) {
        let requester = get::<AnyRequester>(requester)?;
        requester.wait(timeout_ns, |timeout| requester.wait_for_service(timeout))
    }

    fn tw_requester_call(
        requester: Handle,
        data: Bytes,
        len: usize,
        timeout_ns: i64,
        reply: Out<Given>,
    ) {
        let place = reply.place("reply")?;
        let requester = get::<AnyRequester>(requester)?;
        let request = Serialized::from_payload(data.get(len, "data")?.to_vec());
        let room = Room::new()?;
        match requester.wait(timeout_ns, |timeout| requester.call(&request, timeout)) {
            Ok(reply) => place.put(given(&reply, room)),
            Err(failure) => {
                room.keep();
                return Err(failure);
            }
        }
        Ok(())
    }

    fn tw_requester_send(
        requester: Handle,
        data: Bytes,
        len: usize,
        on_end: EndCallback,
        context: ContextPointer,
        call: Out<Handle>,
    ) {
        let place = call.place("call")?;
        let ending = Ending::new(on_end, context, "on_end")?;
        let entry = get::<AnyRequester>(requester)?;
        let request = Serialized::from_payload(data.get(len, "data")?.to_vec());
        let sent = Call {
            pending: Mutex::new(Some(entry.send(&request)?)),
            ending: Mutex::default(),
        };
        let handle = handle::add(requester, sent)?;
        let sent = get::<Call>(handle)?;
        // Before anybody is told of its end.
        place.put(handle);
        sent.begin(handle, ending);
        Ok(())
    }

    fn tw_requester_tell(requester: Handle, data: Bytes, len: usize) {
        let requester = get::<AnyRequester>(requester)?;
        let request = Serialized::from_payload(data.get(len, "data")?.to_vec());
        requester.tell(&request)?;
        Ok(())
    }

    fn tw_replier_create(
        participant: Handle,
        request_topic: Text,
        reply_topic: Text,
        request_type: Handle,
        reply_type: Handle,
        replier: Out<Handle>,
    ) {
        let replier = replier.place("replier")?;
        let entry = get::<Participant>(participant)?;
        let config = config(&request_topic, &reply_topic)?;
        let (request, reply) = (payloads(request_type)?, payloads(reply_type)?);
        let made: AnyReplier = Replier::of(&entry.dds, config, request, reply)?;
        replier.put(handle::add(participant, made)?);
        Ok(())
    }

    fn tw_replier_wait(replier: Handle, timeout_ns: i64, request: Out<Given>) {
        let place = request.place("request")?;
        let replier = get::<AnyReplier>(replier)?;
        let room = Room::new()?;
        match replier.wait(timeout_ns, |timeout| (**replier).wait(timeout)) {
            Ok(request) => place.put(room.give_message(request.payload().to_vec(), request.info())),
            Err(failure) => {
                room.keep();
                return Err(failure);
            }
        }
        Ok(())
    }

    fn tw_replier_reply(
        replier: Handle,
        writer: In<Guid>,
        sequence_number: i64,
        data: Bytes,
        len: usize,
    ) {
        let replier = get::<AnyReplier>(replier)?;
        let writer = writer.get("writer")?.ok_or_else(|| Failure::null("writer"))?;
        let request = SampleIdentity {
            writer: writer.into(),
            sequence_number: SequenceNumber(sequence_number),
        };
        let reply = Serialized::from_payload(data.get(len, "data")?.to_vec());
        Ok(replier.reply_to(request, &reply)?)
    }
}
