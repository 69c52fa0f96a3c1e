//! Why most packets of a file cannot be decoded: read in another way they can, or the templates are others.

use std::fmt::Write;

use clap::ValueEnum;
use tickwire_fast::{Code, Decoder, Templates};

use super::packets::{FileForm, PacketFile};
use super::source::{PreambleForm, Reset, TemplateOptions};

/// What to try with a file, `None` if most of its first packets can be decoded as they are read.
pub(super) fn advice(
    file: &PacketFile,
    options: &TemplateOptions,
    templates: &Templates,
) -> Option<String> {
    let here = Sample::take(file, options.decoder(templates));
    if here.whole * 2 >= here.packets {
        return None;
    }
    let works = |way: &Way| way.works(file, options, templates);
    if let Some((way, sample)) = Way::all().find_map(|way| Some((way, works(&way)?))) {
        let packets = match sample.packets {
            1 => "the first packet can".to_owned(),
            packets => format!("the first {packets} packets can"),
        };
        return Some(format!("with `{}` {packets} be decoded", way.options()));
    }
    let xml = options.templates.display();
    let Some(found) = here.unknown_ids() else {
        return Some(format!(
            "no other `--framing`, `--preamble` or `--reset` decodes the first packets: {xml} may belong to \
             another feed, or to another version of it; `tickwire fast explain --failed` shows where bytes \
             and templates part"
        ));
    };
    let known = known_ids(templates).unwrap_or_else(|| "none".to_owned());
    Some(format!(
        "{xml} has the template ids {known}, but the first packets ask for {found}, however they are framed: is it the \
         template file of this feed?"
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
    /// Those of which all messages can be decoded.
    whole: usize,
    messages: usize,
    /// Ids that no template has.
    unknown: Vec<u32>,
}

impl Sample {
    fn take(file: &PacketFile, mut decoder: Decoder) -> Self {
        let mut sample = Self {
            packets: 0,
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
        let reset = Reset::value_variants().iter().map(move |&when| Self {
            reset: Some(when),
            ..none
        });
        let both = framed.clone().flat_map(headed);
        framed.chain(headed(none)).chain(reset).chain(both)
    }

    /// The sample, if all of it can be decoded so.
    fn works(
        self,
        file: &PacketFile,
        options: &TemplateOptions,
        templates: &Templates,
    ) -> Option<Sample> {
        let file = file.reread(self.framing, self.preamble.map(PreambleForm::preamble))?;
        let mut options = options.clone();
        options.feed.reset = self.reset.or(options.feed.reset);
        let sample = Sample::take(&file, options.decoder(templates));
        (sample.messages > 0 && sample.whole == sample.packets).then_some(sample)
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
