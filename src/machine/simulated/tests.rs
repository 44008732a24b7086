use super::*;
use crate::machine::port::pattern;
use crate::units::MIB;

fn range(bytes: u64) -> ScratchRange {
    ScratchRange {
        node: "simulated".to_owned(),
        devnum: (0, 0),
        diskseq: None,
        start: 0,
        length: bytes,
        logical_block: 512,
        physical_block: 512,
        node_offset: 0,
    }
}

fn port(zeroing: Zeroing, bytes: u64) -> SimulatedPort {
    let mut content = vec![0u8; bytes as usize];
    pattern::fill(&mut content, 1, 1, 0);
    SimulatedPort::new(Model { zeroing, ..Model::steady(8_000_000, 1_000_000) }, content, 1)
}

fn zero_and_look(zeroing: Zeroing, bytes: u64) -> Done {
    let mut port = port(zeroing, bytes);
    let (offset, length) = (0, bytes);
    let zero = Act::Zero { method: Method::PunchHole, offset, length };
    assert_eq!(port.act(&range(bytes), &zero).value, Ok(Done::Ok));
    port.act(&range(bytes), &Act::Verify { offset, length, fill: Fill::Zeroes }).value.unwrap()
}

#[test]
fn each_lie_of_a_simulated_device_is_at_its_place() {
    assert_eq!(zero_and_look(Zeroing::Real, MIB), Done::Ok);
    assert_eq!(zero_and_look(Zeroing::Lie, MIB), Done::Mismatch(0));
    assert_eq!(zero_and_look(Zeroing::Ones, MIB), Done::Mismatch(0));
    assert_eq!(zero_and_look(Zeroing::LieInLastBlock, MIB), Done::Mismatch(MIB - 512));
    // The length field of an NVMe command holds 65536 blocks: 32 MiB of 512 bytes.
    assert_eq!(zero_and_look(Zeroing::LieBeyond(65_536), 33 * MIB), Done::Mismatch(32 * MIB));
    assert_eq!(zero_and_look(Zeroing::LieBeyond(65_536), 32 * MIB), Done::Ok);
}

#[test]
fn old_data_is_read_for_a_while() {
    let mut port = port(Zeroing::Stale(2), 4096);
    let (offset, length) = (1024, 1024);
    let verify = Act::Verify { offset, length, fill: Fill::Zeroes };
    port.act(&range(4096), &Act::Zero { method: Method::PunchHole, offset, length }).value.unwrap();
    for expected in [Done::Mismatch(1024), Done::Mismatch(1024), Done::Ok] {
        assert_eq!(port.act(&range(4096), &verify).value, Ok(expected));
    }
}

#[test]
fn a_cut_leaves_each_unit_old_or_new_and_nothing_answers_after_it() {
    let (mut partly, mut unordered) = (0, 0);
    for seed in 0..100 {
        let mut port = port(Zeroing::Real, 16 * 512);
        port.cut = Some(Cut { at: 1, seed });
        let before = port.content.clone();
        let write = Act::Write { offset: 512, length: 14 * 512, fill: Fill::Pattern { seed: 1, trial: 2 } };
        assert!(port.act(&range(16 * 512), &write).value.is_err());
        assert!(port.is_off() && port.act(&range(16 * 512), &Act::Open).value.is_err());
        let mut new = before.clone();
        pattern::fill(&mut new[512..15 * 512], 1, 2, 512);
        let units: Vec<bool> = (0..16)
            .map(|i| {
                let unit = i * 512..(i + 1) * 512;
                let (was, is) =
                    (port.content[unit.clone()] == before[unit.clone()], port.content[unit.clone()] == new[unit]);
                assert!(was || is);
                is && !was
            })
            .collect();
        partly += i32::from(units[1..15].iter().any(|n| *n) && !units[1..15].iter().all(|n| *n));
        unordered += i32::from(units[1..15].windows(2).any(|w| !w[0] && w[1]));
        port.power_on();
        assert_eq!(port.act(&range(16 * 512), &Act::Open).value, Ok(Done::Ok));
    }
    assert!(partly > 30 && unordered > 10, "{partly} torn, {unordered} out of order");
}

#[test]
fn simulated_costs_are_those_of_the_model() {
    let model = Model { call_ns: 0, ..Model::steady(8_000_000, 1_000_000) };
    let ns = |writing, zeroes, unmapped| Costs::new(Model { writing, ..model }, 1).write(MIB, zeroes, unmapped).0;
    assert_eq!(ns(Writing::Plain, true, MIB), 8_000_000);
    assert_eq!(ns(Writing::ZeroesCheap(4), true, 0), 2_000_000);
    assert_eq!(ns(Writing::ZeroesCheap(4), false, 0), 8_000_000);
    assert_eq!(ns(Writing::FirstTouch(1_000_000), false, MIB / 2), 8_500_000);
    let zero = |pricing, bytes| Costs::new(Model { pricing, ..model }, 1).zero(Method::PunchHole, bytes).0;
    assert_eq!(zero(Pricing::Above(MIB, 5_000_000), MIB), 1_000_000);
    assert_eq!(zero(Pricing::Above(MIB, 5_000_000), 2 * MIB), 10_000_000);
    assert_eq!(zero(Pricing::UpTo(MIB, 5_000_000), MIB), 5_000_000);
    let mut cached =
        Costs::new(Model { writing: Writing::Cache { bytes: 2 * MIB, gain: 8, idle_ns: 1_000 }, ..model }, 1);
    let times: Vec<u64> = (0..3).map(|_| cached.write(MIB, false, 0).0).collect();
    assert_eq!(times, [1_000_000, 1_000_000, 8_000_000]);
    cached.pause(Nanos(1_000));
    assert_eq!(cached.write(MIB, false, 0).0, 1_000_000, "empty again after a pause");
}

#[test]
fn thin_blocks_are_allocated_by_a_write_and_freed_by_zeroing() {
    let mut content = vec![0u8; 4096];
    pattern::fill(&mut content[..1024], 1, 1, 0);
    let thin = Model { writing: Writing::FirstTouch(1), ..Model::steady(2, 1) };
    let mut port = SimulatedPort::new(thin, content, 1);
    assert_eq!(port.mapped(0, 2048), [true, true, false, false]);
    let write = Act::Write { offset: 1536, length: 512, fill: Fill::Zeroes };
    port.act(&range(4096), &write).value.unwrap();
    port.act(&range(4096), &Act::Zero { method: Method::PunchHole, offset: 0, length: 512 }).value.unwrap();
    assert_eq!(port.mapped(0, 2048), [false, true, false, true]);
}
