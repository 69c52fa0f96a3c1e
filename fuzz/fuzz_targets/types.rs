//! Any bytes as a peer's type objects, and any bytes as payloads of the type that they describe: read,
//! printed, hashed, filtered and written again. What is printed can be written, and is the same then.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_cdr::dynamic::{Form, Omissions, from_json, key_hash, key_payload, to_json};
use tickwire_cdr::xtypes::{Consistency, DescribeError, TypeId, TypeObjects, check_assignable};
use tickwire_cdr::{KeyScratch, Representation, TypeDescription};

/// `[count, (length16, object)..., payload]`: objects as a peer sends them, the first is the type.
fn split(mut input: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut objects = Vec::new();
    let Some((count, rest)) = input.split_first() else {
        return (objects, input);
    };
    input = rest;
    for _ in 0..count % 8 {
        let Some((length, rest)) = input.split_first_chunk::<2>() else {
            break;
        };
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (object, rest) = rest.split_at(length);
        objects.push(object);
        input = rest;
    }
    (objects, input)
}

/// What the objects describe. References are hashes, which no fuzzer finds: an object that is missing
/// is replaced by the next one, by writing its hash where the missing one stood.
fn describe(objects: &[&[u8]]) -> Option<TypeDescription> {
    let mut objects: Vec<Vec<u8>> = objects.iter().map(|object| object.to_vec()).collect();
    for round in 0..8 {
        let mut known = TypeObjects::new();
        let ids: Vec<Option<TypeId>> = objects
            .iter()
            .map(|object| known.insert(object).ok())
            .collect();
        match known.describe((*ids.first()?)?) {
            Ok(description) => return Some(description),
            Err(DescribeError::Missing(missing)) => {
                let next = ids.get(round + 1).copied().flatten()?;
                let holder = objects.iter_mut().take(round + 1).find_map(|object| {
                    let at = object
                        .windows(14)
                        .position(|window| window == missing.hash)?;
                    object.get_mut(at..at + 14)
                })?;
                holder.copy_from_slice(&next.hash);
            }
            Err(_) => return None,
        }
    }
    None
}

fn check(description: &TypeDescription, payload: &[u8]) {
    let mut scratch = KeyScratch::default();
    for form in [Form::Sample, Form::Key] {
        for representation in [Representation::Xcdr1, Representation::Xcdr2] {
            let _ = key_hash(description, payload, form, representation, &mut scratch);
        }
    }
    let mut key = Vec::new();
    let _ = key_payload(description, payload, &mut key);
    let mut text = String::new();
    if to_json(description, payload, Form::Sample, &mut text).is_err() {
        return;
    }
    for representation in [Representation::Xcdr1, Representation::Xcdr2] {
        let mut bytes = Vec::new();
        // Not all that can be read can be written: keys may be absent, maps may have a key twice, ...
        if from_json(
            description,
            &text,
            Omissions::Refused,
            representation,
            &mut bytes,
        )
        .is_err()
        {
            continue;
        }
        let mut again = String::new();
        to_json(description, &bytes, Form::Sample, &mut again).expect("our own payload is read");
        let mut third = Vec::new();
        from_json(
            description,
            &again,
            Omissions::Refused,
            representation,
            &mut third,
        )
        .expect("what we wrote is written");
        assert_eq!(bytes, third);
    }
}

fuzz_target!(|input: &[u8]| {
    let (objects, payload) = split(input);
    let Some(description) = describe(&objects) else {
        return;
    };
    let same = check_assignable(&description, &description, Consistency::default());
    assert_eq!(same, Ok(()), "a type is assignable to itself");
    check(&description, payload);
    if description.name.is_empty() {
        // From minimal objects, whose names are lost: not to be told again.
        return;
    }
    let mut own = TypeObjects::new();
    let information = own
        .add(&description)
        .expect("a type that was read can be told");
    for id in [information.minimal, information.complete] {
        // Aliases that are followed can make identifiers too long to be read.
        let Ok(told) = own.describe(id.expect("both").id) else {
            continue;
        };
        let same = check_assignable(&description, &told, Consistency::default());
        assert_eq!(same, Ok(()), "what is told is the same type");
    }
});
