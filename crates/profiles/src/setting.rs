//! One thing that a profile can say: its name in each format, the form of its value, its default.
//! Knows no file and no QoS.

use crate::Entity;

/// One thing that a profile can say of an entity.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key in TOML. The part before the dot is the policy's name.
    pub key: &'static str,
    /// What it can be said of.
    pub entities: &'static [Entity],
    /// The form of the value.
    pub(crate) kind: Kind,
    /// The path of its element in DDS-XML, below `datawriter_qos` and the like; empty if there is none.
    pub dds_xml: &'static str,
    /// The path of its element in Fast DDS's XML, below `data_writer` and the like; empty if there is none.
    pub fast_dds: &'static str,
    /// What holds where no profile says anything, as TOML.
    pub default: &'static str,
    /// What it does, in one line.
    pub meaning: &'static str,
}

impl Setting {
    pub(crate) const fn new(
        entities: &'static [Entity],
        key: &'static str,
        kind: Kind,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            key,
            entities,
            kind,
            dds_xml: "",
            fast_dds: "",
            default,
            meaning,
        }
    }

    /// With its elements in DDS-XML and in Fast DDS's XML.
    pub(crate) const fn xml(mut self, dds: &'static str, fast: &'static str) -> Self {
        self.dds_xml = dds;
        self.fast_dds = fast;
        self
    }
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of some words.
    Choice(Words),
    /// A list of words.
    Choices(Words),
    /// A duration, maybe infinite.
    Duration,
    /// A duration that ends.
    FiniteDuration,
    /// A whole number in a range.
    Integer { min: i64, max: i64 },
    /// At least 1, or unlimited.
    Limit,
    /// Yes or no.
    Bool,
    /// A number of bytes.
    Size,
    /// A sequence of bytes.
    Octets,
    /// A list of names.
    Names,
    /// One line.
    Text,
    /// Addresses or names of machines, maybe with ports.
    Peers,
    /// Cores for threads.
    Cores,
}

/// Words for the numbers that stand for them on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// In TOML; in XML in capitals.
    pub(crate) words: &'static [&'static str],
    /// The number of the first one.
    pub(crate) first: u32,
    /// What may follow in XML.
    pub(crate) suffix: &'static str,
}

impl Words {
    pub(crate) const fn new(
        first: u32,
        suffix: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self {
            words,
            first,
            suffix,
        }
    }

    /// The number of a word, in any capitals.
    pub(crate) fn number(&self, word: &str) -> Option<u32> {
        let at = self
            .words
            .iter()
            .position(|known| known.eq_ignore_ascii_case(word))?;
        u32::try_from(at).ok()?.checked_add(self.first)
    }

    /// The word for a number.
    pub(crate) fn word(&self, number: u32) -> &'static str {
        let at = number
            .checked_sub(self.first)
            .and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.words.get(at))
            .copied()
            .unwrap_or_default()
    }
}
