//! The client's actors: one connection, the predictor of the own pawn, the presenter of everybody.
//!
//! Used by bin and by scenarios, which start a [`Client`] in a scope; a headless client and one
//! with a window are the same. It guesses, and gives way to the server. Never: draws, opens a file
//! of its own, names a runtime.

mod client;
pub mod connection;
mod content;
mod controls;
mod dialer;
pub mod downloader;
mod ending;
mod event;
pub mod map_loader;
mod numbered;
mod pilot;
pub mod predictor;
mod prefs;
pub mod presenter;
mod scene;
mod ways;

pub use self::client::{Client, ClientOptions, SPECS};
pub use self::connection::{ConnectionMsg, Profile};
pub use self::content::{ClientContent, StandingMap, Wanted};
pub use self::controls::{Controls, Wish};
pub use self::dialer::Dialer;
pub use self::downloader::{DownloaderMsg, Progress};
pub use self::ending::{EndKind, SessionEnd};
pub use self::event::{ClientEvent, ClockReading, Correction, Observer};
pub use self::map_loader::MapLoaderMsg;
pub use self::numbered::Numbered;
pub use self::pilot::{Manner, Pilot};
pub use self::predictor::{Predicted, PredictorMsg};
pub use self::presenter::{CameraMode, PresenterActor, PresenterMsg};
pub use self::scene::scene;
pub use self::ways::Ways;
