//! Readers.

use dds::reader::Select;
use dds::{BytesInPlace, DataReader, DataReaderQos, Serialized, TopicDescription, TopicSupport};

use crate::border::{
    Bytes, BytesOut, ContextPointer, Free, In, Out, Place, SampleCallback, Taker, export,
};
use crate::condition::{Condition, Of};
use crate::either::{Either, either, map};
use crate::failure::{Code, Failure, Result};
use crate::guid::{Guid, Noting};
use crate::handle::{self, AnyObject, Handle, Kind, get};
use crate::instance::{self, Instance};
use crate::samples::{Data, Given, Room, states, view};
use crate::topic::Topic;
use crate::writer::sample;

/// A reader of payloads, or of bytes.
pub(crate) struct Reader {
    pub(crate) dds: Either<DataReader<Serialized>, DataReader<BytesInPlace>>,
}

impl Reader {
    pub(crate) fn guid(&self) -> dds::Guid {
        either!(&self.dds, reader => reader.guid())
    }
}

fn made<T: TopicSupport>(
    parent: &AnyObject,
    topic: &impl TopicDescription<T>,
    qos: DataReaderQos,
) -> Result<DataReader<T>> {
    Ok(match parent {
        AnyObject::Subscriber(subscriber) => subscriber.dds.reader(topic, qos)?,
        AnyObject::Participant(participant) => participant.dds.reader_with(topic, qos)?,
        other => return Err(handle::unknown(other.handle(), FACTORIES)),
    })
}

/// Which samples are wanted, and what becomes of them.
struct Wanted {
    max: usize,
    mask: u32,
    of: Instances,
    take: bool,
}

enum Instances {
    All,
    One(Instance),
    Next(Option<Instance>),
}

impl Wanted {
    fn select<'r, T: TopicSupport>(&self, reader: &'r DataReader<T>) -> Result<Select<'r, T>> {
        let select = limited(reader.select(), self.max).states(states(self.mask)?);
        Ok(match self.of {
            Instances::All => select,
            Instances::One(instance) => select.instance(instance.handle()),
            Instances::Next(previous) => select.next_instance(previous.map(Instance::handle)),
        })
    }

    #[inline]
    fn give(self, reader: Handle, place: Place<Given>) -> Result<()> {
        let reader = get::<Reader>(reader)?;
        either!(&reader.dds, reader => end(self.select(reader)?, self.take, place))
    }
}

fn limited<T: TopicSupport>(select: Select<'_, T>, max: usize) -> Select<'_, T> {
    match max {
        0 => select,
        max => select.max_samples(max),
    }
}

/// Gives the samples that a condition is after.
fn give_by(
    reader: Handle,
    max: usize,
    condition: Handle,
    take: bool,
    place: Place<Given>,
) -> Result<()> {
    let entry = get::<Reader>(reader)?;
    let condition = get::<Condition>(condition)?;
    if condition.parent != reader {
        let message = "the condition is not of this reader";
        return Err(Failure::new(Code::PRECONDITION, message));
    }
    match (&entry.dds, &condition.of) {
        (Either::Payloads(reader), Of::Query(Either::Payloads(query))) => {
            end(limited(reader.select(), max).query(query), take, place)
        }
        (Either::Bytes(reader), Of::Query(Either::Bytes(query))) => {
            end(limited(reader.select(), max).query(query), take, place)
        }
        (reader, Of::States(mask)) => {
            either!(reader, reader => end(limited(reader.select(), max).states(*mask), take, place))
        }
        _ => {
            let message = "the condition is after no samples; use a read or query condition";
            Err(Failure::new(Code::PRECONDITION, message))
        }
    }
}

/// Gives the samples that were selected.
#[inline]
fn end<T: Data>(select: Select<'_, T>, take: bool, place: Place<Given>) -> Result<()> {
    let room = Room::new()?;
    let samples = if take { select.take() } else { select.read() };
    place.put(room.give(samples));
    Ok(())
}

/// `tw_matched_writer`.
#[repr(C)]
#[derive(Clone, Copy)]
struct MatchedWriter {
    guid: Guid,
    expected: i64,
    announced: i64,
    delivered: u64,
    lost: u64,
    duplicates: u64,
}

export! {
    fn tw_reader_create(parent: Handle, topic: Handle, qos: Handle, reader: Out<Handle>) {
        let reader = reader.place("reader")?;
        let entry = handle::any(parent, FACTORIES)?;
        let topic = get::<Topic>(topic)?;
        let qos = match qos {
            Handle::NULL => DataReaderQos::default(),
            qos => crate::qos::profile(qos)?.reader(topic.name()),
        };
        let noting = Noting::begin();
        let dds = match &topic.filtered {
            Some(filtered) => map!(filtered, topic => made(&entry, topic, qos)?),
            None => map!(&topic.dds, topic => made(&entry, topic, qos)?),
        };
        let made = Reader { dds };
        let guid = made.guid();
        let made = handle::add(parent, made)?;
        noting.note(guid, made);
        reader.put(made);
        Ok(())
    }

    fn tw_reader_take(
        reader: Handle,
        max: usize,
        mask: u32,
        instance: In<Instance>,
        samples: Out<Given>,
    ) {
        let place = samples.place("samples")?;
        let of = instance::optional(&instance)?.map_or(Instances::All, Instances::One);
        Wanted { max, mask, of, take: true }.give(reader, place)
    }

    fn tw_reader_read(
        reader: Handle,
        max: usize,
        mask: u32,
        instance: In<Instance>,
        samples: Out<Given>,
    ) {
        let place = samples.place("samples")?;
        let of = instance::optional(&instance)?.map_or(Instances::All, Instances::One);
        Wanted { max, mask, of, take: false }.give(reader, place)
    }

    fn tw_reader_take_next_instance(
        reader: Handle,
        max: usize,
        mask: u32,
        previous: In<Instance>,
        samples: Out<Given>,
    ) {
        let place = samples.place("samples")?;
        let of = Instances::Next(instance::optional(&previous)?);
        Wanted { max, mask, of, take: true }.give(reader, place)
    }

    fn tw_reader_read_next_instance(
        reader: Handle,
        max: usize,
        mask: u32,
        previous: In<Instance>,
        samples: Out<Given>,
    ) {
        let place = samples.place("samples")?;
        let of = Instances::Next(instance::optional(&previous)?);
        Wanted { max, mask, of, take: false }.give(reader, place)
    }

    fn tw_reader_take_by(reader: Handle, max: usize, condition: Handle, samples: Out<Given>) {
        let place = samples.place("samples")?;
        give_by(reader, max, condition, true, place)
    }

    fn tw_reader_read_by(reader: Handle, max: usize, condition: Handle, samples: Out<Given>) {
        let place = samples.place("samples")?;
        give_by(reader, max, condition, false, place)
    }

    fn tw_reader_take_each(
        reader: Handle,
        each: SampleCallback,
        context: ContextPointer,
        free: Free,
    ) {
        let reader = get::<Reader>(reader)?;
        match Taker::new(each, context, free) {
            Some(taker) => either!(&reader.dds, reader => {
                reader.take_each(move |sample| taker.give(&view(sample)));
            }),
            None => either!(&reader.dds, reader => reader.stop_taking()),
        }
        Ok(())
    }

    fn tw_reader_lookup_instance(
        reader: Handle,
        data: Bytes,
        len: usize,
        form: i32,
        instance: Out<Instance>,
    ) {
        let instance = instance.place("instance")?;
        let reader = get::<Reader>(reader)?;
        let data = data.get(len, "data")?;
        let found = match &reader.dds {
            Either::Payloads(reader) => reader.lookup_instance(&sample(data, form, None)?),
            Either::Bytes(reader) => reader.lookup_instance(&BytesInPlace::default()),
        };
        instance.put(found.ok_or_else(unknown_instance)?.into());
        Ok(())
    }

    fn tw_reader_key_value(
        reader: Handle,
        instance: In<Instance>,
        buffer: BytesOut,
        capacity: usize,
        len: Out<usize>,
    ) {
        let reader = get::<Reader>(reader)?;
        let instance = instance::optional(&instance)?;
        let instance = instance.ok_or_else(|| Failure::null("instance"))?.handle();
        match &reader.dds {
            Either::Payloads(reader) => {
                let key = reader.key_value(instance).ok_or_else(unknown_instance)?;
                buffer.put(key.payload(), capacity, &len)
            }
            Either::Bytes(_) => Err(unknown_instance()),
        }
    }

    fn tw_reader_wait_for_data(reader: Handle, timeout_ns: i64) {
        let reader = get::<Reader>(reader)?;
        reader.wait(timeout_ns, |timeout| either!(&reader.dds, reader => reader.wait_for_data(timeout)))
    }

    fn tw_reader_wait_for_matched(reader: Handle, count: u32, timeout_ns: i64) {
        let reader = get::<Reader>(reader)?;
        reader.wait(timeout_ns, |timeout| either!(&reader.dds, reader => reader.wait_for_matched(count, timeout)))
    }

    fn tw_reader_wait_for_historical_data(reader: Handle, timeout_ns: i64) {
        let reader = get::<Reader>(reader)?;
        reader.wait(timeout_ns, |timeout| either!(&reader.dds, reader => reader.wait_for_historical_data(timeout)))
    }

    fn tw_reader_matched_writers(
        reader: Handle,
        writers: Out<MatchedWriter>,
        capacity: usize,
        count: Out<usize>,
    ) {
        let count = count.place("count")?;
        let reader = get::<Reader>(reader)?;
        let matched = either!(&reader.dds, reader => reader.matched_publications());
        let matched = matched.into_iter().map(|writer| MatchedWriter {
            guid: writer.guid.into(),
            expected: writer.expected.0,
            announced: writer.announced.0,
            delivered: writer.delivered,
            lost: writer.lost,
            duplicates: writer.duplicates,
        });
        let matched: Vec<_> = matched.collect();
        writers.put_all(&matched, capacity, "writers")?;
        count.put(matched.len());
        Ok(())
    }
}

fn unknown_instance() -> Failure {
    let message = "the reader does not know the instance, or no longer";
    Failure::new(Code::NOT_FOUND, message)
}

/// What makes readers.
const FACTORIES: &[Kind] = &[Kind::Participant, Kind::Subscriber];
