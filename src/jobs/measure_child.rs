//! One of many tests: a copy of this program that `measure --all` tells what to test. It runs the same job as `measure`, and
//! prints its progress and its result as lines of JSON. It chooses nothing.
//!
//! It is a process of its own because a test depends on things that a process has only once: the signals that end it, the
//! lock of the disk, and the child that acts and may hang.

use crate::error::{Error, Result};
use crate::jobs::measure::{self, Answer, Listener, Pair, Progress, Request};
use crate::machine::{guarded, helper, Roots};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use verdict_format::Document;

/// The hidden first argument that makes this program such a copy.
pub const VERB: &str = "measure-child";

/// What is to be tested.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// `--state DIR`.
    pub(super) state: PathBuf,
    /// The request.
    pub(super) request: Request,
}

/// What is said of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    /// A remark.
    Remark(String),
    /// A part of the test begins.
    Step(String),
    /// A pair is done.
    Pair(Pair),
    /// So many seconds more, at most.
    AtMost(f64),
    /// From now on a call may take so long.
    Deadline(Nanos),
    /// The end: the verdict.
    Verdict(Box<Document>),
    /// The end of a dry run: proof and plan.
    Planned(Vec<String>),
    /// The end: there is no place for a test.
    NoPlace(String),
    /// The end: what went wrong.
    Failed(String),
}

impl Word {
    fn say(&self) {
        // Numbers and texts: they can be written as JSON.
        if let Ok(line) = serde_json::to_string(self) {
            helper::say(&line);
        }
    }
}

struct Teller;

impl Listener for Teller {
    fn remark(&mut self, text: &str) {
        Word::Remark(text.to_owned()).say();
    }

    fn step(&mut self, text: &str) {
        Word::Step(text.to_owned()).say();
    }

    fn pair(&mut self, pair: &Pair) {
        Word::Pair(*pair).say();
    }

    fn progress(&mut self, progress: &Progress) {
        Word::AtMost(progress.at_most.as_secs_f64()).say();
    }

    fn deadline(&mut self, deadline: Nanos) {
        Word::Deadline(deadline).say();
    }
}

/// The whole life of such a copy.
pub fn serve() {
    let ended = match tested() {
        Ok(Answer::Verdict(document)) => Word::Verdict(document),
        Ok(Answer::Planned(lines)) => Word::Planned(lines),
        Err(Error::NoPlace { why, .. }) => Word::NoPlace(why),
        Err(e) => Word::Failed(e.to_string()),
    };
    ended.say();
}

fn tested() -> Result<Answer> {
    let input = |e: std::io::Error| Error::file("standard input", "read", e);
    let order: Order = serde_json::from_slice(&helper::order().map_err(input)?).map_err(|e| input(e.into()))?;
    let roots = guarded(Roots::new(None, Some(&order.state))?);
    measure::run(&roots, &order.request, &mut Teller)
}
