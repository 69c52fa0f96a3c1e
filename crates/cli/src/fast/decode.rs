//! `tickwire fast decode`: a file of messages as text, JSON or figures.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::json as value;
use tickwire_fast::{Decoder, Message, Record, Value, json};

use super::source::{Framing, Reset, TemplateOptions, packets, read};
use crate::failure::{Failure, Result};
use crate::output::{ListFormat, stdout, write_list};

/// Decode a file of FAST messages
#[derive(Args)]
#[command(
    long_about = "\
Decodes a file of FAST messages by its templates and shows what is in it.

The file holds packets, each after its length (4 bytes, little-endian), as `tickwire feed generate` \
writes it. A message that cannot be decoded ends the run with the file's byte, the template and the \
field.",
    after_help = "\
Examples:
  tickwire fast decode feed.dat --templates feed.xml --limit 10
  tickwire fast decode feed.dat --templates feed.xml -o stats
  tickwire fast decode feed.dat --templates feed.xml -o jsonl | jq 'select(.template == \"Quote\")'"
)]
pub(crate) struct Arguments {
    /// File of packets
    file: PathBuf,

    #[command(flatten)]
    templates: TemplateOptions,

    /// How packets are kept in the file
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Framing::U32le)]
    framing: Framing,

    /// What to show
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t = Form::Table)]
    output: Form,

    /// Stop after so many messages
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A line for each message
    Table,
    /// How many messages of each template, and how fast they decode
    Stats,
    /// A JSON object for each message
    Jsonl,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let templates = self.templates.load()?;
        let bytes = read(&self.file)?;
        let mut decoder = self.templates.decoder(&templates);
        let mut out = stdout();
        match self.output {
            Form::Table => {
                writeln!(
                    out,
                    "{:>8} {:>10}  {:<16} fields",
                    "message", "byte", "template"
                )?;
                self.each_message(&bytes, &mut decoder, |place, message| {
                    let template = message.template().map_or("", |template| template.name());
                    write!(
                        out,
                        "{:>8} {:>10}  {template:<16} ",
                        place.message, place.offset
                    )?;
                    write_fields(&mut out, message.record())?;
                    Ok(writeln!(out)?)
                })?;
            }
            Form::Jsonl => {
                let mut line = String::new();
                self.each_message(&bytes, &mut decoder, |_, message| {
                    line.clear();
                    // Text in memory takes all that is written to it.
                    let _infallible = json::write(message, &mut line);
                    line.push('\n');
                    Ok(out.write_all(line.as_bytes())?)
                })?;
            }
            Form::Stats => self.statistics(&bytes, &mut decoder)?.write(&mut out)?,
        }
        Ok(out.flush()?)
    }

    /// Calls `act` with each message and its place in the file.
    fn each_message(
        &self,
        bytes: &[u8],
        decoder: &mut Decoder,
        mut act: impl FnMut(Place, &Message) -> Result<()>,
    ) -> Result<()> {
        let mut message = Message::new();
        let mut count = 0;
        for (packet, frame) in packets(&self.file, bytes, self.framing).enumerate() {
            let frame = frame?;
            if self.templates.reset == Reset::Packet {
                decoder.reset();
            }
            let failed = |offset: usize, what: &dyn std::fmt::Display| {
                let (file, at) = (self.file.display(), frame.offset + offset);
                Failure::new(format_args!("{file}: packet {packet} at byte {at}: {what}"))
            };
            let split = self.templates.preamble.preamble().split(frame.packet);
            let (_, messages) = split.map_err(|error| failed(0, &error))?;
            let mut offset = frame.packet.len() - messages.len();
            while let Some(rest @ [_, ..]) = frame.packet.get(offset..) {
                if self.limit.is_some_and(|limit| count >= limit) {
                    return Ok(());
                }
                let place = Place {
                    message: count,
                    offset: frame.offset + offset,
                };
                let decoded = decoder.decode(rest, &mut message);
                offset += decoded.map_err(|error| failed(offset, &error))?;
                count += 1;
                act(place, &message)?;
            }
        }
        Ok(())
    }

    /// Decodes twice: the second time, with memory warm, counts for the speed.
    fn statistics(&self, bytes: &[u8], decoder: &mut Decoder) -> Result<Statistics> {
        let mut statistics = Statistics::default();
        self.each_message(bytes, decoder, |_, message| {
            statistics.count(message);
            Ok(())
        })?;
        decoder.reset();
        let begin = Instant::now();
        self.each_message(bytes, decoder, |_, _| Ok(()))?;
        statistics.elapsed = begin.elapsed();
        statistics.bytes = bytes.len() as u64;
        Ok(statistics)
    }
}

/// Where a message is in the file.
#[derive(Clone, Copy)]
struct Place {
    /// From 0.
    message: u64,
    /// Byte of the file at which it starts.
    offset: usize,
}

#[derive(Default)]
struct Statistics {
    templates: BTreeMap<String, Counts>,
    bytes: u64,
    elapsed: Duration,
}

#[derive(Default)]
struct Counts {
    messages: u64,
    fields: u64,
    elements: u64,
}

impl Statistics {
    fn count(&mut self, message: &Message) {
        let name = message.template().map_or("", |template| template.name());
        if !self.templates.contains_key(name) {
            self.templates.insert(name.to_owned(), Counts::default());
        }
        if let Some(counts) = self.templates.get_mut(name) {
            counts.messages += 1;
            counts.add(message.record());
        }
    }

    fn write(&self, out: &mut impl Write) -> Result<()> {
        let rows: Vec<_> = self
            .templates
            .iter()
            .map(|(name, counts)| {
                vec![
                    value!(name),
                    value!(counts.messages),
                    value!(counts.elements),
                    value!(counts.fields),
                ]
            })
            .collect();
        let columns = ["template", "messages", "entries", "values"];
        write_list(out, ListFormat::Table, &columns, &rows)?;
        let messages: u64 = self.templates.values().map(|counts| counts.messages).sum();
        let entries: u64 = self.templates.values().map(|counts| counts.elements).sum();
        let ns = self.elapsed.as_nanos() as f64;
        writeln!(out)?;
        writeln!(out, "messages   {messages}")?;
        writeln!(out, "entries    {entries}")?;
        writeln!(out, "bytes      {}", self.bytes)?;
        if messages > 0 {
            writeln!(out, "decode     {:.0} ns/message", ns / messages as f64)?;
            writeln!(
                out,
                "           {:.0} MB/s",
                self.bytes as f64 * 1e3 / ns.max(1.0)
            )?;
        }
        Ok(())
    }
}

impl Counts {
    fn add(&mut self, record: Record<'_>) {
        for (_, value) in record {
            self.fields += 1;
            match value {
                Value::Group(record) | Value::Template(_, record) => self.add(record),
                Value::Sequence(sequence) => {
                    self.elements += sequence.len() as u64;
                    sequence.iter().for_each(|element| self.add(element));
                }
                _ => {}
            }
        }
    }
}

/// `NAME=VALUE ...`, sequences as `NAME=[{...} {...}]`.
fn write_fields(out: &mut impl Write, record: Record<'_>) -> Result<()> {
    for (at, (field, value)) in record.enumerate() {
        if at > 0 {
            write!(out, " ")?;
        }
        write!(out, "{}=", field.name())?;
        match value {
            Value::Unsigned(value) => write!(out, "{value}")?,
            Value::Signed(value) => write!(out, "{value}")?,
            Value::Decimal(value) => write!(out, "{value}")?,
            Value::Text(value) => write!(out, "{value:?}")?,
            Value::Bytes(value) => value
                .iter()
                .try_for_each(|byte| write!(out, "{byte:02x}"))?,
            Value::Group(record) => write_braced(out, record)?,
            Value::Template(template, record) => {
                write!(out, "{}", template.name())?;
                write_braced(out, record)?;
            }
            Value::Sequence(sequence) => {
                write!(out, "[")?;
                sequence
                    .iter()
                    .try_for_each(|element| write_braced(out, element))?;
                write!(out, "]")?;
            }
        }
    }
    Ok(())
}

fn write_braced(out: &mut impl Write, record: Record<'_>) -> Result<()> {
    write!(out, "{{")?;
    write_fields(out, record)?;
    Ok(write!(out, "}}")?)
}
