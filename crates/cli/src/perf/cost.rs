//! What each entity takes of resident memory, by the difference that many of them make.

use std::time::Duration;

use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Topic, TopicSupport,
};

use super::bytes::{Bytes, MeasuredDomain};
use super::process::resident_bytes;
use crate::failure::{Failure, Result};
use crate::progress::Progress;

/// Bytes of one instance.
#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "perf::KeyedBytes", final)]
struct KeyedBytes {
    #[topic(key)]
    id: u32,
    data: Vec<u8>,
}

/// Measures with a participant, and with two more in a domain of their own, which hear of nothing else.
pub(super) struct Costs<'a> {
    pub(super) measured: &'a MeasuredDomain,
    pub(super) participant: &'a DomainParticipant,
    pub(super) elsewhere: &'a MeasuredDomain,
    pub(super) progress: &'a Progress,
}

impl Costs<'_> {
    /// Of the progress.
    pub(super) const STEPS: u64 = 11;

    /// What each takes, in bytes. Everything stays until the end, lest what one leaves be taken by the next.
    pub(super) fn measure(&self) -> Result<Vec<(&'static str, f64)>> {
        let qos = DataWriterQos::default();
        let reader_qos = DataReaderQos::default().reliable();
        let name = |number: u32| format!("perf.cost {number}");
        let back = |number: u32| format!("perf.cost back {number}");
        let writer = |number| {
            let name = name(number);
            self.measured.writer(self.participant, &name, qos.clone())
        };
        let reader = |name: String| {
            let qos = reader_qos.clone();
            self.measured.reader(self.participant, &name, qos)
        };
        let topic = |name: String| self.participant.topic::<Bytes>(&name).map_err(Failure::new);

        let (_topics, of_topic) = self.each(MANY, |number| topic(name(number)))?;
        let (_writers, of_writer) = self.each(MANY, writer)?;
        let topics = (0..MANY).map(|number| topic(back(number)));
        let _more_topics = topics.collect::<Result<Vec<_>>>()?;
        let (_readers, of_reader) = self.each(MANY, |number| reader(back(number)))?;
        let (_matched, of_matched) = self.each(MANY, |number| {
            let reader = reader(name(number))?;
            reader.wait_for_matched(1, PATIENCE).map_err(Failure::new)?;
            Ok(reader)
        })?;

        let (two, of_participant) = self.each(2, |_| self.elsewhere.participant())?;
        let [one, other] = two.as_slice() else {
            return Ok(Vec::new());
        };
        let (pairs, of_pair) = self.each(PAIRS, |number| {
            let (name, qos) = (format!("perf.cost {number}"), reader_qos.clone());
            let reader = self.elsewhere.reader(other, &name, qos)?;
            let writer = self
                .elsewhere
                .writer(one, &name, DataWriterQos::default())?;
            writer.wait_for_matched(1, PATIENCE).map_err(Failure::new)?;
            reader.wait_for_matched(1, PATIENCE).map_err(Failure::new)?;
            Ok((writer, reader))
        })?;
        let sample = Bytes {
            data: vec![0; SAMPLE_LEN],
        };
        let (_, of_written) = self.each(BUSY_PAIRS, |number| {
            let number = usize::try_from(number).unwrap_or(0);
            pairs.get(number).map_or(Ok(()), |(writer, _)| {
                write(writer, (0..ROUND).map(|_| sample.clone()))
            })
        })?;

        let keyed = |id| KeyedBytes {
            id,
            data: vec![0; SAMPLE_LEN],
        };
        let history = qos.clone().transient_local();
        let all = reader_qos.clone().keep_all();
        let alone = self.writer("perf.cost history", &history.clone().keep_all())?;
        let of_kept = self.of_samples(&alone, |_| sample.clone())?;
        let alone = self.writer("perf.cost instances", &history.keep_last(1))?;
        let of_kept_instance = self.of_samples(&alone, keyed)?;
        let (writer, _reader) = self.pair("perf.cost cache", &all)?;
        let of_cached = self.of_samples(&writer, |_| sample.clone())?;
        let (writer, _reader) = self.pair("perf.cost cached instances", &all)?;
        let of_instance = self.of_samples(&writer, keyed)?;
        Ok(vec![
            ("each further participant", of_participant),
            ("each topic", of_topic),
            ("each writer", of_writer),
            ("each reader", of_reader),
            ("each match within a participant", of_matched - of_reader),
            (
                "each match between two participants",
                of_pair - of_reader - of_writer - 2.0 * of_topic,
            ),
            ("that match once 5 MB were written", of_written),
            ("each sample of 100 bytes in a history", of_kept),
            ("each instance in a history, with one", of_kept_instance),
            ("each sample of 100 bytes in a cache", of_cached),
            ("each instance in a cache, with one", of_instance),
        ])
    }

    /// Makes so many, and says what each took.
    fn each<E>(&self, count: u32, make: impl FnMut(u32) -> Result<E>) -> Result<(Vec<E>, f64)> {
        let before = resident_bytes();
        let made = (0..count).map(make).collect::<Result<Vec<_>>>()?;
        let grown = resident_bytes() as f64 - before as f64;
        self.progress.advance(1);
        Ok((made, grown / f64::from(count)))
    }

    fn writer<T: TopicSupport<Type = ()>>(
        &self,
        name: &str,
        qos: &DataWriterQos,
    ) -> Result<DataWriter<T>> {
        let topic = self.participant.topic(name).map_err(Failure::new)?;
        let made = self.participant.writer_with(&topic, qos.clone());
        made.map_err(Failure::new)
    }

    /// A writer that keeps nothing for long, and a reader that it matches.
    fn pair<T: TopicSupport<Type = ()>>(
        &self,
        name: &str,
        qos: &DataReaderQos,
    ) -> Result<(DataWriter<T>, DataReader<T>)> {
        // Other programs may keep the reader from its processor.
        let qos_of_writer = DataWriterQos::default().reliable(PATIENCE).keep_all();
        let writer = self.writer::<T>(name, &qos_of_writer)?;
        let made = self.participant.reader_with(writer.topic(), qos.clone());
        let reader = made.map_err(Failure::new)?;
        writer.wait_for_matched(1, PATIENCE).map_err(Failure::new)?;
        Ok((writer, reader))
    }

    /// What each of many samples takes.
    fn of_samples<T: TopicSupport<Type = ()>>(
        &self,
        writer: &DataWriter<T>,
        sample: impl Fn(u32) -> T,
    ) -> Result<f64> {
        let before = resident_bytes();
        write(writer, (0..SAMPLES).map(sample))?;
        let grown = resident_bytes() as f64 - before as f64;
        self.progress.advance(1);
        Ok(grown / f64::from(SAMPLES))
    }
}

/// Writes them all, and waits until readers have them.
fn write<T: TopicSupport>(writer: &DataWriter<T>, samples: impl Iterator<Item = T>) -> Result<()> {
    for sample in samples {
        writer.write(&sample).map_err(Failure::new)?;
    }
    writer
        .wait_for_acknowledgments(PATIENCE)
        .map_err(Failure::new)
}

/// So many that a page more or less does not count.
const MANY: u32 = 1_000;
/// With shared memory each holds some files open.
const PAIRS: u32 = 200;
const BUSY_PAIRS: u32 = 4;
const SAMPLES: u32 = 50_000;
const SAMPLE_LEN: usize = 100;
/// Once round a log of 4 MiB.
const ROUND: u32 = 50_000;
const PATIENCE: Duration = Duration::from_secs(10);
