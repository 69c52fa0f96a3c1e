//! What is published: the suite's type, and its movement.

use tickwire::Topic;

/// A coloured shape. Member names and extensibility are the suite's.
#[derive(Topic, Clone, Debug, Default)]
#[topic(name = "ShapeType", appendable)]
pub(crate) struct ShapeType {
    #[topic(key, bound = 128)]
    pub(crate) color: String,
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) shapesize: i32,
    /// Bytes that make the sample larger.
    pub(crate) additional_payload_size: Vec<u8>,
}

impl ShapeType {
    /// The line that stands for the sample.
    pub(crate) fn line(&self, topic: &str) -> String {
        let (color, x, y, size) = (&self.color, self.x, self.y, self.shapesize);
        let payload = match self.additional_payload_size.last() {
            Some(last) => format!(" {{{last}}}"),
            None => String::new(),
        };
        format!("{topic:<10} {color:<10} {x:03} {y:03} [{size}]{payload}")
    }
}

/// One coordinate of a shape that goes to and fro between 0 and `end`.
#[derive(Debug)]
pub(crate) struct Course {
    position: i32,
    step: i32,
    end: i32,
}

impl Course {
    pub(crate) fn new(start: i32, step: i32, end: i32) -> Self {
        Self {
            position: start.clamp(0, end),
            step,
            end,
        }
    }

    /// Goes one step, and turns round where it would leave the field.
    pub(crate) fn advance(&mut self) -> i32 {
        let wanted = self.position + self.step;
        self.position = wanted.clamp(0, self.end);
        if wanted != self.position {
            self.step = -self.step;
        }
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_stays_in_its_field() {
        let mut course = Course::new(5, 4, 10);
        let positions: Vec<_> = (0..6).map(|_| course.advance()).collect();
        assert_eq!(positions, [9, 10, 6, 2, 0, 4]);
    }

    #[test]
    fn lines_are_those_of_the_suite() {
        let mut shape = ShapeType {
            color: "BLUE".to_owned(),
            x: 7,
            y: 120,
            shapesize: 20,
            ..ShapeType::default()
        };
        assert_eq!(shape.line("Square"), "Square     BLUE       007 120 [20]");
        shape.additional_payload_size = vec![255; 3];
        let expected = "Square     BLUE       007 120 [20] {255}";
        assert_eq!(shape.line("Square"), expected);
    }
}
