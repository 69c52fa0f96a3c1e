//! Files that are there, and whole, after a loss of power: a file is on the disk before it gets its name,
//! and its directory after that. Knows no logs.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{Operation, StoreError};

/// Writes a file for this user alone to `path`, brings it to the disk and gives it another name, which
/// [`sync_directory`] brings there, too; returns it with its length. Whoever had that name before is
/// gone. If that fails, the file goes again: its room may be what others lack.
pub(crate) fn publish(
    path: &Path,
    name: &Path,
    operation: Operation,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), StoreError>,
) -> Result<(File, u64), StoreError> {
    let failed = |error| StoreError::io(operation, path)(error);
    let file = create_file(path).map_err(failed)?;
    let mut out = BufWriter::new(&file);
    let published = write(&mut out).and_then(|()| {
        out.flush().map_err(failed)?;
        // Else some file systems have the new name lead to an empty file.
        sync_file(&file, path).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        fs::rename(path, name).map_err(failed)?;
        steps::note("rename", name);
        Ok(len)
    });
    drop(out);
    match published {
        Ok(len) => Ok((file, len)),
        Err(error) => {
            let _ = fs::remove_file(path);
            Err(error)
        }
    }
}

fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
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
