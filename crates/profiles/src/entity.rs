//! What a profile speaks of.

use std::fmt;

/// What a setting is said of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entity {
    /// The participant, with its sockets and addresses.
    Participant,
    /// Writers and readers of a topic alike.
    Topic,
    /// What several writers have in common.
    Publisher,
    /// What several readers have in common.
    Subscriber,
    /// A data writer.
    Writer,
    /// A data reader.
    Reader,
}

impl Entity {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Participant,
        Self::Topic,
        Self::Publisher,
        Self::Subscriber,
        Self::Writer,
        Self::Reader,
    ];

    /// Its name in TOML.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Participant => "participant",
            Self::Topic => "topic",
            Self::Publisher => "publisher",
            Self::Subscriber => "subscriber",
            Self::Writer => "writer",
            Self::Reader => "reader",
        }
    }

    /// Whether what is said of it can depend on the topic's name.
    pub(crate) const fn is_of_topic(self) -> bool {
        matches!(self, Self::Topic | Self::Writer | Self::Reader)
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
