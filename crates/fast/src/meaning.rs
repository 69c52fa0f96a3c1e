//! What integers mean that FAST 1.2 has types for: enumerations, sets, booleans and timestamps. On the wire and in
//! dictionaries they are plain integers. Knows nothing of XML, bytes or messages.

use core::fmt;
use std::sync::Arc;

/// What the values of a field stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Themselves.
    #[default]
    Plain,
    Enumeration(Arc<Elements>),
    Set(Arc<Elements>),
    Boolean,
    Timestamp(Arc<Timestamp>),
}

/// The elements of an enumeration or a set, in the order of the template (FAST 1.2, "Enumeration" and "Set").
///
/// The integer of an enumeration is the number of its element, from 0. The integer of a set is a sum of bits: 1 for the
/// first element, 2 for the second, 4 for the third and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    list: Box<[Element]>,
}

/// One element of an enumeration or a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its name; with many venues that is the value of the FIX field, such as `1` or `B`.
    pub name: Box<str>,
    /// The `id` attribute as it is written, where venues have the readable name, such as `Bid`.
    pub id: Option<Box<str>>,
    /// The integer: the element's number in an enumeration (or what an explicit `value` says, in lenient mode), its bit
    /// in a set.
    pub value: u64,
}

impl Elements {
    pub(crate) fn new(list: Vec<Element>) -> Self {
        Self {
            list: list.into_boxed_slice(),
        }
    }

    /// All elements, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Element> {
        self.list.iter()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none, which lenient mode alone allows.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The element of an enumeration with this integer. Cost: one look, a search if values are explicit.
    pub fn with_value(&self, value: u64) -> Option<&Element> {
        let at = usize::try_from(value).ok();
        at.and_then(|at| self.list.get(at))
            .filter(|element| element.value == value)
            .or_else(|| self.list.iter().find(|element| element.value == value))
    }

    /// The elements that a set's integer is the sum of, in order. Cost: a look at each element.
    pub fn within(&self, sum: u64) -> impl Iterator<Item = &Element> {
        self.list
            .iter()
            .filter(move |element| element.value & sum != 0)
    }

    /// The element with this name. Cost: a search.
    pub fn named(&self, name: &str) -> Option<&Element> {
        self.list.iter().find(|element| &*element.name == name)
    }
}

/// What a timestamp counts: units since an epoch (FAST 1.2, "Timestamp").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// What is counted.
    pub unit: TimeUnit,
    /// From when.
    pub epoch: Epoch,
}

/// The unit of a timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// Days.
    Day,
    /// Seconds.
    Second,
    /// Milliseconds: the unit if the template says none.
    #[default]
    Millisecond,
    /// Microseconds.
    Microsecond,
    /// Nanoseconds.
    Nanosecond,
}

impl TimeUnit {
    /// All units.
    pub const ALL: [Self; 5] = [
        Self::Day,
        Self::Second,
        Self::Millisecond,
        Self::Microsecond,
        Self::Nanosecond,
    ];

    /// The word in template XML.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Second => "second",
            Self::Millisecond => "millisecond",
            Self::Microsecond => "microsecond",
            Self::Nanosecond => "nanosecond",
        }
    }

    /// Length of the unit in nanoseconds.
    pub const fn nanoseconds(self) -> u64 {
        match self {
            Self::Day => 86_400_000_000_000,
            Self::Second => 1_000_000_000,
            Self::Millisecond => 1_000_000,
            Self::Microsecond => 1_000,
            Self::Nanosecond => 1,
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a timestamp begins to count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Epoch {
    /// 1970-01-01 00:00:00 UTC: the epoch if the template says none.
    #[default]
    Unix,
    /// Midnight: the timestamp is a time of day.
    Today,
    /// Another, as the template has it; FAST 1.2 does not say how it is written.
    Other(Box<str>),
}
