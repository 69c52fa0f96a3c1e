//! How samples become payloads and back: for types known at compile time and at run time alike.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tickwire_base::copy;
use tickwire_cdr::dynamic::{self, Form};
use tickwire_cdr::{
    DecodeError, Encapsulation, EncodeError, Extensibility, KeyHash, KeyScratch, Representation,
    Topic, TypeDescription, from_payload_into, key_from_payload_into, key_hash, key_to_payload,
    to_payload,
};

use crate::loan::LentPayload;

/// A type whose samples can be published and subscribed to.
///
/// `#[derive(Topic)]` provides it, and nobody else can. [`Serialized`] has it too, for programs that learn the type while
/// they run. What is known of the type only then is a value of [`Type`](Self::Type), which every
/// topic carries.
pub trait TopicSupport: Sealed + Sized + Send + Sync + 'static {
    /// Whether values may hold memory that is not their own, of which they [let go](Self::let_go).
    const BORROWS: bool = false;

    /// The type's run-time part; `()` if the Rust type says it all.
    type Type: Clone + Send + Sync + 'static;

    /// The name under which peers know the type.
    fn type_name(ty: &Self::Type) -> &str;
    /// How the type may change.
    fn extensibility(ty: &Self::Type) -> Extensibility;
    /// Whether samples belong to instances.
    fn has_key(ty: &Self::Type) -> bool;
    /// The type as data, if it is known.
    fn description(ty: &Self::Type) -> Option<&TypeDescription>;
    /// A value to decode into.
    fn initial(ty: &Self::Type) -> Self;

    /// Appends the sample as a payload, encapsulation header included, and leaves what the buffer has before that, which
    /// are other samples.
    fn write_payload(
        &self,
        ty: &Self::Type,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError>;

    /// Appends the payload of the key alone.
    fn write_key_payload(
        &self,
        ty: &Self::Type,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError>;

    /// Replaces the value by that of a payload, in the memory that it has.
    fn read_payload(&mut self, ty: &Self::Type, payload: &[u8]) -> Result<(), DecodeError>;

    /// The same of a payload that lies in memory that its writer lends, or that has nothing else in it, and may be held
    /// there instead of being copied.
    fn read_lent_payload(
        &mut self,
        ty: &Self::Type,
        payload: LentPayload<'_>,
    ) -> Result<(), DecodeError> {
        self.read_payload(ty, payload.bytes())
    }

    /// Lets go of memory that is not its own: the value is not read any more, but put aside to be used again. Called
    /// if it [borrows](Self::BORROWS).
    fn let_go(&mut self) {}

    /// Replaces the key members by those of a payload of the key alone.
    fn read_key_payload(&mut self, ty: &Self::Type, payload: &[u8]) -> Result<(), DecodeError>;

    /// The instance's key hash, as samples in `representation` have it. `None` if the type has no
    /// key. What `scratch` has is overwritten.
    fn key_hash(
        &self,
        ty: &Self::Type,
        representation: Representation,
        scratch: &mut KeyScratch,
    ) -> Result<Option<KeyHash>, SampleError>;
}

mod sealed {
    /// Who serializes has the payloads of other samples in the buffer, and must not touch these.
    pub trait Sealed {}
}

pub(crate) use sealed::Sealed;

impl<T: Topic + Sync> Sealed for T {}

impl<T: Topic + Sync> TopicSupport for T {
    type Type = ();

    fn type_name((): &()) -> &str {
        T::TYPE_NAME
    }

    fn extensibility((): &()) -> Extensibility {
        T::EXTENSIBILITY
    }

    fn has_key((): &()) -> bool {
        T::HAS_KEY
    }

    fn description((): &()) -> Option<&TypeDescription> {
        Some(T::description())
    }

    fn initial((): &()) -> Self {
        <T as tickwire_cdr::Decode>::initial()
    }

    fn write_payload(
        &self,
        (): &(),
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        Ok(to_payload(self, representation, buffer)?)
    }

    fn write_key_payload(
        &self,
        (): &(),
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        Ok(key_to_payload(self, representation, buffer)?)
    }

    fn read_payload(&mut self, (): &(), payload: &[u8]) -> Result<(), DecodeError> {
        from_payload_into(payload, self)
    }

    fn read_key_payload(&mut self, (): &(), payload: &[u8]) -> Result<(), DecodeError> {
        key_from_payload_into(payload, self)
    }

    fn key_hash(
        &self,
        (): &(),
        representation: Representation,
        scratch: &mut KeyScratch,
    ) -> Result<Option<KeyHash>, SampleError> {
        if !T::HAS_KEY {
            return Ok(None);
        }
        Ok(Some(key_hash(self, representation, scratch)?))
    }
}

/// Why a sample cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SampleError {
    /// A member has no encoding.
    Encode(EncodeError),
    /// A [`Serialized`] sample is not of its type.
    Malformed(dynamic::Error),
    /// A [`Serialized`] sample has another encoding than the writer offers.
    Representation {
        /// That of the sample.
        sample: Representation,
        /// That of the writer.
        offered: Representation,
    },
    /// A [`Serialized`] sample of an opaque type does not say its key hash.
    UnknownKey,
}

impl From<EncodeError> for SampleError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl From<dynamic::Error> for SampleError {
    fn from(error: dynamic::Error) -> Self {
        Self::Malformed(error)
    }
}

impl From<DecodeError> for SampleError {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error.into())
    }
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(error) => error.fmt(f),
            Self::Malformed(error) => error.fmt(f),
            Self::Representation { sample, offered } => write!(
                f,
                "the sample is encoded in {sample:?}, the writer offers {offered:?}; set the \
                 writer's DATA_REPRESENTATION"
            ),
            Self::UnknownKey => f.write_str(
                "the key of a sample of an opaque type is unknown; use `Serialized::set_key_hash`",
            ),
        }
    }
}

impl Error for SampleError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Encode(error) => Some(error),
            Self::Malformed(error) => Some(error),
            Self::Representation { .. } | Self::UnknownKey => None,
        }
    }
}

/// A sample as it travels: the payload's bytes, encapsulation header included. Its type is a
/// [`DynamicType`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serialized {
    payload: Vec<u8>,
    key_hash: Option<KeyHash>,
    is_key: bool,
}

impl Serialized {
    /// A sample to be filled in by [`encode`](Self::encode).
    pub const fn new() -> Self {
        Self {
            payload: Vec::new(),
            key_hash: None,
            is_key: false,
        }
    }

    /// A sample that somebody else has encoded, encapsulation header included.
    pub const fn from_payload(payload: Vec<u8>) -> Self {
        Self {
            payload,
            key_hash: None,
            is_key: false,
        }
    }

    /// A sample of which somebody else has encoded the key alone, encapsulation header included: enough to
    /// end its instance.
    pub const fn from_key_payload(payload: Vec<u8>) -> Self {
        Self {
            payload,
            key_hash: None,
            is_key: true,
        }
    }

    /// Says which instance the sample belongs to, where the type is keyed. Otherwise the type's
    /// description finds it out, at the cost of walking through the payload.
    pub fn set_key_hash(&mut self, key_hash: Option<KeyHash>) {
        self.key_hash = key_hash;
    }

    /// Whether the payload holds the key alone.
    pub fn is_key(&self) -> bool {
        self.is_key
    }

    /// The bytes, encapsulation header included; only the key's where the sample tells of the end
    /// of an instance.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    fn borrowed(&self) -> Payload<'_> {
        Payload {
            bytes: &self.payload,
            key_hash: self.key_hash,
            is_key: self.is_key,
        }
    }

    /// Replaces the content by what `body` writes, in the memory that it has. The order and the
    /// form of the members are the caller's business.
    pub fn encode(
        &mut self,
        representation: Representation,
        extensibility: Extensibility,
        body: impl FnOnce(&mut tickwire_cdr::Writer<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.payload.clear();
        self.key_hash = None;
        self.is_key = false;
        tickwire_cdr::encapsulated(representation, extensibility, &mut self.payload, body)
    }
}

/// A [`Serialized`] sample whose bytes lie elsewhere: encoded by somebody else, encapsulation header included. It is
/// written by [`DataWriter::write_payload`](crate::DataWriter::write_payload), without a copy of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload<'a> {
    bytes: &'a [u8],
    key_hash: Option<KeyHash>,
    is_key: bool,
}

impl<'a> Payload<'a> {
    /// A sample of these bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            key_hash: None,
            is_key: false,
        }
    }

    /// Refuses one of another encoding than the writer's.
    pub(crate) fn check(&self, offered: Representation) -> Result<(), SampleError> {
        let sample = Encapsulation::parse(self.bytes)?.0.representation;
        match sample == offered {
            true => Ok(()),
            false => Err(SampleError::Representation { sample, offered }),
        }
    }

    /// Says which instance the sample belongs to, as [`Serialized::set_key_hash`] does.
    pub const fn with_key_hash(self, key_hash: Option<KeyHash>) -> Self {
        Self { key_hash, ..self }
    }
}

/// What a writer serializes: a sample of its topic, or bytes that stand for one.
pub(crate) trait Written<T: TopicSupport> {
    /// As [`TopicSupport::write_payload`].
    fn payload(
        &self,
        ty: &T::Type,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError>;

    /// As [`TopicSupport::write_key_payload`].
    fn key_payload(
        &self,
        ty: &T::Type,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError>;

    /// As [`TopicSupport::key_hash`].
    fn hash(
        &self,
        ty: &T::Type,
        representation: Representation,
        scratch: &mut KeyScratch,
    ) -> Result<Option<KeyHash>, SampleError>;
}

impl<T: TopicSupport> Written<T> for T {
    #[inline]
    fn payload(
        &self,
        ty: &T::Type,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        self.write_payload(ty, representation, buffer)
    }

    #[inline]
    fn key_payload(
        &self,
        ty: &T::Type,
        representation: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        self.write_key_payload(ty, representation, buffer)
    }

    #[inline]
    fn hash(
        &self,
        ty: &T::Type,
        representation: Representation,
        scratch: &mut KeyScratch,
    ) -> Result<Option<KeyHash>, SampleError> {
        self.key_hash(ty, representation, scratch)
    }
}

impl Written<Serialized> for Payload<'_> {
    fn payload(
        &self,
        _: &DynamicType,
        offered: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        self.check(offered)?;
        copy::append(buffer, self.bytes);
        Ok(())
    }

    fn key_payload(
        &self,
        ty: &DynamicType,
        offered: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        match Serialized::description(ty) {
            Some(description) if !self.is_key => {
                Ok(dynamic::key_payload(description, self.bytes, buffer)?)
            }
            _ if self.is_key => self.payload(ty, offered, buffer),
            // The key hash must do.
            _ => Ok(()),
        }
    }

    fn hash(
        &self,
        ty: &DynamicType,
        representation: Representation,
        scratch: &mut KeyScratch,
    ) -> Result<Option<KeyHash>, SampleError> {
        let form = match self.is_key {
            true => Form::Key,
            false => Form::Sample,
        };
        match Serialized::description(ty) {
            _ if !Serialized::has_key(ty) => Ok(None),
            _ if self.key_hash.is_some() => Ok(self.key_hash),
            Some(description) => {
                let payload = self.bytes;
                let hash = dynamic::key_hash(description, payload, form, representation, scratch);
                Ok(Some(hash?))
            }
            None => Err(SampleError::UnknownKey),
        }
    }
}

/// The type of [`Serialized`] samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicType(Arc<Inner>);

#[derive(Debug, PartialEq, Eq)]
enum Inner {
    Described(TypeDescription),
    Opaque { name: String, has_key: bool },
}

impl DynamicType {
    /// A type whose members are known.
    pub fn described(description: TypeDescription) -> Self {
        Self(Arc::new(Inner::Described(description)))
    }

    /// A type of which nothing is known but what discovery always tells. Samples of a keyed one
    /// belong to the instance that the writer's key hash names; without it, all to one.
    pub fn opaque(name: &str, has_key: bool) -> Self {
        Self(Arc::new(Inner::Opaque {
            name: name.to_owned(),
            has_key,
        }))
    }
}

impl Sealed for Serialized {}

impl TopicSupport for Serialized {
    type Type = DynamicType;

    fn type_name(ty: &DynamicType) -> &str {
        match &*ty.0 {
            Inner::Described(description) => &description.name,
            Inner::Opaque { name, .. } => name,
        }
    }

    fn extensibility(ty: &DynamicType) -> Extensibility {
        match &*ty.0 {
            Inner::Described(description) => description.extensibility,
            Inner::Opaque { .. } => Extensibility::default(),
        }
    }

    fn has_key(ty: &DynamicType) -> bool {
        match &*ty.0 {
            Inner::Described(description) => description.has_key(),
            Inner::Opaque { has_key, .. } => *has_key,
        }
    }

    fn description(ty: &DynamicType) -> Option<&TypeDescription> {
        match &*ty.0 {
            Inner::Described(description) => Some(description),
            Inner::Opaque { .. } => None,
        }
    }

    fn initial(_: &DynamicType) -> Self {
        Self::new()
    }

    fn write_payload(
        &self,
        ty: &DynamicType,
        offered: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        self.borrowed().payload(ty, offered, buffer)
    }

    fn write_key_payload(
        &self,
        ty: &DynamicType,
        offered: Representation,
        buffer: &mut Vec<u8>,
    ) -> Result<(), SampleError> {
        self.borrowed().key_payload(ty, offered, buffer)
    }

    fn read_payload(&mut self, _: &DynamicType, payload: &[u8]) -> Result<(), DecodeError> {
        Encapsulation::parse(payload)?;
        self.payload.clear();
        copy::append(&mut self.payload, payload);
        self.key_hash = None;
        self.is_key = false;
        Ok(())
    }

    fn read_key_payload(&mut self, ty: &DynamicType, payload: &[u8]) -> Result<(), DecodeError> {
        let mended = Self::description(ty).and_then(|ty| dynamic::mended_key(ty, payload));
        self.read_payload(ty, mended.as_deref().unwrap_or(payload))?;
        self.is_key = true;
        Ok(())
    }

    fn key_hash(
        &self,
        ty: &DynamicType,
        representation: Representation,
        scratch: &mut KeyScratch,
    ) -> Result<Option<KeyHash>, SampleError> {
        self.borrowed().hash(ty, representation, scratch)
    }
}
