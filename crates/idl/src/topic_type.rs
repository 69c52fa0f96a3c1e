//! The description of a type that a topic is to have, by its name.

use std::error::Error;
use std::fmt;

use tickwire_cdr::TypeDescription;

use crate::model::DefinitionKind;
use crate::{Compilation, Descriptions};

/// Why there is no description of a type for a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopicTypeError {
    /// Nothing has that name.
    Unknown {
        /// The name.
        name: String,
        /// The structs that a topic can have.
        topics: Vec<String>,
    },
    /// No name is given, and not one struct alone is for topics.
    Unnamed {
        /// Those that are.
        topics: Vec<String>,
    },
    /// What has that name is no struct.
    NoStruct {
        /// The name.
        name: String,
        /// The structs that a topic can have.
        topics: Vec<String>,
    },
    /// The struct has something that cannot be described.
    Unusable {
        /// Its name.
        name: String,
        /// What that is.
        why: String,
    },
}

impl fmt::Display for TopicTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topics = match self {
            Self::Unknown { name, topics } => {
                write!(f, "the IDL has no `{name}`")?;
                topics
            }
            Self::Unnamed { topics } => {
                f.write_str("say by its name which type is meant")?;
                topics
            }
            Self::NoStruct { name, topics } => {
                write!(f, "`{name}` is no struct")?;
                topics
            }
            Self::Unusable { name, why } => return write!(f, "`{name}` cannot be used: {why}"),
        };
        match topics.as_slice() {
            [] => f.write_str("; it has no struct that is for topics"),
            topics => write!(f, "; there are {}", topics.join(", ")),
        }
    }
}

impl Error for TopicTypeError {}

impl Compilation {
    /// The description of the struct of that full name, such as `market::Quote`; without one, of the only struct that is for
    /// topics.
    ///
    /// # Errors
    /// If there is none, or it cannot be described.
    pub fn topic_type(&self, name: Option<&str>) -> Result<TypeDescription, TopicTypeError> {
        let model = &self.model;
        let topics: Vec<_> = model
            .definitions()
            .filter(|(_, definition)| match &definition.kind {
                DefinitionKind::Struct(of) => !of.nested,
                _ => false,
            })
            .collect();
        let names = || {
            let names = topics.iter().map(|(_, it)| it.full_name.clone());
            names.collect()
        };
        let id = match (name, topics.as_slice()) {
            (Some(name), _) => match model.find(name) {
                Some((id, _)) => id,
                None => {
                    return Err(TopicTypeError::Unknown {
                        name: name.to_owned(),
                        topics: names(),
                    });
                }
            },
            (None, [(id, _)]) => *id,
            (None, _) => return Err(TopicTypeError::Unnamed { topics: names() }),
        };
        let name = model.definition(id).full_name.clone();
        match Descriptions::of(model).structure(id) {
            Some(Ok(of)) => Ok(of),
            Some(Err(why)) => Err(TopicTypeError::Unusable {
                name,
                why: why.to_string(),
            }),
            None => Err(TopicTypeError::NoStruct {
                name,
                topics: names(),
            }),
        }
    }
}
