//! What a log belongs to, and what its header says about that. Knows no file.

use crate::error::Damage;

/// Whose samples a log holds. Writers with the same key take over each other's logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LogKey {
    /// The domain.
    pub domain: u32,
    /// The domain's tag.
    pub domain_tag: String,
    /// The topic's name.
    pub topic: String,
    /// The type's name.
    pub type_name: String,
    /// The partitions of the publisher, as it names them.
    pub partition: Vec<String>,
}

/// A log's header.
///
/// ```text
///   0  "TWLOG" 0 0 2           file type, and the version of the format
///   8  length                  u32: bytes from 16 on
///  12  CRC-32 of those         u32
///  16  domain                  u32
///  20  domain tag              string: u32 length, bytes
///      topic                   string
///      type name               string
///      partition count         u32
///      partitions              strings
///      announcement            octets: u32 length, bytes
///      types                   octets
/// ```
///
/// Integers are little-endian.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Whose log it is.
    pub key: LogKey,
    /// The writer's QoS, for whoever publishes the log when the writer is gone. The store does not
    /// look into it.
    pub announcement: Vec<u8>,
    /// Its type, likewise.
    pub types: Vec<u8>,
}

impl LogKey {
    /// The name of the directory of a log of this key.
    pub(crate) fn directory_name(&self, slot: u32) -> String {
        let Self { domain, topic, .. } = self;
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let plain = |c: char| if is_plain(&c) { c } else { '_' };
        let topic: String = topic.chars().take(MAX_NAME_CHARS).map(plain).collect();
        let mut body = Vec::new();
        self.write(&mut body);
        let checksum = crc32fast::hash(&body);
        format!("{domain}.{topic}.{checksum:08x}.{slot}")
    }

    fn write(&self, body: &mut Vec<u8>) {
        body.extend_from_slice(&self.domain.to_le_bytes());
        for string in [&self.domain_tag, &self.topic, &self.type_name] {
            write_octets(body, string.as_bytes());
        }
        body.extend_from_slice(&length(self.partition.len()));
        for name in &self.partition {
            write_octets(body, name.as_bytes());
        }
    }

    fn read(from: &mut Body<'_>) -> Result<Self, Damage> {
        Ok(Self {
            domain: from.u32("the domain is missing")?,
            domain_tag: from.string()?,
            topic: from.string()?,
            type_name: from.string()?,
            partition: {
                let count = from.u32("the partition count is missing")?;
                let mut names = Vec::new();
                // Each takes four bytes at least, hence no more memory than the header.
                for _ in 0..count {
                    names.push(from.string()?);
                }
                names
            },
        })
    }
}

impl Description {
    /// The header. `None` if it is longer than its length can say.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&[0; 8]);
        self.key.write(&mut bytes);
        write_octets(&mut bytes, &self.announcement);
        write_octets(&mut bytes, &self.types);
        let body = bytes.get(PREAMBLE_LEN..)?;
        let (len, crc) = (u32::try_from(body.len()).ok()?, crc32fast::hash(body));
        bytes.get_mut(8..12)?.copy_from_slice(&len.to_le_bytes());
        bytes.get_mut(12..16)?.copy_from_slice(&crc.to_le_bytes());
        Some(bytes)
    }

    /// The length of the header that begins with this preamble, and the checksum of its body.
    pub(crate) fn preamble(bytes: [u8; PREAMBLE_LEN]) -> Result<(u32, u32), Damage> {
        let [
            m0,
            m1,
            m2,
            m3,
            m4,
            m5,
            m6,
            m7,
            l0,
            l1,
            l2,
            l3,
            c0,
            c1,
            c2,
            c3,
        ] = bytes;
        if [m0, m1, m2, m3, m4, m5, m6, m7] != MAGIC {
            let what = "not a log of this version of Tickwire";
            return Err(Damage { offset: 0, what });
        }
        let len = u32::from_le_bytes([l0, l1, l2, l3]);
        let crc = u32::from_le_bytes([c0, c1, c2, c3]);
        Ok((len, crc))
    }

    /// The header with this body.
    pub(crate) fn read(body: &[u8], crc: u32) -> Result<Self, Damage> {
        if crc32fast::hash(body) != crc {
            let what = "the header's checksum is wrong";
            return Err(Damage { offset: 12, what });
        }
        let mut from = Body { bytes: body, at: 0 };
        Ok(Self {
            key: LogKey::read(&mut from)?,
            announcement: from.octets()?.to_vec(),
            types: from.octets()?.to_vec(),
        })
    }
}

fn write_octets(body: &mut Vec<u8>, octets: &[u8]) {
    body.extend_from_slice(&length(octets.len()));
    body.extend_from_slice(octets);
}

/// A length that does not fit makes the header one that does not fit either.
fn length(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes()
}

/// A header's body as far as it has not been read.
struct Body<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Body<'a> {
    fn take(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], Damage> {
        let offset = (PREAMBLE_LEN + self.at) as u64;
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..len));
        let taken = taken.ok_or(Damage { offset, what })?;
        self.at += len;
        Ok(taken)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, Damage> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4, what)?);
        Ok(u32::from_le_bytes(bytes))
    }

    fn octets(&mut self) -> Result<&'a [u8], Damage> {
        let len = self.u32("a length is missing")?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        self.take(len, "a string goes past the end of the header")
    }

    fn string(&mut self) -> Result<String, Damage> {
        let offset = (PREAMBLE_LEN + self.at) as u64;
        let what = "a name is not UTF-8";
        String::from_utf8(self.octets()?.to_vec()).map_err(|_| Damage { offset, what })
    }
}

const MAGIC: [u8; 8] = *b"TWLOG\0\0\x02";
/// Magic, length, checksum.
pub(crate) const PREAMBLE_LEN: usize = 16;
/// Of a topic's name in the name of a directory.
const MAX_NAME_CHARS: usize = 64;
