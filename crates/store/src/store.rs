//! A directory of logs.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::unistd::geteuid;
use tickwire_base::Timestamp;

use crate::contents;
use crate::disk::{create_directory, sync_directory};
use crate::error::{Operation, StoreError};
use crate::key::Description;
use crate::lock::{Lock, Owner};
use crate::log::{LOG, Log, SyncPolicy};
use crate::retention::Retention;

/// A directory of logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// Opens a store; its directory is made if it is not there, for this user alone.
    ///
    /// # Errors
    /// When it cannot be made, or is not this user's alone to write into.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        create_directory(directory)?;
        let metadata = fs::metadata(directory);
        let metadata = metadata.map_err(StoreError::io(Operation::Read, directory))?;
        let is_ours = metadata.uid() == geteuid().as_raw();
        if !is_ours || metadata.permissions().mode() & 0o022 != 0 {
            let path = directory.to_owned();
            return Err(StoreError::NotOurs { path });
        }
        Ok(Self {
            directory: directory.to_owned(),
        })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Takes a log for a writer: the first of its key that nobody has and whose description `fits` it, or
    /// a new one. Waits up to a second for a [service](Owner::Service) to let go of one. Logs that are
    /// damaged beyond what can be passed over stay as they are, and are
    /// [counted](crate::LogCounters::logs_passed_over).
    ///
    /// # Errors
    /// When the directory cannot be written, or there are 256 such logs that a writer has, that do not
    /// fit or that are damaged.
    pub fn adopt(
        &self,
        description: Description,
        fits: impl Fn(&Description) -> bool,
        retention: Retention,
        sync: SyncPolicy,
        now: Timestamp,
    ) -> Result<Log, StoreError> {
        let fits = |log: &Description| log.key == description.key && fits(log);
        let mut passed_over = 0;
        for slot in 0..MAX_SLOTS {
            let directory = self.directory.join(description.key.directory_name(slot));
            create_directory(&directory)?;
            let opened = acquire_usable(&directory, &fits).and_then(|lock| {
                let Some(lock) = lock else {
                    return Ok(None);
                };
                let description = Some(description.clone());
                Log::open(directory, lock, description, retention, sync, now).map(Some)
            });
            match opened {
                Ok(None) => {}
                Ok(Some(mut log)) => {
                    log.counters.logs_passed_over = passed_over;
                    return Ok(log);
                }
                Err(StoreError::Damaged { .. }) => passed_over += 1,
                Err(error) => return Err(error),
            }
        }
        let slots = (0..MAX_SLOTS).map(|slot| description.key.directory_name(slot));
        let owners = slots.map(|name| Self::owner(&self.directory.join(name)));
        let writers = owners.filter(|owner| *owner == Ok(Owner::Writer)).count();
        Err(StoreError::NoSlot {
            path: self.directory.clone(),
            unused: MAX_SLOTS as usize - writers,
        })
    }

    /// Takes the log in `directory` for a durability service, as it is. What it keeps, `retention`
    /// says by what the header says.
    ///
    /// # Errors
    /// When somebody has it or wants it, it is damaged, or it cannot be written.
    pub fn adopt_as_service(
        directory: &Path,
        retention: impl FnOnce(&Description) -> Retention,
        now: Timestamp,
    ) -> Result<Log, StoreError> {
        let lock = own_as_service(directory)?;
        let path = directory.join(LOG);
        let file = File::open(&path).map_err(StoreError::io(Operation::Open, &path))?;
        let retention = retention(&contents::description(&file, &path)?);
        let directory = directory.to_owned();
        Log::open(directory, lock, None, retention, SyncPolicy::Never, now)
    }

    /// Removes the log in `directory`, and so what its writer left. The empty directory stays, as somebody
    /// may be waiting for the lock in it.
    ///
    /// # Errors
    /// When somebody has the log or wants it ([`StoreError::Taken`]), or it cannot be removed.
    pub fn remove(directory: &Path) -> Result<(), StoreError> {
        let _lock = own_as_service(directory)?;
        let path = directory.join(LOG);
        fs::remove_file(&path).map_err(StoreError::io(Operation::Remove, &path))?;
        sync_directory(directory)
    }
}

/// The lock of a log that no writer has or wants, as a service has it: writers wait a while for that.
fn own_as_service(directory: &Path) -> Result<Lock, StoreError> {
    let path = directory.join(LOCK);
    let lock = Lock::open(&path)?;
    // A writer that waits for it is not to be kept waiting by the next service.
    let is_ours = !lock.is_wanted() && {
        let owned = lock.try_own(true);
        owned.map_err(StoreError::io(Operation::Lock, &path))?
    };
    match is_ours {
        true => Ok(lock),
        false => Err(StoreError::Taken {
            path: directory.to_owned(),
        }),
    }
}

/// The lock of a log that fits, once it is ours.
fn acquire_usable(
    directory: &Path,
    fits: &impl Fn(&Description) -> bool,
) -> Result<Option<Lock>, StoreError> {
    // A service need not let go of one that does not fit. Who had it meanwhile may have changed it.
    match is_usable(directory, fits)? {
        true => match acquire(directory)? {
            Some(lock) if is_usable(directory, fits)? => Ok(Some(lock)),
            _ => Ok(None),
        },
        false => Ok(None),
    }
}

/// The lock of a log, once it is ours; `None` if a writer has it.
fn acquire(directory: &Path) -> Result<Option<Lock>, StoreError> {
    let path = directory.join(LOCK);
    let failed = || StoreError::io(Operation::Lock, &path);
    let lock = Lock::open(&path)?;
    for _ in 0..HANDOVER_TRIES {
        if lock.try_own(false).map_err(failed())? {
            return Ok(Some(lock));
        }
        if lock.owner().map_err(failed())? == Owner::Writer || !lock.want().map_err(failed())? {
            return Ok(None);
        }
        // A lock cannot be waited for with a limit.
        #[allow(clippy::disallowed_methods)]
        thread::sleep(HANDOVER_PAUSE);
    }
    Ok(None)
}

/// Whether the log in a directory fits, if there is one. Keys whose checksums collide share directories'
/// names.
fn is_usable(directory: &Path, fits: &impl Fn(&Description) -> bool) -> Result<bool, StoreError> {
    let path = directory.join(LOG);
    match File::open(&path) {
        Ok(file) => Ok(fits(&contents::description(&file, &path)?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(StoreError::io(Operation::Open, &path)(error)),
    }
}

/// The name of the file with the locks.
pub(crate) const LOCK: &str = "lock";
/// Logs of one key.
const MAX_SLOTS: u32 = 256;
/// Between looks at a service's lock.
const HANDOVER_PAUSE: Duration = Duration::from_millis(5);
/// How many of those.
const HANDOVER_TRIES: u32 = 200;
