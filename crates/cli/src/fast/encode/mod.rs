//! `tickwire fast encode`: lines of JSON become a file of FAST messages.

mod line;
mod nearest;
mod packer;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use packer::{Packer, PacketForm};
use tickwire_fast::{Code, EncodeError, Message};
use tickwire_feed::Preamble;

use super::packets::FileForm;
use super::source::{DefaultTemplate, TemplateOptions};
use crate::failure::{Failure, Result};
use crate::output::{counted, note};

/// Encode lines of JSON as FAST messages
#[derive(Args)]
#[command(
    long_about = "\
Reads messages as `tickwire fast decode -o jsonl` prints them, one JSON object a line, and writes a file of \
FAST packets that decodes to the same messages.

A line names its template under `template`, then has a member for each field that is present; constants \
may be left out, `null` is as good as absent, and the order of members does not matter. Groups are objects, \
sequences arrays of objects, byte vectors strings of hexadecimal digits, decimals numbers whose digits are \
taken as they stand: 12.50 is sent as 1250 and -2. Enumerations, sets and booleans of FAST 1.2 are names, \
arrays of names, and true or false. `{}` is the session's reset message (template id 120). Where a template has several fields of one name, members \
of this name are theirs in turn; `null` passes over one.

Each packet takes as many messages as fit. An error names the line and the field; the packets before it \
are in the file.",
    after_help = "\
Examples:
  tickwire fast encode feed.jsonl --templates feed.xml --out feed.dat
  tickwire fast decode a.dat -t a.xml -o jsonl \\
      | tickwire fast encode -t a.xml --out b.dat
  tickwire fast encode one.jsonl -t feed.xml --framing hex \\
      --messages-per-packet 1
  tickwire fast encode feed.jsonl -t moex.xml --venue moex-asts \\
      --messages-per-packet 1 --out feed.dat

  $ cat quote.xml
  <template name=\"Quote\" id=\"1\">
    <uInt32 name=\"Bid\"/>
    <string name=\"Symbol\"><copy/></string>
  </template>
  $ echo '{\"template\":\"Quote\",\"Bid\":26,\"Symbol\":\"XYZ\"}' \\
      | tickwire fast encode -t quote.xml --framing hex
  e0819a5859da"
)]
pub(crate) struct Arguments {
    /// Lines of JSON; standard input without it, or for `-`
    file: Option<PathBuf>,

    #[command(flatten)]
    templates: TemplateOptions,

    #[command(flatten)]
    default: DefaultTemplate,

    /// File to write; standard output without it
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// How packets are kept in the file [default: the venue's, or u32le]
    #[arg(long, value_name = "FORM", value_enum)]
    framing: Option<FileForm>,

    /// Most messages in a packet [default: as many as fit]
    #[arg(long, value_name = "N")]
    messages_per_packet: Option<NonZeroUsize>,

    /// Most bytes of messages in a packet, 1 to 65507 less what the venue puts around them; a message that is larger
    /// has a packet of its own
    #[arg(short, long, value_name = "BYTES", default_value_t = 1_024, value_parser = clap::value_parser!(u16).range(1..=65_507))]
    packet_bytes: u16,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let form = self.form()?;
        let templates = self.default.of(self.templates.load()?)?;
        let (name, mut lines) = self.lines()?;
        let out_name = self.out.as_ref().map(|out| out.display().to_string());
        let mut packer = Packer::new(&templates, form, self.output(form)?, out_name);
        let mut message = Message::new();
        let mut line = String::new();
        let mut number = 0_u64;
        while next_line(&mut lines, &mut line, &name, number + 1)? {
            number += 1;
            let line = line.trim_end();
            if line.is_empty() {
                continue;
            }
            let done = line::read(line, &templates, &mut message);
            let done = match done {
                Ok(()) => packer.push(&message)?.map_err(|error| explain(&error)),
                Err(error) => Err((error.to_string(), error.hint)),
            };
            if let Err((problem, hint)) = done {
                if packer.messages > 0 {
                    packer.finish()?;
                }
                let failure = Failure::new(format_args!("{name}: line {number}: {problem}"));
                return Err(match hint {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                });
            }
        }
        packer.finish()?;
        if let Some(out) = &self.out {
            let (messages, packets) = (packer.messages, packer.packets);
            let out = out.display();
            let messages = counted(messages, "message", "messages");
            let packets = counted(packets, "packet", "packets");
            note(format_args!("wrote {out}: {messages} in {packets}"));
        }
        Ok(())
    }

    fn form(&self) -> Result<PacketForm> {
        let feed = &self.templates.feed;
        let file = self.framing.unwrap_or(feed.venue().framing.into());
        if file == FileForm::None && feed.preamble() != Preamble::None {
            let failure = Failure::usage("without packets there is no place for a preamble");
            return Err(failure.hint("`--framing u32le` keeps packets apart"));
        }
        Ok(PacketForm {
            file,
            preamble: feed.preamble(),
            reset: feed.reset(),
            messages: self
                .messages_per_packet
                .map_or(usize::MAX, NonZeroUsize::get),
            bytes: usize::from(self.packet_bytes),
        })
    }

    /// The lines, and what they are called in errors.
    fn lines(&self) -> Result<(String, Box<dyn BufRead>)> {
        match self.file.as_deref().filter(|path| *path != Path::new("-")) {
            None => Ok(("standard input".to_owned(), Box::new(io::stdin().lock()))),
            Some(path) => {
                let name = path.display().to_string();
                let file = File::open(path);
                let file = file
                    .map_err(|error| Failure::new(format_args!("cannot read {name}: {error}")))?;
                Ok((name, Box::new(BufReader::new(file))))
            }
        }
    }

    fn output(&self, form: PacketForm) -> Result<Box<dyn Write>> {
        match &self.out {
            None if form.file != FileForm::Hex && io::stdout().is_terminal() => {
                let failure = Failure::usage("FAST messages are no text for a terminal");
                Err(failure.hint("`--out FILE` writes a file, `--framing hex` writes text"))
            }
            None => Ok(Box::new(BufWriter::new(io::stdout().lock()))),
            Some(path) => {
                let file = Replaced::open(path);
                let path = path.display();
                let file = file
                    .map_err(|error| Failure::new(format_args!("cannot write {path}: {error}")))?;
                Ok(Box::new(BufWriter::new(file)))
            }
        }
    }
}

/// A file that keeps what it has until something else is written, or flushed.
struct Replaced {
    file: File,
    is_begun: bool,
}

impl Replaced {
    fn open(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let is_begun = !file.metadata()?.is_file();
        Ok(Self { file, is_begun })
    }

    fn begin(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.is_begun, true) {
            true => Ok(()),
            false => self.file.set_len(0),
        }
    }
}

impl Write for Replaced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.begin()?;
        self.file.flush()
    }
}

/// Reads a line; false at the end.
fn next_line(lines: &mut dyn BufRead, line: &mut String, name: &str, number: u64) -> Result<bool> {
    line.clear();
    let read = lines.take(MAX_LINE).read_line(line);
    let len = read.map_err(|error| {
        let failure = Failure::new(format_args!("{name}: line {number}: {error}"));
        match error.kind() {
            io::ErrorKind::InvalidData => failure.hint(line::FORM),
            _ => failure,
        }
    })?;
    if len as u64 == MAX_LINE && !line.ends_with('\n') {
        return Err(Failure::new(format_args!(
            "{name}: line {number} is longer than {MAX_LINE} bytes"
        )));
    }
    Ok(len > 0)
}

/// What an encoder's refusal means for the line.
fn explain(error: &EncodeError) -> (String, Option<String>) {
    let hint = match error.code {
        Code::Missing => {
            "an optional field may be left out, a mandatory one only if it is a constant"
        }
        Code::D3 => {
            "the template fixes the exponent: give as many digits after the point as it has"
        }
        Code::Unencodable => "the field's operator, a constant or tail, cannot send this value",
        Code::D9 => {
            "a template without an id has messages only if `--default-template` names it, and where no \
             message before had an id"
        }
        _ => return (error.to_string(), None),
    };
    (error.to_string(), Some(hint.to_owned()))
}

/// Bytes of one line: more than any message has.
const MAX_LINE: u64 = 1 << 26;
