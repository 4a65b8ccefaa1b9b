//! Drivers: when the turns of a shell happen. In the simulated runtime all are tasks of one thread.
//!
//! `actix`: on an arbiter, woken by a unit message. `thread`: on its own thread, blocking until a
//! message or a deadline. `task`: what `thread` is in simulation. `pumped`: when its owner says.

mod actix;
mod pumped;
mod task;
mod thread;

pub use self::pumped::Pump;

use crate::actor::Actor;
use crate::runtime::{Hands, Runtime};
use crate::scope::Place;
use crate::shell::Life;

/// Start driving an actor where it is to run.
pub(crate) fn start<A: Actor>(runtime: &Runtime, place: Place, life: Life<A>) {
    match (runtime.hands(), place) {
        (Hands::Real(real), Place::Thread(name)) => {
            let path = life.entry().path.clone();
            match thread::start(name, life) {
                Ok(thread) => real.keep(thread),
                // The life was dropped with the closure, which has ended the actor and told so.
                Err(error) => tracing::error!(actor = path, "no thread for it: {error}"),
            }
        }
        (Hands::Real(real), _) => actix::start(&real.arbiter(place), life),
        (Hands::Simulated(only), Place::Thread(_)) => task::start(&only.arbiter, life),
        (Hands::Simulated(only), _) => actix::start(&only.arbiter, life),
    }
}
