//! Files in memory with the semantics of a power cut: what was not synced is lost, or kept only in part.

use super::Durable;
use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A directory in memory that can lose power: what was not synced is lost, or kept in part.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDurable {
    now: BTreeMap<String, Vec<u8>>,
    kept: BTreeMap<String, Vec<u8>>,
    /// Names that another process holds.
    pub held_elsewhere: BTreeSet<String>,
}

impl SimulatedDurable {
    /// The power goes: each file is its synced content, plus a part of what was appended since (`coin` picks 0 to 255;
    /// the part is torn at any byte, and a quarter of its pages are holes, whose length was recorded before their data).
    pub fn power_cut(&mut self, mut coin: impl FnMut() -> u8) {
        for (name, now) in &self.now {
            let kept = self.kept.get(name).map_or(0, Vec::len);
            let extra = now.len().saturating_sub(kept);
            let part = extra * usize::from(coin()) / 255;
            if part > 0 && now.starts_with(self.kept.get(name).map_or(&[], Vec::as_slice)) {
                let mut bytes = now[..kept + part].to_vec();
                bytes[kept..].chunks_mut(4096).filter(|_| coin() < 64).for_each(|page| page.fill(0));
                self.kept.insert(name.clone(), bytes);
            }
        }
        self.now = self.kept.clone();
    }
}

impl Durable for SimulatedDurable {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.now.get(name).cloned())
    }

    fn create(&mut self, name: &str) -> Result<()> {
        if self.now.contains_key(name) {
            return Err(Error::file(self.shown(name), "make", std::io::Error::from(ErrorKind::AlreadyExists)));
        }
        self.append(name, b"")
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.now.entry(name.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self, name: &str) -> Result<()> {
        if let Some(bytes) = self.now.get(name) {
            self.kept.insert(name.to_owned(), bytes.clone());
        }
        Ok(())
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.now.insert(name.to_owned(), bytes.to_vec());
        self.sync(name)
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        self.now.remove(name);
        self.kept.remove(name);
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(self.now.keys().cloned().collect())
    }

    fn shown(&self, name: &str) -> PathBuf {
        Path::new("simulated").join(name)
    }

    fn hold(&mut self, name: &str) -> Result<bool> {
        Ok(!self.held_elsewhere.contains(name))
    }

    fn release(&mut self, _: &str) {}
}
