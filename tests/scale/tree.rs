//! Makes a recorded tree of many devices: SCSI disks, NVMe namespaces, virtio disks, loops, and volumes over the disks, in
//! the shape of a real sysfs, so that `lsblk --sysroot` reads the same tree.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// How the devices are mixed: of ten, so many of each.
const OF_TEN: [(&str, usize); 5] = [("scsi", 4), ("nvme", 3), ("virtio", 1), ("loop", 1), ("dm", 1)];

/// The limits of a device, as a kernel of today shows them.
const QUEUE: &[(&str, &str)] = &[
    ("write_zeroes_max_bytes", "33550336"),
    ("write_zeroes_unmap_max_hw_bytes", "33550336"),
    ("write_zeroes_unmap_max_bytes", "33550336"),
    ("discard_max_bytes", "33550336"),
    ("discard_max_hw_bytes", "33550336"),
    ("discard_granularity", "4096"),
    ("logical_block_size", "512"),
    ("physical_block_size", "4096"),
    ("minimum_io_size", "4096"),
    ("optimal_io_size", "0"),
    ("rotational", "0"),
    ("scheduler", "[none] mq-deadline"),
    ("nr_requests", "256"),
    ("read_ahead_kb", "128"),
    ("zoned", "none"),
    ("io_timeout", "30000"),
];

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::write(path, text).expect("a file of the tree");
}

/// `sda`, `sdb`, … `sdz`, `sdaa`.
fn letters(mut n: usize) -> String {
    let mut name = Vec::new();
    loop {
        name.push(b'a' + u8::try_from(n % 26).unwrap_or(0));
        if n < 26 {
            break;
        }
        n = n / 26 - 1;
    }
    name.reverse();
    String::from_utf8(name).expect("ASCII")
}

/// Fills a directory with a tree of so many devices.
pub fn make(root: &Path, devices: usize) {
    for dir in ["sys/block", "sys/dev/block", "sys/class/block", "proc/sys/kernel", "proc/self", "commands", "etc"] {
        fs::create_dir_all(root.join(dir)).expect("a directory of the tree");
    }
    write(&root.join("proc/sys/kernel/osrelease"), "7.3.4\n");
    write(&root.join("proc/self/mountinfo"), "");
    write(&root.join("proc/swaps"), "");
    write(&root.join("machine.toml"), "origin = \"synthetic\"\nnote = \"tests/scale\"\ndate = \"unknown\"\n");
    let mut made = 0;
    let mut numbers = [0usize; OF_TEN.len()];
    while made < devices {
        for (kind, (word, count)) in OF_TEN.iter().enumerate() {
            for _ in 0..*count {
                if made < devices {
                    device(root, word, numbers[kind], made);
                    numbers[kind] += 1;
                    made += 1;
                }
            }
        }
    }
}

fn device(root: &Path, kind: &str, n: usize, serial: usize) {
    let (name, parents, major) = match kind {
        "scsi" => {
            let host = format!("pci0000:00/0000:00:1f.2/host{n}/target{n}:0:0/{n}:0:0:0");
            (format!("sd{}", letters(n)), format!("{host}/block"), 8)
        }
        "nvme" => (format!("nvme{n}n1"), format!("pci0000:00/0000:01:00.{n}/nvme/nvme{n}"), 259),
        "virtio" => (format!("vd{}", letters(n)), format!("pci0000:00/0000:02:00.{n}/virtio{n}/block"), 254),
        "loop" => (format!("loop{n}"), "virtual/block".to_owned(), 7),
        _ => (format!("dm-{n}"), "virtual/block".to_owned(), 253),
    };
    let real = root.join("sys/devices").join(&parents).join(&name);
    fs::create_dir_all(real.join("queue")).expect("a device");
    fs::create_dir_all(real.join("slaves")).expect("a device");
    fs::create_dir_all(real.join("holders")).expect("a device");
    for (file, value) in QUEUE {
        write(&real.join("queue").join(file), format!("{value}\n"));
    }
    for (file, value) in
        [("size", "15628053168"), ("ro", "0"), ("removable", "0"), ("hidden", "0"), ("alignment_offset", "0")]
    {
        write(&real.join(file), format!("{value}\n"));
    }
    write(&real.join("dev"), format!("{major}:{n}\n"));
    write(&real.join("diskseq"), format!("{}\n", serial + 1));
    symlink(format!("../devices/{parents}/{name}"), root.join("sys/block").join(&name)).expect("a link");
    symlink(format!("../../devices/{parents}/{name}"), root.join(format!("sys/dev/block/{major}:{n}")))
        .expect("a link");
    symlink(format!("../../devices/{parents}/{name}"), root.join("sys/class/block").join(&name)).expect("a link");
    let commands = root.join("commands").join(&name);
    match kind {
        "scsi" => scsi(&real, &commands, n, serial),
        "nvme" => nvme(&real, &commands, serial),
        "virtio" => {
            symlink("../..", real.join("device")).expect("a link");
            write(&real.join("serial"), format!("V{serial}\n"));
        }
        "loop" => {
            fs::create_dir(real.join("loop")).expect("a device");
            write(&real.join("loop/backing_file"), format!("/srv/images/{n}.img\n"));
        }
        _ => {
            fs::create_dir(real.join("dm")).expect("a device");
            write(&real.join("dm/uuid"), format!("LVM-{serial:064}\n"));
            write(&real.join("dm/name"), format!("vg-lv{n}\n"));
            // Four disks are made for each volume before it.
            let member = format!("sd{}", letters(n * 4));
            symlink(format!("../../../../../block/{member}"), real.join("slaves").join(member)).expect("a link");
        }
    }
}

fn scsi(real: &Path, commands: &Path, n: usize, serial: usize) {
    symlink("../..", real.join("device")).expect("a link");
    let device = real.join("../..");
    for (file, value) in [("vendor", "SEAGATE "), ("model", "ST16000NM004J   "), ("rev", "E004"), ("state", "running")]
    {
        write(&device.join(file), format!("{value}\n"));
    }
    write(&device.join("wwid"), format!("naa.5000c500{serial:08x}\n"));
    write(&device.join("vpd_pgb0"), [&[0, 0xb0, 0, 0x3c][..], &[0; 16], &[0, 0, 8, 0, 0, 0, 0, 1], &[0; 36]].concat());
    write(&device.join("vpd_pgb2"), [0, 0xb2, 0, 4, 0, 0xe4, 2, 0]);
    let disk = device.join(format!("scsi_disk/{n}:0:0:0"));
    fs::create_dir_all(&disk).expect("a device");
    for (file, value) in [
        ("zeroing_mode", "writesame_16_unmap"),
        ("provisioning_mode", "unmap"),
        ("max_write_same_blocks", "65535"),
        ("thin_provisioning", "1"),
    ] {
        write(&disk.join(file), format!("{value}\n"));
    }
    fs::create_dir_all(commands).expect("a device");
    let capacity = [&15_628_053_167u64.to_be_bytes()[..], &[0, 0, 2, 0, 0, 3, 0xc0, 0], &[0; 16]].concat();
    write(&commands.join("scsi-read-capacity-16.bin"), capacity);
}

fn nvme(real: &Path, commands: &Path, serial: usize) {
    symlink("..", real.join("device")).expect("a link");
    let controller = real.join("..");
    for (file, value) in [("model", "Scale 1TB"), ("firmware_rev", "1.0"), ("transport", "pcie")] {
        write(&controller.join(file), format!("{value:40}\n"));
    }
    write(&controller.join("serial"), format!("N{serial:019}\n"));
    write(&real.join("wwid"), format!("eui.{serial:016x}\n"));
    fs::create_dir_all(commands).expect("a device");
    let mut identify = vec![0u8; 4096];
    identify[520] = 0x08;
    identify[80..84].copy_from_slice(&[0, 4, 1, 0]);
    write(&commands.join("nvme-id-ctrl.bin"), &identify);
    let mut namespace = vec![0u8; 4096];
    namespace[0] = 0xff;
    namespace[33] = 9;
    namespace[130] = 9;
    write(&commands.join("nvme-id-ns.bin"), &namespace);
}
