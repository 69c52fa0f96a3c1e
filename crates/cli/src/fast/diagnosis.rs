//! Why packets of a file cannot be decoded: it is cut off, or most of them cannot as it is read, but can in another
//! way, or the templates are others.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;

use clap::ValueEnum;
use tickwire_fast::{Code, Decoder, Templates};

use super::packets::{FileForm, PacketFile};
use super::source::{PreambleForm, Reset, TemplateOptions};

/// What to try with a file, `None` if most of its first packets can be decoded as they are read.
pub(crate) fn advice(
    file: &PacketFile,
    options: &TemplateOptions,
    templates: &Templates,
) -> Option<String> {
    let here = Sample::of_bad(file, options, templates)?;
    if file.is_snapped() {
        return Some(SNAPPED.to_owned());
    }
    let name = file.path().display();
    if let Some(kind) = text_kind(file.bytes()) {
        return Some(format!("{name} is {kind}, no file of packets"));
    }
    let advice = cause(&here, file, options, templates).unwrap_or_else(|| match here.framed {
        0 => format!(
            "no `--framing` finds packets in {name} that can be decoded: it seems to be no file of packets"
        ),
        _ => format!(
            "no other `--framing`, `--preamble` or `--reset` decodes the first packets: {} may belong to \
             another feed, or to another version of it; `tickwire fast explain --failed` shows where bytes \
             and templates part",
            options.templates.display()
        ),
    });
    Some(match here.packets == 1 && file.is_cut_off() {
        true => format!("the file is cut off inside its first packet; if it is not, {advice}"),
        false => advice,
    })
}

/// What is to be said of a file whose end is all that is wrong with it.
pub(super) const CUT_OFF: &str = "the file is cut off inside its last packet: get the whole of it";

/// What is to be said of a file if its end is missing.
pub(crate) fn cut_off(file: &PacketFile) -> Option<String> {
    file.is_cut_off().then(|| CUT_OFF.to_owned())
}

/// What is to be said of a capture whose packets are not whole.
const SNAPPED: &str = "the packets of this capture were not kept whole: capture with `-s 0`, as in \
    `tcpdump -s 0 -w FILE`";

/// What a file is that begins as no packet does.
fn text_kind(bytes: &[u8]) -> Option<&'static str> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let (first, rest) = text.trim_ascii_start().split_first()?;
    let second = rest.trim_ascii_start().first()?;
    match (first, second) {
        (b'<', b'?' | b'!' | b'a'..=b'z' | b'A'..=b'Z') => Some("XML"),
        (b'{', b'"' | b'}') | (b'[', b'{' | b'[' | b'"' | b']') => Some("JSON"),
        _ => None,
    }
}

/// Whether most of the first packets cannot be decoded as they are read: then the others are not what they seem.
pub(super) fn is_misread(
    file: &PacketFile,
    options: &TemplateOptions,
    templates: &Templates,
) -> bool {
    Sample::of_bad(file, options, templates).is_some()
}

/// The same, `None` also if nothing but the bytes of its messages tells why they cannot be decoded.
pub(super) fn advice_beyond_messages(
    file: &PacketFile,
    options: &TemplateOptions,
    templates: &Templates,
) -> Option<String> {
    let here = Sample::of_bad(file, options, templates)?;
    cause(&here, file, options, templates)
}

/// Another way to read the file, or ids that its templates do not have.
fn cause(
    here: &Sample,
    file: &PacketFile,
    options: &TemplateOptions,
    templates: &Templates,
) -> Option<String> {
    let samples = Way::all().filter_map(|way| Some((way, way.sample(file, options, templates)?)));
    let sensible = samples.filter(|(_, sample)| sample.is_mostly_whole());
    // The most whole packets, and the fewest others; of equal ways the first.
    let best = sensible.min_by_key(|(_, sample)| (Reverse(sample.whole), sample.packets));
    if let Some((way, sample)) = best {
        let Sample { whole, packets, .. } = sample;
        let packets = match packets {
            1 => "the first packet".to_owned(),
            _ if whole == packets => format!("the first {packets} packets"),
            _ => format!("{whole} of the first {packets} packets"),
        };
        return Some(format!("with `{}` {packets} can be decoded", way.options()));
    }
    let xml = options.templates.display();
    let found = here.unknown_ids()?;
    let known = known_ids(templates).unwrap_or_else(|| "none".to_owned());
    Some(format!(
        "{xml} has the template ids {known}, but the first packets ask for {found}, and no other `--framing`, \
         `--preamble` or `--reset` decodes most of them: is it the template file of this feed?"
    ))
}

/// What to try with a live feed whose packets ask for templates that there are not, if any do.
pub(crate) fn advice_about_ids(
    unknown: &BTreeSet<u32>,
    options: &TemplateOptions,
    templates: &Templates,
) -> Option<String> {
    if unknown.is_empty() {
        return None;
    }
    let xml = options.templates.display();
    let known = known_ids(templates).unwrap_or_else(|| "none".to_owned());
    let found = list(unknown.iter().copied().collect());
    Some(format!(
        "{xml} has the template ids {known}, but packets ask for {found}: is it the template file of this feed, \
         and are `--venue`, or `--preamble` and `--reset`, what its packets have?"
    ))
}

/// The ids of templates, as many as a line has room for; `None` if no template has one.
pub(super) fn known_ids(templates: &Templates) -> Option<String> {
    let ids = templates
        .iter()
        .filter_map(|template| template.id().map(|id| id.0));
    let ids = list(ids.collect());
    (!ids.is_empty()).then_some(ids)
}

/// How a file's first packets decode.
struct Sample {
    packets: usize,
    /// Those that the framing finds.
    framed: usize,
    /// Those of which all messages can be decoded.
    whole: usize,
    messages: usize,
    /// Ids that no template has.
    unknown: Vec<u32>,
}

impl Sample {
    /// The first packets as they are read, if most of them cannot be decoded.
    fn of_bad(file: &PacketFile, options: &TemplateOptions, templates: &Templates) -> Option<Self> {
        let here = Self::take(file, options.decoder(templates));
        (here.whole * 2 < here.packets).then_some(here)
    }

    fn take(file: &PacketFile, mut decoder: Decoder) -> Self {
        let mut sample = Self {
            packets: 0,
            framed: 0,
            whole: 0,
            messages: 0,
            unknown: Vec::new(),
        };
        for packet in file.packets().take(PACKETS) {
            sample.packets += 1;
            let Ok(packet) = packet else {
                decoder.lose();
                continue;
            };
            sample.framed += 1;
            if !packet.follows {
                decoder.lose();
            }
            decoder.begin_packet();
            let mut is_whole = true;
            for block in packet.blocks() {
                is_whole &= block.is_ok_and(|block| sample.block(block.packet, &mut decoder));
            }
            sample.whole += usize::from(is_whole);
        }
        sample
    }

    /// Whether all messages, or as many as matter, can be decoded.
    fn block(&mut self, mut bytes: &[u8], decoder: &mut Decoder) -> bool {
        for _ in 0..MESSAGES {
            if bytes.is_empty() {
                return true;
            }
            match decoder.decode(bytes, &mut ()) {
                Ok(len) => bytes = bytes.get(len..).unwrap_or_default(),
                Err(error) => {
                    let unknown = error.unknown_template.filter(|_| error.code == Code::D9);
                    self.unknown.extend(unknown.map(|id| id.0));
                    return false;
                }
            }
            self.messages += 1;
        }
        true
    }

    /// Whether more packets than not can be decoded, and there is something in them.
    fn is_mostly_whole(&self) -> bool {
        self.messages > 0 && self.whole * 2 > self.packets
    }

    fn unknown_ids(&self) -> Option<String> {
        (!self.unknown.is_empty()).then(|| list(self.unknown.clone()))
    }
}

/// How a file might be read instead.
#[derive(Clone, Copy)]
struct Way {
    framing: Option<FileForm>,
    preamble: Option<PreambleForm>,
    reset: Option<Reset>,
}

impl Way {
    /// Those that change one option first.
    fn all() -> impl Iterator<Item = Self> {
        let none = Self {
            framing: None,
            preamble: None,
            reset: None,
        };
        let framed = FileForm::value_variants().iter().map(move |&form| Self {
            framing: Some(form),
            ..none
        });
        let headed = |way: Self| {
            let forms = PreambleForm::value_variants().iter();
            forms.map(move |&form| Self {
                preamble: Some(form),
                ..way
            })
        };
        let reset = |way: Self| {
            let policies = Reset::value_variants().iter();
            policies.map(move |&when| Self {
                reset: Some(when),
                ..way
            })
        };
        let one = framed.clone().chain(headed(none)).chain(reset(none));
        one.chain(framed.flat_map(headed))
            .chain(headed(none).flat_map(reset))
    }

    /// What the first packets are so, if the file can be read so.
    fn sample(
        self,
        file: &PacketFile,
        options: &TemplateOptions,
        templates: &Templates,
    ) -> Option<Sample> {
        let file = file.reread(
            self.framing.map(FileForm::form),
            self.preamble.map(PreambleForm::preamble),
        )?;
        let mut options = options.clone();
        options.feed.reset = self.reset.or(options.feed.reset);
        Some(Sample::take(&file, options.decoder(templates)))
    }

    fn options(self) -> String {
        let mut text = String::new();
        let mut add = |option: &str, value: Option<clap::builder::PossibleValue>| {
            if let Some(value) = value {
                let separator = if text.is_empty() { "" } else { " " };
                // Text in memory takes all that is written to it.
                let _infallible = write!(text, "{separator}{option} {}", value.get_name());
            }
        };
        add(
            "--framing",
            self.framing.and_then(|form| form.to_possible_value()),
        );
        add(
            "--preamble",
            self.preamble.and_then(|form| form.to_possible_value()),
        );
        add(
            "--reset",
            self.reset.and_then(|when| when.to_possible_value()),
        );
        text
    }
}

/// Numbers in order, each once.
fn list(mut ids: Vec<u32>) -> String {
    ids.sort_unstable();
    ids.dedup();
    let shown: Vec<_> = ids.iter().take(MAX_IDS).map(u32::to_string).collect();
    let more = match ids.len().checked_sub(MAX_IDS) {
        Some(more @ 1..) => format!(" and {more} more"),
        _ => String::new(),
    };
    format!("{}{more}", shown.join(", "))
}

/// Packets that are looked at, and messages of each.
const PACKETS: usize = 16;
const MESSAGES: usize = 256;
/// Template ids that are listed.
const MAX_IDS: usize = 20;
