//! The port of a test in a file: the same acts as on a device, with a check of where the file system has the bytes before and
//! after every zeroing call. Zeroes that are read say something about the disk only if the bytes have not moved and are not
//! space that reads as zero by itself. A file system that moves them gives rates and no class.
//!
//! An errno is an answer of the file system and is not blamed on the device.

use crate::device::Device;
use crate::machine::port::file_acts::{decode_extents, places, Extent, FileAct};
use crate::machine::port::stretch::Does;
use crate::machine::port::{
    Act, ActError, AskError, Attention, Done, Port, Question, ScratchRange, Timed, TunablePath,
};
use crate::measure::scratch::InFile as Place;
use crate::units::Nanos;
use std::cell::RefCell;

/// Why the zeroes of a test prove nothing of the disk; `None` while they do.
pub type Moved = RefCell<Option<String>>;

/// Whether a file system is known to move the bytes of a file at each FALLOC_FL_WRITE_ZEROES, which it makes by allocating
/// anew (fieldguide 13).
pub fn moves(kind: &str) -> bool {
    kind == "xfs"
}

/// The port.
pub struct InFile<'a> {
    port: &'a mut dyn Port,
    place: &'a Place,
    moved: &'a Moved,
}

impl<'a> InFile<'a> {
    /// Over a port that has the file open.
    pub fn new(port: &'a mut dyn Port, place: &'a Place, moved: &'a Moved) -> Self {
        InFile { port, place, moved }
    }

    fn kind(&self) -> String {
        crate::device::display::escape_str(&self.place.wanted.kind)
    }

    /// Looks where a span lies. `zeroed`: a zeroing call came before, after which it may be no space that reads as zero by
    /// itself.
    fn look(&mut self, range: &ScratchRange, (offset, length): (u64, u64), zeroed: bool) -> Result<(), ActError> {
        let within = |all: &[Extent]| all.iter().filter_map(|e| e.within(offset, length)).collect::<Vec<Extent>>();
        let now = match self.port.act(range, &Act::File(FileAct::Extents { offset, length })).value? {
            Done::Bytes(bytes) => within(&decode_extents(&bytes)),
            _ => Vec::new(),
        };
        let kind = self.kind();
        if places(&now) != places(&within(&self.place.extents)) {
            let when = if zeroed { "a zeroing call" } else { "writing" };
            let text = format!(
                "{kind} moved the file's bytes at {when}, so what is read says nothing about the blocks that were \
                 zeroed"
            );
            self.moved.borrow_mut().get_or_insert(text);
        } else if zeroed && !now.iter().all(|e| e.is_plain(false)) {
            let text = format!(
                "{kind} only marked the file's bytes as zero, so reading them says nothing about the \
                                disk"
            );
            self.moved.borrow_mut().get_or_insert(text);
        }
        Ok(())
    }

    /// A zeroing act, with a look before and after it.
    fn zero(&mut self, range: &ScratchRange, span: (u64, u64), act: &Act) -> Timed<Result<Done, ActError>> {
        let moves = self.moved.borrow().is_some();
        let refused = |e| Timed { took: Nanos(0), value: Err(e) };
        if let Some(e) = (!moves).then(|| self.look(range, span, false).err()).flatten() {
            return refused(e);
        }
        let mut timed = self.port.act(range, act);
        if timed.value.is_ok() && !moves {
            if let Err(e) = self.look(range, span, true) {
                return refused(e);
            }
        }
        let kind = self.kind();
        timed.value = timed.value.map_err(|e| match e {
            e if e.may_accuse() => {
                ActError::Refused(format!("{kind} answered {e}, which says nothing about the device"))
            }
            e => e,
        });
        timed
    }
}

impl Port for InFile<'_> {
    fn ask(&mut self, device: &Device, question: Question) -> Result<Vec<u8>, AskError> {
        self.port.ask(device, question)
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>> {
        match act {
            // It is open since it was made.
            Act::Open => Timed { took: Nanos(0), value: Ok(Done::Ok) },
            Act::Zero { offset, length, .. } => self.zero(range, (*offset, *length), act),
            Act::Stretch(s) if matches!(s.does, Does::Zero(_)) => self.zero(range, (s.offset, s.length), act),
            Act::Verify { .. } => {
                let mut timed = self.port.act(range, act);
                if let (Ok(Done::Mismatch(at)), Some(moved)) = (&timed.value, &*self.moved.borrow()) {
                    let text =
                        format!("byte {at} of a file has changed, and {moved}; it cannot be told what caused that");
                    timed.value = Err(ActError::Protocol(text));
                }
                timed
            }
            _ => self.port.act(range, act),
        }
    }

    fn set(&mut self, device: &Device, path: &TunablePath, value: &str) -> Result<(), ActError> {
        self.port.set(device, path, value)
    }

    fn now(&self) -> Nanos {
        self.port.now()
    }

    fn left_behind(&self) -> Option<u32> {
        self.port.left_behind()
    }

    fn close(&mut self) {
        self.port.close();
    }

    fn attention(&mut self) -> Option<Attention> {
        self.port.attention()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Devnum;
    use crate::machine::port::file_acts::UNWRITTEN;
    use crate::machine::port::Fill;
    use crate::measure::scratch::file::new_file;
    use crate::measure::scratch::Wanted;
    use crate::protocol::result::{self, Conditions};
    use crate::terms::{Class, FindingCode, Method};
    use crate::verdict::measurement::Speedup;

    /// A file system that has the bytes somewhere, and moves or marks them at the first zeroing, or refuses it.
    struct Files {
        at: u64,
        to: u64,
        flags: u64,
        errno: Option<i32>,
        held: bool,
    }

    impl Port for Files {
        fn ask(&mut self, _: &Device, _: Question) -> Result<Vec<u8>, AskError> {
            Err(AskError::NotAsked)
        }
        fn act(&mut self, _: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>> {
            let value = match act {
                Act::File(FileAct::Extents { offset, length }) => {
                    let words = [*offset, self.at + offset, *length, self.flags];
                    Ok(Done::Bytes(words.into_iter().flat_map(u64::to_le_bytes).collect()))
                }
                Act::Zero { .. } => match self.errno {
                    Some(errno) => Err(ActError::Os(errno)),
                    None => {
                        self.at = self.to;
                        Ok(Done::Ok)
                    }
                },
                Act::Verify { offset, .. } if self.held => Ok(Done::Mismatch(*offset)),
                _ => Ok(Done::Ok),
            };
            Timed { took: Nanos(1), value }
        }
        fn set(&mut self, _: &Device, _: &TunablePath, _: &str) -> Result<(), ActError> {
            Ok(())
        }
        fn now(&self) -> Nanos {
            Nanos(0)
        }
    }

    fn place() -> Place {
        let wanted = Wanted {
            directory: "/mnt".to_owned(),
            filesystem: Devnum { major: 8, minor: 1 },
            kind: "xfs".to_owned(),
            mount_point: "/mnt".to_owned(),
            block: 4096,
            length: 1 << 20,
        };
        // Two extents, one behind the other: where they meet is no move.
        let extent = |logical, length| Extent { logical, physical: 4096 + logical, length, flags: UNWRITTEN };
        Place { wanted, extents: vec![extent(0, 8192), extent(8192, 1 << 20)], tables: Vec::new() }
    }

    /// What one zeroing and a look at it give, and why it proves nothing.
    fn zeroed(mut files: Files) -> (Result<Done, ActError>, Result<Done, ActError>, Option<String>) {
        let (place, moved) = (place(), Moved::default());
        let range = new_file("/mnt", (8, 1), 1 << 20, 512);
        let mut port = InFile::new(&mut files, &place, &moved);
        let (offset, length) = (4096, 65536);
        let zero = port.act(&range, &Act::Zero { method: Method::WriteZeroes, offset, length }).value;
        let verify = port.act(&range, &Act::Verify { offset, length, fill: Fill::Zeroes }).value;
        (zero, verify, moved.into_inner())
    }

    fn files() -> Files {
        Files { at: 4096, to: 4096, flags: 1, errno: None, held: true }
    }

    #[test]
    fn old_data_is_blamed_only_if_the_bytes_did_not_move() {
        let (zero, verify, moved) = zeroed(files());
        assert_eq!((zero, verify, moved), (Ok(Done::Ok), Ok(Done::Mismatch(4096)), None));
        let (zero, verify, moved) = zeroed(Files { to: 1 << 30, ..files() });
        assert_eq!(zero, Ok(Done::Ok));
        assert!(matches!(verify, Err(ActError::Protocol(_))), "{verify:?}");
        assert!(moved.is_some_and(|why| why.contains("xfs moved the file's bytes at a zeroing call")));
        assert!(zeroed(Files { at: 0, ..files() }).2.is_some_and(|why| why.contains("at writing")));
    }

    #[test]
    fn space_that_reads_as_zero_by_itself_proves_nothing() {
        assert!(zeroed(Files { flags: UNWRITTEN, ..files() }).2.is_some_and(|why| why.contains("only marked")));
    }

    #[test]
    fn an_errno_of_a_file_is_blamed_on_nobody() {
        for (errno, os) in [(5, false), (95, false), (28, true)] {
            let (zero, ..) = zeroed(Files { errno: Some(errno), ..files() });
            assert_eq!(matches!(zero, Err(ActError::Os(_))), os, "{errno}");
            assert!(zero.is_err_and(|e| !e.may_accuse()), "{errno}");
        }
    }

    #[test]
    fn a_moved_file_gives_rates_only() {
        let conditions = Conditions::without_test("2026-12-01T00:00:00Z".to_owned(), "directory", Vec::new());
        let mut m = result::blank(&crate::facts::testing::with("sda", &[]), &conditions);
        (m.class, m.zeroes_verified, m.zero_bytes_per_second) = (Class::Fast, true, Some(7));
        m.speedup = Some(Speedup { median: 9.0, low: Some(8.0), high: Some(10.0), confidence: 0.999 });
        result::only_rates(&mut m, "xfs moved it");
        assert_eq!((m.class, m.zeroes_verified, m.speedup, m.contradiction()), (Class::Unknown, false, None, None));
        assert_eq!((m.zero_bytes_per_second, m.inconclusive.as_deref()), (Some(7), Some("xfs moved it")));
        assert_eq!(m.findings[0].code, FindingCode::MovedByFilesystem);
    }
}
