//! What a recording must not reveal, and its replacements: each is the same everywhere and has the same length. It is pure.

use crate::device::display;
use std::collections::BTreeMap;

/// A shorter one is replaced only where it stands alone, and only in files that name things: a serial number `1` must not
/// eat the ones of every limit.
const LONG: usize = 6;

/// Words that are no secrets though they stand where one is looked for.
const PUBLIC: &[&str] = &[
    "LVM",
    "CRYPT",
    "LUKS1",
    "LUKS2",
    "PLAIN",
    "LOOPAES",
    "TCRYPT",
    "BITLK",
    "FVAULT2",
    "INTEGRITY",
    "VERITY",
    "SUBDEV",
    "mpath",
    "tpool",
    "DMRAID",
    "STRATIS",
    "private",
];

/// How much of the text is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Every secret.
    All,
    /// Only those that are long enough to be no accident.
    Long,
}

/// Secrets and their stand-ins.
#[derive(Debug, Default)]
pub struct Secrets {
    /// Texts, and identifiers as they are written in text.
    forms: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Binary identifiers, for the fields that hold one: their bytes may stand elsewhere by chance.
    ids: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The forms by their first byte, longest first.
    index: BTreeMap<u8, Vec<Vec<u8>>>,
    /// Directories with a stand-in: what lies below one keeps doing so.
    directories: Vec<Vec<u8>>,
    count: u64,
}

fn nothing(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| matches!(b, 0 | b'0' | b' ')) || bytes.iter().all(|b| *b == 0xff)
}

impl Secrets {
    fn put(&mut self, form: Vec<u8>, stand_in: Vec<u8>) {
        let Some(first) = form.first() else { return };
        let forms = self.index.entry(*first).or_default();
        if !forms.contains(&form) {
            forms.push(form.clone());
            forms.sort_by_key(|f| std::cmp::Reverse(f.len()));
        }
        self.forms.entry(form).or_insert(stand_in);
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// A text: a serial number, a name, a path. `mark` tells the reader of a stand-in what it stands for.
    pub fn text(&mut self, secret: &[u8], mark: u8) {
        let secret = secret.trim_ascii_end();
        let secret = &secret[secret.iter().position(|b| !matches!(b, 0 | b' ')).unwrap_or(secret.len())..];
        let end = secret.iter().rposition(|b| !matches!(b, 0 | b' ')).map_or(0, |i| i + 1);
        let secret = &secret[..end];
        let public = PUBLIC.iter().any(|w| w.as_bytes() == secret);
        if secret.is_empty() || nothing(secret) || public || self.forms.contains_key(secret) {
            return;
        }
        // udev writes the name of a SCSI disk into its serial number: it stays one with the binary name.
        if matches!(secret.len(), 16 | 32) && secret.iter().all(u8::is_ascii_hexdigit) {
            self.hex(&String::from_utf8_lossy(secret), true);
            return;
        }
        let below = |d: &&Vec<u8>| secret.strip_prefix(d.as_slice()).is_some_and(|rest| rest.starts_with(b"/"));
        let directory = self.directories.iter().filter(below).max_by_key(|d| d.len()).cloned().unwrap_or_default();
        let lead: &[u8] = if secret.starts_with(b"/") { b"/" } else { b"" };
        let (n, room) = (self.next(), secret.len() - directory.len() - lead.len());
        let name = format!("{}{n:0width$}", char::from(mark), width = room.saturating_sub(1)).into_bytes();
        // A short one keeps the digits that differ.
        let name = &name[name.len().saturating_sub(room)..];
        let stand_in = [&self.hide(&directory, Reach::All), lead, name].concat();
        let hex = |b: &[u8]| display::hex(b).into_bytes();
        if secret.len() > 2 {
            // The kernel writes the serial number of an NVMe device without an identifier as hex digits into `wwid`.
            self.put(hex(secret), hex(&stand_in));
        }
        let joined = |b: &[u8]| b.iter().map(|c| if *c == b' ' { b'_' } else { *c }).collect::<Vec<u8>>();
        self.put(joined(secret), joined(&stand_in));
        self.put(encoded(secret), encoded(&stand_in));
        self.put(secret.to_vec(), stand_in);
    }

    /// A directory whose name is a secret, before what lies in it; the root is none.
    pub fn directory(&mut self, path: &[u8]) {
        if path != b"/" {
            self.text(path, b'M');
            self.directories.push(path.to_vec());
        }
    }

    /// A binary identifier. `naa`: its first digit tells its kind, and stays.
    pub fn id(&mut self, bytes: &[u8], naa: bool) {
        let stand_in: Vec<u8> = match bytes.len() {
            0 => return,
            // udev shows the halves of a long one in two properties.
            16 => {
                let (head, tail) = bytes.split_at(8);
                self.id(head, naa);
                self.id(tail, false);
                [self.hide_id(head), self.hide_id(tail)].concat()
            }
            _ if nothing(bytes) || self.ids.contains_key(bytes) => return,
            length => {
                let n = self.next().to_be_bytes();
                let mut stand_in = vec![0; length];
                stand_in.iter_mut().rev().zip(n.iter().rev()).for_each(|(to, from)| *to = *from);
                if let (true, Some(first), Some(kind)) = (naa, stand_in.first_mut(), bytes.first()) {
                    *first = (*kind & 0xf0) | (*first & 0x0f);
                }
                stand_in
            }
        };
        if stand_in == bytes {
            return;
        }
        for form in [plain, upper, dashed, colons, spaced] {
            self.put(form(bytes), form(&stand_in));
        }
        self.ids.insert(bytes.to_vec(), stand_in);
    }

    /// The stand-in of a field that holds a binary identifier, or itself.
    pub fn hide_id(&self, field: &[u8]) -> Vec<u8> {
        match (self.ids.get(field), field.len()) {
            (Some(stand_in), _) => stand_in.clone(),
            (None, 16) => [self.hide_id(&field[..8]), self.hide_id(&field[8..])].concat(),
            (None, _) => field.to_vec(),
        }
    }

    /// An identifier as hex digits, with or without separators; whether it is one.
    pub fn hex(&mut self, text: &str, naa: bool) -> bool {
        let digits: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'-' | b':' | b' ')).collect();
        let pair = |p: &[u8]| std::str::from_utf8(p).ok().and_then(|p| u8::from_str_radix(p, 16).ok());
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
        match bytes {
            Some(bytes) if digits.len() >= 8 && digits.len() % 2 == 0 => {
                self.id(&bytes, naa);
                true
            }
            _ => false,
        }
    }

    /// The bytes with every secret replaced.
    pub fn hide(&self, bytes: &[u8], reach: Reach) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            match self.found(bytes, at, reach) {
                Some((form, stand_in)) => {
                    out.extend_from_slice(stand_in);
                    at += form.len();
                }
                None => {
                    out.push(bytes[at]);
                    at += 1;
                }
            }
        }
        out
    }

    /// The longest secret that starts here.
    fn found(&self, bytes: &[u8], at: usize, reach: Reach) -> Option<(&[u8], &[u8])> {
        let word = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
        let after_word = word(at.checked_sub(1).and_then(|i| bytes.get(i)));
        // A file `/block` must not eat the `/block` of `sys/block`.
        if after_word && bytes[at] == b'/' {
            return None;
        }
        let alone = |end: usize| !after_word && !word(bytes.get(end));
        let fits = |form: &&Vec<u8>| {
            bytes[at..].starts_with(form) && (form.len() >= LONG || (reach == Reach::All && alone(at + form.len())))
        };
        let form = self.index.get(&bytes[at])?.iter().find(fits)?;
        Some((form, self.forms.get(form)?))
    }

    /// Text with every secret replaced.
    pub fn hide_str(&self, text: &str, reach: Reach) -> String {
        String::from_utf8_lossy(&self.hide(text.as_bytes(), reach)).into_owned()
    }
}

/// As udev writes a name into a link or an `_ENC` property: `\x20` for a space, `\x2f` for a slash.
fn encoded(bytes: &[u8]) -> Vec<u8> {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"#+-.:=@_".contains(b) || !b.is_ascii();
    let one = |b: &u8| if plain(b) { vec![*b] } else { format!("\\x{b:02x}").into_bytes() };
    bytes.iter().flat_map(one).collect()
}

fn plain(bytes: &[u8]) -> Vec<u8> {
    display::hex(bytes).into_bytes()
}

fn upper(bytes: &[u8]) -> Vec<u8> {
    plain(bytes).to_ascii_uppercase()
}

fn spaced(bytes: &[u8]) -> Vec<u8> {
    grouped(bytes, &[1; 16], b' ')
}

fn dashed(bytes: &[u8]) -> Vec<u8> {
    grouped(bytes, &[4, 2, 2, 2, 6], b'-')
}

fn colons(bytes: &[u8]) -> Vec<u8> {
    grouped(bytes, &[4, 4, 4, 4], b':')
}

/// Hex digits with a separator between groups of so many bytes.
fn grouped(bytes: &[u8], groups: &[usize], separator: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes;
    for group in groups {
        let (head, tail) = rest.split_at((*group).min(rest.len()));
        if !out.is_empty() && !head.is_empty() {
            out.push(separator);
        }
        out.extend(plain(head));
        rest = tail;
    }
    out.extend(plain(rest));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_secret_has_the_same_replacement() {
        let mut s = Secrets::default();
        s.text(b"S3XNNX0K123456 ", b'S');
        assert!(s.hex("0025385b71b0d7f2", false));
        assert!(s.hex("6001405a-1b2c-3d4e-5f60-718293a4b5c6", true));
        assert!(!s.hex("no hex", false));
        let hide = |t: &str| s.hide_str(t, Reach::All);
        assert_eq!(hide("disk S3XNNX0K123456 "), "disk S0000000000001 ");
        assert_eq!(hide("nvme.144d-5333584e4e58304b313233343536-0"), "nvme.144d-5330303030303030303030303031-0");
        assert_eq!(hide("eui.0025385b71b0d7f2"), "eui.0000000000000002");
        assert_eq!(hide("00 25 38 5b 71 b0 d7 f2\n"), "00 00 00 00 00 00 00 02\n");
        assert_eq!(hide("naa.6001405a1b2c3d4e5f60718293a4b5c6"), "naa.60000000000000030000000000000004");
        assert_eq!(hide("wwn-0x6001405a1b2c3d4e"), "wwn-0x6000000000000003");
        assert_eq!(hide("6001405a-1b2c-3d4e-5f60-718293a4b5c6"), "60000000-0000-0003-0000-000000000004");
        assert_eq!(s.hide_id(&[0, 0x25, 0x38, 0x5b, 0x71, 0xb0, 0xd7, 0xf2]), [0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(s.hide_id(&[0, 0x25, 0x38]), [0, 0x25, 0x38]);
    }

    #[test]
    fn replaced_paths_keep_their_directories() {
        let mut s = Secrets::default();
        for directory in ["/", "/srv", "/srv/customer acme"] {
            s.directory(directory.as_bytes());
        }
        for file in ["/srv/customer acme/disk.img", "/srv/x", "/srvx/disk.img"] {
            s.text(file.as_bytes(), b'F');
        }
        let hide = |t: &str| s.hide_str(t, Reach::All);
        assert_eq!((hide("/"), hide("/srv")), ("/".to_owned(), "/M01".to_owned()));
        assert_eq!(hide("/srv/customer acme"), "/M01/M000000000002");
        assert_eq!(hide("/srv/customer acme/disk.img"), "/M01/M000000000002/F0000003");
        assert_eq!(hide("/srv/x"), "/M01/4");
        assert_eq!(hide("by-loop-ref/\\x2fsrv\\x2fcustomer\\x20acme"), "by-loop-ref/\\x2fM01\\x2fM000000000002");
        assert_eq!(hide("/srvx/disk.img"), "/F000000000005");
        s.directory(b"/block");
        assert_eq!(s.hide_str("sys/block/sda=/block", Reach::Long), "sys/block/sda=/M0006");
    }

    #[test]
    fn short_secrets_are_replaced_only_as_whole_words() {
        let mut s = Secrets::default();
        s.text(b"12", b'S');
        s.text(b"", b'S');
        s.text(b"0000", b'S');
        s.text(b"LVM", b'N');
        s.text(b"/home/a/disk.img", b'F');
        assert_eq!(s.hide_str("virtio.12 512 LVM-12", Reach::All), "virtio.S1 512 LVM-S1");
        assert_eq!(s.hide_str("12", Reach::Long), "12");
        assert_eq!(s.hide_str("/home/a/disk.img", Reach::Long), "/F00000000000002");
    }
}
