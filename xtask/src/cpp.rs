//! What C++ programs need besides: headers, and files by which CMake finds all of it.

use std::fs;
use std::path::Path;

use crate::install::{SONAME, VERSION, copy, failed, write};

pub(crate) fn install(root: &Path, prefix: &Path) -> Result<(), String> {
    let sources = root.join("bindings/cpp");
    copy_tree(
        &sources.join("include"),
        &prefix.join("include/tickwire-cpp"),
    )?;
    let cmake = prefix.join("lib/cmake/tickwire");
    fs::create_dir_all(&cmake).map_err(|error| failed("make", &cmake, &error))?;
    let config = sources.join("cmake/tickwireConfig.cmake");
    let text = fs::read_to_string(&config).map_err(|error| failed("read", &config, &error))?;
    let text = text.replace("@SONAME@", SONAME);
    write(&cmake.join("tickwireConfig.cmake"), &text)?;
    write(&cmake.join("tickwireConfigVersion.cmake"), &version())
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| failed("make", to, &error))?;
    let entries = fs::read_dir(from).map_err(|error| failed("read", from, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| failed("read", from, &error))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => copy_tree(&path, &target)?,
            false => copy(&path, &target)?,
        }
    }
    Ok(())
}

/// Until 1.0 what is asked for must agree in its first two numbers.
fn version() -> String {
    let series = VERSION
        .rsplit_once('.')
        .map_or(VERSION, |(series, _)| series);
    format!(
        "\
set(PACKAGE_VERSION \"{VERSION}\")
if(\"${{PACKAGE_FIND_VERSION_MAJOR}}.${{PACKAGE_FIND_VERSION_MINOR}}\" VERSION_EQUAL \"{series}\"
    AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
"
    )
}
