//! Builds that are not this one: its schema with some changes, played by this build's code. What
//! such a peer writes is rewritten at its connection, as its build would have written it; it
//! announces its build's schema, and is read by others as that build.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use dh_host::KnownBuilds;
use dh_host::net::Accent;
use dh_messages::{BuildError, Direction, Own, Scratch, row, schema};
use dh_wire::plan::Plan;
use dh_wire::schema::{Edit, EditError, Type};
use dh_wire::{Schema, WireError};

/// This build, made once for all worlds of the process.
static OWN: LazyLock<Arc<Own>> = LazyLock::new(|| Arc::new(Own::this()));

/// Another build, as what is different in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherBuild {
    /// What it is called.
    pub name: String,
    /// The changes, one after the other.
    pub edits: Vec<Edit>,
}

/// A build that cannot be.
#[derive(Debug)]
pub enum NoBuild {
    /// A change that has no place.
    Edit(EditError),
    /// A schema that would be refused.
    Schema(BuildError),
    /// What it would write cannot be made of what this build writes.
    Writer(WireError),
}

/// A process of this build, or of another, that has met no other.
///
/// # Panics
/// When the other build cannot be: the scenario is at fault.
#[expect(clippy::panic, reason = "the scenario is at fault and cannot go on")]
pub(crate) fn process(build: Option<&OtherBuild>, reads: Direction) -> KnownBuilds {
    let known = |build: &OtherBuild| {
        posing(build, reads)
            .unwrap_or_else(|error| panic!("a scenario's build {}: {error}", build.name))
    };
    build.map_or_else(|| KnownBuilds::new(Arc::clone(&OWN)), known)
}

/// A process of another build.
///
/// # Errors
/// When there can be no such build.
fn posing(build: &OtherBuild, reads: Direction) -> Result<KnownBuilds, NoBuild> {
    let schema = build.schema().map_err(NoBuild::Edit)?;
    let own = Own::posing_as(&schema, reads).map_err(NoBuild::Schema)?;
    let writes = match reads {
        Direction::ToServer => Direction::ToClient,
        Direction::ToClient => Direction::ToServer,
    };
    let accent = accent(&schema, writes).map_err(NoBuild::Writer)?;
    Ok(KnownBuilds::new(Arc::new(own)).speaking(accent))
}

/// How a build of this schema writes what this one does.
fn accent(other: &Schema, writes: Direction) -> Result<Accent, WireError> {
    let plan = Plan::new(other, schema(), writes.word())?;
    let scratch = Mutex::new(Scratch::default());
    Ok(Accent::new(move |id, body| {
        if row(writes, id).is_some_and(|row| row.frame) {
            return Some((id, body.to_vec()));
        }
        let mut scratch = scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let planned = plan.rewrite(id, body, &mut scratch).ok()?;
        planned.message(body, &scratch).map(|(id, body)| (id, body.to_vec()))
    }))
}

impl OtherBuild {
    /// The builds that scenarios know by name: five earlier ones, and five later ones.
    pub const NAMES: [&str; 10] = [
        "older-5", "older-4", "older-3", "older-2", "older-1", "newer-1", "newer-2", "newer-3",
        "newer-4", "newer-5",
    ];

    /// One of those.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let edits = match name {
            "older-1" => {
                vec![without("consoleLine"), without("consoleLine"), less("Buttons", "fast")]
            }
            "older-2" => vec![
                without("clientNotice"),
                without("blobRefused"),
                less("ClientInfo", "avatar"),
                less("EntityState", "scale"),
            ],
            "older-3" => vec![
                less("SnapshotHead", "rest_revision"),
                less("ServerInfo", "world_id"),
                less("RecordFlags", "crouching"),
                other("ChatKind"),
            ],
            "older-4" => vec![
                moved("PlayerInput", "sequence", 6),
                moved("SpawnAck", "map_generation", 0),
                renamed("WorldSettings", "noclip_speed", "fly_speed"),
                wider("ClientReady", "map_generation"),
            ],
            "older-5" => vec![
                without("clientChat"),
                less("PlayerEntry", "colour"),
                wider("ServerInfo", "tick_rate"),
                other("Severity"),
            ],
            "newer-1" => vec![
                more("ServerInfo", 3, "motd", Type::Str16(512)),
                more("ClientInfo", 0, "locale", Type::Str8(16)),
            ],
            "newer-2" => vec![
                wider("BlobChunk", "index"),
                wider("PlayerList", "upserts"),
                widest("ChatKind"),
                widest("Form"),
            ],
            "newer-3" => vec![
                moved("SnapshotHead", "owner", 0),
                moved("EntityState", "yaw", 0),
                other("NetKind"),
                other("PawnFlags"),
                other("Buttons"),
            ],
            "newer-4" => vec![
                more("EntityState", 2, "health", Type::Leaf(dh_wire::Kind::U8)),
                more("OwnerDetail", 0, "armour", Type::Leaf(dh_wire::Kind::Varu32)),
                more("PlayerInput", 4, "lean", Type::Leaf(dh_wire::Kind::I8)),
            ],
            "newer-5" => vec![
                less("ClientInfo", "seed_colour"),
                more("ClientInfo", 1, "seed_colour", Type::Leaf(dh_wire::Kind::F32x3)),
                wider("SnapshotAck", "tick"),
                wider("SnapshotHead", "input_ack"),
                wider("WorldSettings", "time_scale"),
            ],
            _ => return None,
        };
        Some(Self { name: name.to_owned(), edits })
    }

    /// Whether there can be such a build.
    ///
    /// # Errors
    /// When there cannot.
    pub fn check(&self) -> Result<(), NoBuild> {
        posing(self, Direction::ToServer)?;
        posing(self, Direction::ToClient).map(drop)
    }

    /// Its schema.
    ///
    /// # Errors
    /// A change that has no place.
    pub fn schema(&self) -> Result<Schema, EditError> {
        let mut schema = schema();
        self.edits.iter().try_for_each(|edit| schema.edit(edit)).map(|()| schema)
    }
}

fn without(message: &str) -> Edit {
    Edit::Drop { message: message.to_owned() }
}

fn more(shape: &str, at: usize, name: &str, kind: Type) -> Edit {
    Edit::Add { shape: shape.to_owned(), at, name: name.to_owned(), kind }
}

fn less(shape: &str, name: &str) -> Edit {
    Edit::Remove { shape: shape.to_owned(), name: name.to_owned() }
}

fn moved(shape: &str, name: &str, to: usize) -> Edit {
    Edit::Move { shape: shape.to_owned(), name: name.to_owned(), to }
}

fn wider(shape: &str, name: &str) -> Edit {
    Edit::Widen { shape: shape.to_owned(), name: Some(name.to_owned()) }
}

fn widest(shape: &str) -> Edit {
    Edit::Widen { shape: shape.to_owned(), name: None }
}

fn other(shape: &str) -> Edit {
    Edit::Renumber { shape: shape.to_owned() }
}

fn renamed(shape: &str, from: &str, to: &str) -> Edit {
    Edit::Rename { shape: shape.to_owned(), from: from.to_owned(), to: to.to_owned() }
}

impl std::fmt::Display for NoBuild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Edit(error) => error.fmt(f),
            Self::Schema(error) => error.fmt(f),
            Self::Writer(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NoBuild {}
