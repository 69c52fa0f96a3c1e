//! Samples that hold an array: of bytes, of floats, of structures.

use lab_program::{Message, fill};
use tickwire::Topic;
use tickwire::cdr;
use tickwire::qos::RepresentationId;

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Topic)]
#[topic(name = "lab::Element", final)]
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
        fill(bytemuck::cast_slice_mut(&mut self.data), number, time);
    }
}

impl Content for Structs {
    /// In which elements have no gaps, as those of others.
    const REPRESENTATION: Option<RepresentationId> = Some(RepresentationId::XCDR2);

    /// Others have elements without gaps, and fill them as bytes. Bytes behind the beginning repeat themselves after 256, so
    /// elements do after 64.
    fn fill(&mut self, number: u64, time: u64, scratch: &mut [u8]) {
        let count = scratch.len() / 28;
        let mut bytes = [0; 28 * (64 + 1)];
        fill(&mut bytes, number, time);
        let (elements, _) = bytes.as_chunks::<28>();
        let mut period = [Element::default(); 64];
        for (at, bytes) in elements.iter().enumerate().skip(1) {
            period[at % 64] = Element::of(bytes);
        }
        self.data.clear();
        while self.data.len() < count {
            let rest = count - self.data.len();
            self.data.extend_from_slice(&period[..rest.min(64)]);
        }
        if let Some(first) = self.data.first_mut() {
            *first = Element::of(&elements[0]);
        }
    }
}

impl Element {
    fn of(bytes: &[u8; 28]) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        let (_, doubles) = bytes.as_rchunks::<8>();
        Self {
            i: i32::from_le_bytes(words[0]),
            j: i32::from_le_bytes(words[1]),
            x: f32::from_le_bytes(words[2]),
            y: f32::from_le_bytes(words[3]),
            z: f32::from_le_bytes(words[4]),
            d: f64::from_le_bytes(doubles[2]),
        }
    }

    fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.i.to_le_bytes());
        bytes.extend(self.j.to_le_bytes());
        bytes.extend(
            [self.x, self.y, self.z]
                .iter()
                .flat_map(|it| it.to_le_bytes()),
        );
        bytes.extend(self.d.to_le_bytes());
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

impl Floats {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.data)
    }
}

impl Message for Floats {
    fn number(&self, expected: u64) -> u64 {
        self.bytes().number(expected)
    }

    fn time(&self) -> Option<u64> {
        self.bytes().time()
    }

    fn is_intact(&self, number: u64) -> bool {
        self.bytes().is_intact(number)
    }
}

impl Structs {
    fn bytes(&self, elements: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for element in self.data.iter().take(elements) {
            element.append_to(&mut bytes);
        }
        bytes
    }
}

impl Message for Structs {
    fn number(&self, expected: u64) -> u64 {
        self.bytes(1).number(expected)
    }

    fn time(&self) -> Option<u64> {
        self.bytes(1).time()
    }

    fn is_intact(&self, number: u64) -> bool {
        self.bytes(self.data.len()).is_intact(number)
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
