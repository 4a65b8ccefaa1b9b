//! Exit: how the program ends, and the one or two lines it says before.
//!
//! Used by every role. No other code ends the process, and 101, the code of an uncaught panic, is
//! never seen: a panic that reaches the top is told in one line and ends as [`Exit::Internal`].

use crate::output::{self, printer};
use serde_json::{Value, json};
use std::any::Any;
use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;
use std::thread;

/// Every way the program can end. Scripts depend on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done; also a server stopped by a signal or by `stop`.
    Success = 0,
    /// Everything ran, and something that was to be shown did not hold: a check of a scenario.
    Failed = 1,
    /// A verb, flag or value that does not exist.
    Usage = 2,
    /// An input that was read and is damaged.
    Damaged = 65,
    /// An input that is not there.
    Missing = 66,
    /// No usable graphics adapter, or a server that could not be reached.
    Unavailable = 69,
    /// A fault of ours, told in one line.
    Internal = 70,
    /// An output that cannot be created.
    CannotCreate = 73,
    /// Reading or writing failed half way.
    Io = 74,
    /// Try again later: the server is full, the port is in use.
    TryAgain = 75,
    /// The two ends do not speak the same protocol or have not the same content.
    Mismatch = 76,
    /// Refused: kicked, a changed or stolen key, a file open to others.
    Refused = 77,
    /// A preference or its file is wrong.
    Config = 78,
    /// A time limit that was asked for has passed.
    TimedOut = 124,
}

impl Exit {
    /// All of them, in order of their numbers.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 14] = [
        Self::Success,
        Self::Failed,
        Self::Usage,
        Self::Damaged,
        Self::Missing,
        Self::Unavailable,
        Self::Internal,
        Self::CannotCreate,
        Self::Io,
        Self::TryAgain,
        Self::Mismatch,
        Self::Refused,
        Self::Config,
        Self::TimedOut,
    ];

    /// Its number.
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a role could not do what was asked: a cause, and what the user can do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How the process ends.
    pub(crate) exit: Exit,
    /// One line a fault, without a full stop.
    pub(crate) cause: String,
    /// One line that names a command or a thing to install.
    pub(crate) remedy: Option<String>,
}

impl Failure {
    /// A failure with its cause.
    pub(crate) fn new(exit: Exit, cause: impl Display) -> Self {
        Self { exit, cause: cause.to_string(), remedy: None }
    }

    /// The same with what can be done about it.
    pub(crate) fn remedy(mut self, remedy: impl Display) -> Self {
        self.remedy = Some(remedy.to_string());
        self
    }

    /// The same with what can be done about it, where it does not say better itself.
    pub(crate) fn or_remedy<R: Display>(self, remedy: impl FnOnce() -> R) -> Self {
        if self.remedy.is_some() { self } else { self.remedy(remedy()) }
    }

    fn data(&self) -> Value {
        let mut data = json!({ "error": self.cause, "code": self.exit.code() });
        if let Some(remedy) = &self.remedy {
            data["try"] = remedy.as_str().into();
        }
        data
    }

    /// Tells the user on stderr; as JSON, in one object on one line.
    pub(crate) fn report(&self, as_json: bool) -> Exit {
        if as_json {
            say(&self.data().to_string());
            return self.exit;
        }
        self.cause.lines().for_each(|line| say(&format!("dh: {line}")));
        if let Some(remedy) = &self.remedy {
            say(&format!("  try: {remedy}"));
        }
        self.exit
    }
}

/// One line on stderr; a stderr that is closed, or that nobody reads, is nobody's fault.
pub(crate) fn say(line: &str) {
    printer::err().print(format!("{}\n", output::tame(line)).as_bytes());
}

thread_local! {
    /// What the newest panic of this thread said, and where.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Replaces Rust's own panic report: the main thread's panics are kept for [`guarded`], those of
/// other threads are logged. Actors catch their own and say what they did about it.
pub(crate) fn watch_panics() {
    panic::set_hook(Box::new(|info| {
        let told = describe(info);
        if thread::current().name() != Some("main") {
            tracing::error!(thread = thread::current().name(), "panic: {told}");
        }
        LAST_PANIC.with(|last| *last.borrow_mut() = Some(told));
    }));
}

/// How a role that is `done` ends the process, once what it printed had a moment to leave.
pub(crate) fn ended(as_json: bool, done: Result<(), Failure>) -> Exit {
    let left = output::finish();
    done.and(left).err().map_or(Exit::Success, |failure| failure.report(as_json))
}

/// Runs `role` to its end; a panic that escapes it is told in one line and ends as `Internal`.
pub(crate) fn guarded(role: impl FnOnce() -> Exit) -> Exit {
    let exit = panic::catch_unwind(AssertUnwindSafe(role)).unwrap_or_else(|payload| {
        let kept = LAST_PANIC.with(|last| last.borrow_mut().take());
        let told = kept.unwrap_or_else(|| message(payload.as_ref()));
        say(&format!("dh: internal failure, which is a bug: {told}"));
        Exit::Internal
    });
    printer::finish_err();
    exit
}

/// What a panic said and where, in one line.
fn describe(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
    format!("{}{}", message(info.payload()), place.unwrap_or_default())
}

/// What a panic said, in one line.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").replace('\n', " / ")
}

#[cfg(test)]
mod tests;
