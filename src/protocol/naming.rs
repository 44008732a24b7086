//! Records durably which segments a test zeroes, before it does so: after a power cut zeroes are overwritten by the old
//! content only if the intent names them. It decides nothing else, and writes nothing to a device.

use crate::device::Device;
use crate::machine::port::{
    Act, ActError, AskError, Attention as Call, Done, Fill, Port, Question, ScratchRange, Timed, TunablePath,
};
use crate::measure::plan::Plan;
use crate::measure::trial::SEGMENTS;
use crate::units::Nanos;

/// Has each segment named in the intent, durably, before the first zeroes go to it.
pub(crate) struct Naming<'a> {
    port: &'a mut dyn Port,
    /// First byte and length of the segments on the node.
    segments: (u64, u64),
    name_it: &'a mut dyn FnMut((u64, u64)) -> crate::error::Result<()>,
    named: Vec<(u64, u64)>,
}

impl<'a> Naming<'a> {
    pub(crate) fn new(
        port: &'a mut dyn Port,
        plan: &Plan,
        name_it: &'a mut dyn FnMut((u64, u64)) -> crate::error::Result<()>,
    ) -> Self {
        Naming { port, segments: (plan.start, plan.length / SEGMENTS), name_it, named: Vec::new() }
    }

    /// Names what of a span is not named yet, in whole segments; what lies behind them as it is.
    fn announce(&mut self, offset: u64, length: u64) -> crate::error::Result<()> {
        let (start, segment) = (self.segments.0, self.segments.1.max(1));
        let (end, behind) = (offset + length, start + segment * SEGMENTS);
        let mut at = offset;
        while at < end {
            let span = if at >= start && at < behind {
                (start + (at - start) / segment * segment, segment)
            } else {
                (at, end - at)
            };
            let inside = |(o, n): &(u64, u64)| span.0 >= *o && span.0 + span.1 <= o + n;
            if !self.named.iter().any(inside) {
                (self.name_it)(span)?;
                self.named.push(span);
            }
            at = span.0 + span.1;
        }
        Ok(())
    }
}

impl Port for Naming<'_> {
    fn ask(&mut self, device: &Device, question: Question) -> Result<Vec<u8>, AskError> {
        self.port.ask(device, question)
    }

    fn act(&mut self, range: &ScratchRange, act: &Act) -> Timed<Result<Done, ActError>> {
        let span = match act {
            // Zeroes that are written are zeroes as well: nobody could tell them from others after a cut.
            Act::Zero { offset, length, .. } | Act::Write { offset, length, fill: Fill::Zeroes } => {
                Some((*offset, *length))
            }
            Act::Stretch(stretch) if stretch.does.leaves_zeroes() => Some((stretch.offset, stretch.length)),
            Act::Load(load) => load.zeroing.map(|z| (z.offset, z.length)),
            _ => None,
        };
        if let Some(Err(e)) = span.map(|(offset, length)| self.announce(offset, length)) {
            return Timed { took: Nanos(0), value: Err(ActError::Refused(e.to_string())) };
        }
        self.port.act(range, act)
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

    fn attention(&mut self) -> Option<Call> {
        self.port.attention()
    }
}
