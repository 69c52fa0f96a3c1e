//! Templates and packets from files: the options that say how to read them, and the errors that say
//! where they are wrong.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tickwire_fast::{Decoder, DecoderOptions, Mode, ResetPolicy, Templates};
use tickwire_feed::{Frame, Frames, Preamble};

use crate::failure::{Failure, Result};

/// Which templates, and how to decode by them.
#[derive(Args, Clone)]
pub(crate) struct TemplateOptions {
    /// Template file (FAST 1.1 XML) of the feed
    #[arg(short, long, value_name = "XML")]
    pub(crate) templates: PathBuf,

    /// Refuse what is not FAST 1.1: dialects in the templates, overlong encodings in the messages
    #[arg(long)]
    pub(crate) strict: bool,

    /// When dictionaries go back to undefined: the exchange decides, FAST does not say
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Reset::Packet)]
    pub(crate) reset: Reset,

    /// What precedes the messages of each packet
    #[arg(long, value_name = "FORM", value_enum, default_value_t = PreambleForm::None)]
    pub(crate) preamble: PreambleForm,
}

/// The templates of a command that reads no messages.
#[derive(Args, Clone)]
pub(crate) struct TemplateFile {
    /// Template file (FAST XML)
    #[arg(value_name = "XML")]
    file: PathBuf,

    /// Refuse what is not FAST 1.1
    #[arg(long)]
    strict: bool,
}

impl TemplateFile {
    /// Reads the template file.
    pub(crate) fn load(&self) -> Result<Templates> {
        load(&self.file, self.strict)
    }
}

/// When dictionaries are reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reset {
    /// Before each packet, and where a template says so
    Packet,
    /// Before each message
    Message,
    /// Only where a template says so
    Template,
    /// Never
    Never,
}

/// What precedes the messages of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PreambleForm {
    /// Nothing
    None,
    /// A sequence number of 4 bytes, little-endian
    Seq,
}

/// How packets are kept in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Framing {
    /// Each packet after its length in 4 bytes, little-endian
    U32le,
    /// No packets: messages one after the other
    None,
}

impl PreambleForm {
    pub(crate) fn preamble(self) -> Preamble {
        match self {
            Self::None => Preamble::None,
            Self::Seq => Preamble::SequenceNumber,
        }
    }
}

impl TemplateOptions {
    /// Reads the template file.
    pub(crate) fn load(&self) -> Result<Templates> {
        load(&self.templates, self.strict)
    }

    /// A decoder of these templates.
    pub(crate) fn decoder(&self, templates: &Templates) -> Decoder {
        Decoder::with_options(templates, self.decoder_options())
    }

    /// How messages are decoded.
    pub(crate) fn decoder_options(&self) -> DecoderOptions {
        let reset = match self.reset {
            Reset::Packet => ResetPolicy::Packet,
            Reset::Message => ResetPolicy::Message,
            Reset::Template => ResetPolicy::Template,
            Reset::Never => ResetPolicy::Never,
        };
        DecoderOptions {
            reset,
            strict: self.strict,
            ..DecoderOptions::default()
        }
    }
}

/// Reads a template file.
fn load(path: &Path, strict: bool) -> Result<Templates> {
    let bytes = read(path)?;
    let xml = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format_args!("{}: byte {at} is not UTF-8", path.display()))
    })?;
    let mode = if strict { Mode::Strict } else { Mode::Lenient };
    Templates::parse(&xml, mode).map_err(|error| {
        let failure = Failure::new(format_args!("{}: {error}", path.display()));
        if strict && Templates::parse(&xml, Mode::Lenient).is_ok() {
            return failure.hint("without `--strict` this file is accepted");
        }
        failure
    })
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path)
        .map_err(|error| Failure::new(format_args!("cannot read {}: {error}", path.display())))
}

/// The packets of a file, with the file's name in the errors.
pub(crate) fn packets<'a>(
    path: &'a Path,
    bytes: &'a [u8],
    framing: Framing,
) -> Box<dyn Iterator<Item = Result<Frame<'a>>> + 'a> {
    match framing {
        Framing::None => {
            let whole = Frame {
                offset: 0,
                packet: bytes,
            };
            Box::new((!bytes.is_empty()).then_some(Ok(whole)).into_iter())
        }
        Framing::U32le => Box::new(Frames::new(bytes).map(|frame| {
            frame.map_err(|error| Failure::new(format_args!("{}: {error}", path.display())))
        })),
    }
}
