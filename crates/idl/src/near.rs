//! Which name is meant by one that is misspelt.

/// How many letters are to be added, removed, changed or swapped with the next.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let changed = last[j] + usize::from(from != to);
            let mut best = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *to && b[j - 1] == *from {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_count_letters() {
        for (a, b, expected) in [
            ("quote", "quote", 0),
            ("qoute", "quote", 1),
            ("quotes", "quote", 1),
            ("qote", "quote", 1),
            ("", "abc", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
