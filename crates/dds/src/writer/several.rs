//! Writing several samples at once.

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::{Change, ChangeKind};

use super::DataWriter;
use crate::clock;
use crate::error::{WriteAllError, WriteError};
use crate::type_support::{TopicSupport, Written};

impl<T: TopicSupport> DataWriter<T> {
    /// Writes samples one after the other, as [`write`](Self::write) does each: who has several small ones at hand
    /// writes them for less.
    ///
    /// Where samples of a topic without key need nothing besides, and none has ever been longer than 4 KiB, those that fit
    /// 4 KiB share a record of the writer's log in shared memory, or a datagram, and up to 256 share one reading of the
    /// clocks, hence their source timestamp, and one taking of the writer's lock (`docs/sample-path.md`). Elsewhere it is
    /// the same as so many writes.
    ///
    /// # Errors
    /// That of the first sample that cannot be written, and how many were before it. Those behind it are not tried.
    pub fn write_all(&self, samples: &[T]) -> Result<(), WriteAllError> {
        let mut rest = samples;
        while let Some((first, others)) = rest.split_first() {
            let time = clock::both();
            let (written, failed) = self.write_run(rest, time);
            rest = rest.get(written..).unwrap_or_default();
            let failed = match (written, failed) {
                (0, None) => {
                    let alone = self.change(ChangeKind::Alive, first, time);
                    if alone.is_ok() {
                        rest = others;
                    }
                    alone.err()
                }
                (_, failed) => failed,
            };
            if let Some(source) = failed {
                let written = samples.len() - rest.len();
                return Err(WriteAllError { written, source });
            }
        }
        Ok(())
    }

    /// Writes the first samples as far as they go the short way. How many do, and the error of the one behind
    /// these, if it has one.
    fn write_run(
        &self,
        samples: &[T],
        (now, timestamp): (Instant, Timestamp),
    ) -> (usize, Option<WriteError>) {
        let endpoint = &self.handle.endpoint;
        let ty = self.handle.topic.ty();
        if !self.handle.enabling.is_enabled() || T::has_key(ty) {
            return (0, None);
        }
        let representation = endpoint.representation;
        let change = Change {
            source_timestamp: Some(timestamp),
            ..Change::default()
        };
        let run = samples.get(..MAX_RUN).unwrap_or(samples);
        endpoint.write_run(now, &change, run, |sample, buffer| {
            let written = sample.payload(ty, representation, buffer);
            written.map_err(Box::new)
        })
    }
}

/// Samples that are written under one lock at most, which acknowledgements wait for.
const MAX_RUN: usize = 256;
