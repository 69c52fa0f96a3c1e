//! Names of partitions, and patterns for them (DDS 1.4 §2.2.3.13).

use alloc::string::String;

/// Whether a writer in `offered` and a reader in `requested` share a partition.
///
/// An empty list is the one partition "". A pattern matches names, never another pattern.
pub fn partitions_match(offered: &[String], requested: &[String]) -> bool {
    match (offered, requested) {
        ([], []) => true,
        ([], names) | (names, []) => names.iter().any(|name| names_match("", name)),
        _ => offered
            .iter()
            .any(|offered| requested.iter().any(|name| names_match(offered, name))),
    }
}

/// Whether `name` stands for more names than itself.
pub fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Whether a pattern stands for `name`, as POSIX fnmatch without flags: `*`, `?`, `[a-z]`, `[!a]`, and
/// `\\` before a literal. Takes at most the product of both lengths.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    pattern_matches(pattern.as_bytes(), name.as_bytes())
}

fn names_match(a: &str, b: &str) -> bool {
    match (is_pattern(a), is_pattern(b)) {
        (false, false) => a == b,
        (true, false) => pattern_matches(a.as_bytes(), b.as_bytes()),
        (false, true) => pattern_matches(b.as_bytes(), a.as_bytes()),
        (true, true) => false,
    }
}

/// POSIX fnmatch without flags: `*`, `?`, `[a-z]`, `[!a]`, `\` before a literal.
///
/// Goes back to the last star only, so it takes at most the product of both lengths.
fn pattern_matches(mut pattern: &[u8], mut name: &[u8]) -> bool {
    let mut last_star: Option<(&[u8], &[u8])> = None;
    loop {
        if let [b'*', after @ ..] = pattern {
            last_star = Some((after, name));
            pattern = after;
            continue;
        }
        match (name, last_star) {
            ([], _) if pattern.is_empty() => return true,
            ([first, rest @ ..], _) if !pattern.is_empty() => {
                if let Some(after) = step(pattern, *first) {
                    (pattern, name) = (after, rest);
                    continue;
                }
            }
            _ => {}
        }
        match last_star {
            Some((after, [_, rest @ ..])) => {
                last_star = Some((after, rest));
                (pattern, name) = (after, rest);
            }
            _ => return false,
        }
    }
}

/// The pattern after what matches `byte`; `None` if its head does not.
fn step(pattern: &[u8], byte: u8) -> Option<&[u8]> {
    match pattern {
        [b'?', after @ ..] => Some(after),
        [b'\\', literal, after @ ..] => (*literal == byte).then_some(after),
        [b'[', set @ ..] => match bracket(set, byte) {
            Some((true, after)) => Some(after),
            Some((false, _)) => None,
            None => (byte == b'[').then_some(set),
        },
        [literal, after @ ..] => (*literal == byte).then_some(after),
        [] => None,
    }
}

/// Whether the set after a '[' holds `byte`, and the pattern after its ']'. `None` without a ']'.
fn bracket(set: &[u8], byte: u8) -> Option<(bool, &[u8])> {
    let (negated, mut rest) = match set {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, set),
    };
    let mut found = false;
    let mut is_first = true;
    loop {
        rest = match rest {
            [] => return None,
            [b']', after @ ..] if !is_first => return Some((found != negated, after)),
            [low, b'-', high, after @ ..] if *high != b']' => {
                found |= (*low..=*high).contains(&byte);
                after
            }
            [one, after @ ..] => {
                found |= *one == byte;
                after
            }
        };
        is_first = false;
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_shared_name_is_enough() {
        assert!(partitions_match(&names(&["a", "b"]), &names(&["b", "c"])));
        assert!(!partitions_match(&names(&["a"]), &names(&["b"])));
    }

    #[test]
    fn no_partition_is_the_empty_name() {
        assert!(partitions_match(&[], &[]));
        assert!(partitions_match(&[], &names(&[""])));
        assert!(partitions_match(&names(&["*"]), &[]));
        assert!(!partitions_match(&names(&["a"]), &[]));
        assert!(!partitions_match(&[], &names(&["?"])));
    }

    #[test]
    fn a_pattern_on_either_side_matches_names_but_no_pattern() {
        assert!(partitions_match(&names(&["feed-*"]), &names(&["feed-a"])));
        assert!(partitions_match(
            &names(&["feed-a"]),
            &names(&["f??d-[a-c]"])
        ));
        assert!(!partitions_match(
            &names(&["feed-d"]),
            &names(&["f??d-[a-c]"])
        ));
        assert!(partitions_match(&names(&["feed-d"]), &names(&["*[!a-c]"])));
        assert!(!partitions_match(&names(&["*"]), &names(&["*"])));
        assert!(partitions_match(&names(&["a*b*c"]), &names(&["aXbYbZc"])));
        assert!(!partitions_match(&names(&["a*b*c"]), &names(&["aXbYbZ"])));
        assert!(partitions_match(&names(&[r"\-?"]), &names(&["-x"])));
    }

    proptest! {
        #[test]
        fn any_pattern_ends(pattern in "[*?\\[\\]!a\\\\-]{0,24}", name in "[a\\]!-]{0,24}") {
            let one = pattern_matches(pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(one, pattern_matches(pattern.as_bytes(), name.as_bytes()));
        }

        #[test]
        fn a_star_matches_what_it_replaces(before in "[a-c]{0,5}", middle in "[a-c]{0,5}", after in "[a-c]{0,5}") {
            let pattern = [before.as_str(), "*", after.as_str()].concat();
            let name = [before.as_str(), middle.as_str(), after.as_str()].concat();
            prop_assert!(partitions_match(&[pattern], &[name]));
        }
    }
}
