//! What is in the file of a log. Changes nothing.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use tickwire_base::Timestamp;

use crate::error::{Operation, StoreError};
use crate::format::{Record, RecordKind, ScanError, Scanned, Scanner};
use crate::key::Description;
use crate::retention::{Kept, Retention, Survivors};

/// What a log turned out to be.
pub(crate) struct Contents {
    pub(crate) description: Description,
    /// Of the header.
    head_len: u64,
    /// What else there is.
    pub(crate) scanned: Scanned,
    pub(crate) kept: Kept,
}

impl Contents {
    /// Reads all of a log.
    pub(crate) fn of(
        file: &File,
        path: &Path,
        retention: Retention,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let mut survivors = Survivors::new(retention);
        let mut scanner = scanner(file, path)?;
        let description = scanner.description().map_err(|error| failed(path, error))?;
        let head_len = scanner.offset();
        let scanned = scanner.records(|span, record| survivors.push(span, record));
        Ok(Self {
            description,
            head_len,
            scanned: scanned.map_err(|error| failed(path, error))?,
            kept: survivors.finish(now),
        })
    }

    /// Length of a log that has what stays of this one.
    pub(crate) fn live_len(&self) -> u64 {
        let records = self.kept.spans.iter().map(|span| span.len).sum::<u64>();
        self.head_len + records
    }
}

/// The description of the log in a file.
pub(crate) fn description(file: &File, path: &Path) -> Result<Description, StoreError> {
    let description = scanner(file, path)?.description();
    description.map_err(|error| failed(path, error))
}

/// Counts the changes in a file.
pub(crate) fn count(file: &File, path: &Path) -> Result<(u64, Scanned), StoreError> {
    let mut scanner = scanner(file, path)?;
    scanner.description().map_err(|error| failed(path, error))?;
    let mut count = 0;
    let scanned =
        scanner.records(|_, record| count += u64::from(record.kind != RecordKind::EndOfSet));
    let scanned = scanned.map_err(|error| failed(path, error))?;
    Ok((count, scanned))
}

/// The record whose bytes these are.
pub(crate) fn record<T>(
    bytes: &[u8],
    path: &Path,
    read: impl FnOnce(&Record<'_>) -> T,
) -> Result<Option<T>, StoreError> {
    let mut scanner = Scanner::new(Cursor::new(bytes), bytes.len() as u64);
    match scanner.record() {
        Ok(found) => Ok(found.map(|(_, record)| read(&record))),
        Err(error) => Err(failed(path, error)),
    }
}

fn scanner<'a>(file: &'a File, path: &Path) -> Result<Scanner<BufReader<At<'a>>>, StoreError> {
    let metadata = file.metadata();
    let metadata = metadata.map_err(StoreError::io(Operation::Read, path))?;
    let from = BufReader::with_capacity(BUFFER_LEN, At { file, offset: 0 });
    Ok(Scanner::new(from, metadata.len()))
}

fn failed(path: &Path, error: ScanError) -> StoreError {
    match error {
        ScanError::Io(error) => StoreError::io(Operation::Read, path)(error),
        ScanError::Damaged(damage) => StoreError::damaged(path, damage),
    }
}

/// Reads a file without moving its own position.
struct At<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Seek for At<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let moved = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.offset.checked_add_signed(by),
            SeekFrom::End(by) => self.file.metadata()?.len().checked_add_signed(by),
        };
        self.offset = moved.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

/// What is read at once.
const BUFFER_LEN: usize = 1 << 16;
