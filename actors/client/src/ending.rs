//! `SessionEnd`: how a session, or an attempt at one, came to its end. Recorded once, where it is
//! recognised; every screen, line and exit code is derived from the record, never from a text.

use crate::event::ClientEvent;

/// One ending of a session or of an attempt at one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEnd {
    /// What kind of ending.
    pub kind: EndKind,
    /// The address that was dialed, `host:port`.
    pub address: Option<String>,
    /// Protocol number of the server and of this client, where they were told.
    pub versions: Option<(u32, u32)>,
    /// The reason the other side gave, verbatim, or why an address could not be reached.
    pub reason: Option<String>,
}

/// The kinds of ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndKind {
    /// Nobody answers at the address.
    CouldNotReach,
    /// The attempt ran out its clock.
    TimedOut,
    /// The server's key is not the one that was pinned at first contact.
    ServerKeyChanged,
    /// The file of known servers is damaged or is none, so nobody was dialed.
    KnownHostsUnusable,
    /// The server could not be added to the file of known servers, so it was not joined.
    KnownHostsNotWritten,
    /// The two sides speak different protocol numbers.
    ProtocolMismatch,
    /// The map needs content that only another build has.
    ContentDiffers,
    /// The server has no place left.
    ServerFull,
    /// The server removed this player.
    Removed,
    /// The server ended the session.
    ClosedByServer,
    /// The session's link died without a word. It is shown as if the server had ended it.
    Lost,
    /// The map did not arrive as it was described.
    MapTransferFailed,
    /// The map arrived and is of no use: whoever built it must mend it.
    MapUnusable,
    /// The map cannot be kept on this machine's disk, or not be read from it.
    DiskFailed,
    /// The server sent what this client cannot read.
    Unreadable,
    /// This client failed, through no doing of the server.
    ClientFailed,
    /// It was asked for here.
    Quiet,
}

impl EndKind {
    /// Whether the session never began because the dial failed.
    #[must_use]
    pub fn is_failed_dial(self) -> bool {
        matches!(
            self,
            Self::CouldNotReach
                | Self::TimedOut
                | Self::ServerKeyChanged
                | Self::KnownHostsUnusable
                | Self::KnownHostsNotWritten
        )
    }
}

impl SessionEnd {
    /// An ending of this kind, with nothing more known.
    #[must_use]
    pub fn new(kind: EndKind, address: Option<String>) -> Self {
        Self { kind, address, versions: None, reason: None }
    }

    /// Title of the dialog; `None` for an ending that was asked for.
    #[must_use]
    pub fn title(&self) -> Option<&'static str> {
        match self.kind {
            EndKind::Quiet => None,
            kind if kind.is_failed_dial() => Some("Could not connect"),
            _ => Some("Disconnected"),
        }
    }

    /// The dialog's message.
    #[must_use]
    pub fn message(&self) -> &'static str {
        match self.kind {
            EndKind::CouldNotReach => "The server did not answer.",
            EndKind::ServerKeyChanged => "The server is not the one this client knows.",
            EndKind::KnownHostsUnusable => "The list of known servers cannot be used.",
            EndKind::KnownHostsNotWritten => "The list of known servers cannot be written.",
            EndKind::TimedOut => "The server took too long to answer.",
            EndKind::ProtocolMismatch | EndKind::ContentDiffers => {
                "This server runs a different version of the game."
            }
            EndKind::ServerFull | EndKind::Removed | EndKind::ClosedByServer | EndKind::Lost => {
                "The server ended the session."
            }
            EndKind::MapTransferFailed => "The map did not arrive correctly.",
            EndKind::MapUnusable => "The server's map is damaged.",
            EndKind::DiskFailed => "The map cannot be kept on this machine.",
            EndKind::Unreadable => "The server sent something this client could not read.",
            EndKind::ClientFailed => "This client failed.",
            EndKind::Quiet => "",
        }
    }

    /// The dialog's detail line.
    #[must_use]
    pub fn detail(&self) -> String {
        match (self.kind, self.versions) {
            (EndKind::KnownHostsUnusable | EndKind::KnownHostsNotWritten, _) => {
                self.reason.clone().unwrap_or_default()
            }
            (kind, _) if kind.is_failed_dial() => format!("Tried {}.", self.target()),
            (EndKind::ProtocolMismatch, Some((server, client))) => {
                format!("This server speaks protocol {server}; this client speaks {client}.")
            }
            (EndKind::MapTransferFailed, _) if self.reason.is_none() => {
                "What arrived did not match what the server \
                 described. Connecting again usually fixes it."
                    .to_owned()
            }
            (EndKind::Unreadable, _) => {
                "The session was ended to keep this client in a known state.".to_owned()
            }
            (EndKind::Quiet, _) => String::new(),
            _ => match self.reason.as_deref() {
                None | Some("") => "The server closed the connection.".to_owned(),
                Some(reason) => reason.to_owned(),
            },
        }
    }

    /// The console's one line; `None` for an ending that was asked for.
    #[must_use]
    pub fn console_line(&self) -> Option<String> {
        let reason = self.reason.as_deref().unwrap_or_default();
        match self.kind {
            EndKind::Quiet => None,
            EndKind::TimedOut => {
                Some(format!("connect: could not reach {} (timed out)", self.target()))
            }
            EndKind::CouldNotReach | EndKind::ServerKeyChanged => {
                Some(format!("connect: could not reach {} ({reason})", self.target()))
            }
            EndKind::KnownHostsUnusable | EndKind::KnownHostsNotWritten => {
                Some(format!("connect: {reason}"))
            }
            _ => Some(format!("disconnected: {}", self.detail())),
        }
    }

    /// The record as those who watch hear it: where the client rests now, the record, and its line
    /// for a console that goes on.
    pub(crate) fn into_events(self) -> impl IntoIterator<Item = ClientEvent> {
        let line = self.console_line().map(ClientEvent::Line);
        [ClientEvent::Stands("disconnected"), ClientEvent::Ended(self)].into_iter().chain(line)
    }

    /// The process's exit code when its last session ended this way.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            EndKind::Quiet | EndKind::ClosedByServer => 0,
            EndKind::KnownHostsUnusable | EndKind::MapUnusable => 65,
            EndKind::KnownHostsNotWritten => 73,
            EndKind::DiskFailed => 74,
            EndKind::CouldNotReach | EndKind::TimedOut | EndKind::Lost => 69,
            EndKind::ServerFull => 75,
            EndKind::ProtocolMismatch
            | EndKind::ContentDiffers
            | EndKind::MapTransferFailed
            | EndKind::Unreadable => 76,
            EndKind::ClientFailed => 70,
            EndKind::Removed | EndKind::ServerKeyChanged => 77,
        }
    }

    fn target(&self) -> &str {
        self.address.as_deref().unwrap_or("the server")
    }
}

#[cfg(test)]
mod tests;
