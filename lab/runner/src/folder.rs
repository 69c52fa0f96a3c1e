//! The folder of a run's results: `results/<machine>/<time>-<scenarios>/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::record::Results;

/// Makes it.
pub(crate) fn create(kept: &Path, environment: &Environment, set: &str) -> Result<PathBuf, String> {
    let name = format!("{}-{set}", environment.begun);
    let folder = kept.join(&environment.machine).join(name);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Writes `data.json`, whole or not at all.
pub(crate) fn write(results: &Results, folder: &Path) -> Result<(), String> {
    let (new, path) = (folder.join("data.json.new"), folder.join("data.json"));
    fs::write(&new, json(results)?)
        .and_then(|()| fs::rename(&new, &path))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads it, from the folder or from the file itself.
pub(crate) fn read(folder: &Path) -> Result<Results, String> {
    let path = match folder.is_dir() {
        true => folder.join("data.json"),
        false => folder.to_owned(),
    };
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let results: Results =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    match results.schema {
        1 => Ok(results),
        other => Err(format!("{}: schema {other} is not known", path.display())),
    }
}

/// All data as text.
pub(crate) fn json(results: &Results) -> Result<String, String> {
    let mut text = serde_json::to_string(results).map_err(|error| error.to_string())?;
    text.push('\n');
    Ok(text)
}
