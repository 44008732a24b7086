//! All `unsafe` code of the program: ioctls and system calls that rustix does not have, the signal handler, and the copy of
//! this process. Each wrapper has one meaning and typed arguments; the numbers and structures of ioctls come from the
//! kernel's headers through the bindings.
#![allow(unsafe_code)]

use nvme_cli_sys as b;
use rustix::io::{Errno, Result};
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};
use rustix::process::Pid;
use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Whether SIGINT, SIGTERM or SIGHUP came since [`note_signals`].
pub static SIGNALLED: AtomicBool = AtomicBool::new(false);
/// How the first of them is answered on standard error, at once and whatever the process waits for: not, on a terminal, or in
/// a file.
static ANSWERED: AtomicU8 = AtomicU8::new(NOT);
const NOT: u8 = 0;
const TERMINAL: u8 = 1;
const FILE: u8 = 2;

/// Whoever pressed ^C sees that it was seen. On a terminal what stands in the line, `^C` and progress, goes first.
const CLEAR: &str = "\r\x1b[K";
const ANSWER: &str = "\r\x1b[Kzerocap: interrupted: the test ends now, and what it changed is put back ...\n";

extern "C" fn note_signal(_: libc::c_int) {
    let answered = ANSWERED.load(Ordering::Relaxed);
    if !SIGNALLED.swap(true, Ordering::Relaxed) && answered != NOT {
        let from = if answered == TERMINAL { 0 } else { CLEAR.len() };
        // One write(2), straight to the kernel. Standard error may be closed; then there is nobody to tell.
        let _ = rustix::io::write(rustix::stdio::stderr(), ANSWER.as_bytes().get(from..).unwrap_or_default());
    }
}

/// Has SIGINT, SIGTERM and SIGHUP set [`SIGNALLED`] instead of ending the process; calls that they interrupt go on. With
/// `answered` the first one is answered on standard error.
pub fn note_signals(answered: bool) -> std::io::Result<()> {
    if answered {
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        ANSWERED.store(if terminal { TERMINAL } else { FILE }, Ordering::Relaxed);
    }
    let handler = note_signal as extern "C" fn(libc::c_int);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler has the type that signal(2) calls and does nothing but store into an atomic, which is
        // async-signal-safe, and one write(2); the C library's signal() sets SA_RESTART.
        if unsafe { libc::signal(signal, handler as libc::sighandler_t) } == libc::SIG_ERR {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Copies this process, where it has one thread: `life` is all that the copy does before it ends. Gives its number, and
/// `None` where this process has several threads, or cannot tell.
pub fn fork_alone(life: impl FnOnce() -> std::io::Result<()>) -> std::io::Result<Option<Pid>> {
    /// However `life` ends, by a panic too, nothing of this process goes on in the copy: no destructor, no buffer.
    struct End(libc::c_int);
    impl Drop for End {
        fn drop(&mut self) {
            // SAFETY: ends the process; nothing of it is looked at again.
            unsafe { libc::_exit(self.0) }
        }
    }
    // `.`, `..` and a directory a thread; procfs counts its links so.
    if std::fs::metadata("/proc/self/task").map(|m| std::os::unix::fs::MetadataExt::nlink(&m)).ok() != Some(3) {
        return Ok(None);
    }
    // SAFETY: no other thread holds a lock of the allocator or of the standard library that the copy would wait for.
    match unsafe { libc::fork() } {
        0 => {
            let mut end = End(1);
            end.0 = i32::from(life().is_err());
            drop(end);
            Ok(None)
        }
        -1 => Err(std::io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Closes all but the standard streams; only for a process that uses no other descriptor from then on.
pub fn close_others() {
    const FIRST: libc::c_long = 3;
    // SAFETY: closing gives the kernel no pointer; who calls this uses nothing that is closed here.
    if unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_long::from(u32::MAX), 0) } != 0 {
        // Before 5.9; so many may be open by default.
        for fd in FIRST as i32..1024 {
            // SAFETY: as above.
            unsafe { libc::close(fd) };
        }
    }
}

/// An ioctl whose argument is a structure that the kernel reads and may write; gives the call's return value.
struct WithStruct<'a, T> {
    opcode: Opcode,
    argument: &'a mut T,
}

// SAFETY: the pointer is that of a live, exclusively borrowed `T`, and every constructor below pairs the opcode with the
// structure its header declares for it; the output is the plain return value.
unsafe impl<T> Ioctl for WithStruct<'_, T> {
    type Output = IoctlOutput;
    const IS_MUTATING: bool = true;
    fn opcode(&self) -> Opcode {
        self.opcode
    }
    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut::<T>(self.argument).cast()
    }
    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> Result<IoctlOutput> {
        Ok(out)
    }
}

/// An ioctl whose argument is a plain number (or nothing); gives the call's return value.
struct WithNumber {
    opcode: Opcode,
    argument: usize,
}

// SAFETY: the opcodes used with it take an integer or no argument, so the kernel dereferences nothing.
unsafe impl Ioctl for WithNumber {
    type Output = IoctlOutput;
    const IS_MUTATING: bool = false;
    fn opcode(&self) -> Opcode {
        self.opcode
    }
    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.argument)
    }
    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> Result<IoctlOutput> {
        Ok(out)
    }
}

fn with_struct<T>(fd: impl AsFd, opcode: u64, argument: &mut T) -> Result<IoctlOutput> {
    // SAFETY: see the implementation of `Ioctl` for `WithStruct`; callers in this file give the opcode's own structure.
    unsafe { rustix::ioctl::ioctl(fd, WithStruct { opcode: opcode as Opcode, argument }) }
}

fn with_number(fd: impl AsFd, opcode: u64, argument: usize) -> Result<IoctlOutput> {
    // SAFETY: see the implementation of `Ioctl` for `WithNumber`; callers in this file give opcodes without a pointer.
    unsafe { rustix::ioctl::ioctl(fd, WithNumber { opcode: opcode as Opcode, argument }) }
}

/// NVMe Identify (admin opcode 06h) with the kernel's own timeout: 4096 bytes. `Ok(Err(status))` is the controller's answer.
pub fn nvme_identify(fd: impl AsFd, nsid: u32, cns: u8, csi: u8) -> Result<std::result::Result<Vec<u8>, u16>> {
    let mut page = vec![0u8; 4096];
    let mut command = b::nvme_passthru_cmd {
        opcode: 0x06,
        nsid,
        addr: page.as_mut_ptr() as u64,
        data_len: 4096,
        cdw10: u32::from(cns),
        cdw11: u32::from(csi) << 24,
        ..Default::default()
    };
    // The kernel writes `data_len` bytes at `addr`, which is `page`, alive until after the call.
    match with_struct(fd, u64::from(b::NVME_IOCTL_ADMIN_CMD), &mut command)? {
        0 => Ok(Ok(page)),
        status => Ok(Err(status as u16)),
    }
}

/// The namespace's number (NVME_IOCTL_ID).
pub fn nvme_nsid(fd: impl AsFd) -> Result<u32> {
    with_number(fd, u64::from(b::NVME_IOCTL_ID), 0).map(|id| id as u32)
}

/// What a SCSI command that reads gave.
#[derive(Debug)]
pub struct ScsiAnswer {
    /// The bytes that were transferred.
    pub data: Vec<u8>,
    /// SCSI status byte.
    pub status: u8,
    /// Host and driver status: 0 when the command reached the target and came back.
    pub host_status: u16,
    /// Sense bytes.
    pub sense: Vec<u8>,
}

/// A SCSI command that reads at most `length` bytes (SG_IO, timeout 30 s, the kernel's own for such commands).
pub fn scsi_read(fd: impl AsFd, cdb: &mut [u8], length: u32) -> Result<ScsiAnswer> {
    let mut data = vec![0u8; length as usize];
    let mut sense = [0u8; 64];
    let mut header = b::sg_io_hdr {
        interface_id: i32::from(b'S'),
        dxfer_direction: b::SG_DXFER_FROM_DEV,
        cmd_len: u8::try_from(cdb.len()).map_err(|_| Errno::INVAL)?,
        mx_sb_len: 64,
        dxfer_len: length,
        dxferp: data.as_mut_ptr().cast(),
        cmdp: cdb.as_mut_ptr(),
        sbp: sense.as_mut_ptr(),
        timeout: 30_000,
        ..Default::default()
    };
    // The kernel reads `cmd_len` bytes at `cmdp` and writes at most `dxfer_len` and `mx_sb_len` bytes at `dxferp` and
    // `sbp`; all three live until after the call.
    with_struct(fd, u64::from(b::SG_IO), &mut header)?;
    let kept = (length as i32).saturating_sub(header.resid).clamp(0, length as i32);
    data.truncate(kept as usize);
    Ok(ScsiAnswer {
        data,
        status: header.status,
        host_status: header.host_status | (header.driver_status & 0x0f & !0x08),
        sense: sense[..usize::from(header.sb_len_wr).min(64)].to_vec(),
    })
}

/// The size of a block device in bytes (BLKGETSIZE64).
pub fn size_bytes(fd: impl AsFd) -> Result<u64> {
    let mut n = 0u64;
    with_struct(fd, u64::from(b::BLKGETSIZE64), &mut n)?;
    Ok(n)
}

/// The logical block size in bytes (BLKSSZGET).
pub fn logical_block_bytes(fd: impl AsFd) -> Result<u64> {
    block_bytes(fd, b::BLKSSZGET)
}

/// The physical block size in bytes (BLKPBSZGET).
pub fn physical_block_bytes(fd: impl AsFd) -> Result<u64> {
    block_bytes(fd, b::BLKPBSZGET)
}

fn block_bytes(fd: impl AsFd, opcode: u32) -> Result<u64> {
    let mut n = 0i32;
    with_struct(fd, u64::from(opcode), &mut n)?;
    u64::try_from(n).map_err(|_| Errno::INVAL)
}

/// The sequence number of the disk (BLKGETDISKSEQ, Linux 5.15): never reused in one boot.
pub fn diskseq(fd: impl AsFd) -> Result<u64> {
    let mut n = 0u64;
    with_struct(fd, u64::from(b::BLKGETDISKSEQ), &mut n)?;
    Ok(n)
}

/// Zeroes a range, asking not to deallocate (BLKZEROOUT).
pub fn zero_out(fd: impl AsFd, offset: u64, length: u64) -> Result<()> {
    with_struct(fd, u64::from(b::BLKZEROOUT), &mut [offset, length]).map(drop)
}

/// Discards a range (BLKDISCARD).
pub fn discard(fd: impl AsFd, offset: u64, length: u64) -> Result<()> {
    with_struct(fd, u64::from(b::BLKDISCARD), &mut [offset, length]).map(drop)
}

fn blkpg(fd: impl AsFd, operation: i32, number: i32, start: u64, length: u64) -> Result<()> {
    let mut partition = b::blkpg_partition {
        start: i64::try_from(start).map_err(|_| Errno::INVAL)?,
        length: i64::try_from(length).map_err(|_| Errno::INVAL)?,
        pno: number,
        ..Default::default()
    };
    let mut argument = b::blkpg_ioctl_arg {
        op: operation,
        flags: 0,
        datalen: std::mem::size_of::<b::blkpg_partition>() as i32,
        data: std::ptr::from_mut(&mut partition).cast(),
    };
    // `data` points at `partition`, which lives until after the call; the kernel reads `datalen` bytes of it.
    with_struct(fd, u64::from(b::BLKPG), &mut argument).map(drop)
}

/// Adds a partition to the kernel's view of a disk; nothing on the disk changes (BLKPG_ADD_PARTITION).
pub fn add_partition(fd: impl AsFd, number: i32, start: u64, length: u64) -> Result<()> {
    blkpg(fd, b::BLKPG_ADD_PARTITION as i32, number, start, length)
}

/// Takes a partition out of the kernel's view of a disk (BLKPG_DEL_PARTITION).
pub fn delete_partition(fd: impl AsFd, number: i32) -> Result<()> {
    blkpg(fd, b::BLKPG_DEL_PARTITION as i32, number, 0, 0)
}

/// The number of a free loop device (LOOP_CTL_GET_FREE on `/dev/loop-control`).
pub fn loop_free(control: impl AsFd) -> Result<u32> {
    with_number(control, u64::from(b::LOOP_CTL_GET_FREE), 0).map(|n| n as u32)
}

/// Ties a loop device to a file; it is freed at its last close (LOOP_CONFIGURE with LO_FLAGS_AUTOCLEAR, Linux 5.8).
pub fn loop_configure(fd: impl AsFd, backing: impl AsFd, block: u32) -> Result<()> {
    let mut config = b::loop_config {
        fd: backing.as_fd().as_raw_fd() as u32,
        block_size: block,
        info: b::loop_info64 { lo_flags: b::LO_FLAGS_AUTOCLEAR, ..Default::default() },
        ..Default::default()
    };
    with_struct(fd, u64::from(b::LOOP_CONFIGURE), &mut config).map(drop)
}

/// The bytes that DM_TABLE_STATUS works on: the header that `<linux/dm-ioctl.h>` declares, then room for the targets.
pub const DM_BUFFER: usize = 16 * 1024;
/// Length of `struct dm_ioctl`, which is also part of the ioctl's number.
pub const DM_HEADER: usize = 312;
/// `_IOWR(DM_IOCTL, DM_TABLE_STATUS_CMD, struct dm_ioctl)`.
const DM_TABLE_STATUS: u64 = 0xc000_0000 | (DM_HEADER as u64) << 16 | 0xfd << 8 | 12;

/// Asks device mapper for the status, or the table, of a device (DM_TABLE_STATUS); the buffer holds a filled-in header and
/// gets the targets.
pub fn dm_table_status(control: impl AsFd, buffer: &mut [u8; DM_BUFFER]) -> Result<()> {
    // The kernel reads the header, whose `data_size` says how long the whole buffer is, and writes no more than that; it is
    // set here so that no caller can say more.
    buffer[12..16].copy_from_slice(&(DM_BUFFER as u32).to_ne_bytes());
    with_struct(control, DM_TABLE_STATUS, buffer).map(drop)
}

/// `_IOR('X', 31, struct fsxattr)` of <linux/fs.h>.
const FS_IOC_FSGETXATTR: u64 = 0x801c_581f;

/// `FS_XFLAG_REALTIME` of <linux/fs.h>: on the realtime device of an xfs.
pub const FS_XFLAG_REALTIME: u32 = 1;

/// The flags of a file that every file system has words for (`FS_XFLAG_*`).
pub fn xflags(fd: impl AsFd) -> Result<u32> {
    let mut attributes = b::fsxattr::default();
    with_struct(fd, FS_IOC_FSGETXATTR, &mut attributes)?;
    Ok(attributes.fsx_xflags)
}

/// `FS_IOC_FIEMAP` of <linux/fiemap.h>, and the structure that it declares for it, with room for some extents.
const FS_IOC_FIEMAP: u64 = 0xc020_660b;
const FIEMAP_FLAG_SYNC: u32 = 1;
const EXTENTS: usize = 64;

#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [b::fiemap_extent; EXTENTS],
}

const _: () = assert!(std::mem::offset_of!(Fiemap, extents) == 32);

/// Where a file system has put a part of a file: offset in the file, physical offset, length and flags of each extent, at
/// most 64. `sync`: what is in the cache alone is written first; without it nothing is written.
pub fn extents(fd: impl AsFd, offset: u64, length: u64, sync: bool) -> Result<Vec<(u64, u64, u64, u32)>> {
    let mut map = Fiemap {
        start: offset,
        length,
        flags: if sync { FIEMAP_FLAG_SYNC } else { 0 },
        mapped: 0,
        count: EXTENTS as u32,
        reserved: 0,
        extents: [b::fiemap_extent::default(); EXTENTS],
    };
    // The kernel writes at most `count` extents behind the header, for which `extents` is the room.
    with_struct(fd, FS_IOC_FIEMAP, &mut map)?;
    let found = map.extents.iter().take(map.mapped as usize);
    Ok(found.map(|e| (e.fe_logical, e.fe_physical, e.fe_length, e.fe_flags)).collect())
}

fn number(returned: libc::c_long) -> Result<u32> {
    u32::try_from(returned).map_err(|_| Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}

/// The version of the kernel's Landlock; an error where it has none, or has it off.
pub fn landlock_version() -> Result<u32> {
    let flags = b::LANDLOCK_CREATE_RULESET_VERSION;
    // SAFETY: with this flag the call takes no structure (a null pointer and length 0) and gives a number.
    number(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<c_void>(), 0_usize, flags) })
}

/// Denies this thread, and what it starts, these accesses to files (`LANDLOCK_ACCESS_FS_*`) for ever, but for what is allowed
/// of a file, or below a directory. Needs no_new_privs.
pub fn landlock_restrict(handled_access_fs: u64, allowed: &[(OwnedFd, u64)]) -> Result<()> {
    // The first field is what every version has; the kernel takes the rest as 0.
    let attributes = b::landlock_ruleset_attr { handled_access_fs, ..Default::default() };
    let length = std::mem::size_of::<u64>();
    // SAFETY: the kernel reads `length` bytes, the first field, of a structure that lives until after the call.
    let fd = number(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, length, 0_u32) })?;
    // SAFETY: the call gave this descriptor, which nobody else has.
    let ruleset = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    for (path, allowed_access) in allowed {
        let beneath = b::landlock_path_beneath_attr { allowed_access: *allowed_access, parent_fd: path.as_raw_fd() };
        let (fd, kind) = (ruleset.as_raw_fd(), b::LANDLOCK_RULE_PATH_BENEATH);
        // SAFETY: the kernel reads the structure of this kind of rule, which lives until after the call.
        number(unsafe { libc::syscall(libc::SYS_landlock_add_rule, fd, kind, &raw const beneath, 0_u32) })?;
    }
    // SAFETY: the call takes a descriptor and flags, no pointer.
    number(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) }).map(drop)
}
