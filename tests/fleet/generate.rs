//! A fleet that never was: lines as `show --jsonl --fleet` prints them, made through the types of the format, of machines with
//! models that agree with themselves and models that do not, each for a reason that is known; and damaged lines among them.

use std::io::{self, Write};
use verdict_format::fleet::{FleetLine, HwdbName};
use verdict_format::{
    Basis, Claim, Class, Code, Device, Document, Finding, FindingCode, Hints, Initial, Kind, Measured, Method,
    MethodResult, Severity, Speedup, Sustained, Tunable, FORMAT,
};
use zerocap::machine::simulated::Random;

/// Devices a machine.
pub const DEVICES: u64 = 24;

/// What the devices of a model differ in where their classes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// They do not differ.
    Nothing,
    Firmware,
    Transport,
    Kernel,
    Machine,
    Busy,
    Unit,
}

/// A model: number, kind, whether it zeroes fast as a rule, and what its devices differ in.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    pub number: u64,
    pub kind: &'static str,
    pub fast: bool,
    pub why: Why,
}

/// The models of the fleet, each with its reason.
pub fn models() -> Vec<Model> {
    let whys = [Why::Nothing, Why::Firmware, Why::Transport, Why::Kernel, Why::Machine, Why::Busy, Why::Unit];
    let kinds = ["nvme", "scsi", "nvme", "scsi", "mmc", "virtio"];
    let of = |number: u64| Model {
        number,
        kind: kinds[(number % 6) as usize],
        fast: number % 5 != 3,
        // Every third model has a reason to differ.
        why: if number % 3 == 0 { whys[(number / 3 % 7) as usize] } else { Why::Nothing },
    };
    (0..63).map(of).collect()
}

/// How the fleet is made.
#[derive(Debug, Clone, Copy)]
pub struct Fleet {
    pub documents: u64,
    /// How many lines in a thousand are damaged, as many more are put between.
    pub damaged: u64,
    pub seed: u64,
}

/// Writes the lines; how many damaged ones are among them.
pub fn write(out: &mut impl Write, fleet: Fleet) -> io::Result<u64> {
    let (models, mut random, mut damaged) = (models(), Random::new(fleet.seed), 0);
    let mut text = Vec::new();
    for n in 0..fleet.documents {
        // A device in ten is told of twice, by an older line that comes later.
        let (device, older) = if n % 11 == 10 { (n - 7, true) } else { (n, false) };
        let line = line(&models, fleet.seed, device, older);
        text.clear();
        serde_json::to_writer(&mut text, &line)?;
        if random.below(1000) < fleet.damaged {
            damage(&mut text, &mut random);
            damaged += 1;
            out.write_all(&text)?;
            out.write_all(b"\n")?;
            text.clear();
            serde_json::to_writer(&mut text, &line)?;
        }
        text.push(b'\n');
        out.write_all(&text)?;
    }
    Ok(damaged)
}

/// What disks, networks and people do to lines. Each makes the line no document, and leaves it one line of UTF-8.
fn damage(line: &mut Vec<u8>, random: &mut Random) {
    let text = String::from_utf8_lossy(line).into_owned();
    let replaced = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        text.replacen(from, to, 1).into_bytes()
    };
    *line = match random.below(9) {
        0 => text.as_bytes()[..text.len() / 2].to_vec(),
        1 => b"zerocap: /dev/sda: open: Permission denied".to_vec(),
        2 => Vec::new(),
        3 => replaced("\"format\":1", "\"format\":2"),
        4 => replaced("\"type\":\"verdict\"", "\"type\":\"path\""),
        5 => replaced("\"collected\":\"20", "\"collected\":\"at 20"),
        6 => replaced("\"collected\":", "\"made\":"),
        7 => replaced("\"class\":", "\"klass\":"),
        _ => replaced("{\"machine\"", "{{\"machine\""),
    };
}

/// Whether something happens that does so often.
fn chance(random: &mut Random, probability: f64) -> bool {
    random.unit() <= probability
}

fn log_normal(random: &mut Random, sigma: f64) -> f64 {
    (sigma * random.normal()).exp()
}

fn utc(seconds: u64) -> String {
    zerocap::units::utc(seconds)
}

/// One line of one device; of an older one the class may be another.
pub fn line(models: &[Model], seed: u64, device: u64, older: bool) -> FleetLine {
    let machine = device / DEVICES;
    let mut of_machine = Random::new(seed ^ machine.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let mut random = Random::new(seed ^ device.wrapping_mul(0xd134_2543_de82_ef95) ^ u64::from(older));
    // A machine has disks of three models.
    let choice = [of_machine.next_u64(), of_machine.next_u64(), of_machine.next_u64()]
        .map(|n| models[(n % models.len() as u64) as usize]);
    let kernel = ["5.15.0-91-generic", "6.1.0-13-amd64", "6.17.3", "7.3.4+deb13-amd64"][of_machine.below(4) as usize];
    let old_kernel = kernel.starts_with('5');
    let odd_machine = chance(&mut of_machine, 0.2);
    let day = 20_000 + of_machine.below(40);
    let model = choice[(device % 3) as usize];
    let firmware = 1 + random.below(3);
    let transports: &[&str] = if model.kind == "nvme" { &["pcie"] } else { &["sas", "sata"] };
    let transport = transports[random.below(transports.len() as u64) as usize];
    let busy = chance(&mut random, 0.15);
    let odd = match model.why {
        Why::Nothing => false,
        Why::Firmware => firmware == 2,
        Why::Transport => transport == "sata",
        Why::Kernel => old_kernel,
        Why::Machine => odd_machine,
        Why::Busy => busy,
        Why::Unit => chance(&mut random, 0.3),
    };
    let class = match (random.below(100), model.fast != odd) {
        (0..=34, _) => Class::Unknown,
        (35, _) if model.why == Why::Unit => Class::Broken,
        (36..=37, _) => Class::None,
        (_, true) => Class::Fast,
        _ => Class::Slow,
    };
    let class = if older && chance(&mut random, 0.5) { Class::Unknown } else { class };
    let measured = matches!(class, Class::Fast | Class::Slow | Class::Broken);
    let write = ((50.0 + model.number as f64) * 1e7 * log_normal(&mut random, 0.15)) as u64;
    let ratio = match class {
        Class::Fast => (8.0 + model.number as f64 / 3.0) * log_normal(&mut random, 0.2),
        _ => log_normal(&mut random, 0.05),
    };
    let path = match (model.kind, old_kernel) {
        ("nvme", true) => "write-zeroes",
        ("nvme", false) => "write-zeroes+deac",
        ("scsi", _) => "write-same-16-unmap",
        _ => "discard",
    };
    let mut findings = Vec::new();
    let mut find = |code, severity, text: &str| {
        findings.push(Finding { code: Code::Known(code), severity, text: text.to_owned() })
    };
    if busy && measured {
        find(FindingCode::OtherIo, Severity::Notice, "the device served \"others\" meanwhile: 1234 MiB");
    }
    if chance(&mut random, 0.05) {
        find(FindingCode::MeasurementStale, Severity::Warning, "firmware: 1 -> 2");
    }
    if class == Class::Fast && chance(&mut random, 0.25) {
        find(FindingCode::KnobOff, Severity::Notice, "the kernel's knob is off");
    }
    let named = model.kind != "virtio";
    let at = (day - u64::from(older) * 35) * 86_400 + device % 86_400;
    let claims = ["write_zeroes_max_bytes", "write_zeroes_unmap_max_hw_bytes", "write_zeroes_unmap_max_bytes"];
    FleetLine {
        machine: (machine % 97 != 96).then(|| format!("{:032x}", Random::new(seed ^ machine).next_u64())),
        collected: utc(at),
        hwdb: (named && device % 50 != 49)
            .then(|| HwdbName { model: format!("MODEL_{}", model.number), revision: format!("F{firmware}") }),
        backend: (!named).then(|| "a virtual disk".to_owned()),
        document: Document {
            format: FORMAT,
            kind: Kind::Verdict,
            published: None,
            device: Device {
                name: format!("d{}", device % DEVICES),
                node: format!("/dev/d{}", device % DEVICES),
                devnum: Some(format!("8:{}", device % DEVICES * 16)),
                diskseq: Some(device % DEVICES + 1),
                kind: model.kind.to_owned(),
                transport: Some(transport.to_owned()),
                driver: Some("sd".to_owned()),
                command_path: Some(path.to_owned()),
                // A LUN that a pair of machines sees, and disks that have no identity.
                identity: (named || device % 4 != 0)
                    .then(|| format!("naa.{:016x}", if device % 200 == 5 { device - device % 400 } else { device })),
                vendor: (model.kind == "scsi").then(|| "ACME".to_owned()),
                model: named.then(|| format!("Model {}", model.number)),
                firmware: Some(format!("F{firmware}")),
                size_bytes: Some(8 << 40),
                allocated_bytes: None,
                logical_block_bytes: Some(512),
                physical_block_bytes: Some(4096),
                members: Vec::new(),
                names: None,
                mounts: None,
            },
            class,
            basis: measured.then_some(Basis::Measured),
            expected: Class::Fast,
            reason: "as it was measured".to_owned(),
            method: measured.then_some(Method::PunchHole),
            zeroes_verified: measured.then_some(class != Class::Broken),
            zero_bytes_per_second: measured.then_some((write as f64 * ratio) as u64),
            write_bytes_per_second: measured.then_some(write),
            data_write_bytes_per_second: measured.then_some(write),
            overwrite_after_zero_bytes_per_second: measured.then_some(write),
            speedup: measured.then_some(Speedup {
                median: ratio,
                low: Some(ratio * 0.9),
                high: Some(ratio * 1.1),
                confidence: 0.999,
            }),
            sustained: measured.then_some(Sustained { bytes: 256 << 20, speedup: Some(ratio) }),
            methods: [Method::PunchHole, Method::WriteZeroes, Method::ZeroRange]
                .into_iter()
                .filter(|_| measured)
                .map(|method| MethodResult {
                    method: Some(method),
                    class: (method == Method::PunchHole).then_some(class),
                    zero_bytes_per_second: Some((write as f64 * ratio) as u64),
                    error: None,
                    verified: Some(true),
                })
                .collect(),
            modes: Vec::new(),
            hints: Hints::default(),
            claims: claims
                .map(|field| Claim {
                    source: "queue".to_owned(),
                    field: field.to_owned(),
                    value: "33553920".to_owned(),
                    says: "zeroing offload, 32 MiB a command".to_owned(),
                })
                .to_vec(),
            findings,
            tunables: vec![Tunable {
                name: "write_zeroes_unmap_max_bytes".to_owned(),
                path: "queue/write_zeroes_unmap_max_bytes".to_owned(),
                wanted: "33553920".to_owned(),
                why: "zeroing is fast".to_owned(),
                now: Some("33553920".to_owned()),
            }],
            overwrite: None,
            interference: None,
            deep: None,
            measured: measured.then(|| Measured {
                at: utc(at - (1 + device % 90) * 86_400),
                kernel: kernel.to_owned(),
                fingerprint: format!("{:064x}", random.next_u64()),
                trials: 14,
                segment_bytes: 16 << 20,
                bytes_written: 640 << 20,
                seconds: 2.5,
                baseline: "zeroes".to_owned(),
                scratch: "partition".to_owned(),
                proof: vec!["not read-only".to_owned(), "no holder, no mount, no swap".to_owned()],
                inconclusive: None,
            }),
            initial_state: Initial::default(),
        },
    }
}
