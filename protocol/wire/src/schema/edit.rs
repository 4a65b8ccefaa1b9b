//! Other builds made of this one: its schema with a few things changed, as a later or an earlier
//! build would have changed them.
//!
//! Used by whoever wants a peer of another build without compiling one: its packets are this
//! build's, rewritten by a plan. Never: a change that needs a frame of another version.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{CountAt, Field, Schema, Shape, Type};
use crate::kind::{Kind, Width};

/// One change of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A field or member more, in front of the one at this place or behind the last.
    Add {
        /// The record or sparse set.
        shape: String,
        /// In front of which.
        at: usize,
        /// Its name.
        name: String,
        /// What it is.
        kind: Type,
    },
    /// A field, member, case, name or bit less.
    Remove {
        /// What it is of.
        shape: String,
        /// Which.
        name: String,
    },
    /// A field, member or case in another place.
    Move {
        /// What it is of.
        shape: String,
        /// Which.
        name: String,
        /// How many stand in front of it then.
        to: usize,
    },
    /// A number, a text's length, a list's count, a mask or a tag in the next width.
    Widen {
        /// What it is of, or the enum, flags, sparse set or union itself.
        shape: String,
        /// Which field; nothing for the shape itself.
        name: Option<String>,
    },
    /// The numbers of an enum, of flags or of cases in reverse.
    Renumber {
        /// Which.
        shape: String,
    },
    /// A field, member, case, name or bit that means something else now, and so is called so.
    Rename {
        /// What it is of.
        shape: String,
        /// What it was called.
        from: String,
        /// What it is called.
        to: String,
    },
    /// A message less.
    Drop {
        /// Which.
        message: String,
    },
}

/// A change that this schema has no place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditError(pub Edit);

impl Schema {
    /// This schema with one thing changed.
    ///
    /// # Errors
    ///
    /// The change, where the schema does not hold what it changes.
    pub fn edit(&mut self, edit: &Edit) -> Result<(), EditError> {
        self.try_edit(edit).ok_or_else(|| EditError(edit.clone()))
    }

    fn try_edit(&mut self, edit: &Edit) -> Option<()> {
        match edit {
            Edit::Add { shape, at, name, kind } => {
                let fields = self.fields_mut(shape)?;
                let is_new = fields.iter().all(|field| field.name != *name);
                let field = Field { name: name.clone(), kind: kind.clone() };
                (is_new && *at <= fields.len()).then(|| fields.insert(*at, field))?;
            }
            Edit::Remove { shape, name } => match self.shapes.get_mut(shape)? {
                Shape::Record(fields) | Shape::Sparse(_, fields) => {
                    fields.remove(place(fields, |field| field.name == *name)?);
                }
                Shape::Union(_, cases) => {
                    cases.remove(place(cases, |case| case.name == *name)?);
                }
                Shape::Enum { members, .. } | Shape::Flags(_, members) => {
                    members.remove(place(members, |(member, _)| member == name)?);
                }
            },
            Edit::Move { shape, name, to } => match self.shapes.get_mut(shape)? {
                Shape::Record(fields) | Shape::Sparse(_, fields) => {
                    move_to(fields, *to, |field| field.name == *name)?;
                }
                Shape::Union(_, cases) => move_to(cases, *to, |case| case.name == *name)?,
                Shape::Enum { .. } | Shape::Flags(..) => return None,
            },
            Edit::Widen { shape, name: Some(name) } => {
                let fields = self.fields_mut(shape)?;
                let at = place(fields, |field| field.name == *name)?;
                fields[at].kind = widened(&fields[at].kind)?;
            }
            Edit::Widen { shape, name: None } => match self.shapes.get_mut(shape)? {
                Shape::Enum { width, .. }
                | Shape::Flags(width, _)
                | Shape::Sparse(width, _)
                | Shape::Union(width, _) => *width = wider(*width)?,
                Shape::Record(_) => return None,
            },
            Edit::Renumber { shape } => match self.shapes.get_mut(shape)? {
                Shape::Enum { members, .. } | Shape::Flags(_, members) => {
                    let numbers: Vec<u32> = members.iter().map(|(_, number)| *number).collect();
                    for ((_, number), other) in members.iter_mut().zip(numbers.iter().rev()) {
                        *number = *other;
                    }
                }
                Shape::Union(_, cases) => {
                    let tags: Vec<u32> = cases.iter().map(|case| case.tag).collect();
                    for (case, tag) in cases.iter_mut().zip(tags.iter().rev()) {
                        case.tag = *tag;
                    }
                }
                Shape::Record(_) | Shape::Sparse(..) => return None,
            },
            Edit::Rename { shape, from, to } => {
                let name = self.names_mut(shape)?.into_iter().find(|name| *name == from)?;
                to.clone_into(name);
            }
            Edit::Drop { message } => {
                let at = place(&self.messages, |it| it.name == *message && !it.frame)?;
                self.messages.remove(at);
            }
        }
        // What this build's fields held says nothing of another's.
        self.presets.clear();
        Some(())
    }

    fn fields_mut(&mut self, shape: &str) -> Option<&mut Vec<Field>> {
        match self.shapes.get_mut(shape)? {
            Shape::Record(fields) | Shape::Sparse(_, fields) => Some(fields),
            Shape::Union(..) | Shape::Enum { .. } | Shape::Flags(..) => None,
        }
    }

    fn names_mut(&mut self, shape: &str) -> Option<Vec<&mut String>> {
        Some(match self.shapes.get_mut(shape)? {
            Shape::Record(fields) | Shape::Sparse(_, fields) => {
                fields.iter_mut().map(|field| &mut field.name).collect()
            }
            Shape::Union(_, cases) => cases.iter_mut().map(|case| &mut case.name).collect(),
            Shape::Enum { members, .. } | Shape::Flags(_, members) => {
                members.iter_mut().map(|(name, _)| name).collect()
            }
        })
    }
}

fn place<T>(all: &[T], is_it: impl FnMut(&T) -> bool) -> Option<usize> {
    all.iter().position(is_it)
}

fn move_to<T>(all: &mut Vec<T>, to: usize, is_it: impl FnMut(&T) -> bool) -> Option<()> {
    let at = place(all, is_it)?;
    (to < all.len()).then_some(())?;
    let moved = all.remove(at);
    all.insert(to, moved);
    Some(())
}

/// The next width of a mask or a tag.
const fn wider(width: Width) -> Option<Width> {
    match width {
        Width::One => Some(Width::Two),
        Width::Two => Some(Width::Four),
        Width::Four => None,
    }
}

fn widened(kind: &Type) -> Option<Type> {
    use Kind::{F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Varu32};
    Some(match kind {
        Type::Leaf(kind) => Type::Leaf(match kind {
            U8 => U16,
            U16 => U32,
            U32 => Varu32,
            Varu32 => U64,
            I8 => I16,
            I16 => I32,
            I32 => I64,
            F32 => F64,
            _ => return None,
        }),
        Type::Str8(cap) => Type::Str16(*cap),
        Type::List { count: CountAt::One, cap, entry } => {
            Type::List { count: CountAt::Two, cap: *cap, entry: entry.clone() }
        }
        _ => return None,
    })
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Edit::Add { shape, at, name, .. } => write!(
                f,
                "{shape}.{name} cannot be added behind {at} fields; expected a record or sparse \
                 set with no such field, and with so many"
            ),
            Edit::Remove { shape, name } => {
                write!(f, "{shape}.{name} cannot be removed; expected a part that is there")
            }
            Edit::Move { shape, name, to } => write!(
                f,
                "{shape}.{name} cannot be placed behind {to} others; expected a field or case, \
                 and so many others"
            ),
            Edit::Widen { shape, name: Some(name) } => write!(
                f,
                "{shape}.{name} cannot be widened; expected a field whose number, length or count \
                 has a next width"
            ),
            Edit::Widen { shape, name: None } => write!(
                f,
                "{shape} cannot be widened; expected an enum, flags, a sparse set or a union of \
                 less than 4 bytes"
            ),
            Edit::Renumber { shape } => {
                write!(f, "{shape} cannot be renumbered; expected an enum, flags or a union")
            }
            Edit::Rename { shape, from, .. } => {
                write!(f, "{shape}.{from} cannot be renamed; expected a part that is there")
            }
            Edit::Drop { message } => write!(
                f,
                "message {message} cannot be dropped; expected one that is there and no part of \
                 the frame"
            ),
        }
    }
}

impl core::error::Error for EditError {}
