//! One writer's log: appended to, read back, compacted.

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tickwire_base::Timestamp;

use crate::error::{Damage, Operation, StoreError};
use crate::format::{Record, RecordKind, ScanError, Scanner, Span};
use crate::key::Description;
use crate::lock::Lock;
use crate::retention::{Kept, Retention, Survivors};

/// When what is appended goes to the disk. Without that it is in the memory of the kernel, where it
/// survives every end of the process, but no loss of power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// When the kernel likes, usually within 30 s. The default.
    #[default]
    Never,
    /// Before each write returns: `fdatasync`, which takes as long as the disk does.
    EachWrite,
    /// At most so long after a write, by whoever calls [`Log::sync`]: a loss of power loses no more
    /// than the writes of that time.
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
    file: File,
    /// Bytes in order.
    len: u64,
    /// At what length to compact.
    compact_at: u64,
    buffer: Vec<u8>,
    counters: LogCounters,
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
}

/// What a log turned out to be.
struct Contents {
    description: Description,
    /// Of the header.
    head_len: u64,
    /// Where the first damaged byte is, or the end.
    len: u64,
    kept: Kept,
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
        let (file_len, contents) = examine(&file, &path, retention, now)?;
        let cut_off_bytes = file_len - contents.len;
        if cut_off_bytes > 0 {
            let cut = file.set_len(contents.len);
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
            file,
            len: contents.len,
            compact_at: compaction_len(live_len),
            buffer: Vec::new(),
            counters: LogCounters {
                cut_off_bytes,
                ..LogCounters::default()
            },
        };
        if is_changed || log.len > log.compact_at {
            log.replace(&contents.kept.spans)?;
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
        self.counters
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
        let (_, contents) = examine(&self.file, &self.path, self.retention, now)?;
        let mut bytes = Vec::new();
        for span in contents.kept.spans {
            self.read_span(span, &mut bytes)?;
            let mut scanner = Scanner::new(bytes.as_slice(), span.len);
            match scanner.record() {
                Ok(Some((_, record))) => {
                    let set = (record.writer, record.coherent_set);
                    each(&record, contents.kept.whole_sets.contains(&set));
                }
                Ok(None) => {}
                Err(error) => return Err(failed(&self.path, error)),
            }
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
        if self.sync == SyncPolicy::EachWrite {
            self.sync()?;
        }
        let len = self.buffer.len() as u64;
        self.len += len;
        self.counters.appended += 1;
        self.counters.appended_bytes += len;
        if self.len > self.compact_at {
            self.compact(now);
        }
        Ok(())
    }

    /// Brings what has been appended to the disk (`fdatasync`).
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        let synced = self.file.sync_data();
        synced.map_err(StoreError::io(Operation::Sync, &self.path))?;
        self.counters.syncs += 1;
        Ok(())
    }

    /// Removes what is no longer kept. The log is as before if that fails.
    fn compact(&mut self, now: Timestamp) {
        let examined = examine(&self.file, &self.path, self.retention, now);
        let replaced = examined.and_then(|(_, contents)| {
            self.compact_at = compaction_len(contents.live_len());
            match self.len > self.compact_at {
                true => self.replace(&contents.kept.spans),
                // Most of it is still kept.
                false => Ok(()),
            }
        });
        if replaced.is_err() {
            self.counters.failed_compactions += 1;
            self.compact_at = self.len.saturating_mul(2);
        }
    }

    /// Replaces the log by one that has only these records.
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
        if self.sync != SyncPolicy::Never {
            file.sync_data().map_err(failed())?;
        }
        fs::rename(&path, &self.path).map_err(failed())?;
        self.file = file;
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

impl Contents {
    fn live_len(&self) -> u64 {
        let records = self.kept.spans.iter().map(|span| span.len).sum::<u64>();
        self.head_len + records
    }
}

/// The description of the log in a file.
pub(crate) fn description(file: &File, path: &Path) -> Result<Description, StoreError> {
    let failed = StoreError::io(Operation::Read, path);
    let end = file.metadata().map_err(failed)?.len();
    let scanned = Scanner::new(BufReader::new(file), end).description();
    scanned.map_err(|error| self::failed(path, error))
}

/// How long a file is, and what is in it.
fn examine(
    file: &File,
    path: &Path,
    retention: Retention,
    now: Timestamp,
) -> Result<(u64, Contents), StoreError> {
    let metadata = file.metadata();
    let end = metadata
        .map_err(StoreError::io(Operation::Read, path))?
        .len();
    let mut scanner = Scanner::new(
        BufReader::with_capacity(1 << 16, At { file, offset: 0 }),
        end,
    );
    let description = scanner.description().map_err(|error| failed(path, error))?;
    let head_len = scanner.offset();
    let mut survivors = Survivors::new(retention);
    loop {
        match scanner.record() {
            Ok(Some((span, record))) => survivors.push(span, &record),
            Ok(None) | Err(ScanError::Damaged(_)) => break,
            Err(error) => return Err(failed(path, error)),
        }
    }
    let contents = Contents {
        description,
        head_len,
        len: scanner.offset(),
        kept: survivors.finish(now),
    };
    Ok((end, contents))
}

/// Counts the changes in a file; says how many bytes at its end are none.
pub(crate) fn count(file: &File, path: &Path) -> Result<(u64, Option<Damage>), StoreError> {
    let metadata = file.metadata();
    let end = metadata
        .map_err(StoreError::io(Operation::Read, path))?
        .len();
    let mut scanner = Scanner::new(
        BufReader::with_capacity(1 << 16, At { file, offset: 0 }),
        end,
    );
    scanner.description().map_err(|error| failed(path, error))?;
    let mut count = 0;
    loop {
        match scanner.record() {
            Ok(Some((_, record))) => count += u64::from(record.kind != RecordKind::EndOfSet),
            Ok(None) => return Ok((count, None)),
            Err(ScanError::Damaged(damage)) => return Ok((count, Some(damage))),
            Err(error) => return Err(failed(path, error)),
        }
    }
}

fn failed(path: &Path, error: ScanError) -> StoreError {
    match error {
        ScanError::Io(error) => StoreError::io(Operation::Read, path)(error),
        ScanError::Damaged(damage) => StoreError::damaged(path, damage),
    }
}

/// Makes an empty log, whole or not at all.
fn create(directory: &Path, description: &Description) -> Result<(), StoreError> {
    let path = directory.join(NEW);
    let failed = || StoreError::io(Operation::Open, &path);
    let mut file = create_file(&path).map_err(failed())?;
    file.write_all(&head(&path, description)?)
        .map_err(failed())?;
    fs::rename(&path, directory.join(LOG)).map_err(failed())
}

fn create_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

fn head(path: &Path, description: &Description) -> Result<Vec<u8>, StoreError> {
    let path = || path.to_owned();
    description
        .to_bytes()
        .ok_or_else(|| StoreError::TooLarge { path: path() })
}

/// Reads a file without moving its own position.
struct At<'a> {
    file: &'a File,
    offset: u64,
}

impl std::io::Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
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
    use crate::store::Store;

    #[test]
    fn a_record_that_finds_no_room_leaves_the_log_as_it_was() {
        let directory = env::temp_dir().join(format!("tickwire-store-full-{}", std::process::id()));
        let store = Store::open(&directory).unwrap();
        let now = Timestamp::from_nanos(0);
        let adopt = || {
            let retention = Retention::KEEP_ALL;
            store.adopt(Description::default(), retention, SyncPolicy::Never, now)
        };
        let mut log = adopt().unwrap();
        let record = |sequence_number| Record {
            sequence_number,
            ..Record::default()
        };
        log.append(&record(1), now).unwrap();
        let file = std::mem::replace(&mut log.file, File::open("/dev/null").unwrap());
        let error = log.append(&record(2), now).unwrap_err().to_string();
        assert!(error.contains(log.path.to_str().unwrap()), "{error}");
        assert!(error.contains("TICKWIRE_STORE"), "{error}");
        log.file = file;
        log.append(&record(3), now).unwrap();
        assert_eq!(log.counters().appended, 2);
        drop(log);
        let mut numbers = Vec::new();
        let each = |record: &Record<'_>, _| numbers.push(record.sequence_number);
        adopt().unwrap().read(now, each).unwrap();
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(numbers, [1, 3]);
    }
}
