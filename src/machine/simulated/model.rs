//! The behaviour of a simulated device: the cost of an operation, its disturbances, and what zeroing really does. It is pure:
//! the same seed gives the same costs.
//!
//! Noise affects writing and zeroing alike, so the true median of the pair ratio stays that of the plain costs.

use crate::terms::Method;
use crate::units::{Nanos, MIB};

/// A device. Its truth in the words of the measurement: the median of write over zero is that of `write_ns_per_mib` to
/// what `pricing` makes of `zero_ns_per_mib`, for segments long enough that `call_ns` does not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Cost of a write of incompressible data over written data.
    pub write_ns_per_mib: u64,
    /// Cost of a zeroing call.
    pub zero_ns_per_mib: u64,
    /// Cost of a read.
    pub read_ns_per_mib: u64,
    /// Cost of every call, of whatever kind.
    pub call_ns: u64,
    /// What disturbs writing and zeroing.
    pub noise: Noise,
    /// What writing is like besides.
    pub writing: Writing,
    /// What zeroing costs by the length of the call.
    pub pricing: Pricing,
    /// What a zeroing call does.
    pub zeroing: Zeroing,
    /// What a zeroing call leaves to be done later, and when it is.
    pub deferral: Deferral,
    /// Cost of WRITE_ZEROES in per cent of that of PUNCH_HOLE.
    pub write_zeroes_percent: u64,
}

/// What disturbs an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Nothing.
    None,
    /// Uniform, so many per cent either way.
    Uniform(f64),
    /// Log-normal with this sigma.
    LogNormal(f64),
    /// One operation in five takes five times as long (a cache that flushes).
    Bimodal,
    /// Pareto with an exponent of 1.1: the variance is infinite, the mean nearly so.
    HeavyTail,
    /// Every eighth operation waits so many nanoseconds more, whichever it is.
    Stalls(u64),
    /// Each operation is so many per cent slower than the one before.
    Drift(f64),
    /// Writes take ten times as long in every second phase of so many operations.
    Phases(u64),
}

/// What a zeroing call leaves to be done later: so many nanoseconds a MiB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Deferral {
    /// Nothing.
    None,
    /// It is done while the device is read or idle. So many bytes can wait; beyond that each call waits itself.
    UntilRest {
        /// Nanoseconds a MiB.
        ns_per_mib: u64,
        /// Bytes that can wait.
        room: u64,
    },
    /// The next write, wherever it goes, waits for all of it.
    UntilWrite(u64),
    /// The next flush waits for all of it.
    UntilFlush(u64),
}

/// What writing is like besides its plain cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Writing {
    /// Nothing.
    Plain,
    /// Until so many bytes were written since `idle_ns` without an act, a write costs a `gain`-th.
    Cache {
        /// Bytes it takes.
        bytes: u64,
        /// How much faster it is.
        gain: u64,
        /// From this pause on it is empty again.
        idle_ns: u64,
    },
    /// Zero-filled data costs so many times less (dedupe, zero detection).
    ZeroesCheap(u64),
    /// Zero-filled data costs so many per cent of other data.
    ZeroesCost(u64),
    /// Thin: what holds zeroes at the start is not backed by media; a write to what is not backed costs so many
    /// nanoseconds a MiB more. Zeroing takes the media away.
    FirstTouch(u64),
    /// Zeroing only notes what is to be done; a write to it costs so many nanoseconds a MiB more.
    PaysForZeroing(u64),
}

/// What zeroing costs by the length of the call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pricing {
    /// The same for each byte.
    Even,
    /// A call longer than so many bytes costs this many nanoseconds a MiB instead.
    Above(u64, u64),
    /// A call of at most so many bytes costs this many nanoseconds a MiB instead.
    UpTo(u64, u64),
    /// Every second call costs this many nanoseconds a MiB instead.
    EverySecond(u64),
    /// Once so many bytes were zeroed, each call costs this many nanoseconds a MiB instead.
    OnceZeroed(u64, u64),
    /// After so many writes and zeroing calls one costs what the other did.
    SwappedAfter(u64),
    /// Each time so many bytes were zeroed, a call takes so many nanoseconds more.
    StallEvery(u64, u64),
    /// So many calls of a thousand take so many times as long.
    Spikes(u64, u64),
}

/// What a zeroing call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zeroing {
    /// Zeroes.
    Real,
    /// Reports success and leaves everything.
    Lie,
    /// Reports success and leaves the last block of each call.
    LieInLastBlock,
    /// Reports success and leaves what lies beyond so many blocks of a call.
    LieBeyond(u64),
    /// Reports success; 0xff is read.
    Ones,
    /// Zeroes, but the old data is read so many times more, unless written over.
    Stale(u64),
    /// Zeroes, but the old data is read for so many nanoseconds, unless written over.
    Late(u64),
    /// Zeroes, but from so many nanoseconds on the old data is back, unless written over.
    Reverts(u64),
    /// Zeroes, but the old data is back once so many bytes were written elsewhere, unless written over.
    RevertsAfter(u64),
    /// Zeroes, and the block behind as well.
    Overshoots,
    /// Zeroes, and all else of the granules of so many bytes that a call touches.
    RoundsOut(u64),
    /// Zeroes, and 4 KiB that lie so many bytes behind what was asked for.
    WipesElsewhere(u64),
    /// Reports success and zeroes only the whole granules of so many bytes inside a call.
    WholeGranules(u64),
    /// Fails with this errno.
    Fails(i32),
    /// Works so many times, then fails with EIO.
    FailsAfter(u64),
    /// Never answers.
    Hangs,
}

impl Model {
    /// A device that always takes the same time for the same work and does what it says.
    pub const fn steady(write_ns_per_mib: u64, zero_ns_per_mib: u64) -> Self {
        Model {
            write_ns_per_mib,
            zero_ns_per_mib,
            read_ns_per_mib: write_ns_per_mib / 2,
            call_ns: 2_000,
            noise: Noise::None,
            writing: Writing::Plain,
            pricing: Pricing::Even,
            zeroing: Zeroing::Real,
            deferral: Deferral::None,
            write_zeroes_percent: 100,
        }
    }
}

/// splitmix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    pub const fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next one.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to, not including, `n`; 0 for an `n` of 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next_u64() % n.max(1)
    }

    /// Above 0, at most 1.
    pub fn unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Of the normal distribution: mean 0, deviation 1.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// The clock of a device and what moves it.
#[derive(Debug, Clone)]
pub struct Costs {
    model: Model,
    random: Random,
    /// Writes and zeroing calls so far.
    operations: u64,
    /// Zeroing calls so far, and the bytes of them.
    zeroed: (u64, u64),
    /// Bytes written since the last pause.
    burst: u64,
    last_write: u64,
    /// Nanoseconds of work that zeroing left.
    owed: f64,
    clock: u64,
}

impl Costs {
    /// A device at rest; `seed` moves its noise.
    pub fn new(model: Model, seed: u64) -> Self {
        let mut random = Random::new(seed);
        // A test starts at any point of the device's own rhythm.
        let operations = random.below(8);
        Costs { model, random, operations, zeroed: (0, 0), burst: 0, last_write: 0, owed: 0.0, clock: 0 }
    }

    /// The clock.
    pub fn now(&self) -> Nanos {
        Nanos(self.clock)
    }

    /// Time goes by and nothing is done.
    pub fn pause(&mut self, span: Nanos) {
        self.clock += span.0;
        self.rest(span);
    }

    /// The device has time for what it left.
    fn rest(&mut self, span: Nanos) {
        if matches!(self.model.deferral, Deferral::UntilRest { .. }) {
            self.owed = (self.owed - span.0 as f64).max(0.0);
        }
    }

    /// A flush: what it waits for.
    pub fn flush(&mut self) -> Nanos {
        match self.model.deferral {
            Deferral::UntilFlush(_) => {
                let owed = std::mem::take(&mut self.owed);
                self.pass(owed)
            }
            _ => Nanos(0),
        }
    }

    /// A read. Reads are not disturbed: nothing is concluded from their time.
    pub fn read(&mut self, bytes: u64) -> Nanos {
        let took = self.pass(self.plain(self.model.read_ns_per_mib, bytes));
        self.rest(took);
        took
    }

    /// A write, of zeroes or not, of which so many bytes were not backed by media.
    pub fn write(&mut self, bytes: u64, zeroes: bool, unmapped: u64) -> Nanos {
        let mut rate = self.swapped().0;
        let mut extra = 0.0;
        match self.model.writing {
            Writing::Plain => {}
            Writing::Cache { bytes: room, gain, idle_ns } => {
                if self.clock.saturating_sub(self.last_write) >= idle_ns {
                    self.burst = 0;
                }
                if self.burst < room {
                    rate /= gain.max(1);
                }
                self.burst += bytes;
            }
            Writing::ZeroesCheap(gain) if zeroes => rate /= gain.max(1),
            Writing::ZeroesCost(percent) if zeroes => rate = rate * percent / 100,
            Writing::ZeroesCheap(_) | Writing::ZeroesCost(_) => {}
            Writing::FirstTouch(ns) | Writing::PaysForZeroing(ns) => extra = ns as f64 * unmapped as f64 / MIB as f64,
        }
        if matches!(self.model.noise, Noise::Phases(n) if self.operations / n.max(1) % 2 == 1) {
            rate *= 10;
        }
        let waited = match self.model.deferral {
            Deferral::UntilWrite(_) => std::mem::take(&mut self.owed),
            _ => 0.0,
        };
        let took = self.disturbed(self.plain(rate, bytes) + extra);
        let took = Nanos(took.0 + self.pass(waited).0);
        self.last_write = self.clock;
        took
    }

    /// A zeroing call.
    pub fn zero(&mut self, method: Method, bytes: u64) -> Nanos {
        let (calls, zeroed) = self.zeroed;
        self.zeroed = (calls + 1, zeroed + bytes);
        let rate = match self.model.pricing {
            Pricing::Above(limit, ns) if bytes > limit => ns,
            Pricing::UpTo(limit, ns) if bytes <= limit => ns,
            Pricing::EverySecond(ns) if calls % 2 == 1 => ns,
            Pricing::OnceZeroed(limit, ns) if zeroed >= limit => ns,
            _ => self.swapped().1,
        };
        let percent = if method == Method::WriteZeroes { self.model.write_zeroes_percent } else { 100 };
        let took = self.disturbed(self.plain(rate, bytes) * percent as f64 / 100.0);
        let stalled = match self.model.pricing {
            Pricing::StallEvery(every, ns) if (zeroed + bytes) / every.max(1) > zeroed / every.max(1) => ns as f64,
            Pricing::Spikes(per_mille, times) if self.random.below(1000) < per_mille => {
                took.0 as f64 * (times as f64 - 1.0)
            }
            _ => 0.0,
        };
        let waits = stalled + self.left(bytes);
        Nanos(took.0 + self.pass(waits).0)
    }

    /// Notes what a zeroing call leaves; gives what of it cannot wait.
    fn left(&mut self, bytes: u64) -> f64 {
        let mib = bytes as f64 / MIB as f64;
        match self.model.deferral {
            Deferral::None => 0.0,
            Deferral::UntilWrite(ns) | Deferral::UntilFlush(ns) => {
                self.owed += ns as f64 * mib;
                0.0
            }
            Deferral::UntilRest { ns_per_mib, room } => {
                self.owed += ns_per_mib as f64 * mib;
                let most = ns_per_mib as f64 * room as f64 / MIB as f64;
                let beyond = (self.owed - most).max(0.0);
                self.owed -= beyond;
                beyond
            }
        }
    }

    /// What a MiB costs now to write and to zero.
    fn swapped(&self) -> (u64, u64) {
        let plain = (self.model.write_ns_per_mib, self.model.zero_ns_per_mib);
        match self.model.pricing {
            Pricing::SwappedAfter(n) if self.operations >= n => (plain.1, plain.0),
            _ => plain,
        }
    }

    fn plain(&self, ns_per_mib: u64, bytes: u64) -> f64 {
        self.model.call_ns as f64 + ns_per_mib as f64 * bytes as f64 / MIB as f64
    }

    fn disturbed(&mut self, ns: f64) -> Nanos {
        self.operations += 1;
        let r = &mut self.random;
        let disturbed = match self.model.noise {
            Noise::None | Noise::Phases(_) => ns,
            Noise::Uniform(percent) => ns * (1.0 + (2.0 * r.unit() - 1.0) * percent / 100.0),
            Noise::LogNormal(sigma) => ns * (sigma * r.normal()).exp(),
            Noise::Bimodal => ns * (0.02 * r.normal()).exp() * if r.unit() < 0.2 { 5.0 } else { 1.0 },
            Noise::HeavyTail => ns * r.unit().powf(-1.0 / 1.1),
            Noise::Stalls(stall) => {
                ns * (0.05 * r.normal()).exp() + if self.operations % 8 == 0 { stall as f64 } else { 0.0 }
            }
            Noise::Drift(percent) => {
                ns * (0.05 * r.normal()).exp() * (1.0 + percent / 100.0).powf(self.operations as f64)
            }
        };
        self.pass(disturbed)
    }

    fn pass(&mut self, ns: f64) -> Nanos {
        let span = Nanos(ns.round() as u64);
        self.clock += span.0;
        span
    }
}
