//! What back ends read.

use tickwire_idl::Model;
use tickwire_idl::model::{
    AutoId, DefinitionKind, Direction, IdSource, Member, Primitive, Type, Value,
};

use crate::support::{bad, good};

fn members<'m>(model: &'m Model, name: &str) -> Vec<&'m Member> {
    let (_, definition) = model.find(name).expect("it is defined");
    match &definition.kind {
        DefinitionKind::Struct(of) => model.all_members(of),
        kind => panic!("{}", kind.keyword()),
    }
}

fn kind<'m>(model: &'m Model, name: &str) -> &'m DefinitionKind {
    &model.find(name).expect("it is defined").1.kind
}

#[test]
fn types_are_resolved_and_keep_their_names() {
    let model = good(
        "module a { typedef sequence<long, 2 + 3> List; };
         module b { typedef a::List Alias; struct S { Alias x[2][3]; ::a::List y; }; };",
    )
    .model;
    let members = members(&model, "b::S");
    let shown: Vec<String> = members
        .iter()
        .map(|one| model.display(&one.ty).to_string())
        .collect();
    assert_eq!(shown, ["b::Alias[2][3]", "a::List"]);
    let resolved = model.resolve(&members[1].ty);
    assert_eq!(
        *resolved,
        Type::Sequence {
            element: Box::new(Type::Primitive(Primitive::Int32)),
            bound: Some(5)
        }
    );
}

#[test]
fn ids_go_on_after_those_of_the_base() {
    let model = good(
        "struct Base { long a; @id(7) long b; };
         struct Derived : Base { long c; @hashid(\"color\") long d; };
         @autoid(HASH) struct Hashed { long color; };",
    )
    .model;
    let members: Vec<_> = members(&model, "Derived")
        .into_iter()
        .map(|m| (&*m.name, m.id))
        .collect();
    assert_eq!(members, [("a", 0), ("b", 7), ("c", 8), ("d", 0x0fa5_dd70)]);
    let DefinitionKind::Struct(hashed) = kind(&model, "Hashed") else {
        panic!("it is a struct");
    };
    assert_eq!(
        (hashed.auto_id, hashed.members[0].id),
        (AutoId::Hash, 0x0fa5_dd70)
    );
    assert_eq!(hashed.members[0].id_source, IdSource::Automatic);
}

#[test]
fn ids_end_where_those_of_the_standard_do() {
    let said = bad("struct A { @id(0x0ffffffe) long a; long b; };");
    assert!(said.contains("`b` would have the id 268435455"), "{said}");
}

#[test]
fn an_interface_is_no_base_of_its_own() {
    let said = bad("interface A; interface A : A { };");
    assert!(
        said.contains("`A` is not an interface that is defined before"),
        "{said}"
    );
    let said = bad("interface A : A { };");
    assert!(said.contains("nothing is called `A` here"), "{said}");
}

#[test]
fn annotations_are_values_of_their_types() {
    let model = good(
        "enum Side { BUY, SELL };
         @annotation mine { Side side default SELL; enum Unit { VOLT, AMPERE }; Unit unit; };
         @mine(unit = VOLT)
         struct S {
           @range(min = 1, max = 1 + 1) @unit(\"V\") @default(2) octet a;
           @default(SELL) Side b;
           @default(1) double c;
           @must_understand @external long d;
         };",
    )
    .model;
    let members = members(&model, "S");
    let a = members[0];
    assert_eq!(a.range.max, Some(Value::Integer(2)));
    assert_eq!(
        (a.unit.as_deref(), &a.default),
        (Some("V"), &Some(Value::Integer(2)))
    );
    let (side, _) = model.find("Side").expect("it is defined");
    assert_eq!(
        members[1].default,
        Some(Value::Literal { of: side, index: 1 })
    );
    assert_eq!(members[2].default, Some(Value::Float(1.0)));
    assert!(members[3].must_understand && members[3].external);
    let (_, definition) = model.find("S").expect("it is defined");
    let [mine] = definition.annotations.as_slice() else {
        panic!("{:?}", definition.annotations);
    };
    let names: Vec<&str> = mine
        .arguments
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["side", "unit"]);
    assert_eq!(mine.arguments[0].1, Value::Literal { of: side, index: 1 });
    assert!(mine.definition.is_some());
}

#[test]
fn standard_annotations_are_known_in_all_letters() {
    let compilation = good("struct A { @Key @ID(3) long a; @OPTIONAL long b; };");
    let all = members(&compilation.model, "A");
    assert_eq!((all[0].key, all[0].id), (true, 3));
    assert!(all[1].optional);
    let warnings: Vec<&str> = compilation
        .warnings
        .iter()
        .map(|one| &*one.message)
        .collect();
    assert_eq!(
        warnings,
        [
            "`@Key` is taken for `@key`",
            "`@ID` is taken for `@id`",
            "`@OPTIONAL` is taken for `@optional`"
        ]
    );
    let own = good("@annotation Key { long a; }; struct A { @Key(a = 1) long a; };").model;
    assert!(!members(&own, "A")[0].key);
}

#[test]
fn annotations_that_mean_nothing_are_told_everywhere() {
    for (text, place) in [
        ("bitset A { @key bitfield<3> a; };", "a bitfield"),
        ("interface A { @key attribute long a; };", "an attribute"),
        ("interface A { void tell(@key in long a); };", "a parameter"),
    ] {
        let said = bad(text);
        let expected = format!("`@key` means nothing before {place}");
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn comments_stay_with_what_they_are_about() {
    let model = good(
        "// Of the file.

         // A quote,
         // of two lines.
         #pragma DCPS_DATA_TYPE \"Quote\"
         struct Quote {
           long a; // behind
           /* before */ long b;
           /** Annotated. */
           @key
           long c;

           // Not of d.

           long d;
         }; // of nothing
         struct Next { long a; };",
    )
    .model;
    let (_, quote) = model.find("Quote").expect("it is defined");
    assert_eq!(quote.doc.as_deref(), Some("A quote,\nof two lines."));
    let docs: Vec<_> = members(&model, "Quote")
        .iter()
        .map(|m| m.doc.as_deref())
        .collect();
    assert_eq!(
        docs,
        [Some("behind"), Some("before"), Some("Annotated."), None]
    );
    let (_, next) = model.find("Next").expect("it is defined");
    assert_eq!(next.doc, None);
}

#[test]
fn keys_and_topics_are_declared_by_pragmas_too() {
    let model = good(
        "#pragma DCPS_DATA_KEY \"m::Quote id\"
         @default_nested module m {
           struct Quote { long id; long price; };
           struct Inner { long a; };
           struct Other { long a, b; };
         #pragma keylist Other b a
         };",
    )
    .model;
    let keys = |name| -> Vec<bool> { members(&model, name).iter().map(|m| m.key).collect() };
    assert_eq!(keys("m::Quote"), [true, false]);
    assert_eq!(keys("m::Other"), [true, true]);
    for (name, expected) in [("m::Quote", false), ("m::Inner", true), ("m::Other", false)] {
        let DefinitionKind::Struct(of) = kind(&model, name) else {
            panic!("it is a struct");
        };
        assert_eq!(of.nested, expected, "{name}");
    }
}

#[test]
fn unions_know_a_value_without_a_label() {
    let model = good(
        "enum Side { BUY, SELL };
         union All switch (Side) { case BUY: long a; case SELL: long b; };
         union Some switch (Side) { case BUY: long a; };
         union Numbers switch (uint8) { case 0: case 1: long a; default: long b; };
         union Chars switch (char) { case '\\0': long a; };",
    )
    .model;
    let (side, _) = model.find("Side").expect("it is defined");
    for (name, expected) in [
        ("All", None),
        ("Some", Some(Value::Literal { of: side, index: 1 })),
        ("Numbers", Some(Value::Integer(2))),
        ("Chars", Some(Value::Char('\u{1}'))),
    ] {
        let DefinitionKind::Union(of) = kind(&model, name) else {
            panic!("it is a union");
        };
        assert_eq!(of.unlabelled, expected, "{name}");
    }
}

#[test]
fn bitsets_are_laid_out() {
    let model = good(
        "bitset Base { bitfield<3> low; };
         bitset Status : Base { bitfield<1> open; bitfield<4>; bitfield<10, int16> a, b; };",
    )
    .model;
    let DefinitionKind::Bitset(of) = kind(&model, "Status") else {
        panic!("it is a bitset");
    };
    let fields: Vec<_> = of
        .fields
        .iter()
        .map(|f| (f.name.as_deref(), f.position, f.ty))
        .collect();
    assert_eq!(
        fields,
        [
            (Some("open"), 3, Primitive::Boolean),
            (None, 4, Primitive::UInt8),
            (Some("a"), 8, Primitive::Int16),
            (Some("b"), 18, Primitive::Int16),
        ]
    );
    assert_eq!(of.bits, 28);
}

#[test]
fn interfaces_are_understood() {
    let model = good(
        "exception Refused { string why; };
         interface Base { };
         interface Service : Base {
           struct Request { long a; };
           // Asks.
           double ask(in Request request, out string text, inout long state) raises (Refused);
           @oneway void tell(in string text);
           oneway void say();
           readonly attribute long a, b;
           attribute string c;
         };",
    )
    .model;
    let DefinitionKind::Interface(service) = kind(&model, "Service") else {
        panic!("it is an interface");
    };
    let ask = &service.operations[0];
    assert_eq!(
        (ask.name.as_str(), ask.doc.as_deref()),
        ("ask", Some("Asks."))
    );
    let directions: Vec<_> = ask
        .parameters
        .iter()
        .map(|parameter| parameter.direction)
        .collect();
    assert_eq!(
        directions,
        [Direction::In, Direction::Out, Direction::InOut]
    );
    assert_eq!(ask.raises.len(), 1);
    assert!(service.operations[1].oneway && service.operations[2].oneway);
    let attributes = service
        .attributes
        .iter()
        .map(|attribute| attribute.readonly);
    assert_eq!(attributes.collect::<Vec<_>>(), [true, true, false]);
    assert!(model.find("Service::Request").is_some());
}

#[test]
fn escaped_names_are_names() {
    let model = good("struct _struct { long _long; string port; };").model;
    let names: Vec<&str> = members(&model, "struct")
        .iter()
        .map(|m| m.name.as_str())
        .collect();
    assert_eq!(names, ["long", "port"]);
}

#[test]
fn words_of_other_languages_may_be_names() {
    let text = "struct string_view { long a; }; typedef long vector; struct public { vector int; };
                module std { typedef long int32_t; };
                struct S { string_view u16string; vector list; public static; std::int32_t signed; };";
    let compilation = good(text);
    assert!(compilation.model.find("S").is_some());
}

#[test]
fn what_no_language_has_is_told() {
    let text = "struct S { long double a; @try_construct(TRIM) string<3> b; };\n\
                struct T { @non_serialized long double a; long b; };\n\
                bitset B { bitfield<3> a; };\nstruct tw_x { long a; };";
    let found = good(text).refused_by_all();
    let found = found
        .iter()
        .map(|one| format!("{}: {}", one.line, one.message));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            "1: no language has this: `long double` has no encoding here",
            "2: no language has this: `long double` has no encoding here",
        ]
    );
}
