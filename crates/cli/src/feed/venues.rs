//! `tickwire feed venues`: the presets that `--venue` names.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};
use tickwire_fast::ResetPolicy;
use tickwire_feed::{Framing, Preamble, VENUES, Venue};

use crate::failure::Result;
use crate::output::{ListFormat, stdout, write_list};

/// List the presets of venues
#[derive(Args)]
#[command(
    long_about = "\
Lists what `--venue` sets: how packets follow each other in a file or stream (`--framing`), what precedes \
the messages of each packet (`--preamble`), and when dictionaries are reset (`--reset`). Each of the three \
can be given beside `--venue`, and then holds.

Datagrams of a capture (pcap, pcapng) are packets as they are; `u32le` says how files of ours keep them.",
    after_help = "\
Examples:
  tickwire feed venues
  tickwire feed venues -o json | jq '.[] | select(.preamble == \"seq\").venue'
  tickwire fast decode feed.pcap --templates moex.xml --venue moex-asts"
)]
pub(crate) struct Arguments {
    /// Form of the list
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let rows: Vec<_> = VENUES.iter().map(row).collect();
        let mut out = stdout();
        write_list(&mut out, self.output, &COLUMNS, &rows)?;
        Ok(out.flush()?)
    }
}

/// With the words that the options take.
fn row(venue: &Venue) -> Vec<Value> {
    let framing = match venue.framing {
        Framing::None => "none",
        Framing::U32Le => "u32le",
        Framing::BlockSize => "block",
        Framing::Step => "step",
    };
    let preamble = match venue.preamble {
        Preamble::None => "none",
        Preamble::SequenceNumber => "seq",
        Preamble::Cme => "cme",
        Preamble::B3 => "b3",
        Preamble::Opra => "opra",
    };
    let reset = match venue.reset {
        ResetPolicy::Packet => "packet",
        ResetPolicy::Message => "message",
        ResetPolicy::Template => "template",
        ResetPolicy::Never => "never",
    };
    [
        venue.name,
        framing,
        preamble,
        reset,
        venue.feeds,
        venue.notes,
    ]
    .map(|text| json!(text))
    .to_vec()
}

const COLUMNS: [&str; 6] = ["venue", "framing", "preamble", "reset", "feeds", "notes"];
