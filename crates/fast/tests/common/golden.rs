//! The golden file of 30,001 messages, as packets.

use std::io::Write;
use std::path::Path;

/// Templates and packets, or `None` (said on standard error, with the test's name) where the folder is absent.
pub(crate) fn read(test: &str) -> Option<(String, Vec<Vec<u8>>)> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let Some(folder) = above
        .map(|folder| folder.join("shared/golden"))
        .find(|folder| folder.is_dir())
    else {
        let problem = "no folder shared/golden beside the repository";
        // Past the harness, which keeps what passing tests print to itself.
        let _ = writeln!(std::io::stderr(), "NOT RUN: {test}: {problem}");
        return None;
    };
    let templates = std::fs::read_to_string(folder.join("complex-templates.xml")).unwrap();
    let file = std::fs::read(folder.join("complex30000.dat")).unwrap();
    let mut packets = Vec::new();
    let mut rest = &file[..];
    while let Some((len, after)) = rest.split_first_chunk::<4>() {
        let (packet, next) = after.split_at(u32::from_le_bytes(*len) as usize);
        packets.push(packet.to_vec());
        rest = next;
    }
    Some((templates, packets))
}
