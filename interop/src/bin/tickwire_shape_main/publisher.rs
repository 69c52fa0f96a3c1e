//! `-P`: writes shapes until told to stop.

use std::time::Duration;

use tickwire::{Condition, DataWriter, DomainParticipant, Topic};

use crate::options::{FinalState, Options};
use crate::report::Report;
use crate::shape::{Course, ShapeType};
use crate::{Result, numbered, pause};

pub(crate) fn run(
    options: &Options,
    participant: &DomainParticipant,
    topics: &[Topic<ShapeType>],
    end: &Condition,
) -> Result<()> {
    let publisher = participant.publisher(options.group_qos());
    let mut writers = Vec::new();
    for topic in topics {
        let (name, color) = (topic.name(), options.color());
        println!("Create writer for topic: {name} color: {color}");
        let writer = publisher.writer(topic, options.writer_qos())?;
        writer.set_listener(Report);
        writers.push(writer);
    }
    let colors: Vec<_> = (0..options.num_instances)
        .map(|number| numbered(options.color(), number))
        .collect();
    let mut shapes = Shapes::new(options);
    let mut set = None;
    for iteration in 1.. {
        shapes.advance();
        if options.begins_set(iteration) {
            set = Some(publisher.begin_coherent_changes());
        }
        for writer in &writers {
            for color in &colors {
                write(options, writer, shapes.of_color(color));
            }
        }
        if options.ends_set(iteration) {
            set = None;
        }
        if pause(end, options.write_period()) || options.num_iterations == Some(iteration) {
            break;
        }
    }
    drop(set);
    finish(options, &writers, &colors)
}

fn write(options: &Options, writer: &DataWriter<ShapeType>, shape: &ShapeType) {
    // A sample that finds no room in time is left out, and the next one is tried.
    if let Err(error) = writer.write(shape) {
        eprintln!("{}: {error}", writer.topic().name());
    } else if options.print_written {
        println!("{}", shape.line(writer.topic().name()));
    }
}

/// Ends the instances as the options say, and waits until the readers know.
fn finish(options: &Options, writers: &[DataWriter<ShapeType>], colors: &[String]) -> Result<()> {
    for writer in writers {
        for color in colors {
            let key = ShapeType {
                color: color.clone(),
                ..ShapeType::default()
            };
            match options.final_instance_state {
                Some(FinalState::Unregister) => writer.unregister(&key).map(drop)?,
                Some(FinalState::Dispose) => writer.dispose(&key).map(drop)?,
                None => {}
            }
        }
    }
    for writer in writers {
        let _ = writer.wait_for_acknowledgments(Duration::from_secs(1));
    }
    Ok(())
}

/// The shape of every iteration, which differs by its color alone among topics and instances.
struct Shapes {
    shape: ShapeType,
    x: Course,
    y: Course,
    grows: bool,
    size_modulo: Option<i32>,
}

impl Shapes {
    fn new(options: &Options) -> Self {
        let shape = ShapeType {
            shapesize: options.shapesize,
            additional_payload_size: vec![255; options.additional_payload_size],
            ..ShapeType::default()
        };
        Self {
            shape,
            x: Course::new(0, 3, FIELD_WIDTH),
            y: Course::new(0, 5, FIELD_HEIGHT),
            grows: options.shapesize == 0,
            size_modulo: options.size_modulo,
        }
    }

    fn advance(&mut self) {
        self.shape.x = self.x.advance();
        self.shape.y = self.y.advance();
        if self.grows {
            let size = self.shape.shapesize;
            let size = self.size_modulo.map_or(size, |modulo| size % modulo);
            self.shape.shapesize = size.wrapping_add(1);
        }
    }

    fn of_color(&mut self, color: &str) -> &ShapeType {
        color.clone_into(&mut self.shape.color);
        &self.shape
    }
}

const FIELD_WIDTH: i32 = 240;
const FIELD_HEIGHT: i32 = 270;
