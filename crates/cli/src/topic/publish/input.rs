//! What samples are made of: text of the command line and of standard input, as JSON or YAML.

use std::io::BufRead;

use tickwire::cdr::dynamic::Data;

use super::yaml;
use crate::failure::{Failure, Result};

/// The samples that a text says. It is JSON if it can be, else YAML, whose documents are samples.
///
/// # Errors
/// Where it is neither.
pub(super) fn parse(text: &str) -> Result<Vec<Data>, String> {
    match Data::from_json(text) {
        Ok(data) => Ok(vec![data]),
        Err(json) => yaml::parse(text).map_err(|yaml| match text.trim_start().starts_with('{') {
            true => format!("`{}` is no JSON: {json}", excerpt(text)),
            false => format!("`{}` is no YAML: {yaml}", excerpt(text)),
        }),
    }
}

/// Gives the samples of a stream to `each` as soon as they are complete, until that returns false.
///
/// A line that begins with `{` is a sample, as `tickwire topic echo` prints it; other lines are YAML,
/// whose documents end at `---` or `...`.
pub(super) fn read(input: impl BufRead, mut each: impl FnMut(&Data) -> Result<bool>) -> Result<()> {
    let mut document = String::new();
    let mut all = |text: &str| {
        let samples = parse(text).map_err(Failure::new)?;
        for sample in &samples {
            if !each(sample)? {
                return Ok(false);
            }
        }
        Ok::<_, Failure>(true)
    };
    for line in input.lines() {
        let line = line
            .map_err(|error| Failure::new(format_args!("cannot read standard input: {error}")))?;
        let is_end = ["---", "..."].iter().any(|end| {
            let rest = line.strip_prefix(end);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '#']))
        });
        if is_end {
            if !all(&std::mem::take(&mut document))? {
                return Ok(());
            }
            // What follows on the line belongs to the next document.
            document.push_str(line.get(3..).unwrap_or_default());
            document.push('\n');
        } else if document.trim().is_empty() && line.starts_with('{') {
            if !all(&line)? {
                return Ok(());
            }
        } else {
            document.push_str(&line);
            document.push('\n');
        }
    }
    all(&document).map(drop)
}

/// The beginning of what may be long.
fn excerpt(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, most: usize) -> Vec<i128> {
        let mut numbers = Vec::new();
        read(text.as_bytes(), |sample| {
            let Data::Fields(fields) = sample else {
                panic!("{sample:?}");
            };
            let [(_, Data::Integer(number))] = fields[..] else {
                panic!("{sample:?}");
            };
            numbers.push(number);
            Ok(numbers.len() < most)
        })
        .expect("samples");
        numbers
    }

    #[test]
    fn a_stream_is_lines_of_json_or_documents_of_yaml() {
        assert_eq!(numbers("{\"a\":1}\n\n{\"a\":2}\n{a: 3}\n", 9), [1, 2, 3]);
        assert_eq!(
            numbers("a: 1\n---\na:\n  2\n...\n--- {a: 3}\n", 9),
            [1, 2, 3]
        );
        assert_eq!(numbers("# prices\n{\"a\":1}", 9), [1]);
        assert_eq!(numbers("a: 1\n---\na: 2\n---\nnot: [even", 2), [1, 2]);
    }

    #[test]
    fn errors_show_the_text_and_the_place() {
        assert_eq!(
            parse("{\"a\": 1 2 ]"),
            Err("`{\"a\": 1 2 ]` is no JSON: line 1, column 9: expected `,` or `}`".to_owned())
        );
        let error = parse("a: 1\n b: 2").expect_err("not indented so");
        assert!(
            error.starts_with("`a: 1\n b: 2` is no YAML: line 2, column"),
            "{error}"
        );
    }
}
