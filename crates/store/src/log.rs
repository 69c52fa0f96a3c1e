//! One writer's log: appended to, read back, compacted.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tickwire_base::{Counter, Timestamp};

use crate::contents::{self, Contents};
use crate::disk::{create_file, publish, sync_directory};
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
    syncs: Arc<Counter>,
    /// Bytes in order.
    len: u64,
    /// At what length to compact.
    compact_at: u64,
    buffer: Vec<u8>,
    counters: LogCounters,
}

/// What has been appended to a log, to be brought to the disk while others append.
#[derive(Debug)]
pub struct Unsynced {
    file: Arc<File>,
    path: PathBuf,
    syncs: Arc<Counter>,
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
            syncs: Arc::default(),
            len: scanned.end,
            compact_at: compaction_len(live_len),
            buffer: Vec::new(),
            counters: LogCounters {
                cut_off_bytes,
                skipped_bytes: scanned.skipped,
                ..LogCounters::default()
            },
        };
        if is_changed || log.len > log.compact_at {
            log.replace(&contents.kept.spans)?;
            sync_directory(&log.directory)?;
        }
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
            syncs: self.syncs.count(),
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
        if self.len > self.compact_at && self.compact(now) {
            sync_directory(&self.directory)?;
        }
        Ok(())
    }

    /// Brings what has been appended to the disk (`fdatasync`).
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> Result<(), StoreError> {
        sync(&self.file, &self.path, &self.syncs)
    }

    /// What [`sync`](Self::sync) would bring to the disk now.
    pub fn unsynced(&self) -> Unsynced {
        Unsynced {
            file: Arc::clone(&self.file),
            path: self.path.clone(),
            syncs: Arc::clone(&self.syncs),
        }
    }

    /// Removes what is no longer kept; says whether the log is another file now. It is as before if that
    /// fails.
    fn compact(&mut self, now: Timestamp) -> bool {
        let contents = Contents::of(&self.file, &self.path, self.retention, now);
        let replaced = contents.and_then(|contents| {
            self.compact_at = compaction_len(contents.live_len());
            // Else most of it is still kept.
            let is_worth_it = self.len > self.compact_at;
            if is_worth_it {
                self.replace(&contents.kept.spans)?;
            }
            Ok(is_worth_it)
        });
        replaced.unwrap_or_else(|_| {
            self.counters.failed_compactions += 1;
            self.compact_at = self.len.saturating_mul(2);
            false
        })
    }

    /// Replaces the log by one that has only these records. Its name is still to be brought to the disk.
    fn replace(&mut self, survivors: &[Span]) -> Result<(), StoreError> {
        let path = self.directory.join(NEW);
        let failed = || StoreError::io(Operation::Compact, &path);
        let file = create_file(&path).map_err(failed())?;
        let mut out = BufWriter::new(&file);
        let head = head(&path, &self.description)?;
        out.write_all(&head).map_err(failed())?;
        let mut len = head.len() as u64;
        let mut bytes = Vec::new();
        for &span in survivors {
            self.read_span(span, &mut bytes)?;
            out.write_all(&bytes).map_err(failed())?;
            len += span.len;
        }
        out.flush().map_err(failed())?;
        drop(out);
        publish(&file, &path, &self.path).map_err(failed())?;
        self.file = Arc::new(file);
        self.len = len;
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
        sync(&self.file, &self.path, &self.syncs)
    }
}

fn sync(file: &File, path: &Path, syncs: &Counter) -> Result<(), StoreError> {
    let synced = file.sync_data();
    synced.map_err(StoreError::io(Operation::Sync, path))?;
    syncs.add(1);
    Ok(())
}

/// Makes an empty log, whole or not at all.
fn create(directory: &Path, description: &Description) -> Result<(), StoreError> {
    let path = directory.join(NEW);
    let failed = || StoreError::io(Operation::Open, &path);
    let mut file = create_file(&path).map_err(failed())?;
    file.write_all(&head(&path, description)?)
        .map_err(failed())?;
    publish(&file, &path, &directory.join(LOG)).map_err(failed())?;
    sync_directory(directory)
}

fn head(path: &Path, description: &Description) -> Result<Vec<u8>, StoreError> {
    let path = || path.to_owned();
    description
        .to_bytes()
        .ok_or_else(|| StoreError::TooLarge { path: path() })
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
mod tests {
    use std::env;

    use super::*;
    use crate::disk::steps;
    use crate::store::Store;

    const NOW: Timestamp = Timestamp::from_nanos(0);

    /// A store that goes with the test.
    struct Scratch(Store);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("tickwire-store-{name}-{}", std::process::id());
            Self(Store::open(&env::temp_dir().join(name)).unwrap())
        }

        fn adopt(&self, announcement: &[u8], sync: SyncPolicy) -> Log {
            let description = Description {
                announcement: announcement.to_vec(),
                ..Description::default()
            };
            let log = self
                .0
                .adopt(description, |_| true, Retention::KEEP_ALL, sync, NOW);
            log.unwrap()
        }

        fn numbers(&self) -> Vec<i64> {
            let mut numbers = Vec::new();
            let each = |record: &Record<'_>, _| numbers.push(record.sequence_number);
            let log = self.adopt(b"", SyncPolicy::Never);
            log.read(NOW, each).unwrap();
            numbers
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(self.0.directory());
        }
    }

    fn record(sequence_number: i64) -> Record<'static> {
        Record {
            sequence_number,
            ..Record::default()
        }
    }

    #[test]
    fn a_record_that_finds_no_room_leaves_the_log_as_it_was() {
        let scratch = Scratch::new("full");
        let mut log = scratch.adopt(b"", SyncPolicy::Never);
        log.append(&record(1), NOW).unwrap();
        let file = std::mem::replace(&mut log.file, File::open("/dev/null").unwrap().into());
        let error = log.append(&record(2), NOW).unwrap_err().to_string();
        assert!(error.contains(log.path.to_str().unwrap()), "{error}");
        assert!(error.contains("TICKWIRE_STORE"), "{error}");
        log.file = file;
        log.append(&record(3), NOW).unwrap();
        assert_eq!(log.counters().appended, 2);
        drop(log);
        assert_eq!(scratch.numbers(), [1, 3]);
    }

    #[test]
    fn a_record_that_does_not_reach_the_disk_is_in_the_log() {
        let scratch = Scratch::new("sync");
        let mut log = scratch.adopt(b"", SyncPolicy::EachWrite);
        log.append(&record(1), NOW).unwrap();
        // It takes what is written, but has no disk.
        let null = OpenOptions::new().write(true).open("/dev/null").unwrap();
        let file = std::mem::replace(&mut log.file, null.into());
        let error = log.append(&record(2), NOW).unwrap_err();
        assert!(error.to_string().contains("bring to the disk"), "{error}");
        assert_eq!((log.counters().appended, log.counters().syncs), (2, 1));
        log.file = file;
        log.append(&record(3), NOW).unwrap();
        drop(log);
        // The third is behind the second, of which this file has nothing.
        assert_eq!(scratch.numbers(), [1, 3]);
        let skipped = scratch.adopt(b"", SyncPolicy::Never).counters();
        assert_eq!((skipped.skipped_bytes, skipped.cut_off_bytes), (68, 0));
    }

    #[test]
    fn a_log_is_on_the_disk_before_it_has_its_name() {
        let scratch = Scratch::new("steps");
        let name = |path: &Path| path.file_name().unwrap().display().to_string();
        let mut log = scratch.adopt(b"", SyncPolicy::Never);
        let names_in = |path: &Path| format!("sync names in {}", name(path));
        let named = ["sync log.new", "rename log", &names_in(log.directory())].map(str::to_owned);
        let above = [env::temp_dir(), scratch.0.directory().to_owned()].map(|path| names_in(&path));
        assert_eq!(steps::take(), [above.as_slice(), &named].concat());

        let payload = vec![0; 1 << 20];
        log.retention = Retention::default();
        while log.counters().compactions == 0 {
            let payload = payload.as_slice();
            log.append(
                &Record {
                    payload,
                    ..record(1)
                },
                NOW,
            )
            .unwrap();
        }
        assert_eq!(steps::take(), named);
        drop(log);
        scratch.adopt(b"", SyncPolicy::Never);
        assert_eq!(steps::take(), Vec::<String>::new());
        scratch.adopt(b"another QoS", SyncPolicy::Never);
        assert_eq!(steps::take(), named);
    }
}
