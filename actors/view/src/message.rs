//! The renderer's messages. Sent by presenter and `bin`, handled by `render`; they never cross the
//! wire.

use alloc::{string::String, sync::Arc};
use core::fmt::{Display, Formatter, Result as Written};

use dh_machine::actor_message;

use crate::{Picture, View};

actor_message! {
    /// Everything a renderer can be told.
    pub enum RenderMsg {
        /// The newest view; an older one that waits is not worth drawing.
        Show(Arc<View>): Data Coalesce,
        /// Take a picture of the newest view; it is answered once, unless the renderer ends first.
        Take(Shot): Data Refuse,
        /// Its user looks at the window otherwise.
        Sit(Sitting): Control Coalesce,
        /// Lose the device, as a driver that resets would; for drills.
        Drill: Control Coalesce,
        /// Let go of the device and end.
        Stop: Control Coalesce,
    }
}

/// How its user looks at a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sitting {
    /// Whether details are asked for.
    pub detail: bool,
    /// Whether the pointer turns the look; where it does not, the window says how to make it.
    pub captured: bool,
}

/// A picture that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shot {
    /// The asker's own number; the answer carries it.
    pub id: u32,
    /// Pixels across, 1..=4096.
    pub width: u32,
    /// Pixels down, 1..=4096.
    pub height: u32,
}

impl Shot {
    /// The most pixels across or down.
    pub const SIDE_MAX: u32 = 4096;
}

/// The answer to one [`Shot`].
#[derive(Debug)]
pub struct Answer {
    /// The number the asker gave.
    pub id: u32,
    /// The picture, or why there is none.
    pub picture: Result<Picture, NoPicture>,
}

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPicture {
    /// No view has been shown yet.
    NoView,
    /// The size is zero or over the limit.
    Size {
        /// Pixels across that were asked for.
        width: u32,
        /// Pixels down that were asked for.
        height: u32,
        /// The longest side this renderer can do.
        side_max: u32,
    },
    /// This machine has nothing to draw with; the text says what to install.
    NoAdapter(String),
    /// The device was lost or refused the work.
    Device(String),
}

impl Display for NoPicture {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        match self {
            Self::NoView => f.write_str("nothing has been shown yet"),
            Self::Size { width, height, side_max } => {
                write!(f, "a picture of {width}x{height}: each side must be 1 to {side_max}")
            }
            Self::NoAdapter(text) | Self::Device(text) => f.write_str(text),
        }
    }
}

impl core::error::Error for NoPicture {}
