//! `cargo xtask install`: the C library and the headers of C++, where compilers find them.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::HELP;

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let (prefix, profile) = options(arguments)?;
    let prefix = std::path::absolute(&prefix).map_err(|error| failed("find", &prefix, &error))?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    build(&root, profile)?;
    let built = target(&root).join(if profile == "dev" { "debug" } else { profile });
    let [include, lib, pkgconfig] =
        ["include", "lib", "lib/pkgconfig"].map(|folder| prefix.join(folder));
    for folder in [&include.join("tickwire"), &lib, &pkgconfig] {
        fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
    }
    for header in [
        "tickwire.h",
        "tickwire/cdr.h",
        "tickwire/payload.h",
        "tickwire/value.h",
        "tickwire/rpc.h",
        "tickwire/exchange.h",
        "tickwire/czmq.h",
    ] {
        let from = root.join("bindings/c/include").join(header);
        copy(&from, &include.join(header))?;
    }
    copy(&built.join("libtickwire.a"), &lib.join("libtickwire.a"))?;
    let shared = format!("libtickwire.so.{VERSION}");
    copy(&built.join("libtickwire.so"), &lib.join(&shared))?;
    link(&shared, &lib.join(SONAME))?;
    link(SONAME, &lib.join("libtickwire.so"))?;
    write(&pkgconfig.join("tickwire.pc"), &description(&prefix))?;
    crate::cpp::install(&root, &prefix)?;
    println!(
        "Installed tickwire.h, dds/dds.hpp for C++, libtickwire, tickwire.pc and tickwireConfig.cmake below {prefix}. Where they are not found by themselves:\n\n    \
         export PKG_CONFIG_PATH={prefix}/lib/pkgconfig LD_LIBRARY_PATH={prefix}/lib",
        prefix = prefix.display()
    );
    Ok(())
}

/// The prefix and the profile; values follow their options, or are in the same argument behind `=`.
fn options(arguments: &[String]) -> Result<(PathBuf, &str), String> {
    let (mut prefix, mut profile) = (None, "release");
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument.as_str(), arguments.next().map(String::as_str)),
        };
        let value = value.ok_or_else(|| format!("`{name}` has no value\n{HELP}"))?;
        match name {
            // Shells put the home folder in its place only where it begins a word.
            "--prefix" if value.starts_with('~') => {
                return Err(format!(
                    "`{value}`: write \"$HOME\" for `~`, or `--prefix {value}`"
                ));
            }
            "--prefix" => prefix = Some(PathBuf::from(value)),
            "--profile" => profile = value,
            _ => return Err(format!("there is no option `{name}`\n{HELP}")),
        }
    }
    let prefix = prefix.ok_or_else(|| format!("--prefix says where to\n{HELP}"))?;
    Ok((prefix, profile))
}

fn build(root: &Path, profile: &str) -> Result<(), String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut build = Command::new(cargo);
    build.current_dir(root);
    build.args(["build", "--package", "tickwire-c", "--profile", profile]);
    match build.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the C library was not built: {status}")),
        Err(error) => Err(format!("cannot run cargo: {error}")),
    }
}

/// Where cargo builds.
fn target(root: &Path) -> PathBuf {
    let given = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    given.map_or_else(|| root.join("target"), |given| root.join(given))
}

/// For `pkg-config`. What the static library needs of the system is in `Libs.private`.
fn description(prefix: &Path) -> String {
    format!(
        "\
prefix={}
includedir=${{prefix}}/include
libdir=${{prefix}}/lib

Name: tickwire
Description: Publish/subscribe for market data: an OMG DDS
Version: {VERSION}
Cflags: -I${{includedir}} -I${{includedir}}/tickwire-cpp
Libs: -L${{libdir}} -ltickwire
Libs.private: -lgcc_s -lpthread -lm -ldl -lc
",
        prefix.display()
    )
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    // A program that runs keeps the file that it has.
    let _ = fs::remove_file(to);
    let copied = fs::copy(from, to);
    copied.map_err(|error| failed("write", to, &error))?;
    Ok(())
}

fn link(to: &str, at: &Path) -> Result<(), String> {
    let _ = fs::remove_file(at);
    symlink(to, at).map_err(|error| failed("make", at, &error))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| failed("write", path, &error))
}

pub(crate) fn failed(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What the shared library calls itself; see `bindings/c/build.rs`.
pub(crate) const SONAME: &str = "libtickwire.so.0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_options_or_an_equals_sign() {
        let options = |text: &str| {
            let arguments: Vec<_> = text.split(' ').map(str::to_owned).collect();
            options(&arguments).map(|(prefix, profile)| (prefix, profile.to_owned()))
        };
        let expected = Ok((PathBuf::from("/x"), "dev".to_owned()));
        assert_eq!(options("--prefix /x --profile dev"), expected);
        assert_eq!(options("--profile=dev --prefix=/x"), expected);
        assert!(
            options("--prefix").is_err_and(|error| error.starts_with("`--prefix` has no value"))
        );
        assert!(options("--profile dev").is_err());
        assert!(options("--prefix=~/x").is_err());
    }
}
