//! `tickwire fast explain`: one message byte by byte.

mod advice;
mod show;
mod trace;

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use advice::Advice;
use clap::{Args, ValueEnum};
use serde_json::json;
use show::Explained;
use tickwire_fast::{DecodeError, Templates};
use trace::Trace;

use super::diagnosis::{CUT_OFF, advice, advice_beyond_messages};
use super::packets::{PacketFile, PacketOptions};
use super::source::{DefaultTemplate, TemplateOptions};
use super::walk::{At, Next, each_message};
use crate::failure::{Failure, Result};
use crate::output::{counted, note, stdout};

/// Explain a message byte by byte
#[derive(Args)]
#[command(
    long_about = "\
Shows how one message of a file is decoded: each byte, the presence-map bit that decides about a field, \
the field with its operator and initial value, the dictionary entry before and after, and the value. What \
comes from no byte (constants, copies, increments) has a line too, so that every field of the template is \
accounted for.

The messages before it are decoded first, so that the dictionaries are those that it meets. If it cannot be \
decoded, everything up to the failing byte is shown, then what was expected there, the rule of FAST 1.1 and \
what to do about it; the exit status is then 1.

Messages are numbered from 0 as `tickwire fast decode` numbers them; with `--packet` within that packet, \
whose number `decode` says in its errors. `bit` is the number of the bit in its presence map and its value, \
`byte` counts from the start of the file.",
    after_help = SAMPLE
)]
pub(crate) struct Arguments {
    /// File of packets
    file: PathBuf,

    #[command(flatten)]
    templates: TemplateOptions,

    #[command(flatten)]
    default: DefaultTemplate,

    #[command(flatten)]
    packets: PacketOptions,

    #[command(flatten)]
    which: Which,

    /// Only of this packet: number messages from its start
    #[arg(long, value_name = "P", conflicts_with_all = ["byte", "failed"])]
    packet: Option<u64>,

    /// Form of the explanation
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Which message.
#[derive(Args)]
#[group(multiple = false)]
struct Which {
    /// The message with this number [default: 0]
    #[arg(short, long, value_name = "N")]
    message: Option<u64>,

    /// The message that has this byte of the file
    #[arg(long, value_name = "OFFSET")]
    byte: Option<usize>,

    /// The first message that cannot be decoded; a bad packet before it is named
    #[arg(long)]
    failed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people; in colour on a terminal
    Table,
    /// One object
    Json,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let templates = self.default.of(self.templates.load()?)?;
        let file = self.packets.open(&self.file, &self.templates.feed)?;
        let at = self.find(&templates, &file)?;
        let mut outcome = Ok(());
        let mut decoder = self.templates.decoder(&templates);
        let each = |here: At, rest: &[u8], decoder: &mut tickwire_fast::Decoder| {
            if (here.packet, here.message) == (at.packet, at.message) {
                let mut trace = Trace::new(&templates, rest);
                let done = decoder.decode(rest, &mut trace);
                // If most of the file cannot be decoded, this one message is not at fault.
                let to_do = done.as_ref().err();
                let to_do =
                    to_do.and_then(|_| advice_beyond_messages(&file, &self.templates, &templates));
                outcome = self.show(here, rest, &trace, done, &templates, to_do);
                return Next::Stop;
            }
            match decoder.decode(rest, &mut ()) {
                Ok(len) => Next::Message(len),
                Err(_) => Next::Packet,
            }
        };
        let _told = each_message(&file, &mut decoder, each);
        outcome
    }

    /// Where the message is that is asked for.
    fn find(&self, templates: &Templates, file: &PacketFile) -> Result<At> {
        let mut found = None;
        let mut decoded = 0;
        let mut decoder = self.templates.decoder(templates);
        let each = |at: At, rest: &[u8], decoder: &mut tickwire_fast::Decoder| {
            let done = decoder.decode(rest, &mut ());
            let end = at.offset + done.as_ref().map_or(rest.len(), |len| *len);
            let is_it = match (self.packet, self.which.byte) {
                (Some(packet), _) => {
                    (packet, self.which.message.unwrap_or(0)) == (at.packet, at.message)
                }
                (None, Some(byte)) => (at.offset..end).contains(&byte),
                (None, None) if self.which.failed => done.is_err(),
                (None, None) => done.is_ok() && decoded == self.which.message.unwrap_or(0),
            };
            if is_it {
                found = Some(at);
                return Next::Stop;
            }
            match done {
                Ok(len) => {
                    decoded += 1;
                    Next::Message(len)
                }
                Err(_) => Next::Packet,
            }
        };
        let bad = each_message(file, &mut decoder, each).filter(|_| self.which.failed);
        if let (Some(bad), Some(_)) = (&bad, found) {
            let file = self.file.display();
            note(format_args!(
                "{file}: before the first message that fails, {bad}"
            ));
        }
        let is_bad = bad.is_some();
        found.ok_or_else(|| {
            let failure = match bad {
                Some(bad) => Failure::new(format_args!("{}: {bad}", self.file.display())).hint(
                    format_args!(
                        "no message fails, {decoded} can be decoded: frames or preambles are bad, which \
                         `--venue`, `--framing` and `--preamble` choose"
                    ),
                ),
                None => self.not_found(decoded),
            };
            match advice(file, &self.templates, templates) {
                Some(advice) => failure.hint(advice),
                None if is_bad && file.is_cut_off() => failure.hint(CUT_OFF),
                None => failure,
            }
        })
    }

    fn not_found(&self, decoded: u64) -> Failure {
        let file = self.file.display();
        match (self.packet, self.which.byte, self.which.failed) {
            (Some(packet), ..) => {
                let message = self.which.message.unwrap_or(0);
                Failure::new(format_args!(
                    "{file}: no message {message} in packet {packet}"
                ))
                .hint(
                    "`tickwire fast decode` lists the messages, `--failed` finds the first bad one",
                )
            }
            (None, Some(byte), _) => Failure::new(format_args!(
                "{file}: byte {byte} is in no message that is read"
            ))
            .hint("not read are lengths and preambles of packets, and messages behind a bad one in its packet"),
            (None, None, true) => Failure::new(format_args!(
                "{file}: no message fails: {decoded} can be decoded"
            ))
            .hint("`--message N` explains one of them"),
            (None, None, false) => {
                let messages = counted(decoded, "message", "messages");
                let last = match decoded.checked_sub(1) {
                    Some(last) => format!(", numbered from 0: the last is {last}"),
                    None => String::new(),
                };
                Failure::new(format_args!("{file}: {messages} can be decoded{last}"))
                    .hint("`tickwire fast decode` lists them, and says why the next one cannot be")
            }
        }
    }

    /// `to_do` is what to try with the whole file, which the message does not know.
    fn show(
        &self,
        at: At,
        rest: &[u8],
        trace: &Trace<'_>,
        done: Result<usize, DecodeError>,
        templates: &Templates,
        to_do: Option<String>,
    ) -> Result<()> {
        let explained = Explained {
            bytes: rest,
            offset: at.offset,
            rows: &trace.rows,
        };
        let error = done.as_ref().err().map(|error| DecodeError {
            offset: at.offset + error.offset,
            ..error.clone()
        });
        let advice = error.as_ref().map(|error| {
            let of_message = Advice::new(error, &trace.rows, templates);
            match &to_do {
                Some(to_do) => Advice {
                    to_do: Cow::Borrowed(to_do),
                    ..of_message
                },
                None => of_message,
            }
        });
        let mut out = stdout();
        let file = self.file.display();
        if self.output == Form::Json {
            let object = json!({
                "file": file.to_string(),
                "packet": at.packet,
                "message": at.message,
                "offset": at.offset,
                "length": done.as_ref().ok(),
                "template": trace.template,
                "rows": explained.to_json(),
                "error": error.as_ref().zip(advice.as_ref()).map(|(error, advice)| json!({
                    "code": format!("{:?}", error.code),
                    "offset": error.offset,
                    "field": error.field.as_deref(),
                    "element": error.element,
                    "expected": advice.expected,
                    "rule": advice.rule,
                    "to_do": advice.to_do,
                })),
            });
            writeln!(out, "{object:#}")?;
        } else {
            let At {
                packet,
                message,
                offset,
            } = at;
            let length = match &done {
                Ok(len) => format!(", {len} bytes"),
                Err(_) => String::new(),
            };
            writeln!(
                out,
                "{file}: packet {packet}, message {message} in it, byte {offset}{length}\n"
            )?;
            let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            explained.write_table(&mut out, colour)?;
            if let Some((error, advice)) = error.as_ref().zip(advice.as_ref()) {
                writeln!(out, "\n{error}")?;
                paragraph(&mut out, "expected", &advice.expected)?;
                paragraph(&mut out, "rule", &advice.rule)?;
                paragraph(&mut out, "to do", &advice.to_do)?;
            }
        }
        out.flush()?;
        match error {
            None => Ok(()),
            Some(error) => {
                let failure = Failure::new(format_args!(
                    "{file}: packet {}, message {}: {error}",
                    at.packet, at.message
                ));
                Err(match &to_do {
                    Some(to_do) => failure.hint(to_do),
                    None => failure,
                })
            }
        }
    }
}

/// A heading and its text, in lines that a terminal has room for.
fn paragraph(out: &mut impl Write, heading: &str, text: &str) -> std::io::Result<()> {
    let mut heading = heading;
    let mut line = String::new();
    for word in text.split(' ') {
        if line.len() + word.len() > PARAGRAPH_WIDTH {
            writeln!(out, "  {heading:<9}{line}")?;
            (heading, line) = ("", String::new());
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(out, "  {heading:<9}{line}")
}

const PARAGRAPH_WIDTH: usize = 84;

const SAMPLE: &str = "\
Examples:
  tickwire fast explain feed.dat --templates feed.xml --message 41
  tickwire fast explain feed.dat --templates feed.xml --failed
  tickwire fast explain feed.dat --templates feed.xml --byte 2117
  tickwire fast explain feed.dat -t feed.xml --packet 3 --message 0 -o json

A message of few fields:
  $ tickwire fast explain simple.dat --templates simple.xml --message 6
  simple.dat: packet 0, message 6 in it, byte 86, 13 bytes

  byte  hex       bit   field             operator     before    after     value
                        message Change
    86  4f c0             presence map                                     1001111 1000000
    88  83        0=1     template id     copy         2         3         3
                          MessageType     constant 13                      13
                  1=0     SequenceNumber  increment    6         7         7
                  2=0     Timestamp       copy         34200002  34200002  34200002
    89  2a 5d eb  3=1     OrderId         copy         700501    700139    700139
    92  15 f0     4=1     Volume          copy         2400      2800      2800
    94  0b c7     5=1     Price           copy         3340      1479      1479
    96  82        6=1     ExchangeId      copy         1         2         2
    97  07 fb     7=1     SecurityId      copy         1093      1019      1019
                  8=0     SecurityType    copy         1         1         1
                  9=0     SessionId       copy         2         2         2
                  10=0    Side            copy         1         1         1

And how one ends that cannot be decoded:
   146  c0                presence map                                     1000000
   147  81        0=1     template id     copy         undefined 1         1
   148  84                MsgSeqNum                                        4
   149  7f 7f ..          SendingTime                                      <-- D2: integer out of ...

  byte 149, template MarketData, field SendingTime: D2: integer out of the range of its type
    expected  uInt32 (0..4294967295)
    rule      D2: integer out of the range of its type (FAST 1.1 §6.2.1)
    to do     look at the rows above: ...";
