//! Each venue's preset, from messages to what `tickwire fast decode` and the feed handler make of a file in its form.

use crate::common::{Folder, Run, tickwire};
use etherparse::PacketBuilder;
use tickwire_fast::{Decimal, Encoder, Message, Mode, ResetPolicy, Templates, json};
use tickwire_feed::{PacketNumber, VENUES, Venue};

/// Messages of a feed, some to a packet.
struct Feed {
    packets: Vec<Vec<Message>>,
}

fn style(venue: &str) -> &'static str {
    match venue {
        "moex-spectra" | "moex-asts" => include_str!("venues/moex.xml"),
        "t7" | "plain" => include_str!("venues/t7.xml"),
        "sse" | "szse" => include_str!("venues/step.xml"),
        "cqg" | "cqg-tcp" | "b3" => include_str!("venues/cqg.xml"),
        _ => include_str!("venues/cme.xml"),
    }
}

/// 12 packets of 3 messages, or of one where an exchange sends no more; some with many entries.
fn feed(templates: &Templates, venue: &Venue) -> Feed {
    let is_single = matches!(venue.name, "moex-spectra" | "moex-asts" | "b3");
    let mut number = 0u32;
    let packets = (0..12).map(|packet| {
        let mut messages = Vec::new();
        if venue.reset == ResetPolicy::Template {
            messages.push(packet_header(templates, packet));
        }
        for _ in 0..if is_single { 1 } else { 3 } {
            number += 1;
            let entries = if number.is_multiple_of(5) {
                400
            } else {
                number % 4
            };
            messages.push(refresh(templates, venue, number, entries));
        }
        messages
    });
    Feed {
        packets: packets.collect(),
    }
}

fn packet_header(templates: &Templates, number: u32) -> Message {
    let mut message = Message::new();
    let template = templates.by_name("PacketHeader").expect("T7 has one");
    let mut header = message.build(template);
    header.set("SenderCompID", 75u32).expect("fits");
    let number = number.to_be_bytes();
    header.set("PacketSeqNum", &number[..]).expect("fits");
    header.set("SendingTime", &[7u8; 8][..]).expect("fits");
    message
}

fn refresh(templates: &Templates, venue: &Venue, number: u32, entries: u32) -> Message {
    let template = templates
        .iter()
        .find(|template| {
            template
                .fields()
                .any(|field| field.name() == "GroupMDEntries")
        })
        .expect("each style has one");
    let mut message = Message::new();
    let mut build = message.build(template);
    // Constants, which not each style has.
    let _absent = build.set("ApplVerID", "9").is_err();
    let _absent = build.set("MessageType", "X").is_err();
    build.set("MsgSeqNum", number).expect("fits");
    let time = 20_261_121_130_000_000 + u64::from(number) * 17;
    build.set("SendingTime", time).expect("fits");
    let fill = |entry: &mut tickwire_fast::Builder<'_>, at: u32| {
        let symbol = format!("SEC{}", 1_000 + (at + number) % 7);
        if at % 3 != 2 {
            entry.set("Symbol", symbol.as_str())?;
        }
        entry.set("MDEntryType", if at.is_multiple_of(2) { "0" } else { "1" })?;
        if at % 4 != 3 {
            let mantissa = 10_000 - i64::from(at) * 25 + i64::from(number);
            let price = Decimal::new(mantissa, -2).expect("small");
            entry.set("MDEntryPx", price)?;
            entry.set("MDEntrySize", at * 100 + number)?;
        }
        if venue.name.starts_with("moex") || venue.name == "b3" {
            entry.set("Extra", &[0x80, 0x01, b'8', b'='][..])?;
        }
        Ok(())
    };
    build
        .sequence("GroupMDEntries", 0..entries, fill)
        .expect("fits");
    message
}

/// The feed as the venue sends it, a frame a packet, and as JSON lines.
fn encode(templates: &Templates, venue: &Venue, feed: &Feed) -> (Vec<Vec<u8>>, String) {
    let mut encoder = Encoder::with_reset(templates, venue.reset);
    let (mut frames, mut lines) = (Vec::new(), String::new());
    for (number, packet) in (0..).zip(&feed.packets) {
        if venue.reset == ResetPolicy::Packet {
            encoder.reset();
        }
        let mut messages: Vec<Vec<u8>> = Vec::new();
        for (at, message) in packet.iter().enumerate() {
            let mut bytes = Vec::new();
            if venue.reset == ResetPolicy::Template && at == 1 {
                encoder.encode_reset(&mut bytes);
                lines.push_str("{}\n");
            }
            encoder
                .encode(message, &mut bytes)
                .expect("it can be encoded");
            messages.push(bytes);
            json::write(message, &mut lines).expect("text takes all");
            lines.push('\n');
        }
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        let mut frame = Vec::new();
        // OPRA's lengths have room for long messages at the end only: one packet each.
        let parts = if venue.name == "opra" {
            messages.chunks(1)
        } else {
            messages.chunks(99)
        };
        for part in parts {
            let number = PacketNumber(number);
            venue
                .append_packet(number, part, &mut frame)
                .expect("it fits");
        }
        frames.push(frame);
    }
    (frames, lines)
}

fn encoded(venue: &Venue) -> (Vec<Vec<u8>>, String) {
    let templates = Templates::parse(style(venue.name), Mode::Lenient).expect("sound");
    // OPRA messages that share a packet would share dictionaries: here none do.
    let mut feed = feed(&templates, venue);
    if venue.name == "opra" {
        let alone = |message| vec![message];
        feed.packets = feed.packets.into_iter().flatten().map(alone).collect();
    }
    encode(&templates, venue, &feed)
}

fn decode(folder: &Folder, file: &str, options: &[&str]) -> Run {
    let decode = ["fast", "decode", file, "-t", "t.xml", "-o", "jsonl"];
    tickwire(folder, &[&decode[..], options].concat())
}

fn venue(name: &str) -> &'static Venue {
    Venue::find(name).expect("a preset")
}

#[test]
fn every_preset_reads_what_its_venue_sends() {
    let folder = Folder::new("presets");
    for venue in VENUES {
        let (frames, lines) = encoded(venue);
        folder.write("t.xml", style(venue.name).as_bytes());
        folder.write("feed.dat", &frames.concat());
        let run = decode(&folder, "feed.dat", &["--venue", venue.name]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", venue.name);
        assert_eq!(run.stdout, lines, "{}", venue.name);

        let handle = [
            "feed",
            "run",
            "-t",
            "t.xml",
            "--file",
            "feed.dat",
            "--decode-only",
        ];
        let options = ["-o", "json", "--venue", venue.name];
        let run = tickwire(&folder, &[&handle[..], &options].concat());
        assert_eq!(run.status, 0, "{}: {}", venue.name, run.stderr);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        let messages = lines.lines().filter(|line| *line != "{}").count();
        assert_eq!(report["decoded"], messages, "{}", venue.name);
        assert_eq!(report["malformed"], 0, "{}", venue.name);
    }
}

#[test]
fn a_lost_packet_costs_its_messages_and_no_others() {
    let folder = Folder::new("lost");
    for venue in VENUES.iter().filter(|venue| venue.name != "plain") {
        let (mut frames, lines) = encoded(venue);
        folder.write("t.xml", style(venue.name).as_bytes());
        let a_packet = lines.lines().count() / frames.len();
        frames.remove(5);
        folder.write("feed.dat", &frames.concat());
        let run = decode(&folder, "feed.dat", &["--venue", venue.name]);
        let told = match venue.preamble.has_number() {
            true => run.stderr.starts_with("1 packet missing: "),
            false => run.stderr.is_empty(),
        };
        assert!(run.status == 0 && told, "{}: {}", venue.name, run.stderr);
        let kept = lines
            .lines()
            .enumerate()
            .filter(|(at, _)| at / a_packet != 5);
        assert!(
            run.stdout.lines().eq(kept.map(|(_, line)| line)),
            "{}",
            venue.name
        );
    }
}

#[test]
fn what_a_venue_sets_can_be_set_otherwise() {
    let folder = Folder::new("override");
    let (frames, lines) = encoded(venue("moex-asts"));
    folder.write("t.xml", style("moex-asts").as_bytes());
    folder.write("feed.dat", &frames.concat());
    let moex = [
        "--preamble",
        "seq",
        "--reset",
        "message",
        "--framing",
        "u32le",
    ];
    for other in [&[][..], &["--venue", "sse"], &["--venue", "plain"]] {
        let run = decode(&folder, "feed.dat", &[other, &moex].concat());
        assert_eq!((run.status, run.stdout), (0, lines.clone()), "{other:?}");
    }
    let unknown = decode(&folder, "feed.dat", &["--venue", "moex"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.stderr.contains("moex-asts"), "{}", unknown.stderr);
}

#[test]
fn after_garbage_a_stream_goes_on_with_the_next_message() {
    let folder = Folder::new("garbage-stream");
    for name in ["sse", "cqg-tcp"] {
        let (mut frames, lines) = encoded(venue(name));
        folder.write("t.xml", style(name).as_bytes());
        let bad = match name {
            "sse" => b"garbage 8=STEP.1.0.0\x019=12345\x01 and more".to_vec(),
            _ => vec![0x80],
        };
        frames.insert(5, bad);
        folder.write("feed.dat", &frames.concat());
        let run = decode(&folder, "feed.dat", &["--venue", name]);
        assert_eq!(run.stdout, lines, "{name}");
        assert_eq!(run.status, 1);
        let place = format!("feed.dat: byte {}: ", frames[..5].concat().len());
        assert!(run.stderr.starts_with(&place), "{name}: {}", run.stderr);
        assert!(
            name == "sse" || run.stderr.contains("D12"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_lost_chunk_costs_its_message_and_is_told() {
    let folder = Folder::new("chunks");
    let venue = venue("b3");
    let (frames, lines) = encoded(venue);
    let longest = frames.iter().map(Vec::len).max().expect("some");
    assert!(longest > 2_800, "one has several chunks");
    let at = frames
        .iter()
        .position(|frame| frame.len() == longest)
        .expect("it");
    folder.write("t.xml", style("b3").as_bytes());
    let second = 4 + 10 + 1_400;
    let cut = frames[at][second..].to_vec();
    folder.write(
        "feed.dat",
        &[frames[..at].concat(), cut, frames[at + 1..].concat()].concat(),
    );
    let run = decode(&folder, "feed.dat", &["--venue", "b3"]);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.contains("messages that lack chunks: 1,"),
        "{}",
        run.stderr
    );
    assert_eq!(run.stdout.lines().count(), lines.lines().count() - 1);
}

#[test]
fn a_feed_that_starts_again_is_decoded_again_and_copies_of_chunks_are_counted() {
    let folder = Folder::new("again");
    let (frames, lines) = encoded(venue("b3"));
    let chunked = frames.iter().max_by_key(|frame| frame.len());
    let but_first = &chunked.expect("some")[4 + 10 + 1_400..];
    folder.write("t.xml", style("b3").as_bytes());
    folder.write("feed.dat", &[&frames[..], &frames[..]].concat().concat());
    let run = decode(&folder, "feed.dat", &["--venue", "b3"]);
    assert_eq!((run.status, run.stdout), (0, lines.repeat(2)));

    folder.write("feed.dat", &[&frames.concat(), but_first].concat());
    let run = decode(&folder, "feed.dat", &["--venue", "b3"]);
    assert_eq!((run.status, run.stdout), (0, lines));
    assert!(run.stderr.contains("4 chunks are copies"), "{}", run.stderr);
    let stats = ["fast", "decode", "feed.dat", "-t", "t.xml", "--venue", "b3"];
    let stats = [&stats[..], &["--stats", "-o", "json"]].concat();
    let stats = tickwire(&folder, &stats).stdout;
    assert!(stats.contains("\"duplicate_chunks\": 4"), "{stats}");
    let run = [
        "feed",
        "run",
        "--file",
        "feed.dat",
        "-t",
        "t.xml",
        "--venue",
        "b3",
        "--decode-only",
    ];
    let run = tickwire(&folder, &run);
    assert!(run.stdout.contains("4 duplicate"), "{}", run.stdout);
}

#[test]
fn a_b3_packet_of_several_parts_is_several_messages() {
    let folder = Folder::new("parts");
    let (frames, lines) = encoded(venue("b3"));
    let parts = datagrams(&frames[..2]).concat();
    let len = u32::try_from(parts.len()).expect("short").to_le_bytes();
    folder.write("t.xml", style("b3").as_bytes());
    folder.write("feed.dat", &[&len[..], &parts].concat());
    let run = decode(&folder, "feed.dat", &["--venue", "b3"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.lines().eq(lines.lines().take(2)));
}

#[test]
fn a_venue_of_streams_is_not_waited_for_on_a_group() {
    let folder = Folder::new("stream");
    folder.write("t.xml", style("sse").as_bytes());
    let run = tickwire(&folder, &["feed", "run", "-t", "t.xml", "--venue", "sse"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("`--file`"), "{}", run.stderr);
}

/// A capture of the packets, to two groups in turn.
fn capture(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let datagram = |(at, packet): (usize, &Vec<u8>)| {
        let last = if at.is_multiple_of(2) { 1 } else { 2 };
        let builder = PacketBuilder::ethernet2([2; 6], [1, 0, 94, 0, 0, last])
            .ipv4([10, 0, 0, 1], [239, 0, 0, last], 16)
            .udp(9_000, 15_000 + u16::from(last));
        let mut bytes = Vec::new();
        builder.write(&mut bytes, packet).expect("it fits");
        bytes
    };
    packets.iter().enumerate().map(datagram).collect()
}

/// The same packets as `tcpdump -i any` writes them today.
fn cooked(ethernet: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let ipv4 = 0x0800_u16.to_be_bytes();
    let cook = |packet: &Vec<u8>| [&ipv4[..], &[0; 18], &packet[14..]].concat();
    ethernet.iter().map(cook).collect()
}

fn pcap(records: &[Vec<u8>], big_endian: bool) -> Vec<u8> {
    let u32 = |value: u32| match big_endian {
        true => value.to_be_bytes(),
        false => value.to_le_bytes(),
    };
    let version = if big_endian {
        [0, 2, 0, 4]
    } else {
        [2, 0, 4, 0]
    };
    let mut file = [
        u32(0xA1B2_C3D4),
        version,
        u32(0),
        u32(0),
        u32(65_535),
        u32(1),
    ]
    .concat();
    for record in records {
        let len = u32::try_from(record.len()).expect("short");
        file.extend([u32(0), u32(0), u32(len), u32(len)].concat());
        file.extend(record);
    }
    file
}

fn pcapng(records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let len = u32::try_from(12 + body.len().next_multiple_of(4)).expect("short");
        file.extend([kind.to_le_bytes(), len.to_le_bytes()].concat());
        file.extend(body);
        file.resize(file.len().next_multiple_of(4), 0);
        file.extend(len.to_le_bytes());
    };
    block(
        0x0A0D_0D0A,
        &[&0x1A2B_3C4Du32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xFF; 8]].concat(),
    );
    block(1, &[1, 0, 0, 0, 0, 0, 0, 0]);
    for record in records {
        let len = u32::try_from(record.len()).expect("short").to_le_bytes();
        block(6, &[&[0; 12][..], &len, &len, record].concat());
    }
    file
}

/// The packets of a file of ours, without their lengths.
fn datagrams(frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    frames.iter().map(|frame| frame[4..].to_vec()).collect()
}

#[test]
fn datagrams_of_a_capture_are_packets() {
    let folder = Folder::new("capture");
    let (frames, lines) = encoded(venue("moex-asts"));
    let records = capture(&datagrams(&frames));
    folder.write("t.xml", style("moex-asts").as_bytes());
    for file in [
        pcap(&records, false),
        pcap(&records, true),
        pcapng(&records),
    ] {
        folder.write("feed.pcap", &file);
        let all = decode(&folder, "feed.pcap", &["--venue", "moex-asts"]);
        assert_eq!(
            (all.status, all.stdout.as_str()),
            (0, &lines[..]),
            "{}",
            all.stderr
        );
        for to in ["239.0.0.2:15002", "15002", ":15002"] {
            let half = decode(&folder, "feed.pcap", &["--venue", "moex-asts", "--to", to]);
            let odd = lines.lines().skip(1).step_by(2);
            assert!(half.stdout.lines().eq(odd), "{to}: {}", half.stderr);
        }
        let none = decode(
            &folder,
            "feed.pcap",
            &["--venue", "moex-asts", "--to", "239.0.0.1:15002"],
        );
        assert_eq!((none.status, none.stdout.as_str()), (1, ""));
        let there = "there are datagrams to 239.0.0.1:15001 (6), 239.0.0.2:15002 (6)";
        assert!(none.stderr.contains(there), "{}", none.stderr);

        folder.write("feed.pcap", &file[..file.len() - 3]);
        let cut = decode(&folder, "feed.pcap", &["--venue", "moex-asts"]);
        assert_eq!(cut.status, 1);
        assert!(
            cut.stderr.contains("the capture ends inside a record"),
            "{}",
            cut.stderr
        );
        assert_eq!(cut.stdout.lines().count(), lines.lines().count() - 1);
    }
    let mut file = pcap(&cooked(&records), false);
    file[20..24].copy_from_slice(&276u32.to_le_bytes());
    folder.write("any.pcap", &file);
    let all = decode(&folder, "any.pcap", &["--venue", "moex-asts"]);
    assert_eq!((all.status, all.stdout), (0, lines), "{}", all.stderr);

    let wrong = decode(&folder, "t.xml", &["--to", "15002"]);
    assert_eq!(wrong.status, 2, "{}", wrong.stderr);
}

#[test]
fn the_lines_of_a_capture_are_arbitrated() {
    let folder = Folder::new("capture-lines");
    let (frames, lines) = encoded(venue("moex-asts"));
    let packets = datagrams(&frames);
    // Line A lacks the third packet, line B the fourth.
    let both = packets.iter().enumerate().flat_map(|(at, packet)| {
        let on = |lost: usize, line: usize| (at != lost).then(|| (line, packet.clone()));
        [on(2, 0), on(3, 1)].into_iter().flatten()
    });
    let records = both.map(|(line, packet)| {
        let of_both = capture(&[packet.clone(), packet]);
        of_both[line].clone()
    });
    let records: Vec<_> = records.collect();
    folder.write("t.xml", style("moex-asts").as_bytes());
    folder.write("feed.pcap", &pcap(&records, false));
    let run = ["feed", "run", "--decode-only", "-t", "t.xml", "--venue"];
    let run = [&run[..], &["moex-asts", "--file", "feed.pcap"]].concat();
    let lines_of = ["--group", "239.0.0.1:15001", "--line-b", "239.0.0.2:15002"];
    let arbitrated = tickwire(&folder, &[&run[..], &lines_of, &["-o", "json"]].concat());
    assert_eq!(arbitrated.status, 0, "{}", arbitrated.stderr);
    let report: serde_json::Value = serde_json::from_str(&arbitrated.stdout).expect("JSON");
    let count = lines.lines().count();
    assert_eq!(report["decoded"], count);
    let lost = ["line_a", "line_b"].map(|line| &report[line]["lost"]);
    assert_eq!(lost, [1, 1]);

    let one = tickwire(
        &folder,
        &[&run[..], &lines_of[..2], &["-o", "json"]].concat(),
    );
    assert_eq!(one.status, 1, "{}", one.stderr);
    let only_b = tickwire(&folder, &[&run[..], &lines_of[2..]].concat());
    assert_eq!(only_b.status, 2);
    let wrong = ["--group", "239.0.0.1:15001", "--line-b", "239.0.0.9:15009"];
    let wrong = tickwire(&folder, &[&run[..], &wrong].concat());
    let there = "there are datagrams to 239.0.0.1:15001 (";
    assert!(
        wrong.status == 1 && wrong.stderr.contains(there),
        "{}",
        wrong.stderr
    );

    let warning = "warning: the groups of feed.pcap are read as one feed: there are datagrams to ";
    let merged = tickwire(&folder, &run);
    let decoded = decode(&folder, "feed.pcap", &["--venue", "moex-asts"]);
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let to = socket.local_addr().expect("bound").to_string();
    let sent = tickwire(&folder, &["feed", "send", "feed.pcap", "--group", &to]);
    for run in [merged, decoded, sent] {
        assert_eq!(run.stderr.matches(warning).count(), 1, "{}", run.stderr);
    }
    let chosen = decode(
        &folder,
        "feed.pcap",
        &["--venue", "moex-asts", "--to", "15001"],
    );
    assert!(!chosen.stderr.contains("warning"), "{}", chosen.stderr);
}

#[test]
fn a_capture_without_its_end_or_with_parts_of_packets_is_told_so() {
    let folder = Folder::new("capture-cut");
    let (frames, _) = encoded(venue("moex-asts"));
    let records = capture(&datagrams(&frames));
    folder.write("t.xml", style("moex-asts").as_bytes());
    let file = pcap(&records, false);
    folder.write("cut.pcap", &file[..file.len() - 3]);
    let mut snapped = file[..24].to_vec();
    for record in &records {
        let (kept, len) = (&record[..50], u32::try_from(record.len()).expect("short"));
        snapped.extend([[0; 4], [0; 4], 50_u32.to_le_bytes(), len.to_le_bytes()].concat());
        snapped.extend(kept);
    }
    folder.write("snapped.pcap", &snapped);
    let options = ["-t", "t.xml", "--venue", "moex-asts"];
    for (file, hint) in [
        (
            "cut.pcap",
            "hint: the file is cut off inside its last packet",
        ),
        (
            "snapped.pcap",
            "hint: the packets of this capture were not kept whole: capture with `-s 0`",
        ),
    ] {
        let run = ["feed", "run", "--decode-only", "--file", file];
        let run = tickwire(&folder, &[&run[..], &options].concat());
        assert!(
            run.status == 1 && run.stderr.contains(hint),
            "{}",
            run.stderr
        );
        let run = tickwire(&folder, &[&["fast", "decode", file], &options[..]].concat());
        assert!(
            run.status == 1 && run.stderr.contains(hint),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_text_of_hexadecimal_lines_is_packets() {
    let folder = Folder::new("hex");
    let (frames, lines) = encoded(venue("moex-asts"));
    let hex = |packet: Vec<u8>| {
        packet
            .iter()
            .map(|byte| format!("{byte:02x} "))
            .collect::<String>()
    };
    let text: Vec<_> = datagrams(&frames).into_iter().map(hex).collect();
    folder.write("t.xml", style("moex-asts").as_bytes());
    folder.write(
        "feed.hex",
        format!("# captured\n{}\n", text.join("# one\r\n\n")).as_bytes(),
    );
    let run = decode(
        &folder,
        "feed.hex",
        &["--venue", "moex-asts", "--framing", "hex"],
    );
    assert_eq!((run.status, run.stdout), (0, lines), "{}", run.stderr);
    for (text, problem) in [
        ("c0 8", "line 1: half a byte"),
        ("\nxy", "line 2: `x` is no"),
    ] {
        folder.write("feed.hex", text.as_bytes());
        let run = decode(&folder, "feed.hex", &["--framing", "hex"]);
        assert_eq!(run.status, 1);
        assert!(run.stderr.contains(problem), "{}", run.stderr);
    }
}

#[test]
fn venues_are_listed_with_the_words_that_the_options_take() {
    let folder = Folder::new("venues");
    let run = tickwire(&folder, &["feed", "venues", "-o", "json"]);
    let list: Vec<serde_json::Value> = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(list.len(), VENUES.len());
    folder.generate("simple", &["--messages", "8"]);
    for row in &list {
        let options: Vec<&str> = ["framing", "preamble", "reset", "venue"]
            .iter()
            .map(|name| row[name].as_str().expect("text"))
            .collect();
        let [framing, preamble, reset, venue] = options[..] else {
            unreachable!()
        };
        folder.generate("complex", &["--messages", "50", "--venue", venue]);
        let decode = [
            "fast",
            "decode",
            "complex.dat",
            "-t",
            "complex.xml",
            "-o",
            "jsonl",
        ];
        let by_name = tickwire(&folder, &[&decode[..], &["--venue", venue]].concat());
        assert_eq!(
            (by_name.status, by_name.stderr.as_str()),
            (0, ""),
            "{venue}"
        );
        let messages = by_name.stdout.lines().filter(|line| *line != "{}");
        assert_eq!(messages.count(), 51, "{venue}");
        let words = [
            "--framing",
            framing,
            "--preamble",
            preamble,
            "--reset",
            reset,
        ];
        let by_words = tickwire(&folder, &[&decode[..], &words].concat());
        assert_eq!(by_words.stdout, by_name.stdout, "{venue}");
    }
}
