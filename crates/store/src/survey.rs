//! A look at the logs of a store from outside, which changes nothing and takes no lock.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::contents;
use crate::error::{Damage, Operation, StoreError};
use crate::key::Description;
use crate::lock::{self, Owner};
use crate::log::LOG;
use crate::store::{LOCK, Store};

/// A log as it looks from outside.
#[derive(Debug)]
pub struct LogSummary {
    /// Its directory.
    pub directory: PathBuf,
    /// Which of the logs of its key it is.
    pub slot: Option<u32>,
    /// Who has it.
    pub owner: Owner,
    /// What its header says.
    pub description: Description,
    /// Records, kept or not.
    pub records: u64,
    /// Length of the file.
    pub bytes: u64,
    /// Bytes that belong to no whole record: between records what the disk has lost, which goes with
    /// the next compaction; at the end what was being written when the power failed, which goes when
    /// the log is next adopted. A writer that is just appending looks like that, too.
    pub damaged_bytes: u64,
    /// What is wrong with the first of them.
    pub damage: Option<Damage>,
}

impl Store {
    /// The directories of all logs, sorted. None if the store does not exist.
    ///
    /// # Errors
    /// When the store's directory cannot be read.
    pub fn logs(directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
        let failed = || StoreError::io(Operation::Read, directory);
        let entries = match fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed())?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(failed())?.path();
            if path.join(LOG).is_file() {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }

    /// Who has the log in `directory`. Costs three system calls, where a [`LogSummary`] reads it all.
    ///
    /// # Errors
    /// When its lock cannot be looked at.
    pub fn owner(directory: &Path) -> Result<Owner, StoreError> {
        let path = directory.join(LOCK);
        let owner = File::open(&path).and_then(|file| lock::owner(&file));
        match owner {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Owner::Nobody),
            owner => owner.map_err(StoreError::io(Operation::Lock, &path)),
        }
    }
}

impl LogSummary {
    /// Looks at the log in `directory`, all of which it reads.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged beyond what can be passed over.
    pub fn of(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join(LOG);
        let file = File::open(&path).map_err(StoreError::io(Operation::Open, &path))?;
        let description = contents::description(&file, &path)?;
        let (records, scanned) = contents::count(&file, &path)?;
        Ok(Self {
            directory: directory.to_owned(),
            slot: slot_of(directory),
            owner: Store::owner(directory)?,
            description,
            records,
            bytes: scanned.file_end,
            damaged_bytes: scanned.skipped + (scanned.file_end - scanned.end),
            damage: scanned.damage,
        })
    }
}

/// The last part of a directory's name, if it is named as a store names it.
fn slot_of(directory: &Path) -> Option<u32> {
    let name = directory.file_name()?.to_str()?;
    name.rsplit('.').next()?.parse().ok()
}
