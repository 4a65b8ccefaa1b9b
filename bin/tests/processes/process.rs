//! A `dh` process: started with a data folder of its own, read line by line, ended with the test.

use std::io::{BufRead as _, BufReader, Read, Write as _, empty};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long anything may take that a person would wait for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running `dh`.
pub(crate) struct Process {
    child: Child,
    stdin: ChildStdin,
    out: Receiver<String>,
    err: Receiver<String>,
    /// A stream that is held open and never read.
    _unread: Option<Box<dyn Read>>,
    heard: Vec<String>,
    home: Arc<tempfile::TempDir>,
}

/// Which stream of a process nobody reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    Neither,
    Stdout,
    Stderr,
}

/// How a process ended, and all it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: Vec<String>,
    pub(crate) err: Vec<String>,
}

impl Process {
    /// Start `dh` with these words and a data folder of its own.
    pub(crate) fn start(words: &[&str]) -> Self {
        Self::start_with(words, &[])
    }

    /// The same with variables of its own.
    pub(crate) fn start_with(words: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::launch(words, variables, Unread::Neither)
    }

    /// The same with one stream that nobody reads.
    pub(crate) fn start_unread(words: &[&str], unread: Unread) -> Self {
        Self::launch(words, &[], unread)
    }

    fn launch(words: &[&str], variables: &[(&str, &str)], unread: Unread) -> Self {
        Self::launch_in(Arc::new(tempfile::tempdir().unwrap()), words, variables, unread)
    }

    /// Kill it, and start another with these words in its folder.
    pub(crate) fn again(mut self, words: &[&str]) -> Self {
        self.signal(Signal::KILL);
        self.child.wait().unwrap();
        Self::launch_in(Arc::clone(&self.home), words, &[], Unread::Neither)
    }

    fn launch_in(
        home: Arc<tempfile::TempDir>,
        words: &[&str],
        variables: &[(&str, &str)],
        unread: Unread,
    ) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dh"))
            .args(words)
            .args(["--data", home.path().to_str().unwrap()])
            .envs(variables.iter().copied())
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (out, err, unread): (_, _, Option<Box<dyn Read>>) = match unread {
            Unread::Neither => (lines(out), lines(err), None),
            Unread::Stdout => (lines(empty()), lines(err), Some(Box::new(out))),
            Unread::Stderr => (lines(out), lines(empty()), Some(Box::new(err))),
        };
        Self { child, stdin, out, err, _unread: unread, heard: Vec::new(), home }
    }

    /// The folder it was started in, which is its data folder too.
    pub(crate) fn home(&self) -> &std::path::Path {
        self.home.path()
    }

    /// Type a line on its console.
    pub(crate) fn type_line(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
        self.stdin.flush().unwrap();
    }

    /// The next line on its stdout that holds `part`; what came before is kept.
    pub(crate) fn line_with(&mut self, part: &str) -> String {
        let until = Instant::now() + PATIENCE;
        while let Ok(line) = self.out.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            self.heard.push(line.clone());
            if line.contains(part) {
                return line;
            }
        }
        panic!("no line with {part:?} came; heard {:#?}", self.heard);
    }

    /// Wait for a line on its stderr that holds `part`.
    pub(crate) fn error_with(&mut self, part: &str) {
        let until = Instant::now() + PATIENCE;
        let left = || until.saturating_duration_since(Instant::now());
        while let Ok(line) = self.err.recv_timeout(left()) {
            if line.contains(part) {
                return;
            }
        }
        panic!("no line with {part:?} came on stderr");
    }

    /// Where a server is ready, as its first line says.
    pub(crate) fn address(&mut self) -> String {
        let ready = self.line_with("ready on ");
        ready.split_whitespace().nth(2).unwrap().trim_end_matches(',').to_owned()
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Bytes that it has in memory.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
    }

    /// Send a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// Processor time that it has spent so far, to a hundredth of a second.
    pub(crate) fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // After the name, which may hold anything: user and system time are 12th and 13th.
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).map(|it| it.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Wait until it has ended.
    pub(crate) fn end(&mut self) -> Ended {
        let until = Instant::now() + PATIENCE * 2;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
                None => {
                    self.child.kill().unwrap();
                    panic!("it did not end; heard {:#?}", self.heard);
                }
            }
        };
        self.heard.extend(self.out.iter());
        Ended { status, out: self.heard.clone(), err: self.err.iter().collect() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (to, from) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    from
}
