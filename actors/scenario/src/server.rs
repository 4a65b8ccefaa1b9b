//! A server of a scenario.

/// One server of a scenario, in the order of making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u32);

/// What a server is made from.
#[derive(Clone, Debug, Default)]
pub struct ServerSetup {
    /// Preferences as `KEY=VALUE`.
    pub prefs: Vec<String>,
}

impl ServerSetup {
    /// With a preference, `KEY=VALUE`.
    #[must_use]
    pub fn with(mut self, pref: impl Into<String>) -> Self {
        self.prefs.push(pref.into());
        self
    }
}
