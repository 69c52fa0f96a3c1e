//! Maps, byte for byte as Fast CDR writes them: Cyclone DDS has none.

use std::collections::BTreeMap;

use crate::fixtures::{hex, samples};
use tickwire_cdr::{Representation, Topic, from_payload_into, to_payload};

macro_rules! maps {
    ($name:ident, $extensibility:ident) => {
        #[derive(Topic, Debug, PartialEq)]
        #[topic(name = "Maps", $extensibility, crate = tickwire_cdr)]
        struct $name {
            names: BTreeMap<i32, String>,
            small: BTreeMap<u8, u16>,
            depths: BTreeMap<String, Vec<i16>>,
        }

        impl $name {
            fn sample() -> Self {
                Self {
                    names: [(-3, "bid".into()), (7, String::new()), (9, "ask".into())].into(),
                    small: [(1, 513), (2, 65535)].into(),
                    depths: [("a".into(), vec![1, -2, 3]), ("bc".into(), Vec::new())].into(),
                }
            }
        }
    };
}

maps!(Final, final);
maps!(Appendable, appendable);
maps!(Mutable, mutable);

fn check<T: Topic + PartialEq + std::fmt::Debug>(
    name: &str,
    value: &T,
    representation: Representation,
) {
    let what = match representation {
        Representation::Xcdr1 => "xcdr1",
        Representation::Xcdr2 => "xcdr2",
    };
    let expected = samples(name, what);
    let mut payload = Vec::new();
    to_payload(value, representation, &mut payload).unwrap();
    assert_eq!(hex(&payload), hex(&expected), "{name} {what}");
    let mut sample = T::initial();
    from_payload_into(&expected, &mut sample).unwrap();
    assert_eq!(&sample, value, "{name} {what}");
}

#[test]
fn maps_agree() {
    check("maps", &Final::sample(), Representation::Xcdr1);
    check("maps", &Final::sample(), Representation::Xcdr2);
    check(
        "appendable_maps",
        &Appendable::sample(),
        Representation::Xcdr2,
    );
    check("mutable_maps", &Mutable::sample(), Representation::Xcdr2);
}
