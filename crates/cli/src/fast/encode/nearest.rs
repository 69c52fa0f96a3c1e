//! Names for one that is none: what was likely meant. Knows nothing of what the names are of.

use std::cmp::Reverse;

/// A hint with the candidates whose beginnings and ends are most like the name's; if none are, with the first few.
pub(super) fn hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut candidates: Vec<_> = candidates.collect();
    let near = |candidate: &str| {
        let common = common(name.bytes(), candidate.bytes());
        let common_end = self::common(name.bytes().rev(), candidate.bytes().rev());
        (common + common_end).min(name.len()).min(candidate.len())
    };
    candidates.sort_unstable();
    candidates.dedup();
    let mut likely = candidates.clone();
    likely.retain(|candidate| 2 * near(candidate) >= name.len().max(1));
    likely.sort_by_key(|candidate| (Reverse(near(candidate)), candidate.len()));
    likely.truncate(MAX_LIKELY);
    let rest = candidates.len().saturating_sub(MAX_LISTED);
    candidates.truncate(MAX_LISTED);
    match (&likely[..], &candidates[..]) {
        (_, []) => None,
        ([], all) if rest > 0 => Some(format!("there are {} and {rest} more", all.join(", "))),
        ([], all) => Some(format!("there are {}", all.join(", "))),
        (likely, _) => Some(format!("did you mean {}?", likely.join(" or "))),
    }
}

/// Letters that both begin with, whatever their case.
fn common(a: impl Iterator<Item = u8>, b: impl Iterator<Item = u8>) -> usize {
    a.zip(b)
        .take_while(|(a, b)| a.eq_ignore_ascii_case(b))
        .count()
}

const MAX_LIKELY: usize = 3;
const MAX_LISTED: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_slip_is_recognized_and_others_are_listed() {
        let hint = |name: &str, candidates: &[&str]| hint(name, candidates.iter().copied());
        let names = ["Quote", "New", "Change"];
        assert_eq!(
            hint("qoute", &names).as_deref(),
            Some("did you mean Quote?")
        );
        let both = hint("Prize", &["Volume", "Price", "PriceLevel"]);
        assert_eq!(both.as_deref(), Some("did you mean Price or PriceLevel?"));
        let listed = hint("xyz", &names);
        assert_eq!(listed.as_deref(), Some("there are Change, New, Quote"));
        let many: Vec<_> = (0..10).map(|number| format!("F{number}")).collect();
        let many: Vec<_> = many.iter().map(|name| &**name).collect();
        assert!(hint("x", &many).expect("some").ends_with("F7 and 2 more"));
        assert_eq!(hint("", &[]), None);
    }
}
