//! Samples that hold an array: of bytes, of floats, of structures.

use lab_program::{Message, fill};
use tickwire::Topic;
use tickwire::cdr;
use tickwire::qos::RepresentationId;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An array whose elements, one after the other, are the bytes of a message.
pub(crate) trait Content: cdr::Topic + Message + Default + Send + Sync + 'static {
    /// The encoding of its samples, if that is not the default.
    const REPRESENTATION: Option<RepresentationId> = None;

    /// Becomes message `number` that is to be sent at `time`, as long as `scratch` is.
    fn fill(&mut self, number: u64, time: u64, scratch: &mut [u8]);
}

#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "lab::Bytes", final)]
pub(crate) struct Bytes {
    data: Vec<u8>,
}

#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "lab::Floats", final)]
pub(crate) struct Floats {
    data: Vec<f32>,
}

/// In memory as in XCDR2, and as what others send, which have no gaps.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Topic, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[topic(name = "lab::Element", final)]
#[repr(C, packed(4))]
pub(crate) struct Element {
    i: i32,
    j: i32,
    x: f32,
    y: f32,
    z: f32,
    d: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Topic)]
#[topic(name = "lab::Structs", final)]
pub(crate) struct Structs {
    data: Vec<Element>,
}

impl Content for Bytes {
    fn fill(&mut self, number: u64, time: u64, scratch: &mut [u8]) {
        self.data.resize(scratch.len(), 0);
        fill(&mut self.data, number, time);
    }
}

impl Content for Floats {
    fn fill(&mut self, number: u64, time: u64, scratch: &mut [u8]) {
        self.data.resize(scratch.len() / 4, 0.0);
        fill(self.data.as_mut_bytes(), number, time);
    }
}

impl Content for Structs {
    /// In which elements have no gaps.
    const REPRESENTATION: Option<RepresentationId> = Some(RepresentationId::XCDR2);

    fn fill(&mut self, number: u64, time: u64, scratch: &mut [u8]) {
        let count = scratch.len() / size_of::<Element>();
        self.data.resize(count, Element::default());
        fill(self.data.as_mut_bytes(), number, time);
    }
}

impl Message for Bytes {
    fn number(&self, expected: u64) -> u64 {
        self.data.number(expected)
    }

    fn time(&self) -> Option<u64> {
        self.data.time()
    }

    fn is_intact(&self, number: u64) -> bool {
        self.data.is_intact(number)
    }
}

impl Message for Floats {
    fn number(&self, expected: u64) -> u64 {
        self.data.as_bytes().number(expected)
    }

    fn time(&self) -> Option<u64> {
        self.data.as_bytes().time()
    }

    fn is_intact(&self, number: u64) -> bool {
        self.data.as_bytes().is_intact(number)
    }
}

impl Message for Structs {
    fn number(&self, expected: u64) -> u64 {
        self.data.as_bytes().number(expected)
    }

    fn time(&self) -> Option<u64> {
        self.data.as_bytes().time()
    }

    fn is_intact(&self, number: u64) -> bool {
        self.data.as_bytes().is_intact(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled<C: Content>(number: u64) -> C {
        let mut content = C::default();
        content.fill(number, 42, &mut [0; 28 * 150]);
        content
    }

    #[test]
    fn arrays_are_the_message_that_they_were_made_of() {
        for number in [0, 7, 300, 3 << 56 | 77] {
            let all: [&dyn Message; 3] = [
                &filled::<Bytes>(number),
                &filled::<Floats>(number),
                &filled::<Structs>(number),
            ];
            for message in all {
                assert_eq!((message.number(0), message.time()), (number, Some(42)));
                assert!(message.is_intact(number) && !message.is_intact(number + 1));
            }
        }
    }

    #[test]
    fn a_changed_element_is_found() {
        let mut structs: Structs = filled(5);
        structs.data[7].d = 1.0;
        assert!(!structs.is_intact(5));
    }
}
