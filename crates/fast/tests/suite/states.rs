//! Every operator in every state of its dictionary entry (FAST 1.1 §6.3), for every type: the table of the standard's
//! sections on operators as data. Decoded from bytes, and encoded back to the same bytes.
//!
//! Field A brings the entry K into its state, B has the operator, and what C copies shows the state after B.

use crate::check::check;

/// A type, with hexadecimal bytes of values in messages and their JSON.
struct Type {
    element: &'static str,
    attributes: &'static str,
    /// An assigned previous value: mandatory, nullable.
    previous: (&'static str, &'static str),
    previous_json: &'static str,
    /// The value after the previous one, for increments.
    next_json: &'static str,
    initial: &'static str,
    initial_json: &'static str,
    /// Delta that changes nothing, nullable and not; the JSON of the default base.
    no_delta: (&'static str, &'static str),
    base_json: &'static str,
    /// Tail of one character, nullable and not; the JSON of what it makes of the previous value, of the initial one and
    /// of nothing.
    tail: Option<Tail>,
}

struct Tail {
    bytes: (&'static str, &'static str),
    of_previous: &'static str,
    of_initial: &'static str,
    of_nothing: &'static str,
}

const TYPES: [Type; 7] = [
    Type {
        element: "uInt32",
        attributes: "",
        previous: ("85", "86"),
        previous_json: "5",
        next_json: "6",
        initial: "7",
        initial_json: "7",
        no_delta: ("80", "81"),
        base_json: "0",
        tail: None,
    },
    Type {
        element: "int32",
        attributes: "",
        previous: ("FB", "FB"),
        previous_json: "-5",
        next_json: "-4",
        initial: "-7",
        initial_json: "-7",
        no_delta: ("80", "81"),
        base_json: "0",
        tail: None,
    },
    Type {
        element: "uInt64",
        attributes: "",
        previous: ("01 80", "01 81"),
        previous_json: "128",
        next_json: "129",
        initial: "7",
        initial_json: "7",
        no_delta: ("80", "81"),
        base_json: "0",
        tail: None,
    },
    Type {
        element: "decimal",
        attributes: "",
        previous: ("FE 85", "FE 85"),
        previous_json: "0.05",
        next_json: "",
        initial: "12000",
        initial_json: "12e3",
        no_delta: ("80 80", "81 80"),
        base_json: "0",
        tail: None,
    },
    Type {
        element: "string",
        attributes: "",
        previous: ("41 C2", "41 C2"),
        previous_json: r#""AB""#,
        next_json: "",
        initial: "XYZ",
        initial_json: r#""XYZ""#,
        no_delta: ("80 80", "81 80"),
        base_json: r#""""#,
        tail: Some(Tail {
            bytes: ("C3", "C3"),
            of_previous: r#""AC""#,
            of_initial: r#""XYC""#,
            of_nothing: r#""C""#,
        }),
    },
    Type {
        element: "string",
        attributes: r#" charset="unicode""#,
        previous: ("83 C3 A9 41", "84 C3 A9 41"),
        previous_json: r#""éA""#,
        next_json: "",
        initial: "XYZ",
        initial_json: r#""XYZ""#,
        no_delta: ("80 80", "81 80"),
        base_json: r#""""#,
        tail: Some(Tail {
            bytes: ("81 43", "82 43"),
            of_previous: r#""éC""#,
            of_initial: r#""XYC""#,
            of_nothing: r#""C""#,
        }),
    },
    Type {
        element: "byteVector",
        attributes: "",
        previous: ("82 00 FF", "83 00 FF"),
        previous_json: r#""00ff""#,
        next_json: "",
        initial: "80 81 82",
        initial_json: r#""808182""#,
        no_delta: ("80 80", "81 80"),
        base_json: r#""""#,
        tail: Some(Tail {
            bytes: ("81 43", "82 43"),
            of_previous: r#""0043""#,
            of_initial: r#""808143""#,
            of_nothing: r#""43""#,
        }),
    },
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Assigned,
    Undefined,
    Empty,
}

use State::{Assigned, Empty, Undefined};

const STATES: [State; 3] = [Assigned, Undefined, Empty];

/// What B is, and what the entry is after it.
#[derive(Clone, Copy, Debug)]
enum Outcome<'a> {
    /// A value that becomes the previous one.
    Value(&'a str),
    /// Absent, with the entry empty, assigned or undefined then.
    Absent(State),
    Error(&'a str),
}

use Outcome::{Absent, Error, Value};

/// One line of the table.
struct Line<'a> {
    of: &'a Type,
    operator: &'a str,
    optional: bool,
    has_initial: bool,
    state: State,
    /// What is in the stream for B; `None`: its presence bit is 0.
    sent: Option<&'a str>,
    /// Whether B has a presence bit.
    has_bit: bool,
}

impl Line<'_> {
    fn check(&self, outcome: Outcome<'_>) {
        let (element, attributes) = (self.of.element, self.of.attributes);
        let presence = match self.optional {
            true => " presence=\"optional\"",
            false => "",
        };
        let value = match self.has_initial {
            true => format!(" value=\"{}\"", self.of.initial),
            false => String::new(),
        };
        let operator = self.operator;
        let fields = format!(
            r#"<group name="G" presence="optional"><{element} name="A" presence="optional"{attributes}><copy key="K"/></{element}></group>
            <{element} name="B"{presence}{attributes}><{operator} key="K"{value}/></{element}>
            <{element} name="C"{attributes}><copy key="K"/></{element}>"#
        );
        let (group, group_json) = match self.state {
            Undefined => (String::new(), String::new()),
            // Undefined and not sent makes empty.
            Empty => ("80 ".to_owned(), r#""G":{},"#.to_owned()),
            Assigned => (
                format!("C0 {} ", self.of.previous.1),
                format!(r#""G":{{"A":{}}},"#, self.of.previous_json),
            ),
        };
        // Presence map: template id, group, B if it has a bit, C.
        let bits = [true, !group.is_empty()]
            .into_iter()
            .chain(self.has_bit.then_some(self.sent.is_some()));
        let map = (0..)
            .zip(bits)
            .fold(0x80u8, |map, (at, bit)| map | u8::from(bit) << (6 - at));
        let bytes = format!("{map:02X} 81 {group}{}", self.sent.unwrap_or_default());
        let json = match outcome {
            Value(json) => format!(r#"{group_json}"B":{json},"C":{json}"#),
            Absent(Assigned) => format!(r#"{group_json}"C":{}"#, self.of.previous_json),
            // C shows the state by its error.
            Absent(Undefined) => "D5".to_owned(),
            Absent(Empty) => "D6".to_owned(),
            Error(code) => code.to_owned(),
        };
        check(&fields, &[(&bytes, &json)]);
    }
}

/// All combinations of type, presence, initial value and state, for the types that `applies` chooses.
fn each(operator: &str, applies: impl Fn(&Type) -> bool, check: impl Fn(Line<'_>)) {
    for of in TYPES.iter().filter(|of| applies(of)) {
        for optional in [false, true] {
            for has_initial in [false, true] {
                for state in STATES {
                    check(Line {
                        of,
                        operator,
                        optional,
                        has_initial,
                        state,
                        sent: None,
                        has_bit: operator != "delta",
                    });
                }
            }
        }
    }
}

/// What copy, increment and tail do without a value in the stream, but for what follows an assigned one.
fn implied<'a>(line: &Line<'a>, after: &'a str, undefined: &'a str, empty: &'a str) -> Outcome<'a> {
    match (line.state, line.has_initial, line.optional) {
        (Assigned, ..) => Value(after),
        (Undefined, true, _) => Value(line.of.initial_json),
        (Undefined, false, true) | (Empty, _, true) => Absent(Empty),
        (Undefined, false, false) => Error(undefined),
        (Empty, _, false) => Error(empty),
    }
}

#[test]
fn copy_without_a_value_in_the_stream() {
    each(
        "copy",
        |_| true,
        |line| {
            line.check(implied(&line, line.of.previous_json, "D5", "D6"));
        },
    );
}

#[test]
fn increment_without_a_value_in_the_stream() {
    let integers = |of: &Type| !of.next_json.is_empty();
    each("increment", integers, |line| {
        line.check(implied(&line, line.of.next_json, "D5", "D6"));
    });
}

/// §6.3.8 has D6 and D7 where appendix 4 has D5 and D6.
#[test]
fn tail_without_a_value_in_the_stream() {
    each(
        "tail",
        |of| of.tail.is_some(),
        |line| {
            line.check(implied(&line, line.of.previous_json, "D6", "D7"));
        },
    );
}

/// Whatever the state was, the value is the previous one then; NULL makes it empty.
#[test]
fn copy_and_increment_with_a_value_in_the_stream() {
    for operator in ["copy", "increment"] {
        let applies = |of: &Type| operator == "copy" || !of.next_json.is_empty();
        each(operator, applies, |line| {
            // The encoder sends nothing that follows without it.
            let (mandatory, nullable) = line.of.previous;
            let sent = if line.optional { nullable } else { mandatory };
            if line.state != Assigned || operator == "increment" {
                let json = line.of.previous_json;
                Line {
                    sent: Some(sent),
                    ..line
                }
                .check(Value(json));
            }
        });
        each(operator, applies, |line| {
            if line.optional
                && (line.state == Assigned || line.state == Undefined && line.has_initial)
            {
                Line {
                    sent: Some("80"),
                    ..line
                }
                .check(Absent(Empty));
            }
        });
    }
}

/// A tail replaces the end of the previous value, or of the initial one if there is none, or is the value. NULL makes
/// the previous value empty.
#[test]
fn tail_with_a_value_in_the_stream() {
    each(
        "tail",
        |of| of.tail.is_some(),
        |line| {
            let Some(tail) = &line.of.tail else {
                return;
            };
            let sent = if line.optional {
                tail.bytes.1
            } else {
                tail.bytes.0
            };
            let json = match (line.state, line.has_initial) {
                (Assigned, _) => tail.of_previous,
                (_, true) => tail.of_initial,
                (_, false) => tail.of_nothing,
            };
            Line {
                sent: Some(sent),
                ..line
            }
            .check(Value(json));
        },
    );
    each(
        "tail",
        |of| of.tail.is_some(),
        |line| {
            if line.optional
                && (line.state == Assigned || line.state == Undefined && line.has_initial)
            {
                Line {
                    sent: Some("80"),
                    ..line
                }
                .check(Absent(Empty));
            }
        },
    );
}

/// The base is the previous value, else the initial one, else the type's default; on an empty entry a delta is D6. NULL
/// leaves the entry as it is.
#[test]
fn delta_and_its_base() {
    each(
        "delta",
        |_| true,
        |line| {
            let (mandatory, nullable) = line.of.no_delta;
            let sent = if line.optional { nullable } else { mandatory };
            let outcome = match (line.state, line.has_initial) {
                (Assigned, _) => Value(line.of.previous_json),
                (Undefined, true) => Value(line.of.initial_json),
                (Undefined, false) => Value(line.of.base_json),
                (Empty, _) => Error("D6"),
            };
            Line {
                sent: Some(sent),
                ..line
            }
            .check(outcome);
        },
    );
    each(
        "delta",
        |_| true,
        |line| {
            if line.optional {
                let state = line.state;
                Line {
                    sent: Some("80"),
                    ..line
                }
                .check(Absent(state));
            }
        },
    );
}
