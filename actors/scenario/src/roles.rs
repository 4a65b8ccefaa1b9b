//! Roles: how a peer behaves that nobody steers.

use dh_client::Manner;
use dh_machine::Micros;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// How a peer behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Hands off.
    Idle,
    /// Walks and turns.
    Walker,
    /// Walks, turns and jumps.
    Jumper,
    /// Walks, leaves after a while, and comes back.
    Joiner,
    /// Comes, forgets the content it fetched, and comes again.
    Downloader,
    /// Walks, and says a line now and then, sometimes more than it may.
    Chatter,
    /// No player at all: floods, opens handshakes for nothing, or reads nothing.
    Hostile,
}

/// What a role does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Join its server.
    Join,
    /// Leave it.
    Leave,
    /// Leave it, and forget what it fetched.
    LeaveAndForget,
    /// Say so many lines at once.
    Say(u32),
}

/// One peer that plays a role.
#[derive(Debug)]
pub(crate) struct Acting {
    role: Role,
    rng: ChaCha8Rng,
    /// When it does something next.
    next: Option<Micros>,
    is_here: bool,
}

impl Role {
    /// Each by the name scripts use, and what it does.
    pub const ALL: [(&'static str, Self, &'static str); 7] = [
        ("idle", Self::Idle, "hands off"),
        ("walker", Self::Walker, "walks and turns"),
        ("jumper", Self::Jumper, "walks, turns and jumps"),
        ("joiner", Self::Joiner, "walks, leaves after 2 to 6 s, and comes back after 1 to 3 s"),
        (
            "downloader",
            Self::Downloader,
            "comes, forgets the content it fetched after 2 to 6 s, and comes again",
        ),
        ("chatter", Self::Chatter, "walks, and says 1 to 6 lines every 1 to 4 s"),
        (
            "hostile",
            Self::Hostile,
            "no player: garbage, handshakes that never end, or a peer that reads nothing",
        ),
    ];

    /// How its stick is held.
    #[must_use]
    pub const fn manner(self) -> Manner {
        match self {
            Self::Idle | Self::Downloader | Self::Hostile => Manner::Idle,
            Self::Walker | Self::Joiner | Self::Chatter => Manner::Walker,
            Self::Jumper => Manner::Jumper,
        }
    }
}

impl Acting {
    /// Somebody who joins for the first time now.
    pub(crate) fn new(role: Role, rng: ChaCha8Rng, now: Micros) -> Self {
        let mut acting = Self { role, rng, next: None, is_here: true };
        acting.next = acting.stays().map(|span| now + span);
        acting
    }

    /// What is done now, if it is time.
    pub(crate) fn act(&mut self, now: Micros) -> Option<Act> {
        if now < self.next? {
            return None;
        }
        if self.role == Role::Chatter {
            self.next = self.stays().map(|span| now + span);
            return Some(Act::Say(self.below(6) + 1));
        }
        self.is_here = !self.is_here;
        let span = if self.is_here { self.stays()? } else { self.span(1_000, 3_000) };
        self.next = Some(now + span);
        Some(match (self.is_here, self.role) {
            (true, _) => Act::Join,
            (false, Role::Downloader) => Act::LeaveAndForget,
            (false, _) => Act::Leave,
        })
    }

    fn stays(&mut self) -> Option<Micros> {
        match self.role {
            Role::Joiner | Role::Downloader => Some(self.span(2_000, 6_000)),
            Role::Chatter => Some(self.span(1_000, 4_000)),
            Role::Idle | Role::Walker | Role::Jumper | Role::Hostile => None,
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.rng.next_u64() % u64::from(bound)).unwrap_or(0)
    }

    fn span(&mut self, least: u64, most: u64) -> Micros {
        Micros::from_millis(least + self.rng.next_u64() % (most - least))
    }
}
