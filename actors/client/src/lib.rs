//! The client's actors: one connection, the predictor of the own pawn, the presenter of everybody.
//!
//! Used by bin and by scenarios, which start a [`Client`] in a scope; a headless client and one
//! with a window are the same. It guesses, and gives way to the server. Never: draws, opens a file
//! of its own, names a runtime.

mod client;
pub mod connection;
mod controls;
mod dialer;
mod ending;
mod event;
mod numbered;
mod pilot;
pub mod predictor;
mod prefs;
pub mod presenter;
mod ways;

pub use self::client::{Client, ClientOptions, SPECS};
pub use self::connection::{ConnectionMsg, Profile};
pub use self::controls::{Controls, Wish};
pub use self::dialer::Dialer;
pub use self::ending::{EndKind, SessionEnd};
pub use self::event::{ClientEvent, ClockReading, Correction, Observer};
pub use self::numbered::Numbered;
pub use self::pilot::{Manner, Pilot};
pub use self::predictor::{Predicted, PredictorMsg};
pub use self::presenter::{CameraMode, PresenterMsg};
pub use self::ways::Ways;
