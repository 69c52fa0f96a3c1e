use super::*;

fn message(body: &str) -> Vec<u8> {
    let start = format!("8=STEP.1.0.0\x019={}\x01{body}", body.len());
    let sum = checksum(start.as_bytes());
    format!("{start}10={sum:03}\x01").into_bytes()
}

#[test]
fn data_may_have_the_byte_that_ends_fields_and_the_look_of_a_trailer() {
    let data = b"\x01\x0110=000\x018=STEP\x01";
    let mut bytes = Vec::new();
    append(PacketNumber(5), data, &mut bytes);
    let parsed = parse(&bytes).expect("sound");
    assert_eq!(parsed.len, bytes.len());
    assert_eq!(&bytes[parsed.data.expect("data")], data);
}

#[test]
fn a_session_message_has_no_data() {
    let bytes = message("35=0\x0134=1\x01");
    let parsed = parse(&bytes).expect("sound");
    assert_eq!((parsed.len, parsed.data), (bytes.len(), None));
}

#[test]
fn a_changed_byte_is_found_and_the_whole_message_skipped() {
    let mut bytes = message("35=W\x0195=2\x0196=ab\x01");
    let at = bytes.len() - 10;
    bytes[at] ^= 2;
    let error = parse(&bytes).expect_err("broken");
    assert!(matches!(error, StepError::Checksum { .. }), "{error:?}");
    assert_eq!(error.skip(&bytes), bytes.len());
}

#[test]
fn data_must_be_as_long_as_it_says() {
    for body in [
        "95=3\x0196=ab\x01",
        "95=1\x0196=ab\x01",
        "96=ab\x01",
        "95=2\x0134=1\x0196=ab\x01",
        "95=\x0196=ab\x01",
        "95=9999999\x0196=ab\x01",
        "95=2\x0196=ab",
    ] {
        let bytes = message(body);
        let len = bytes.len();
        assert_eq!(parse(&bytes), Err(StepError::Data { len }), "{body:?}");
    }
}

#[test]
fn every_beginning_of_a_message_is_incomplete() {
    let bytes = message("35=W\x0195=2\x0196=ab\x01");
    for len in 0..bytes.len() {
        assert_eq!(parse(&bytes[..len]), Err(StepError::Incomplete), "{len}");
    }
}

#[test]
fn what_does_not_begin_like_a_message_or_does_not_end_where_it_says_is_none() {
    let mut cases = [
        "9=5\x01",
        "8=STEP.1.0.0.1.2.3.4.5\x019=5\x01",
        "8=ST EP\x019=5\x01",
        "8=STEP\x0135=W\x01",
        "8=STEP\x019=-5\x01",
        "8=STEP\x019=12345678\x01",
        "8=STEP\x019=2000000\x01",
        "8=STEP\x019=5\x0134=1\x0111=000\x01",
        "8=STEP\x019=5\x0134=1\x0110=00\x01",
        "8=STEP\x019=5\x0134=1\x0110=999\x01",
    ]
    .into_iter();
    assert!(cases.all(|case| parse(case.as_bytes()) == Err(StepError::NoMessage)));
    assert_eq!(StepError::NoMessage.skip(b"8=ab8=x"), 4);
    assert_eq!(StepError::NoMessage.skip(b"8=abcd8"), 6);
    assert_eq!(StepError::NoMessage.skip(b"8"), 1);
}
