//! The encoder of generated code. Knows nothing of fields.

use super::Fault;
use super::writer::Writer;
use super::{Encode, Protocol};
use crate::dictionary::Dictionary;
use crate::{Code, EncodeError, ResetPolicy, session};

/// Encodes the messages of one session, in order, in the fewest bytes that the templates allow. It behaves as
/// [`crate::Encoder`] does, byte for byte.
///
/// Call [`reset`](Self::reset) wherever the receivers reset, at least at the start of each packet for
/// [`ResetPolicy::Packet`]. A clone goes on from where the encoder is: to encode what may have to be taken back, keep one.
#[derive(Clone, Debug)]
pub struct Encoder<P: Protocol> {
    reset: ResetPolicy,
    dictionary: Dictionary<P::Entries>,
    template_id: Option<u32>,
    poisoned: bool,
}

impl<P: Protocol> Default for Encoder<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Protocol> Encoder<P> {
    /// An encoder with all dictionaries undefined that resets where templates say so.
    pub fn new() -> Self {
        Self::with_reset(ResetPolicy::default())
    }

    /// An encoder for receivers of this reset policy.
    pub fn with_reset(reset: ResetPolicy) -> Self {
        Self {
            reset,
            dictionary: Dictionary::of(P::ENTRIES),
            template_id: None,
            poisoned: false,
        }
    }

    /// Makes all dictionaries undefined and forgets the template id.
    pub fn reset(&mut self) {
        self.dictionary.reset();
        self.template_id = None;
        self.poisoned = false;
    }

    /// Appends a message to `out`. Members of mandatory constants may have their default instead of the constant.
    ///
    /// # Errors
    /// Nothing is appended. A value that its field cannot have leaves the dictionaries undefined: every further
    /// message is refused (`Poisoned`) until [`reset`](Self::reset).
    #[inline]
    pub fn encode<T: Encode<P>>(
        &mut self,
        message: &T,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if self.reset == ResetPolicy::Message {
            self.reset();
        }
        if self.poisoned {
            return Err(Fault::of(Code::Poisoned).into_encode_error(P::FIELD_PATHS));
        }
        let start = out.len();
        let mut writer = Writer {
            out,
            dictionary: &mut self.dictionary,
            template_id: &mut self.template_id,
            reset: self.reset,
            depth: 0,
        };
        match writer.message(message, true) {
            Ok(()) => Ok(()),
            Err(fault) => {
                out.truncate(start);
                self.poisoned = true;
                Err(fault.into_encode_error(P::FIELD_PATHS))
            }
        }
    }

    /// Appends the session's reset message (SCP, template id 120) for templates that do not define it, and does what
    /// receivers do then: see [`ResetPolicy`].
    pub fn encode_reset(&mut self, out: &mut Vec<u8>) {
        session::append_reset(self.template_id, out);
        match self.reset {
            ResetPolicy::Never => self.template_id = Some(session::RESET.0),
            _ => self.reset(),
        }
    }
}
