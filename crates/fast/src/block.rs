//! Block sizes: streams that are made of blocks say before each how many bytes of messages follow (FAST 1.1 §10).
//! Knows nothing of the messages. Whether a stream has blocks is agreed upon elsewhere, as FAST leaves it.
//!
//! ```text
//!  1 byte or more               size bytes
//! +----------------------------+------------------------------+----- ...
//! | size, uInt32 in stop bits  | whole messages, one or more  | next size
//! +----------------------------+------------------------------+----- ...
//! ```

use crate::Code;
use crate::wire::Input;

/// Reads the block size at the start of `bytes`: the size, and how many bytes it took itself. It alone of all integers
/// may be overlong, even in strict mode (§10).
///
/// # Errors
/// D12 if the size is 0, D2 if it is no uInt32, [`Code::Truncated`] if `bytes` end inside it.
pub fn read_block_size(bytes: &[u8]) -> Result<(u32, usize), Code> {
    let mut input = Input::new(bytes, false);
    let size = input.unsigned(u32::MAX.into())?;
    match u32::try_from(size) {
        Ok(0) => Err(Code::D12),
        Ok(size) => Ok((size, input.offset())),
        Err(_) => Err(Code::D2),
    }
}

/// Appends a block's size to `out`, in as few bytes as it takes. `size` counts the bytes of the messages that follow.
///
/// # Errors
/// D12 if the size is 0, with nothing written.
pub fn append_block_size(size: u32, out: &mut Vec<u8>) -> Result<(), Code> {
    if size == 0 {
        return Err(Code::D12);
    }
    let groups = size.ilog2() / 7;
    for group in (0..=groups).rev() {
        // Truncation is meant: 7 bits a byte, the stop bit on the last.
        let data = (size >> (7 * group)) as u8 & 0x7F;
        out.push(if group == 0 { data | 0x80 } else { data });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d12_a_block_of_no_bytes_is_refused() {
        assert_eq!(read_block_size(&[0x80]), Err(Code::D12));
        assert_eq!(read_block_size(&[0x00, 0x80]), Err(Code::D12));
        assert_eq!(append_block_size(0, &mut Vec::new()), Err(Code::D12));
    }

    #[test]
    fn r6_does_not_hold_for_block_sizes() {
        assert_eq!(read_block_size(&[0x00, 0x00, 0x85, 0xFF]), Ok((5, 3)));
        let overlong = [&[0; 20][..], &[0x8F, 0xFF, 0xFF, 0xFF, 0xFF]].concat();
        assert_eq!(read_block_size(&overlong), Ok((15, 21)));
    }

    #[test]
    fn d2_a_size_is_no_more_than_32_bits() {
        let largest = [0x0F, 0x7F, 0x7F, 0x7F, 0xFF];
        assert_eq!(read_block_size(&largest), Ok((u32::MAX, 5)));
        assert_eq!(
            read_block_size(&[0x10, 0x00, 0x00, 0x00, 0x80]),
            Err(Code::D2)
        );
        assert_eq!(read_block_size(&[0x01, 0x7F]), Err(Code::Truncated));
        assert_eq!(read_block_size(&[]), Err(Code::Truncated));
    }

    #[test]
    fn sizes_are_written_in_as_few_bytes_as_they_take() {
        for (size, len) in [
            (1, 1),
            (127, 1),
            (128, 2),
            (16_383, 2),
            (16_384, 3),
            (u32::MAX, 5),
        ] {
            let mut bytes = Vec::new();
            append_block_size(size, &mut bytes).expect("not 0");
            assert_eq!(bytes.len(), len);
            assert_eq!(read_block_size(&bytes), Ok((size, len)));
        }
    }
}
