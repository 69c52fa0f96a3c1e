//! STEP, the form of FIX that the exchanges of Shanghai and Shenzhen put around their FAST bytes: `tag=value` fields,
//! each ended by the byte 01, of which tag 96 has the bytes of whole FAST messages. Knows nothing of these.
//!
//! ```text
//! 8=STEP.1.0.0|9=length|35=..|34=..|...|95=data length|96=data|10=sum|       | is the byte 01
//!                      '-- length bytes -----------------------'
//! '-- the sum of all these bytes, modulo 256, in 3 digits -----'
//! ```

use core::fmt;
use core::ops::Range;

use crate::framing::MAX_BLOCK_LEN;
use crate::preamble::PacketNumber;

/// The longest data of a message that can be read again.
pub const MAX_DATA_LEN: usize = MAX_BLOCK_LEN - 64;

/// A message at the start of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepMessage {
    /// Bytes that it takes, from tag 8 to the end of tag 10.
    pub len: usize,
    /// Where its tag 96 has data; `None` if it has none, as those that keep up a session.
    pub data: Option<Range<usize>>,
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepError {
    /// They end inside it, as far as can be seen.
    Incomplete,
    /// They do not start with tags 8 and 9, or tag 10 is not where tag 9 says.
    NoMessage,
    /// The sum of its bytes is another than tag 10 gives.
    Checksum {
        /// By tag 10.
        announced: u8,
        /// Of the bytes.
        computed: u8,
        /// Bytes that it takes.
        len: usize,
    },
    /// Its tag 96 is not where, or not as long as, tag 95 says.
    Data {
        /// Bytes that it takes.
        len: usize,
    },
}

impl StepError {
    /// Bytes of `rest`, which is wrong so, to the next place where a message may start: behind this one if its ends are
    /// right, else at the next tag 8.
    pub(crate) fn skip(self, rest: &[u8]) -> usize {
        match self {
            Self::Checksum { len, .. } | Self::Data { len } => len,
            Self::Incomplete | Self::NoMessage => {
                let tail = rest.get(1..).unwrap_or_default();
                let next = tail.windows(2).position(|pair| pair == b"8=");
                // The last byte may be half of a tag.
                let end = rest.len() - usize::from(tail.last() == Some(&b'8'));
                next.map_or(end, |at| at + 1)
            }
        }
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete => f.write_str("the file ends inside a STEP message"),
            Self::NoMessage => {
                f.write_str("no STEP message: tags 8, 9 and 10 are not where they belong")
            }
            Self::Checksum {
                announced,
                computed,
                ..
            } => write!(
                f,
                "STEP message with checksum {announced:03}, computed {computed:03}"
            ),
            Self::Data { .. } => f.write_str("STEP message whose tag 96 does not suit its tag 95"),
        }
    }
}

impl core::error::Error for StepError {}

/// Finds the ends and the data of the message at the start of `bytes`. Cost: one look at each of its bytes.
///
/// # Errors
/// Why there is none.
pub fn parse(bytes: &[u8]) -> Result<StepMessage, StepError> {
    let begin = field(bytes, b"8=", MAX_BEGIN_LEN)?;
    if !begin.value.iter().all(u8::is_ascii_graphic) {
        return Err(StepError::NoMessage);
    }
    let length = field(
        bytes.get(begin.len..).unwrap_or_default(),
        b"9=",
        MAX_DIGITS,
    )?;
    let body_len = number(length.value)
        .filter(|&len| len <= MAX_BLOCK_LEN)
        .ok_or(StepError::NoMessage)?;
    let body_at = begin.len + length.len;
    let body = body_at..body_at + body_len;
    let trailer = bytes.get(body.end..).ok_or(StepError::Incomplete)?;
    let sum = field(trailer, b"10=", 3)?;
    let announced = Some(sum.value)
        .filter(|value| value.len() == 3)
        .and_then(number)
        .and_then(|sum| u8::try_from(sum).ok())
        .ok_or(StepError::NoMessage)?;
    let len = body.end + sum.len;
    let summed = bytes.get(..body.end).unwrap_or_default();
    let computed = checksum(summed);
    if computed != announced {
        return Err(StepError::Checksum {
            announced,
            computed,
            len,
        });
    }
    let data = data(summed, body_at).map_err(|()| StepError::Data { len })?;
    Ok(StepMessage { len, data })
}

/// Appends a message with `data` in its tag 96 and `number` in its tag 34.
pub(crate) fn append(number: PacketNumber, data: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let head = format!("35=W\x0134={number}\x0195={}\x0196=", data.len());
    let body_len = head.len() + data.len() + 1;
    out.extend_from_slice(format!("8=STEP.1.0.0\x019={body_len}\x01{head}").as_bytes());
    out.extend_from_slice(data);
    out.push(SOH);
    let sum = checksum(out.get(start..).unwrap_or_default());
    out.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
}

/// A field and the byte that ends it.
struct Field<'a> {
    value: &'a [u8],
    len: usize,
}

/// The field at the start of `bytes`, if its tag is `tag` and its value at most `max` bytes long.
fn field<'a>(bytes: &'a [u8], tag: &[u8], max: usize) -> Result<Field<'a>, StepError> {
    let common = bytes.len().min(tag.len());
    if bytes.get(..common) != tag.get(..common) {
        return Err(StepError::NoMessage);
    }
    let value = bytes.get(tag.len()..).ok_or(StepError::Incomplete)?;
    match value.iter().take(max + 1).position(|&byte| byte == SOH) {
        Some(len) => Ok(Field {
            value: value.get(..len).unwrap_or_default(),
            len: tag.len() + len + 1,
        }),
        None if value.len() > max => Err(StepError::NoMessage),
        None => Err(StepError::Incomplete),
    }
}

/// Where tag 96 is in `message`, whose fields start at `at`: behind tag 95, which gives its length, since data may have
/// the byte that ends fields. Other fields with such data are not expected.
fn data(message: &[u8], mut at: usize) -> Result<Option<Range<usize>>, ()> {
    while let Some(rest @ [_, ..]) = message.get(at..) {
        let len = rest.iter().position(|&byte| byte == SOH).ok_or(())?;
        let text = rest.get(..len).unwrap_or_default();
        at += len + 1;
        if text.starts_with(b"96=") {
            return Err(());
        }
        if let Some(digits) = text.strip_prefix(b"95=") {
            let rest = message.get(at..).unwrap_or_default();
            let len = number(digits).filter(|&len| len <= rest.len()).ok_or(())?;
            let ends = rest.get(3 + len) == Some(&SOH);
            let range = at + 3..at + 3 + len;
            return (rest.starts_with(b"96=") && ends)
                .then_some(Some(range))
                .ok_or(());
        }
    }
    Ok(None)
}

fn number(digits: &[u8]) -> Option<usize> {
    let is_number =
        (1..=MAX_DIGITS).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let digits = core::str::from_utf8(digits).ok().filter(|_| is_number)?;
    digits.parse().ok()
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

const SOH: u8 = 0x01;
/// Of a length.
const MAX_DIGITS: usize = 7;
/// Of a version such as STEP.1.0.0.
const MAX_BEGIN_LEN: usize = 16;

#[cfg(test)]
mod tests;
