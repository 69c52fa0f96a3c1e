//! Templates from files and what a venue decides beside them: the options that say how to read a feed, and the errors
//! that say where they are wrong.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use tickwire_fast::{Decoder, DecoderOptions, Mode, ResetPolicy, Templates};
use tickwire_feed::{OURS, Preamble, VENUES, Venue};
use tickwire_gateway::files::read;

use crate::failure::{Failure, Result};
use crate::output::note;

/// Which templates, and how to decode by them.
#[derive(Args, Clone)]
pub(crate) struct TemplateOptions {
    /// Template file (FAST XML) of the feed
    #[arg(short, long, value_name = "XML")]
    pub(crate) templates: PathBuf,

    /// Refuse what is not FAST 1.1 or 1.2: dialects in the templates, overlong encodings in the messages
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) feed: FeedOptions,
}

/// What messages are that do not say it.
#[derive(Args, Clone)]
pub(crate) struct DefaultTemplate {
    /// Messages without a template id, and none before to copy, are of this template (OPRA)
    #[arg(long, value_name = "NAME")]
    default_template: Option<String>,
}

impl DefaultTemplate {
    /// The templates with this one for their default.
    pub(crate) fn of(&self, templates: Templates) -> Result<Templates> {
        let Some(name) = &self.default_template else {
            return Ok(templates);
        };
        templates.with_default(name).ok_or_else(|| {
            Failure::new(format_args!("no template is called {name}"))
                .hint("`tickwire fast templates XML` lists them")
        })
    }
}

/// What an exchange decides and templates do not say.
#[derive(Args, Clone, Default)]
pub(crate) struct FeedOptions {
    /// Whose feed it is: sets framing, preamble and reset policy; `tickwire feed venues` shows them
    #[arg(long, value_name = "NAME", value_parser = venue_parser())]
    pub(crate) venue: Option<Venue>,

    /// When dictionaries go back to undefined [default: the venue's, or packet]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub(crate) reset: Option<Reset>,

    /// What precedes the messages of each packet [default: the venue's, or none]
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) preamble: Option<PreambleForm>,
}

/// The templates of a command that reads no messages.
#[derive(Args, Clone)]
pub(crate) struct TemplateFile {
    /// Template file (FAST XML)
    #[arg(value_name = "XML")]
    file: PathBuf,

    /// Refuse what is not FAST 1.1 or 1.2
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
    /// Only where a template says so, and on the reset message, id 120
    Template,
    /// Never
    Never,
}

/// What precedes the messages of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PreambleForm {
    /// Nothing
    None,
    /// A sequence number of 4 bytes, little-endian, as MOEX has it
    Seq,
    /// A sequence number of 4 bytes, big-endian, and a subchannel: CME, CQG
    Cme,
    /// Number, chunks, chunk and length, 10 bytes, big-endian: B3
    B3,
    /// OPRA's version 2: each message after its length
    Opra,
}

impl PreambleForm {
    pub(crate) fn preamble(self) -> Preamble {
        match self {
            Self::None => Preamble::None,
            Self::Seq => Preamble::SequenceNumber,
            Self::Cme => Preamble::Cme,
            Self::B3 => Preamble::B3,
            Self::Opra => Preamble::Opra,
        }
    }
}

impl FeedOptions {
    /// The venue's preset, or that of our files.
    pub(crate) fn venue(&self) -> Venue {
        self.venue.unwrap_or(OURS)
    }

    /// What precedes the messages of each packet.
    pub(crate) fn preamble(&self) -> Preamble {
        match self.preamble {
            None => self.venue().preamble,
            Some(form) => form.preamble(),
        }
    }

    /// When dictionaries are reset.
    pub(crate) fn reset(&self) -> ResetPolicy {
        match self.reset {
            None => self.venue().reset,
            Some(Reset::Packet) => ResetPolicy::Packet,
            Some(Reset::Message) => ResetPolicy::Message,
            Some(Reset::Template) => ResetPolicy::Template,
            Some(Reset::Never) => ResetPolicy::Never,
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
        DecoderOptions {
            reset: self.feed.reset(),
            strict: self.strict,
            ..DecoderOptions::default()
        }
    }
}

/// Reads a template file, and tells what is odd about it.
fn load(path: &Path, strict: bool) -> Result<Templates> {
    let bytes = read(path)?;
    let xml = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format_args!("{}: byte {at} is not UTF-8", path.display()))
            .hint("templates are XML in UTF-8; `iconv` converts a file from another encoding")
    })?;
    let mode = if strict { Mode::Strict } else { Mode::Lenient };
    let templates = Templates::parse(&xml, mode).map_err(|error| {
        let failure = Failure::new(format_args!("{}: {error}", path.display()));
        if strict && Templates::parse(&xml, Mode::Lenient).is_ok() {
            return failure.hint("without `--strict` this file is accepted");
        }
        failure
    })?;
    for warning in templates.warnings() {
        note(format_args!("warning: {}:{warning}", path.display()));
    }
    Ok(templates)
}

/// Reads a venue's name.
pub(crate) fn venue_parser() -> impl TypedValueParser<Value = Venue> {
    PossibleValuesParser::new(VENUES.iter().map(|venue| venue.name))
        .try_map(|name| Venue::find(&name).copied().ok_or("no such venue"))
}
