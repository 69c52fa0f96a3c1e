//! Where texts come from.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::limits;

/// Gives the contents of files, by paths that the user or an `#include` names.
pub trait Loader {
    /// All bytes of a file, in UTF-8 or ISO 8859-1.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) has the file looked for elsewhere; all other errors are told.
    fn load(&mut self, path: &Path) -> io::Result<Vec<u8>>;
}

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files;

impl Loader for Files {
    fn load(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // One byte too many is enough to be refused; a device has no end.
        let most = limits::FILE_BYTES as u64 + 1;
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
