//! What is said of a feed: where it comes from, and what templates leave open.

use std::net::SocketAddr;
use std::path::PathBuf;

use pyo3::prelude::*;
use tickwire_fast::{DecoderOptions, Mode, ResetPolicy, Templates};
use tickwire_feed::{ArbiterConfig, Framing, OURS, Preamble, VENUES, Venue};
use tickwire_gateway::files::{self, FileForm, PacketFile};
use tickwire_gateway::{HandlerOptions, Lines};
use tickwire_transport::Interface;

/// Where packets come from.
#[derive(FromPyObject)]
pub(crate) enum FeedSource {
    /// A file: its path, and to where the datagrams of a capture go.
    File(PathBuf, Option<String>),
    /// One line or two, and the interface.
    Lines(String, Option<String>, String),
}

/// As `tickwire/_arrow.py` gives them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FeedSettings {
    pub(crate) templates: PathBuf,
    pub(crate) message: Option<String>,
    pub(crate) default_template: Option<String>,
    pub(crate) venue: Option<String>,
    pub(crate) framing: Option<String>,
    pub(crate) preamble: Option<String>,
    pub(crate) reset: Option<String>,
    pub(crate) strict: bool,
    pub(crate) rows: usize,
    /// Seconds.
    pub(crate) every: Option<f64>,
    /// Seconds.
    pub(crate) silence: Option<f64>,
    pub(crate) done: Option<String>,
    pub(crate) errors: String,
    pub(crate) decimals: Option<i8>,
    pub(crate) enums: String,
}

/// A source that is open.
pub(super) enum Source {
    File(PacketFile),
    Lines(Box<Lines>),
    /// It is being read from.
    Done,
}

impl FeedSource {
    pub(super) fn open(self, settings: &FeedSettings) -> Result<Source, String> {
        let preamble = settings.preamble()?;
        match self {
            Self::File(path, to) => {
                let to = to.map(|to| to.parse()).transpose()?;
                let file = PacketFile::open(&path, settings.form()?, to, preamble);
                let file = file.map_err(|error| match error.hint() {
                    Some(hint) => format!("{error}; {hint}"),
                    None => error.to_string(),
                })?;
                Ok(Source::File(file))
            }
            Self::Lines(a, b, interface) => {
                if b.is_some() && !preamble.has_number() {
                    return Err("two lines are arbitrated by the numbers of their packets: say a `preamble` or a `venue` that has them".to_owned());
                }
                let venue = settings.venue()?;
                if venue.is_stream() {
                    let name = venue.name;
                    return Err(format!(
                        "packets of {name} come in a TCP stream, not in datagrams: save the stream, and decode that"
                    ));
                }
                let interface = Interface::find(&interface).map_err(|error| error.to_string())?;
                let b = b.map(|b| address(&b)).transpose()?;
                let lines = Lines::open(address(&a)?, b, &interface);
                Ok(Source::Lines(Box::new(
                    lines.map_err(|error| error.to_string())?,
                )))
            }
        }
    }

    /// How messages are handled, and how long packets wait for those before them.
    pub(super) fn handler_options(
        &self,
        settings: &FeedSettings,
    ) -> Result<HandlerOptions, String> {
        let hold = match self {
            Self::Lines(_, Some(_), _) => ArbiterConfig::default().hold,
            Self::Lines(_, None, _) => ArbiterConfig::ONE_LINE_HOLD,
            _ => ArbiterConfig::FILE_HOLD,
        };
        Ok(HandlerOptions {
            decoder: DecoderOptions {
                reset: settings.reset()?,
                strict: settings.strict,
                ..DecoderOptions::default()
            },
            preamble: settings.preamble()?,
            arbiter: ArbiterConfig {
                hold,
                ..ArbiterConfig::default()
            },
            done: settings.done.clone().unwrap_or_default(),
        })
    }
}

impl FeedSettings {
    pub(super) fn templates(&self) -> Result<Templates, String> {
        let path = self.templates.display();
        let bytes = files::read(&self.templates).map_err(|error| error.to_string())?;
        let xml = String::from_utf8(bytes).map_err(|_| format!("{path} is not UTF-8"))?;
        let mode = match self.strict {
            true => Mode::Strict,
            false => Mode::Lenient,
        };
        let templates = Templates::parse(&xml, mode).map_err(|error| format!("{path}: {error}"))?;
        match &self.default_template {
            None => Ok(templates),
            Some(name) => templates
                .with_default(name)
                .ok_or_else(|| format!("{path}: no template is called {name}")),
        }
    }

    /// Whether what cannot be decoded ends the feed.
    pub(super) fn raises(&self) -> Result<bool, String> {
        match &*self.errors {
            "raise" => Ok(true),
            "count" => Ok(false),
            other => Err(unknown("errors", other, &["raise", "count"])),
        }
    }

    fn venue(&self) -> Result<Venue, String> {
        let Some(name) = &self.venue else {
            return Ok(OURS);
        };
        let known = || VENUES.iter().map(|venue| venue.name).collect::<Vec<_>>();
        let venue = Venue::find(name).copied();
        venue.ok_or_else(|| unknown("venue", name, &known()))
    }

    fn form(&self) -> Result<FileForm, String> {
        Ok(match self.framing.as_deref() {
            None => FileForm::Frames(self.venue()?.framing),
            Some("u32le") => FileForm::Frames(Framing::U32Le),
            Some("block") => FileForm::Frames(Framing::BlockSize),
            Some("step") => FileForm::Frames(Framing::Step),
            Some("none") => FileForm::Frames(Framing::None),
            Some("hex") => FileForm::Hex,
            Some(other) => {
                let known = ["u32le", "block", "step", "hex", "none"];
                return Err(unknown("framing", other, &known));
            }
        })
    }

    fn preamble(&self) -> Result<Preamble, String> {
        Ok(match self.preamble.as_deref() {
            None => self.venue()?.preamble,
            Some("none") => Preamble::None,
            Some("seq") => Preamble::SequenceNumber,
            Some("cme") => Preamble::Cme,
            Some("b3") => Preamble::B3,
            Some("opra") => Preamble::Opra,
            Some(other) => {
                let known = ["none", "seq", "cme", "b3", "opra"];
                return Err(unknown("preamble", other, &known));
            }
        })
    }

    fn reset(&self) -> Result<ResetPolicy, String> {
        Ok(match self.reset.as_deref() {
            None => self.venue()?.reset,
            Some("packet") => ResetPolicy::Packet,
            Some("message") => ResetPolicy::Message,
            Some("template") => ResetPolicy::Template,
            Some("never") => ResetPolicy::Never,
            Some(other) => {
                let known = ["packet", "message", "template", "never"];
                return Err(unknown("reset", other, &known));
            }
        })
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected an address and its port, as in 224.1.2.133:13014";
    text.parse().map_err(|_| format!("{text}: {expected}"))
}

fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let known = known.join(", ");
    format!("there is no {what} {word:?}; there are {known}")
}
