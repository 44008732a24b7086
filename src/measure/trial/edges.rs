//! Spans with uneven ends inside a segment: the range that was asked for is zero, and nothing else. A device that zeroes only
//! whole granules, and reports success for the rest, passes every test of whole granules.

use super::acts::Content;
use super::Run;
use crate::measure::trial::Watch;
use verdict_format::samples::Edge;

impl Run<'_> {
    /// Zeroes an odd number of units from an odd one on, and the same with one block more and one less at each end.
    pub(super) fn edges(&mut self, watch: &mut dyn Watch) -> Option<()> {
        let (unit, block) = (self.plan.unit, self.plan.block);
        let (segment, length) = (self.offset(1), self.out.segment);
        for (offset, length) in ragged(unit, block, length) {
            if self.spent(watch).is_some() {
                return Some(());
            }
            let (offset, tried) = (segment + offset, self.out.trace.edges.len());
            let edge =
                Edge { offset_bytes: offset - segment, length_bytes: length, zero_nanoseconds: None, held: false };
            self.out.trace.edges.push(edge);
            let answer = self.zero(self.plan.deciding, offset, length)?;
            let took = self.or_end(offset, length, answer)?;
            self.out.trace.edges[tried].zero_nanoseconds = Some(took.0);
            // All around it, too, which still holds data.
            self.check(segment, self.out.segment)?;
            self.out.trace.edges[tried].held = true;
            self.write(offset, length, Content::Data)?;
            self.out.edges = true;
        }
        Some(())
    }
}

/// The spans inside a segment of so many bytes; none where it is too short for them.
fn ragged(unit: u64, block: u64, segment: u64) -> Vec<(u64, u64)> {
    let (first, three) = (unit + block, 3 * unit);
    let spans = [(first, three), (first - block, three + 2 * block), (first + block, three - 2 * block)];
    let fits = |(offset, length): &(u64, u64)| *length > 0 && offset + length + block <= segment;
    spans.into_iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_is_tried_one_block_longer_and_one_block_shorter() {
        assert_eq!(ragged(65536, 512, 1 << 20), [(66048, 196_608), (65536, 197_632), (66560, 195_584)]);
        assert_eq!(ragged(4096, 4096, 1 << 20), [(8192, 12288), (4096, 20480), (12288, 4096)]);
        assert_eq!(ragged(512, 512, 1024), []);
        for (unit, block, segment) in [(512u64, 512u64, 4096u64), (4096, 512, 32768), (3 << 20, 512, 16 << 20)] {
            for (offset, length) in ragged(unit, block, segment) {
                assert!(offset % block == 0 && length % block == 0 && offset >= block && offset + length < segment);
            }
        }
    }
}
