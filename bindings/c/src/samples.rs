//! Samples that readers have given and not got back.

use std::cell::Cell;

use dds::{
    BytesInPlace, InstanceState, SampleState, Samples, Serialized, StateMask, TopicSupport,
    ViewState,
};

use crate::border::{Out, Pointer, export};
use crate::failure::{Failure, Result};
use crate::guid::Guid;
use crate::handle::{Handle, Kind};
use crate::instance::Instance;
use crate::slab::{Reserved, Slab};
use crate::time::nanos;

/// `tw_samples`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Given {
    samples: Pointer,
    count: usize,
    held: Handle,
}

impl Given {
    const NONE: Self = Self {
        samples: Pointer::NULL,
        count: 0,
        held: Handle::NULL,
    };
}

/// `tw_sample`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    data: Pointer,
    len: usize,
    info: Info,
}

/// `tw_sample_info`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Info {
    states: u32,
    valid_data: i32,
    source_timestamp_ns: i64,
    reception_timestamp_ns: i64,
    kernel_timestamp_ns: i64,
    sequence_number: i64,
    instance: Instance,
    writer: Guid,
    disposed_generation_count: u32,
    no_writers_generation_count: u32,
    sample_rank: u32,
    generation_rank: u32,
    absolute_generation_rank: u32,
    in_place: i32,
}

/// What is held for the caller: where each sample lies, and what they lie in.
#[derive(Default)]
struct Held {
    views: Vec<Sample>,
    keeps: Option<Keeps>,
}

/// Where the bytes are.
#[allow(dead_code, reason = "it keeps what is pointed to")]
pub(crate) enum Keeps {
    Payloads(Samples<Serialized>),
    Bytes(Samples<BytesInPlace>),
    Message(Vec<u8>),
}

/// In a box that is used again: what goes in and out is an address, and stays where it is.
static HELD: Slab<Box<Held>> = Slab::new(Kind::Samples);

thread_local! {
    /// For the next samples.
    static SPARE: Cell<Option<Room>> = const { Cell::new(None) };
}

/// Where samples will be held: what is empty, and its place among those that are given. Whoever has it can give what he
/// takes out of a reader.
pub(crate) struct Room {
    held: Box<Held>,
    place: Reserved<Box<Held>>,
}

impl Room {
    /// The thread's own, else one that is made: a thread that ends has none left.
    #[inline]
    pub(crate) fn new() -> Result<Self> {
        match SPARE.try_with(Cell::take).ok().flatten() {
            Some(spare) => Ok(spare),
            None => Self::reserve(),
        }
    }

    #[cold]
    fn reserve() -> Result<Self> {
        Ok(Self {
            place: HELD.reserve()?,
            held: Box::default(),
        })
    }

    /// It was not needed.
    #[inline]
    pub(crate) fn keep(self) {
        // A thread that ends needs none.
        let _ = SPARE.try_with(|spare| spare.set(Some(self)));
    }

    /// Gives samples to the caller.
    #[inline]
    pub(crate) fn give<T: Data>(mut self, samples: Samples<T>) -> Given {
        if samples.is_empty() {
            self.keep();
            return Given::NONE;
        }
        self.held.views.extend(samples.iter().map(view));
        self.held.keeps = Some(T::keep(samples));
        self.hold()
    }

    /// Gives a request or a reply to the caller.
    pub(crate) fn give_message(mut self, payload: Vec<u8>, info: &dds::SampleInfo) -> Given {
        self.held.views.push(view_of(Some(&payload), info, false));
        self.held.keeps = Some(Keeps::Message(payload));
        self.hold()
    }

    fn hold(self) -> Given {
        let Self { held, place } = self;
        let (samples, count) = (Pointer::to(&held.views), held.views.len());
        Given {
            samples,
            count,
            held: place.put(held),
        }
    }
}

/// Where the bytes of a sample lie.
pub(crate) trait Data: TopicSupport {
    fn bytes(&self) -> &[u8];
    fn is_in_place(&self) -> bool;
    fn keep(samples: Samples<Self>) -> Keeps;
}

impl Data for Serialized {
    fn bytes(&self) -> &[u8] {
        self.payload()
    }

    fn is_in_place(&self) -> bool {
        false
    }

    fn keep(samples: Samples<Self>) -> Keeps {
        Keeps::Payloads(samples)
    }
}

impl Data for BytesInPlace {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn is_in_place(&self) -> bool {
        self.is_in_place()
    }

    fn keep(samples: Samples<Self>) -> Keeps {
        Keeps::Bytes(samples)
    }
}

/// A sample as long as what it is a view of.
#[inline]
pub(crate) fn view<T: Data>(sample: &dds::Sample<T>) -> Sample {
    let holder = sample.key_holder();
    let is_in_place = holder.is_some_and(T::is_in_place);
    view_of(holder.map(T::bytes), sample.info(), is_in_place)
}

#[inline]
fn view_of(data: Option<&[u8]>, info: &dds::SampleInfo, is_in_place: bool) -> Sample {
    Sample {
        data: data.map_or(Pointer::NULL, Pointer::to),
        len: data.map_or(0, <[u8]>::len),
        info: Info {
            states: states_of(info),
            valid_data: info.valid_data.into(),
            source_timestamp_ns: nanos(info.source_timestamp),
            reception_timestamp_ns: nanos(Some(info.reception_timestamp)),
            kernel_timestamp_ns: nanos(info.kernel_timestamp),
            sequence_number: info.sequence_number.0,
            instance: info.instance.into(),
            writer: info.writer.into(),
            disposed_generation_count: info.disposed_generation_count,
            no_writers_generation_count: info.no_writers_generation_count,
            sample_rank: info.sample_rank,
            generation_rank: info.generation_rank,
            absolute_generation_rank: info.absolute_generation_rank,
            in_place: is_in_place.into(),
        },
    }
}

/// `tw_state` of a sample: one bit of each group.
fn states_of(info: &dds::SampleInfo) -> u32 {
    let sample = match info.sample_state {
        SampleState::Read => 1,
        SampleState::NotRead => 2,
    };
    let view = match info.view_state {
        ViewState::New => 4,
        ViewState::NotNew => 8,
    };
    let instance = match info.instance_state {
        InstanceState::Alive => 16,
        InstanceState::Disposed => 32,
        InstanceState::NoWriters => 64,
    };
    sample | view | instance
}

/// A mask of states; of a group of which no bit is set, any will do.
pub(crate) fn states(mask: u32) -> Result<StateMask> {
    let groups = [SAMPLE_STATES, VIEW_STATES, INSTANCE_STATES];
    let any = groups
        .into_iter()
        .filter(|group| mask & u32::from(*group) == 0);
    let any = any.fold(0, |any, group| any | group);
    match u8::try_from(mask) {
        // To take all is a way of its own, and shorter.
        Ok(mask) if mask | any == ALL_STATES => Ok(StateMask::ANY),
        Ok(mask) if mask & !ALL_STATES == 0 => Ok(StateMask::from_bits(mask | any)),
        _ => Err(Failure::argument(format!(
            "{mask:#x} is no mask of states; put together bits such as TW_NOT_READ"
        ))),
    }
}

export! {
    fn tw_samples_return(samples: Out<Given>) {
        let (given, place) = samples.exchange("samples")?;
        if given.held == Handle::NULL && given.count == 0 {
            return Ok(());
        }
        if let Some(spare) = SPARE.try_with(Cell::take).ok().flatten() {
            spare.keep();
            let held = HELD.take(given.held)?;
            place.put(Given::NONE);
            drop(held);
            return Ok(());
        }
        let (mut held, room) = HELD.take_and_reserve(given.held)?;
        place.put(Given::NONE);
        held.keeps = None;
        held.views.clear();
        if held.views.capacity() <= MOST_SPARE {
            Room { held, place: room }.keep();
        }
        Ok(())
    }
}

const SAMPLE_STATES: u8 = 3;
const VIEW_STATES: u8 = 12;
const INSTANCE_STATES: u8 = 112;
const ALL_STATES: u8 = SAMPLE_STATES | VIEW_STATES | INSTANCE_STATES;
/// Views for which a thread keeps memory.
const MOST_SPARE: usize = 4096;
