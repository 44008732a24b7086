//! Runs other programs by fixed paths, in an environment of our own, with a deadline. A program that does not end by then is
//! left alone: a process in D state cannot be ended, and must not block this one.

use rustix::event::{PollFd, PollFlags, Timespec};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where programs of the system lie. Never `PATH`: root's may lead through a directory of somebody else.
const DIRS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The most that is taken of each stream, in bytes.
const MOST: usize = 1 << 20;

/// What a program said.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: Vec<u8>,
    /// Its standard error.
    pub err: Vec<u8>,
}

/// Runs a program of the system to its end.
///
/// # Errors
/// `NotFound` where no directory has it, `TimedOut` with the process's number where it did not end in time.
pub fn run(name: &str, arguments: &[&str], deadline: Duration) -> io::Result<Said> {
    run_with(name, arguments, None, deadline)
}

/// The same with this as its standard input, which it holds open for as long as it runs: a lock, for instance.
pub fn run_with(name: &str, arguments: &[&str], input: Option<OwnedFd>, deadline: Duration) -> io::Result<Said> {
    let mut command = command(name, arguments)?;
    let input = input.map_or_else(Stdio::null, Stdio::from);
    let mut child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let until = Instant::now() + deadline;
    let said = collect(&mut child, until);
    if said.is_err() {
        // It ends as soon as it can.
        let _ = child.kill();
    }
    said
}

fn command(name: &str, arguments: &[&str]) -> io::Result<Command> {
    let found = DIRS.iter().map(|dir| PathBuf::from(dir).join(name)).find(|path| path.is_file());
    let Some(program) = found else {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("not installed in any of {}", DIRS.join(", "))));
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("LC_ALL", "C").env("PATH", DIRS.join(":")).current_dir("/");
    Ok(command)
}

/// Keeps the machine from going to sleep or down while it lives: `systemd-inhibit` around a process that ends with its input,
/// so that it ends however this process does.
#[derive(Debug)]
pub struct Awake(Child);

/// See [`Awake`]. An error where there is no such program, or it cannot be started.
pub fn keep_awake(why: &str) -> io::Result<Awake> {
    let why = format!("--why={why}");
    let arguments = ["--what=sleep:shutdown", "--who=zerocap", "--mode=block", &why, "cat"];
    let mut command = command("systemd-inhibit", &arguments)?;
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok(Awake(child))
}

impl Drop for Awake {
    fn drop(&mut self) {
        // It sees the end of its input; whether it is waited for changes nothing but a line in the table of processes.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn collect(child: &mut Child, until: Instant) -> io::Result<Said> {
    let late = |child: &Child| {
        io::Error::new(io::ErrorKind::TimedOut, format!("it did not end in time and still runs, pid {}", child.id()))
    };
    let (Some(mut out), Some(mut err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::Error::other("no pipes"));
    };
    let (mut said, mut open) = ([Vec::new(), Vec::new()], [true, true]);
    while open.contains(&true) {
        let left = until.saturating_duration_since(Instant::now());
        let wait = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let flags = |open: bool| if open { PollFlags::IN } else { PollFlags::empty() };
        let ready = {
            let mut fds = [
                PollFd::from_borrowed_fd(out.as_fd(), flags(open[0])),
                PollFd::from_borrowed_fd(err.as_fd(), flags(open[1])),
            ];
            match rustix::event::poll(&mut fds, Some(&wait)) {
                Ok(0) => return Err(late(child)),
                Ok(_) => [!fds[0].revents().is_empty(), !fds[1].revents().is_empty()],
                Err(rustix::io::Errno::INTR) => continue,
                Err(e) => return Err(e.into()),
            }
        };
        let streams: [&mut dyn Read; 2] = [&mut out, &mut err];
        for (i, stream) in streams.into_iter().enumerate() {
            if !ready[i] || !open[i] {
                continue;
            }
            let mut chunk = [0u8; 4096];
            match stream.read(&mut chunk) {
                Ok(0) => open[i] = false,
                Ok(n) if said[i].len() + n > MOST => return Err(io::Error::other("it printed too much")),
                Ok(n) => said[i].extend_from_slice(&chunk[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        // A closed stream tells so at every look.
        if open.contains(&false) && open.contains(&true) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    loop {
        match child.try_wait()? {
            Some(status) => {
                let [out, err] = said;
                return Ok(Said { code: status.code(), out, err });
            }
            None if Instant::now() >= until => return Err(late(child)),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    #[test]
    fn a_program_in_an_environment_of_its_own() {
        std::env::set_var("ZEROCAP_TEST_SECRET", "x");
        let said = run("sh", &["-c", "env; echo bad >&2; exit 3"], SOON).unwrap();
        assert_eq!((said.code, said.err.as_slice()), (Some(3), &b"bad\n"[..]));
        let out = String::from_utf8(said.out).unwrap();
        assert!(out.contains("LC_ALL=C\n") && !out.contains("SECRET"), "{out}");
        assert_eq!(run("zerocap-no-such-program", &[], SOON).unwrap_err().kind(), io::ErrorKind::NotFound);
        let much = run("sh", &["-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"], SOON).unwrap();
        assert_eq!((much.out.len(), much.err.len()), (300_000, 300_000));
    }

    #[test]
    fn a_program_that_does_not_end_is_left_alone() {
        let start = Instant::now();
        for script in ["sleep 60", "exec >/dev/null 2>&1; sleep 60"] {
            let error = run("sh", &["-c", script], Duration::from_millis(200)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        }
        assert!(start.elapsed() < SOON);
    }
}
