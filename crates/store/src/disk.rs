//! Files that are there, and whole, after a loss of power: a file is on the disk before it gets its name,
//! and its directory after that. Knows no logs.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{Operation, StoreError};

/// Makes an empty file for this user alone.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

/// Brings a file to the disk and gives it another name, which
/// [`sync_directory`] brings there, too. Whoever had that name before is gone.
pub(crate) fn publish(file: &File, path: &Path, name: &Path) -> io::Result<()> {
    // Else some file systems have the new name lead to an empty file.
    sync_file(file, path)?;
    fs::rename(path, name)?;
    steps::note("rename", name);
    Ok(())
}

/// Makes a directory for this user alone, and those above it.
pub(crate) fn create_directory(directory: &Path) -> Result<(), StoreError> {
    let is_missing = |directory: &&Path| !directory.exists();
    let missing: Vec<_> = directory.ancestors().take_while(is_missing).collect();
    let created = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory);
    created.map_err(StoreError::io(Operation::CreateDirectory, directory))?;
    let above = missing.iter().filter_map(|made| made.parent());
    above.rev().try_for_each(sync_directory)
}

/// Brings the names in a directory to the disk.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), StoreError> {
    let path = match directory.as_os_str().is_empty() {
        true => Path::new("."),
        false => directory,
    };
    let synced = File::open(path).and_then(|file| file.sync_all());
    steps::note("sync names in", path);
    match synced {
        // A file system that cannot do that for directories.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced.map_err(StoreError::io(Operation::Sync, path)),
    }
}

fn sync_file(file: &File, path: &Path) -> io::Result<()> {
    file.sync_data()?;
    steps::note("sync", path);
    Ok(())
}

#[cfg(not(test))]
mod steps {
    pub(super) fn note(_: &str, _: &std::path::Path) {}
}

/// What has been done to names and files by a test's thread, as nothing else shows it.
#[cfg(test)]
pub(crate) mod steps {
    use std::cell::RefCell;
    use std::mem;
    use std::path::Path;

    thread_local! {
        static STEPS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn note(step: &str, path: &Path) {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let step = format!("{step} {}", name.display());
        STEPS.with_borrow_mut(|steps| steps.push(step));
    }

    /// Those since the last call.
    pub(crate) fn take() -> Vec<String> {
        STEPS.with_borrow_mut(mem::take)
    }
}
