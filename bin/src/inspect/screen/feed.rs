//! Feed: one process's stream, read on a thread of its own for as long as the screen is open.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Event, spawn};
use crate::exit::Failure;
use crate::inspect::target::Target;

/// Changes a second.
const HZ: u32 = 10;
/// How long it rests before it tries a process again.
const AGAIN: Duration = Duration::from_millis(500);

/// What is to be listened to.
#[derive(Debug)]
pub(super) struct Feed(Arc<Mutex<Wanted>>);

#[derive(Debug, Default)]
struct Wanted {
    /// Grows whenever somebody wants something else.
    turn: u64,
    actor: Option<String>,
    /// Nobody listens any more.
    over: bool,
}

impl Feed {
    /// Listen to a process.
    pub(super) fn start(
        source: usize,
        target: Target,
        to: SyncSender<Event>,
    ) -> Result<Self, Failure> {
        let wanted = Arc::new(Mutex::new(Wanted::default()));
        let feed = Self(Arc::clone(&wanted));
        spawn("feed", move || while listen(source, &target, &wanted, &to).is_some() {})?;
        Ok(feed)
    }

    /// Listen no more.
    pub(super) fn end(&self) {
        let mut wanted = lock(&self.0);
        wanted.turn += 1;
        wanted.over = true;
    }

    /// Listen anew, with everything of the actor at this path.
    pub(super) fn follow(&self, actor: Option<String>) {
        let mut wanted = lock(&self.0);
        wanted.turn += 1;
        wanted.actor = actor;
    }
}

/// Listen to one stream to its end, or until another is wanted; nothing once nobody hears.
fn listen(
    source: usize,
    target: &Target,
    wanted: &Mutex<Wanted>,
    to: &SyncSender<Event>,
) -> Option<()> {
    let (turn, actor) = {
        let wanted = lock(wanted);
        if wanted.over {
            return None;
        }
        (wanted.turn, wanted.actor.clone())
    };
    let mut following = target.follow(HZ, actor.as_deref());
    while lock(wanted).turn == turn {
        let told = match &mut following {
            Ok(following) => following.next(),
            Err(failure) => Err(failure.clone()),
        };
        let has_failed = told.is_err();
        if lock(wanted).over {
            return None;
        }
        to.send(Event::Heard(source, told)).ok()?;
        if has_failed {
            std::thread::sleep(AGAIN);
            break;
        }
    }
    Some(())
}

fn lock(wanted: &Mutex<Wanted>) -> MutexGuard<'_, Wanted> {
    wanted.lock().unwrap_or_else(PoisonError::into_inner)
}
