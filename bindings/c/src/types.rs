//! Types of topics, which are all made while the program runs.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dds::cdr::{self, Extensibility, Member, Shared, TypeDescription};
use dds::error::TypeError;
use dds::{BytesType, DomainParticipant, DynamicType, EndpointData};
use tickwire_idl::model;
use tickwire_idl::{Compilation, Files, Loader, Options, TopicTypeError, compile};

use crate::border::{Growing, InGrowing, Out, Text, TextOut, Texts, export, growing};
use crate::either::Either;
use crate::failure::{Code, Failure, Result};
use crate::handle::{self, Handle, get};
use crate::participant::Participant;
use crate::time::timeout;

/// The type of samples that are payloads, or of those that are bytes.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub(crate) dds: Either<DynamicType, BytesType>,
}

impl Type {
    fn add(dds: Either<DynamicType, BytesType>) -> Result<Handle> {
        handle::add(Handle::NULL, Self { dds })
    }

    fn described(description: TypeDescription) -> Result<Handle> {
        Self::add(Either::Payloads(DynamicType::described(description)))
    }

    fn description(&self) -> Option<&TypeDescription> {
        fn of<T: dds::TopicSupport>(ty: &T::Type) -> Option<&TypeDescription> {
            T::description(ty)
        }
        match &self.dds {
            Either::Payloads(ty) => of::<dds::Serialized>(ty),
            Either::Bytes(ty) => of::<dds::BytesInPlace>(ty),
        }
    }
}

growing! {
    /// `tw_idl_options`.
    struct IdlOptions {
        include_dirs: Texts,
        include_dir_count: usize,
        /// `NAME` or `NAME=VALUE`.
        defines: Texts,
        define_count: usize,
        extensibility: i32,
        is_file: i32,
    }
}

/// The text, and files that it includes where directories for them are named.
struct Given<'t> {
    text: Option<&'t str>,
    includes: bool,
}

impl Loader for Given<'_> {
    fn load(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        match self.text {
            Some(text) if path == Path::new(TEXT) => Ok(text.as_bytes().to_vec()),
            Some(_) if !self.includes => Err(io::ErrorKind::NotFound.into()),
            _ => Files.load(path),
        }
    }
}

fn compiled(idl: &str, options: &IdlOptions) -> Result<Compilation> {
    let dirs = options
        .include_dirs
        .get(options.include_dir_count, "include_dirs")?;
    let defines = options.defines.get(options.define_count, "defines")?;
    let define = |define: &str| {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        (name.to_owned(), value.to_owned())
    };
    let is_file = options.is_file != 0;
    let settings = Options {
        search: dirs.iter().map(PathBuf::from).collect(),
        defines: defines.into_iter().map(define).collect(),
        extensibility: match options.extensibility {
            0 | APPENDABLE => model::Extensibility::Appendable,
            FINAL => model::Extensibility::Final,
            MUTABLE => model::Extensibility::Mutable,
            other => return Err(no_extensibility(other)),
        },
    };
    let mut loader = Given {
        text: (!is_file).then_some(idl),
        includes: !dirs.is_empty(),
    };
    let path = if is_file { idl } else { TEXT };
    Ok(compile(&[path], &settings, &mut loader)?)
}

impl From<TopicTypeError> for Failure {
    #[cold]
    fn from(error: TopicTypeError) -> Self {
        match error {
            TopicTypeError::Unknown { .. } => Self::new(Code::NOT_FOUND, error),
            TopicTypeError::Unusable { .. } => Self::new(Code::UNSUPPORTED, error),
            _ => Self::argument(error),
        }
    }
}

/// What the topic's endpoints tell of its type. Those that announce it are asked first.
fn learned(
    participant: &DomainParticipant,
    topic: &str,
    patience: std::time::Duration,
) -> Result<DynamicType> {
    let end = Instant::now().checked_add(patience);
    let left = || {
        end.map_or(patience, |end| {
            end.saturating_duration_since(Instant::now())
        })
    };
    let view = participant.discovery();
    let is_it = |data: &EndpointData| data.topic_name == topic;
    let found = || {
        let mut all = view.publications();
        all.extend(view.subscriptions());
        all.retain(|data| is_it(data));
        (!all.is_empty()).then_some(all)
    };
    let mut endpoints = view.wait_for(left(), found)?;
    endpoints.sort_by_key(|data| data.type_information.is_empty());
    let mut problem = None;
    for data in endpoints.iter().take(MOST_ASKED) {
        match view.type_of(data.guid, left()) {
            Ok(mut description) => {
                // It must match under the name that it is registered by.
                if *description.name != *data.type_name {
                    description.name = data.type_name.as_str().into();
                }
                return Ok(DynamicType::described(description));
            }
            Err(error) => problem = problem.or(Some((data, error))),
        }
    }
    match problem {
        Some((data, TypeError::NotAnnounced)) => Ok(DynamicType::opaque(
            &data.type_name,
            data.guid.entity.is_keyed(),
        )),
        Some((_, error)) => Err(error.into()),
        None => Err(TypeError::UnknownEndpoint.into()),
    }
}

/// A struct of one sequence of bytes.
pub(crate) fn bytes(name: &str, member: &str, bound: u32, extensibility: i32) -> Result<BytesType> {
    let extensibility = match extensibility {
        0 | APPENDABLE => Extensibility::Appendable,
        FINAL => Extensibility::Final,
        other => return Err(no_extensibility(other)),
    };
    let element = Shared::from(cdr::Type::Byte);
    let sequence = cdr::Type::Sequence { element, bound };
    let member = Member::new(member, 0, sequence);
    let description = TypeDescription::new(name, extensibility, vec![member]);
    Ok(BytesType::described(
        description.map_err(Failure::argument)?,
    )?)
}

fn no_extensibility(number: i32) -> Failure {
    Failure::argument(format!(
        "{number} is no extensibility that this type can have; use TW_FINAL or TW_APPENDABLE, or for payloads TW_MUTABLE"
    ))
}

export! {
    fn tw_type_from_idl(
        idl: Text,
        name: Text,
        options: InGrowing<IdlOptions>,
        ty: Out<Handle>,
    ) {
        let ty = ty.place("type")?;
        let options = options.get("options")?.unwrap_or_else(IdlOptions::empty);
        let compilation = compiled(idl.get("idl")?, &options)?;
        let description = compilation.topic_type(name.optional("name")?)?;
        ty.put(Type::described(description)?);
        Ok(())
    }

    fn tw_type_from_topic(
        participant: Handle,
        topic_name: Text,
        timeout_ns: i64,
        ty: Out<Handle>,
    ) {
        let ty = ty.place("type")?;
        let participant = get::<Participant>(participant)?;
        let topic = topic_name.get("topic_name")?;
        let learned = learned(&participant.dds, topic, timeout(timeout_ns)?);
        participant.is_there()?;
        ty.put(Type::add(Either::Payloads(learned?))?);
        Ok(())
    }

    fn tw_type_opaque(name: Text, keyed: i32, ty: Out<Handle>) {
        let ty = ty.place("type")?;
        let opaque = DynamicType::opaque(name.get("name")?, keyed != 0);
        ty.put(Type::add(Either::Payloads(opaque))?);
        Ok(())
    }

    fn tw_type_bytes(name: Text, member: Text, bound: u32, extensibility: i32, ty: Out<Handle>) {
        let ty = ty.place("type")?;
        let bytes = bytes(name.get("name")?, member.get("member")?, bound, extensibility)?;
        ty.put(Type::add(Either::Bytes(bytes))?);
        Ok(())
    }

    fn tw_type_as_bytes(described: Handle, ty: Out<Handle>) {
        let ty = ty.place("type")?;
        let described = get::<Type>(described)?;
        let description = described.description().ok_or(dds::loan::NotSequence::Unknown)?;
        let bytes = BytesType::described(description.clone())?;
        ty.put(Type::add(Either::Bytes(bytes))?);
        Ok(())
    }

    fn tw_type_name(ty: Handle, buffer: TextOut, capacity: usize, len: Out<usize>) {
        let ty = get::<Type>(ty)?;
        buffer.put(ty.name(), capacity, &len)
    }
}

impl Type {
    fn name(&self) -> &str {
        fn of<T: dds::TopicSupport>(ty: &T::Type) -> &str {
            T::type_name(ty)
        }
        match &self.dds {
            Either::Payloads(ty) => of::<dds::Serialized>(ty),
            Either::Bytes(ty) => of::<dds::BytesInPlace>(ty),
        }
    }
}

/// What errors call a text that is no file.
const TEXT: &str = "<idl>";
/// Endpoints that are asked for the type.
const MOST_ASKED: usize = 3;
// `tw_extensibility`.
pub(crate) const FINAL: i32 = 1;
const APPENDABLE: i32 = 2;
const MUTABLE: i32 = 3;
