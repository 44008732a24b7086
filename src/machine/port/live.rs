//! The port to real devices: NVMe Identify, SG_IO, O_DIRECT reads and writes, the zeroing calls. It is safe code on top of
//! `sys`.
//!
//! Questions open the node read-only and never exclusively. Acts open it once, with O_EXCL, after a proof from
//! `measure/scratch.rs`. They check that it is still the same device, and keep that one descriptor, because a close resets
//! `zeroing_mode`. The clock measures the system calls only.

use crate::device::Device;
use crate::machine::io::Aligned;
use crate::machine::port::calls::{act_os, fill_buffer, read_all, write_all, write_parallel, zero, CHUNK};
use crate::machine::port::file_acts::{self, FileAct};
use crate::machine::port::load;
use crate::machine::port::stretch;
use crate::machine::port::{Act, ActError, AskError, Done, Port, Question, ScratchRange, Timed, TunablePath};
use crate::machine::sys;
use crate::units::Nanos;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// The port to real devices.
#[derive(Debug)]
pub struct LivePort {
    start: Instant,
    asked: Option<(String, OwnedFd)>,
    acting: Option<(ScratchRange, OwnedFd)>,
}

impl Default for LivePort {
    fn default() -> Self {
        LivePort { start: Instant::now(), asked: None, acting: None }
    }
}

fn os(e: Errno) -> AskError {
    AskError::Os(e.raw_os_error())
}

impl LivePort {
    fn fd_of(&mut self, device: &Device) -> Result<BorrowedFd<'_>, AskError> {
        if self.asked.as_ref().is_none_or(|(name, _)| *name != device.name) {
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let fd = rustix::fs::open(device.node(), flags, Mode::empty()).map_err(|e| match e {
                // A hidden multipath path has no node.
                Errno::NOENT => AskError::NotAsked,
                e => os(e),
            })?;
            self.asked = Some((device.name.clone(), fd));
        }
        match &self.asked {
            Some((_, fd)) => Ok(fd.as_fd()),
            None => Err(AskError::NotAsked),
        }
    }

    fn identify(&mut self, device: &Device, cns: u8) -> Result<Vec<u8>, AskError> {
        let fd = self.fd_of(device)?;
        let nsid = if matches!(cns, 0x01 | 0x06) { 0 } else { sys::nvme_nsid(fd).map_err(os)? };
        sys::nvme_identify(fd, nsid, cns, 0).map_err(os)?.map_err(AskError::Nvme)
    }

    fn vpd(&mut self, device: &Device, evpd: bool, page: u8) -> Result<Vec<u8>, AskError> {
        let inquiry = |length: u16| {
            let [high, low] = length.to_be_bytes();
            [0x12, u8::from(evpd), page, high, low, 0]
        };
        // Some targets mishandle allocation lengths over 255, so the length is raised only for a page that is longer.
        let first = self.scsi(device, &mut inquiry(0xff), 0xff)?;
        let whole = match (evpd, first.get(2..4)) {
            (true, Some(&[high, low])) => u16::from_be_bytes([high, low]).saturating_add(4),
            _ => 0,
        };
        if whole > 0xff {
            self.scsi(device, &mut inquiry(whole), u32::from(whole))
        } else {
            Ok(first)
        }
    }

    fn scsi(&mut self, device: &Device, cdb: &mut [u8], length: u32) -> Result<Vec<u8>, AskError> {
        let answer = sys::scsi_read(self.fd_of(device)?, cdb, length).map_err(os)?;
        if answer.status != 0 {
            return Err(match sense_key(&answer.sense) {
                Some((key, asc, ascq)) => AskError::Scsi(key, asc, ascq),
                None => AskError::Other(format!("scsi status {:#04x}", answer.status)),
            });
        }
        if answer.host_status != 0 {
            return Err(AskError::Other(format!("scsi host status {:#06x}", answer.host_status)));
        }
        Ok(answer.data)
    }

    /// Blocks of the medium, past the page cache. The node is opened for this alone: the open descriptor has no O_DIRECT.
    fn blocks(device: &Device, offset: u64, length: u32) -> Result<Vec<u8>, AskError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::DIRECT | OFlags::CLOEXEC;
        let fd = rustix::fs::open(device.node(), flags, Mode::empty()).map_err(os)?;
        let mut buffer = Aligned::zeroed(length as usize);
        match read_all(fd.as_fd(), &mut buffer, offset) {
            Ok(()) => Ok(buffer.to_vec()),
            Err(ActError::Os(errno)) => Err(AskError::Os(errno)),
            Err(e) => Err(AskError::Other(e.to_string())),
        }
    }

    fn open(&mut self, range: &ScratchRange) -> Result<Done, ActError> {
        let flags = OFlags::RDWR | OFlags::EXCL | OFlags::DIRECT | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&range.node, flags, Mode::empty()).map_err(act_os)?;
        let stat = rustix::fs::fstat(&fd).map_err(act_os)?;
        let rdev = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
        if rdev != range.devnum || !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_block_device() {
            return Err(ActError::Refused(format!("{} is not the device that was checked", range.node)));
        }
        if let (Some(wanted), Ok(now)) = (range.diskseq, sys::diskseq(&fd)) {
            if wanted != now {
                return Err(ActError::Refused(format!("{} was replaced (diskseq {wanted}, now {now})", range.node)));
            }
        }
        let size = sys::size_bytes(&fd).map_err(act_os)?;
        if range.start.checked_add(range.length).is_none_or(|end| end > size) {
            return Err(ActError::Refused(format!("{} ends before the scratch range does", range.node)));
        }
        self.acting = Some((range.clone(), fd));
        Ok(Done::Ok)
    }

    fn opened(&self, range: &ScratchRange, offset: u64, length: u64) -> Result<BorrowedFd<'_>, ActError> {
        match &self.acting {
            Some((open, fd)) if open == range && range.holds(offset, length) => Ok(fd.as_fd()),
            Some(_) => Err(ActError::Refused("outside the scratch range".to_owned())),
            None => Err(ActError::Closed),
        }
    }

    fn file(&mut self, range: &ScratchRange, act: FileAct) -> Timed<Result<Done, ActError>> {
        let untimed = |value| Timed { took: Nanos(0), value };
        match act {
            FileAct::Make => untimed(file_acts::make(range).map(|fd| {
                self.acting = Some((range.clone(), fd));
                Done::Ok
            })),
            FileAct::Allocate { offset, length } => match self.opened(range, offset, length) {
                Err(e) => untimed(Err(e)),
                Ok(fd) => self.timed(|| file_acts::allocate(fd, offset, length)),
            },
            FileAct::SyncWrites { offset, length, block, seed } => {
                let opened = self.opened(range, offset, length);
                match opened.and_then(|fd| file_acts::sync_writes(fd, (offset, length), block, seed)) {
                    Ok(took) => Timed { took, value: Ok(Done::Ok) },
                    Err(e) => untimed(Err(e)),
                }
            }
            FileAct::Extents { offset, length } => {
                let opened = self.opened(range, offset, length);
                untimed(opened.and_then(|fd| file_acts::extents(fd, offset, length)).map(Done::Bytes))
            }
            FileAct::Marks => {
                let opened = self.opened(range, range.start, range.length);
                untimed(opened.and_then(file_acts::marks).map(Done::Bytes))
            }
            FileAct::Bind => untimed(match &mut self.acting {
                Some((open, _)) if file_acts::is_part(open, range) => {
                    *open = range.clone();
                    Ok(Done::Ok)
                }
                Some(_) => Err(ActError::Refused("outside the file that was made".to_owned())),
                None => Err(ActError::Closed),
            }),
        }
    }

    fn timed(&self, act: impl FnOnce() -> Result<(), ActError>) -> Timed<Result<Done, ActError>> {
        let from = self.now();
        let value = act().map(|()| Done::Ok);
        Timed { took: self.now().since(from), value }
    }
}

/// Sense key, additional code and qualifier of fixed (70h, 71h) and descriptor (72h, 73h) sense data (SPC-4 4.5).
fn sense_key(sense: &[u8]) -> Option<(u8, u8, u8)> {
    let at = |i: usize| sense.get(i).copied();
    match at(0)? & 0x7f {
        0x70 | 0x71 => Some((at(2)? & 0xf, at(12).unwrap_or(0), at(13).unwrap_or(0))),
        0x72 | 0x73 => Some((at(1)? & 0xf, at(2).unwrap_or(0), at(3).unwrap_or(0))),
        _ => None,
    }
}

impl Port for LivePort {
    fn ask(&mut self, device: &Device, question: Question) -> Result<Vec<u8>, AskError> {
        match question {
            Question::NvmeIdNs => self.identify(device, 0x00),
            Question::NvmeIdCtrl => self.identify(device, 0x01),
            Question::NvmeIdNsNvm => self.identify(device, 0x05),
            Question::NvmeIdCtrlNvm => self.identify(device, 0x06),
            Question::NvmeIdNsIndependent => self.identify(device, 0x08),
            Question::ScsiInquiry => self.vpd(device, false, 0),
            Question::ScsiVpd(page) => self.vpd(device, true, page),
            Question::ScsiReadCapacity16 => {
                // SERVICE ACTION IN(16), service action 10h, allocation length 32 (SBC-4 5.16).
                let mut cdb = [0u8; 16];
                (cdb[0], cdb[1], cdb[13]) = (0x9e, 0x10, 32);
                self.scsi(device, &mut cdb, 32)
            }
            Question::ScsiLbaStatus(lba) => {
                // SERVICE ACTION IN(16), service action 12h, allocation length 512 (SBC-4 5.6).
                let mut cdb = [0u8; 16];
                (cdb[0], cdb[1], cdb[12]) = (0x9e, 0x12, 2);
                cdb[2..10].copy_from_slice(&lba.to_be_bytes());
                self.scsi(device, &mut cdb, 512)
            }
            Question::Blocks(offset, length) => Self::blocks(device, offset, length),
        }
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>> {
        let untimed = |value| Timed { took: Nanos(0), value };
        match act {
            Act::Open => untimed(self.open(range)),
            Act::Write { offset, length, fill } => {
                let mut buffer = Aligned::zeroed(*length as usize);
                fill_buffer(&mut buffer, *fill, range, *offset);
                match self.opened(range, *offset, *length) {
                    Err(e) => untimed(Err(e)),
                    Ok(fd) => {
                        // The clock starts when all writers stand at the gate: making threads is no part of a write.
                        let mut from = self.now();
                        let written = write_parallel(fd, &buffer, *offset, || from = self.now())
                            .and_then(|()| rustix::fs::fdatasync(fd).map_err(act_os));
                        Timed { took: self.now().since(from), value: written.map(|()| Done::Ok) }
                    }
                }
            }
            Act::Zero { method, offset, length } => match self.opened(range, *offset, *length) {
                Err(e) => untimed(Err(e)),
                Ok(fd) => self.timed(|| {
                    zero(fd, *method, *offset, *length)?;
                    rustix::fs::fdatasync(fd).map_err(act_os)
                }),
            },
            Act::Verify { offset, length, fill } => {
                let mut held = Aligned::zeroed(CHUNK.min(*length as usize));
                let mut expected = vec![0u8; held.len()];
                let mut at = *offset;
                while at < offset + length {
                    let n = held.len().min((offset + length - at) as usize);
                    let fd = match self.opened(range, at, n as u64) {
                        Ok(fd) => fd,
                        Err(e) => return untimed(Err(e)),
                    };
                    if let Err(e) = read_all(fd, &mut held[..n], at) {
                        return untimed(Err(e));
                    }
                    fill_buffer(&mut expected[..n], *fill, range, at);
                    if held[..n] != expected[..n] {
                        let wrong = held.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0) as u64;
                        let block = range.logical_block.max(1);
                        return untimed(Ok(Done::Mismatch((at + wrong) / block * block)));
                    }
                    at += n as u64;
                }
                untimed(Ok(Done::Ok))
            }
            Act::Read { offset, length } => {
                let mut buffer = Aligned::zeroed(*length as usize);
                let read = self.opened(range, *offset, *length).and_then(|fd| read_all(fd, &mut buffer, *offset));
                untimed(read.map(|()| Done::Bytes(buffer.to_vec())))
            }
            Act::PutBack { offset, bytes } => match self.opened(range, *offset, bytes.len() as u64) {
                Err(e) => untimed(Err(e)),
                Ok(fd) => {
                    let mut buffer = Aligned::zeroed(bytes.len());
                    buffer.copy_from_slice(bytes);
                    self.timed(|| {
                        write_all(fd, &buffer, *offset)?;
                        rustix::fs::fdatasync(fd).map_err(act_os)
                    })
                }
            },
            Act::Stretch(stretch) => {
                let opened = self.opened(range, stretch.offset, stretch.length);
                match opened.and_then(|fd| stretch::run(fd, range, stretch, || self.now())) {
                    Ok((times, took)) => Timed { took, value: Ok(Done::Times(times)) },
                    Err(e) => untimed(Err(e)),
                }
            }
            Act::File(act) => self.file(range, *act),
            Act::Load(load) => {
                let inside = |offset, length| self.opened(range, offset, length);
                let zeroed = load.zeroing.map_or(Ok(()), |z| inside(z.offset, z.length).map(drop));
                let loaded =
                    zeroed.and_then(|()| inside(load.offset, load.length)).and_then(|fd| load::run(fd, range, load));
                untimed(loaded.map(|l| Done::Bytes(l.encode())))
            }
        }
    }

    fn set(&mut self, device: &Device, path: &TunablePath, value: &str) -> Result<(), ActError> {
        let file = format!("/{}", device.attr(&path.0));
        std::fs::OpenOptions::new()
            .write(true)
            .open(file)
            .and_then(|mut f| std::io::Write::write_all(&mut f, value.as_bytes()))
            .map_err(|e| ActError::Os(e.raw_os_error().unwrap_or(5)))
    }

    fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sense_data_of_both_formats_is_parsed() {
        let mut fixed = [0u8; 18];
        (fixed[0], fixed[2], fixed[12], fixed[13]) = (0x70, 0x05, 0x24, 0x01);
        assert_eq!(sense_key(&fixed), Some((5, 0x24, 1)));
        assert_eq!(sense_key(&[0x72, 0x05, 0x20, 0]), Some((5, 0x20, 0)));
        assert_eq!(sense_key(&[]), None);
        assert_eq!(sense_key(&[0x70, 0]), None);
    }
}
