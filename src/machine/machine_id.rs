//! Identifies this machine in a fleet: a number that is the same at every boot and reveals neither the name of the machine
//! nor its machine-id, which systemd asks to keep from others. It reads one file.

use crate::device::display::hex;
use crate::fact::Fact;
use crate::machine::fs::root::Root;
use hmac_sha256::HMAC;

/// What tells zerocap's numbers from those that other programs derive from the same machine-id. It never changes: with
/// another one every machine of a fleet would look new.
const APPLICATION: [u8; 16] =
    [0xb0, 0x9f, 0x5c, 0x1e, 0x7a, 0x34, 0x4d, 0x26, 0x93, 0x8e, 0x41, 0xd7, 0x0c, 0x6b, 0xf2, 0x58];

/// The number of the machine, 32 hex digits, made of `/etc/machine-id` as sd_id128_get_machine_app_specific(3) does it.
pub fn opaque(root: &Root) -> Fact<String> {
    root.text("etc/machine-id").and_then(|text| match parse(&text) {
        Some(id) => Fact::Known(hex(&app_specific(&id, &APPLICATION))),
        // systemd writes "uninitialized" into an image that has not been booted.
        None => Fact::malformed("it is not 32 hex digits"),
    })
}

/// The sixteen bytes that 32 hex digits stand for; not all zero, which is no machine.
fn parse(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u32> = text.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect();
    let id: [u8; 16] = bytes.try_into().ok()?;
    (digits.len() == 32 && id != [0; 16]).then_some(id)
}

/// HMAC-SHA256 of the application's number with the machine's as the key, cut to 128 bits and marked as a random UUID.
fn app_specific(machine: &[u8; 16], application: &[u8; 16]) -> [u8; 16] {
    let mac = HMAC::mac(application, machine);
    let mut id: [u8; 16] = std::array::from_fn(|i| mac[i]);
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const ID: &str = "4c4c4544004b3910804ac3c04f333932";

    fn of(content: Option<&str>) -> Fact<String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("etc")).unwrap();
        if let Some(content) = content {
            std::fs::write(dir.path().join("etc/machine-id"), content).unwrap();
        }
        opaque(&Root::open(dir.path()).unwrap())
    }

    #[test]
    fn the_number_is_that_of_systemd() {
        let own = of(Some(&format!("{ID}\n")));
        let own = own.known().expect("a machine-id");
        assert!(own.len() == 32 && own != ID && &own[12..13] == "4", "{own}");
        // The same by a program that shares no code with this one.
        let script =
            "import hmac, sys; m = bytearray(hmac.digest(bytes.fromhex(sys.argv[1]), bytes.fromhex(sys.argv[2]), \
                      'sha256')[:16]); m[6] = m[6] & 15 | 64; m[8] = m[8] & 63 | 128; print(m.hex())";
        let output = Command::new("python3").args(["-c", script, ID, &hex(&APPLICATION)]).output();
        if let Ok(output) = output.as_ref().map(|o| String::from_utf8_lossy(&o.stdout)) {
            assert_eq!(output.trim(), own);
        }
        assert_eq!(of(Some(ID)).known(), Some(own), "a file without an end of line");
        assert_ne!(of(Some(&ID.replace('c', "d"))).known(), Some(own), "another machine");
    }

    #[test]
    fn an_invalid_machine_id_gives_no_number() {
        assert_eq!(of(None), Fact::ABSENT);
        for bad in ["", "\n", "uninitialized\n", "0123", &ID[1..], &format!("{ID}0"), &"0".repeat(32), &"é".repeat(16)]
        {
            assert_eq!(of(Some(bad)).known(), None, "{bad:?}");
        }
    }
}
