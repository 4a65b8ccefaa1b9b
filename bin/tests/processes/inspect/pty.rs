//! A terminal of our own: `dh` runs in it as its user's shell would start it, keys go in, and what
//! it would show comes out.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// How long anything may take that a person would wait for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A terminal with a program in it.
pub(crate) struct Pty {
    ours: File,
    /// The program's side, to see what became of it.
    theirs: OwnedFd,
    child: Child,
    shown: Arc<Mutex<Shown>>,
    is_over: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

struct Shown {
    parser: vt100::Parser,
    /// All that was ever written to it.
    bytes: Vec<u8>,
}

impl Pty {
    /// Start `dh` with these words in a terminal of so many columns and rows.
    pub(crate) fn start(
        words: &[&str],
        (columns, rows): (u16, u16),
        with: &[(&str, &str)],
    ) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).unwrap();
        unlockpt(&ours).unwrap();
        let theirs = ioctl_tiocgptpeer(&ours, flags).unwrap();
        tcsetwinsize(&ours, size(columns, rows)).unwrap();
        let side = || theirs.try_clone().unwrap();
        // A session of its own, so that the terminal is its terminal.
        let child = Command::new("setsid")
            .args(["--ctty", env!("CARGO_BIN_EXE_dh")])
            .args(words)
            .env_remove("NO_COLOR")
            .env_remove("LC_ALL")
            .envs([("TERM", "xterm-256color"), ("LANG", "C.UTF-8")])
            .envs(with.iter().copied())
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .unwrap();
        let parser = vt100::Parser::new(some(rows), some(columns), 0);
        let shown = Arc::new(Mutex::new(Shown { parser, bytes: Vec::new() }));
        let is_over = Arc::new(AtomicBool::new(false));
        let ours = File::from(ours);
        let reader = read(ours.try_clone().unwrap(), Arc::clone(&shown), Arc::clone(&is_over));
        Self { ours, theirs, child, shown, is_over, reader: Some(reader) }
    }

    /// Press keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).unwrap();
    }

    /// Give the terminal another size.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.shown.lock().unwrap().parser.screen_mut().set_size(some(rows), some(columns));
        tcsetwinsize(&self.ours, size(columns, rows)).unwrap();
    }

    /// What it shows now.
    pub(crate) fn screen(&self) -> vt100::Screen {
        self.shown.lock().unwrap().parser.screen().clone()
    }

    /// All that was ever written to it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.shown.lock().unwrap().bytes.clone()
    }

    /// Its lines without blanks at their ends, once they are as wanted.
    pub(crate) fn lines_when(&self, what: &str, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            let rows = screen.rows(0, screen.size().1.get());
            let lines: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
            if wanted(&lines) {
                return lines;
            }
            assert!(Instant::now() < until, "{what} did not come: {lines:#?}");
            sleep(Duration::from_millis(10));
        }
    }

    /// Its lines, once one of them holds this.
    pub(crate) fn lines_with(&self, part: &str) -> Vec<String> {
        self.lines_when(part, |lines| lines.iter().any(|line| line.contains(part)))
    }

    /// Send the program a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Wait until the program has ended.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // What it wrote last is read yet.
                sleep(Duration::from_millis(200));
                return status;
            }
            assert!(Instant::now() < until, "it did not end: {}", self.screen().contents());
            sleep(Duration::from_millis(10));
        }
    }

    /// Whether the terminal is as a shell wants it: lines, echo, the cursor, its own screen.
    pub(crate) fn is_given_back(&self) -> bool {
        let modes = tcgetattr(&self.theirs).unwrap().local_modes;
        let screen = self.screen();
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
            && !screen.alternate_screen()
            && !screen.hide_cursor()
    }

    /// Take the terminal away; how the program ends then.
    pub(crate) fn hang_up(mut self) -> ExitStatus {
        self.is_over.store(true, Ordering::Relaxed);
        self.reader.take().unwrap().join().unwrap();
        self.ours = File::open("/dev/null").unwrap();
        self.end()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn some(cells: u16) -> NonZeroU16 {
    NonZeroU16::new(cells).unwrap()
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn read(mut from: File, shown: Arc<Mutex<Shown>>, is_over: Arc<AtomicBool>) -> JoinHandle<()> {
    let moment = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    spawn(move || {
        let mut buffer = [0; 65_536];
        while !is_over.load(Ordering::Relaxed) {
            let mut wait = [PollFd::new(&from, PollFlags::IN)];
            if poll(&mut wait, Some(&moment)).unwrap_or(0) == 0 {
                continue;
            }
            let Ok(read) = from.read(&mut buffer) else { return };
            let mut shown = shown.lock().unwrap();
            shown.parser.process(&buffer[..read]);
            shown.bytes.extend_from_slice(&buffer[..read]);
        }
    })
}
