//! Reads a whole device or partition at its speed, and says where the first byte that is not zero lies. It only reads.
//!
//! It uses O_DIRECT, so that the medium answers and the page cache of others is kept, and several requests in flight, because
//! a single request waits for the latency of the device each time.

use crate::error::{Error, Result};
use crate::machine::io::{first_not_zero, read_all, Aligned};
use crate::machine::sys;
use crate::units::Nanos;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Bytes of one read.
const CHUNK: u64 = 1 << 20;
/// Reads in flight.
const DEPTH: u64 = 8;
/// How often progress is told.
const TELL: Duration = Duration::from_millis(200);

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scan {
    /// Size of the node in bytes.
    pub size: u64,
    /// Logical block size in bytes.
    pub block: u64,
    /// The first byte that is not zero; `None`: all are.
    pub first: Option<u64>,
    /// Bytes that were read.
    pub read: u64,
    /// How long it took.
    pub took: Nanos,
}

/// What the readers share.
struct Shared {
    size: u64,
    /// The next chunk that nobody reads yet.
    next: AtomicU64,
    /// The lowest byte found that is not zero.
    first: AtomicU64,
    read: AtomicU64,
    failed: AtomicBool,
    error: Mutex<Option<(u64, Errno)>>,
}

/// Reads a node. `tell`: bytes read so far and the size, several times a second.
pub fn scan(node: &str, tell: &mut dyn FnMut(u64, u64)) -> Result<Scan> {
    let open = |flags| rustix::fs::open(node, OFlags::RDONLY | OFlags::CLOEXEC | flags, Mode::empty());
    let fd = open(OFlags::DIRECT).map_err(|e| Error::file(node, "open", e))?;
    let ask = |e: Errno| Error::file(node, "ask for the size of", e);
    let size = sys::size_bytes(&fd).map_err(ask)?;
    let block = sys::logical_block_bytes(&fd).map_err(ask)?.max(1);
    let shared = Shared {
        size,
        next: AtomicU64::new(0),
        first: AtomicU64::new(u64::MAX),
        read: AtomicU64::new(0),
        failed: AtomicBool::new(false),
        error: Mutex::new(None),
    };
    let from = Instant::now();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..DEPTH.min(size.div_ceil(CHUNK)))
            .map(|_| {
                let (shared, fd) = (&shared, fd.as_fd());
                scope.spawn(move || shared.read_chunks(fd))
            })
            .collect();
        let mut told = Instant::now();
        while !readers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(2));
            if told.elapsed() >= TELL {
                tell(shared.read.load(Ordering::Relaxed), size);
                told = Instant::now();
            }
        }
    });
    let first = shared.first.load(Ordering::Acquire);
    let error = shared.error.lock().map_or(None, |e| *e);
    match error {
        // What could not be read before the first byte found may hold an earlier one.
        Some((at, e)) if at < first => {
            let what = format!("{}; it is not known whether the rest of the device is zero", std::io::Error::from(e));
            Err(Error::Act { device: node.to_owned(), operation: format!("read at byte {at}"), what })
        }
        _ => Ok(Scan {
            size,
            block,
            first: (first != u64::MAX).then_some(first),
            read: shared.read.load(Ordering::Acquire),
            took: Nanos(u64::try_from(from.elapsed().as_nanos()).unwrap_or(u64::MAX)),
        }),
    }
}

impl Shared {
    /// Takes chunk after chunk. They are taken in order, so when one holds data all before it are read or being read.
    fn read_chunks(&self, fd: BorrowedFd<'_>) {
        let mut buffer = Aligned::zeroed(CHUNK as usize);
        while !self.failed.load(Ordering::Acquire) && self.first.load(Ordering::Acquire) == u64::MAX {
            let offset = self.next.fetch_add(1, Ordering::AcqRel).saturating_mul(CHUNK);
            if offset >= self.size {
                return;
            }
            let length = CHUNK.min(self.size - offset) as usize;
            match read_all(fd, &mut buffer[..length], offset) {
                Ok(()) => {
                    self.read.fetch_add(length as u64, Ordering::AcqRel);
                    if let Some(at) = first_not_zero(&buffer[..length]) {
                        self.first.fetch_min(offset + at as u64, Ordering::AcqRel);
                    }
                }
                Err(e) => {
                    self.failed.store(true, Ordering::Release);
                    if let Ok(mut error) = self.error.lock() {
                        if error.is_none_or(|(at, _)| offset < at) {
                            *error = Some((offset, e));
                        }
                    }
                }
            }
        }
    }
}
