//! The role that joins a server: a headless client, its console, and a picture at the end.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dh_client::{
    CameraMode, Client as Running, ClientEvent, ClientOptions, Controls, Dialer, Manner, Observer,
    Pilot, SessionEnd,
};
use dh_host::net::Trust;
use dh_prefs::{Command, Prefs, Side, default_name, help, parse};
use dh_sim::GrayBox;
use dh_view::View;
use serde_json::{Value, json};

use crate::command::{Client, Shared};
use crate::data::DataFolder;
use crate::exit::{Exit, Failure, say};
use crate::front::{Event, Front, FrontMsg};
use crate::picture::{Darkroom, no_adapter};
use crate::{identity, output, picture, serve, settings};

/// How long leaving may take before the process ends anyway.
const LEAVE_MAX: Duration = Duration::from_secs(2);

/// Runs the role to its end.
pub(crate) fn run(flags: &Client, shared: &Shared) -> Result<(), Failure> {
    let folder = DataFolder::open(shared.data.as_deref())?;
    let mut prefs = settings::load(&folder, None, shared)?;
    if let Some(name) = &flags.name {
        let named = prefs.set_argument(&format!("client.name={name}"));
        named.map_err(|error| settings::failure(&[error]))?;
    }
    let identity = identity::load(&folder)?;
    let runtime = serve::start_runtime(&prefs)?;
    let front = Front::start(&runtime.root().child("front"), true)?;
    let mut darkroom = match &flags.stage.picture {
        Some(path) => {
            let room = Darkroom::open(&runtime.root(), &front);
            Some((room.map_err(|none| no_adapter(&none))?, path))
        }
        None => None,
    };
    if !flags.stage.headless {
        say("this build opens no window yet: the client runs headless");
    }
    let key = identity.key();
    let seed = u64::from_le_bytes(*key.bytes().first_chunk().unwrap_or(&[0; 8]));
    let gray_box = GrayBox::new();
    let mut dialer = Dialer::new(identity);
    dialer.trust = Trust::KnownHosts(identity::known_hosts(&folder));
    let options = ClientOptions {
        dialer,
        prefs: prefs.clone(),
        fallback_name: fallback_name(seed),
        controls: Controls::Flown(Box::new(Pilot::new(Manner::Walker, seed))),
        camera: CameraMode::Fixed(gray_box.viewpoint()),
        observer: Observer::new(front.port().inlet(FrontMsg::Client), false),
    };
    let client = Running::start(&runtime.root().child("client"), &gray_box, options);
    client.connect(Some(flags.connect.clone()));
    let mut visit = Visit {
        client,
        prefs,
        front,
        shared,
        until: None,
        ended: None,
        result: None,
        tried_at_console: false,
        told_to_leave: false,
    };
    visit.play(flags.stage.seconds);
    let drawn = match &mut darkroom {
        Some((room, path)) => {
            visit.view().map_or(Ok(()), |view| visit.take_picture(room, view, path))
        }
        None => Ok(()),
    };
    drop(darkroom);
    visit.leave();
    serve::stop(&runtime)?;
    serve::failed(&runtime)?;
    visit.result().and(drawn)
}

/// One run of a client.
struct Visit<'a> {
    client: Running,
    prefs: Prefs,
    front: Front,
    shared: &'a Shared,
    /// When it is over; counted from the first spawn.
    until: Option<Instant>,
    /// How the newest session or attempt ended, once it has.
    ended: Option<SessionEnd>,
    /// The ending that ends the run.
    result: Option<SessionEnd>,
    /// Somebody at the console asked for a server, and does not play there yet.
    tried_at_console: bool,
    /// Somebody at the console asked to leave.
    told_to_leave: bool,
}

/// Whether a run goes on.
#[derive(PartialEq, Eq)]
enum Next {
    On,
    Over,
}

impl Visit<'_> {
    /// Play until the time is over, the session ends, or somebody asks.
    fn play(&mut self, seconds: Option<Duration>) {
        loop {
            let next = match self.front.next(self.until) {
                None if self.until.is_some_and(|until| until <= Instant::now()) => Next::Over,
                Some(Event::Signal(name)) => {
                    say(&format!("leaving: {name}"));
                    Next::Over
                }
                Some(Event::Told(FrontMsg::Typed(line))) => self.typed(&line),
                Some(Event::Told(FrontMsg::Client(event))) => self.told(event, seconds),
                None | Some(Event::Told(_)) => Next::On,
            };
            if next == Next::Over {
                return;
            }
        }
    }

    fn told(&mut self, event: ClientEvent, seconds: Option<Duration>) -> Next {
        match event {
            ClientEvent::Line(text) => self.print("line", &json!({ "text": text }), &text),
            ClientEvent::Informed { world_name, .. } => {
                let text = format!("joined {world_name}");
                self.print("informed", &json!({ "world": world_name }), &text);
            }
            ClientEvent::Stands("connecting") => self.ended = None,
            ClientEvent::Spawned { slot, pawn, tick } => {
                self.tried_at_console = false;
                let facts = json!({ "slot": slot, "pawn": pawn.to_string(), "tick": tick.0 });
                self.print("spawned", &facts, &format!("playing as #{slot}, pawn {pawn}"));
                if let (None, Some(seconds)) = (self.until, seconds) {
                    self.until = Some(Instant::now() + seconds);
                }
            }
            ClientEvent::Ended(end) => return self.ended(end),
            _ => (),
        }
        Next::On
    }

    /// A session or an attempt has ended. What was asked for here ends nothing else, and neither
    /// does a try at the console: whoever made it hears of it, and may make another. Any other
    /// ending ends the run, which tells a failure as one.
    fn ended(&mut self, end: SessionEnd) -> Next {
        let line = end.console_line();
        let was_asked_for = line.is_none() && std::mem::take(&mut self.told_to_leave);
        let goes_on = line.is_none() || self.tried_at_console;
        if self.shared.json {
            let facts = json!({ "title": end.title(), "message": end.message(),
                "detail": end.detail(), "address": end.address });
            self.print("ended", &facts, "");
        } else if was_asked_for {
            let from = end.address.as_deref().unwrap_or("the server");
            self.print("answer", &Value::Null, &format!("disconnected from {from}"));
        } else if let (false, Some(line), Exit::Success) = (goes_on, &line, exit_of(&end)) {
            self.print("ended", &Value::Null, line);
        }
        if !goes_on {
            self.result = Some(end.clone());
        }
        self.ended = Some(end);
        if goes_on { Next::On } else { Next::Over }
    }

    /// One line of the client's console.
    fn typed(&mut self, line: &str) -> Next {
        let answer = match parse(Side::Client, line) {
            Ok(None) => return Next::On,
            Ok(Some(Command::Connect(to))) => {
                self.tried_at_console = true;
                self.client.connect(to);
                return Next::On;
            }
            Ok(Some(Command::Disconnect)) => {
                self.told_to_leave = self.ended.is_none();
                self.client.disconnect();
                return Next::On;
            }
            Ok(Some(Command::Quit)) => return Next::Over,
            Ok(Some(Command::Help(topic))) => help(Side::Client, topic.as_deref()),
            Ok(Some(Command::Show(preference))) => self.prefs.show(preference),
            Ok(Some(Command::Set { preference, text })) => {
                match self.prefs.set_console(preference.key, &text) {
                    Ok(change) => {
                        self.client.apply(&self.prefs);
                        change.line()
                    }
                    Err(error) => error.to_string(),
                }
            }
            Ok(Some(_)) => "that belongs to a server's console".to_owned(),
            Err(error) => error.to_string(),
        };
        self.print("answer", &json!({ "text": answer }), &answer);
        Next::On
    }

    /// Take a picture and say where it lies.
    fn take_picture(
        &self,
        room: &mut Darkroom,
        view: Arc<View>,
        path: &Path,
    ) -> Result<(), Failure> {
        let report = room.develop(&self.front, view, path)?;
        self.print("picture", &picture::facts(path, &report), &picture::line(path, &report));
        Ok(())
    }

    /// The view of this moment, if there is one to be had.
    fn view(&mut self) -> Option<Arc<View>> {
        self.client.present();
        let until = Instant::now() + LEAVE_MAX;
        while let Some(event) = self.front.next(Some(until)) {
            if let Event::Told(FrontMsg::Client(ClientEvent::View(view))) = event {
                return Some(view);
            }
        }
        None
    }

    /// Leave, and wait until the ending is told.
    fn leave(&mut self) {
        if self.ended.is_some() {
            return;
        }
        self.client.disconnect();
        let until = Instant::now() + LEAVE_MAX;
        while let Some(event) = self.front.next(Some(until)) {
            if let Event::Told(FrontMsg::Client(ClientEvent::Ended(end))) = event {
                self.ended = Some(end);
                return;
            }
        }
    }

    /// How the process ends: as what ended it.
    fn result(&self) -> Result<(), Failure> {
        let Some(end) = &self.result else { return Ok(()) };
        match exit_of(end) {
            Exit::Success => Ok(()),
            exit => {
                let cause = end.console_line().unwrap_or_else(|| end.detail());
                let failure = Failure::new(exit, cause);
                Err(match exit {
                    Exit::Unavailable if end.title() == Some("Disconnected") => {
                        failure.remedy("connect again, once the server runs")
                    }
                    Exit::Unavailable => failure.remedy("check the address, and that it runs"),
                    Exit::TryAgain => failure.remedy("join again later"),
                    Exit::Mismatch => failure.remedy("install the same build on both sides"),
                    Exit::Refused if end.kind == dh_client::EndKind::ServerKeyChanged => {
                        let host = end.address.clone().unwrap_or_default();
                        failure.remedy(format!("dh identity forget {host}"))
                    }
                    _ => failure,
                })
            }
        }
    }

    fn print(&self, event: &str, facts: &Value, text: &str) {
        output::event(self.shared.json, event, facts, text);
    }
}

fn exit_of(end: &SessionEnd) -> Exit {
    match end.exit_code() {
        0 => Exit::Success,
        65 => Exit::Damaged,
        69 => Exit::Unavailable,
        70 => Exit::Internal,
        75 => Exit::TryAgain,
        77 => Exit::Refused,
        _ => Exit::Mismatch,
    }
}

/// The name of a player who set none: the host's, or one that follows from the key.
pub(crate) fn fallback_name(seed: u64) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let [a, b, ..] = seed.to_le_bytes();
    default_name(Some(&host), std::env::consts::OS, u16::from_le_bytes([a, b]))
}
