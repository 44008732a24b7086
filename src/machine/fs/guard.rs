//! Queue files of the running system whose read may never return: a read waits while a limit is written to the queue of a
//! device that does not answer (fieldguide 12). This file decides which of them are read through a child with a deadline.

use crate::fact::Fact;
use crate::machine::fs::guards::Guards;
use crate::machine::port::child::Reader;
use crate::machine::port::process::Kept;
use crate::machine::stuck::Stuck;
use std::collections::BTreeMap;

/// When a child reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// For every queue file.
    Always,
    /// Where the device has I/O in flight, or is known not to answer. A queue is frozen for as long as its I/O is not done,
    /// so one that has none gives its files at once; an event pays for no child then.
    Busy,
}

/// The guard of one root.
#[derive(Debug)]
pub struct Guard {
    when: When,
    reader: Reader,
    /// Whether a device needs the child, once it was looked at.
    needed: BTreeMap<String, bool>,
}

impl Guard {
    /// Guards with this memory of devices that did not answer.
    pub fn new(when: When, stuck: Stuck) -> Guard {
        Guard { when, reader: Reader::new(stuck), needed: BTreeMap::new() }
    }

    /// The child that reads, for questions too.
    pub fn process(&self) -> Kept {
        self.reader.process()
    }
}

impl Guards for Guard {
    /// Reads queue files through the child where the device may not give them at once.
    fn read(&mut self, paths: &[&str], inflight: &dyn Fn(&str) -> Fact<Vec<u8>>) -> Option<Vec<Fact<Vec<u8>>>> {
        let path = paths.first()?;
        let device = device_of(path)?.1.to_owned();
        self.needs_child(path, inflight).then(|| self.reader.read(&device, paths))
    }

    fn needs_child(&mut self, path: &str, inflight: &dyn Fn(&str) -> Fact<Vec<u8>>) -> bool {
        let Some((dir, device)) = device_of(path) else { return false };
        match (self.when, self.needed.get(device)) {
            (When::Always, _) => true,
            (When::Busy, Some(needed)) => *needed,
            (When::Busy, None) => {
                let needed = self.reader.waits(device) || busy(&inflight(&format!("{dir}/inflight")));
                self.needed.insert(device.to_owned(), needed);
                needed
            }
        }
    }

    fn timed_out(&self) -> bool {
        self.reader.timed_out
    }
}

/// The directory and the name of the device that a file of a queue belongs to.
fn device_of(path: &str) -> Option<(&str, &str)> {
    let (dir, _) = path.split_once("/queue/")?;
    Some((dir, dir.rsplit('/').next().unwrap_or(dir)))
}

/// Whether reads or writes are in flight (`inflight`: two counters); where it is not known, they may be.
fn busy(inflight: &Fact<Vec<u8>>) -> bool {
    let text = inflight.known().map(|b| String::from_utf8_lossy(b));
    !text.is_some_and(|t| t.split_whitespace().count() == 2 && t.split_whitespace().all(|n| n == "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_in_flight_are_counted() {
        let of = |text: &str| busy(&Fact::Known(text.as_bytes().to_vec()));
        assert!(!of("       0        0\n"));
        for text in ["       0        1\n", "       7        0\n", "", "0\n", "x y\n"] {
            assert!(of(text), "{text:?}");
        }
        assert!(busy(&Fact::ABSENT));
    }

    #[test]
    fn an_idle_device_costs_no_child_and_a_stuck_one_none_either() {
        let dir = tempfile::tempdir().unwrap();
        let path = &["sys/block/sdx/queue/write_zeroes_max_bytes"];
        let idle = |_: &str| Fact::Known(b"0 0\n".to_vec());
        let mut guard = Guard::new(When::Busy, Stuck::below(dir.path()));
        assert_eq!(guard.read(path, &idle), None);
        assert_eq!(guard.read(&["sys/block/sdx/size"], &idle), None);
        let memory = Stuck::below(dir.path());
        memory.remember("sdx", std::process::id());
        for when in [When::Busy, When::Always] {
            let mut guard = Guard::new(when, Stuck::below(dir.path()));
            assert_eq!(guard.read(path, &idle), Some(vec![Fact::Unknown(crate::fact::Why::TimedOut)]));
            assert!(guard.timed_out());
        }
    }
}
