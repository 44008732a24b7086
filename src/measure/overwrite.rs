//! How much a database gains from zeroed space: synchronous small writes into allocated, zeroed and overwritten space of one
//! file, in turn. It gives figures and says nothing about the device.
//!
//! The file was made for this and has no name, so nothing has to be put back. Zeroing is verified only if the file system
//! keeps the bytes in their place; otherwise the zeroes that are read may be those of other blocks.

use crate::machine::port::file_acts::{decode_extents, places, Extent, FileAct, SHARED};
use crate::machine::port::{Act, ActError, Done, Fill, Port, ScratchRange};
use crate::measure::stats::{Sequential, ALPHA};
use crate::terms::Method;
use crate::units::{Nanos, MIB};

/// Bytes of each of the three areas.
pub const AREA: u64 = 8 * MIB;
/// The areas, one behind the other.
pub const AREAS: u64 = 3;
/// What a database writes at a time.
pub const BLOCK: u64 = 4096;
/// Bytes of one turn: 32 writes, so that whatever else goes on meets all three alike.
const TURN: u64 = 32 * BLOCK;

/// What it may use.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Of the pattern.
    pub seed: u64,
    /// For the writes in turns.
    pub max_time: Nanos,
}

/// What came of it. Each pair: bytes and the time they took.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Writes into allocated space, never written.
    pub unwritten: (u64, Nanos),
    /// Into space that FALLOC_FL_WRITE_ZEROES made; the errno where that failed.
    pub write_zeroes: Result<(u64, Nanos), i32>,
    /// Into space that was written before.
    pub written: (u64, Nanos),
    /// How many times as long writes into unwritten space take as into space that FALLOC_FL_WRITE_ZEROES made, turn by turn.
    pub over_zeroed: Sequential,
    /// The same against space that was written before.
    pub over_written: Sequential,
    /// Making that space.
    pub zeroed: Option<(u64, Nanos)>,
    /// Zeroing over written space read back as zero; `None` where that proves nothing, or was not tried.
    pub verified: Option<bool>,
    /// Where old data was read after zeroing.
    pub old_data: Option<u64>,
    /// Overwriting moves the bytes: the file system always copies, or others share them.
    pub moves: bool,
}

/// Why it could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The operation.
    pub operation: String,
    /// What came back; `None` for an interrupt.
    pub error: Option<ActError>,
}

struct Run<'a> {
    port: &'a mut dyn Port,
    range: &'a ScratchRange,
    stop: &'a dyn Fn() -> bool,
}

const UNWRITTEN: u64 = 0;
const ZEROED: u64 = AREA;
const WRITTEN: u64 = 2 * AREA;

/// Runs it on a file that is not made yet.
pub fn run(port: &mut dyn Port, range: &ScratchRange, plan: &Plan, stop: &dyn Fn() -> bool) -> Result<Outcome, Failed> {
    let mut run = Run { port, range, stop };
    run.act("make a file without a name (O_TMPFILE, O_DIRECT)", Act::File(FileAct::Make))?;
    let allocate = |offset| Act::File(FileAct::Allocate { offset, length: AREA });
    run.act("allocate space", allocate(UNWRITTEN))?;
    let zeroed = run.zero(ZEROED)?;
    run.act("allocate space", allocate(WRITTEN))?;
    run.fill(plan.seed)?;
    let before = run.extents(WRITTEN)?;
    let mut times = [(UNWRITTEN, Nanos(0)), (ZEROED, Nanos(0)), (WRITTEN, Nanos(0))];
    let mut ratios = [(); 2].map(|()| Sequential::new(1.0, ALPHA));
    let bytes = run.turns(plan, &mut times, &mut ratios, zeroed.is_ok())?;
    let [over_zeroed, over_written] = ratios;
    let after = run.extents(WRITTEN)?;
    let moves = places(&before) != places(&after) || after.iter().any(|e| e.flags & SHARED != 0);
    let mut outcome = Outcome {
        unwritten: (bytes, times[0].1),
        write_zeroes: zeroed.map(|_| (bytes, times[1].1)),
        written: (bytes, times[2].1),
        over_zeroed,
        over_written,
        zeroed: zeroed.ok().map(|took| (AREA, took)),
        verified: None,
        old_data: None,
        moves,
    };
    if zeroed.is_ok() {
        run.verify(&after, &mut outcome)?;
    }
    Ok(outcome)
}

impl Run<'_> {
    fn act(&mut self, operation: &str, act: Act) -> Result<(Nanos, Done), Failed> {
        if (self.stop)() {
            return Err(Failed { operation: operation.to_owned(), error: None });
        }
        let timed = self.port.act(self.range, &act);
        let failed = |error| Failed { operation: operation.to_owned(), error: Some(error) };
        timed.value.map(|done| (timed.took, done)).map_err(failed)
    }

    /// Zeroes an area; the inner error is the file system's answer.
    fn zero(&mut self, offset: u64) -> Result<Result<Nanos, i32>, Failed> {
        let act = Act::Zero { method: Method::WriteZeroes, offset, length: AREA };
        match self.act("zero space", act) {
            Ok((took, _)) => Ok(Ok(took)),
            Err(Failed { error: Some(ActError::Os(errno)), .. }) => Ok(Err(errno)),
            Err(e) => Err(e),
        }
    }

    fn fill(&mut self, seed: u64) -> Result<(), Failed> {
        let fill = Fill::Pattern { seed, trial: 1 };
        self.act("write", Act::Write { offset: WRITTEN, length: AREA, fill }).map(drop)
    }

    fn extents(&mut self, offset: u64) -> Result<Vec<Extent>, Failed> {
        match self.act("ask for the extents (FIEMAP)", Act::File(FileAct::Extents { offset, length: AREA })) {
            Ok((_, Done::Bytes(bytes))) => Ok(decode_extents(&bytes)),
            Ok(_) => Ok(Vec::new()),
            // Without FIEMAP nothing is known of the place, and nothing verified.
            Err(Failed { error: Some(ActError::Os(_)), .. }) => Ok(Vec::new()),
            Err(e) => Err(e),
        }
    }

    /// Writes in turns until the areas are full or the time is up; gives the bytes written to each.
    fn turns(
        &mut self,
        plan: &Plan,
        times: &mut [(u64, Nanos); 3],
        ratios: &mut [Sequential; 2],
        zeroed: bool,
    ) -> Result<u64, Failed> {
        let start = self.port.now();
        let mut done = 0;
        while done < AREA && (done == 0 || self.port.now().since(start) < plan.max_time) {
            let before = times.map(|(_, took)| took.0);
            // Each comes first as often as the others.
            for i in 0..3usize {
                let at = (i + (done / TURN) as usize) % 3;
                let Some((area, took)) = times.get_mut(at) else { continue };
                if *area == ZEROED && !zeroed {
                    continue;
                }
                let offset = *area + done;
                let act = FileAct::SyncWrites { offset, length: TURN, block: BLOCK, seed: plan.seed };
                took.0 += self.act("write synchronously", Act::File(act))?.0 .0;
            }
            let of = |i: usize| Nanos(times[i].1 .0 - before[i]);
            if zeroed {
                ratios[0].push(of(0), of(1));
            }
            ratios[1].push(of(0), of(2));
            done += TURN;
        }
        Ok(done)
    }

    /// Zeroes written space and reads it back, where it stays in its place.
    fn verify(&mut self, before: &[Extent], outcome: &mut Outcome) -> Result<(), Failed> {
        if self.zero(WRITTEN)?.is_err() {
            return Ok(());
        }
        let after = self.extents(WRITTEN)?;
        if before.is_empty() || places(before) != places(&after) {
            return Ok(());
        }
        let act = Act::Verify { offset: WRITTEN, length: AREA, fill: Fill::Zeroes };
        if let (_, Done::Mismatch(at)) = self.act("read back", act)? {
            outcome.old_data = Some(at);
        }
        outcome.verified = Some(outcome.old_data.is_none());
        Ok(())
    }
}
