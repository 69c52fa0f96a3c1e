//! Requests and replies.

use dds::rpc::{Replier, Requester, ServiceConfig};
use dds::{DynamicType, SampleIdentity, SequenceNumber, Serialized};

use crate::border::{Bytes, In, Out, Text, export};
use crate::either::Either;
use crate::failure::{Code, Failure, Result};
use crate::guid::Guid;
use crate::handle::{self, Handle, get};
use crate::participant::Participant;
use crate::samples::{Given, give_message};
use crate::types::Type;

pub(crate) type AnyRequester = Requester<Serialized, Serialized>;
pub(crate) type AnyReplier = Replier<Serialized, Serialized>;

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
        let reply = requester.wait(timeout_ns, |timeout| requester.call(&request, timeout))?;
        give_message(reply.payload().to_vec(), reply.info(), place)
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
        let request = replier.wait(timeout_ns, |timeout| (**replier).wait(timeout))?;
        give_message(request.payload().to_vec(), request.info(), place)
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
