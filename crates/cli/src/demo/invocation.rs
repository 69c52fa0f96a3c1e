//! How this program is started, in words that can be pasted into a shell.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The word that starts this program: the name by which it was, if that is on the path, else where it lies.
pub(super) fn command() -> String {
    let program = env::current_exe().unwrap_or_else(|_| PathBuf::from("tickwire"));
    let folder = env::current_dir().unwrap_or_default();
    let called = env::args_os().next().unwrap_or_default();
    word(
        &called,
        &program,
        &env::var_os("PATH").unwrap_or_default(),
        &folder,
    )
}

fn word(called: &OsStr, program: &Path, path: &OsStr, folder: &Path) -> String {
    let name = Path::new(called);
    let is_name = name.file_name() == Some(called);
    let on_path = || env::split_paths(path).map(|folder| folder.join(name));
    let is_program = |file: PathBuf| file.canonicalize().is_ok_and(|file| file == program);
    if is_name
        && on_path()
            .find(|file| file.is_file())
            .is_some_and(is_program)
    {
        return quoted(called);
    }
    match program.strip_prefix(folder) {
        // A name alone would be looked for on the path.
        Ok(below) => quoted(Path::new(".").join(below).as_os_str()),
        Err(_) => quoted(program.as_os_str()),
    }
}

/// As one word of a shell.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./+,:@%".contains(char);
    match word.chars().all(is_plain) {
        true => word.into_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_named_as_it_can_be_started() {
        let program = env::current_exe().expect("Linux tells");
        let program = program.canonicalize().expect("it runs");
        let folder = program.parent().expect("it is in a folder");
        let name = program.file_name().expect("it has a name");
        let (nowhere, lies_at) = (Path::new("/nowhere"), quoted(program.as_os_str()));
        let path = env::join_paths([nowhere, folder]).expect("a path");
        assert_eq!(word(name, &program, &path, nowhere), quoted(name));
        assert_eq!(
            word(name, &program, OsStr::new("/nowhere"), nowhere),
            lies_at
        );
        let other = Path::new("/home/me/tickwire");
        assert_eq!(
            word(name, other, &path, nowhere),
            "/home/me/tickwire",
            "another has the name"
        );
        let called = OsStr::new("target/release/tickwire");
        let program = Path::new("/home/me/it's mine/target/release/tickwire");
        let from = |folder: &str| word(called, program, &path, Path::new(folder));
        assert_eq!(from("/home/me/it's mine"), "./target/release/tickwire");
        assert_eq!(
            from("/home/you"),
            r"'/home/me/it'\''s mine/target/release/tickwire'"
        );
    }
}
