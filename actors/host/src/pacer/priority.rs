//! Priority and sleep timer of the current thread, put back when the guard is dropped.
//!
//! Linux; elsewhere both do nothing and say so. A refusal by the host is told once and never fatal.

use std::io;

/// The thread runs at a higher priority for as long as this lives.
#[derive(Debug)]
pub struct RaisedPriority {
    before: i32,
}

impl RaisedPriority {
    /// The nice value asked for; it takes the tick's tail beside busy threads from milliseconds to
    /// tens of microseconds.
    pub const NICE: i32 = -10;

    /// Raise the priority of this thread.
    ///
    /// # Errors
    /// The host does not allow it, usually because the process has no such right.
    pub fn raise() -> io::Result<Self> {
        let before = nice()?;
        set_nice(before.min(Self::NICE))?;
        Ok(Self { before })
    }
}

impl Drop for RaisedPriority {
    fn drop(&mut self) {
        // Lowering one's own priority is always allowed.
        let _ = set_nice(self.before);
    }
}

/// The host's sleep timer is as fine as it can be for as long as this lives. Shared by the tick
/// thread and the client's frame limiter.
#[derive(Debug)]
pub struct HostTimerPeriod {
    before: u64,
}

impl HostTimerPeriod {
    /// Tighten the sleep timer of this thread to a nanosecond of slack.
    ///
    /// # Errors
    /// The host has no such knob.
    pub fn tighten() -> io::Result<Self> {
        let before = slack()?;
        set_slack(1)?;
        Ok(Self { before })
    }

    /// The slack now, in nanoseconds.
    ///
    /// # Errors
    /// The host has no such knob.
    pub fn slack_ns() -> io::Result<u64> {
        slack()
    }
}

impl Drop for HostTimerPeriod {
    fn drop(&mut self) {
        let _ = set_slack(self.before);
    }
}

/// The nice value of this thread: -20 (first) to 19 (last).
///
/// # Errors
/// The host has no such value.
pub fn priority_of_this_thread() -> io::Result<i32> {
    nice()
}

#[cfg(target_os = "linux")]
mod host {
    use std::io;
    use std::num::NonZeroU64;

    use rustix::process::{getpriority_process, setpriority_process};
    use rustix::thread::{current_timer_slack, gettid, set_current_timer_slack};

    // On Linux a nice value belongs to a thread and is addressed by its id.
    pub(super) fn nice() -> io::Result<i32> {
        Ok(getpriority_process(Some(gettid()))?)
    }

    pub(super) fn set_nice(value: i32) -> io::Result<()> {
        Ok(setpriority_process(Some(gettid()), value)?)
    }

    pub(super) fn slack() -> io::Result<u64> {
        Ok(current_timer_slack()?)
    }

    pub(super) fn set_slack(ns: u64) -> io::Result<()> {
        Ok(set_current_timer_slack(NonZeroU64::new(ns))?)
    }
}

#[cfg(not(target_os = "linux"))]
mod host {
    use std::io;

    fn none<T>() -> io::Result<T> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this host has no such knob"))
    }

    pub(super) fn nice() -> io::Result<i32> {
        none()
    }

    pub(super) fn set_nice(_value: i32) -> io::Result<()> {
        none()
    }

    pub(super) fn slack() -> io::Result<u64> {
        none()
    }

    pub(super) fn set_slack(_ns: u64) -> io::Result<()> {
        none()
    }
}

use self::host::{nice, set_nice, set_slack, slack};
