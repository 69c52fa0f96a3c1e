//! The program with a feed that it is made for.

use std::env;
use std::fs;
use std::process::Command;

use tickwire_feed::generate::{ComplexOptions, Generator};
use tickwire_feed::{Framing, PacketNumber};

#[test]
fn every_market_data_message_of_a_file_is_published() {
    let options = ComplexOptions {
        messages: 500,
        ..ComplexOptions::default()
    };
    let mut generator = Generator::complex(options).expect("options that are possible");
    let (mut file, mut packet) = (Vec::new(), Vec::new());
    while generator.next_packet(&mut packet).expect("a feed") {
        let number = PacketNumber::default();
        Framing::U32Le
            .append(number, &packet, &mut file)
            .expect("short");
    }
    let path = env::temp_dir().join(format!("typed-feed-{}.dat", std::process::id()));
    fs::write(&path, file).expect("room for a file");
    let output = Command::new(env!("CARGO_BIN_EXE_typed-feed"))
        .arg(&path)
        .output();
    fs::remove_file(&path).expect("it is ours");
    let output = output.expect("it starts");
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let count = printed.trim().strip_prefix("messages published: ");
    let count: u64 = count
        .and_then(|count| count.parse().ok())
        .expect("a number");
    assert!((1..=500).contains(&count), "{printed}");
}
