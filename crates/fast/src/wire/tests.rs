//! Transfer encoding by the examples of FAST 1.1 §10 and appendix 3, with their errata (the standard prints -8193 as
//! `73 3F FF`, its own arithmetic says `7F 3F FF`), and at the edges of every range. Each value is written too.

use super::*;
use crate::output;

const U32: u64 = u32::MAX as u64;
const I32: u64 = i32::MAX as u64;
const I64: u64 = i64::MAX as u64;

fn all<'a, T>(
    bytes: &'a [u8],
    strict: bool,
    read: impl FnOnce(&mut Input<'a>) -> Result<T, Code>,
) -> Result<T, Code> {
    let mut input = Input::new(bytes, strict);
    let result = read(&mut input);
    assert_eq!(
        input.offset(),
        if result.is_ok() { bytes.len() } else { 0 },
        "{bytes:02x?}"
    );
    result
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

#[test]
fn unsigned_integers() {
    let cases: &[(&[u8], u64)] = &[
        (&[0x80], 0),
        (&[0x81], 1),
        (&[0xff], 127),
        (&[0x01, 0x80], 128),
        (&[0x39, 0x45, 0xa3], 942_755),
        (&[0x0f, 0x7f, 0x7f, 0x7f, 0xff], U32),
        (
            &[0x01, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0xff],
            u64::MAX,
        ),
    ];
    for (bytes, value) in cases {
        assert_eq!(
            all(bytes, true, |input| input.unsigned(u64::MAX)),
            Ok(*value)
        );
        assert_eq!(written(|out| output::unsigned(out, *value)), *bytes);
    }
}

#[test]
fn signed_integers() {
    let cases: &[(&[u8], i64)] = &[
        (&[0x80], 0),
        (&[0xbf], 63),
        (&[0xc0], -64),
        (&[0x00, 0xc0], 64),
        (&[0x7f, 0xbf], -65),
        (&[0x39, 0x45, 0xa3], 942_755),
        (&[0x46, 0x3a, 0xdd], -942_755),
        (&[0x00, 0x40, 0x81], 8193),
        (&[0x7f, 0x3f, 0xff], -8193),
        (&[0x78, 0x00, 0x00, 0x00, 0x80], i32::MIN as i64),
        (
            &[0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80],
            i64::MIN,
        ),
        (
            &[0x00, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0xff],
            i64::MAX,
        ),
    ];
    for (bytes, value) in cases {
        assert_eq!(all(bytes, true, |input| input.signed(I64)), Ok(*value));
        assert_eq!(written(|out| output::signed(out, *value)), *bytes);
    }
}

#[test]
fn nullable_integers_need_one_bit_more() {
    let unsigned: &[(&[u8], Option<u64>)] = &[
        (&[0x80], None),
        (&[0x81], Some(0)),
        (&[0x39, 0x45, 0xa4], Some(942_755)),
        (&[0x10, 0x00, 0x00, 0x00, 0x80], Some(U32)),
        (
            &[0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80],
            Some(u64::MAX),
        ),
    ];
    for (bytes, value) in unsigned {
        assert_eq!(
            all(bytes, true, |input| input.maybe_unsigned(u64::MAX, true)),
            Ok(*value)
        );
        assert_eq!(
            written(|out| output::nullable_unsigned(out, *value)),
            *bytes
        );
    }
    let signed: &[(&[u8], Option<i64>)] = &[
        (&[0x80], None),
        (&[0x81], Some(0)),
        (&[0xff], Some(-1)),
        (
            &[0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80],
            Some(i64::MAX),
        ),
        (
            &[0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80],
            Some(i64::MIN),
        ),
    ];
    for (bytes, value) in signed {
        assert_eq!(
            all(bytes, true, |input| input.maybe_signed(I64, true)),
            Ok(*value)
        );
        assert_eq!(written(|out| output::nullable(out, *value)), *bytes);
    }
}

#[test]
fn d2_out_of_range_is_exact() {
    let refused = |bytes: &[u8], read: fn(&mut Input<'_>) -> Result<(), Code>| {
        assert_eq!(all(bytes, false, read), Err(Code::D2), "{bytes:02x?}");
    };
    refused(&[0x10, 0x00, 0x00, 0x00, 0x80], |input| {
        input.unsigned(U32).map(|_| ())
    });
    refused(&[0x10, 0x00, 0x00, 0x00, 0x81], |input| {
        input.maybe_unsigned(U32, true).map(|_| ())
    });
    refused(&[0x02, 0x80], |input| input.unsigned(255).map(|_| ()));
    refused(
        &[0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80],
        |input| input.unsigned(u64::MAX).map(|_| ()),
    );
    refused(
        &[0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x81],
        |input| input.maybe_unsigned(u64::MAX, true).map(|_| ()),
    );
    refused(&[0x08, 0x00, 0x00, 0x00, 0x80], |input| {
        input.signed(I32).map(|_| ())
    });
    refused(&[0x77, 0x7f, 0x7f, 0x7f, 0xff], |input| {
        input.signed(I32).map(|_| ())
    });
    refused(
        &[0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80],
        |input| input.signed(I64).map(|_| ()),
    );
    refused(
        &[0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x81],
        |input| input.maybe_signed(I64, true).map(|_| ()),
    );
    let mut endless = [0x7f; 40];
    endless[0] = 0x3f;
    endless[39] = 0xff;
    refused(&endless, |input| input.unsigned(u64::MAX).map(|_| ()));
    refused(&endless, |input| input.delta().map(|_| ()));
}

#[test]
fn r6_overlong_integers_are_refused_only_if_strict() {
    for zeros in [1, 5, 30] {
        let bytes = [vec![0; zeros], vec![0x81]].concat();
        assert_eq!(all(&bytes, false, |input| input.unsigned(U32)), Ok(1));
        assert_eq!(
            all(&bytes, true, |input| input.unsigned(U32)),
            Err(Code::R6)
        );
        assert_eq!(all(&bytes, false, |input| input.signed(I32)), Ok(1));
        assert_eq!(all(&bytes, true, |input| input.signed(I32)), Err(Code::R6));
    }
    assert_eq!(all(&[0x7f, 0xff], false, |input| input.signed(I32)), Ok(-1));
    assert_eq!(
        all(&[0x7f, 0xff], true, |input| input.signed(I32)),
        Err(Code::R6)
    );
    assert_eq!(
        all(&[0x00, 0x80], true, |input| input.unsigned(U32)),
        Err(Code::R6)
    );
}

#[test]
fn deltas_have_65_bits() {
    for value in [
        -i128::from(u64::MAX),
        i128::from(u64::MAX),
        i128::from(i64::MIN) - i128::from(i64::MAX),
    ] {
        let bytes = written(|out| output::delta(out, value));
        assert_eq!(all(&bytes, true, Input::delta), Ok(value));
        let bytes = written(|out| output::nullable_delta(out, Some(value)));
        assert_eq!(all(&bytes, true, Input::nullable_delta), Ok(Some(value)));
    }
    assert_eq!(all(&[0x80], true, Input::nullable_delta), Ok(None));
}

#[test]
fn ascii_strings_and_their_preambles() {
    let text = |ascii: Ascii<'_>| {
        let mut text = Vec::new();
        ascii.append_to(&mut text);
        String::from_utf8(text).unwrap()
    };
    let mandatory: &[(&[u8], &str)] = &[
        (&[0x80], ""),
        (&[0x41, 0x42, 0xc3], "ABC"),
        (&[0x00, 0x80], "\0"),
        (&[0x00, 0x00, 0xc1], "\0A"),
    ];
    for (bytes, value) in mandatory {
        assert_eq!(
            all(bytes, true, Input::ascii).map(text).as_deref(),
            Ok(*value)
        );
        assert_eq!(written(|out| output::ascii(out, value.as_bytes())), *bytes);
    }
    let nullable: &[(&[u8], Option<&str>)] = &[
        (&[0x80], None),
        (&[0x00, 0x80], Some("")),
        (&[0x41, 0x42, 0xc3], Some("ABC")),
        (&[0x00, 0x00, 0x80], Some("\0")),
        (&[0x00, 0x00, 0x00, 0xc1], Some("\0A")),
    ];
    for (bytes, value) in nullable {
        let read = all(bytes, true, Input::nullable_ascii).unwrap();
        assert_eq!(read.map(text).as_deref(), *value);
        assert_eq!(
            written(|out| output::nullable_ascii(out, value.map(str::as_bytes))),
            *bytes
        );
    }
    // R9: a preamble before a string that needs none.
    let overlong: [&[u8]; 2] = [&[0x00, 0xc1], &[0x00, 0x00, 0xc1]];
    for bytes in overlong {
        assert_eq!(
            all(bytes, true, Input::nullable_ascii).map(|_| ()),
            Err(Code::R9)
        );
        assert_eq!(
            all(bytes, false, Input::nullable_ascii)
                .unwrap()
                .map(text)
                .as_deref(),
            Some("A")
        );
    }
    assert_eq!(
        all(&[0x00, 0xc1], true, Input::ascii).map(|_| ()),
        Err(Code::R9)
    );
    assert_eq!(
        all(&[0x00, 0xc1], false, Input::ascii).map(text).as_deref(),
        Ok("A")
    );
}

#[test]
fn byte_vectors() {
    let mandatory: &[(&[u8], &[u8])] = &[(&[0x80], &[]), (&[0x83, 0x41, 0x42, 0x43], b"ABC")];
    for (bytes, value) in mandatory {
        assert_eq!(all(bytes, true, Input::bytes), Ok(*value));
        assert_eq!(written(|out| output::bytes(out, value)), *bytes);
    }
    let nullable: &[(&[u8], Option<&[u8]>)] = &[
        (&[0x80], None),
        (&[0x81], Some(&[])),
        (&[0x84, 0x41, 0x42, 0x43], Some(b"ABC")),
    ];
    for (bytes, value) in nullable {
        assert_eq!(all(bytes, true, Input::nullable_bytes), Ok(*value));
        assert_eq!(written(|out| output::nullable_bytes(out, *value)), *bytes);
    }
    assert_eq!(
        all(&[0x84, 0x41, 0x42, 0x43], true, Input::bytes),
        Err(Code::Truncated)
    );
    assert_eq!(
        all(&[0x0f, 0x7f, 0x7f, 0x7f, 0xff], true, Input::bytes),
        Err(Code::Truncated)
    );
}

#[test]
fn values_that_do_not_end_are_truncated() {
    for bytes in [&[][..], &[0x01], &[0x01; 50]] {
        assert_eq!(
            all(bytes, false, |input| input.unsigned(u64::MAX)),
            Err(Code::Truncated)
        );
        assert_eq!(
            all(bytes, false, |input| input.maybe_signed(I64, true)),
            Err(Code::Truncated)
        );
        assert_eq!(
            all(bytes, false, Input::ascii).map(|_| ()),
            Err(Code::Truncated)
        );
        assert_eq!(
            all(bytes, false, Input::presence_map).map(|_| ()),
            Err(Code::Truncated)
        );
    }
}

#[test]
fn presence_maps_of_any_length() {
    for len in 1..40 {
        let mut bytes: Vec<u8> = (0..len)
            .map(|at: u8| at.wrapping_mul(37).wrapping_add(11) & 0x7f)
            .collect();
        *bytes.last_mut().unwrap() |= 0x81;
        let mut map = all(&bytes, true, Input::presence_map).unwrap();
        let mut out = Vec::new();
        let mut writer = output::MapWriter::new(&mut out, 7 * u32::from(len) + 20);
        for at in 0..usize::from(len) * 7 {
            let bit = bytes[at / 7] & (0x40 >> (at % 7)) != 0;
            assert_eq!(map.bit(), bit, "bit {at} of {len} bytes");
            writer.push(&mut out, bit);
        }
        assert!(map.rest_is_zero());
        assert!((0..100).all(|_| !map.bit()), "zeros follow");
        writer.finish(&mut out);
        assert_eq!(out, bytes);
    }
    // R7: the last byte adds nothing.
    assert_eq!(
        all(&[0x40, 0x80], true, Input::presence_map).map(|_| ()),
        Err(Code::R7)
    );
    assert!(all(&[0x40, 0x80], false, Input::presence_map).is_ok());
    assert!(all(&[0x80], true, Input::presence_map).is_ok());
    // R8: a bit is left over.
    let input = Input::new(&[], true);
    let mut map = all(&[0xc1], true, Input::presence_map).unwrap();
    assert!(map.bit());
    assert_eq!(input.check_used(&map), Err(Code::R8));
}
