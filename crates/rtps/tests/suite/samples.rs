//! Samples that come together, and what a reader makes of them one by one.

use std::slice;

use crate::common::script::{ReaderScript, WRITER};
use crate::common::{payload, reader_config};
use proptest::prelude::*;
use tickwire_rtps::reader::Samples;
use tickwire_rtps::wire::{
    Context, Data, EntityId, InlineQos, MessageReader, MessageWriter, SequenceNumber,
    SerializedPayload,
};

/// Samples that all have come with the same message.
struct Together<'s, 'a> {
    context: &'s Context<'a>,
    rest: slice::Iter<'s, Data<'a>>,
}

impl<'a> Samples<'a> for Together<'_, 'a> {
    fn context(&self) -> &Context<'a> {
        self.context
    }

    fn next_sample(&mut self) -> Option<Data<'a>> {
        self.rest.next().copied()
    }
}

fn script(reliable: bool) -> ReaderScript {
    let mut script = ReaderScript::new(reader_config());
    script.match_writer(reliable, false);
    script.heartbeat(1, 0, true);
    script
}

proptest! {
    /// Whatever lacks, comes again, is not to be believed or finds no room.
    #[test]
    fn samples_that_come_together_are_delivered_as_those_that_come_alone(
        reliable: bool,
        runs in prop::collection::vec(prop::collection::vec((0..20_u8, 1..6_i64), 1..12), 1..6),
        room in prop_oneof![Just(usize::MAX), 0..20_usize],
        run_len in prop_oneof![Just(usize::MAX), 0..4_usize],
    ) {
        let mut bytes = Vec::new();
        MessageWriter::new(&mut bytes, WRITER.prefix).info_ts(None);
        let context = *MessageReader::new(&bytes).expect("a header").context();
        let contents = payload(1, 8);
        let mut next = 1;
        let mut number = |(what, distance)| match what {
            0 => next - distance,
            1 => next + distance,
            2 => i64::MAX,
            _ => {
                next += 1;
                next - 1
            }
        };
        let (mut alone, mut together) = (script(reliable), script(reliable));
        for script in [&mut alone, &mut together] {
            script.cache.room = room;
            script.cache.run_len = run_len;
        }
        for run in runs {
            let sample = |number| Data {
                reader: EntityId::UNKNOWN,
                writer: WRITER.entity,
                sequence_number: SequenceNumber(number),
                inline_qos: InlineQos::default(),
                payload: SerializedPayload::Data(&contents),
            };
            let samples: Vec<_> = run.into_iter().map(&mut number).map(sample).collect();
            for data in &samples {
                alone.reader.handle_data(alone.now, &context, data, &mut alone.cache);
            }
            let mut rest = Together { context: &context, rest: samples[1..].iter() };
            let (now, cache) = (together.now, &mut together.cache);
            together.reader.handle_samples(now, samples[0], &mut rest, cache);
            prop_assert_eq!(&alone.cache.samples, &together.cache.samples);
            prop_assert_eq!(alone.cache.lost, together.cache.lost);
            let counters = [&alone, &together].map(|script| *script.reader.counters());
            prop_assert_eq!(counters[0], counters[1]);
            let writers = [&alone, &together].map(|script| script.reader.writers().next());
            prop_assert_eq!(writers[0], writers[1]);
            prop_assert_eq!(alone.reader.poll_timeout(), together.reader.poll_timeout());
        }
    }
}
