//! A sample that is given as JSON, in the form in which `tickwire topic echo` prints it, encoded by
//! a type that is known only now.

use serde_json::{Map, Value};
use tickwire::cdr::{
    BitmaskDescription, EncodeError, EnumDescription, Member, MemberHeader, StructMark, Type,
    TypeDescription, UnionDescription, Writer,
};
use tickwire::qos::nearest_name;

/// Whether a member may be left out: it is its default then, which is zero, empty or the first
/// literal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Omissions {
    Refused,
    Defaulted,
}

/// Writes a sample; if it is not of the type, says where and why.
pub(super) fn write_sample(
    ty: &TypeDescription,
    sample: &Value,
    omissions: Omissions,
    writer: &mut Writer<'_>,
) -> Result<(), String> {
    let mut encoder = Encoder { omissions, writer };
    encoder.structure(ty, sample, &ty.name)
}

struct Encoder<'w, 'b> {
    omissions: Omissions,
    writer: &'w mut Writer<'b>,
}

impl Encoder<'_, '_> {
    fn structure(&mut self, ty: &TypeDescription, value: &Value, at: &str) -> Result<(), String> {
        let object = object(value, at)?;
        let is_known = |name: &str| ty.members.iter().any(|member| &*member.name == name);
        if let Some(unknown) = object.keys().find(|name| !is_known(name)) {
            let names = ty.members.iter().map(|member| &*member.name);
            return Err(unknown_name(at, "member", unknown, names));
        }
        let mark = self.writer.begin_struct(ty.extensibility);
        for member in ty.members.iter() {
            let value = object.get(&*member.name);
            self.member(&mark, member, value, at)?;
        }
        self.writer
            .end_struct(mark)
            .map_err(|error| text(at, error))
    }

    fn member(
        &mut self,
        mark: &StructMark,
        member: &Member,
        value: Option<&Value>,
        at: &str,
    ) -> Result<(), String> {
        let at = format!("{at}.{}", &*member.name);
        let header = MemberHeader::from(member);
        let default;
        let value = match value {
            None | Some(Value::Null) if member.optional => {
                self.writer.absent_member(mark, header);
                return Ok(());
            }
            None if self.omissions == Omissions::Refused => {
                return Err(format!("`{at}` is missing; --defaults fills in what is"));
            }
            None => {
                default = default_of(&member.ty, &at)?;
                &default
            }
            Some(value) => value,
        };
        let begun = self.writer.begin_member(mark, header);
        self.value(&member.ty, value, &at)?;
        self.writer
            .end_member(begun)
            .map_err(|error| text(&at, error))
    }

    fn union(&mut self, ty: &UnionDescription, value: &Value, at: &str) -> Result<(), String> {
        let object = object(value, at)?;
        let mut members = object.iter().filter(|(name, _)| *name != DISCRIMINATOR);
        let given = members.next();
        if let Some((second, _)) = members.next() {
            return Err(format!("`{at}` is a union: it cannot have `{second}`, too"));
        }
        let case = match given {
            None => None,
            Some((name, _)) => {
                let mut cases = ty.cases.iter();
                let found = cases.find(|case| &*case.member.name == name);
                let names = ty.cases.iter().map(|case| &*case.member.name);
                Some(found.ok_or_else(|| unknown_name(at, "member", name, names))?)
            }
        };
        let number = match (object.get(DISCRIMINATOR), case) {
            (Some(value), _) => label_of(&ty.discriminator, value, at)?,
            (None, Some(case)) => match case.labels.first() {
                Some(label) => i64::from(*label),
                None => unlabelled(ty),
            },
            (None, None) => return Err(format!("`{at}` needs a `{DISCRIMINATOR}` or a member")),
        };
        let selected = ty.case(number);
        if selected.map(|case| case.member.id) != case.map(|case| case.member.id) {
            let wanted = selected.map_or("no member", |case| &*case.member.name);
            return Err(format!("`{at}`: the {DISCRIMINATOR} selects {wanted}"));
        }
        let mark = self.writer.begin_struct(ty.extensibility);
        let header = MemberHeader::of_discriminator(ty.discriminator.length_code());
        let begun = self.writer.begin_member(&mark, header);
        self.label(&ty.discriminator, number);
        self.writer
            .end_member(begun)
            .map_err(|error| text(at, error))?;
        if let (Some(case), Some((_, value))) = (case, given) {
            self.member(&mark, &case.member, Some(value), at)?;
        }
        self.writer
            .end_struct(mark)
            .map_err(|error| text(at, error))
    }

    /// Writes a discriminator, whose value fits its type.
    fn label(&mut self, ty: &Type, number: i64) {
        let size = match ty {
            Type::Enum(of) => of.size(),
            other => other.primitive_size().unwrap_or(4),
        };
        self.writer.write_bits(number.cast_unsigned(), size);
    }

    fn value(&mut self, ty: &Type, value: &Value, at: &str) -> Result<(), String> {
        match ty {
            Type::Struct(of) => self.structure(of, value, at),
            Type::Union(of) => self.union(of, value, at),
            Type::Sequence { element, bound } => {
                let elements = elements(value, at)?;
                check_bound(elements.len(), *bound, at)?;
                let mark = self.writer.begin_sequence(element.is_primitive());
                self.elements(element, elements, at)?;
                let ended = self.writer.end_sequence(mark, elements.len());
                ended.map_err(|error| text(at, error))
            }
            Type::Array { .. } => {
                let mut innermost = ty;
                while let Type::Array { element, .. } = innermost {
                    innermost = element;
                }
                let mark = self.writer.begin_array(innermost.is_primitive());
                self.array(ty, value, at)?;
                self.writer
                    .end_sequence(mark, 0)
                    .map_err(|error| text(at, error))
            }
            Type::Map {
                key,
                value: of,
                bound,
            } => {
                let entries = object(value, at)?;
                check_bound(entries.len(), *bound, at)?;
                let is_primitive = key.is_primitive() && of.is_primitive();
                let mark = self.writer.begin_sequence(is_primitive);
                for (name, value) in entries {
                    let at = format!("{at}[{name:?}]");
                    self.value(key, &key_value(key, name), &at)?;
                    self.value(of, value, &at)?;
                }
                let ended = self.writer.end_sequence(mark, entries.len());
                ended.map_err(|error| text(at, error))
            }
            scalar => self.scalar(scalar, value, at),
        }
    }

    /// An array dimension by dimension, though it has one frame.
    fn array(&mut self, ty: &Type, value: &Value, at: &str) -> Result<(), String> {
        let Type::Array { element, length } = ty else {
            return self.value(ty, value, at);
        };
        let elements = elements(value, at)?;
        if u32::try_from(elements.len()) != Ok(*length) {
            let given = elements.len();
            return Err(format!("`{at}` has {length} elements, {given} are given"));
        }
        for (index, value) in elements.iter().enumerate() {
            self.array(element, value, &format!("{at}[{index}]"))?;
        }
        Ok(())
    }

    fn elements(&mut self, ty: &Type, values: &[Value], at: &str) -> Result<(), String> {
        let mut values = values.iter().enumerate();
        values.try_for_each(|(index, value)| self.value(ty, value, &format!("{at}[{index}]")))
    }

    fn scalar(&mut self, ty: &Type, value: &Value, at: &str) -> Result<(), String> {
        let writer = &mut *self.writer;
        let written = match ty {
            Type::Bool => {
                let value = value.as_bool().ok_or_else(|| expected(ty, value, at))?;
                writer.write_bool(value);
                Ok(())
            }
            Type::F32 => {
                let value = float(ty, value, at)?;
                let narrow = value as f32;
                if value.is_finite() && narrow.is_infinite() {
                    return Err(format!("`{at}`: {value:e} is beyond a float"));
                }
                writer.write_f32(narrow);
                Ok(())
            }
            Type::F64 => {
                writer.write_f64(float(ty, value, at)?);
                Ok(())
            }
            Type::String { bound } => writer.write_string(string(ty, value, at)?, *bound),
            Type::WString { bound } => writer.write_wstring(string(ty, value, at)?, *bound),
            Type::Enum(of) => {
                writer.write_enum(literal(of, value, at)?, of.size());
                Ok(())
            }
            Type::Bitmask(of) => {
                writer.write_bits(bits(of, value, at)?, of.size());
                Ok(())
            }
            integer => {
                let size = integer.primitive_size().unwrap_or_default();
                writer.write_bits(integer_bits(integer, value, at)?, size);
                Ok(())
            }
        };
        written.map_err(|error| text(at, error))
    }
}

/// The bits of an integer or a character; the low ones are its encoding.
fn integer_bits(ty: &Type, value: &Value, at: &str) -> Result<u64, String> {
    let signed = |least: i64, greatest: i64| {
        let number = value.as_i64().filter(|n| (least..=greatest).contains(n));
        number.map(i64::cast_unsigned)
    };
    let unsigned = |greatest: u64| value.as_u64().filter(|number| *number <= greatest);
    let character = |greatest: u64| {
        let mut chars = value.as_str().unwrap_or_default().chars();
        let char = chars.next().filter(|_| chars.next().is_none());
        char.map(|char| u64::from(u32::from(char)))
            .filter(|char| *char <= greatest)
    };
    let bits = match ty {
        Type::U8 | Type::Byte => unsigned(u8::MAX.into()),
        Type::U16 => unsigned(u16::MAX.into()),
        Type::U32 => unsigned(u32::MAX.into()),
        Type::U64 => unsigned(u64::MAX),
        Type::I8 => signed(i8::MIN.into(), i8::MAX.into()),
        Type::I16 => signed(i16::MIN.into(), i16::MAX.into()),
        Type::I32 => signed(i32::MIN.into(), i32::MAX.into()),
        Type::I64 => signed(i64::MIN, i64::MAX),
        Type::Char => character(u8::MAX.into()),
        Type::WChar => character(u16::MAX.into()).or_else(|| unsigned(u16::MAX.into())),
        _ => None,
    };
    bits.ok_or_else(|| expected(ty, value, at))
}

fn float(ty: &Type, value: &Value, at: &str) -> Result<f64, String> {
    match value.as_str() {
        Some("NaN") => Ok(f64::NAN),
        Some("inf") => Ok(f64::INFINITY),
        Some("-inf") => Ok(f64::NEG_INFINITY),
        _ => value.as_f64().ok_or_else(|| expected(ty, value, at)),
    }
}

fn string<'v>(ty: &Type, value: &'v Value, at: &str) -> Result<&'v str, String> {
    value.as_str().ok_or_else(|| expected(ty, value, at))
}

/// A literal by its name or its value.
fn literal(of: &EnumDescription, value: &Value, at: &str) -> Result<i32, String> {
    let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
    if let Some(literal) = number.and_then(|number| of.literal(number)) {
        return Ok(literal.value);
    }
    let name = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let found = of.literals.iter().find(|literal| *literal.name == *name);
    found.map(|literal| literal.value).ok_or_else(|| {
        let names = of.literals.iter().map(|literal| &*literal.name);
        unknown_name(at, "literal", &name, names)
    })
}

/// A list of names and positions of bits, or all bits as a number.
fn bits(of: &BitmaskDescription, value: &Value, at: &str) -> Result<u64, String> {
    let width = u32::from(of.bit_bound);
    let all = u64::MAX
        .checked_shr(64_u32.saturating_sub(width))
        .unwrap_or(0);
    if let Some(bits) = value.as_u64() {
        let fits = bits & !all == 0;
        return fits
            .then_some(bits)
            .ok_or_else(|| format!("`{at}` has {width} bits"));
    }
    elements(value, at)?.iter().try_fold(0, |bits, flag| {
        let position = match (flag.as_u64(), flag.as_str()) {
            (Some(position), _) => u32::try_from(position).ok(),
            (None, name) => {
                let mut flags = of.flags.iter();
                let found = flags.find(|flag| Some(&*flag.name) == name);
                let names = of.flags.iter().map(|flag| &*flag.name);
                let unknown = || unknown_name(at, "bit", name.unwrap_or_default(), names);
                Some(u32::from(found.ok_or_else(unknown)?.position))
            }
        };
        let position = position.filter(|position| *position < width);
        let bit = position.and_then(|position| 1_u64.checked_shl(position));
        bit.map(|bit| bits | bit)
            .ok_or_else(|| format!("`{at}` has {width} bits"))
    })
}

/// The value of a discriminator.
fn label_of(ty: &Type, value: &Value, at: &str) -> Result<i64, String> {
    match ty {
        Type::Bool => value
            .as_bool()
            .map(i64::from)
            .ok_or_else(|| expected(ty, value, at)),
        Type::Enum(of) => literal(of, value, at).map(i64::from),
        other => integer_bits(other, value, at).map(u64::cast_signed),
    }
}

/// A value that selects the default member.
fn unlabelled(ty: &UnionDescription) -> i64 {
    let is_free = |value: &i64| {
        let mut labels = ty.cases.iter().flat_map(|case| case.labels.iter());
        labels.all(|label| i64::from(*label) != *value)
    };
    match &ty.discriminator {
        Type::Enum(of) => of
            .literals
            .iter()
            .map(|literal| i64::from(literal.value))
            .find(is_free),
        _ => (0..).find(is_free),
    }
    .unwrap_or_default()
}

/// A key of a map, which JSON has as text.
fn key_value(ty: &Type, name: &str) -> Value {
    let is_text = matches!(
        ty,
        Type::String { .. } | Type::WString { .. } | Type::Enum(_) | Type::Char | Type::WChar
    );
    let parsed = (!is_text)
        .then(|| serde_json::from_str(name).ok())
        .flatten();
    parsed.unwrap_or_else(|| Value::from(name))
}

fn default_of(ty: &Type, at: &str) -> Result<Value, String> {
    Ok(match ty {
        Type::Bool => Value::from(false),
        Type::String { .. } | Type::WString { .. } => Value::from(""),
        Type::Char | Type::WChar => Value::from("\0"),
        Type::Sequence { .. } | Type::Bitmask(_) => Value::Array(Vec::new()),
        Type::Array { length, .. } if *length > MOST_DEFAULTS => {
            return Err(format!("`{at}` has {length} elements, too many to fill in"));
        }
        Type::Array { element, length } => {
            let length = usize::try_from(*length).unwrap_or(usize::MAX);
            Value::Array(vec![default_of(element, at)?; length])
        }
        Type::Struct(_) | Type::Map { .. } => Value::Object(Map::new()),
        Type::Enum(of) => {
            let first = of
                .literals
                .first()
                .ok_or_else(|| format!("`{at}` has no literal"))?;
            Value::from(first.value)
        }
        Type::Union(of) => {
            let first = of
                .cases
                .first()
                .ok_or_else(|| format!("`{at}` has no member"))?;
            let value = default_of(&first.member.ty, at)?;
            let name = first.member.name.to_string();
            Value::Object([(name, value)].into_iter().collect())
        }
        _ => Value::from(0),
    })
}

fn object<'v>(value: &'v Value, at: &str) -> Result<&'v Map<String, Value>, String> {
    value
        .as_object()
        .ok_or_else(|| format!("`{at}`: expected an object, found {value}"))
}

fn elements<'v>(value: &'v Value, at: &str) -> Result<&'v [Value], String> {
    let list = value.as_array().map(Vec::as_slice);
    list.ok_or_else(|| format!("`{at}`: expected a list, found {value}"))
}

fn check_bound(count: usize, bound: u32, at: &str) -> Result<(), String> {
    EncodeError::check_bound(count, bound).map_err(|error| text(at, error))
}

fn expected(ty: &Type, value: &Value, at: &str) -> String {
    format!("`{at}`: expected {ty}, found {value}")
}

fn text(at: &str, error: EncodeError) -> String {
    format!("`{at}`: {error}")
}

fn unknown_name<'n>(
    at: &str,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> String {
    let hint = match nearest_name(name, known.clone()) {
        Some(near) => format!("is `{near}` meant?"),
        None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
    };
    format!("`{at}` has no {what} `{name}`; {hint}")
}

/// What a union's discriminator is called in JSON.
const DISCRIMINATOR: &str = "$discriminator";
/// Elements of an array that are filled in at most, in each dimension.
const MOST_DEFAULTS: u32 = 10_000;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use tickwire::Topic;
    use tickwire::cdr::dynamic::{Form, to_json};
    use tickwire::cdr::{Representation, Topic as _, encapsulated};

    #[derive(Topic, Clone, Copy)]
    #[topic(name = "Side", bit_bound = 8, crate = tickwire::cdr)]
    enum Side {
        Buy = 1,
        Sell = 2,
    }

    #[derive(Topic)]
    #[topic(name = "Flags", final, flags(OPEN, LATE = 9), crate = tickwire::cdr)]
    #[allow(dead_code, reason = "only its description is used")]
    struct Flags(u16);

    #[derive(Topic)]
    #[topic(name = "Change", discriminator = Side, crate = tickwire::cdr)]
    #[allow(dead_code, reason = "only its description is used")]
    enum Change {
        #[topic(case = Side::Buy)]
        Bid(f64),
        #[topic(case = Side::Sell)]
        Ask(Vec<String>),
    }

    macro_rules! all {
        ($name:ident, $text:literal, $extensibility:ident) => {
            #[derive(Topic)]
            #[topic(name = $text, $extensibility, crate = tickwire::cdr)]
            #[allow(dead_code, reason = "only its description is used")]
            struct $name {
                #[topic(key)]
                symbol: String,
                small: i8,
                large: u64,
                side: Side,
                flags: Flags,
                change: Change,
                note: Option<String>,
                grid: [[i16; 2]; 2],
                letter: char,
                counts: BTreeMap<i32, f32>,
                sides: Vec<Side>,
            }
        };
    }
    all!(Fixed, "Fixed", final);
    all!(Open, "Open", appendable);
    all!(Loose, "Loose", mutable);

    const SAMPLE: &str = r#"{"symbol":"A\"B","small":-128,"large":18446744073709551615,"side":"Sell","flags":["OPEN",4],"change":{"$discriminator":"Sell","ask":["x"]},"grid":[[1,2],[3,-4]],"letter":"é","counts":{"-7":0.5},"sides":["Buy"]}"#;

    fn encode(ty: &TypeDescription, json: &str, omissions: Omissions) -> Result<String, String> {
        let sample: Value = serde_json::from_str(json).expect("JSON");
        let mut texts = Vec::new();
        for representation in [Representation::Xcdr1, Representation::Xcdr2] {
            let mut payload = Vec::new();
            encapsulated(representation, ty.extensibility, &mut payload, |writer| {
                write_sample(ty, &sample, omissions, writer)
            })?;
            let mut text = String::new();
            to_json(ty, &payload, Form::Sample, &mut text).map_err(|error| error.to_string())?;
            texts.push(text);
        }
        assert_eq!(texts[0], texts[1]);
        Ok(texts.remove(0))
    }

    #[test]
    fn what_echo_prints_can_be_written() {
        for ty in [
            Fixed::description(),
            Open::description(),
            Loose::description(),
        ] {
            assert_eq!(
                encode(ty, SAMPLE, Omissions::Refused).as_deref(),
                Ok(SAMPLE)
            );
        }
    }

    #[test]
    fn what_is_left_out_is_filled_in_if_wanted() {
        let refused = encode(Open::description(), "{}", Omissions::Refused);
        let missing = "`Open.symbol` is missing; --defaults fills in what is";
        assert_eq!(refused, Err(missing.to_owned()));
        let filled = encode(Open::description(), r#"{"small":1}"#, Omissions::Defaulted);
        let expected = r#"{"symbol":"","small":1,"large":0,"side":"Buy","flags":[],"change":{"$discriminator":"Buy","bid":0.0},"grid":[[0,0],[0,0]],"letter":"\u0000","counts":{},"sides":[]}"#;
        assert_eq!(filled.as_deref(), Ok(expected));
    }

    #[test]
    fn what_is_not_of_the_type_is_refused_with_its_place() {
        for (json, error) in [
            (r#"[]"#, "`Open`: expected an object, found []"),
            (
                r#"{"symbl":""}"#,
                "`Open` has no member `symbl`; is `symbol` meant?",
            ),
            (r#"{"symbol":7}"#, "`Open.symbol`: expected string, found 7"),
            (
                r#"{"symbol":"a\u0000"}"#,
                "`Open.symbol`: a string contains NUL",
            ),
            (r#"{"small":128}"#, "`Open.small`: expected int8, found 128"),
            (r#"{"large":-1}"#, "`Open.large`: expected uint64, found -1"),
            (
                r#"{"side":"Sel"}"#,
                "`Open.side` has no literal `Sel`; is `Sell` meant?",
            ),
            (
                r#"{"side":3}"#,
                "`Open.side` has no literal `3`; there are Buy, Sell",
            ),
            (r#"{"flags":[16]}"#, "`Open.flags` has 16 bits"),
            (r#"{"flags":65536}"#, "`Open.flags` has 16 bits"),
            (
                r#"{"change":{}}"#,
                "`Open.change` needs a `$discriminator` or a member",
            ),
            (
                r#"{"change":{"$discriminator":"Buy","ask":[]}}"#,
                "`Open.change`: the $discriminator selects bid",
            ),
            (
                r#"{"grid":[[1,2]]}"#,
                "`Open.grid` has 2 elements, 1 are given",
            ),
            (
                r#"{"grid":[[1,2],[3,"x"]]}"#,
                "`Open.grid[1][1]`: expected int16, found \"x\"",
            ),
            (
                r#"{"letter":"ab"}"#,
                "`Open.letter`: expected char, found \"ab\"",
            ),
            (
                r#"{"letter":"€"}"#,
                "`Open.letter`: expected char, found \"€\"",
            ),
            (
                r#"{"counts":{"x":1}}"#,
                "`Open.counts[\"x\"]`: expected int32, found \"x\"",
            ),
            (
                r#"{"counts":{"1":1e39}}"#,
                "`Open.counts[\"1\"]`: 1e39 is beyond a float",
            ),
        ] {
            let encoded = encode(Open::description(), json, Omissions::Defaulted);
            assert_eq!(encoded, Err(error.to_owned()), "{json}");
        }
    }
}
