//! What the kernel tells in files, below a root that tests replace.

use std::fs;
use std::path::PathBuf;

/// The files of a machine.
pub(super) struct System {
    root: PathBuf,
}

impl System {
    /// The machine whose files are below `root`.
    pub(super) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// A file's text without the end of its last line; `None` if it cannot be read.
    pub(super) fn read(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.root.join(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_end().to_owned())
    }

    /// A file that holds one number.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.read(path)?.trim().parse().ok()
    }

    /// Names in a folder, in order; none if it cannot be read.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// Where a symbolic link points to.
    pub(super) fn link(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.root.join(path)).ok()?;
        target.to_str().map(str::to_owned)
    }

    /// Bytes of a file, or of all files in a folder.
    pub(super) fn size(&self, path: &str) -> u64 {
        let Ok(metadata) = fs::symlink_metadata(self.root.join(path)) else {
            return 0;
        };
        if !metadata.is_dir() {
            return metadata.len();
        }
        let names = self.names(path).into_iter();
        names.map(|name| self.size(&format!("{path}/{name}"))).sum()
    }

    /// The processes that can be seen.
    pub(super) fn processes(&self) -> impl Iterator<Item = u32> {
        let names = self.names("proc").into_iter();
        names.filter_map(|name| name.parse().ok())
    }

    /// Whether this process is root's.
    pub(super) fn is_root(&self) -> bool {
        let status = self.read("proc/self/status").unwrap_or_default();
        let mut ids = status.lines().filter_map(|line| line.strip_prefix("Uid:"));
        // The real and the effective one.
        let ids = ids.next().map(|ids| ids.split_whitespace().nth(1));
        ids == Some(Some("0"))
    }

    /// What the open files of a process are.
    pub(super) fn open_files(&self, pid: u32) -> Vec<String> {
        let folder = format!("proc/{pid}/fd");
        let files = self.names(&folder).into_iter();
        files
            .filter_map(|file| self.link(&format!("{folder}/{file}")))
            .collect()
    }

    /// The columns that a table such as /proc/net/snmp has for a protocol, by their names.
    pub(super) fn counter(&self, path: &str, protocol: &str, name: &str) -> Option<u64> {
        let text = self.read(path)?;
        let mut lines = text
            .lines()
            .filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(':'));
        let column = lines.next()?.split_whitespace().position(|n| n == name)?;
        lines.next()?.split_whitespace().nth(column)?.parse().ok()
    }
}

/// A machine that a test makes up.
#[cfg(test)]
pub(super) struct Fake {
    pub(super) system: System,
}

#[cfg(test)]
impl Fake {
    pub(super) fn new(name: &str) -> Self {
        let folder = format!("tickwire-doctor-{name}-{}", std::process::id());
        let root = std::env::temp_dir().join(folder);
        fs::create_dir_all(&root).expect("a folder for temporary files");
        Self {
            system: System::at(root),
        }
    }

    /// Writes a file, and the folders above it.
    pub(super) fn with(self, path: &str, text: &str) -> Self {
        let path = self.make_room(path);
        fs::write(path, text).expect("the folder is ours");
        self
    }

    /// Makes a symbolic link.
    pub(super) fn with_link(self, path: &str, target: &str) -> Self {
        let path = self.make_room(path);
        // A test that writes anew replaces.
        let _absent = fs::remove_file(&path);
        std::os::unix::fs::symlink(target, path).expect("the folder is ours");
        self
    }

    fn make_room(&self, path: &str) -> PathBuf {
        let path = self.system.root.join(path);
        let folder = path.parent().expect("a path below the root");
        fs::create_dir_all(folder).expect("the folder is ours");
        path
    }
}

#[cfg(test)]
impl Drop for Fake {
    fn drop(&mut self) {
        // What cannot be removed goes with the other temporary files.
        let _ignored = fs::remove_dir_all(&self.system.root);
    }
}
