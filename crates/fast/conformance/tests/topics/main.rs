//! A generated struct is the topic type that the gateway makes of its template at run time.

mod publish;

use tickwire::cdr::{Topic, TypeDescription};
use tickwire_fast::{Mode, Templates};
use tickwire_gateway::{Mapper, Mapping};

/// As a user has it.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/topics.rs"));
}

const XML: &str = include_str!("../../templates/topics.xml");

fn templates() -> Templates {
    Templates::parse(XML, Mode::Lenient).unwrap()
}

/// The type from the gateway, with the keys that build.rs asks for: the gateway itself knows only securities as keys.
fn at_run_time(template: &str) -> TypeDescription {
    let mapper = Mapper::new(&templates(), Mapping::TopicPerType);
    let topic = mapper
        .topics()
        .iter()
        .find(|topic| topic.template == template)
        .unwrap();
    let made = mapper.types()[topic.type_index].description().clone();
    let members = made.members.iter().cloned().map(|mut member| {
        member.key = &*member.name == "Symbol" && !member.optional;
        member
    });
    TypeDescription {
        members: members.collect::<Vec<_>>().into(),
        ..made
    }
}

fn assert_same<T: Topic>(template: &str) {
    assert_eq!(T::description(), &at_run_time(template), "{template}");
    assert_eq!(T::TYPE_NAME, &*T::description().name);
}

#[test]
fn structs_are_the_types_that_are_made_at_run_time() {
    assert_same::<generated::OrderBook>("Order-Book");
    assert_same::<generated::OrderBook2>("order-book");
    assert_same::<generated::Decimal>("Decimal");
    assert_same::<generated::Vec2>("Vec");
}

#[test]
fn names_are_those_of_the_template_where_idl_has_them() {
    let names = |ty: &TypeDescription| {
        let members = ty.members.iter().map(|member| member.name.to_string());
        members.collect::<Vec<_>>()
    };
    assert_eq!(generated::OrderBook::TYPE_NAME, "Order_Book");
    assert_eq!(generated::OrderBook2::TYPE_NAME, "order_book_2");
    assert_eq!(generated::Decimal::TYPE_NAME, "Decimal_2");
    assert_eq!(
        names(generated::OrderBook::description())[..5],
        ["Symbol", "SecurityID", "MsgSeqNum", "type", "Type_2"]
    );
    assert_eq!(
        names(generated::OrderBook2::description()),
        ["Symbol", "N3rd_Level", "N3rd_Level_2"]
    );
}
