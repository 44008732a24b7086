//! `zerocap record` on a machine that has a secret planted in every place there is: none of them is in any recorded file,
//! path or link, and what a replay needs is.

#![allow(clippy::unwrap_used)] // A test may panic.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn put(dir: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Words that no recording may hold; each is planted in several places below.
const SECRETS: [&str; 22] = [
    "tok3n-of-acme",    // a property of the site
    "10.20.30.40",      // the address of a target
    "192.168.7.9",      // the address of the host
    "com.acme",         // in NQN and IQN
    "pool-ledger",      // a subsystem's name
    "iscsi-vault",      // an iSCSI target
    "payroll",          // a volume group
    "archive",          // a volume
    "SECRETSER1AL",     // a serial number
    "0c8a3f1e",         // a UUID
    "50014ee2b1c2d3e4", // a WWN
    "tenants",          // a mount point
    "customers.img",    // a backing file
    "tank",             // a pool
    "partlabel-hr",     // the name of a partition
    "fslabel-hr",       // the label of a file system
    "db01-host",        // a host
    "sitelink",         // a link of the site
    "journal-of-hr",    // a directory that was named
    "iface-ledger",     // a network interface
    "hint-of-site",     // an attribute of a driver of the site
    "reason-of-hr",     // an administrator's reason
];

const NVME: &str = "sys/devices/virtual/nvme-fabrics/ctl/nvme3";
const SCSI: &str = "sys/devices/platform/host9/session1/target9:0:0/9:0:0:0";

fn machine(dir: &Path) {
    put(dir, "proc/sys/kernel/osrelease", "6.17.1\n");
    for (disk, dev) in [(format!("{NVME}/nvme3n1"), "259:3"), (format!("{SCSI}/block/sda"), "8:0")] {
        put(dir, &format!("{disk}/dev"), format!("{dev}\n"));
        put(dir, &format!("{disk}/size"), "2097152\n");
        put(dir, &format!("{disk}/queue/write_zeroes_max_bytes"), "2097152\n");
        put(dir, &format!("{disk}/uevent"), "MAJOR=8\nDEVTYPE=disk\nACME=tok3n-of-acme\nNVME_TRADDR=10.20.30.40\n");
        put(dir, &format!("{disk}/queue/scheduler"), "[none] mq-deadline\n");
        put(dir, &format!("{disk}/hint"), "hint-of-site\n");
    }
    for (file, text) in [
        ("address", "traddr=10.20.30.40,trsvcid=4420,host_traddr=192.168.7.9,src_addr=192.168.7.9"),
        ("subsysnqn", "nqn.2014-08.com.acme:nvme:pool-ledger"),
        ("hostnqn", "nqn.2014-08.com.acme:db01-host"),
        ("hostid", "0c8a3f1e-5b6d-4c7e-8f90-a1b2c3d4e5f6"),
        ("model", "Linux"),
        ("serial", "SECRETSER1AL"),
        ("transport", "tcp"),
        ("firmware_rev", "6.17"),
        ("state", "live"),
        ("uevent", "DRIVER=nvme\nNVME_TRTYPE=tcp\nNVME_TRADDR=10.20.30.40\nNVME_HOST_IFACE=iface-ledger\n"),
    ] {
        put(dir, &format!("{NVME}/{file}"), format!("{text}\n"));
    }
    put(dir, &format!("{NVME}/nvme3n1/wwid"), "uuid.0c8a3f1e-5b6d-4c7e-8f90-a1b2c3d4e5f6\n");
    let mut controller = vec![0u8; 4096];
    controller[4..16].copy_from_slice(b"SECRETSER1AL");
    controller[768..805].copy_from_slice(b"nqn.2014-08.com.acme:nvme:pool-ledger");
    controller[3072..3085].copy_from_slice(b"tok3n-of-acme");
    put(dir, "commands/nvme3n1/nvme-id-ctrl.bin", controller);
    put(dir, &format!("{SCSI}/vendor"), "LIO-ORG \n");
    put(dir, &format!("{SCSI}/wwid"), "naa.50014ee2b1c2d3e4\n");
    let iqn = b"iqn.2003-01.com.acme:iscsi-vault,t,0x0001\0";
    let mut vpd = vec![0, 0x83, 0, 0];
    vpd.extend([1, 3, 0, 8, 0x50, 0x01, 0x4e, 0xe2, 0xb1, 0xc2, 0xd3, 0xe4]);
    vpd.extend([3, 0x18, 0, iqn.len() as u8]);
    vpd.extend(iqn);
    vpd[3] = (vpd.len() - 4) as u8;
    put(dir, &format!("{SCSI}/vpd_pg83"), vpd);
    put(dir, &format!("{SCSI}/block/sda/sda1/partition"), "1\n");
    put(dir, &format!("{SCSI}/block/sda/sda1/start"), "2048\n");
    put(dir, &format!("{SCSI}/block/sda/sda1/size"), "2048\n");
    put(dir, &format!("{SCSI}/block/sda/sda1/uevent"), "PARTN=1\nPARTNAME=partlabel-hr\n");
    for (link, target) in [
        ("sys/block/nvme3n1", "../devices/virtual/nvme-fabrics/ctl/nvme3/nvme3n1"),
        (&format!("{NVME}/nvme3n1/device"), "../../nvme3"),
        ("sys/block/sda", "../devices/platform/host9/session1/target9:0:0/9:0:0:0/block/sda"),
        (&format!("{SCSI}/block/sda/device"), "../.."),
    ] {
        let link = dir.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, link).unwrap();
    }
    put(dir, "sys/block/dm-0/dev", "253:0\n");
    put(dir, "sys/block/dm-0/size", "2097152\n");
    put(dir, "sys/block/dm-0/dm/name", "payroll-archive\n");
    put(dir, "sys/block/dm-0/dm/uuid", "LVM-kd83JdmcUeHvX0aPq2LmNb7Rs5TtYwZcQ1w2E3r4T5y6U7i8O9p0A1s2D3f4G5h6\n");
    for member in ["sda", "nvme3n1"] {
        fs::create_dir_all(dir.join("sys/block/dm-0/slaves")).unwrap();
        let target = format!("../../{member}");
        std::os::unix::fs::symlink(target, dir.join(format!("sys/block/dm-0/slaves/{member}"))).unwrap();
    }
    put(dir, "sys/block/loop0/dev", "7:0\n");
    put(dir, "sys/block/loop0/size", "2048\n");
    put(dir, "sys/block/loop0/loop/backing_file", "/srv/tenants/customers.img\n");
    put(
        dir,
        "proc/self/mountinfo",
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:40 /x /srv/tenants rw - zfs tank/ledger/tenants rw,subvol=/tank\n",
    );
    let udev = "SITE_TOKEN=tok3n-of-acme\nID_PATH=ip-10.20.30.40:3260-iscsi-iqn.2003-01.com.acme:iscsi-vault-lun-0\n\
                NVME_TRADDR=10.20.30.40\nNVME_HOST_IFACE=iface-ledger\nID_FS_LABEL=fslabel-hr\nID_BUS=scsi\n\
                ID_PART_ENTRY_NAME=partlabel-hr\nID_SERIAL_SHORT=SECRETSER1AL\nID_SERIAL=Linux_SECRETSER1AL\n\
                ID_WWN=0x50014ee2b1c2d3e4\nID_FS_UUID=0c8a3f1e-5b6d-4c7e-8f90-a1b2c3d4e5f6\nSYSTEMD_ALIAS=/dev/sitelink\n\
                DM_NAME=payroll-archive\nDM_VG_NAME=payroll\nDM_LV_NAME=archive\nMD_NAME=db01-host:0\n\
                ID_LOOP_BACKING_FILENAME=/srv/tenants/customers.img\nTAGS=:systemd:acme-tok3n-of-acme:\n\
                DEVLINKS=/dev/acme/sitelink /dev/disk/by-path/ip-10.20.30.40:3260-iscsi-iqn.2003-01.com.acme:iscsi-vault \
                /dev/disk/by-label/fslabel-hr /dev/disk/by-id/scsi-SLinux_SECRETSER1AL /dev/payroll/archive \
                /dev/disk/by-id/dm-name-payroll-archive /dev/disk/by-id/wwn-0x50014ee2b1c2d3e4\n";
    for disk in ["sda", "nvme3n1", "dm-0", "loop0"] {
        put(dir, &format!("udev/{disk}"), udev);
    }
    // What was kept of a test that somebody started with names of their own.
    let kept =
        fs::read_to_string("tests/machines/synthetic-kept/etc/zerocap/devices/naa.5000000000000005.json").unwrap();
    let mut kept: serde_json::Value =
        serde_json::from_str(&kept.replace("naa.5000000000000005", "naa.50014ee2b1c2d3e4")).unwrap();
    kept["proof"] = serde_json::json!(["/dev/payroll/archive lies on it", "a file in /srv/tenants, at 7"]);
    put(dir, "etc/zerocap/devices/naa.50014ee2b1c2d3e4.json", kept.to_string());
    let mut samples =
        serde_json::to_value(verdict_format::samples::Samples::none("2026-11-30T08:00:00Z of tok3n-of-acme")).unwrap();
    samples["identity"] = "naa.50014ee2b1c2d3e4".into();
    samples["note_of_the_site"] = "payroll".into();
    put(dir, "etc/zerocap/samples/naa.50014ee2b1c2d3e4.json", samples.to_string());
    put(
        dir,
        "var/lib/zerocap/intent/naa.50014ee2b1c2d3e4",
        r#"{"device":"sda","identity":"naa.50014ee2b1c2d3e4","boot_id":"b","pid":1,"left_behind":null,"at":"2026-11-30T08:00:00Z","run":[7,9],"phase":"writing","journal":"/mnt/journal-of-hr/dir with blanks","journal_digest":null,"zeroed":[],"on_trial":[]}"#,
    );
    put(
        dir,
        "etc/zerocap/policy.d/50.toml",
        "[[rule]]\nkind = \"scsi\"\nmeasure = \"never\"\nwhy = \"reason-of-hr\"\n",
    );
}

/// Every path, file and link target below a directory.
fn everything(dir: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let bytes = if meta.is_symlink() {
            fs::read_link(&path).unwrap().to_str().unwrap().as_bytes().to_vec()
        } else if meta.is_dir() {
            everything(&path, all);
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        all.push((path, bytes));
    }
}

#[test]
fn no_planted_secret_is_in_any_recorded_file() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("m");
    machine(&root);
    let record = |device: &str, options: &[&str]| {
        let to = place.path().join(format!("{device}{}", options.len()));
        let output = Command::new(env!("CARGO_BIN_EXE_zerocap"))
            .arg("--root")
            .arg(&root)
            .args(["record", device, to.to_str().unwrap()])
            .args(options)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut all = Vec::new();
        everything(&to, &mut all);
        (to, all, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let holds = |bytes: &[u8], part: &str| bytes.windows(part.len()).any(|w| w.eq_ignore_ascii_case(part.as_bytes()));
    let mut files = 0;
    for device in ["dm-0", "loop0"] {
        let (to, all, _) = record(device, &[]);
        for (path, bytes) in &all {
            let inside = path.strip_prefix(&to).unwrap().to_str().unwrap();
            for secret in SECRETS {
                let found = holds(bytes, secret) || holds(inside.as_bytes(), secret);
                assert!(!found, "{device}: {secret} is in {inside}: {}", String::from_utf8_lossy(bytes));
            }
        }
        files += all.len();
    }
    assert!(files > 60, "{files}");
    // With serial numbers what a site wrote into places of its own stays out all the same, and is named as left out.
    let (to, all, said) = record("dm-0", &["--with-serials"]);
    for (path, bytes) in &all {
        for secret in ["tok3n-of-acme\n", "sitelink", "iface-ledger", "hint-of-site", "partlabel-hr", "fslabel-hr"] {
            assert!(!holds(bytes, secret), "{secret} is in {}", path.display());
        }
    }
    assert!(said.contains("udev/sda"), "{said}");
    // What a replay needs is there, and the same name has the same stand-in everywhere.
    let text = |path: &str| fs::read_to_string(to.join(path)).unwrap();
    assert!(text(&format!("{SCSI}/wwid")).contains("naa.50014ee2b1c2d3e4"));
    let hidden = place.path().join("dm-00");
    let text = |path: &str| fs::read_to_string(hidden.join(path)).unwrap();
    let wwid = text(&format!("{SCSI}/wwid"));
    let digits = wwid.trim().strip_prefix("naa.").unwrap().to_owned();
    assert!(text("udev/sda").contains(&format!("ID_WWN=0x{digits}")), "{}", text("udev/sda"));
    assert!(hidden.join(format!("etc/zerocap/devices/naa.{digits}.json")).is_file());
    assert!(hidden.join(format!("etc/zerocap/samples/naa.{digits}.json")).is_file());
    assert!(text(&format!("{NVME}/address")).contains("trsvcid=4420"), "{}", text(&format!("{NVME}/address")));
}
