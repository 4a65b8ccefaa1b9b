//! Builds of a process: its own, and those it has met. One for all its servers and clients.
//!
//! Handed to them at their start. What was met is read as a copy and changed by whoever performs,
//! so that no machine shares it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_messages::limit::BUILDS_MAX;
use dh_messages::{Build, Builds, Own};

use crate::limits::Limit;
use crate::net::Accent;
use crate::runtime::Runtime;

/// What a process knows of builds. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub struct KnownBuilds {
    own: Arc<Own>,
    met: Arc<Mutex<Builds>>,
    accent: Option<Accent>,
}

impl KnownBuilds {
    /// A process of this build that has met no other.
    #[must_use]
    pub fn of_this_build() -> Self {
        Self::new(Arc::new(Own::this()))
    }

    /// A process of a build that has met no other.
    #[must_use]
    pub fn new(own: Arc<Own>) -> Self {
        Self { own, met: Arc::default(), accent: None }
    }

    /// One that writes in this way, where that is not how this build does.
    #[must_use]
    pub fn speaking(self, accent: Accent) -> Self {
        Self { accent: Some(accent), ..self }
    }

    /// Its own.
    #[must_use]
    pub fn own(&self) -> &Arc<Own> {
        &self.own
    }

    /// How it writes, where that is not as this build does.
    #[must_use]
    pub fn accent(&self) -> Option<&Accent> {
        self.accent.as_ref()
    }

    /// Those it has met.
    #[must_use]
    pub fn met(&self) -> Builds {
        self.lock().clone()
    }

    /// One was met just now. Where others are given up for it, that is counted.
    pub fn keep(&self, build: Arc<Build>, runtime: &Runtime) {
        if self.lock().keep(build) {
            Self::limit(runtime).hit();
        }
    }

    /// Name the limit, so that it is shown before anybody runs into it.
    pub fn declare(&self, runtime: &Runtime) {
        Self::limit(runtime);
    }

    fn limit(runtime: &Runtime) -> Limit {
        let max = u64::try_from(BUILDS_MAX).unwrap_or(u64::MAX);
        runtime.limits().named("builds", "other builds", max)
    }

    fn lock(&self) -> MutexGuard<'_, Builds> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
