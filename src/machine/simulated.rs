//! The port to a simulated device whose true behaviour is known, with a virtual clock: content in memory, costs and answers
//! from a [`Model`], a power cut in the middle of a chosen act. Tests use it, and so does `selftest` on a machine without
//! loop devices, which says that the device is simulated.
//!
//! It does not touch the system. `model` has the costs of the device, `power` has the effect of a power cut on a write, and
//! `zoo` has the devices that a test must not be fooled by.

pub mod disk;
pub mod model;
pub mod power;
pub mod zoo;

pub use model::{Costs, Deferral, Model, Noise, Pricing, Random, Writing, Zeroing};
pub use power::Cut;

use crate::device::Device;
use crate::machine::port::fill_buffer;
use crate::machine::port::pattern::UNIT;
use crate::machine::port::stretch::{Does, Stretch};
use crate::machine::port::{
    Act, ActError, AskError, Attention, Done, Fill, Port, Question, ScratchRange, Timed, TunablePath,
};
use crate::terms::Method;
use crate::units::Nanos;

/// `EIO`, `EINVAL`, `ENOSPC`, `EOPNOTSUPP`: what Linux says, by number, since no system is asked here.
const EIO: i32 = 5;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const EOPNOTSUPP: i32 = 95;

/// Data that was zeroed and is read all the same: so many times more, and at these times.
#[derive(Debug, Clone)]
struct Stale {
    offset: u64,
    bytes: Vec<u8>,
    reads: u64,
    times: std::ops::Range<u64>,
    /// From this many bytes written on.
    written: u64,
}

/// The device and its clock.
#[derive(Debug, Clone)]
pub struct SimulatedPort {
    /// Its content, as the media holds it.
    pub content: Vec<u8>,
    /// The power goes in the middle of an act; all later ones fail.
    pub cut: Option<Cut>,
    /// From this act on, counted from 1, it says once that a threshold is reached.
    pub threshold_at: Option<u64>,
    zeroing: Zeroing,
    costs: Costs,
    /// Whether each unit of 512 bytes is backed by media.
    mapped: Vec<bool>,
    stale: Option<Stale>,
    acts: u64,
    zero_calls: u64,
    written: u64,
    off: bool,
    hung: bool,
}

impl SimulatedPort {
    /// A device with this content; `seed` moves its noise.
    pub fn new(model: Model, content: Vec<u8>, seed: u64) -> Self {
        let thin = matches!(model.writing, Writing::FirstTouch(_));
        let mapped = content.chunks(UNIT).map(|unit| !thin || unit.iter().any(|b| *b != 0)).collect();
        let zeroing = model.zeroing;
        let costs = Costs::new(model, seed);
        let (cut, threshold_at, stale) = (None, None, None);
        let (acts, zero_calls, written, off, hung) = (0, 0, 0, false, false);
        SimulatedPort {
            content,
            cut,
            threshold_at,
            zeroing,
            costs,
            mapped,
            stale,
            acts,
            zero_calls,
            written,
            off,
            hung,
        }
    }

    /// Acts so far.
    pub fn acts(&self) -> u64 {
        self.acts
    }

    /// Whether the power is off.
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// The power comes back; what hung is over, and so is what was read although it was gone.
    pub fn power_on(&mut self) {
        (self.off, self.hung, self.cut, self.stale) = (false, false, None, None);
        if self.zeroing == Zeroing::Hangs {
            self.zeroing = Zeroing::Fails(EIO);
        }
    }

    /// Whether the media backs each unit of 512 bytes of a span.
    pub fn mapped(&self, offset: u64, length: u64) -> &[bool] {
        self.mapped.get(units(offset, length)).unwrap_or(&[])
    }

    fn span(&mut self, offset: u64, length: u64) -> Result<&mut [u8], ActError> {
        let end = offset.saturating_add(length) as usize;
        self.content.get_mut(offset as usize..end).ok_or(ActError::Os(ENOSPC))
    }

    /// What is read: the content, or for a while what was there before.
    fn seen(&mut self, offset: u64, length: u64) -> Result<Vec<u8>, ActError> {
        let mut bytes = self.span(offset, length)?.to_vec();
        let (now, written) = (self.costs.now().0, self.written);
        let shows = |s: &&mut Stale| s.times.contains(&now) && written >= s.written;
        if let Some(stale) = self.stale.as_mut().filter(shows) {
            let end = (offset + length).min(stale.offset + stale.bytes.len() as u64);
            let from = offset.max(stale.offset);
            if from < end {
                let old = &stale.bytes[(from - stale.offset) as usize..(end - stale.offset) as usize];
                bytes[(from - offset) as usize..(end - offset) as usize].copy_from_slice(old);
                stale.reads = stale.reads.saturating_sub(1);
            }
        }
        if self.stale.as_ref().is_some_and(|s| s.reads == 0) {
            self.stale = None;
        }
        Ok(bytes)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<Done, ActError> {
        self.span(offset, bytes.len() as u64)?.copy_from_slice(bytes);
        self.mapped[units(offset, bytes.len() as u64)].fill(true);
        self.written += bytes.len() as u64;
        let end = offset + bytes.len() as u64;
        self.stale.take_if(|s| s.offset < end && offset < s.offset + s.bytes.len() as u64);
        Ok(Done::Ok)
    }

    fn zero(&mut self, range: &ScratchRange, method: Method, offset: u64, length: u64) -> Result<Done, ActError> {
        self.zero_calls += 1;
        if method == Method::Write {
            return Err(ActError::Os(EINVAL));
        }
        let block = range.logical_block.max(1);
        let out =
            |at: u64, to: u64, up: bool| if up { at.next_multiple_of(to.max(1)) } else { at / to.max(1) * to.max(1) };
        let whole = self.content.len() as u64;
        let mut from = offset;
        let (fill, zeroed) = match self.zeroing {
            Zeroing::RevertsAfter(_) => (0, length),
            Zeroing::RoundsOut(granule) => {
                from = out(offset, granule, false);
                (0, out(offset + length, granule, true).min(whole) - from)
            }
            Zeroing::WholeGranules(granule) => {
                from = out(offset, granule, true).min(offset + length);
                (0, out(offset + length, granule, false).max(from) - from)
            }
            Zeroing::WipesElsewhere(behind) => {
                let at = (offset + length + behind).min(whole);
                let end = (at + 4096).min(whole);
                self.content[at as usize..end as usize].fill(0);
                (0, length)
            }
            // What may fall back to writing does so where the offload is not there.
            Zeroing::Fails(EOPNOTSUPP) if matches!(method, Method::BlkZeroOut | Method::ZeroRange) => (0, length),
            Zeroing::Real | Zeroing::Stale(_) | Zeroing::Late(_) | Zeroing::Reverts(_) => (0, length),
            Zeroing::Overshoots => (0, (length + block).min(self.content.len() as u64 - offset)),
            Zeroing::Ones => (0xff, length),
            Zeroing::Lie => (0, 0),
            Zeroing::LieInLastBlock => (0, length.saturating_sub(block)),
            Zeroing::LieBeyond(blocks) => (0, length.min(blocks.saturating_mul(block))),
            Zeroing::Fails(errno) => return Err(ActError::Os(errno)),
            Zeroing::FailsAfter(n) if self.zero_calls > n => return Err(ActError::Os(EIO)),
            Zeroing::FailsAfter(_) => (0, length),
            Zeroing::Hangs => {
                self.hung = true;
                return Err(ActError::NoAnswer(0));
            }
        };
        let span = self.span(from, zeroed)?;
        let old = span.to_vec();
        span.fill(fill);
        let (now, so_far) = (self.costs.now().0, self.written);
        let always = 0..u64::MAX;
        let stale = match self.zeroing {
            Zeroing::Stale(reads) => Some((reads, always, 0)),
            Zeroing::Late(ns) => Some((u64::MAX, 0..now + ns, 0)),
            Zeroing::Reverts(ns) => Some((u64::MAX, now + ns..u64::MAX, 0)),
            Zeroing::RevertsAfter(bytes) => Some((u64::MAX, always, so_far + bytes)),
            _ => None,
        };
        self.stale = stale.map(|(reads, times, written)| Stale { offset, bytes: old, reads, times, written });
        self.mapped[units(from, zeroed)].fill(false);
        Ok(Done::Ok)
    }

    fn done(&mut self, range: &ScratchRange, act: &Act) -> Result<Done, ActError> {
        match act {
            Act::Open => Ok(Done::Ok),
            Act::Write { offset, length, fill } => {
                let mut buffer = vec![0u8; *length as usize];
                fill_buffer(&mut buffer, *fill, range, *offset);
                self.write(*offset, &buffer)
            }
            Act::Zero { method, offset, length } => self.zero(range, *method, *offset, *length),
            Act::Verify { offset, length, fill } => {
                let mut expected = vec![0u8; *length as usize];
                fill_buffer(&mut expected, *fill, range, *offset);
                let held = self.seen(*offset, *length)?;
                // All at once first: a search byte by byte is only worth it where they differ.
                if held == expected {
                    return Ok(Done::Ok);
                }
                let wrong = held.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0) as u64;
                let block = range.logical_block.max(1);
                Ok(Done::Mismatch((offset + wrong) / block * block))
            }
            Act::Read { offset, length } => Ok(Done::Bytes(self.seen(*offset, *length)?)),
            Act::PutBack { offset, bytes } => self.write(*offset, bytes),
            Act::Stretch(stretch) => {
                for (offset, length) in stretch.calls() {
                    match stretch.does {
                        Does::Write(fill) => self.done(range, &Act::Write { offset, length, fill })?,
                        Does::Zero(method) => self.zero(range, method, offset, length)?,
                    };
                }
                Ok(Done::Ok)
            }
            Act::File(_) | Act::Load(_) => {
                Err(ActError::Refused("a simulated device has no file system and no load".to_owned()))
            }
        }
    }

    fn price(&mut self, act: &Act) -> Nanos {
        let unmapped = |this: &Self, offset, length| {
            this.mapped(offset, length).iter().filter(|mapped| !**mapped).count() as u64 * UNIT as u64
        };
        match act {
            Act::Open | Act::File(_) | Act::Load(_) => self.costs.read(0),
            Act::Write { offset, length, fill } => {
                let fresh = unmapped(self, *offset, *length);
                self.costs.write(*length, *fill == Fill::Zeroes, fresh)
            }
            Act::Zero { method, length, .. } => self.costs.zero(*method, *length),
            Act::Verify { length, .. } | Act::Read { length, .. } => self.costs.read(*length),
            // Each call has its price: see `stretch`.
            Act::Stretch(_) => Nanos(0),
            Act::PutBack { offset, bytes } => {
                let fresh = unmapped(self, *offset, bytes.len() as u64);
                self.costs.write(bytes.len() as u64, false, fresh)
            }
        }
    }

    /// Calls one after another; what one leaves is there before the next has its price.
    fn stretch(&mut self, range: &ScratchRange, stretch: &Stretch) -> Timed<Result<Done, ActError>> {
        let (mut times, mut all) = (Vec::new(), 0);
        for (offset, length) in stretch.calls() {
            let act = match stretch.does {
                Does::Write(fill) => Act::Write { offset, length, fill },
                Does::Zero(method) => Act::Zero { method, offset, length },
            };
            let took = self.price(&act);
            if let Err(error) = self.done(range, &act) {
                return Timed { took, value: Err(error) };
            }
            all += took.0;
            times.push(took.0);
        }
        if stretch.flush {
            all += self.costs.flush().0;
        }
        Timed { took: Nanos(all), value: Ok(Done::Times(times)) }
    }

    /// The power goes while this act is carried out: no answer comes, and what it changed is there in part.
    fn cut_in(&mut self, range: &ScratchRange, act: &Act, (offset, length): (u64, u64), cut: Cut) {
        let span = offset as usize..(offset + length) as usize;
        let (old, old_mapped) = match self.content.get(span.clone()) {
            Some(old) => (old.to_vec(), self.mapped(offset, length).to_vec()),
            None => (Vec::new(), Vec::new()),
        };
        if !old.is_empty() && self.done(range, act).is_ok() {
            let lost = power::lost(cut, old_mapped.len());
            for (i, _) in lost.iter().enumerate().filter(|(_, lost)| **lost) {
                let unit = i * UNIT..((i + 1) * UNIT).min(old.len());
                self.content[span.start + unit.start..span.start + unit.end].copy_from_slice(&old[unit]);
                self.mapped[span.start / UNIT + i] = old_mapped[i];
            }
        }
        self.off = true;
    }
}

/// The units that a span touches.
fn units(offset: u64, length: u64) -> std::ops::Range<usize> {
    offset as usize / UNIT..((offset + length) as usize).div_ceil(UNIT)
}

impl Port for SimulatedPort {
    fn ask(&mut self, _: &Device, question: Question) -> Result<Vec<u8>, AskError> {
        let Question::Blocks(offset, length) = question else { return Err(AskError::NotAsked) };
        self.seen(offset, u64::from(length)).map_err(|_| AskError::Os(EIO))
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>> {
        let refused = |why: &str| Timed { took: Nanos(0), value: Err(ActError::Refused(why.to_owned())) };
        if self.off {
            return refused("the power is off");
        }
        self.acts += 1;
        let (offset, length) = match act {
            Act::Open | Act::File(_) | Act::Load(_) => (range.start, range.logical_block),
            Act::Write { offset, length, .. }
            | Act::Zero { offset, length, .. }
            | Act::Verify { offset, length, .. }
            | Act::Read { offset, length } => (*offset, *length),
            Act::PutBack { offset, bytes } => (*offset, bytes.len() as u64),
            Act::Stretch(stretch) => (stretch.offset, stretch.length),
        };
        if !range.holds(offset, length) {
            return refused("outside the scratch range");
        }
        if let Some(cut) = self.cut.filter(|cut| cut.at == self.acts) {
            self.cut_in(range, act, (offset, length), cut);
            return refused("the power went");
        }
        if let Act::Stretch(stretch) = act {
            return self.stretch(range, stretch);
        }
        let took = self.price(act);
        // Each of these ends with a flush.
        let flushed = match act {
            Act::Write { .. } | Act::Zero { .. } | Act::PutBack { .. } => self.costs.flush(),
            _ => Nanos(0),
        };
        Timed { took: Nanos(took.0 + flushed.0), value: self.done(range, act) }
    }

    fn set(&mut self, _: &Device, _: &TunablePath, _: &str) -> Result<(), ActError> {
        Err(ActError::Refused("a simulated device has no tunables".to_owned()))
    }

    fn now(&self) -> Nanos {
        self.costs.now()
    }

    fn left_behind(&self) -> Option<u32> {
        self.hung.then_some(0)
    }

    fn attention(&mut self) -> Option<Attention> {
        self.threshold_at.take_if(|at| *at <= self.acts).map(|_| Attention::ThinThreshold)
    }
}

#[cfg(test)]
mod tests;
