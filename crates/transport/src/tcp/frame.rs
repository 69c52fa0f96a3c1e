//! Messages in a stream of bytes, each behind its length. Knows no socket.

/// Bytes of a length.
pub(super) const HEADER_LEN: usize = 4;

/// How much of some bytes is whole frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Bytes of whole frames at the beginning.
    pub len: usize,
    /// Whether a frame that is longer than allowed follows: nothing after it means anything.
    pub is_broken: bool,
}

impl Whole {
    /// Looks at the lengths in `bytes`, of which none may exceed `max_len`.
    pub fn of(bytes: &[u8], max_len: usize) -> Self {
        let mut len = 0;
        loop {
            let rest = bytes.get(len..).unwrap_or_default();
            let Some(message_len) = message_len(rest) else {
                let is_broken = false;
                return Self { len, is_broken };
            };
            if message_len > max_len {
                let is_broken = true;
                return Self { len, is_broken };
            }
            let frame_len = HEADER_LEN + message_len;
            if rest.len() < frame_len {
                let is_broken = false;
                return Self { len, is_broken };
            }
            len += frame_len;
        }
    }
}

/// The messages of frames in a row; ends where a frame is not whole.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a>(&'a [u8]);

impl<'a> Frames<'a> {
    /// The messages in `bytes`.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = message_len(self.0)?.checked_add(HEADER_LEN)?;
        let message = self.0.get(HEADER_LEN..end)?;
        self.0 = self.0.get(end..)?;
        Some(message)
    }
}

/// What goes before a message of so many bytes; `None` where no length expresses that.
pub(super) fn header(message_len: usize) -> Option<[u8; HEADER_LEN]> {
    Some(u32::try_from(message_len).ok()?.to_be_bytes())
}

/// Bytes of the frame that begins here, its length included.
pub(super) fn frame_len(bytes: &[u8]) -> Option<usize> {
    message_len(bytes)?.checked_add(HEADER_LEN)
}

fn message_len(bytes: &[u8]) -> Option<usize> {
    let header = bytes.first_chunk::<HEADER_LEN>()?;
    usize::try_from(u32::from_be_bytes(*header)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn framed(messages: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for message in messages {
            bytes.extend(header(message.len()).expect("a short message"));
            bytes.extend(message);
        }
        bytes
    }

    #[test]
    fn a_frame_that_is_too_long_ends_the_stream_before_it_is_there() {
        let mut bytes = framed(&[vec![1; 10]]);
        bytes.extend(11_u32.to_be_bytes());
        let whole = Whole::of(&bytes, 10);
        assert_eq!((whole.len, whole.is_broken), (14, true));
        assert!(!Whole::of(&bytes, 11).is_broken);
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_wherever_the_stream_is_cut(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let stream = framed(&messages);
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            cuts.push(stream.len());
            cuts.sort_unstable();
            let (mut kept, mut came, mut from) = (Vec::new(), Vec::new(), 0);
            for cut in cuts {
                kept.extend_from_slice(&stream[from..cut]);
                from = cut;
                let whole = Whole::of(&kept, 40);
                prop_assert!(!whole.is_broken);
                came.extend(Frames::of(&kept[..whole.len]).map(<[u8]>::to_vec));
                kept.drain(..whole.len);
            }
            prop_assert_eq!(came, messages);
            prop_assert!(kept.is_empty());
        }
    }
}
