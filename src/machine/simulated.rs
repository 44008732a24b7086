//! The port to a simulated device of known truth, under a virtual clock: content in memory, costs by a [`Model`], a power
//! cut at a chosen act. Used by tests and, named as such, by `selftest` on a machine without loop devices.

use crate::device::Device;
use crate::machine::live::fill_buffer;
use crate::machine::port::{Act, ActError, AskError, Done, Port, Question, ScratchRange, Timed, TunablePath};
use crate::units::Nanos;
use crate::words::Method;

/// What a simulated device is like. Its truth: the median pair ratio is that of `write_ns_per_mib` to `zero_ns_per_mib`
/// where `zeroing` is [`Zeroing::Real`].
#[derive(Debug, Clone)]
pub struct Model {
    /// Cost of a write.
    pub write_ns_per_mib: u64,
    /// Cost of a zeroing call.
    pub zero_ns_per_mib: u64,
    /// Cost of every call, of whatever kind.
    pub call_ns: u64,
    /// Half-width of a uniform jitter on every cost, in per cent.
    pub jitter_percent: u64,
    /// What a zeroing call does.
    pub zeroing: Zeroing,
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
    /// Fails with this errno.
    Fails(i32),
    /// Works so many times, then fails with EIO.
    FailsAfter(u64),
    /// Never answers.
    Hangs,
}

/// The device and its clock.
#[derive(Debug, Clone)]
pub struct SimulatedPort {
    /// What it is like.
    pub model: Model,
    /// Its content.
    pub content: Vec<u8>,
    /// The power goes in the middle of this act, counted from 1: it is done in part, and all later ones fail.
    pub cut_at: Option<u64>,
    /// How much of the act at the cut is done, of 256.
    pub cut_part: u64,
    acts: u64,
    zero_calls: u64,
    clock: Nanos,
    random: u64,
}

impl SimulatedPort {
    /// A device with this content; `seed` moves the jitter.
    pub fn new(model: Model, content: Vec<u8>, seed: u64) -> Self {
        SimulatedPort { model, content, cut_at: None, cut_part: 128, acts: 0, zero_calls: 0, clock: Nanos(0), random: seed | 1 }
    }

    /// Acts so far.
    pub fn acts(&self) -> u64 {
        self.acts
    }

    fn cost(&mut self, ns_per_mib: u64, length: u64) -> Nanos {
        let plain = self.model.call_ns + ns_per_mib * length / (1 << 20);
        // xorshift64 (Marsaglia 2003): enough for a jitter.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let swing = plain * self.model.jitter_percent / 100;
        let jittered = if swing == 0 { plain } else { plain - swing + self.random % (2 * swing + 1) };
        self.clock.0 += jittered;
        Nanos(jittered)
    }

    fn span(&mut self, offset: u64, length: u64) -> Result<&mut [u8], ActError> {
        let end = offset.saturating_add(length) as usize;
        // ENOSPC is what Linux says of a write behind the end of a device.
        self.content.get_mut(offset as usize..end).ok_or(ActError::Os(28))
    }

    /// How much of an act of this length is done before the power goes; all of it where it does not.
    fn before_cut(&self, length: u64) -> Result<u64, ActError> {
        match self.cut_at {
            Some(at) if self.acts > at => Err(ActError::NotAllowed("the power is off".to_owned())),
            Some(at) if self.acts == at => Ok(length * self.cut_part / 256 / 512 * 512),
            _ => Ok(length),
        }
    }

    fn zero(&mut self, method: Method, offset: u64, length: u64) -> Result<(), ActError> {
        self.zero_calls += 1;
        let length = self.before_cut(length)?;
        let zeroed = match self.model.zeroing {
            _ if method == Method::WriteZeros => return Err(ActError::Os(22)),
            // What may fall back to writing does so where the offload is not there.
            Zeroing::Fails(95) if matches!(method, Method::BlkZeroOut | Method::ZeroRange) => length,
            Zeroing::Real => length,
            Zeroing::Lie => 0,
            Zeroing::LieInLastBlock => length.saturating_sub(512),
            Zeroing::Fails(errno) => return Err(ActError::Os(errno)),
            Zeroing::FailsAfter(n) if self.zero_calls > n => return Err(ActError::Os(5)),
            Zeroing::FailsAfter(_) => length,
            Zeroing::Hangs => return Err(ActError::NoAnswer(0)),
        };
        self.span(offset, zeroed).map(|s| s.fill(0))
    }

    fn done(&mut self, range: &ScratchRange, act: &Act) -> Result<Done, ActError> {
        let off = |e: u64, this: &Self| this.before_cut(e);
        match act {
            Act::Open => off(0, self).map(|_| Done::Ok),
            Act::Write { offset, length, fill } => {
                let mut buffer = vec![0u8; off(*length, self)? as usize];
                fill_buffer(&mut buffer, *fill, range, *offset);
                self.span(*offset, buffer.len() as u64)?.copy_from_slice(&buffer);
                Ok(Done::Ok)
            }
            Act::Zero { method, offset, length } => self.zero(*method, *offset, *length).map(|()| Done::Ok),
            Act::Verify { offset, length, fill } => {
                off(0, self)?;
                let mut expected = vec![0u8; *length as usize];
                fill_buffer(&mut expected, *fill, range, *offset);
                let wrong = self.span(*offset, *length)?.iter().zip(&expected).position(|(a, b)| a != b);
                let block = range.logical_block.max(1);
                Ok(wrong.map_or(Done::Ok, |i| Done::Mismatch((offset + i as u64) / block * block)))
            }
            Act::Read { offset, length } => {
                off(0, self)?;
                Ok(Done::Bytes(self.span(*offset, *length)?.to_vec()))
            }
            Act::PutBack { offset, bytes } => {
                let length = off(bytes.len() as u64, self)?;
                self.span(*offset, length)?.copy_from_slice(&bytes[..length as usize]);
                Ok(Done::Ok)
            }
        }
    }
}

impl Port for SimulatedPort {
    fn ask(&mut self, _: &Device, _: Question) -> Result<Vec<u8>, AskError> {
        Err(AskError::NotAsked)
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>> {
        self.acts += 1;
        let (offset, length, price) = match act {
            Act::Open => (range.start, range.logical_block, 0),
            Act::Write { offset, length, .. } => (*offset, *length, self.model.write_ns_per_mib),
            Act::Zero { offset, length, .. } => (*offset, *length, self.model.zero_ns_per_mib),
            Act::Verify { offset, length, .. } | Act::Read { offset, length } => (*offset, *length, 0),
            Act::PutBack { offset, bytes } => (*offset, bytes.len() as u64, self.model.write_ns_per_mib),
        };
        let took = self.cost(price, length);
        if !range.holds(offset, length) {
            return Timed { took, value: Err(ActError::NotAllowed("outside the scratch range".to_owned())) };
        }
        Timed { took, value: self.done(range, act) }
    }

    fn set(&mut self, _: &Device, _: &TunablePath, _: &str) -> Result<(), ActError> {
        Err(ActError::NotAllowed("a simulated device has no tunables".to_owned()))
    }

    fn now(&self) -> Nanos {
        self.clock
    }
}
