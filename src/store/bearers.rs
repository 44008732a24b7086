//! Which device has which identity: `/run/zerocap/bearers`, one line for each device, added at the events of devices.
//!
//! A kept measurement counts only while no other device has its identity, and asking every device of the machine costs more
//! the more there are. A line has the name of the device, the inode number of its link in `/sys/block`, and its identity. The
//! kernel gives each link a number of its own, which the listing of the directory shows. So a line of a removed disk matches
//! no link, and a disk without a line is asked itself. Lines need not be removed or complete for a correct answer: a line
//! that was lost, torn or never written only costs time.

use crate::device::Identity;
use crate::error::Result;
use crate::machine::fs::durable::{Durable, LiveDurable};
use crate::machine::Roots;
use std::collections::BTreeMap;

/// The file's name below `/run/zerocap`.
const NAME: &str = "bearers";

/// So many lines beyond twice the devices that there are, and those of devices that are gone are taken out.
const SPARE: usize = 1024;

/// What the events told.
#[derive(Debug, Default)]
pub struct Bearers {
    lines: usize,
    by_link: BTreeMap<(String, u64), Option<String>>,
}

fn files(roots: &Roots) -> LiveDurable {
    roots.volatile(roots.run(), 0o644)
}

/// What is told of the devices of the running system; nothing where no event has told anything, or what is there is not
/// root's own.
pub fn read(roots: &Roots) -> Bearers {
    if roots.is_live() { usable(roots) } else { None }.unwrap_or_default()
}

/// What stands in the file; nothing where there is none, `None` where what is there cannot be used.
fn usable(roots: &Roots) -> Option<Bearers> {
    match files(roots).read(NAME).ok()? {
        Some(bytes) => String::from_utf8(bytes).ok().map(|text| parse(&text)),
        None => Some(Bearers::default()),
    }
}

fn parse(text: &str) -> Bearers {
    let mut bearers = Bearers::default();
    // A line that was torn has no end of its own, and what follows it makes one line with too many words.
    for line in text.split_inclusive('\n').filter_map(|l| l.strip_suffix('\n')) {
        bearers.lines += 1;
        let words: Vec<&str> = line.split(' ').collect();
        let ([name, link] | [name, link, _]) = words[..] else { continue };
        let Ok(link) = link.parse() else { continue };
        bearers.by_link.insert((name.to_owned(), link), words.get(2).map(|i| (*i).to_owned()));
    }
    bearers
}

/// The line of a device; `None` where its name would not stay one word.
fn line(name: &str, link: u64, identity: Option<&Identity>) -> Option<String> {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic());
    let identity = identity.map_or_else(String::new, |i| format!(" {}", i.file_name()));
    plain.then(|| format!("{name} {link}{identity}\n"))
}

impl Bearers {
    /// Whether the device behind a link may bear an identity: it is told that it does, or nothing is told of it.
    pub fn may_bear(&self, name: &str, link: u64, identity: &Identity) -> bool {
        let told = self.by_link.get(&(name.to_owned(), link));
        told.is_none_or(|told| told.as_ref() == Some(&identity.file_name()))
    }

    /// The identity that the device behind a link bears, as its file is named; `None` where nothing is told of the device.
    pub fn told(&self, name: &str, link: u64) -> Option<Option<&str>> {
        self.by_link.get(&(name.to_owned(), link)).map(Option::as_deref)
    }
}

/// Adds what an event found out of the device behind a link. `present`: the devices that there are, by name and link, asked
/// for only where the file is to be made smaller.
pub fn add(
    roots: &Roots,
    name: &str,
    link: u64,
    identity: Option<&Identity>,
    present: impl FnOnce() -> Vec<(String, u64)>,
) -> Result<()> {
    let Some(line) = line(name, link, identity).filter(|_| roots.is_live()) else { return Ok(()) };
    let mut files = files(roots);
    let Some(known) = usable(roots) else { return files.replace(NAME, line.as_bytes()) };
    if known.told(name, link) == Some(identity.map(Identity::file_name).as_deref()) {
        return Ok(());
    }
    if known.lines > SPARE {
        let there = present();
        if known.lines > SPARE + 2 * there.len() {
            let kept = |(name, link): &(String, u64)| {
                let told = known.told(name, *link)?;
                Some(told.map_or_else(|| format!("{name} {link}\n"), |identity| format!("{name} {link} {identity}\n")))
            };
            let text: String = there.iter().filter_map(kept).chain([line]).collect();
            return files.replace(NAME, text.as_bytes());
        }
    }
    // Of two first events at once one makes the file, and the other finds it at the second try.
    files.append(NAME, line.as_bytes()).or_else(|_| files.append(NAME, line.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::identity::Parts;
    use crate::device::Kind;

    fn identity(wwid: &str) -> Identity {
        Identity::from_parts(Kind::Scsi, "sda", &Parts { wwid: Some(wwid), ..Parts::default() }).unwrap()
    }

    #[test]
    fn a_disk_is_asked_unless_a_whole_line_of_its_own_link_says_otherwise() {
        let (one, two) = (identity("naa.1"), identity("naa.2"));
        let text =
            [line("sda", 10, Some(&one)), line("sdb", 11, None), line("sdc", 12, Some(&two))].map(Option::unwrap);
        let bearers = parse(&text.concat());
        assert!(bearers.may_bear("sda", 10, &one), "it is told");
        assert!(!bearers.may_bear("sda", 10, &two) && !bearers.may_bear("sdb", 11, &one));
        assert_eq!((bearers.told("sdb", 11), bearers.told("sda", 10)), (Some(None), Some(Some("naa.1"))));
        assert!(bearers.may_bear("sdb", 13, &one), "another disk of that name");
        assert!(bearers.may_bear("sdd", 11, &one), "a disk of which nothing is told");
        // A later line of the same link counts.
        assert!(parse(&format!("{}sda 10 naa.2\n", text.concat())).may_bear("sda", 10, &two));
        // Wherever the file is cut, what is left of a line says nothing of a disk.
        let whole = text.concat();
        for cut in 0..whole.len() {
            for then in [String::new(), line("sde", 14, Some(&two)).unwrap()] {
                let bearers = parse(&format!("{}{then}", &whole[..cut]));
                assert!(bearers.may_bear("sda", 10, &one), "cut at {cut}");
                assert!(bearers.may_bear("sdc", 12, &two), "cut at {cut}");
                assert!(bearers.may_bear("sde", 14, &two), "cut at {cut}");
            }
        }
    }

    #[test]
    fn no_device_name_can_inject_a_line() {
        for name in ["", "a b", "a\nsdb 11 naa.1", "\u{e9}"] {
            assert_eq!(line(name, 1, None), None, "{name:?}");
        }
    }
}
