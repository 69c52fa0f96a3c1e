//! Lines that the user shapes: `{symbol} {price} at {$time}`.

use std::collections::BTreeMap;

use tickwire::Decimal;
use tickwire::cdr::TypeDescription;

use super::field::FieldPath;

/// Text with places for what is in a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(FieldPath),
    Info(Info),
}

/// What is known of a sample besides its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Info {
    Writer,
    SequenceNumber,
    Time,
    Latency,
}

impl Template {
    /// Reads `{FIELD}` and `{$NAME}`; `{{` and `}}` are braces, `\n`, `\t` and `\\` as usual.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(char) = rest.chars().next() {
            rest = &rest[char.len_utf8()..];
            match char {
                '{' | '}' if rest.starts_with(char) => {
                    plain.push(char);
                    rest = &rest[1..];
                }
                '{' => {
                    let (name, after) = rest
                        .split_once('}')
                        .ok_or_else(|| format!("`{text}`: a }} is missing"))?;
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                    parts.push(Part::parse(name)?);
                    rest = after;
                }
                '}' => return Err(format!("`{text}`: }} without {{; a brace alone is }}}}")),
                '\\' => {
                    plain.push(match rest.chars().next() {
                        Some('n') => '\n',
                        Some('t') => '\t',
                        Some('\\') => '\\',
                        _ => return Err(format!("`{text}`: after \\ comes n, t or \\")),
                    });
                    rest = &rest[1..];
                }
                other => plain.push(other),
            }
        }
        parts.push(Part::Text(plain));
        Ok(Self(parts))
    }

    /// Whether samples of a type can have all its fields.
    pub(super) fn check(&self, of: &TypeDescription) -> Result<(), String> {
        self.0.iter().try_for_each(|part| match part {
            Part::Field(field) => field.check(of),
            Part::Text(_) | Part::Info(_) => Ok(()),
        })
    }

    /// Puts a sample's JSON and what `info` says into the places. Text stands there without quotes, decimals
    /// as people write them, absent fields as nothing.
    pub(super) fn fill(&self, sample: &str, info: impl Fn(Info) -> String, out: &mut String) {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Info(what) => out.push_str(&info(*what)),
                Part::Field(field) => match field.of(sample) {
                    Some(text) if text.starts_with('"') => {
                        let text: String = serde_json::from_str(text).unwrap_or_default();
                        out.push_str(&text);
                    }
                    text => match text.and_then(decimal) {
                        Some(decimal) => out.push_str(&decimal.to_string()),
                        None => out.push_str(text.unwrap_or_default()),
                    },
                },
            }
        }
    }
}

/// The number that JSON of a decimal stands for; `None` if it is of anything else.
fn decimal(text: &str) -> Option<Decimal> {
    let parts: BTreeMap<String, i64> = serde_json::from_str(text).ok()?;
    let (mantissa, exponent) = (parts.get("mantissa")?, parts.get("exponent")?);
    let decimal = Decimal::new(*mantissa, i8::try_from(*exponent).ok()?)?;
    (parts.len() == 2).then_some(decimal)
}

impl Part {
    fn parse(name: &str) -> Result<Self, String> {
        Ok(match name {
            "$writer" => Self::Info(Info::Writer),
            "$sequence_number" => Self::Info(Info::SequenceNumber),
            "$time" => Self::Info(Info::Time),
            "$latency_us" => Self::Info(Info::Latency),
            name if name.starts_with('$') => {
                return Err(format!(
                    "`{name}` is none of $writer, $sequence_number, $time and $latency_us"
                ));
            }
            name => Self::Field(FieldPath::parse(name)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(template: &str) -> Result<String, String> {
        let template = Template::parse(template)?;
        let mut out = String::new();
        let sample = r#"{"symbol":"A\tB","price":[1,2],"last":{"mantissa":10030,"exponent":-2}}"#;
        template.fill(sample, |info| format!("<{info:?}>"), &mut out);
        Ok(out)
    }

    #[test]
    fn places_are_filled() {
        assert_eq!(
            fill(r"{{{symbol}}}\t{price[1]} of {price} by {$writer}{absent}\n"),
            Ok("{A\tB}\t2 of [1,2] by <Writer>\n".to_owned())
        );
        assert_eq!(fill("{last} {last.exponent}"), Ok("100.30 -2".to_owned()));
        assert_eq!(fill("é"), Ok("é".to_owned()));
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        for (template, error) in [
            ("{a", "`{a`: a } is missing"),
            ("a}", "`a}`: } without {; a brace alone is }}"),
            (r"a\x", r"`a\x`: after \ comes n, t or \"),
            ("a\\", "`a\\`: after \\ comes n, t or \\"),
            (
                "{$when}",
                "`$when` is none of $writer, $sequence_number, $time and $latency_us",
            ),
            ("{}", "``: a name is missing, as in `a.b[0]`"),
        ] {
            assert_eq!(fill(template), Err(error.to_owned()), "{template}");
        }
    }
}
