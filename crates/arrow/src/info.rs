//! What is known of a sample beside its data, as columns.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use arrow_buffer::{Buffer, NullBufferBuilder};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, TimeUnit};
use tickwire::{Guid, InstanceState, SampleInfo, SampleState, Timestamp, ViewState};

use crate::schema::{name_type, text};

/// Something about a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Info {
    /// When the writer made it: `timestamp[ns, UTC]`, null if it did not say.
    SourceTimestamp,
    /// When it arrived.
    ReceptionTimestamp,
    /// When the kernel received it, null if that is not known.
    KernelTimestamp,
    /// `not_read` or `read`.
    SampleState,
    /// `new` or `not_new`.
    ViewState,
    /// `alive`, `disposed` or `no_writers`.
    InstanceState,
    /// The handle of its instance, 16 bytes.
    Instance,
    /// The name of its writer on the network.
    Writer,
    /// Its place in the writer's history.
    SequenceNumber,
}

/// All of them, by the names that they are asked for by.
const INFOS: [(&str, Info); 9] = [
    ("source_timestamp", Info::SourceTimestamp),
    ("reception_timestamp", Info::ReceptionTimestamp),
    ("kernel_timestamp", Info::KernelTimestamp),
    ("sample_state", Info::SampleState),
    ("view_state", Info::ViewState),
    ("instance_state", Info::InstanceState),
    ("instance", Info::Instance),
    ("writer", Info::Writer),
    ("sequence_number", Info::SequenceNumber),
];

impl Info {
    /// By its name, that of [`SampleInfo`]'s field.
    pub fn find(name: &str) -> Option<Self> {
        let mut infos = INFOS.iter();
        infos.find(|known| known.0 == name).map(|known| known.1)
    }

    /// The names that there are.
    pub fn names() -> impl Iterator<Item = &'static str> {
        INFOS.iter().map(|known| known.0)
    }

    fn data_type(self) -> DataType {
        match self {
            Self::SourceTimestamp | Self::ReceptionTimestamp | Self::KernelTimestamp => {
                DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
            }
            Self::SampleState | Self::ViewState | Self::InstanceState | Self::Writer => name_type(),
            Self::Instance => DataType::FixedSizeBinary(16),
            Self::SequenceNumber => DataType::Int64,
        }
    }
}

/// The builder of a column of one.
pub(crate) struct InfoColumn {
    info: Info,
    pub(crate) field: FieldRef,
    values: Values,
}

enum Values {
    Times(Vec<i64>, NullBufferBuilder),
    Numbers(Vec<i64>),
    /// Places of names.
    Places(Vec<i32>),
    Writers {
        places: Vec<i32>,
        names: Vec<String>,
        known: HashMap<Guid, i32>,
    },
    Handles(Vec<u8>),
}

impl InfoColumn {
    pub(crate) fn new(info: Info, name: &str) -> Self {
        let nullable = matches!(info, Info::SourceTimestamp | Info::KernelTimestamp);
        Self {
            info,
            field: Arc::new(Field::new(name, info.data_type(), nullable)),
            values: match info {
                Info::SourceTimestamp | Info::ReceptionTimestamp | Info::KernelTimestamp => {
                    Values::Times(Vec::new(), NullBufferBuilder::new(0))
                }
                Info::SampleState | Info::ViewState | Info::InstanceState => {
                    Values::Places(Vec::new())
                }
                Info::Writer => Values::Writers {
                    places: Vec::new(),
                    names: Vec::new(),
                    known: HashMap::new(),
                },
                Info::Instance => Values::Handles(Vec::new()),
                Info::SequenceNumber => Values::Numbers(Vec::new()),
            },
        }
    }

    pub(crate) fn push(&mut self, of: &SampleInfo) {
        match &mut self.values {
            Values::Times(times, validity) => {
                let time = match self.info {
                    Info::SourceTimestamp => of.source_timestamp,
                    Info::KernelTimestamp => of.kernel_timestamp,
                    _ => Some(of.reception_timestamp),
                };
                validity.append(time.is_some());
                times.push(time.map_or(0, Timestamp::as_nanos));
            }
            Values::Numbers(numbers) => numbers.push(of.sequence_number.0),
            Values::Places(places) => places.push(match self.info {
                Info::SampleState => i32::from(of.sample_state == SampleState::Read),
                Info::ViewState => i32::from(of.view_state == ViewState::NotNew),
                _ => match of.instance_state {
                    InstanceState::Alive => 0,
                    InstanceState::Disposed => 1,
                    InstanceState::NoWriters => 2,
                },
            }),
            Values::Writers {
                places,
                names,
                known,
            } => places.push(*known.entry(of.writer).or_insert_with(|| {
                names.push(of.writer.to_string());
                i32::try_from(names.len() - 1).unwrap_or(i32::MAX)
            })),
            Values::Handles(handles) => handles.extend_from_slice(&of.instance.0),
        }
    }

    /// The array of all `len` rows. Begins anew.
    pub(crate) fn finish(&mut self, len: usize) -> Result<ArrayData, ArrowError> {
        let array = ArrayData::builder(self.field.data_type().clone()).len(len);
        let names = |names: Vec<&str>| {
            let failed = || ArrowError::ComputeError("too many names".to_owned());
            text(names.into_iter()).ok_or_else(failed)
        };
        let array = match &mut self.values {
            Values::Times(times, validity) => array
                .nulls(validity.finish())
                .add_buffer(Buffer::from_vec(mem::take(times))),
            Values::Numbers(numbers) => array.add_buffer(Buffer::from_vec(mem::take(numbers))),
            Values::Places(places) => array
                .add_buffer(Buffer::from_vec(mem::take(places)))
                .add_child_data(names(match self.info {
                    Info::SampleState => vec!["not_read", "read"],
                    Info::ViewState => vec!["new", "not_new"],
                    _ => vec!["alive", "disposed", "no_writers"],
                })?),
            Values::Writers {
                places,
                names: writers,
                known,
            } => {
                known.clear();
                let writers = mem::take(writers);
                array
                    .add_buffer(Buffer::from_vec(mem::take(places)))
                    .add_child_data(names(writers.iter().map(String::as_str).collect())?)
            }
            Values::Handles(handles) => array.add_buffer(Buffer::from_vec(mem::take(handles))),
        };
        array.build()
    }
}
