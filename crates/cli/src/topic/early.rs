//! What readers got of which one took the place of the other: some of it twice, and in two orders.

use std::collections::{BTreeMap, BTreeSet};

use tickwire::{
    DataReader, Guid, InstanceHandle, Sample, SampleIdentity, SampleInfo, Samples, SequenceNumber,
    Serialized, Timestamp,
};

use super::losses::Counts;

/// A reader whose place another takes.
pub(super) enum Replaced {
    /// It reads on, for the writers that do not know the other yet.
    Reading(DataReader<Serialized>),
    /// It had to go before there was another.
    Gone(Got),
}

impl Replaced {
    /// It goes if there cannot be two: one participant has no two types for a topic.
    pub(super) fn new(reader: DataReader<Serialized>, may_read_on: bool) -> Self {
        match may_read_on {
            true => Self::Reading(reader),
            false => Self::Gone(Got::by(&reader)),
        }
    }
}

/// What a reader got before another took its place.
pub(super) struct Got {
    samples: Samples<Serialized>,
    missed: Counts,
}

impl Got {
    pub(super) fn by(reader: &DataReader<Serialized>) -> Self {
        let samples = reader.take();
        Self {
            samples,
            missed: Counts::of(reader),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }
}

/// What comes before all else, first what the earlier reader got.
#[derive(Default)]
pub(super) struct Early {
    samples: Vec<Samples<Serialized>>,
    /// What the earlier one counted.
    pub(super) missed: Counts,
}

impl Early {
    /// With what the other has by now, if that belongs between.
    pub(super) fn new(got: Got, then: Option<Samples<Serialized>>) -> Self {
        Self {
            samples: std::iter::once(got.samples).chain(then).collect(),
            missed: got.missed,
        }
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
}
