//! The interval log of a scenario, which tools for HdrHistograms read: one line for each stage of each
//! run, with a tag that says of which cell.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::environment::seconds_now;
use crate::measure::float;
use crate::record::Key;
use crate::statistics::Times;

/// A log under way.
pub(crate) struct Log {
    path: PathBuf,
    /// Made when there is something to write.
    file: Option<File>,
    begun: Instant,
}

impl Log {
    /// Begins one. There is no file until a distribution is added.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            begun: Instant::now(),
        }
    }

    /// Adds a distribution of nanoseconds. Failed runs are tagged as such.
    pub(crate) fn write(
        &mut self,
        key: &Key,
        stage: &str,
        times: &Times,
        is_good: bool,
    ) -> Result<(), String> {
        let failed = if is_good { "" } else { "/failed" };
        let (wait, stage) = (key.wait.name(), stage.replace(' ', "-"));
        let tag = format!(
            "{}/{}/{}B/{wait}/{stage}{failed}",
            key.part, key.system, key.size
        );
        let lasted = Duration::from_secs_f64(times.mean() * float(times.len()) / 1e9);
        let began = self.begun.elapsed().saturating_sub(lasted);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(
                create(&self.path, self.begun)
                    .map_err(|error| format!("{}: {error}", self.path.display()))?,
            ),
        };
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            .begin_log_with(file, &mut serializer)
            .map_err(|error| error.to_string())?
            .write_histogram(times, began, lasted, Tag::new(&tag))
            .map_err(|error| error.to_string())
    }
}

fn create(path: &Path, begun: Instant) -> io::Result<File> {
    let mut file = File::create(path)?;
    let start = seconds_now().saturating_sub(begun.elapsed().as_secs());
    writeln!(file, "#[Histogram log format version 1.3]")?;
    writeln!(file, "#[StartTime: {start} (seconds since epoch)]")?;
    writeln!(file, "#[Values are nanoseconds]")?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;
    use crate::scenario::Wait;

    #[test]
    fn what_is_written_is_an_interval_log() {
        let path = std::env::temp_dir().join(format!("lab-log-{}", std::process::id()));
        let key = Key {
            scenario: "raw".into(),
            part: "one-to-one".into(),
            size: 64,
            wait: Wait::Block,
            system: "floor-tcp".into(),
        };
        let mut times = crate::statistics::times();
        times.record_n(1_000, 10).unwrap();
        let mut log = Log::new(path.clone());
        assert!(!path.exists(), "nothing has been added");
        log.write(&key, "round trip", &times, true).unwrap();
        log.write(&key, "round trip", &times, false).unwrap();
        let text = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let tags: Vec<_> = IntervalLogIterator::new(&text)
            .filter_map(|entry| match entry.expect("a log that can be read") {
                LogEntry::Interval(interval) => interval.tag().map(|tag| tag.as_str().to_owned()),
                _ => None,
            })
            .collect();
        assert_eq!(
            tags,
            [
                "one-to-one/floor-tcp/64B/block/round-trip",
                "one-to-one/floor-tcp/64B/block/round-trip/failed",
            ]
        );
    }
}
