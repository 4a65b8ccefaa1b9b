//! The cook: read, weld, drop, arrange. Memory beside the result is bounded by the limits: about
//! 100 bytes a triangle.

use std::fmt;

use glam::Vec3;

use crate::cooked::{Cooked, number32};
use crate::part::{Part, TRIANGLES_MAX};
use crate::tree::{Member, arrange};
use crate::weld::{spans, weld};

/// Corners of one cook at most, before welding.
const CORNERS_MAX: usize = 3 * TRIANGLES_MAX;
/// Each triangle is gone over so many times.
const PASSES: u64 = 3;

/// Why parts cannot be cooked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookError {
    /// More than [`TRIANGLES_MAX`] triangles, or three times as many corners.
    TooMany,
    /// An object's number is [`OBJECTS_MAX`](crate::OBJECTS_MAX) or more.
    ObjectNumber {
        /// The number.
        object: u32,
    },
    /// The indices of a part end within a triangle.
    Ragged {
        /// Whose part.
        object: u32,
    },
    /// A triangle names a corner that its part has not.
    NoSuchCorner {
        /// Whose part.
        object: u32,
        /// The corner.
        index: u32,
    },
    /// A corner in the world is no number.
    NotFinite {
        /// Whose part.
        object: u32,
    },
    /// A corner lies further out than [`REACH`](crate::REACH).
    TooFar {
        /// Whose part.
        object: u32,
    },
    /// Whoever was told of the progress said no.
    Stopped,
}

/// How far a cook is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Work done, 0 to `total`.
    pub done: u64,
    /// All work.
    pub total: u64,
}

/// Makes one searchable set of all triangles of the parts.
///
/// # Errors
/// [`CookError`] for the first part that is broken, or when there is too much.
pub fn cook(parts: &[Part<'_>]) -> Result<Cooked, CookError> {
    cook_while(parts, |_| true)
}

/// The same, telling `go_on` now and then how far it is; a no ends it.
///
/// # Errors
/// As [`cook`], and [`CookError::Stopped`] after a no.
pub fn cook_while(
    parts: &[Part<'_>],
    mut go_on: impl FnMut(Progress) -> bool,
) -> Result<Cooked, CookError> {
    let sum = |count: fn(&Part<'_>) -> usize| parts.iter().map(count).sum::<usize>();
    let count = sum(|part| part.indices.len()) / 3;
    if count > TRIANGLES_MAX || sum(|part| part.positions.len()) > CORNERS_MAX {
        return Err(CookError::TooMany);
    }
    let (mut done, total) = (0, PASSES * count as u64);
    let mut told = |more: usize| {
        done += more as u64;
        go_on(Progress { done, total })
    };
    let mut pass = |more: usize| if told(more) { Ok(()) } else { Err(CookError::Stopped) };

    let corners = read(parts)?;
    pass(count)?;
    let (places, place_of) = weld(&corners);
    drop(corners);
    pass(count)?;
    let (triangles, objects) = number(parts, &places, &place_of);
    drop(place_of);

    let corners_of = |triangle: &[u32; 3]| triangle.map(|place| places[place as usize]);
    let middle = |triangle| corners_of(triangle).into_iter().sum::<Vec3>();
    let member = |(triangle, number)| Member { middle: middle(triangle), number };
    let mut members: Vec<_> = triangles.iter().zip(0..).map(member).collect();
    let mut placed = 0;
    let arranged = arrange(&mut members, &mut |more| {
        placed += more;
        pass(more).is_ok()
    });
    if !arranged {
        return Err(CookError::Stopped);
    }
    pass(count - placed)?;
    let order: Vec<_> = members.into_iter().map(|member| member.number as usize).collect();
    let (vertices, triangles_in_order) = renumber(&order, &triangles, &places);
    let objects = order.iter().map(|number| objects[*number]).collect();
    let dropped = number32(count - triangles.len());
    Ok(Cooked::of(vertices, triangles_in_order, objects, dropped))
}

/// The corners of all parts, in the world.
fn read(parts: &[Part<'_>]) -> Result<Vec<Vec3>, CookError> {
    let mut corners = Vec::with_capacity(parts.iter().map(|part| part.positions.len()).sum());
    for part in parts {
        part.check()?;
        for position in part.positions {
            corners.push(part.corner(*position)?);
        }
    }
    Ok(corners)
}

/// The triangles that span a plane, by places, and the object of each.
fn number(parts: &[Part<'_>], places: &[Vec3], place_of: &[u32]) -> (Vec<[u32; 3]>, Vec<u32>) {
    let (mut triangles, mut objects) = (Vec::new(), Vec::new());
    let mut rest = place_of;
    for part in parts {
        let (own, others) = rest.split_at(part.positions.len());
        rest = others;
        for corners in part.indices.as_chunks::<3>().0 {
            let triangle = corners.map(|corner| own[corner as usize]);
            if spans(triangle.map(|place| places[place as usize])) {
                triangles.push(triangle);
                objects.push(part.object);
            }
        }
    }
    (triangles, objects)
}

/// Triangles in `order`, and the places they use in order of first use.
fn renumber(
    order: &[usize],
    triangles: &[[u32; 3]],
    places: &[Vec3],
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut vertices = Vec::new();
    let mut vertex_of = vec![u32::MAX; places.len()];
    let mut vertex = |place: u32| {
        let place = place as usize;
        if vertex_of[place] == u32::MAX {
            vertex_of[place] = number32(vertices.len());
            vertices.push(places[place]);
        }
        vertex_of[place]
    };
    let triangles = order.iter().map(|number| triangles[*number].map(&mut vertex)).collect();
    (vertices, triangles)
}

impl fmt::Display for CookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(
                f,
                "more than {TRIANGLES_MAX} triangles or {CORNERS_MAX} corners to stand on"
            ),
            Self::ObjectNumber { object } => write!(f, "object number {object} is too large"),
            Self::Ragged { object } => {
                write!(f, "the indices of object {object} end within a triangle")
            }
            Self::NoSuchCorner { object, index } => {
                write!(f, "a triangle of object {object} names corner {index}, which it has not")
            }
            Self::NotFinite { object } => {
                write!(f, "a corner of object {object} is no finite number")
            }
            Self::TooFar { object } => {
                let far = crate::REACH;
                write!(f, "a corner of object {object} lies further than {far} m from the middle")
            }
            Self::Stopped => f.write_str("stopped on request"),
        }
    }
}

impl std::error::Error for CookError {}
