//! Puts journalled content back, block by block, and refuses where anybody else has written.
//!
//! A unit of 512 bytes that holds its journalled content stays; one that holds this run's pattern or zeroes is put back;
//! any other one means that somebody wrote there since: nothing is put back and the journal stays. The whole range is
//! looked at before the first write. The range comes from `scratch`, with its own proof.

use crate::error::Error;
use crate::machine::port::pattern::{self, UNIT};
use crate::machine::port::{Act, ActError, Done, Fill, Port, ScratchRange};
use crate::measure::journal::{Header, Journal};
use crate::terms::Method;

/// Bytes looked at in one read.
const CHUNK: u64 = 1 << 20;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The journalled content is there, checked by reading; so many bytes were written for it.
    Back(u64),
    /// A block that is neither journalled, nor ours, nor zero.
    Foreign {
        /// Its byte offset on the node.
        offset: u64,
        /// So many bytes from there read 0xff throughout: some devices read that after zeroing, and nobody can tell that
        /// from what somebody wrote.
        ones: u64,
    },
}

/// Why it could not be done; the journal must be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The operation.
    pub operation: String,
    /// What came back.
    pub error: ActError,
}

/// Whether foreign blocks are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The range was held exclusively since the journal was written: whatever is there is the test's doing.
    Held,
    /// Somebody may have written since.
    Nobody,
}

/// Puts the content back. `range` must be open on the port.
pub fn put_back(
    port: &mut dyn Port,
    range: &ScratchRange,
    journal: &Journal<'_>,
    trust: Trust,
) -> Result<Outcome, Failed> {
    let mut todo: Vec<Todo> = Vec::new();
    let block = range.logical_block.max(UNIT as u64);
    for Chunk { start, from, length } in chunks(&journal.header) {
        let old = content(journal, from, length)?;
        // Nothing is joined across chunks: each lies in one journalled span.
        let first = todo.len();
        let now = read(port, range, start, length)?;
        for (i, (have, want)) in now.chunks(UNIT).zip(old.chunks(UNIT)).enumerate() {
            let offset = start + (i * UNIT) as u64;
            if have == want {
                continue;
            }
            let ours =
                have.iter().all(|b| *b == 0) || pattern::is_ours(have, journal.header.seed, range.node_offset + offset);
            if !ours && trust == Trust::Nobody {
                return Ok(Outcome::Foreign { offset, ones: ones(port, range, journal, offset)? });
            }
            let at = offset / block * block;
            let within = at.saturating_sub(start) as usize;
            let zeroes = journal.header.thin
                && old.get(within..within + block as usize).is_some_and(|b| b.iter().all(|b| *b == 0));
            push_block(&mut todo, first, Todo { offset: at, length: block, zeroes });
        }
    }
    let mut written = 0;
    for todo in todo {
        written += todo.length;
        restore(port, range, journal, &todo)?;
    }
    for Chunk { start, from, length } in chunks(&journal.header) {
        if read(port, range, start, length)? != content(journal, from, length)? {
            let operation = format!("read back what was put back at byte {start}");
            return Err(Failed { operation, error: ActError::NotAllowed("it differs from the journal".to_owned()) });
        }
    }
    Ok(Outcome::Back(written))
}

/// How many bytes of a journalled span, in whole units from `offset` on, read 0xff throughout.
fn ones(port: &mut dyn Port, range: &ScratchRange, journal: &Journal<'_>, offset: u64) -> Result<u64, Failed> {
    let mut end = offset;
    for Chunk { start, length, .. } in chunks(&journal.header).filter(|c| c.start + c.length > offset) {
        if start > end {
            break;
        }
        let now = read(port, range, start, length)?;
        let skipped = end - start;
        let units = now[skipped as usize..].chunks(UNIT).take_while(|unit| unit.iter().all(|b| *b == 0xff)).count();
        end += (units * UNIT) as u64;
        if end < start + length {
            break;
        }
    }
    Ok(end - offset)
}

/// A piece of a journalled span.
struct Chunk {
    /// Its place on the node.
    start: u64,
    /// Its place in the journalled content.
    from: u64,
    /// Its bytes, at most [`CHUNK`].
    length: u64,
}

/// The journalled spans in pieces.
fn chunks(header: &Header) -> impl Iterator<Item = Chunk> + '_ {
    let mut from = 0;
    header.spans.iter().flat_map(move |(start, span)| {
        let (start, span, before) = (*start, *span, from);
        from += span;
        (0..span.div_ceil(CHUNK)).map(move |n| {
            let at = n * CHUNK;
            Chunk { start: start + at, from: before + at, length: CHUNK.min(span - at) }
        })
    })
}

fn content(journal: &Journal<'_>, from: u64, length: u64) -> Result<Vec<u8>, Failed> {
    let failed =
        |e: Error| Failed { operation: "read the journal".to_owned(), error: ActError::NotAllowed(e.to_string()) };
    journal.piece(from, length).map_err(failed)
}

/// What is to be put back by one call.
struct Todo {
    offset: u64,
    length: u64,
    /// To be punched, not written: zeroes of a device that provisions thinly.
    zeroes: bool,
}

/// Adds a block to a sorted list; joined only with what came after `first` and is put back the same way.
fn push_block(todo: &mut Vec<Todo>, first: usize, block: Todo) {
    match todo.get_mut(first..).and_then(<[Todo]>::last_mut) {
        Some(last) if block.offset < last.offset + last.length => {}
        Some(last) if block.offset == last.offset + last.length && block.zeroes == last.zeroes => {
            last.length += block.length;
        }
        _ => todo.push(block),
    }
}

fn read(port: &mut dyn Port, range: &ScratchRange, offset: u64, length: u64) -> Result<Vec<u8>, Failed> {
    match port.act(range, &Act::Read { offset, length }).value {
        Ok(Done::Bytes(bytes)) if bytes.len() as u64 == length => Ok(bytes),
        Ok(_) => Err(failed("read", offset, ActError::NotAllowed("no bytes came".to_owned()))),
        Err(e) => Err(failed("read", offset, e)),
    }
}

fn failed(what: &str, offset: u64, error: ActError) -> Failed {
    Failed { operation: format!("{what} at byte {offset}"), error }
}

/// Puts one span back. Where the device provisions thinly, zeroes are put back by a punch that is checked by reading, so
/// that they do not stay mapped; a device that does not punch gets them written.
fn restore(port: &mut dyn Port, range: &ScratchRange, journal: &Journal<'_>, todo: &Todo) -> Result<(), Failed> {
    let (offset, length) = (todo.offset, todo.length);
    let chunk = chunks(&journal.header).find(|c| c.start <= offset && offset + length <= c.start + c.length);
    let Some(chunk) = chunk else {
        let why = ActError::NotAllowed("it is not journalled".to_owned());
        return Err(failed("find the journalled content of", offset, why));
    };
    let bytes = content(journal, chunk.from + (offset - chunk.start), length)?;
    if todo.zeroes {
        let punched = port.act(range, &Act::Zero { method: Method::PunchHole, offset, length }).value.is_ok();
        let check = Act::Verify { offset, length, fill: Fill::Zeroes };
        if punched && matches!(port.act(range, &check).value, Ok(Done::Ok)) {
            return Ok(());
        }
    }
    match port.act(range, &Act::PutBack { offset, bytes }).value {
        Ok(_) => Ok(()),
        Err(e) => Err(failed("write back", offset, e)),
    }
}
