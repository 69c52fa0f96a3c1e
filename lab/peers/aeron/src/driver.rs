//! The media driver of a run: files that all processes map, and a thread that joins publications and
//! subscriptions, cleans what has been read, and moves the limits of publications.

use std::ffi::{CStr, CString};
use std::fs;
use std::path::{Path, PathBuf};

use lab_program::Options;
use rusteron_media_driver::bindings::aeron_threading_mode_enum::AERON_THREADING_MODE_SHARED;
use rusteron_media_driver::{AeronDriver, AeronDriverContext};

use crate::session::told;

/// Where the driver of this run has its files: in memory, as is its default, under the name of the run's folder.
pub(crate) fn folder(options: &Options) -> Result<PathBuf, String> {
    let run = options.dir.canonicalize().map_err(told)?;
    let name = run.to_string_lossy().replace('/', "-");
    Ok(Path::new(MEMORY).join(format!("{PREFIX}{name}")))
}

/// Starts the driver.
pub(crate) fn start(options: &Options) -> Result<AeronDriver, String> {
    remove_forgotten();
    let folder = folder(options)?;
    let context = AeronDriverContext::new().map_err(told)?;
    let configured = || {
        context.set_dir(&path(&folder))?;
        context.set_dir_delete_on_start(true)?;
        context.set_dir_delete_on_shutdown(true)?;
        context.set_threading_mode(AERON_THREADING_MODE_SHARED)?;
        context.set_shared_idle_strategy_init_args(IDLE_TIME)?;
        context.set_shared_idle_strategy(IDLE_STRATEGY)?;
        let driver = AeronDriver::new(&context)?;
        driver.start(false)?;
        Ok(driver)
    };
    let driver = configured().map_err(|error: rusteron_media_driver::AeronCError| told(error))?;
    let run = options.dir.canonicalize().map_err(told)?;
    fs::write(folder.join(RUN), run.to_string_lossy().as_bytes()).map_err(told)?;
    Ok(driver)
}

/// Removes what drivers have left that were killed: those whose run's folder is gone.
fn remove_forgotten() {
    for entry in fs::read_dir(MEMORY).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let run = fs::read_to_string(entry.path().join(RUN));
        if is_ours && run.is_ok_and(|run| !Path::new(&run).exists()) {
            // Somebody else may have been faster.
            let _removed = fs::remove_dir_all(entry.path());
        }
    }
}

/// A path as C has it.
pub(crate) fn path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_encoded_bytes()).expect("paths have no zeros")
}

const MEMORY: &str = "/dev/shm";
/// Of the folders of the lab's drivers.
const PREFIX: &str = "aeron-lab";
/// The file that says which run's folder a driver's belongs to.
const RUN: &str = "run";
/// The driver's thread shares its core with a program: one that never slept would take half of it.
pub(crate) const IDLE_STRATEGY: &CStr = c"sleeping";
/// So short that a stream does not wait for it, and so long that few round trips meet it.
pub(crate) const IDLE_TIME: &CStr = c"200us";
