//! The decoder: interprets the plan over the bytes of messages and calls a visitor with each value. Knows nothing of
//! template XML, nor of what values are for.

mod bit_group;
mod instructions;
mod run;
mod trace;

use run::Run;
use trace::Told;
pub use trace::{Part, PresenceBit, Step};

use crate::dictionary::Dictionary;
use crate::error::DecodeError;
use crate::field::TemplateId;
use crate::templates::{Template, Templates};
use crate::typed::{Binding, FastMessage};
use crate::visitor::Visitor;
use crate::wire::Input;
use crate::{Code, session};

/// When the dictionaries, and the template id that messages may leave out, go back to undefined. FAST itself does not
/// say; every venue does. With the wrong policy the second message of a packet decodes to garbage.
///
/// The session's reset message (SCP, template id 120) has no fields, and what it does is the same whether the templates
/// define it, with `scp:reset`, or not: dictionaries and template id are undefined after it, so that the next message
/// has its id. Defined, it is visited as a message of its template; otherwise [`Visitor::reset`] is called. A template
/// of this id without `scp:reset` is the venue's own, and resets nothing. The reset of any other template keeps the
/// id, which is its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetPolicy {
    /// Before each packet, and as [`Template`](Self::Template) says.
    Packet,
    /// Before each message.
    Message,
    /// Before a message whose template has `scp:reset`, and on the session's reset message.
    #[default]
    Template,
    /// Only by [`Decoder::reset`]: messages with a reset, the session's too, are messages like others.
    Never,
}

/// How a decoder works. `Default` is what a feed needs that follows the standard.
#[derive(Clone, Copy, Debug)]
pub struct DecoderOptions {
    /// When dictionaries are reset. Default: by template.
    pub reset: ResetPolicy,
    /// Whether overlong encodings are errors (R6 to R9). Default: no.
    pub strict: bool,
    /// How many groups, sequence elements and dynamic template references may be open where another such reference
    /// stands: each takes stack. Default: 64; more than 256 counts as 256.
    pub max_depth: u32,
    /// What one message may grow to beyond its bytes, in units: 1 for each field, group and element, and for each byte
    /// of a string that is not in the message but is the template's or the dictionary's. Each of the fewest bytes that a message or
    /// element can have pays for 16 of the units that its own fields can come to, so that messages of real feeds cost
    /// next to nothing. A message that needs more ends with [`Limit`](Code::Limit); raise the budget for templates of
    /// long strings or elements without bytes that are meant so. Default: 1 Mi units, at most some 30 MB of a
    /// [`Message`](crate::Message).
    pub budget: u32,
}

impl Default for DecoderOptions {
    fn default() -> Self {
        Self {
            reset: ResetPolicy::default(),
            strict: false,
            max_depth: 64,
            budget: 1 << 20,
        }
    }
}

/// Decodes the messages of one session, in order. Allocates nothing per message once its strings have reached their
/// longest. A clone goes on from where the decoder is, at the cost of a copy of the dictionaries.
#[derive(Clone, Debug)]
pub struct Decoder {
    templates: Templates,
    options: DecoderOptions,
    dictionary: Dictionary,
    /// The template id that a message may leave out.
    template_id: Option<u32>,
    scratch: Vec<u8>,
}

impl Decoder {
    /// A decoder with default options and all dictionaries undefined.
    pub fn new(templates: &Templates) -> Self {
        Self::with_options(templates, DecoderOptions::default())
    }

    /// A decoder with these options.
    pub fn with_options(templates: &Templates, options: DecoderOptions) -> Self {
        Self {
            templates: templates.clone(),
            options,
            dictionary: Dictionary::new(templates.plan.slot_count),
            template_id: None,
            scratch: Vec::new(),
        }
    }

    /// Makes all dictionaries undefined and forgets the template id.
    pub fn reset(&mut self) {
        self.dictionary.reset();
        self.template_id = None;
    }

    /// Messages were lost before the next one: what all dictionaries held is unknown. A message that needs an unknown
    /// value is refused (`Lost`) and none takes an initial value in its place, until one brings the value whole or the
    /// dictionaries are reset, here or by the policy.
    pub fn lose(&mut self) {
        self.dictionary.lose();
        self.template_id = None;
    }

    /// A packet begins: resets if that is the policy. For those who call [`decode`](Self::decode) themselves.
    pub fn begin_packet(&mut self) {
        if self.options.reset == ResetPolicy::Packet {
            self.reset();
        }
    }

    /// The templates that it decodes.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// Decodes the message at the start of `bytes` and returns how many bytes it took, at least 1.
    ///
    /// # Errors
    /// What is wrong, with its place. The decoder is then as after [`lose`](Self::lose): skip to the next packet.
    pub fn decode<V: Visitor>(
        &mut self,
        bytes: &[u8],
        visitor: &mut V,
    ) -> Result<usize, DecodeError> {
        let mut run = Run {
            plan: &self.templates.plan,
            templates: &self.templates,
            options: &self.options,
            dictionary: &mut self.dictionary,
            template_id: &mut self.template_id,
            scratch: &mut self.scratch,
            input: Input::new(bytes, self.options.strict),
            visitor,
            budget: self.options.budget,
            template: None,
            field: None,
            element: None,
            unknown_template: None,
            next_bit: 0,
            told: Told::default(),
        };
        match run.message() {
            Ok(()) => Ok(run.input.offset()),
            Err(code) => {
                run.tell_error(code);
                let error = run.error(code);
                self.lose();
                Err(error)
            }
        }
    }

    /// Decodes the message at the start of `bytes` into `value`, which takes what the message has and loses all else.
    /// Allocates nothing once `value` and what the binding keeps have had the largest message.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and D1 (with nothing decoded) if the message is of another template or is the
    /// session's reset message. Where they are mixed, ask [`next_template`](Self::next_template) first, and give
    /// [`decode`](Self::decode) and the visitor `()` what is not wanted. If a value does not convert to its member's
    /// type (D11, R1, R4, R5), the message was decoded and ends at the error's offset, where the next can be decoded.
    pub fn decode_into<T: FastMessage>(
        &mut self,
        bytes: &[u8],
        binding: &mut Binding<T>,
        value: &mut T,
    ) -> Result<usize, DecodeError> {
        let id = self.next_id(bytes);
        let template = id.and_then(|id| self.template_of(id));
        let is_reset = template.is_none() && id == Some(Some(session::RESET));
        if is_reset || template.is_some_and(|template| !binding.is_for(template)) {
            return Err(DecodeError {
                code: Code::D1,
                offset: 0,
                template: template.map(|template| template.entry.name.clone()),
                unknown_template: is_reset.then_some(session::RESET),
                field: None,
                element: None,
            });
        }
        let len = self.decode(bytes, &mut binding.visitor(value))?;
        binding.failure(len).map_or(Ok(len), Err)
    }

    /// The template of the message at the start of `bytes`, without decoding it; `None` if there is none, which
    /// [`decode`](Self::decode) explains, or obeys if it is the session's reset message.
    pub fn next_template(&self, bytes: &[u8]) -> Option<Template<'_>> {
        self.template_of(self.next_id(bytes)?)
    }

    /// The id that the next message has or copies; `Some(None)` if there is none to copy.
    fn next_id(&self, bytes: &[u8]) -> Option<Option<TemplateId>> {
        let mut input = Input::new(bytes, false);
        if input.presence_map().ok()?.bit() {
            let id = input.unsigned(u32::MAX.into()).ok()?;
            u32::try_from(id).ok().map(|id| Some(TemplateId(id)))
        } else if self.options.reset == ResetPolicy::Message {
            Some(None)
        } else {
            Some(self.template_id.map(TemplateId))
        }
    }

    fn template_of(&self, id: Option<TemplateId>) -> Option<Template<'_>> {
        match id {
            Some(id) => self.templates.by_id(id),
            // The policy is about to reset what was lost.
            None if self.options.reset == ResetPolicy::Message => self.templates.default_template(),
            None => default_template(&self.templates, &self.dictionary),
        }
    }

    /// Decodes a packet: all messages in `bytes`, after a reset if that is the policy. Returns their number.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), with the offset in the packet; messages before the error were visited.
    pub fn decode_packet<V: Visitor>(
        &mut self,
        bytes: &[u8],
        visitor: &mut V,
    ) -> Result<usize, DecodeError> {
        self.begin_packet();
        let mut offset = 0;
        let mut count = 0;
        while let Some(rest @ [_, ..]) = bytes.get(offset..) {
            offset += self.decode(rest, visitor).map_err(|error| DecodeError {
                offset: offset + error.offset,
                ..error
            })?;
            count += 1;
        }
        Ok(count)
    }
}

/// The template of messages without an id, as long as none can have been lost that they copy.
fn default_template<'t>(templates: &'t Templates, dictionary: &Dictionary) -> Option<Template<'t>> {
    let is_lost = dictionary.is_lost() && templates.has_ids();
    templates.default_template().filter(|_| !is_lost)
}
