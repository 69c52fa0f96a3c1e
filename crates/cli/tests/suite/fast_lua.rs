//! `tickwire fast lua`: what tshark shows with the dissector is what our decoder decodes.

use std::io::Write;
use std::process::{Command, Output};

use crate::common::{Folder, tickwire};
use tickwire_fast::{
    Decoder, DecoderOptions, Encoder, Message, Mode, Record, ResetPolicy, Templates, Value,
    generate,
};
use tickwire_fast_conformance::{Choices, Messages, Shape, Spelling, templates};
use tickwire_feed::{Chunk, PacketNumber, Preamble, append_chunk};

/// A field as a filter finds it: name and value.
type Shown = (String, String);

/// UDP datagrams in a pcap file of IPv4 packets.
#[derive(Default)]
struct Pcap(Vec<u8>);

impl Pcap {
    fn push(&mut self, port: u16, payload: &[u8]) {
        if self.0.is_empty() {
            let header = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, LINK_IPV4];
            self.0.extend(header.map(u32::to_le_bytes).concat());
        }
        let be = |value: usize| u16::try_from(value).expect("a datagram").to_be_bytes();
        let total = 28 + payload.len();
        let ip = [
            &[0x45, 0][..],
            &be(total),
            &[0, 0, 0, 0, 1, 17, 0, 0, 127, 0, 0, 1, 239, 0, 0, 1],
        ];
        let udp = [
            &be(40_000)[..],
            &port.to_be_bytes(),
            &be(total - 20),
            &[0, 0],
            payload,
        ];
        let len = u32::try_from(total).expect("a datagram");
        self.0
            .extend([0, 0, len, len].map(u32::to_le_bytes).concat());
        self.0.extend(ip.concat());
        self.0.extend(udp.concat());
    }
}

/// One feed: templates, their dissector's name, and packets.
struct Feed {
    name: String,
    port: u16,
    templates: Templates,
    reset: ResetPolicy,
    packets: Vec<Vec<u8>>,
}

const POLICIES: [(ResetPolicy, &str); 4] = [
    (ResetPolicy::Packet, "packet"),
    (ResetPolicy::Message, "message"),
    (ResetPolicy::Template, "template"),
    (ResetPolicy::Never, "never"),
];

/// Random templates with random messages, and the dissector's script.
fn random_feed(folder: &Folder, number: u16) -> Feed {
    let seed = u64::from(number);
    let shape = [Shape::Standard, Shape::Extension, Shape::Dialect][usize::from(number % 3)];
    let (reset, word) = POLICIES[usize::from(number / 3 % 4)];
    let name = format!("feed{number}");
    let port = 30_000 + number;
    let xml = templates(&mut Choices::from_seed(seed), shape, Spelling::Standard);
    folder.write(&format!("{name}.xml"), xml.as_bytes());
    write_script(folder, &name, port, &["--reset", word]);
    let templates = Templates::parse(&xml, Mode::Lenient).expect("random templates are good");
    let mut feed = Feed {
        name,
        port,
        templates,
        reset,
        packets: Vec::new(),
    };
    feed.packets = random_packets(&feed.templates, shape, reset, seed);
    feed
}

/// Up to 4 packets of up to 5 messages; a message that has no encoding ends a stream that is never reset.
fn random_packets(
    templates: &Templates,
    shape: Shape,
    reset: ResetPolicy,
    seed: u64,
) -> Vec<Vec<u8>> {
    let mut messages = Messages::new(templates, shape, Choices::from_seed(!seed));
    let mut encoder = Encoder::with_reset(templates, reset);
    let mut message = Message::new();
    let mut packets = Vec::new();
    for _ in 0..4 {
        if reset == ResetPolicy::Packet {
            encoder.reset();
        }
        let mut packet = Vec::new();
        for _ in 0..5 {
            messages.fill(&mut message).expect("it suits its template");
            if encoder.encode(&message, &mut packet).is_err() {
                break;
            }
        }
        packets.push(packet);
    }
    packets.retain(|packet| !packet.is_empty());
    packets
}

fn write_script(folder: &Folder, name: &str, port: u16, options: &[&str]) {
    let (xml, port) = (format!("{name}.xml"), port.to_string());
    let command = ["fast", "lua", &xml, "--name", name, "--port", &port];
    let run = tickwire(folder, &[&command[..], options].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    folder.write(&format!("{name}.lua"), run.stdout.as_bytes());
}

impl Feed {
    /// What our decoder finds.
    fn expected(&self) -> Vec<Shown> {
        let options = DecoderOptions {
            reset: self.reset,
            ..DecoderOptions::default()
        };
        let mut decoder = Decoder::with_options(&self.templates, options);
        let mut shown = Vec::new();
        let mut message = Message::new();
        for packet in &self.packets {
            decoder.begin_packet();
            let mut rest = &packet[..];
            while !rest.is_empty() {
                let len = decoder
                    .decode(rest, &mut message)
                    .expect("our own encoding");
                let template = message.template().expect("of a template");
                shown.push(("template".to_owned(), template.name().to_owned()));
                flatten(message.record(), &mut shown);
                rest = &rest[len..];
            }
        }
        shown
    }
}

fn flatten(record: Record<'_>, shown: &mut Vec<Shown>) {
    for (field, value) in record {
        let name = generate::member_name(field.name());
        let mut push = |text: String| shown.push((name.clone(), text));
        match value {
            Value::Unsigned(value) => push(value.to_string()),
            Value::Signed(value) => push(value.to_string()),
            Value::Text(text) => push(text.to_owned()),
            Value::Bytes(bytes) => push(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
            Value::Decimal(value) => {
                push(value.to_string());
                shown.push((format!("{name}.mantissa"), value.mantissa().to_string()));
                shown.push((format!("{name}.exponent"), value.exponent().to_string()));
            }
            Value::Group(inner) => {
                push(String::new());
                flatten(inner, shown);
            }
            Value::Sequence(sequence) => {
                push(sequence.len().to_string());
                sequence.iter().for_each(|element| flatten(element, shown));
            }
            Value::Template(template, inner) => {
                shown.push(("template".to_owned(), template.name().to_owned()));
                flatten(inner, shown);
            }
        }
    }
}

/// The fields of `name` that tshark shows, or what it complains of.
fn fields_of(pdml: &str, name: &str) -> Vec<Shown> {
    let prefix = format!("<field name=\"{name}.");
    let aside = ["message", "template_id", "presence_map", "packet_number"];
    let mut shown = Vec::new();
    for line in pdml
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix(&prefix))
    {
        let (field, rest) = line.split_once('"').expect("a quoted name");
        let show = rest.split_once(" show=\"").map_or("", |(_, show)| show);
        let show = show.split('"').next().unwrap_or_default();
        if !aside.contains(&field) {
            shown.push((field.to_owned(), unescape(show)));
        }
    }
    shown
}

fn unescape(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    let unescape = |text: String, (entity, char): &(&str, &str)| text.replace(entity, char);
    entities.iter().fold(text.to_owned(), unescape)
}

/// Whether tshark's name and value are those of a field. It escapes what is not printable in its own way, and a name that
/// fields of several types have gets a number.
fn is_same(ours: &Shown, theirs: &Shown) -> bool {
    let is_name = theirs.0 == ours.0
        || theirs.0.split('.').count() == ours.0.split('.').count()
            && theirs.0.starts_with(&format!(
                "{}_",
                ours.0.split('.').next().unwrap_or_default()
            ));
    let is_plain = ours
        .1
        .bytes()
        .all(|byte| (b' '..0x7f).contains(&byte) && byte != b'\\');
    let number = |text: &str| text.parse::<f64>().ok();
    let is_value = match (number(&ours.1), number(&theirs.1)) {
        _ if ours.1 == theirs.1 || !is_plain => true,
        (Some(ours), Some(theirs)) => (ours - theirs).abs() <= ours.abs() * 1e-13,
        _ => theirs.1 == "True" && ours.1 == "1" || theirs.1 == "False" && ours.1 == "0",
    };
    is_name && is_value
}

/// What tshark shows with a script for each feed; nothing without one.
fn dissect(test: &str, folder: &Folder, names: &[&str], pcap: &Pcap) -> Option<String> {
    folder.write("feed.pcap", &pcap.0);
    let mut tshark = Command::new("tshark");
    tshark.current_dir(folder.path());
    // Its personal plugins would be loaded, too.
    tshark.env("HOME", folder.path());
    for name in names {
        tshark.args(["-X", &format!("lua_script:{name}.lua")]);
    }
    let output = run(test, tshark.args(["-r", "feed.pcap", "-T", "pdml"]))?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}");
    assert!(!complaint.contains("Lua"), "{complaint}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What tshark comes to. Without one the test has not run: that is said even though it passes, and where
/// `TICKWIRE_REQUIRE_TSHARK` is set, as in `./check`, it fails.
fn run(test: &str, tshark: &mut Command) -> Option<Output> {
    match tshark.output() {
        Ok(output) => Some(output),
        Err(error) => {
            let problem = format!("NOT RUN: {test}: tshark does not start: {error}");
            assert!(
                std::env::var_os("TICKWIRE_REQUIRE_TSHARK").is_none(),
                "{problem}"
            );
            // Past the harness, which keeps what passing tests print to itself.
            writeln!(std::io::stderr(), "{problem}").expect("standard error is open");
            None
        }
    }
}

fn check(feed: &Feed, pdml: &str) -> usize {
    let (expected, shown) = (feed.expected(), fields_of(pdml, &feed.name));
    for (at, (ours, theirs)) in expected.iter().zip(&shown).enumerate() {
        let before = &shown[at.saturating_sub(5)..=at];
        assert!(
            is_same(ours, theirs),
            "{}: {ours:?} is shown as {theirs:?}, after {before:?}",
            feed.name
        );
    }
    assert_eq!(expected.len(), shown.len(), "{}", feed.name);
    expected.len()
}

#[test]
fn tshark_shows_what_we_decode_of_random_templates_under_every_reset_policy() {
    let folder = Folder::new("luarandom");
    let feeds: Vec<_> = (0..48).map(|number| random_feed(&folder, number)).collect();
    let mut pcap = Pcap::default();
    for feed in &feeds {
        feed.packets
            .iter()
            .for_each(|packet| pcap.push(feed.port, packet));
    }
    let names: Vec<_> = feeds.iter().map(|feed| &*feed.name).collect();
    let Some(pdml) = dissect("random templates under tshark", &folder, &names, &pcap) else {
        return;
    };
    let fields: usize = feeds.iter().map(|feed| check(feed, &pdml)).sum();
    assert!(fields > 2_000, "{fields} fields are too few to tell");
}

#[test]
fn tshark_shows_what_we_decode_of_both_feeds_that_we_generate() {
    let folder = Folder::new("luaseed");
    let mut pcap = Pcap::default();
    let mut feeds = Vec::new();
    for (port, kind) in [(30_001, "simple"), (30_002, "complex")] {
        folder.generate(kind, &["--messages", "120"]);
        let name = format!("{kind}feed");
        let xml = folder.read(&format!("{kind}.xml"));
        folder.write(&format!("{name}.xml"), &xml);
        write_script(&folder, &name, port, &[]);
        let file = folder.read(&format!("{kind}.dat"));
        let mut packets = Vec::new();
        let mut rest = &file[..];
        while let Some((len, after)) = rest.split_first_chunk::<4>() {
            let (packet, next) = after.split_at(u32::from_le_bytes(*len) as usize);
            pcap.push(port, packet);
            packets.push(packet.to_vec());
            rest = next;
        }
        let xml = String::from_utf8(xml).expect("text");
        feeds.push(Feed {
            name,
            port,
            templates: Templates::parse(&xml, Mode::Lenient).expect("ours"),
            reset: ResetPolicy::Packet,
            packets,
        });
    }
    let names = ["simplefeed", "complexfeed"];
    let Some(pdml) = dissect("both generated feeds under tshark", &folder, &names, &pcap) else {
        return;
    };
    feeds
        .iter()
        .for_each(|feed| assert!(check(feed, &pdml) > 1_000));
}

#[test]
fn a_preamble_is_taken_off_and_a_bad_message_is_marked() {
    let folder = Folder::new("luabad");
    let xml =
        r#"<templates><template name="T" id="1"><uInt32 name="MDEntryPx"/></template></templates>"#;
    folder.write("tiny.xml", xml.as_bytes());
    write_script(&folder, "tiny", 30_001, &["--preamble", "seq"]);
    let mut pcap = Pcap::default();
    pcap.push(30_001, &[7, 0, 0, 0, 0xc0, 0x81, 0x85]);
    pcap.push(30_001, &[8, 0, 0, 0, 0xc0, 0x81, 0x7f, 0x7f]);
    let Some(pdml) = dissect("a bad message under tshark", &folder, &["tiny"], &pcap) else {
        return;
    };
    assert!(pdml.contains("name=\"tiny.packet_number\""), "{pdml}");
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let shown = fields_of(&pdml, "tiny");
    assert_eq!(
        shown[..2],
        [field("template", "T"), field("md_entry_px", "5")]
    );
    assert!(
        pdml.contains("byte 8 in field MDEntryPx: the bytes end before the message does"),
        "{pdml}"
    );
}

#[test]
fn opras_messages_without_ids_are_of_the_default_template() {
    let folder = Folder::new("luaopra");
    let xml = r#"<template name="OPRA"><uInt32 name="Kind"><copy/></uInt32><uInt32 name="Price"/></template>"#;
    folder.write("opra_feed.xml", xml.as_bytes());
    let refused = tickwire(&folder, &["fast", "lua", "opra_feed.xml"]);
    assert_eq!(refused.status, 1);
    assert!(
        refused.stderr.contains("--default-template"),
        "{}",
        refused.stderr
    );
    let options = ["--venue", "opra", "--default-template", "OPRA"];
    write_script(&folder, "opra_feed", 30_001, &options);
    let messages = [&[0xa0, 0x85, 0x87][..], &[0x80, 0x88]];
    let templates = Templates::parse(xml, Mode::Lenient).expect("sound");
    let feed = Feed {
        name: "opra_feed".to_owned(),
        port: 30_001,
        templates: templates.with_default("OPRA").expect("it is there"),
        reset: ResetPolicy::Packet,
        packets: vec![messages.concat()],
    };
    let mut packet = Vec::new();
    Preamble::Opra
        .append_packet(PacketNumber(1), &messages, &mut packet)
        .expect("short");
    let mut pcap = Pcap::default();
    pcap.push(feed.port, &packet);
    let Some(pdml) = dissect("OPRA under tshark", &folder, &[&feed.name], &pcap) else {
        return;
    };
    assert_eq!(check(&feed, &pdml), 6);
}

/// The id of the template before holds until it is lost; where one may have been, the default does not.
#[test]
fn a_default_template_beside_others_is_that_of_messages_before_any_id() {
    let folder = Folder::new("luadefault");
    let xml = r#"<templates>
        <template name="Own" id="1"><uInt32 name="A"/></template>
        <template name="Other" id="2"><uInt32 name="B"/></template></templates>"#;
    folder.write("both.xml", xml.as_bytes());
    let options = ["--default-template", "Own", "--reset", "never"];
    write_script(&folder, "both", 30_001, &options);
    let mut pcap = Pcap::default();
    pcap.push(30_001, &[0x80, 0x85, 0xc0, 0x82, 0x86, 0x80, 0x87]);
    pcap.push(30_001, &[0xc0, 0x83]);
    pcap.push(30_001, &[0x80, 0x85]);
    let Some(pdml) = dissect("a default under tshark", &folder, &["both"], &pcap) else {
        return;
    };
    let shown = fields_of(&pdml, "both");
    let shown: Vec<_> = shown
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let own = [("template", "Own"), ("a", "5")];
    let others = [
        ("template", "Other"),
        ("b", "6"),
        ("template", "Other"),
        ("b", "7"),
    ];
    assert_eq!(shown[..6], [&own[..], &others].concat());
    let marks = shown[6..].iter().filter(|(name, _)| *name == "malformed");
    assert_eq!(marks.count(), 2, "{shown:?}");
    assert!(
        !shown[6..].iter().any(|(name, _)| *name == "a"),
        "{shown:?}"
    );
}

/// A part of a B3 packet: chunk `this` of `count`.
fn part(this: u16, count: u16, bytes: &[u8]) -> Vec<u8> {
    let chunk = Chunk {
        index: this - 1,
        count,
    };
    let mut part = Vec::new();
    append_chunk(PacketNumber(7), chunk, bytes, &mut part).expect("short");
    part
}

#[test]
fn each_part_of_a_b3_packet_is_shown_by_itself() {
    let folder = Folder::new("luab3");
    let xml = r#"<template name="T" id="1"><uInt32 name="MDEntryPx"><copy value="9"/></uInt32></template>"#;
    folder.write("parts.xml", xml.as_bytes());
    write_script(&folder, "parts", 30_001, &["--venue", "b3"]);
    let five = part(1, 1, &[0xe0, 0x81, 0x85]);
    let initial = part(1, 1, &[0xc0, 0x81]);
    let chunk = part(1, 2, &[0xe0, 0x81]);
    let cut = part(1, 1, &[0xe0, 0x81]);
    let mut pcap = Pcap::default();
    // No part builds on the one before, or reads on in the next.
    pcap.push(30_001, &[&five[..], &initial].concat());
    pcap.push(30_001, &[&chunk[..], &five].concat());
    pcap.push(30_001, &[&cut[..], &five].concat());
    pcap.push(30_001, &[&five[..], &cut[..11]].concat());
    let Some(pdml) = dissect("parts under tshark", &folder, &["parts"], &pcap) else {
        return;
    };
    let shown = fields_of(&pdml, "parts");
    let values = shown.iter().filter(|(name, _)| name == "md_entry_px");
    let values: Vec<_> = values.map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["5", "9", "5", "5", "5"]);
    let problems = shown.iter().filter(|(name, _)| name == "malformed").count();
    assert_eq!(problems, 2, "{pdml}");
    for text in [
        "Chunk 1 of 2, not decoded",
        "byte 12 in field MDEntryPx: the bytes end before the message does",
        "byte 13: no preamble of B3",
    ] {
        assert!(pdml.contains(text), "{text}: {pdml}");
    }
}

#[test]
fn a_name_that_wireshark_would_not_take_is_refused() {
    let folder = Folder::new("luaname");
    folder.generate("simple", &["--messages", "1"]);
    for name in ["", "Feed", "9", "f", "a b", "a\"b", "feed.x", "ip", "frame"] {
        let run = tickwire(&folder, &["fast", "lua", "simple.xml", "--name", name]);
        assert_eq!(run.status, 2, "{name}: {}", run.stdout);
    }
}

#[test]
fn a_name_that_only_this_wireshark_has_is_told_when_the_script_is_loaded() {
    let test = "a protocol's name under tshark";
    let folder = Folder::new("luataken");
    folder.generate("simple", &["--messages", "1"]);
    let xml = folder.read("simple.xml");
    folder.write("mysql.xml", &xml);
    write_script(&folder, "mysql", 30_001, &[]);
    let mut pcap = Pcap::default();
    pcap.push(30_001, &[0x80]);
    folder.write("feed.pcap", &pcap.0);
    let mut tshark = Command::new("tshark");
    tshark
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .args(["-X", "lua_script:mysql.lua", "-r", "feed.pcap"]);
    if let Some(output) = run(test, &mut tshark) {
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(complaint.contains("--name fast_mysql"), "{complaint}");
    }
}

/// Link type of packets that begin with their IPv4 header.
const LINK_IPV4: u32 = 228;
