//! Rows of payloads, those included that are no values of the type.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use tickwire::Decimal;
use tickwire::cdr::dynamic::{Form, key_payload};
use tickwire::cdr::{Extensibility, Member, Representation, Type, TypeDescription};
use tickwire::cdr::{Topic, to_payload};
use tickwire_arrow::{Options, Rows, SchemaError};

#[derive(Clone, Default, Topic)]
struct Level {
    price: Decimal,
    size: u32,
    note: Option<String>,
}

#[derive(Clone, Default, Topic)]
#[topic(mutable)]
struct Book {
    #[topic(key)]
    symbol: String,
    levels: Vec<Level>,
    numbers: Vec<f64>,
    grid: [[i32; 2]; 3],
    best: Option<Level>,
}

fn books() -> Vec<Book> {
    let level = |mantissa, size, note: Option<&str>| Level {
        price: Decimal::new(mantissa, -2).expect("an exponent"),
        size,
        note: note.map(str::to_owned),
    };
    let full = Book {
        symbol: "TICK".to_owned(),
        levels: vec![level(101, 5, Some("first")), level(102, 7, None)],
        numbers: vec![1.5, -2.5],
        grid: [[1, 2], [3, 4], [5, 6]],
        best: Some(level(100, 1, None)),
    };
    vec![full.clone(), Book::default(), full]
}

fn payload(book: &Book) -> Vec<u8> {
    let mut bytes = Vec::new();
    to_payload(book, Representation::Xcdr2, &mut bytes).expect("it has an encoding");
    bytes
}

fn rows() -> Rows {
    Rows::new(Book::DESCRIPTION, &Options::default()).expect("it has columns")
}

fn check(batch: &RecordBatch, expected: &[Book]) {
    assert_eq!(batch.num_rows(), expected.len());
    let column = |name: &str| batch.column_by_name(name).expect("a column");
    for (row, book) in expected.iter().enumerate() {
        assert_eq!(column("symbol").as_string::<i32>().value(row), book.symbol);
        let numbers = column("numbers").as_list::<i32>().value(row);
        assert_eq!(
            numbers.as_primitive::<Float64Type>().values(),
            &book.numbers[..]
        );
        let levels = column("levels").as_list::<i32>().value(row);
        let levels = levels.as_struct();
        assert_eq!(levels.len(), book.levels.len());
        for (at, level) in book.levels.iter().enumerate() {
            let prices = levels.column(0).as_primitive::<Decimal128Type>();
            assert_eq!(
                prices.value(at),
                i128::from(level.price.mantissa()) * 10_000_000
            );
            assert_eq!(
                levels.column(1).as_primitive::<UInt32Type>().value(at),
                level.size
            );
            assert_eq!(levels.column(2).is_null(at), level.note.is_none());
        }
        let grid = column("grid").as_fixed_size_list().value(row);
        let inner = grid.as_fixed_size_list().values().clone();
        assert_eq!(inner.len(), 6);
        let first = grid.as_fixed_size_list().value(0);
        assert_eq!(first.as_primitive::<Int32Type>().values(), &book.grid[0]);
        assert_eq!(column("best").is_null(row), book.best.is_none());
    }
}

#[test]
fn payloads_are_rows() {
    let (books, mut rows) = (books(), rows());
    for _ in 0..2 {
        for book in &books {
            let appended = rows.append(&payload(book), Form::Sample, None);
            assert_eq!(appended, Ok(()));
        }
        assert!(rows.weight() > 0);
        check(&rows.finish().expect("a batch"), &books);
        assert!(rows.is_empty() && rows.weight() == 0);
    }
}

#[test]
fn whatever_comes_leaves_whole_rows() {
    let (books, mut rows) = (books(), rows());
    let whole = payload(&books[0]);
    let mut expected = Vec::new();
    for cut in 0..whole.len() {
        if rows.append(&whole[..cut], Form::Sample, None).is_err() {
            assert_eq!(rows.append(&whole, Form::Sample, None), Ok(()));
            expected.push(books[0].clone());
        } else {
            // An end that takes members away is that of an older type.
            rows.finish().expect("a batch");
            expected.clear();
        }
    }
    check(&rows.finish().expect("a batch"), &expected);
    for at in 0..whole.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            let added = usize::from(rows.append(&bytes, Form::Sample, None).is_ok());
            assert_eq!(rows.append(&whole, Form::Sample, None), Ok(()));
            let batch = rows.finish().expect("a batch");
            assert_eq!(batch.num_rows(), added + 1);
            let symbols = batch.column(0).as_string::<i32>();
            assert_eq!(symbols.value(added), "TICK");
            batch.columns().iter().for_each(|column| {
                column.to_data().validate_full().expect("whole");
            });
        }
    }
}

#[test]
fn keys_are_rows_of_nulls_where_asked_for() {
    let options = Options {
        key_rows: true,
        ..Options::default()
    };
    let mut rows = Rows::new(Book::DESCRIPTION, &options).expect("it has columns");
    let (book, mut key) = (&books()[0], Vec::new());
    let made = key_payload(Book::DESCRIPTION, &payload(book), &mut key);
    assert_eq!(made, Ok(()));
    assert_eq!(rows.append(&key, Form::Key, None), Ok(()));
    assert_eq!(rows.append(&payload(book), Form::Sample, None), Ok(()));
    assert_eq!(rows.append_nothing(None), Ok(()));
    let batch = rows.finish().expect("a batch");
    let nulls: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| column.null_count())
        .collect();
    assert_eq!(nulls, [1, 2, 2, 2, 2]);
    assert_eq!(batch.column(0).as_string::<i32>().value(0), "TICK");
}

#[test]
fn types_of_too_many_columns_are_refused() {
    let mut ty = Type::I32;
    for depth in 0..13 {
        let members = (0..2).map(|id| Member::new(&format!("m{id}"), id, ty.clone()));
        let of = TypeDescription::new(
            &format!("T{depth}"),
            Extensibility::Final,
            members.collect(),
        );
        ty = Type::Struct(of.expect("a type").into());
    }
    let Type::Struct(of) = ty else {
        panic!("a struct");
    };
    let refused = Rows::new(&of, &Options::default()).map(|_| ());
    assert_eq!(refused, Err(SchemaError::TooManyColumns));
}

#[derive(Topic, Clone)]
enum NewKind {
    One,
    Two,
}

/// What the columns are of.
#[derive(Topic)]
#[topic(name = "Tried")]
struct Older {
    #[topic(bound = 2, try_construct = trim)]
    text: String,
    #[topic(try_construct = use_default)]
    kinds: Vec<OldKind>,
    #[topic(bound = 2, try_construct = trim)]
    numbers: Vec<u32>,
    #[topic(try_construct = use_default)]
    kind: Option<OldKind>,
    behind: u32,
}

/// What a newer program writes.
#[derive(Topic)]
#[topic(name = "Tried")]
struct Newer {
    text: String,
    kinds: Vec<NewKind>,
    numbers: Vec<u32>,
    kind: Option<NewKind>,
    behind: u32,
}

#[derive(Topic)]
enum OldKind {
    One,
}

#[test]
fn what_columns_cannot_hold_is_a_default_or_a_part() {
    let value = Newer {
        text: "a\u{e9}".to_owned(),
        kinds: vec![NewKind::One, NewKind::Two],
        numbers: vec![1, 2, 3],
        kind: Some(NewKind::Two),
        behind: 9,
    };
    let mut bytes = Vec::new();
    to_payload(&value, Representation::Xcdr2, &mut bytes).expect("it has an encoding");
    let mut rows = Rows::new(Older::DESCRIPTION, &Options::default()).expect("it has columns");
    for _ in 0..2 {
        assert_eq!(rows.append(&bytes, Form::Sample, None), Ok(()));
    }
    let batch = rows.finish().expect("a batch");
    let column = |name: &str| batch.column_by_name(name).expect("a column");
    for row in 0..2 {
        assert_eq!(column("text").as_string::<i32>().value(row), "a");
        assert_eq!(column("kinds").as_list::<i32>().value(row).len(), 0);
        let numbers = column("numbers").as_list::<i32>().value(row);
        assert_eq!(numbers.as_primitive::<UInt32Type>().values(), &[1, 2]);
        assert!(column("kind").is_null(row));
        let behind = column("behind").as_primitive::<UInt32Type>();
        assert_eq!(behind.value(row), 9);
    }
}
