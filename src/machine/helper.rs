//! Copies of this program that do one thing each, side by side: they get an order and print lines. Each finishes its work by
//! itself, whatever happens to this process, and nobody waits for one that hangs.

use rustix::process::{kill_process, Pid, Signal};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A running copy.
#[derive(Debug)]
pub struct Helper(Child);

impl Helper {
    /// Starts a copy with this first argument and gives it its order. `said` gets each line of it, and `None` at its end.
    pub fn start(
        verb: &str,
        order: &[u8],
        mut said: impl FnMut(Option<String>) + Send + 'static,
    ) -> io::Result<Helper> {
        // /proc/self/exe and not the name: the file may have been replaced by an upgrade while this process runs.
        let mut child = Command::new("/proc/self/exe")
            .arg(verb)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // One that is left behind must not hold what the caller's caller waits for.
            .stderr(Stdio::null())
            // An interrupt at the terminal comes to this process, which hands it on once.
            .process_group(0)
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(order)?;
        }
        let Some(output) = child.stdout.take() else { return Err(io::Error::other("no pipe")) };
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                said(Some(line));
            }
            said(None);
        });
        Ok(Helper(child))
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Asks it to end, as an interrupt at the terminal does.
    pub fn interrupt(&self) {
        // One that has ended already needs no asking.
        if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    /// It has said its last: its line in the table of processes goes, where it has ended.
    pub fn ended(mut self) {
        let _ = self.0.try_wait();
    }
}

/// The order that this copy was given.
pub fn order() -> io::Result<Vec<u8>> {
    let mut order = Vec::new();
    io::stdin().lock().read_to_end(&mut order)?;
    Ok(order)
}

/// Says a line to whoever gave the order. It may be gone: then nobody listens, and that changes nothing of what is done.
pub fn say(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
