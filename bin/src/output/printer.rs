//! Printer: lines on their way to stdout or stderr, which perhaps nobody reads.
//!
//! Used by roles that run on, and by the log. Whoever prints never waits: each stream has a thread
//! that writes what stands in its bounded queue. What finds no room is dropped, counted and told.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes that may wait for one stream.
const WAITING_MAX: usize = 1 << 20;
/// How long the process waits at its end for a stream to take what is left.
const FLUSH_MAX: Duration = Duration::from_millis(500);
/// How often a stream that somebody made non-blocking is tried again.
const RETRY: Duration = Duration::from_millis(10);

static STDOUT: OnceLock<Printer> = OnceLock::new();
static STDERR: OnceLock<Printer> = OnceLock::new();

/// Prints to stdout.
pub(crate) fn out() -> &'static Printer {
    STDOUT.get_or_init(|| Printer::start("stdout", own(&io::stdout())))
}

/// Prints to stderr.
pub(crate) fn err() -> &'static Printer {
    STDERR.get_or_init(|| Printer::start("stderr", own(&io::stderr())))
}

/// Gives what was printed to stdout a moment to leave.
///
/// # Errors
/// What the stream failed with, if it took no more at some time.
pub(crate) fn finish_out() -> io::Result<()> {
    STDOUT.get().map_or(Ok(()), |printer| printer.finish(FLUSH_MAX))
}

/// Gives what was printed to stderr a moment to leave; there is nowhere to tell that it could not.
pub(crate) fn finish_err() {
    drop(STDERR.get().map(|printer| printer.finish(FLUSH_MAX)));
}

/// The stream without the standard library's lock and buffer, which a stuck write would hold.
fn own(stream: &impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// One stream's queue and the thread that writes it.
#[derive(Debug)]
pub(crate) struct Printer {
    queue: Arc<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<u8>,
    /// Lines that found no room since the thread last took what waits.
    dropped: u64,
    /// The thread has taken something and not yet written all of it.
    writing: bool,
    as_json: bool,
    /// Why the stream takes no more.
    broken: Option<io::Error>,
}

impl Printer {
    fn start(name: &str, stream: io::Result<impl Write + Send + 'static>) -> Self {
        let queue = Arc::new(Queue::default());
        let started = stream.and_then(|stream| {
            let queue = Arc::clone(&queue);
            let write = move || queue.write_to(stream);
            thread::Builder::new().name(name.to_owned()).spawn(write)
        });
        if let Err(error) = started {
            queue.break_off(error);
        }
        Self { queue }
    }

    /// From here on dropped lines are told as JSON, as everything else on this stream.
    pub(crate) fn speak_json(&self) {
        self.queue.lock().as_json = true;
    }

    /// Prints lines as they are, each with its end; waits for nothing.
    pub(crate) fn print(&self, lines: &[u8]) {
        let mut state = self.queue.lock();
        if state.broken.is_some() {
            return;
        }
        let full = state.waiting.len().saturating_add(lines.len()) > WAITING_MAX;
        // Lines keep their order: after the first that is dropped, all are until there is room.
        if state.dropped > 0 || (full && !state.waiting.is_empty()) {
            state.dropped += 1;
            return;
        }
        state.waiting.extend_from_slice(lines);
        drop(state);
        self.queue.changed.notify_all();
    }

    /// Waits until everything is written, at most so long.
    fn finish(&self, longest: Duration) -> io::Result<()> {
        let state = self.queue.lock();
        let busy = |state: &mut State| state.writing || !state.waiting.is_empty();
        let waited = self.queue.changed.wait_timeout_while(state, longest, busy);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.broken.take() {
            // A reader that went away is not a failure.
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut stream: impl Write) {
        loop {
            let lines = self.take();
            if let Err(error) = write_all(&mut stream, &lines) {
                self.break_off(error);
                return;
            }
        }
    }

    /// All that waits, once something does; how many lines were dropped behind it comes last.
    fn take(&self) -> Vec<u8> {
        let mut state = self.lock();
        state.writing = false;
        self.changed.notify_all();
        let idle = |state: &mut State| state.waiting.is_empty();
        let waited = self.changed.wait_while(state, idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.writing = true;
        let mut lines = std::mem::take(&mut state.waiting);
        let dropped = std::mem::take(&mut state.dropped);
        if dropped > 0 {
            lines.extend_from_slice(note(dropped, state.as_json).as_bytes());
        }
        lines
    }

    fn break_off(&self, error: io::Error) {
        let mut state = self.lock();
        *state = State { broken: Some(error), ..State::default() };
        drop(state);
        self.changed.notify_all();
    }
}

fn note(dropped: u64, as_json: bool) -> String {
    if as_json {
        format!("{}\n", serde_json::json!({ "event": "dropped", "lines": dropped }))
    } else {
        format!("... {dropped} lines were dropped: nobody read them\n")
    }
}

fn write_all(stream: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => (),
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(RETRY),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
