//! Small trees of files that stand for devices, for the tests of this room and of the verdict.

use crate::device::Device;
use crate::facts::{gather, Depth, Facts};
use crate::machine::fs::root::Root;
use crate::machine::port::{Act, ActError, AskError, Done, Port, Question, ScratchRange, Timed, TunablePath};
use crate::units::Nanos;
use std::os::unix::fs::symlink;

/// Answers nothing.
pub struct Silent;

impl Port for Silent {
    fn ask(&mut self, _: &Device, _: Question) -> Result<Vec<u8>, AskError> {
        Err(AskError::NotAsked)
    }
    fn act(&mut self, _: &ScratchRange, _: &Act) -> Timed<Result<Done, ActError>> {
        Timed { took: Nanos(0), value: Err(ActError::Refused("no acts here".to_owned())) }
    }
    fn set(&mut self, _: &Device, _: &TunablePath, _: &str) -> Result<(), ActError> {
        Err(ActError::Refused("no writes here".to_owned()))
    }
    fn now(&self) -> Nanos {
        Nanos(0)
    }
}

/// The facts of a device in a tree of these files and links.
pub fn facts(name: &str, files: &[(&str, &str)], links: &[(&str, &str)]) -> Facts {
    let dir = tempfile::tempdir().unwrap();
    let place = |relative: &str| {
        let path = dir.path().join(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    for (path, text) in files {
        std::fs::write(place(path), text).unwrap();
    }
    for (path, target) in links {
        symlink(target, place(path)).unwrap();
    }
    gather(&Root::open(dir.path()).unwrap(), &mut Silent, &Device::new(name, None), Depth::All)
}

/// The facts of a device with these files below its sysfs directory.
pub fn with(name: &str, files: &[(&str, &str)]) -> Facts {
    let paths: Vec<(String, &str)> = files.iter().map(|(p, t)| (format!("sys/block/{name}/{p}"), *t)).collect();
    facts(name, &paths.iter().map(|(p, t)| (p.as_str(), *t)).collect::<Vec<_>>(), &[])
}
