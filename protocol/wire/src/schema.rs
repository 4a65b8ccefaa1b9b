//! A protocol as data: every message, shape, enum and flag set by name.
//!
//! Made by `Describe` from the declarations, or read from the text of another build; used by the
//! schema walker, by tools and by the plans for other builds. Never: bytes of a packet.

mod check;
mod edit;
mod error;
mod pack;
mod parse;
mod preset;
mod text;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

pub use self::edit::{Edit, EditError};
pub use self::error::{SchemaError, SchemaFault};
pub use self::pack::{pack, unpack};
pub(crate) use self::preset::section;
use crate::describe::Describe;
use crate::error::{Fault, WireError};
use crate::hash::Hash128;
use crate::kind::{Kind, Width};
use crate::limit::SCHEMA_TEXT_MAX;
use crate::walk::{Fields, Value as _, Walk};

/// A whole protocol.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The version of the frame around it.
    pub protocol: u32,
    /// The messages, by direction and number.
    pub messages: Vec<MessageEntry>,
    /// Every named shape, enum and flag set.
    pub shapes: BTreeMap<String, Shape>,
    /// What the fields of each record hold before a visit, as bytes. Known of this build's records
    /// alone: no text spells it, and two schemas are the same without it.
    pub(crate) presets: BTreeMap<String, Vec<Vec<u8>>>,
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        let Self { protocol, messages, shapes, presets: _ } = self;
        (protocol, messages, shapes) == (&other.protocol, &other.messages, &other.shapes)
    }
}

impl Eq for Schema {}

/// A message by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageEntry {
    /// The word for who receives it.
    pub direction: String,
    /// Its number, unique per direction.
    pub id: u8,
    /// Its name.
    pub name: String,
    /// The word for how it travels.
    pub channel: String,
    /// Whether it is part of the frozen frame.
    pub frame: bool,
    /// The shape of its body.
    pub shape: String,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Fields in wire order.
    Record(Vec<Field>),
    /// A mask, then the members whose bit is set; a member's bit is its place.
    Sparse(Width, Vec<Field>),
    /// A tag, then that case.
    Union(Width, Vec<Case>),
    /// A value by name.
    Enum {
        /// Its width.
        width: Width,
        /// Whether readers keep values without a name.
        open: bool,
        /// Name and value.
        members: Vec<(String, u32)>,
    },
    /// Bits by name.
    Flags(Width, Vec<(String, u32)>),
}

/// A named field or member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Type,
}

/// One case of a union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its tag.
    pub tag: u32,
    /// What follows the tag.
    pub kind: Type,
}

/// What a field is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A leaf without parameters.
    Leaf(Kind),
    /// Text behind a one-byte length, with its cap in bytes.
    Str8(usize),
    /// Text behind a two-byte length, with its cap in bytes.
    Str16(usize),
    /// Something with a name of its own, inline.
    Named(String),
    /// A presence byte, then the value if present.
    Optional(Box<Self>),
    /// A count, then entries.
    List {
        /// Where the count stands.
        count: CountAt,
        /// The most entries.
        cap: usize,
        /// What an entry is.
        entry: Box<Self>,
    },
    /// A two-byte length, then a body that may be longer than what it says.
    Section(Box<Self>),
    /// A place where the packet may end.
    Tail(Box<Self>),
}

/// Where the count of a list stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountAt {
    /// One byte before the entries.
    One,
    /// Two bytes before the entries.
    Two,
    /// In the newest count field of this name.
    Field(String),
}

impl Schema {
    /// An empty schema of the frame `protocol`.
    pub fn new(protocol: u32) -> Self {
        Self { protocol, ..Self::default() }
    }

    /// The schema that this text spells, if it is the canonical text of one whose shapes fit
    /// together: stepping over bytes with it takes a time that the bytes bound. Allocates at most
    /// [`READ_MEMORY_RATIO_MAX`](crate::limit::READ_MEMORY_RATIO_MAX) times what came.
    ///
    /// # Errors
    ///
    /// The first line that is wrong, and how.
    pub fn read(text: &[u8]) -> Result<Self, SchemaError> {
        if text.len() > SCHEMA_TEXT_MAX {
            let fault = SchemaFault::TooLong { bytes: text.len(), cap: SCHEMA_TEXT_MAX };
            return Err(SchemaError::new(0, fault));
        }
        let text =
            core::str::from_utf8(text).map_err(|_| SchemaError::new(0, SchemaFault::NotUtf8))?;
        let schema = parse::parse(text)?;
        if let Err(misfit) = check::check(&schema) {
            return Err(SchemaError::new(heading(text, misfit.name), misfit.fault));
        }
        match first_difference(text, &schema.text()) {
            None => Ok(schema),
            Some(line) => Err(SchemaError::new(line, SchemaFault::NotCanonical)),
        }
    }

    /// Adds the shape `F` and all it holds; returns its name.
    pub fn shape<F: Fields>(&mut self) -> Result<String, WireError> {
        let mut describe = Describe::new(self);
        let walk: &mut dyn Walk = &mut describe;
        F::default().walk("", walk)?;
        Ok(F::SHAPE.to_owned())
    }

    /// Adds one named thing; the same name may come again only with the same content.
    pub(crate) fn insert(&mut self, name: &'static str, shape: Shape) -> Result<(), WireError> {
        match self.shapes.get(name) {
            None => {
                self.shapes.insert(name.to_owned(), shape);
                Ok(())
            }
            Some(known) if *known == shape => Ok(()),
            Some(_) => Err(WireError::new(name, Fault::ShapeConflict)),
        }
    }

    /// Adds what the fields of a record hold before a visit; the same wherever it is used.
    pub(crate) fn preset(
        &mut self,
        name: &'static str,
        presets: Vec<Vec<u8>>,
    ) -> Result<(), WireError> {
        match self.presets.get(name) {
            None => {
                self.presets.insert(name.to_owned(), presets);
                Ok(())
            }
            Some(known) if *known == presets => Ok(()),
            Some(_) => Err(WireError::new(name, Fault::PresetConflict)),
        }
    }

    /// The identity of the whole schema: that of its text.
    pub fn identity(&self) -> Hash128 {
        identity(self.text().as_bytes())
    }
}

/// The identity of the schema whose text this is: the first 16 bytes of its BLAKE3. Nobody can make
/// a text with the identity of another, so that whoever announces a hash is read by that text,
/// whoever told it.
pub fn identity(text: &[u8]) -> Hash128 {
    let mut first = [0; 16];
    first.copy_from_slice(&blake3::hash(text).as_bytes()[..16]);
    Hash128(first)
}

/// The line that names a shape first, from 1: its heading, or a message that has it.
fn heading(text: &str, shape: &str) -> u32 {
    let names = |line: &str| line.split(' ').any(|word| word == shape);
    numbered(text.lines().position(names))
}

/// The first line that differs, from 1.
fn first_difference(text: &str, canonical: &str) -> Option<u32> {
    let pairs = || text.split('\n').zip(canonical.split('\n'));
    (text != canonical).then(|| numbered(pairs().position(|(a, b)| a != b)))
}

fn numbered(position: Option<usize>) -> u32 {
    position.and_then(|it| u32::try_from(it + 1).ok()).unwrap_or(0)
}
