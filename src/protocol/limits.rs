//! Limits and modes before and after the test: what changed is put back if that was asked for and if the kernel accepts it.
//! It writes only tunables of the device, and never its content.
//!
//! A target that rejects WRITE SAME without UNMAP makes sd withdraw the offload (fieldguide 1.7). The limits themselves
//! cannot be written then, but `max_write_same_blocks` can, and brings them back.

use crate::device::Device;
use crate::fact::Fact;
use crate::facts::Facts;
use crate::machine::fs::root::Root;
use crate::machine::port::{Port, TunablePath};
use crate::terms::FindingCode;
use crate::verdict::measurement::TestFinding;

/// What may be written, in this order: what brings back others goes first.
const WRITABLE: &[&str] = &[
    "max_write_same_blocks",
    "zeroing_mode",
    "provisioning_mode",
    "queue/write_zeroes_unmap_max_bytes",
    "queue/discard_max_bytes",
];

/// The watched values at one time, by their paths below the device.
pub(crate) struct Limits(Vec<(String, String)>);

impl Limits {
    pub(crate) fn read(root: &Root, facts: &Facts) -> Limits {
        let value = |path: String| root.text(&facts.device.attr(&path)).known().cloned().map(|v| (path, v));
        Limits(facts.watched().into_iter().filter_map(value).collect())
    }

    fn value(&self, path: &str) -> Option<&str> {
        self.0.iter().find(|(p, _)| p == path).map(|(_, v)| v.as_str())
    }

    /// What is not as it was: path, value before, value now.
    fn changed<'a>(&'a self, now: &'a Limits) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        self.0
            .iter()
            .filter_map(|(path, was)| now.value(path).filter(|v| v != was).map(|v| (path.as_str(), was.as_str(), v)))
    }

    /// What is to be written so that all is as it was: path and value. A limit of 0 is never written: for some there is
    /// no way back from it.
    fn to_write<'a>(&'a self, now: &'a Limits) -> Vec<(&'a str, &'a str)> {
        let place = |path: &str| WRITABLE.iter().position(|w| path == *w || path.ends_with(&format!("/{w}")));
        let mut wanted: Vec<(usize, &str, &str)> = self
            .changed(now)
            .filter(|(_, was, _)| *was != "0")
            .filter_map(|(path, was, _)| place(path).map(|place| (place, path, was)))
            .collect();
        wanted.sort_unstable();
        wanted.into_iter().map(|(_, path, was)| (path, was)).collect()
    }
}

/// Puts back what changed, one value at a time, since each may bring others along. Gives what came of it.
pub(crate) fn restore(before: &Limits, root: &Root, facts: &Facts, port: &mut dyn Port) -> Vec<TestFinding> {
    if before.changed(&Limits::read(root, facts)).next().is_none() {
        return Vec::new();
    }
    let mut refused = Vec::new();
    for _ in WRITABLE {
        let now = Limits::read(root, facts);
        let next = before.to_write(&now).into_iter().find(|(path, _)| !refused.iter().any(|(p, _)| p == path));
        let Some((path, was)) = next else { break };
        if let Err(why) = set(port, root, &facts.device, path, was) {
            refused.push((path.to_owned(), why));
        }
    }
    let now = Limits::read(root, facts);
    let left: Vec<String> = before
        .changed(&now)
        .map(|(path, was, now)| {
            let why = refused.iter().find(|(p, _)| p == path).map(|(_, why)| format!(" ({why})")).unwrap_or_default();
            format!("{path} is {now}, before the test it was {was}{why}")
        })
        .collect();
    let text = if left.is_empty() {
        "all limits and modes that the test changed were put back".to_owned()
    } else {
        format!("it could not be put back: {}", left.join("; "))
    };
    vec![TestFinding { code: FindingCode::LimitsChangedByTest, text }]
}

/// Writes a value and reads it back: one that the kernel takes and drops again counts as refused, since it would be written
/// for ever.
fn set(port: &mut dyn Port, root: &Root, device: &Device, path: &str, value: &str) -> Result<(), String> {
    port.set(device, &TunablePath(path.to_owned()), value).map_err(|e| e.to_string())?;
    match root.text(&device.attr(path)) {
        Fact::Known(now) if now == value => Ok(()),
        Fact::Known(now) => Err(format!("{value} was written, but {now} is read back")),
        Fact::Unknown(why) => Err(format!("{value} was written, but it cannot be read back: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::port::{Act, ActError, AskError, Done, Question, ScratchRange, Timed};
    use crate::units::Nanos;
    use std::path::Path;

    fn limits(of: &[(&str, &str)]) -> Limits {
        Limits(of.iter().map(|(p, v)| ((*p).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn tunables_that_restore_others_are_restored_first() {
        let mode = "device/scsi_disk/0:0:0:0/zeroing_mode";
        let blocks = "device/scsi_disk/0:0:0:0/max_write_same_blocks";
        let knob = "queue/write_zeroes_unmap_max_bytes";
        let max = "queue/write_zeroes_max_bytes";
        let before = limits(&[
            (max, "512"),
            (knob, "512"),
            (mode, "writesame"),
            (blocks, "1"),
            ("queue/discard_max_bytes", "0"),
        ]);
        let after =
            limits(&[(max, "0"), (knob, "0"), (mode, "write"), (blocks, "0"), ("queue/discard_max_bytes", "4096")]);
        assert_eq!(before.to_write(&after), [(blocks, "1"), (mode, "writesame"), (knob, "512")]);
        assert_eq!(before.to_write(&before), []);
        assert_eq!(before.changed(&limits(&[])).count(), 0, "what cannot be read has not changed");
    }

    /// A kernel that keeps its tunables in files: it takes what is written there, and keeps it or not.
    struct Kernel<'a> {
        dir: &'a Path,
        /// The file whose values are taken and dropped again.
        drops: &'static str,
        writes: usize,
    }

    impl Port for Kernel<'_> {
        fn ask(&mut self, _: &Device, _: Question) -> Result<Vec<u8>, AskError> {
            Err(AskError::NotAsked)
        }
        fn act(&mut self, _: &ScratchRange, _: &Act) -> Timed<Result<Done, ActError>> {
            Timed { took: Nanos(0), value: Err(ActError::Refused("tunables only".to_owned())) }
        }
        fn set(&mut self, device: &Device, path: &TunablePath, value: &str) -> Result<(), ActError> {
            self.writes += 1;
            if path.0 != self.drops {
                std::fs::write(self.dir.join(device.attr(&path.0)), format!("{value}\n")).unwrap();
            }
            Ok(())
        }
        fn now(&self) -> Nanos {
            Nanos(0)
        }
    }

    #[test]
    fn a_value_that_the_kernel_drops_counts_as_refused() {
        let knob = "queue/write_zeroes_unmap_max_bytes";
        let discard = "queue/discard_max_bytes";
        let dir = tempfile::tempdir().unwrap();
        let queue = dir.path().join("sys/block/sda/queue");
        std::fs::create_dir_all(&queue).unwrap();
        let write = |value: &str| {
            [knob, discard].iter().for_each(|p| std::fs::write(queue.parent().unwrap().join(p), value).unwrap());
        };
        let root = Root::open(dir.path()).unwrap();
        let facts = crate::facts::testing::with("sda", &[]);
        for (drops, left) in [("", None), (discard, Some("4096 was written, but 512 is read back"))] {
            write("4096\n");
            let before = Limits::read(&root, &facts);
            write("512\n");
            let mut port = Kernel { dir: dir.path(), drops, writes: 0 };
            let found = restore(&before, &root, &facts, &mut port);
            let text = &found[0].text;
            assert_eq!(port.writes, 2, "each is written once: {text}");
            assert_eq!(root.number(&facts.device.attr(knob)), Fact::Known(4096));
            match left {
                None => assert!(text.starts_with("all limits"), "{text}"),
                Some(why) => assert!(text.contains(discard) && text.contains(why), "{text}"),
            }
        }
    }
}
