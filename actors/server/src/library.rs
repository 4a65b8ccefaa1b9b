//! Library: the pallets that peers may fetch, and where they lie on this machine.
//!
//! Shared by transfers and the map switch. Only what the newest and the former advert named can be
//! had, so that nobody pulls a private map by a guessed hash.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_machine::{DiskError, DiskErrorKind, DiskFile};
use dh_messages::Content;
use dh_store::{Found, Store};

/// Where the content of one server lies. Clones are the same library.
#[derive(Clone, Debug)]
pub struct Library {
    /// None for a server that knows no pallets.
    store: Option<Store>,
    /// The newest closure, and the one before.
    closures: Arc<Mutex<[Vec<Held>; 2]>>,
}

/// A pallet that may be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which, and where it lies.
    pub found: Found,
    /// Its id, for people.
    pub pallet: String,
}

impl Library {
    /// An empty library of pallets in `store`.
    #[must_use]
    pub fn new(store: Option<Store>) -> Self {
        Self { store, closures: Arc::default() }
    }

    /// Open one of its files.
    ///
    /// # Errors
    /// When the disk does not let us.
    pub fn open(&self, held: &Held) -> Result<Box<dyn DiskFile>, DiskError> {
        let path = held.found.path.as_str();
        let store = self.store.as_ref();
        let store = store.ok_or_else(|| DiskError::new(DiskErrorKind::NotFound, path))?;
        store.open_file(&held.found)
    }

    /// From now on these are advertised; those before the last ones are forgotten.
    pub fn advertise(&self, closure: Vec<Held>) {
        let mut closures = self.lock();
        let [newest, former] = &mut *closures;
        *former = std::mem::replace(newest, closure);
    }

    /// Where this content lies, if it may be fetched.
    #[must_use]
    pub fn find(&self, content: Content) -> Option<Held> {
        self.lock().iter().flatten().find(|held| held.found.content == content).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, [Vec<Held>; 2]> {
        self.closures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use dh_messages::{Hash128, Root};
    use dh_store::Place;

    use super::*;

    fn held(number: u8) -> Held {
        let content = Content { fingerprint: Hash128([number; 16]), root: Root([number; 32]) };
        let path = format!("/maps/{number}.pallet");
        let found = Found { path, place: Place::Given, content };
        Held { found, pallet: "p".to_owned() }
    }

    /// MR-Q28
    #[test]
    fn only_the_newest_and_the_former_closure_can_be_had() {
        let library = Library::new(None);
        let have = |number| library.find(held(number).found.content).is_some();
        library.advertise(vec![held(1), held(2)]);
        library.advertise(vec![held(3)]);
        assert!(have(1) && have(2) && have(3) && !have(4));
        library.advertise(Vec::new());
        assert!(have(3) && !have(1));
        let twin = Content { root: Root([9; 32]), ..held(3).found.content };
        assert_eq!(library.find(twin), None, "another root is another content");
    }
}
