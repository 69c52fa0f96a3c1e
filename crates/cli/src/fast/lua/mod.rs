//! `tickwire fast lua`: a Wireshark dissector of a feed.

mod emit;

use std::io::Write;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use clap::Args;
use emit::Dissector;
use tickwire_fast::ResetPolicy;
use tickwire_feed::{Framing, Preamble};

use super::source::{DefaultTemplate, FeedOptions, TemplateFile};
use crate::failure::{Failure, Result};
use crate::output::stdout;

/// Print a Wireshark dissector for a feed
#[derive(Args)]
#[command(
    long_about = "\
Prints a dissector in Lua that shows the feed's messages in Wireshark and tshark: presence maps, all \
operators, groups, sequences, decimals and inner templates, with the dictionaries that the reset policy \
says. It needs nothing but the file.

Every field has a name to filter by, made of the dissector's name and the field's: MDEntryPx of a dissector \
called `complex` is `complex.md_entry_px`, whichever template and sequence it is in. A decimal is a number \
to filter by and has its exact `.mantissa` and `.exponent` below it; a byte vector is a string of \
hexadecimal digits. A message that cannot be decoded is marked as malformed, with the byte, the field and \
the rule.

The feed's port is given here or, for any port, by Wireshark's Decode As. Messages in chunks (B3) are shown \
undecoded. Where dictionaries outlive a packet (`--reset template` or `never`) a capture must begin where \
the stream does, and each destination is a stream.",
    after_help = "\
Examples:
  tickwire fast lua feed.xml --name feed --port 30001 > feed.lua
  tshark -X lua_script:feed.lua -r feed.pcap
  tshark -X lua_script:feed.lua -r feed.pcap \\
      -Y 'feed.md_entry_px > 138.5' -T fields -e feed.security_id
  tickwire fast lua moex.xml --name moex --venue moex-spectra \\
      --group 239.192.1.1 --port 16041

In Wireshark: Help > About > Folders shows the folder of personal Lua plugins; put the file there."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    templates: TemplateFile,

    #[command(flatten)]
    default: DefaultTemplate,

    /// What the dissector and its filters are called: a small letter, then small letters, digits and
    /// underscores, 2 to 32 in all; not the name of a protocol that Wireshark has, such as `ip` or `simple`
    #[arg(long, value_name = "NAME", default_value = "feed", value_parser = parse_name)]
    name: String,

    /// UDP port of the feed; may be given several times
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Vec<u16>,

    /// Only packets to this group
    #[arg(long, value_name = "ADDR")]
    group: Option<Ipv4Addr>,

    #[command(flatten)]
    feed: FeedOptions,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let templates = self.default.of(self.templates.load()?)?;
        if !templates.iter().any(|template| template.has_messages()) {
            let failure = Failure::new("no template has an id: there are no messages to show");
            return Err(failure.hint(
                "an `id` attribute makes a template one of messages; if they carry no id, \
                 `--default-template` names their template",
            ));
        }
        if matches!(
            self.feed.venue().framing,
            Framing::BlockSize | Framing::Step
        ) {
            let failure = Failure::usage("the venue's packets come in a stream, not in datagrams");
            return Err(failure.hint("a dissector is for feeds over UDP; leave `--venue` away"));
        }
        let dissector = Dissector {
            name: &self.name,
            ports: &self.port,
            group: self.group,
            reset: match self.feed.reset() {
                ResetPolicy::Packet => "packet",
                ResetPolicy::Message => "message",
                ResetPolicy::Template => "template",
                ResetPolicy::Never => "never",
            },
            preamble: match self.feed.preamble() {
                Preamble::None => "none",
                Preamble::SequenceNumber => "seq",
                Preamble::Cme => "cme",
                Preamble::B3 => "b3",
                Preamble::Opra => "opra",
            },
        };
        let mut out = stdout();
        out.write_all(dissector.emit(&templates).as_bytes())?;
        Ok(out.flush()?)
    }
}

/// Names that Wireshark takes and that cannot break out of the script.
fn parse_name(text: &str) -> Result<String, String> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let starts = text.starts_with(|first: char| first.is_ascii_lowercase());
    if !starts || !LEN.contains(&text.len()) || !text.bytes().all(is_word) {
        return Err(
            "a name is a small letter, then small letters, digits and underscores, 2 to 32 in all"
                .to_owned(),
        );
    }
    match TAKEN.contains(&text) {
        true => Err(format!(
            "Wireshark has a protocol of that name; `fast_{text}` is free"
        )),
        false => Ok(text.to_owned()),
    }
}

/// Wireshark takes no shorter names.
const LEN: RangeInclusive<usize> = 2..=32;
/// Names that every Wireshark has and that somebody may think of. Of all others the script tells when it is loaded.
const TAKEN: [&str; 24] = [
    "arp", "data", "dns", "eth", "fix", "frame", "http", "icmp", "igmp", "ip", "ipv6", "json",
    "ntp", "ptp", "quic", "rtcp", "rtp", "rtps", "simple", "sll", "tcp", "tls", "udp", "vlan",
];
