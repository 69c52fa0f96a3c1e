//! Where texts come from.

use std::io;
use std::path::Path;

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
        std::fs::read(path)
    }
}
