//! Content filters over the payloads of a derived type.

use tickwire_base::Decimal;
use tickwire_cdr::dynamic::Form;
use tickwire_cdr::filter::{Filter, FilterError, FilterProblem, Query};
use tickwire_cdr::{
    Describe, Representation, Topic, Type, TypeDescription, key_to_payload, to_payload,
};

#[derive(Topic, Clone, Copy)]
#[topic(crate = tickwire_cdr)]
enum Side {
    Buy,
    Sell,
}

#[derive(Topic)]
#[topic(crate = tickwire_cdr)]
struct Level {
    price: Decimal,
    size: u32,
}

#[derive(Topic)]
#[topic(crate = tickwire_cdr)]
struct Quote {
    #[topic(key)]
    symbol: String,
    #[topic(key)]
    venue: i32,
    side: Side,
    last: f64,
    ratio: f32,
    is_open: bool,
    volume: u64,
    change: i64,
    note: Option<String>,
    levels: Vec<Level>,
    best: Level,
}

fn quote() -> Quote {
    let level = |mantissa, size| Level {
        price: Decimal::new(mantissa, -2).expect("an exponent in range"),
        size,
    };
    Quote {
        symbol: "EURUSD".to_string(),
        venue: 7,
        side: Side::Sell,
        last: 1.25,
        ratio: 0.1,
        is_open: true,
        volume: u64::MAX,
        change: -5,
        note: None,
        levels: vec![level(12_550, 10), level(12_600, 20)],
        best: level(12_550, 10),
    }
}

fn description() -> TypeDescription {
    match Quote::TYPE {
        Type::Struct(description) => (*description).clone(),
        other => panic!("not a struct: {other:?}"),
    }
}

fn compile(expression: &str, parameters: &[&str]) -> Result<Filter, FilterError> {
    Filter::new(expression, parameters, &description())
}

fn passes(expression: &str, parameters: &[&str]) -> bool {
    let mut filter =
        compile(expression, parameters).unwrap_or_else(|error| panic!("{expression}: {error}"));
    [Representation::Xcdr1, Representation::Xcdr2].map(|representation| {
        let mut payload = Vec::new();
        to_payload(&quote(), representation, &mut payload).expect("a sample that can be encoded");
        filter
            .passes(&payload, Form::Sample)
            .expect("a payload of the type")
    }) == [true, true]
}

#[test]
fn comparisons_that_hold() {
    for expression in [
        "symbol = 'EURUSD'",
        "'EURUSD' = symbol",
        "symbol LIKE 'EUR%'",
        "symbol not like '%GBP'",
        "symbol > 'EUR' AND symbol < `F'",
        "venue = 7",
        "7 <= venue",
        "venue = 0x7",
        "venue BETWEEN 5 AND 7",
        "venue NOT BETWEEN 8 AND 10",
        "venue < 7.5",
        "volume = 18446744073709551615",
        "change < volume",
        "change = -5",
        "change > -5.5e0",
        "side = Sell",
        "side = 'Sell'",
        "side <> Buy",
        "side = 1",
        "last = 1.25",
        "last >= 1",
        "last < 1e9",
        "ratio = 0.1",
        "last > ratio",
        "venue > last",
        "is_open = TRUE",
        "is_open = true",
        "is_open <> 0",
        "best.price = 125.5",
        "best.price < 125.51",
        "best.price > 125",
        "best.price = levels[0].price",
        "levels[1].price > best.price",
        "levels[1].size = 20",
        "best.size < venue OR symbol = 'EURUSD'",
        "NOT (venue = 8 OR venue = 9)",
        "NOT venue = 8 AND venue = 7",
        "venue = 8 AND venue = 9 OR venue = 7",
    ] {
        assert!(passes(expression, &[]), "{expression}");
    }
}

#[test]
fn comparisons_that_do_not_hold() {
    for expression in [
        "symbol = 'EURUS'",
        "symbol = 'eurusd'",
        "venue = 8",
        "venue = 8 AND (venue = 9 OR venue = 7)",
        "venue BETWEEN 8 AND 10",
        "best.price < 125.5",
        "is_open = FALSE",
        "side < Sell",
    ] {
        assert!(!passes(expression, &[]), "{expression}");
    }
}

#[test]
fn what_is_absent_is_unknown() {
    for expression in [
        "note = 'x'",
        "NOT note = 'x'",
        "note <> 'x'",
        "levels[2].size = 0",
        "levels[2].size <> 0",
    ] {
        assert!(!passes(expression, &[]), "{expression}");
    }
    assert!(passes("note = 'x' OR venue = 7", &[]));
    assert!(!passes("note = 'x' AND venue = 7", &[]));
}

#[test]
fn parameters_stand_for_literals() {
    assert!(passes("symbol = %0 AND venue = %1", &["'EURUSD'", "7"]));
    assert!(passes("symbol = %0 AND side = %1", &["EURUSD", "Sell"]));
    assert!(passes("%0 < best.price", &[" 125.49 "]));
    assert_eq!(
        compile("venue = %1", &["7"])
            .expect_err("no such parameter")
            .problem,
        FilterProblem::MissingParameter(1)
    );
}

#[test]
fn a_quote_is_written_twice() {
    assert!(!passes("symbol = 'EUR''USD'", &[]));
    assert!(passes("symbol <> 'EUR''USD'", &[]));
}

#[test]
fn the_end_of_an_instance_is_kept_back_only_by_its_key() {
    let mut payload = Vec::new();
    key_to_payload(&quote(), Representation::Xcdr2, &mut payload).expect("a key");
    for (expression, expected) in [
        ("symbol = 'EURUSD'", true),
        ("symbol = 'GBPUSD'", false),
        ("last > 100", true),
        ("NOT last > 100", true),
        ("symbol = 'GBPUSD' AND last > 100", false),
        ("symbol = 'GBPUSD' OR last > 100", true),
    ] {
        let mut filter = compile(expression, &[]).expect("a filter");
        assert_eq!(
            filter.passes(&payload, Form::Key),
            Ok(expected),
            "{expression}"
        );
    }
}

#[test]
fn errors_say_where_and_what() {
    for (expression, message) in [
        (
            "",
            "at byte 0 of the filter: a member or a literal is missing at the end",
        ),
        (
            "venue",
            "at byte 5 of the filter: =, <>, <, <=, >, >=, LIKE or BETWEEN is missing at the end",
        ),
        (
            "venue = ",
            "at byte 8 of the filter: a member or a literal is missing at the end",
        ),
        (
            "venue = 7 venue",
            "at byte 10 of the filter: expected AND, OR or the end, found `venue`",
        ),
        (
            "(venue = 7",
            "at byte 10 of the filter: AND, OR or `)` is missing at the end",
        ),
        (
            "symbol = 'EUR",
            "at byte 9 of the filter: text without a closing quote",
        ),
        (
            "venu = 7",
            "at byte 0 of the filter: Quote has no member `venu`; is `venue` meant?",
        ),
        (
            "best.prize = 7",
            "at byte 0 of the filter: Level has no member `prize`; is `price` meant?",
        ),
        (
            "symbol = EURUSD",
            "at byte 9 of the filter: a member that is text cannot be compared with `EURUSD`",
        ),
        (
            "venue = 'x'",
            "at byte 8 of the filter: a member that is an integer cannot be compared with the text 'x'",
        ),
        (
            "venue LIKE '7'",
            "at byte 11 of the filter: a member that is an integer cannot be compared with a pattern",
        ),
        (
            "last = best.price",
            "at byte 7 of the filter: a member that is a floating-point number cannot be compared with `best.price`, which is a decimal",
        ),
        (
            "best = 7",
            "at byte 0 of the filter: `best` has parts; compare one of them, as `name.part` or `name[0]`",
        ),
        (
            "levels[0 = 7",
            "at byte 0 of the filter: expected an index such as [0], found `levels[0`",
        ),
        (
            "7 = 7",
            "at byte 0 of the filter: one side of a comparison must be a member",
        ),
        (
            "venue NOT 7",
            "at byte 10 of the filter: expected BETWEEN or LIKE, found `7`",
        ),
        (
            "venue = %100",
            "at byte 8 of the filter: expected a parameter from %0 to %99, found `%100`",
        ),
        (
            "venue # 7",
            "at byte 6 of the filter: expected =, <>, <, <=, >, >=, LIKE or BETWEEN, found `#`",
        ),
    ] {
        let error = compile(expression, &[]).expect_err(expression);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn hostile_expressions_are_bounded() {
    let deep = "(".repeat(100_000);
    assert_eq!(
        compile(&deep, &[]).expect_err("deep").problem,
        FilterProblem::TooDeep
    );
    let nots = "NOT ".repeat(100_000);
    assert_eq!(
        compile(&nots, &[]).expect_err("deep").problem,
        FilterProblem::TooDeep
    );
    let long = vec!["venue = 7"; Filter::MAX_COMPARISONS + 1].join(" OR ");
    assert_eq!(
        compile(&long, &[]).expect_err("long").problem,
        FilterProblem::TooManyComparisons
    );
    let most = vec!["venue = 8"; Filter::MAX_COMPARISONS].join(" OR ");
    assert!(!passes(&most, &[]));
}

fn query(expression: &str) -> Result<Query, FilterError> {
    let Type::Struct(ty) = Quote::TYPE else {
        unreachable!("a struct")
    };
    Query::new(expression, &["7"], &ty)
}

/// The numbers of the quotes in the order that the expression asks for.
fn ordered(expression: &str, quotes: &[Quote]) -> Vec<usize> {
    let mut query = query(expression).expect("a query");
    let mut keyed = Vec::new();
    for (number, quote) in quotes.iter().enumerate() {
        let mut payload = Vec::new();
        to_payload(quote, Representation::Xcdr2, &mut payload).expect("it has an encoding");
        if query
            .passes(&payload, Form::Sample)
            .expect("one of the type")
        {
            keyed.push((query.sort_key(&payload).expect("one of the type"), number));
        }
    }
    keyed.sort();
    keyed.into_iter().map(|(_, number)| number).collect()
}

#[test]
fn a_query_orders_by_members_of_any_kind() {
    let quotes = [
        (1.5, "b", None, 30),
        (f64::NAN, "a", Some("y"), 10),
        (-2.0, "b", Some("x"), 20),
        (1.5, "a", None, 40),
    ]
    .map(|(last, symbol, note, mantissa)| Quote {
        last,
        symbol: symbol.to_string(),
        note: note.map(str::to_string),
        best: Level {
            price: Decimal::new(mantissa, -1).expect("an exponent in range"),
            size: 1,
        },
        ..quote()
    });
    for (expression, expected) in [
        ("venue = %0 ORDER BY last", vec![2, 0, 3, 1]),
        ("order by symbol, last", vec![3, 1, 2, 0]),
        ("ORDER BY note", vec![2, 1, 0, 3]),
        (
            "symbol = 'b' OR last > 1 ORDER BY best.price",
            vec![2, 0, 3],
        ),
        ("venue = 7", vec![0, 1, 2, 3]),
    ] {
        assert_eq!(ordered(expression, &quotes), expected, "{expression}");
    }
    assert!(query("ORDER BY last").expect("a query").is_ordered());
    assert!(!query("last > 0").expect("a query").is_ordered());
}

#[test]
fn what_is_wrong_with_an_order_is_told() {
    for (expression, expected) in [
        (
            "ORDER BY",
            "at byte 8 of the filter: a member is missing at the end",
        ),
        (
            "ORDER BY 1",
            "at byte 9 of the filter: expected a member, found `1`",
        ),
        (
            "ORDER BY price",
            "at byte 9 of the filter: test::Quote has no member `price`; text stands in single quotes",
        ),
        (
            "ORDER BY last DESC",
            "at byte 14 of the filter: expected a comma or the end, found `DESC`",
        ),
        (
            "last > 1 ORDER last",
            "at byte 9 of the filter: expected AND, OR, ORDER BY or the end, found `ORDER`",
        ),
        (
            "ORDER BY best",
            "at byte 9 of the filter: `best` has parts; compare one of them, as `name.part` or `name[0]`",
        ),
        (
            "",
            "at byte 0 of the filter: a member or a literal is missing at the end",
        ),
    ] {
        let error = query(expression).expect_err("no query").to_string();
        let name = error.find(" has no member").map(|_| "test::Quote");
        let expected = match name {
            Some(_) => expected.replace("test::Quote", quote_name()),
            None => expected.to_string(),
        };
        assert_eq!(error, expected);
    }
    let Type::Struct(ty) = Quote::TYPE else {
        unreachable!("a struct")
    };
    let refused = Filter::new("last > 1 ORDER BY last", &[""; 0], &ty);
    let problem = refused.expect_err("no order in a filter").problem;
    assert_eq!(problem, FilterProblem::Order);
}

/// What the type is called in messages.
fn quote_name() -> &'static str {
    <Quote as Topic>::TYPE_NAME
}
