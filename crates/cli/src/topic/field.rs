//! Parts of samples by name: `a.b[0]`, checked against the type and taken out of its JSON.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use tickwire::cdr::{Member, Type, TypeDescription};
use tickwire::qos::nearest_name;

/// Where in a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Index(usize),
}

impl FieldPath {
    /// Reads `a.b[0]`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
            if name.is_empty() {
                return Err(format!("`{text}`: a name is missing, as in `a.b[0]`"));
            }
            steps.push(Step::Member(name.to_owned()));
            for index in indexes.split_terminator(']') {
                let digits = index.strip_prefix('[').and_then(|index| index.parse().ok());
                let wrong = || format!("`{text}`: expected a number in [] instead of `{index}`");
                steps.push(Step::Index(digits.ok_or_else(wrong)?));
            }
            if !indexes.is_empty() && !indexes.ends_with(']') {
                return Err(format!("`{text}`: a ] is missing"));
            }
        }
        Ok(Self(steps))
    }

    /// Whether samples of a type can have it; if not, what they have.
    pub(super) fn check(&self, of: &TypeDescription) -> Result<(), String> {
        let mut at = Place::Struct(of);
        let mut path = of.name.to_string();
        for step in &self.0 {
            at = at.follow(step, &path)?;
            match step {
                Step::Member(name) => path = format!("{path}.{name}"),
                Step::Index(index) => path = format!("{path}[{index}]"),
            }
        }
        Ok(())
    }

    /// The JSON of the field in that of a sample; `None` if it is absent.
    pub(super) fn of<'j>(&self, sample: &'j str) -> Option<&'j str> {
        let mut text = sample;
        for step in &self.0 {
            let value = match step {
                Step::Member(name) => {
                    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
                    *members.get(name)?
                }
                Step::Index(index) => {
                    let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                    *elements.get(*index)?
                }
            };
            text = value.get();
        }
        Some(text)
    }
}

/// What a path has come to.
enum Place<'t> {
    Struct(&'t TypeDescription),
    Type(Type),
}

impl<'t> Place<'t> {
    fn follow(self, step: &Step, path: &str) -> Result<Self, String> {
        let ty = match (self, step) {
            (Self::Struct(of), Step::Member(name)) => {
                return member(of.members.iter(), name, path);
            }
            (Self::Struct(_), Step::Index(_)) => return Err(no_elements(path)),
            (Self::Type(Type::Recursive(link)), _) => {
                let gone = || format!("`{path}` is of a type that is not known");
                link.target().ok_or_else(gone)?
            }
            (Self::Type(ty), _) => ty,
        };
        match (&ty, step) {
            (Type::Struct(of), Step::Member(name)) => member(of.members.iter(), name, path),
            (Type::Union(of), Step::Member(name)) if name == DISCRIMINATOR => {
                Ok(Self::Type(of.discriminator.clone()))
            }
            (Type::Union(of), Step::Member(name)) => {
                member(of.cases.iter().map(|case| &case.member), name, path)
            }
            (Type::Bitset(of), Step::Member(name)) => {
                let field = of.fields.iter().find(|field| *field.name == **name);
                let found = field.map(|field| Self::Type(field.ty.clone()));
                found.ok_or_else(|| format!("`{path}` is {ty}, which has no member `{name}`"))
            }
            (Type::Map { value, .. }, Step::Member(_)) => Ok(Self::Type((**value).clone())),
            (Type::Sequence { element, .. }, Step::Index(_)) => Ok(Self::Type((**element).clone())),
            (Type::Array { element, length }, Step::Index(index)) => {
                match u32::try_from(*index).is_ok_and(|index| index < *length) {
                    true => Ok(Self::Type((**element).clone())),
                    false => Err(format!("`{path}` has {length} elements, counted from 0")),
                }
            }
            (_, Step::Index(_)) => Err(no_elements(path)),
            (ty, Step::Member(name)) => {
                Err(format!("`{path}` is {ty}, which has no member `{name}`"))
            }
        }
    }
}

fn no_elements(path: &str) -> String {
    format!("`{path}` has no elements to be numbered")
}

fn member<'t, 'm>(
    members: impl Iterator<Item = &'m Member> + Clone,
    name: &str,
    path: &str,
) -> Result<Place<'t>, String> {
    let found = members.clone().find(|member| &*member.name == name);
    found
        .map(|member| Place::Type(member.ty.clone()))
        .ok_or_else(|| {
            let names = members.map(|member| &*member.name);
            let near = nearest_name(name, names.clone());
            let hint = near.map_or_else(
                || format!("it has {}", names.collect::<Vec<_>>().join(", ")),
                |near| format!("is `{near}` meant?"),
            );
            format!("`{path}` has no member `{name}`; {hint}")
        })
}

/// What a union's discriminator is called in JSON.
const DISCRIMINATOR: &str = "$discriminator";

#[cfg(test)]
mod tests {
    use super::*;
    use tickwire::Topic;
    use tickwire::cdr::Topic as _;

    #[derive(Topic)]
    #[topic(name = "Level", crate = tickwire::cdr)]
    #[allow(dead_code, reason = "only its description is used")]
    struct Level {
        price: u64,
        sizes: [u8; 2],
    }

    #[derive(Topic)]
    #[topic(name = "Book", crate = tickwire::cdr)]
    #[allow(dead_code, reason = "only its description is used")]
    struct Book {
        symbol: String,
        levels: Vec<Level>,
    }

    fn check(path: &str) -> Result<(), String> {
        FieldPath::parse(path)?.check(Book::description())
    }

    #[test]
    fn fields_are_taken_out_as_they_stand() {
        let sample = r#"{"symbol":"A\"","levels":[{"price":18446744073709551615,"sizes":[1,2]}]}"#;
        let field = |path| FieldPath::parse(path).expect("a path").of(sample);
        assert_eq!(field("symbol"), Some(r#""A\"""#));
        assert_eq!(field("levels[0].price"), Some("18446744073709551615"));
        assert_eq!(field("levels[0].sizes[1]"), Some("2"));
        assert_eq!(field("levels[1].price"), None);
        assert_eq!(field("levels.price"), None);
    }

    #[test]
    fn paths_are_checked_against_the_type() {
        assert_eq!(check("levels[7].sizes[1]"), Ok(()));
        for (path, error) in [
            (
                "level[0]",
                "`Book` has no member `level`; is `levels` meant?",
            ),
            ("x", "`Book` has no member `x`; it has symbol, levels"),
            (
                "levels.price",
                "`Book.levels` is sequence<struct Level>, which has no member `price`",
            ),
            ("symbol[0]", "`Book.symbol` has no elements to be numbered"),
            (
                "levels[0].sizes[2]",
                "`Book.levels[0].sizes` has 2 elements, counted from 0",
            ),
            ("", "``: a name is missing, as in `a.b[0]`"),
            ("a..b", "`a..b`: a name is missing, as in `a.b[0]`"),
            ("a[0", "`a[0`: a ] is missing"),
            ("a[-1]", "`a[-1]`: expected a number in [] instead of `[-1`"),
            ("a[0]b", "`a[0]b`: expected a number in [] instead of `b`"),
        ] {
            assert_eq!(check(path), Err(error.to_owned()), "{path}");
        }
    }
}
