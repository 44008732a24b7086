//! How many devices on how many machines must be tested, and how clear of the threshold they must be, until an entry for their model is right: until at most one device in a
//! thousand that it is about is not what it says. The least such numbers are the defaults of `zerocap fleet summarize --hwdb`.
//!
//! Models by chance, 200 000 of them (seeded), each with a true share of devices of another class than the others. What makes the
//! shares is assumed, and said in `Population`; what a test says of a device that lies is not: the liars of the zoo are tested by
//! the real test. `cargo test --test fleet_simulation -- --nocapture` shows the tables, which fleet/README.md has too.

#![allow(clippy::unwrap_used)] // A test may panic.

mod sim;

use zerocap::jobs::fleet::FLEET;
use zerocap::machine::simulated::zoo::zoo;
use zerocap::machine::simulated::Random;
use zerocap::protocol::result;
use zerocap::terms::Class;
use zerocap::units::KIB;

/// Devices, and machines, that are tried.
const DEVICES: [u64; 9] = [3, 4, 6, 8, 10, 12, 16, 24, 48];
const MACHINES: [u64; 9] = DEVICES;
/// What an entry may be wrong by.
const WRONG: f64 = 1e-3;
const MODELS: u64 = 200_000;
/// The same where the tables are not made: `make check` is to be quick.
const FEWER: u64 = 40_000;
/// The threshold of `fast`.
const FAST: f64 = 2.0;

/// What is assumed of the models that there are.
#[derive(Debug, Clone, Copy)]
struct Population {
    /// Models of which one name and revision stand for two builds, a share of the machines each: the second is as fast as any model
    /// may be. A machine was bought at once: all of its devices are of one build.
    two_builds: f64,
    /// Models some units of which lie, as the zoo does; in half of these all units of a machine, in half any unit.
    liars: f64,
    /// Models that are slow in some machines (a host adapter, an expander), whatever they are elsewhere.
    odd_machines: f64,
}

const ASSUMED: Population = Population { two_builds: 0.1, liars: 0.05, odd_machines: 0.05 };
/// How units of one build differ: the deviation of the logarithm of their ratios.
const SPREADS: [f64; 3] = [0.05, 0.15, 0.3];

/// A model by chance: where its units stand, and which share of machines or units is of another kind.
struct Model {
    builds: [f64; 2],
    spread: f64,
    second: f64,
    lying_machines: f64,
    lying_units: f64,
    slow_machines: f64,
}

impl Model {
    fn draw(population: Population, random: &mut Random) -> Model {
        // A ratio from a quarter to 64, each power of two as likely as the others.
        let ratio = |random: &mut Random| (random.unit() * 8.0 - 2.0).exp2();
        let share = |random: &mut Random, of: f64| if random.unit() <= of { random.unit() } else { 0.0 };
        let builds = [ratio(random), ratio(random)];
        let spread = SPREADS[random.below(3) as usize];
        let (second, liars) = (share(random, population.two_builds), share(random, population.liars));
        let (lying_machines, lying_units) = if random.below(2) == 0 { (liars, 0.0) } else { (0.0, liars) };
        Model {
            builds,
            spread,
            second,
            lying_machines,
            lying_units,
            slow_machines: share(random, population.odd_machines),
        }
    }

    /// A machine by chance: build, whether its units lie, whether it is an odd one.
    fn machine(&self, random: &mut Random) -> (f64, bool, bool) {
        let build = self.builds[usize::from(random.unit() <= self.second)];
        (build, random.unit() <= self.lying_machines, random.unit() <= self.slow_machines)
    }

    /// A unit in it by chance: its true class.
    fn unit(&self, (build, lies, odd): (f64, bool, bool), random: &mut Random) -> (Class, f64) {
        let ratio = if odd { 1.0 } else { build } * (self.spread * random.normal()).exp();
        match (lies || random.unit() <= self.lying_units, ratio >= FAST) {
            (true, _) => (Class::Broken, ratio),
            (false, true) => (Class::Fast, ratio),
            (false, false) => (Class::Slow, ratio),
        }
    }

    /// Which share of all its units is of the class.
    fn share_of(&self, class: Class) -> f64 {
        let honest = (1.0 - self.lying_machines) * (1.0 - self.lying_units);
        let fast = |ratio: f64| normal_below((ratio / FAST).ln() / self.spread);
        let [first, second] = self.builds.map(fast);
        let here = first * (1.0 - self.second) + second * self.second;
        let fast = here * (1.0 - self.slow_machines) + fast(1.0) * self.slow_machines;
        honest * if class == Class::Fast { fast } else { 1.0 - fast }
    }
}

/// The share of the normal distribution below `x` (Abramowitz and Stegun 26.2.17, to 1e-7).
fn normal_below(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial =
        t * (0.319_381_530 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if x > 0.0 {
        1.0 - tail
    } else {
        tail
    }
}

/// How often the real test finds a liar of the zoo out; else it says what the honest ones do.
fn found_out() -> f64 {
    let liars: Vec<_> = zoo(128 * KIB).into_iter().filter(|s| s.class == Class::Broken).collect();
    assert!(liars.len() >= 5);
    let (mut found, mut all) = (0, 0);
    for liar in &liars {
        for seed in 0..4 {
            let (_, _, kept) = sim::measured(liar.model, seed, 128 * KIB);
            let class = kept.map(|(outcome, _)| result::of_run(&sim::facts(), &sim::conditions(), &outcome).class);
            found += u64::from(class == Some(Class::Broken));
            all += 1;
        }
    }
    found as f64 / all as f64
}

/// What a test says of a unit: a liar is found out or passes for honest; close to the threshold the interval holds it, and the class
/// is unknown; one test in a thousand is wrong (`stats::ALPHA`).
fn tested((class, ratio): (Class, f64), found_out: f64, random: &mut Random) -> Class {
    if class == Class::Broken && random.unit() <= found_out {
        return Class::Broken;
    }
    let wrong = random.unit() <= zerocap::measure::stats::ALPHA;
    match (ratio / FAST).ln() {
        near if near.abs() < 0.1 => Class::Unknown,
        far if (far > 0.0) != wrong => Class::Fast,
        _ => Class::Slow,
    }
}

/// Of devices about which there is an entry, which share is not what it says; and of how many models there is one.
fn entries(
    models: u64,
    (devices, machines): (u64, u64),
    margin: f64,
    population: Population,
    found_out: f64,
) -> (f64, f64) {
    let mut random = Random::new(devices * 1000 + machines);
    let (mut wrong, mut issued) = (0.0, 0u64);
    for _ in 0..models {
        let model = Model::draw(population, &mut random);
        let mut agreed = None;
        let (mut differ, mut least, mut most) = (false, f64::MAX, 0.0f64);
        for machine in 0..machines {
            let machine_is = model.machine(&mut random);
            // As evenly as can be.
            let here = devices / machines + u64::from(machine < devices % machines);
            for _ in 0..here {
                // What a test leaves open is tested elsewhere: the numbers are of devices that have a class.
                let unit = (0..20)
                    .map(|_| {
                        let unit = model.unit(machine_is, &mut random);
                        (tested(unit, found_out, &mut random), unit.1)
                    })
                    .find(|(class, _)| *class != Class::Unknown);
                let Some((class, ratio)) = unit else {
                    differ = true;
                    break;
                };
                (least, most) = (least.min(ratio), most.max(ratio));
                differ |= class == Class::Broken || *agreed.get_or_insert(class) != class;
            }
            if differ {
                break;
            }
        }
        let clear = |class| if class == Class::Fast { least >= FAST * margin } else { most <= FAST / margin };
        if let Some(class) = agreed.filter(|class| !differ && clear(*class)) {
            issued += 1;
            wrong += 1.0 - model.share_of(class);
        }
    }
    (wrong / issued as f64, issued as f64 / models as f64)
}

fn table(margin: f64, population: Population, found_out: f64) -> Vec<(u64, u64, f64, f64)> {
    let mut cells = Vec::new();
    println!("margin {margin}, {population:?}; wrong devices in 1000, by devices (down) and machines (across); models with an entry in the last column");
    println!("devices {}", MACHINES.map(|m| format!("{m:>6}")).concat());
    for devices in DEVICES {
        let row: Vec<_> = MACHINES
            .iter()
            .filter(|m| **m <= devices)
            .map(|m| (*m, entries(MODELS, (devices, *m), margin, population, found_out)))
            .collect();
        let shown: String = row.iter().map(|(_, (wrong, _))| format!("{:>6.2}", wrong * 1e3)).collect();
        println!("{devices:>7} {shown}   {:.0} %", row[row.len() - 1].1 .1 * 1e2);
        cells.extend(row.into_iter().map(|(m, (wrong, issued))| (devices, m, wrong, issued)));
    }
    cells
}

#[test]
#[ignore = "the long ring: tables of 200 000 models a cell"]
fn the_defaults_are_the_least_numbers_that_make_an_entry_right() {
    let found_out = found_out();
    println!("the real test finds {:.1} % of the zoo's liars out", found_out * 100.0);
    for margin in [1.0, 1.25, 2.0] {
        table(margin, ASSUMED, found_out);
    }
    let cells = table(FLEET.margin, ASSUMED, found_out);
    let least = cells.iter().find(|(.., wrong, _)| *wrong <= WRONG).expect("some numbers are enough");
    println!("least: {} devices on {} machines: {:.2} wrong in 1000", least.0, least.1, least.2 * 1e3);
    assert_eq!((FLEET.devices, FLEET.machines), (least.0, least.1));
    // One machine is never enough, however many devices it has.
    assert!(cells.iter().filter(|c| c.1 <= 10).all(|c| c.2 > WRONG), "{cells:?}");
    // More evidence of either kind is never worse, but for chance.
    let of = |d, m| cells.iter().find(|c| (c.0, c.1) == (d, m)).unwrap().2;
    assert!(of(48, 48) < of(12, 12) && of(12, 12) < of(3, 3) && of(48, 12) < of(12, 3));
}

#[test]
fn the_defaults_are_enough_and_the_next_smaller_ones_are_not() {
    let found_out = found_out();
    assert!(found_out > 0.99, "the real test finds the zoo's liars out: {found_out}");
    let wrong = |numbers, margin, population| entries(FEWER, numbers, margin, population, found_out).0;
    let is = wrong((FLEET.devices, FLEET.machines), FLEET.margin, ASSUMED);
    assert!(is <= WRONG, "{is}");
    for (numbers, margin) in [((12, 12), FLEET.margin), ((16, 12), FLEET.margin), ((16, 16), 1.0)] {
        let fewer = wrong(numbers, margin, ASSUMED);
        println!("{numbers:?}, margin {margin}: {:.2} wrong in 1000, by the defaults {:.2}", fewer * 1e3, is * 1e3);
        assert!(fewer > WRONG, "{numbers:?} {margin}: {fewer}");
    }
    let twice = Population { two_builds: 0.2, liars: 0.1, odd_machines: 0.1 };
    let odd = wrong((FLEET.devices, FLEET.machines), FLEET.margin, twice);
    println!("of a population twice as odd {:.2}", odd * 1e3);
    assert!(odd > is && odd < 5.0 * is, "{odd} {is}");
}
