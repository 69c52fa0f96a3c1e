//! What readers got of which one took the place of the other: some of it twice, and in two orders.

use std::collections::{BTreeMap, BTreeSet};

use tickwire::qos::ReliabilityKind;
use tickwire::reader::WriterStatus;
use tickwire::{
    DataReader, Guid, InstanceHandle, Sample, SampleIdentity, SampleInfo, Samples, SequenceNumber,
    Serialized, Timestamp,
};

use super::losses::{Before, Counts};

/// A reader whose place another takes.
pub(super) enum Replaced {
    /// It reads on, for the writers that do not know the other yet.
    Reading(DataReader<Serialized>),
    /// It had to go before there was another.
    Gone(Box<Got>),
}

impl Replaced {
    /// It goes if there cannot be two, as the writers have another type: one participant has no two types for a topic.
    /// So who writes by the first type beside them may lose samples in between, and what is lost to the new reader counts
    /// as lost although this one had it. Another participant would have to be found by all writers first, and be
    /// counted by them as one more reader.
    pub(super) fn new(reader: DataReader<Serialized>, may_read_on: bool) -> Self {
        match may_read_on {
            true => Self::Reading(reader),
            false => Self::Gone(Box::new(Got::by(&reader))),
        }
    }
}

/// What a reader got before another took its place.
#[derive(Default)]
pub(super) struct Got {
    samples: Vec<Samples<Serialized>>,
    /// How far it had got with each writer.
    writers: Vec<WriterStatus>,
    before: Before,
}

impl Got {
    /// By a reader that goes before there is another.
    fn by(reader: &DataReader<Serialized>) -> Self {
        Self {
            samples: vec![reader.take()],
            writers: reader.matched_publications(),
            before: Before::by(Counts::of(reader)),
        }
    }

    /// Adds what the reader has by now. Says whether it and the other that is to take its place stand at the same number
    /// of each writer: up to there all is as the first one has counted it, and from there on as the other will.
    pub(super) fn add(
        &mut self,
        reader: &DataReader<Serialized>,
        other: &DataReader<Serialized>,
    ) -> bool {
        let stand = || [reader, other].map(DataReader::matched_publications);
        let [earlier, later] = stand();
        self.samples.push(reader.take());
        let is_earlier = |writer: &&WriterStatus| status_of(&earlier, writer.guid).is_some();
        let others = later.iter().filter(|writer| !is_earlier(writer));
        let lost = others.map(|writer| writer.lost);
        let lost = lost.fold(0, u64::saturating_add);
        self.before = Before::both(Counts::of(reader), Counts::of(other), lost);
        let is_reliable = other.qos().policies().reliability.kind == ReliabilityKind::Reliable;
        let is_even = |writer: &WriterStatus| match status_of(&later, writer.guid) {
            // Which number is next from a writer that repeats nothing is known when it comes.
            Some(at) if at.heard || is_reliable => at.expected == writer.expected,
            _ => true,
        };
        let lacks_nothing = |writer: &WriterStatus| writer.expected > writer.announced;
        let mut writers = earlier.iter();
        let are_even = writers.all(|writer| is_even(writer) && lacks_nothing(writer));
        // Neither has gone on meanwhile.
        let are_even = are_even && stand() == [&*earlier, &*later];
        self.writers = earlier;
        are_even
    }

    pub(super) fn is_empty(&self) -> bool {
        self.samples.iter().all(|samples| samples.is_empty())
    }
}

fn status_of(writers: &[WriterStatus], writer: Guid) -> Option<&WriterStatus> {
    writers.iter().find(|status| status.guid == writer)
}

/// What comes before all else, first what the earlier reader got.
#[derive(Default)]
pub(super) struct Early {
    samples: Vec<Samples<Serialized>>,
    /// What the earlier one counted.
    pub(super) before: Before,
}

impl Early {
    /// With what the other has by now, if that belongs between.
    pub(super) fn new(got: Got, then: Option<Samples<Serialized>>) -> Self {
        let Got {
            mut samples,
            writers,
            mut before,
        } = got;
        let identities = |samples: &[_]| samples.iter().flatten().filter_map(identity).collect();
        let then: Vec<_> = then.into_iter().collect();
        before.found(found(&writers, &identities(&samples), &identities(&then)));
        samples.extend(then);
        Self { samples, before }
    }

    /// Each sample once: those of a writer as it numbered them, those of several as they were written.
    pub(super) fn in_order(&self) -> Vec<&Sample<Serialized>> {
        in_order(self.samples(), |sample| Place::of(sample.info()))
    }

    /// Which samples these are, as they may come again.
    pub(super) fn identities(&self) -> BTreeSet<SampleIdentity> {
        self.samples().filter_map(identity).collect()
    }

    fn samples(&self) -> impl Iterator<Item = &Sample<Serialized>> {
        self.samples.iter().flatten()
    }
}

/// Which sample it is. The end of an instance whose writer has vanished is none.
pub(super) fn identity(sample: &Sample<Serialized>) -> Option<SampleIdentity> {
    let identity = sample.info().identity();
    (identity.sequence_number != SequenceNumber::UNKNOWN).then_some(identity)
}

/// How many samples of those that a reader has lost another got.
fn found(
    writers: &[WriterStatus],
    got: &BTreeSet<SampleIdentity>,
    other: &BTreeSet<SampleIdentity>,
) -> u64 {
    let found = |writer: &WriterStatus| {
        // What is older is history, which was not meant for that reader.
        let counted = writer.delivered.saturating_add(writer.lost);
        let first = SequenceNumber(writer.expected.0.saturating_sub_unsigned(counted));
        let is_lost = |sample: &&SampleIdentity| {
            sample.writer == writer.guid
                && (first..writer.expected).contains(&sample.sequence_number)
        };
        let count = other.difference(got).filter(is_lost).count() as u64;
        count.min(writer.lost)
    };
    let counts = writers.iter().map(found);
    counts.fold(0, u64::saturating_add)
}

/// Where a sample belongs among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    writer: Guid,
    number: SequenceNumber,
    instance: InstanceHandle,
    time: Timestamp,
}

impl Place {
    fn of(info: &SampleInfo) -> Self {
        Self {
            writer: info.writer,
            // What has no number says that the writer has vanished.
            number: match info.sequence_number {
                SequenceNumber::UNKNOWN => SequenceNumber(i64::MAX),
                number => number,
            },
            instance: info.instance,
            time: info.source_timestamp.unwrap_or(info.reception_timestamp),
        }
    }
}

/// Of samples that have the same place but for the time, the first.
fn in_order<S>(samples: impl Iterator<Item = S>, place: impl Fn(&S) -> Place) -> Vec<S> {
    let mut by_writer = BTreeMap::new();
    for sample in samples {
        let Place {
            writer,
            number,
            instance,
            time,
        } = place(&sample);
        let entry = by_writer.entry((writer, number, instance));
        entry.or_insert((time, sample));
    }
    let mut ordered = Vec::with_capacity(by_writer.len());
    let mut last: Option<(Guid, Timestamp)> = None;
    for ((writer, ..), (time, sample)) in by_writer {
        // A clock that was set back does not change the order of one writer's samples.
        let before = last.filter(|(of, _)| *of == writer);
        let time = before.map_or(time, |(_, before)| time.max(before));
        last = Some((writer, time));
        ordered.push((time, sample));
    }
    ordered.sort_by_key(|(time, _)| *time);
    ordered.into_iter().map(|(_, sample)| sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of samples that are a writer's name, a number and a time.
    fn ordered(samples: &[(u8, i64, i64)]) -> Vec<(u8, i64, i64)> {
        in_order(samples.iter().copied(), |&(writer, number, time)| Place {
            writer: Guid::from_bytes([writer; 16]),
            number: SequenceNumber(number),
            instance: InstanceHandle::KEYLESS,
            time: Timestamp::from_nanos(time),
        })
    }

    #[test]
    fn what_two_readers_got_is_in_the_order_of_the_writer() {
        let early = [(1, 1, 10), (1, 2, 20), (1, 3, 30)];
        let history = [(1, 3, 30), (1, 4, 40)];
        let all = [early[0], early[1], early[2], history[1]];
        assert_eq!(ordered(&[&early[..], &history].concat()), all);
        // What is older than what the first reader got, too.
        assert_eq!(ordered(&[&history[..], &early].concat()), all);
    }

    #[test]
    fn samples_of_several_writers_are_in_the_order_of_their_times() {
        let one = [(2, 1, 10), (2, 2, 30), (2, 3, 50)];
        let other = [(1, 7, 20), (1, 8, 40)];
        assert_eq!(
            ordered(&[&one[..], &other].concat()),
            [one[0], other[0], one[1], other[1], one[2]]
        );
        // Number goes before time.
        let set_back = [(2, 1, 60), (2, 2, 15), (2, 3, 70)];
        assert_eq!(
            ordered(&[&set_back[..], &other].concat()),
            [other[0], other[1], set_back[0], set_back[1], set_back[2]]
        );
    }

    #[test]
    fn what_was_lost_to_one_reader_and_came_to_the_other_is_found() {
        let writer = Guid::from_bytes([1; 16]);
        let samples = |numbers: &[i64]| {
            let identity = |&number| SampleIdentity {
                writer,
                sequence_number: SequenceNumber(number),
            };
            numbers.iter().map(identity).collect()
        };
        // It began with 3, and lost 4 and 6.
        let status = WriterStatus {
            guid: writer,
            expected: SequenceNumber(8),
            announced: SequenceNumber(7),
            delivered: 3,
            lost: 2,
            duplicates: 0,
            heard: true,
        };
        let got = samples(&[3, 5, 7]);
        let found = |numbers| found(&[status], &got, &samples(numbers));
        assert_eq!(found(&[5, 6, 7]), 1);
        assert_eq!(found(&[4, 6]), 2);
        // History and what comes later was not lost.
        assert_eq!(found(&[1, 2, 7, 8, 9]), 0);
    }
}
