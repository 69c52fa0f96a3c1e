//! Distributions as an interval log, which the tools for HdrHistograms read: one line for each, with a tag
//! that says of what.

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use tickwire_gateway::Timing;

use crate::failure::{Failure, Result};

/// A log under way.
pub(super) struct HistogramLog {
    path: PathBuf,
    file: File,
    begun: Instant,
}

impl HistogramLog {
    /// Begins one; a file of that name is replaced.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let failed = |error| Failure::new(format_args!("{}: {error}", path.display()));
        let mut file = File::create(path).map_err(failed)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let start = now.unwrap_or_default().as_secs_f64();
        write!(
            file,
            "#[Histogram log format version 1.3]\n#[StartTime: {start:.3} (seconds since epoch)]\n\
             #[Values are nanoseconds]\n"
        )
        .map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            begun: Instant::now(),
        })
    }

    /// Adds a distribution of what was measured since then. Spaces and commas of the tag become `-`.
    pub(super) fn write(&mut self, tag: &str, timing: &Timing, since: Instant) -> Result<()> {
        let failed =
            |error: &dyn Display| Failure::new(format_args!("{}: {error}", self.path.display()));
        let mut histogram =
            Histogram::<u64>::new_with_bounds(1, MAX_NS, 3).map_err(|error| failed(&error))?;
        for (ns, count) in timing.recorded() {
            histogram.saturating_record_n(ns, count);
        }
        let tag = tag.replace([' ', ','], "-");
        let mut serializer = V2DeflateSerializer::new();
        let written = IntervalLogWriterBuilder::new()
            .begin_log_with(&mut self.file, &mut serializer)
            .map_err(|error| failed(&error))?
            .write_histogram(
                &histogram,
                since - self.begun,
                since.elapsed(),
                Tag::new(&tag),
            );
        written.map_err(|error| Failure::new(format_args!("{}: {error:?}", self.path.display())))
    }
}

/// The longest that a [`Timing`] holds.
const MAX_NS: u64 = 100_000_000_000;
