//! Who is who: GUIDs and their parts (RTPS 2.5 §9.3.1).

use core::fmt;
use core::hash::{Hash, Hasher};

/// The 12 bytes that all entities of one participant share. The first two are the vendor id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GuidPrefix(pub [u8; 12]);

impl GuidPrefix {
    /// Names nobody; as a destination, everybody.
    pub const UNKNOWN: Self = Self([0; 12]);

    /// Who made the participant's implementation (RTPS 2.5 §9.3.1.5).
    pub const fn vendor(self) -> VendorId {
        let [a, b, ..] = self.0;
        VendorId([a, b])
    }
}

impl fmt::Debug for GuidPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// An entity within its participant: three bytes of key, one byte of kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EntityId(pub [u8; 4]);

impl EntityId {
    /// Names no entity; as a reader in DATA, every matched reader.
    pub const UNKNOWN: Self = Self([0; 4]);
    /// The participant itself.
    pub const PARTICIPANT: Self = Self([0x00, 0x00, 0x01, 0xc1]);
    /// Writes participant announcements (SPDP).
    pub const SPDP_WRITER: Self = Self([0x00, 0x01, 0x00, 0xc2]);
    /// Reads participant announcements.
    pub const SPDP_READER: Self = Self([0x00, 0x01, 0x00, 0xc7]);
    /// Writes what this participant publishes (SEDP).
    pub const PUBLICATIONS_WRITER: Self = Self([0x00, 0x00, 0x03, 0xc2]);
    /// Reads what other participants publish.
    pub const PUBLICATIONS_READER: Self = Self([0x00, 0x00, 0x03, 0xc7]);
    /// Writes what this participant subscribes to (SEDP).
    pub const SUBSCRIPTIONS_WRITER: Self = Self([0x00, 0x00, 0x04, 0xc2]);
    /// Reads what other participants subscribe to.
    pub const SUBSCRIPTIONS_READER: Self = Self([0x00, 0x00, 0x04, 0xc7]);
    /// Writes liveliness assertions (RTPS 2.5 §8.4.13).
    pub const MESSAGE_WRITER: Self = Self([0x00, 0x02, 0x00, 0xc2]);
    /// Reads liveliness assertions.
    pub const MESSAGE_READER: Self = Self([0x00, 0x02, 0x00, 0xc7]);
    /// Asks for type objects (XTypes 1.3 §7.6.3.3).
    pub const TYPE_LOOKUP_REQUEST_WRITER: Self = Self([0x00, 0x03, 0x00, 0xc3]);
    /// Receives questions about type objects.
    pub const TYPE_LOOKUP_REQUEST_READER: Self = Self([0x00, 0x03, 0x00, 0xc4]);
    /// Answers questions about type objects.
    pub const TYPE_LOOKUP_REPLY_WRITER: Self = Self([0x00, 0x03, 0x01, 0xc3]);
    /// Receives type objects.
    pub const TYPE_LOOKUP_REPLY_READER: Self = Self([0x00, 0x03, 0x01, 0xc4]);

    /// A user's writer. Only the low 24 bits of `key` count.
    pub const fn user_writer(key: u32, keyed: bool) -> Self {
        let [_, a, b, c] = key.to_be_bytes();
        Self([a, b, c, if keyed { 0x02 } else { 0x03 }])
    }

    /// A user's reader. Only the low 24 bits of `key` count.
    pub const fn user_reader(key: u32, keyed: bool) -> Self {
        let [_, a, b, c] = key.to_be_bytes();
        Self([a, b, c, if keyed { 0x07 } else { 0x04 }])
    }

    /// A user's publisher (RTPS 2.5 §9.3.1.2). Only the low 24 bits of `key` count.
    pub const fn user_publisher(key: u32) -> Self {
        let [_, a, b, c] = key.to_be_bytes();
        Self([a, b, c, 0x08])
    }

    /// A reader of a vendor's own making (RTPS 2.5 §9.3.1.2). Only the low 24 bits of `key` count.
    pub const fn vendor_reader(key: u32) -> Self {
        let [_, a, b, c] = key.to_be_bytes();
        Self([a, b, c, 0x47])
    }

    /// Built-in entities have the two high bits of the kind set (RTPS 2.5 §9.3.1.2).
    pub const fn is_builtin(self) -> bool {
        self.0[3] & 0xc0 == 0xc0
    }

    /// Whether the kind is that of a writer.
    pub const fn is_writer(self) -> bool {
        matches!(self.0[3] & 0x3f, 0x02 | 0x03)
    }

    /// Whether the kind is that of a reader.
    pub const fn is_reader(self) -> bool {
        matches!(self.0[3] & 0x3f, 0x04 | 0x07)
    }

    /// Whether the endpoint belongs to a topic with keys.
    pub const fn is_keyed(self) -> bool {
        matches!(self.0[3] & 0x3f, 0x02 | 0x07)
    }
}

/// As one number, which takes a hasher less than bytes.
impl Hash for EntityId {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(u32::from_ne_bytes(self.0));
    }
}

impl fmt::Debug for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

/// An entity, unique in its domain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Guid {
    /// Its participant.
    pub prefix: GuidPrefix,
    /// Itself within the participant.
    pub entity: EntityId,
}

impl Guid {
    /// Names nobody.
    pub const UNKNOWN: Self = Self::new(GuidPrefix::UNKNOWN, EntityId::UNKNOWN);

    /// Puts the two parts together.
    pub const fn new(prefix: GuidPrefix, entity: EntityId) -> Self {
        Self { prefix, entity }
    }

    /// Takes 16 bytes as they stand on the wire.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, entity @ ..] = bytes;
        Self::new(
            GuidPrefix([a, b, c, d, e, f, g, h, i, j, k, l]),
            EntityId(entity),
        )
    }

    /// The 16 bytes as they stand on the wire.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..12].copy_from_slice(&self.prefix.0);
        bytes[12..].copy_from_slice(&self.entity.0);
        bytes
    }
}

/// As one number, as that of an [`EntityId`].
impl Hash for Guid {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(u128::from_ne_bytes(self.to_bytes()));
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}.{:?}", self.prefix, self.entity)
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Who made an RTPS implementation. The OMG assigns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct VendorId(pub [u8; 2]);

impl VendorId {
    /// Not said.
    pub const UNKNOWN: Self = Self([0, 0]);
    /// Ours: not assigned to anybody by the OMG, and none of those known in the field.
    pub const TICKWIRE: Self = Self([0x01, 0x54]);
    /// Fast DDS.
    pub const EPROSIMA: Self = Self([0x01, 0x0f]);
}
