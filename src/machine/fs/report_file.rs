//! A result file that the user named: it is written completely or not at all, and it never replaces a file that is not such a
//! result. The first bytes of the existing file decide that. A node, a link or a directory is never replaced.

use crate::error::{Error, Result};
use crate::machine::fs::unfinished;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Whether the file may be written: nothing is there, or a file that begins like those that are written here.
pub fn may_be_written(path: &Path, begins: &str) -> Result<()> {
    let refuse = |what: &str| {
        let shown = crate::device::display::escape_str(&path.to_string_lossy());
        Err(Error::Usage(format!("{shown} is {what}, so it is not overwritten; name another file, or remove it first")))
    };
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let dir = directory(path);
            // Something that is no directory answers ENOTDIR here.
            fs::metadata(dir.join(".")).map(drop).map_err(|e| Error::file(dir, "look at", e))
        }
        Err(e) => Err(Error::file(path, "look at", e)),
        Ok(there) if there.is_dir() => refuse("a directory"),
        Ok(there) if there.is_symlink() => refuse("a link"),
        Ok(there) if !there.is_file() => refuse("not a regular file"),
        Ok(_) => {
            let mut found = Vec::new();
            let read = fs::File::open(path).and_then(|f| f.take(begins.len() as u64).read_to_end(&mut found));
            read.map_err(|e| Error::file(path, "read", e))?;
            if found == begins.as_bytes() {
                Ok(())
            } else {
                refuse("an existing file that is not a report of zerocap")
            }
        }
    }
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes the file: after a cut the old one or the new one.
pub fn write(path: &Path, begins: &str, text: &str) -> Result<()> {
    may_be_written(path, begins)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = unfinished::path(directory(path), &name);
    let mut options = OpenOptions::new();
    // A new file, with the mode that the caller's umask leaves.
    options.write(true).create_new(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    let file = options.open(&temporary).map_err(|e| Error::file(&temporary, "make", e))?;
    let written = put(file, text).map_err(|e| Error::file(&temporary, "write", e));
    let placed = written.and_then(|()| place(&temporary, path, begins));
    if placed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    placed
}

fn put(mut file: fs::File, text: &str) -> std::io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Gives the temporary file its name. Where nothing was there, nothing that came meanwhile is replaced.
fn place(temporary: &Path, path: &Path, begins: &str) -> Result<()> {
    let failed = |e: std::io::Error| Error::file(path, "write", e);
    match fs::hard_link(temporary, path) {
        Ok(()) => fs::remove_file(temporary).map_err(failed),
        // It is there, or this file system knows no second name: what is there is looked at once more.
        Err(_) => {
            may_be_written(path, begins)?;
            fs::rename(temporary, path).map_err(failed)
        }
    }?;
    fs::File::open(directory(path)).and_then(|d| d.sync_all()).map_err(failed)
}
