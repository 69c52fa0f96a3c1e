//! "Did you mean": the likeliest name for one that found nobody.

/// The candidate that `name` was most likely meant to be: equal but for case, or at most two
/// letters away and not wholly different.
///
/// Costs the product of the lengths per candidate; names longer than 64 bytes are compared by case
/// only.
pub fn nearest_name<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| Some((distance(name, candidate)?, candidate)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Letters to change, insert or leave out; `None` if the names have too little in common.
fn distance(a: &str, b: &str) -> Option<usize> {
    if a.eq_ignore_ascii_case(b) {
        return Some(0);
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().max(b.len()) > MAX_LEN || a.len().abs_diff(b.len()) > MAX_DISTANCE {
        return None;
    }
    // One row of the table of distances between the beginnings of `a` and of `b`.
    let mut row: [usize; MAX_LEN + 1] = core::array::from_fn(|column| column);
    for (line, &x) in a.iter().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], line + 1);
        for (column, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    let distance = row[b.len()];
    (distance <= MAX_DISTANCE && distance * 3 <= a.len().min(b.len())).then_some(distance)
}

const MAX_LEN: usize = 64;
const MAX_DISTANCE: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognized() {
        let names = ["Quote", "Trade", "Depth"];
        assert_eq!(nearest_name("quote", names), Some("Quote"));
        assert_eq!(nearest_name("Qoute", ["Quotes", "Trade"]), None);
        assert_eq!(
            nearest_name("MarketDta", ["MarketData"]),
            Some("MarketData")
        );
        assert_eq!(nearest_name("Quote", names), None);
        assert_eq!(nearest_name("ab", ["cd"]), None);
        assert_eq!(nearest_name("", ["a"]), None);
    }
}
