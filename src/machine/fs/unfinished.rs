//! Temporary files of processes that were killed while they replaced a file. The process whose number is in the name decides:
//! nothing of a living process is removed.

use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// How deep the own directories are.
const DEPTH: usize = 3;

/// The temporary file in which this process writes the new content of a file of that name.
pub fn path(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!(".{name}.{}.tmp", std::process::id()))
}

/// Takes such files away, in this directory and those below it. Nothing where there is no directory.
pub fn remove(dir: &Path) -> Result<()> {
    remove_below(dir, DEPTH, &|pid| Path::new("/proc").join(pid.to_string()).exists())
}

fn remove_below(dir: &Path, depth: usize, lives: &dyn Fn(u32) -> bool) -> Result<()> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Error::file(dir, "list", e)),
    };
    for entry in entries {
        let entry = entry.map_err(|e| Error::file(dir, "list", e))?;
        let kind = entry.file_type().map_err(|e| Error::file(entry.path(), "look at", e))?;
        if kind.is_dir() && depth > 0 {
            remove_below(&entry.path(), depth - 1, lives)?;
        }
        let killed = entry.file_name().to_str().and_then(writer).is_some_and(|pid| !lives(pid));
        if kind.is_file() && killed {
            match fs::remove_file(entry.path()) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::file(entry.path(), "remove", e));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The process that writes a temporary file, by its name: `.NAME.PID.tmp`.
fn writer(name: &str) -> Option<u32> {
    let (name, pid) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    pid.parse().ok().filter(|_| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_files_of_processes_that_have_ended_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("temporary")).unwrap();
        let files =
            ["temporary/.8:0.21362.tmp", ".8:0.json.21362.tmp", ".8:0.json.7.tmp", "8:0.json", ".x.tmp", ".21362.tmp"];
        for file in files {
            fs::write(dir.path().join(file), "x").unwrap();
        }
        fs::create_dir(dir.path().join(".directory.21362.tmp")).unwrap();
        remove_below(dir.path(), DEPTH, &|pid| pid == 7).unwrap();
        let there: Vec<bool> = files.iter().map(|f| dir.path().join(f).exists()).collect();
        assert_eq!(there, [false, false, true, true, true, true]);
        assert!(dir.path().join(".directory.21362.tmp").exists(), "no file of this program's");
        assert!(remove(&dir.path().join("no such directory")).is_ok());
    }

    #[test]
    fn the_name_of_a_temporary_file_names_its_process() {
        let file = path(Path::new("/run/zerocap"), "8:0.json");
        assert_eq!(writer(file.file_name().unwrap().to_str().unwrap()), Some(std::process::id()));
    }
}
