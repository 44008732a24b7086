//! `--tune`: each `zeroing_mode` that the claims of a SCSI disk allow gets a run of its own, and the best mode is kept as
//! wanted.
//!
//! It decides which modes are tried, in which order, and which is best. The disk stays open from the first run to the last,
//! because after a close the kernel chooses its mode again. It writes this one tunable, through the child that has the disk
//! open, and puts back the mode that was found; only the runs write content.

use crate::machine::port::{ActError, TunablePath};
use crate::measure::conclusion::Conclusion;
use crate::measure::order::SCREENED;
use crate::measure::outcome::{End, Outcome};
use crate::measure::plan::Plan;
use crate::protocol::session::Session;
use crate::protocol::supervise::Listener;
use crate::terms::{Class, FindingCode, Method};
use crate::units::{rate, Nanos};
use crate::verdict::measurement::{ModeResult, TestFinding};
use crate::verdict::MODE;

/// In a run of one mode: the call that is the same request as the deciding one. What does not depend on the mode is
/// screened once, in the last run.
const SCREENED_EACH: &[Method] = &[Method::WriteZeroes];
/// Trials of one run have numbers apart from those of the others, so that no pattern is written twice.
const TRIALS_EACH: u64 = 1 << 32;

/// One mode and what its run gave; `Err` where it could not be set or did not stay.
struct Tried {
    mode: &'static str,
    outcome: Result<Outcome, String>,
}

impl Tried {
    /// The run, where it is one to choose by: it went to its end, and the mode was what it should be throughout.
    fn sound(&self) -> Option<&Outcome> {
        self.outcome.as_ref().ok().filter(|o| o.end == End::Complete)
    }

    fn result(&self, fast_ratio: f64) -> ModeResult {
        let mut result = ModeResult {
            mode: self.mode.to_owned(),
            class: None,
            zero_bytes_per_second: None,
            ratio: None,
            verified: None,
            error: None,
        };
        match &self.outcome {
            Err(why) => result.error = Some(why.clone()),
            Ok(run) => {
                let deciding = run.methods.iter().find(|m| m.method == Method::PunchHole);
                result.zero_bytes_per_second = deciding.and_then(|m| rate(m.zeroed.0, m.zeroed.1));
                result.verified = deciding.and_then(|m| m.verified);
                result.ratio = run.pairs.median().filter(|r| r.is_finite());
                let (class, error) = match &run.end {
                    End::Wrong(wrong) => (Class::Broken, Some(wrong.text.clone())),
                    End::NotSupported => (Class::None, deciding.and_then(|m| m.error.clone())),
                    End::Failed(operation, error) => (Class::Unknown, Some(format!("{operation}: {error}"))),
                    End::Complete => (by_numbers(run, fast_ratio), run.inconclusive.map(|o| o.to_string())),
                };
                (result.class, result.error) = (Some(class), error);
            }
        }
        result
    }
}

fn by_numbers(run: &Outcome, fast_ratio: f64) -> Class {
    match run.conclusion(fast_ratio) {
        Conclusion::Faster => Class::Fast,
        Conclusion::NotFaster { .. } => Class::Slow,
        Conclusion::Open(_) => Class::Unknown,
    }
}

/// Which mode is best: the kernel's own, unless another is quicker by more than noise explains (their intervals do not
/// touch). `None` where no run is sound.
fn best(tried: &[Tried], own: Option<&str>) -> Option<usize> {
    let median = |i: usize| tried[i].sound().and_then(|o| o.pairs.median()).unwrap_or(0.0);
    let sound = || (0..tried.len()).filter(|i| tried[*i].sound().is_some());
    let quickest = |of: &mut dyn Iterator<Item = usize>| of.max_by(|a, b| median(*a).total_cmp(&median(*b)));
    let Some(home) = sound().find(|i| Some(tried[*i].mode) == own) else { return quickest(&mut sound()) };
    let high = tried[home].sound().and_then(|o| o.pairs.interval().high);
    let surely_quicker = |i: &usize| {
        let low = tried[*i].sound().and_then(|o| o.pairs.interval().low);
        low.zip(high).is_some_and(|(low, high)| low > high)
    };
    quickest(&mut sound().filter(surely_quicker)).or(Some(home))
}

impl Session<'_, '_> {
    /// Runs the candidates. The outcome is that of the best mode, with everything that was written and changed in all.
    pub(crate) fn tuned(&mut self, listener: &mut dyn Listener) -> Outcome {
        let facts = self.on.facts;
        let modes = &self.prepared.modes;
        let found = facts.scsi().and_then(|s| s.zeroing_mode.known()).cloned().unwrap_or_default();
        let own = facts.kernel_zeroing_mode();
        let mut tried: Vec<Tried> = Vec::new();
        // The intent says what was found before anything else is set, so that recovery can put it back after a kill.
        self.word.on_trial = self.mode_path().map(|path| (path, found.clone())).into_iter().collect();
        if let Err(e) = self.write_word() {
            let mut none = Outcome::new(&self.prepared.plan);
            none.end = End::Failed(format!("record that {MODE} is on trial"), ActError::Refused(e.to_string()));
            return none;
        }
        for (i, mode) in modes.iter().enumerate() {
            let last = i + 1 == modes.len();
            let whole = &self.prepared.plan;
            let plan = Plan {
                first_trial: TRIALS_EACH * i as u64,
                max_bytes: whole.max_bytes / modes.len() as u64,
                max_time: Nanos(whole.max_time.0 / modes.len() as u64),
                screened: if last { SCREENED } else { SCREENED_EACH },
                ..whole.clone()
            };
            listener.step(&format!("{MODE} {mode}"));
            let outcome = self.mode_set(mode).map(|()| self.one(&plan, listener));
            let stayed = self.mode_now();
            let outcome = outcome.and_then(|outcome| match stayed {
                // What went wrong in a run went wrong whatever the mode became of it.
                Some(now) if now != *mode && outcome.end == End::Complete => {
                    Err(format!("the kernel changed it to {now} during the test"))
                }
                _ => Ok(outcome),
            });
            tried.push(Tried { mode, outcome });
            if self.over(&tried[i], own) {
                break;
            }
        }
        if self.machine.port.left_behind().is_none() && self.mode_now().as_ref() != Some(&found) {
            if let Err(why) = self.mode_set(&found) {
                let text = format!("{MODE} could not be put back to {found}: {why}");
                self.conditions.found.push(TestFinding { code: FindingCode::LimitsChangedByTest, text });
            }
        }
        self.settle(tried, own)
    }

    /// Whether nothing more is tried after this run: it was interrupted or could not go on, or the kernel's own mode, to
    /// which every close of the disk leads back, zeroes wrongly; then no other mode makes the disk safe.
    fn over(&self, tried: &Tried, own: Option<&str>) -> bool {
        let Ok(outcome) = &tried.outcome else { return self.machine.interrupt.seen() };
        let hangs = self.machine.port.left_behind().is_some();
        hangs
            || self.machine.interrupt.seen()
            || match &outcome.end {
                End::Wrong(_) => Some(tried.mode) == own,
                End::Failed(..) => true,
                End::Complete | End::NotSupported => false,
            }
    }

    /// Chooses, and makes one outcome of all.
    fn settle(&mut self, mut tried: Vec<Tried>, own: Option<&str>) -> Outcome {
        self.conditions.modes = tried.iter().map(|t| t.result(self.prepared.plan.fast_ratio)).collect();
        let ended = tried.last().is_some_and(|t| self.over(t, own));
        let chosen = if ended { None } else { best(&tried, own) };
        self.conditions.zeroing_mode = chosen.map(|i| tried[i].mode.to_owned());
        let runs = || tried.iter().filter_map(|t| t.outcome.as_ref().ok());
        let bytes = runs().map(|o| o.bytes_written).sum();
        let took = Nanos(runs().map(|o| o.took.0).sum());
        let changed = runs().flat_map(|o| o.changed_limits.clone()).collect();
        // What the last run screened does not depend on the mode, save the call that is the same request.
        let screened: Vec<_> = runs().next_back().map(|o| o.methods.clone()).unwrap_or_default();
        // Without a choice the run speaks that ended it all, else that of the kernel's own mode.
        let of_own = || tried.iter().position(|t| Some(t.mode) == own && t.outcome.is_ok());
        let any = || tried.iter().position(|t| t.outcome.is_ok());
        let speaks =
            if ended { tried.iter().rposition(|t| t.outcome.is_ok()) } else { chosen.or_else(of_own).or_else(any) };
        let Some(Ok(mut outcome)) = speaks.map(|i| tried.swap_remove(i).outcome) else {
            let why = self.conditions.modes.iter().filter_map(|m| m.error.clone()).collect::<Vec<_>>().join("; ");
            let mut none = Outcome::new(&self.prepared.plan);
            none.end = End::Failed(format!("set {MODE}"), ActError::Refused(why));
            return none;
        };
        for run in screened {
            if !outcome.methods.iter().any(|m| m.method == run.method) {
                outcome.methods.push(run);
            }
        }
        (outcome.bytes_written, outcome.took, outcome.changed_limits) = (bytes, took, changed);
        outcome
    }

    fn mode_path(&self) -> Option<String> {
        self.on.facts.scsi()?.scsi_disk.as_ref().map(|dir| format!("{dir}/{MODE}"))
    }

    fn mode_now(&self) -> Option<String> {
        let path = self.on.facts.device.attr(&self.mode_path()?);
        self.machine.root.text(&path).known().cloned()
    }

    /// Sets the mode and reads it back.
    fn mode_set(&mut self, mode: &str) -> Result<(), String> {
        let path = self.mode_path().ok_or("the disk has no such file")?;
        if self.mode_now().as_deref() != Some(mode) {
            self.machine.port.set(&self.on.facts.device, &TunablePath(path), mode).map_err(|e| e.to_string())?;
        }
        match self.mode_now() {
            Some(now) if now == mode => Ok(()),
            Some(now) => Err(format!("{mode} was written, but {now} is read back")),
            None => Err(format!("{mode} was written, but it cannot be read back")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::order;
    use crate::measure::stats::sustained::{Calls, Part, Sustained};

    fn plan() -> Plan {
        Plan {
            seed: 1,
            first_trial: 0,
            unit: 512,
            start: 0,
            length: 4 << 20,
            fast_ratio: 2.0,
            max_bytes: 1 << 30,
            max_time: Nanos::from_secs(60),
            deciding: order::DECIDING,
            not_tried: Vec::new(),
            screened: &[],
            area: 4 << 20,
            block: 512,
            put_back: 0,
            sustained: 4 << 20,
        }
    }

    /// A run whose pairs all have this ratio.
    fn tried(mode: &'static str, ratio: f64, end: End) -> Tried {
        let mut run = Outcome::new(&plan());
        for i in 0..16 {
            run.pairs.push(Nanos((1e6 * ratio) as u64 + i), Nanos(1_000_000));
        }
        let calls = |ns: f64| Calls(vec![ns as u64; 16]);
        let data = || Part { data: calls(1e6), ..Part::default() };
        let and = |zeroes| Part { zeroes, ..data() };
        let (w, z) = (and(calls(1e6 * ratio)), and(calls(1e6)));
        run.sustained = Some(Sustained { bytes: 1, d1: data(), w, d2: data(), z, r: data() });
        run.end = end;
        Tried { mode, outcome: Ok(run) }
    }

    #[test]
    fn the_kernels_mode_stays_unless_another_is_surely_faster() {
        let own = Some("writesame_16_unmap");
        let of = |ratios: [f64; 2]| {
            let a = tried("writesame_16_unmap", ratios[0], End::Complete);
            best(&[a, tried("writesame", ratios[1], End::Complete)], own)
        };
        assert_eq!(of([1.0, 5.0]), Some(1));
        assert_eq!(of([5.0, 1.0]), Some(0));
        assert_eq!(of([5.0, 5.0]), Some(0), "a tie is the kernel's");
        let mut unset = tried("writesame_16_unmap", 9.0, End::Complete);
        unset.outcome = Err("EACCES".to_owned());
        assert_eq!(best(&[unset, tried("writesame", 1.0, End::Complete)], own), Some(1));
        let failed = tried("writesame", 9.0, End::NotSupported);
        assert_eq!(best(&[tried("writesame_16_unmap", 1.0, End::Complete), failed], own), Some(0));
        assert_eq!(best(&[tried("writesame", 9.0, End::NotSupported)], own), None);
    }

    #[test]
    fn a_run_of_a_mode_gives_its_class() {
        let text = "old data".to_owned();
        let wrong = crate::measure::outcome::Wrong {
            hazard: crate::terms::Hazard::OldDataLeft,
            method: order::DECIDING,
            text: text.clone(),
            seen: None,
        };
        let result = tried("writesame", 9.0, End::Wrong(wrong)).result(2.0);
        assert_eq!((result.class, result.error), (Some(Class::Broken), Some(text)));
        assert_eq!(tried("writesame", 9.0, End::Complete).result(2.0).class, Some(Class::Fast));
        assert_eq!(tried("writesame", 1.0, End::Complete).result(2.0).class, Some(Class::Slow));
    }
}
