//! Random templates, and random messages of them, from a seed.

use std::fmt::Write;

use tickwire_fast::{BuildError, Builder, Decimal, FieldType, Operator, Value};

/// A field of a random template.
pub(crate) struct Spec {
    name: String,
    field_type: FieldType,
    optional: bool,
    form: Form,
    fields: Vec<Self>,
}

enum Form {
    One(Attached),
    /// Exponent and mantissa with operators of their own.
    Split(Attached, Attached),
}

/// An operator with its initial value as text, and a dictionary key that others may have too.
struct Attached {
    operator: Operator,
    initial: Option<String>,
    key: Option<&'static str>,
}

pub(crate) fn xml(specs: &[Spec]) -> String {
    let mut xml = String::from("<templates><template name=\"T\" id=\"1\">\n");
    specs.iter().for_each(|spec| spec.write(&mut xml));
    xml + "</template></templates>"
}

impl Spec {
    fn write(&self, xml: &mut String) {
        let element = self.field_type.name();
        let presence = if self.optional {
            " presence=\"optional\""
        } else {
            ""
        };
        let charset = if self.field_type == FieldType::Unicode {
            " charset=\"unicode\""
        } else {
            ""
        };
        write!(xml, "<{element} name=\"{}\"{presence}{charset}>", self.name).unwrap();
        match &self.form {
            Form::Split(exponent, mantissa) => {
                write!(
                    xml,
                    "<exponent>{}</exponent><mantissa>{}</mantissa>",
                    exponent.xml(),
                    mantissa.xml()
                )
                .unwrap();
            }
            Form::One(length) if self.field_type == FieldType::Sequence => {
                write!(xml, "<length>{}</length>", length.xml()).unwrap();
            }
            Form::One(attached) => xml.push_str(&attached.xml()),
        }
        self.fields.iter().for_each(|field| field.write(xml));
        writeln!(xml, "</{element}>").unwrap();
    }

    fn constant(&self) -> Option<&str> {
        match &self.form {
            Form::One(Attached {
                operator: Operator::Constant,
                initial,
                ..
            }) => initial.as_deref(),
            _ => None,
        }
    }
}

impl Attached {
    fn xml(&self) -> String {
        if self.operator == Operator::None {
            return String::new();
        }
        let initial = self
            .initial
            .as_ref()
            .map(|value| format!(" value=\"{value}\""))
            .unwrap_or_default();
        let key = self
            .key
            .map(|key| format!(" key=\"{key}\""))
            .unwrap_or_default();
        format!("<{}{initial}{key}/>", self.operator.name())
    }
}

/// A source of choices (splitmix64).
pub(crate) struct Generator {
    state: u64,
    name: u32,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            state: seed,
            name: 0,
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Changes, removes or adds a few bytes.
    pub(crate) fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len() + 1);
            match self.below(3) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                1 => bytes.truncate(at),
                _ => bytes.insert(at, self.next() as u8),
            }
        }
    }

    pub(crate) fn specs(&mut self, size: u32) -> Vec<Spec> {
        (0..size).map(|_| self.spec(3)).collect()
    }

    fn spec(&mut self, depth: u32) -> Spec {
        const TYPES: [FieldType; 10] = [
            FieldType::UInt32,
            FieldType::Int32,
            FieldType::UInt64,
            FieldType::Int64,
            FieldType::Ascii,
            FieldType::Unicode,
            FieldType::ByteVector,
            FieldType::Decimal,
            FieldType::Group,
            FieldType::Sequence,
        ];
        let field_type = TYPES[self.below(if depth == 0 { 8 } else { 10 })];
        let optional = self.one_in(2);
        self.name += 1;
        let name = format!("F{}", self.name);
        let form = match field_type {
            FieldType::Decimal if self.one_in(2) => Form::Split(
                self.attached(FieldType::Int8, optional),
                self.attached(FieldType::Int64, false),
            ),
            FieldType::Group => Form::One(Attached {
                operator: Operator::None,
                initial: None,
                key: None,
            }),
            FieldType::Sequence => Form::One(self.attached(FieldType::UInt8, optional)),
            other => Form::One(self.attached(other, optional)),
        };
        let field_count = if field_type.is_container() {
            self.below(5)
        } else {
            0
        };
        let fields = (0..field_count).map(|_| self.spec(depth - 1)).collect();
        Spec {
            name,
            field_type,
            optional,
            form,
            fields,
        }
    }

    fn attached(&mut self, field_type: FieldType, optional: bool) -> Attached {
        use Operator::{Constant, Copy, Default, Delta, Increment, None, Tail};
        let operators = [None, Constant, Default, Copy, Increment, Delta, Tail]
            .map(|o| o.applies_to(field_type).then_some(o));
        let operators: Vec<_> = operators.into_iter().flatten().collect();
        let operator = operators[self.below(operators.len())];
        let needs_value = operator == Constant || (operator == Default && !optional);
        let initial =
            (operator != None && (needs_value || self.one_in(2))).then(|| self.text(field_type));
        let has_entry = !matches!(operator, None | Constant | Default);
        let key = (has_entry && self.one_in(8)).then(|| ["K", "L"][self.below(2)]);
        Attached {
            operator,
            initial,
            key,
        }
    }

    /// An initial value; small types stand for exponents and lengths.
    fn text(&mut self, field_type: FieldType) -> String {
        match field_type {
            FieldType::Int8 => self.below(5).to_string(),
            FieldType::UInt8 => self.below(3).to_string(),
            FieldType::Decimal => self.decimal().to_string(),
            FieldType::ByteVector => self
                .bytes()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            FieldType::Ascii | FieldType::Unicode => self.string(field_type),
            integer => self.integer(integer).to_string(),
        }
    }

    /// Integers that often repeat, often grow by one, and often are at the edge of their type.
    fn integer(&mut self, field_type: FieldType) -> i128 {
        let max = i128::from(field_type.max());
        let min = if field_type.is_signed() { -max - 1 } else { 0 };
        let value = match self.below(8) {
            0 => max - self.below(2) as i128,
            1 => min + self.below(2) as i128,
            2 => {
                i128::from(self.next() >> self.below(64))
                    - i128::from(self.next() >> self.below(64))
            }
            _ => self.below(4) as i128 + 62,
        };
        if (min..=max).contains(&value) {
            value
        } else {
            1
        }
    }

    fn decimal(&mut self) -> Decimal {
        let exponent = if self.one_in(8) {
            self.below(127) as i8 - 63
        } else {
            -(self.below(3) as i8)
        };
        let mantissa = i64::try_from(self.integer(FieldType::Int64)).unwrap_or_default();
        Decimal::new(if self.one_in(4) { 5 } else { mantissa }, exponent).unwrap_or_default()
    }

    fn string(&mut self, field_type: FieldType) -> String {
        let alphabet: &[char] = if field_type == FieldType::Ascii {
            &['A', 'B', 'c', '~']
        } else {
            &['A', 'é', 'è', '€']
        };
        (0..self.below(4))
            .map(|_| alphabet[self.below(4)])
            .collect()
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(4))
            .map(|_| [0, 0x7f, 0x80, 0xff][self.below(4)])
            .collect()
    }

    /// Fills a message with random values.
    pub(crate) fn fill(
        &mut self,
        specs: &[Spec],
        builder: &mut Builder<'_>,
    ) -> Result<(), BuildError> {
        for spec in specs {
            if spec.optional && self.one_in(3) {
                continue;
            }
            self.fill_one(spec, builder)?;
        }
        Ok(())
    }

    fn fill_one(&mut self, spec: &Spec, builder: &mut Builder<'_>) -> Result<(), BuildError> {
        let name = &spec.name;
        let constant = spec.constant().map(str::to_owned);
        let string;
        let bytes: Vec<u8>;
        let value = match spec.field_type {
            FieldType::Group => {
                return builder
                    .group(name, |group| self.fill(&spec.fields, group))
                    .map(|_| ());
            }
            FieldType::Sequence => {
                let len = constant.map_or_else(|| self.below(4), |len| len.parse().unwrap());
                return builder
                    .sequence(name, 0..len, |element, _| self.fill(&spec.fields, element))
                    .map(|_| ());
            }
            FieldType::Decimal => {
                let decimal = constant.map_or_else(
                    || self.decimal(),
                    |text| text.parse::<Decimal>().unwrap().normalized(),
                );
                Value::Decimal(self.suited(decimal, &spec.form))
            }
            FieldType::ByteVector => {
                bytes = match constant {
                    Some(hex) => (0..hex.len())
                        .step_by(2)
                        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                        .collect(),
                    None => self.bytes(),
                };
                Value::Bytes(&bytes)
            }
            FieldType::Ascii | FieldType::Unicode => {
                // NUL cannot be written in XML, and needs a preamble on the wire.
                let zero = spec.field_type == FieldType::Ascii && self.one_in(8);
                string = constant.unwrap_or_else(|| {
                    if zero {
                        "\0A".to_owned()
                    } else {
                        self.string(spec.field_type)
                    }
                });
                Value::Text(&string)
            }
            integer => {
                let value =
                    constant.map_or_else(|| self.integer(integer), |text| text.parse().unwrap());
                if integer.is_signed() {
                    Value::Signed(i64::try_from(value).unwrap())
                } else {
                    Value::Unsigned(u64::try_from(value).unwrap())
                }
            }
        };
        builder.set(name, value).map(|_| ())
    }

    /// The decimal with what constants of its parts demand.
    fn suited(&mut self, decimal: Decimal, form: &Form) -> Decimal {
        let Form::Split(exponent, mantissa) = form else {
            return decimal;
        };
        let fixed = |part: &Attached| {
            part.initial
                .clone()
                .filter(|_| part.operator == Operator::Constant)
        };
        let exponent = fixed(exponent).map_or(decimal.exponent(), |text| text.parse().unwrap());
        let mantissa = fixed(mantissa).map_or(decimal.mantissa(), |text| text.parse().unwrap());
        Decimal::new(mantissa, exponent).unwrap()
    }
}
