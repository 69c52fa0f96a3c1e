//! One writer's log: appended to, read back, compacted.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tickwire_base::{Counter, Timestamp};

use crate::contents::{self, Contents};
use crate::disk::{publish, sync_directory};
use crate::error::{Operation, StoreError};
use crate::format::{Record, Span};
use crate::key::Description;
use crate::lock::Lock;
use crate::retention::Retention;

/// When what is appended goes to the disk. Without that it is in the memory of the kernel, where it
/// survives every end of the process, but no loss of power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// When the kernel likes, usually within 30 s. The default.
    #[default]
    Never,
    /// Before each write returns: `fdatasync`, which takes as long as the disk does.
    EachWrite,
    /// So long after a write, by whoever calls [`Log::sync`] or [`Unsynced::sync`] then: a loss of power
    /// loses no more than the writes of that time, and of the time that the disk takes.
    Interval(Duration),
}

/// A log and the right to append to it; others may have it when this is dropped.
#[derive(Debug)]
pub struct Log {
    directory: PathBuf,
    path: PathBuf,
    lock: Lock,
    description: Description,
    retention: Retention,
    sync: SyncPolicy,
    file: Arc<File>,
    synced: Arc<Synced>,
    /// Bytes in order.
    len: u64,
    /// At what length to compact.
    compact_at: u64,
    buffer: Vec<u8>,
    pub(crate) counters: LogCounters,
}

/// What has been appended to a log, to be brought to the disk while others append.
#[derive(Debug)]
pub struct Unsynced {
    file: Arc<File>,
    path: PathBuf,
    synced: Arc<Synced>,
}

/// What of a log is on the disk.
#[derive(Debug, Default)]
struct Synced {
    /// Times that the log was brought there.
    count: Counter,
    /// Whether its name may still lead to the log that it has replaced.
    name_is_old: AtomicBool,
}

/// What a log has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogCounters {
    /// Records appended.
    pub appended: u64,
    /// Bytes of those.
    pub appended_bytes: u64,
    /// Times that the log was brought to the disk.
    pub syncs: u64,
    /// Times that the log was replaced by a shorter one.
    pub compactions: u64,
    /// Times that this failed, for want of room; the log goes on, and is longer.
    pub failed_compactions: u64,
    /// Bytes at the end that were no whole record when the log was opened, and are gone: what was
    /// being written when the power failed.
    pub cut_off_bytes: u64,
    /// Bytes between records that were no whole record when the log was opened: what the disk has
    /// lost. They go with the next compaction.
    pub skipped_bytes: u64,
    /// Logs that a writer passed over when it looked for this one, as they are damaged beyond what can
    /// be passed over, or of another version of the format. They stay as they are, for whoever may read them.
    pub logs_passed_over: u64,
}

impl Log {
    /// Opens the log in `directory`, which is made if there is none, for whoever has `lock`. With a
    /// description, for a writer; without, for a service.
    pub(crate) fn open(
        directory: PathBuf,
        lock: Lock,
        description: Option<Description>,
        retention: Retention,
        sync: SyncPolicy,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let path = directory.join(LOG);
        // What a compaction left that was killed.
        let _ = fs::remove_file(directory.join(NEW));
        if let Some(description) = description.as_ref().filter(|_| !path.exists()) {
            create(&directory, description)?;
        }
        let open = OpenOptions::new().read(true).write(true).open(&path);
        let file = open.map_err(StoreError::io(Operation::Open, &path))?;
        let contents = Contents::of(&file, &path, retention, now)?;
        let scanned = contents.scanned;
        let cut_off_bytes = scanned.file_end - scanned.end;
        if cut_off_bytes > 0 {
            let cut = file.set_len(scanned.end);
            cut.map_err(StoreError::io(Operation::Open, &path))?;
        }
        let is_changed = description
            .as_ref()
            .is_some_and(|wanted| *wanted != contents.description);
        let live_len = contents.live_len();
        let mut log = Self {
            directory,
            path,
            lock,
            description: description.unwrap_or(contents.description),
            retention,
            sync,
            file: Arc::new(file),
            synced: Arc::default(),
            len: scanned.end,
            compact_at: compaction_len(live_len),
            buffer: Vec::new(),
            counters: LogCounters {
                cut_off_bytes,
                skipped_bytes: scanned.skipped,
                ..LogCounters::default()
            },
        };
        if is_changed {
            log.replace(&contents.kept.spans)?;
        } else if log.len > log.compact_at {
            let compacted = log.replace(&contents.kept.spans);
            log.note_compaction(&compacted);
        }
        log.synced.name(&log.path)?;
        Ok(log)
    }

    /// What the header says.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Where the log is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What happened so far.
    pub fn counters(&self) -> LogCounters {
        LogCounters {
            syncs: self.synced.count.count(),
            ..self.counters
        }
    }

    /// Whether a writer wants the log that a service has.
    pub fn is_wanted(&self) -> bool {
        self.lock.is_wanted()
    }

    /// Gives `each` what the DURABILITY_SERVICE policy keeps as of `now`, in the order of appending,
    /// and whether all of the record's coherent set is kept, end included.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(
        &self,
        now: Timestamp,
        mut each: impl FnMut(&Record<'_>, bool),
    ) -> Result<(), StoreError> {
        let contents = Contents::of(&self.file, &self.path, self.retention, now)?;
        let mut bytes = Vec::new();
        for span in contents.kept.spans {
            self.read_span(span, &mut bytes)?;
            contents::record(&bytes, &self.path, |record| {
                let set = (record.writer, record.coherent_set);
                each(record, contents.kept.whole_sets.contains(&set));
            })?;
        }
        Ok(())
    }

    /// Adds a record. From here on it survives the process; with [`SyncPolicy::EachWrite`], the
    /// machine. One system call, or two; no memory is allocated once the log has seen a record as
    /// long. When the log has doubled since the last time, and is 4 MiB long, what is no longer kept
    /// as of `now` is removed, at the cost of reading and writing what is.
    ///
    /// # Errors
    /// When the file cannot be written, or the record is longer than 4 GiB; then the log is as before.
    /// When the disk fails ([`Operation::Sync`]); then the log has the record, which may not survive the
    /// machine.
    pub fn append(&mut self, record: &Record<'_>, now: Timestamp) -> Result<(), StoreError> {
        self.buffer.clear();
        if record.write(&mut self.buffer).is_none() {
            let path = self.path.clone();
            return Err(StoreError::TooLarge { path });
        }
        if let Err(error) = self.file.write_all_at(&self.buffer, self.len) {
            // If this fails, too, the next record goes over what is there, or opening cuts it off.
            let _ = self.file.set_len(self.len);
            return Err(StoreError::io(Operation::Append, &self.path)(error));
        }
        let len = self.buffer.len() as u64;
        self.len += len;
        self.counters.appended += 1;
        self.counters.appended_bytes += len;
        if self.sync == SyncPolicy::EachWrite {
            self.sync()?;
        }
        if self.len > self.compact_at {
            self.compact(now);
            self.synced.name(&self.path)?;
        }
        Ok(())
    }

    /// Brings what has been appended to the disk (`fdatasync`), and the log's name if that has failed
    /// before.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.synced.sync(&self.file, &self.path)
    }

    /// What [`sync`](Self::sync) would bring to the disk now.
    pub fn unsynced(&self) -> Unsynced {
        Unsynced {
            file: Arc::clone(&self.file),
            path: self.path.clone(),
            synced: Arc::clone(&self.synced),
        }
    }

    /// Removes what is no longer kept. The log is as before if that fails.
    fn compact(&mut self, now: Timestamp) {
        let contents = Contents::of(&self.file, &self.path, self.retention, now);
        let compacted = contents.and_then(|contents| {
            self.compact_at = compaction_len(contents.live_len());
            // Else most of it is still kept.
            match self.len > self.compact_at {
                true => self.replace(&contents.kept.spans),
                false => Ok(()),
            }
        });
        self.note_compaction(&compacted);
    }

    fn note_compaction(&mut self, compacted: &Result<(), StoreError>) {
        if compacted.is_err() {
            self.counters.failed_compactions += 1;
            self.compact_at = self.len.saturating_mul(2);
        }
    }

    /// Replaces the log by one that has only these records. Its name is still to be brought to the disk.
    fn replace(&mut self, survivors: &[Span]) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        let others = |out: &mut dyn Write| {
            for &span in survivors {
                self.read_span(span, &mut bytes)?;
                let written = out.write_all(&bytes);
                written.map_err(StoreError::io(Operation::Compact, &self.path))?;
            }
            Ok(())
        };
        let (directory, description) = (&self.directory, &self.description);
        let (file, len) = put(directory, Operation::Compact, description, others)?;
        self.len = len;
        self.file = Arc::new(file);
        self.synced.name_is_old.store(true, Ordering::Release);
        self.compact_at = compaction_len(len);
        self.counters.compactions += 1;
        Ok(())
    }

    /// A record as it stands.
    fn read_span(&self, span: Span, bytes: &mut Vec<u8>) -> Result<(), StoreError> {
        bytes.resize(usize::try_from(span.len).unwrap_or(usize::MAX), 0);
        let read = self.file.read_exact_at(bytes, span.offset);
        read.map_err(StoreError::io(Operation::Read, &self.path))
    }
}

impl Unsynced {
    /// Brings it to the disk (`fdatasync`).
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.synced.sync(&self.file, &self.path)
    }
}

impl Synced {
    fn sync(&self, file: &File, path: &Path) -> Result<(), StoreError> {
        let synced = file.sync_data();
        synced.map_err(StoreError::io(Operation::Sync, path))?;
        self.name(path)?;
        self.count.add(1);
        Ok(())
    }

    /// Brings the name of the log to the disk, unless it is there.
    fn name(&self, path: &Path) -> Result<(), StoreError> {
        if !self.name_is_old.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let synced = sync_directory(path.parent().unwrap_or(path));
        synced.inspect_err(|_| self.name_is_old.store(true, Ordering::Release))
    }
}

/// Makes an empty log, whole or not at all.
fn create(directory: &Path, description: &Description) -> Result<(), StoreError> {
    put(directory, Operation::Open, description, |_| Ok(()))?;
    sync_directory(directory)
}

/// Puts a log in its place: this header, and behind it what `records` writes.
fn put(
    directory: &Path,
    operation: Operation,
    description: &Description,
    records: impl FnOnce(&mut dyn Write) -> Result<(), StoreError>,
) -> Result<(File, u64), StoreError> {
    let path = directory.join(LOG);
    let head = description.to_bytes();
    let head = head.ok_or_else(|| StoreError::TooLarge { path: path.clone() })?;
    publish(&directory.join(NEW), &path, operation, |out| {
        let written = out.write_all(&head);
        written.map_err(StoreError::io(operation, &path))?;
        records(out)
    })
}

/// At what length to compact a log of which so many bytes are kept.
fn compaction_len(live_len: u64) -> u64 {
    live_len.saturating_mul(2).max(MIN_COMPACTION_LEN)
}

/// The name of a log's file.
pub(crate) const LOG: &str = "log";
/// The name of a log that is being written anew.
const NEW: &str = "log.new";
/// Shorter logs are not worth compacting.
const MIN_COMPACTION_LEN: u64 = 4 << 20;

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
