//! Any bytes as the log of a durable writer: as they are, and as a header and records whose lengths and
//! checksums are right, so that what is behind these is reached. Records lie in the bytes, and damage in
//! the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_store::parse;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    let Some((&at, rest)) = bytes.split_first() else {
        return;
    };
    let (header, records) = rest.split_at(usize::from(at).min(rest.len()));
    let mut log = b"TWLOG\0\0\x02".to_vec();
    log.extend(framed(header));
    log.extend(records.chunks(68).flat_map(framed));
    check(&log);
});

/// With its length and checksum in front.
fn framed(body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let crc = crc32fast::hash(body);
    [&len.to_le_bytes(), &crc.to_le_bytes(), body].concat()
}

fn check(log: &[u8]) {
    let mut bytes = 0;
    let parsed = parse(log, |record| bytes += record.payload.len());
    assert!(bytes <= log.len());
    let damage = match parsed {
        Ok((description, damage)) => {
            assert!(description.announcement.len() + description.types.len() <= log.len());
            damage
        }
        Err(damage) => Some(damage),
    };
    assert!(damage.is_none_or(|damage| damage.offset <= log.len() as u64));
}
