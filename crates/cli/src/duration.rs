//! Durations on the command line: one form for all commands.

use std::time::Duration;

/// Reads a whole number with its unit, such as `20us`: ns, us, ms or s. A number alone might mean
/// any of them.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number and its unit, such as 20us")?;
    let unit_ns: u64 = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "" => return Err(format!("of what? Say {number}us, {number}ms or {number}s")),
        _ => return Err(format!("unknown unit `{unit}`: use ns, us, ms or s")),
    };
    let ns = number.checked_mul(unit_ns).ok_or("too long")?;
    Ok(Duration::from_nanos(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("500ns"), Ok(Duration::from_nanos(500)));
        assert_eq!(parse_duration("20us"), Ok(Duration::from_micros(20)));
        assert_eq!(parse_duration("2s"), Ok(Duration::from_secs(2)));
        let bare = parse_duration("1000");
        assert_eq!(bare, Err("of what? Say 1000us, 1000ms or 1000s".to_owned()));
        for wrong in [
            "",
            "us",
            "-1s",
            "1.5s",
            "5 weeks",
            "soon",
            "99999999999999s",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
