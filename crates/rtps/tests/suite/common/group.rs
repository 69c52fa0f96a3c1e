//! Coherent sets for tests, and a publisher and a subscriber with several topics.

use tickwire_base::Duration;
use tickwire_rtps::reader::{GroupSets, Member, ReaderConfig};
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix, ParameterListWriter, SequenceNumber};
use tickwire_rtps::writer::WriterConfig;
use tickwire_rtps::{Change, GroupPlace, KeyHash, Place};
use tickwire_simnet::Link;

use super::{Told, World, reader_config};

pub const LIMIT: Duration = Duration::from_secs(60);

pub fn presenting(config: WriterConfig) -> WriterConfig {
    WriterConfig {
        presents: true,
        transient_local: true,
        ..config
    }
}

pub fn coherent() -> ReaderConfig {
    ReaderConfig {
        coherent: true,
        ..reader_config()
    }
}

pub fn write_set(world: &mut World, writer: usize, len: usize) {
    world.begin_set(writer, 0);
    for _ in 0..len {
        world.write_blocking(writer, 40);
    }
    world.end_set(writer, 0);
}

pub fn write_key(world: &mut World, writer: usize, key: u8) {
    let change = Change {
        key_hash: Some([key; 16] as KeyHash),
        ..Change::default()
    };
    world.write_change(writer, 40, change).expect("room");
}

/// The inline QoS of a change in a set of the writer and one of its publisher; 0 is none.
pub fn in_set(coherent_set: i64, group_set: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut list = ParameterListWriter::new(&mut bytes);
    list.place(&Place {
        coherent_set: SequenceNumber(coherent_set),
        group: GroupPlace {
            number: SequenceNumber::ZERO,
            coherent_set: SequenceNumber(group_set),
            ..GroupPlace::default()
        },
    });
    list.finish();
    bytes
}

/// Two writers of one publisher, each with a reader of one subscriber.
pub struct Group {
    pub world: World,
    pub writers: [usize; 2],
    pub readers: [usize; 2],
    pub sets: GroupSets,
    /// Ends of each reader that the subscriber has been told of.
    pub told: [usize; 2],
    pub number: i64,
    pub whole: Vec<i64>,
    pub discarded: Vec<i64>,
}

pub const PUBLISHER: Guid = Guid::new(GuidPrefix([3; 12]), EntityId::user_publisher(1));

impl Group {
    pub fn new(seed: u64, link: Link, config: &WriterConfig) -> Self {
        let mut world = World::new(seed, link);
        let writers = [0; 2].map(|_| world.add_writer(presenting(config.clone())));
        let readers = [0; 2].map(|_| world.add_reader(coherent(), false));
        Self {
            world,
            writers,
            readers,
            sets: GroupSets::default(),
            told: [0; 2],
            number: 0,
            whole: Vec::new(),
            discarded: Vec::new(),
        }
    }

    pub fn member(&self, which: usize) -> Member {
        Member {
            reader: self.world.readers[self.readers[which]].reader.guid(),
            writer: self.world.writers[self.writers[which]].writer.guid(),
        }
    }

    pub fn connect(&mut self, which: usize) {
        let (writer, reader) = (self.writers[which], self.readers[which]);
        self.sets.matched(self.member(which), PUBLISHER);
        self.world.connect(writer, reader, true, true);
    }

    /// Begins a set; says its number.
    pub fn begin_set(&mut self) -> i64 {
        let set = self.number + 1;
        for writer in self.writers {
            self.world.begin_set(writer, set);
        }
        set
    }

    /// Ends the set in the writers that are there.
    pub fn end_set(&mut self) {
        self.number += 1;
        for writer in self.writers {
            if self.world.writers[writer].up {
                self.world.end_set(writer, self.number);
            }
        }
    }

    /// Writes a change.
    pub fn write(&mut self, which: usize, key: u8) {
        self.number += 1;
        let change = Change {
            key_hash: Some([key; 16]),
            group_number: SequenceNumber(self.number),
            ..Change::default()
        };
        let writer = self.writers[which];
        self.world.write_change(writer, 40, change).expect("room");
    }

    /// Writes so many changes with each writer in one set; says its number.
    pub fn write_set(&mut self, counts: [usize; 2]) -> i64 {
        let set = self.begin_set();
        for (which, count) in counts.into_iter().enumerate() {
            (0..count).for_each(|_| self.write(which, 0));
        }
        self.end_set();
        self.decide();
        set
    }

    /// A writer goes, and its reader hears of that.
    pub fn leave(&mut self, which: usize) {
        let member = self.member(which);
        self.world.writers[self.writers[which]].up = false;
        assert!(
            self.world
                .unmatch_writer(self.readers[which], member.writer)
        );
        self.decide();
        self.sets.unmatched(member);
    }

    /// Waits until all of one writer is acknowledged.
    pub fn settle_writer(&mut self, which: usize) {
        let end = self.world.now() + LIMIT;
        let writer = self.writers[which];
        while !self.world.writers[writer].acknowledged() {
            assert!(self.world.now() < end, "not settled: {:#?}", self.world);
            self.world.step(end);
        }
        self.decide();
    }

    /// Tells the subscriber what has come, and decides what can be.
    pub fn decide(&mut self) {
        for which in 0..2 {
            let member = self.member(which);
            let cache = &self.world.readers[self.readers[which]].cache;
            for &(_, told) in &cache.told[self.told[which]..] {
                match told {
                    Told::Begun(set) => self.sets.begun(member, set),
                    Told::Passed(number, group) => self.sets.passed(member, number, group),
                    Told::Ended(end, count) => {
                        self.sets.ended(self.world.now(), member, &end, count)
                    }
                }
            }
            self.told[which] = cache.told.len();
        }
        loop {
            let next = self.sets.decisions(self.world.now()).next();
            let Some(decision) = next else {
                return;
            };
            self.sets.done(&decision);
            match decision.judgement.is_whole {
                true => self.whole.push(decision.set.0),
                false => self.discarded.push(decision.set.0),
            }
        }
    }

    pub fn settle(&mut self) {
        self.world.settle(LIMIT);
        self.decide();
    }
}
