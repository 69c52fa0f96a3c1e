//! Writers.

use dds::cdr::{KeyHash, TypeDescription};
use std::sync::Arc;

use dds::{
    BytesInPlace, COPIED_LEN, DataWriter, DataWriterQos, HandedMemory, Payload, Serialized,
    Timestamp, TopicSupport,
};

use crate::border::{Bytes, Context, ContextPointer, Free, In, Out, Owned, export};
use crate::either::{Either, either, map};
use crate::failure::{Code, Failure, Result};
use crate::guid::{Guid, Noting};
use crate::handle::{self, AnyObject, Handle, Kind, get};
use crate::instance::{self, Instance};
use crate::time::timestamp;
use crate::topic::Topic;

/// A writer of payloads, or of bytes.
pub(crate) struct Writer {
    pub(crate) dds: Either<DataWriter<Serialized>, DataWriter<BytesInPlace>>,
    /// Whether the name of an instance, which is the hash of its key in XCDR2, may be another one than the hash that
    /// goes with its samples, which is that in their encoding. The key is looked for then, whatever the caller says.
    hash_varies: bool,
}

impl Writer {
    pub(crate) fn guid(&self) -> dds::Guid {
        either!(&self.dds, writer => writer.guid())
    }

    #[inline]
    fn write(
        &self,
        data: &[u8],
        key_hash: Option<KeyHash>,
        timestamp: Option<Timestamp>,
    ) -> Result<()> {
        match &self.dds {
            Either::Payloads(writer) => {
                let key_hash = key_hash.filter(|_| !self.hash_varies);
                let payload = Payload::new(data).with_key_hash(key_hash);
                match timestamp {
                    None => writer.write_payload(payload)?,
                    Some(timestamp) => writer.write_payload_with_timestamp(payload, timestamp)?,
                };
            }
            Either::Bytes(writer) => {
                match timestamp {
                    None => writer.write_bytes(data)?,
                    Some(timestamp) => writer.write_bytes_with_timestamp(data, timestamp)?,
                };
            }
        }
        Ok(())
    }

    /// Writes bytes that are the owner's until he is told.
    fn write_owned(
        &self,
        data: Bytes,
        len: usize,
        owner: Context,
        timestamp: Option<Timestamp>,
    ) -> Result<()> {
        if len <= COPIED_LEN || !owner.is_told() {
            return self.write(data.get(len, "data")?, None, timestamp);
        }
        let memory: HandedMemory = Arc::new(Owned::new(data, len, owner)?);
        match &self.dds {
            Either::Payloads(writer) => writer.write_handed(&memory, None, timestamp)?,
            Either::Bytes(writer) => writer.write_handed(&memory, timestamp)?,
        };
        Ok(())
    }

    /// Does something to the instance of a sample.
    fn end(&self, data: &[u8], form: i32, instance: Option<Instance>, how: End) -> Result<()> {
        let instance = instance.filter(|_| !self.hash_varies);
        match &self.dds {
            Either::Payloads(writer) => how.do_to(writer, &sample(data, form, instance)?),
            Either::Bytes(writer) => how.do_to(writer, &BytesInPlace::default()),
        }
    }
}

/// How an instance ends.
enum End {
    Dispose(Option<Timestamp>),
    Unregister(Option<Timestamp>),
}

impl End {
    fn do_to<T: TopicSupport>(self, writer: &DataWriter<T>, sample: &T) -> Result<()> {
        match self {
            Self::Dispose(None) => writer.dispose(sample)?,
            Self::Dispose(Some(timestamp)) => writer.dispose_with_timestamp(sample, timestamp)?,
            Self::Unregister(None) => writer.unregister(sample)?,
            Self::Unregister(Some(timestamp)) => {
                writer.unregister_with_timestamp(sample, timestamp)?
            }
        };
        Ok(())
    }
}

/// What names an instance: a whole sample, or its key alone, or what the caller says.
pub(crate) fn sample(data: &[u8], form: i32, instance: Option<Instance>) -> Result<Serialized> {
    let mut sample = match form {
        SAMPLE => Serialized::from_payload(data.to_vec()),
        KEY => Serialized::from_key_payload(data.to_vec()),
        other => {
            let message = format!("{other} is no form of a sample; use TW_SAMPLE or TW_KEY");
            return Err(Failure::argument(message));
        }
    };
    sample.set_key_hash(instance.map(Instance::key_hash));
    Ok(sample)
}

fn made<T: TopicSupport>(
    parent: &AnyObject,
    topic: &dds::Topic<T>,
    qos: DataWriterQos,
) -> Result<DataWriter<T>> {
    Ok(match parent {
        AnyObject::Publisher(publisher) => publisher.dds.writer(topic, qos)?,
        AnyObject::Participant(participant) => participant.dds.writer_with(topic, qos)?,
        other => return Err(handle::unknown(other.handle(), FACTORIES)),
    })
}

/// `tw_matched_reader`.
#[repr(C)]
#[derive(Clone, Copy)]
struct MatchedReader {
    guid: Guid,
    reliable: i32,
    acknowledged: i64,
    resent: u64,
    behind: u64,
}

export! {
    fn tw_writer_create(parent: Handle, topic: Handle, qos: Handle, writer: Out<Handle>) {
        let writer = writer.place("writer")?;
        let entry = handle::any(parent, FACTORIES)?;
        let topic = get::<Topic>(topic)?;
        if topic.filtered.is_some() {
            let message = "the topic is filtered, as only readers have it; write to the one that it is of";
            return Err(Failure::new(Code::PRECONDITION, message));
        }
        let qos = match qos {
            Handle::NULL => DataWriterQos::default(),
            qos => crate::qos::profile(qos)?.writer(topic.name()),
        };
        let noting = Noting::begin();
        let description = match &topic.dds {
            Either::Payloads(topic) => Serialized::description(topic.ty()),
            Either::Bytes(_) => None,
        };
        let made = Writer {
            dds: map!(&topic.dds, topic => made(&entry, topic, qos)?),
            hash_varies: description.is_some_and(TypeDescription::key_hash_varies),
        };
        let guid = made.guid();
        let made = handle::add(parent, made)?;
        noting.note(guid, made);
        writer.put(made);
        Ok(())
    }

    fn tw_writer_write(writer: Handle, data: Bytes, len: usize, timestamp_ns: In<i64>) {
        let writer = get::<Writer>(writer)?;
        writer.write(data.get(len, "data")?, None, timestamp(&timestamp_ns)?)
    }

    fn tw_writer_write_keyed(
        writer: Handle,
        data: Bytes,
        len: usize,
        instance: In<Instance>,
        timestamp_ns: In<i64>,
    ) {
        let writer = get::<Writer>(writer)?;
        let instance = instance::optional(&instance)?;
        let key_hash = instance.map(Instance::key_hash);
        writer.write(data.get(len, "data")?, key_hash, timestamp(&timestamp_ns)?)
    }

    fn tw_writer_write_owned(
        writer: Handle,
        data: Bytes,
        len: usize,
        free: Free,
        context: ContextPointer,
        timestamp_ns: In<i64>,
    ) {
        // Told, whatever becomes of the sample.
        let owner = Context::new(context, free);
        let writer = get::<Writer>(writer)?;
        writer.write_owned(data, len, owner, timestamp(&timestamp_ns)?)
    }

    fn tw_writer_dispose(
        writer: Handle,
        data: Bytes,
        len: usize,
        form: i32,
        instance: In<Instance>,
        timestamp_ns: In<i64>,
    ) {
        let writer = get::<Writer>(writer)?;
        let instance = instance::optional(&instance)?;
        let end = End::Dispose(timestamp(&timestamp_ns)?);
        writer.end(data.get(len, "data")?, form, instance, end)
    }

    fn tw_writer_unregister(
        writer: Handle,
        data: Bytes,
        len: usize,
        form: i32,
        instance: In<Instance>,
        timestamp_ns: In<i64>,
    ) {
        let writer = get::<Writer>(writer)?;
        let instance = instance::optional(&instance)?;
        let end = End::Unregister(timestamp(&timestamp_ns)?);
        writer.end(data.get(len, "data")?, form, instance, end)
    }

    fn tw_writer_register(
        writer: Handle,
        data: Bytes,
        len: usize,
        form: i32,
        instance: Out<Instance>,
    ) {
        let instance = instance.place("instance")?;
        let writer = get::<Writer>(writer)?;
        let data = data.get(len, "data")?;
        let registered = match &writer.dds {
            Either::Payloads(writer) => writer.register(&sample(data, form, None)?)?,
            Either::Bytes(writer) => writer.register(&BytesInPlace::default())?,
        };
        instance.put(registered.into());
        Ok(())
    }

    fn tw_writer_wait_for_matched(writer: Handle, count: u32, timeout_ns: i64) {
        let writer = get::<Writer>(writer)?;
        writer.wait(timeout_ns, |timeout| either!(&writer.dds, writer => writer.wait_for_matched(count, timeout)))
    }

    fn tw_writer_wait_for_acknowledgments(writer: Handle, timeout_ns: i64) {
        let writer = get::<Writer>(writer)?;
        writer.wait(timeout_ns, |timeout| either!(&writer.dds, writer => writer.wait_for_acknowledgments(timeout)))
    }

    fn tw_writer_matched_readers(
        writer: Handle,
        readers: Out<MatchedReader>,
        capacity: usize,
        count: Out<usize>,
    ) {
        let count = count.place("count")?;
        let writer = get::<Writer>(writer)?;
        let matched = either!(&writer.dds, writer => {
            let matched = writer.matched_subscriptions().into_iter().map(|reader| MatchedReader {
                guid: reader.guid.into(),
                reliable: reader.reliable.into(),
                acknowledged: reader.acknowledged.0,
                resent: reader.resent,
                behind: writer.lag_of(reader.guid).map_or(0, |lag| lag.behind),
            });
            matched.collect::<Vec<_>>()
        });
        readers.put_all(&matched, capacity, "readers")?;
        count.put(matched.len());
        Ok(())
    }
}

/// What makes writers.
const FACTORIES: &[Kind] = &[Kind::Participant, Kind::Publisher];
// `tw_form`.
const SAMPLE: i32 = 0;
const KEY: i32 = 1;
