//! Spec: the facts an actor declares about itself, beside its messages.

use crate::Micros;

/// What an actor promises: its bounds, its restarts and whom it asks.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The kind of actor, as metrics and the actor tree name it.
    pub kind: &'static str,
    /// Messages the control lane holds.
    pub control_max: usize,
    /// Messages the data lane holds.
    pub data_max: usize,
    /// Whether a data message wakes the actor, or waits for its next deadline.
    pub data_wakes: bool,
    /// How often the machine may be remade before its supervisor is told.
    pub restart: Restart,
    /// Who else restarts with it.
    pub strategy: Strategy,
    /// How long an ask of this actor may stay unanswered; `None` where it asks nobody.
    pub ask_deadline: Option<Micros>,
    /// The kinds of actor it waits for an answer from. The graph of all specs is acyclic.
    pub asks: &'static [&'static str],
}

/// A restart budget: at most `count` restarts in any span of `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    /// Restarts allowed within the window.
    pub count: u32,
    /// The span that is looked back over.
    pub window: Micros,
}

/// Which siblings are remade when an actor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The actor alone.
    OneForOne,
    /// The actor and every sibling started after it.
    RestForOne,
    /// Every sibling.
    OneForAll,
}
