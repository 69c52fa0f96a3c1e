//! Locators on the wire, single and in lists (RTPS 2.5 §9.4.2.10). Does not judge their kinds.

use tickwire_base::{Locator, LocatorKind};

use super::cursor::{Cursor, Malformed, Out};

/// Bytes of one locator: kind, port, 16 bytes of address.
const LOCATOR_LEN: usize = 24;
/// Bytes of one UDPv4 short form: address, port.
const SHORT_LEN: usize = 8;

/// Locators that still lie in the datagram.
///
/// ```text
///  0                   1                   2                   3
/// +---------------------------------------------------------------+
/// |                     number of locators (n)                    |
/// +---------------------------------------------------------------+  \
/// |                          kind (int32)                         |  |
/// |                         port (uint32)                         |  | n times
/// ~                address (16 bytes; IPv4: last 4)               ~  |
/// +---------------------------------------------------------------+  /
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LocatorList<'a> {
    bytes: &'a [u8],
    little_endian: bool,
    /// Each is an IPv4 address and a port only, as INFO_REPLY_IP4 has them.
    short: bool,
}

impl<'a> LocatorList<'a> {
    pub(crate) fn read(from: &mut Cursor<'a>, what: &'static str) -> Result<Self, Malformed> {
        let count = from.count(LOCATOR_LEN, what)?;
        Ok(Self {
            bytes: from.bytes(count * LOCATOR_LEN, what)?,
            little_endian: from.little_endian,
            short: false,
        })
    }

    pub(crate) fn read_short(from: &mut Cursor<'a>, what: &'static str) -> Result<Self, Malformed> {
        Ok(Self {
            bytes: from.bytes(SHORT_LEN, what)?,
            little_endian: from.little_endian,
            short: true,
        })
    }

    /// The locators, foreign kinds included.
    pub fn iter(&self) -> impl Iterator<Item = Locator> + use<'a> {
        let mut rest = Cursor::new(self.bytes, 0, self.little_endian);
        let short = self.short;
        core::iter::from_fn(move || match short {
            true => read_short_locator(&mut rest).ok(),
            false => read_locator(&mut rest, "locator").ok(),
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

pub(crate) fn read_locator(
    from: &mut Cursor<'_>,
    what: &'static str,
) -> Result<Locator, Malformed> {
    Ok(Locator {
        kind: LocatorKind(from.i32(what)?),
        port: from.u32(what)?,
        address: from.array(what)?,
    })
}

pub(crate) fn write_locator(out: &mut Out<'_>, locator: &Locator) {
    out.i32(locator.kind.0);
    out.u32(locator.port);
    out.raw(&locator.address);
}

/// The short form's address is one integer in the submessage's byte order (RTPS 2.5 §9.3.2.4).
fn read_short_locator(from: &mut Cursor<'_>) -> Result<Locator, Malformed> {
    let [a, b, c, d] = from.u32("UDPv4 address")?.to_be_bytes();
    Ok(Locator {
        kind: LocatorKind::UDP_V4,
        port: from.u32("UDPv4 port")?,
        address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d],
    })
}
