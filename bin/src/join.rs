//! The role that joins a server: a headless client, its console, and a picture at the end.

mod ending;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dh_client::{
    CameraMode, Client as Running, ClientContent, ClientEvent, ClientOptions, Controls, Dialer,
    Manner, Observer, Pilot, Progress, SessionEnd,
};
use dh_host::net::Trust;
use dh_host::{KnownBuilds, Runtime, Scope};
use dh_machine::Micros;
use dh_messages::ServerChat;
use dh_prefs::{Address, Command, CommandError, Prefs, Side, default_name, help, parse};
use dh_server::ServerEvent;
use dh_sim::GrayBox;
use dh_view::{PictureReport, View};
use serde_json::{Value, json};

use self::ending::exit_of;
pub(crate) use self::ending::failure_of;
use crate::command::{Client, Shared};
use crate::data::DataFolder;
use crate::exit::{Exit, Failure, say};
use crate::front::{Event, Front, FrontMsg};
use crate::inspect::{Setting, Shown, Waiting};
use crate::output::bar::{Bar, Unit};
use crate::picture::{Darkroom, Theatre, no_adapter};
use crate::{content, identity, output, picture, prefs, serve, settings};

/// How long leaving may take before the process ends anyway.
const LEAVE_MAX: Duration = Duration::from_secs(2);
/// The time between two events about a transfer.
const DOWNLOADING_EVERY: Duration = Duration::from_secs(1);

/// Runs the role to its end.
pub(crate) fn run(flags: &Client, shared: &Shared) -> Result<(), Failure> {
    flags.stage.picture.as_deref().map_or(Ok(()), picture::check)?;
    let folder = DataFolder::open(shared.data.as_deref())?;
    let mut prefs = settings::load(&folder, None, shared)?;
    if let Some(name) = &flags.name {
        let named = prefs.set_argument(&format!("client.name={name}"));
        named.map_err(|error| settings::failure(&[error]))?;
    }
    let identity = identity::load(&folder)?;
    let runtime = serve::start_runtime(&prefs)?;
    let front = Front::start(&runtime.root().child("front"), true)?;
    let settings = front.port().inlet(FrontMsg::Set);
    let shown = Shown::start(&runtime, &folder, "client", flags.stage.inspect, settings)?;
    let theatre = if flags.stage.headless { None } else { theatre(&runtime, &front) };
    let mut darkroom = match &flags.stage.picture {
        Some(path) if theatre.is_none() => {
            let room = Darkroom::open(&runtime.root(), &front);
            Some((room.map_err(|none| no_adapter(&none))?, path))
        }
        Some(_) | None => None,
    };
    let draws = theatre.is_some() || darkroom.is_some();
    let key = identity.key();
    let seed = u64::from_le_bytes(*key.bytes().first_chunk().unwrap_or(&[0; 8]));
    let gray_box = GrayBox::new();
    let mut dialer = Dialer::new(identity);
    dialer.trust = Trust::KnownHosts(identity::known_hosts(&folder));
    let options = ClientOptions {
        dialer,
        builds: KnownBuilds::of_this_build(),
        content: Some(ClientContent {
            shelf: content::shelf(&flags.content, &folder)?,
            picture_side_max: if draws { picture::side_max() } else { None },
        }),
        prefs: prefs.clone(),
        fallback_name: fallback_name(seed),
        controls: Controls::Flown(Box::new(Pilot::new(Manner::Walker, seed))),
        camera: CameraMode::Map,
        observer: Observer::new(front.port().inlet(FrontMsg::Client), false),
    };
    let scope = runtime.root().child("client");
    let mut visit = Visit::start(&scope, &gray_box, options, front, shared, theatre);
    shown.ready();
    visit.connect(flags.connect.clone());
    visit.play(flags.stage.seconds);
    let wanted = flags.stage.picture.as_ref().filter(|_| visit.is_worth_a_picture());
    let drawn = match (&mut darkroom, wanted) {
        (Some((room, path)), Some(_)) => {
            visit.view().map_or(Ok(()), |view| visit.take_picture(room, view, path))
        }
        (None, Some(path)) => visit.photograph(path).map(|drawn| {
            if let Some(report) = &drawn {
                visit.print("picture", &picture::facts(path, report), &picture::line(path, report));
            }
        }),
        (_, None) => Ok(()),
    };
    drop(darkroom);
    visit.close();
    visit.leave();
    serve::stop(&runtime)?;
    serve::failed(&runtime)?;
    let result = visit.result().map_err(|failure| match failure.exit {
        Exit::Damaged => {
            failure.or_remedy(|| identity::mend_hosts(&identity::known_hosts(&folder)))
        }
        _ => failure,
    });
    result.and(drawn)
}

/// A window, or one line that says why there is none.
fn theatre(runtime: &Runtime, front: &Front) -> Option<Theatre> {
    let opened = Theatre::open(&runtime.root(), front);
    opened.map_err(|why| say(&format!("{why}: the client runs headless"))).ok()
}

/// One run of a client.
pub(crate) struct Visit<'a> {
    client: Running,
    theatre: Option<Theatre>,
    prefs: Prefs,
    front: Front,
    shared: &'a Shared,
    /// When it is over; counted from the first spawn.
    until: Option<Instant>,
    /// How the newest session or attempt ended, once it has.
    ended: Option<SessionEnd>,
    /// The ending that ends the run.
    result: Option<SessionEnd>,
    /// Whether it has come to play, and was not asked to end by a signal.
    has_played: bool,
    was_interrupted: bool,
    /// Somebody at the console asked for a server, and does not play there yet.
    tried_at_console: bool,
    /// Somebody at the console asked to leave, be it for another server.
    told_to_leave: bool,
    /// How far a transfer is, for people.
    bar: Option<Bar>,
    /// When a transfer was told last, for programs.
    downloading_told: Option<Instant>,
    /// The number of the newest line that went to the server's console.
    next_line: u32,
    /// Preferences that the server's console was asked to set.
    settings: Waiting,
    /// Bytes that came for the map that loads.
    fetched: u64,
}

/// Its user has closed the window.
struct Closed;

/// Whether a run goes on.
#[derive(PartialEq, Eq)]
enum Next {
    On,
    Over,
}

impl<'a> Visit<'a> {
    /// Start a client. With a window a person holds its controls and looks through its eyes.
    pub(crate) fn start(
        scope: &Scope,
        world: &GrayBox,
        options: ClientOptions,
        front: Front,
        shared: &'a Shared,
        mut theatre: Option<Theatre>,
    ) -> Self {
        let prefs = options.prefs.clone();
        let client = match &mut theatre {
            None => Running::start(scope, world, options),
            Some(theatre) => {
                let (controls, camera) = (Controls::default(), CameraMode::Eyes);
                let options = ClientOptions { controls, camera, ..options };
                let views = theatre.views();
                let (client, presenter) = Running::start_on_screen(scope, world, options, views);
                theatre.seat(presenter);
                client
            }
        };
        Self {
            client,
            theatre,
            prefs,
            front,
            shared,
            until: None,
            ended: None,
            result: None,
            has_played: false,
            was_interrupted: false,
            tried_at_console: false,
            told_to_leave: false,
            bar: None,
            downloading_told: None,
            next_line: 0,
            settings: Waiting::default(),
            fetched: 0,
        }
    }

    /// Join this server.
    pub(crate) fn connect(&self, address: Address) {
        self.client.connect(Some(address));
    }

    /// The next thing that happened. With a window frames are drawn meanwhile, and there is nothing
    /// more to wait for once it is closed.
    fn next(&mut self) -> Result<Option<Event>, Closed> {
        let Some(theatre) = &mut self.theatre else { return Ok(self.front.next(self.until)) };
        let now = Some(Instant::now());
        if let Some(event) = self.front.next(now) {
            return Ok(Some(event));
        }
        if theatre.step(&self.client) { Ok(None) } else { Err(Closed) }
    }

    /// Write what the window shows to `path`.
    pub(crate) fn photograph(&mut self, path: &Path) -> Result<Option<PictureReport>, Failure> {
        let Some(theatre) = &mut self.theatre else { return Ok(None) };
        theatre.develop(&self.front, path).map(Some)
    }

    /// Whether there is something to be seen, and time to draw it.
    pub(crate) fn is_worth_a_picture(&self) -> bool {
        self.has_played && self.result.is_none() && !self.was_interrupted
    }

    /// Close the window, if there is one.
    pub(crate) fn close(&mut self) {
        self.theatre = None;
    }

    /// Play until the time is over, the session ends, or somebody asks.
    pub(crate) fn play(&mut self, seconds: Option<Duration>) {
        loop {
            let Ok(event) = self.next() else { return };
            let next = match event {
                None if self.until.is_some_and(|until| until <= Instant::now()) => Next::Over,
                Some(Event::Signal(name)) => {
                    self.was_interrupted = true;
                    say(&format!("leaving: {name}"));
                    Next::Over
                }
                Some(Event::Told(FrontMsg::Typed(line))) => self.typed(&line),
                Some(Event::Told(FrontMsg::Client(event))) => self.told(event, seconds),
                Some(Event::Told(FrontMsg::Server(ServerEvent::Keep(change)))) => {
                    prefs::keep(None, self.shared, &change);
                    Next::On
                }
                Some(Event::Told(FrontMsg::Set(setting))) => {
                    self.set(setting);
                    Next::On
                }
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
            ClientEvent::Chat(line) => {
                let (kind, slot) = (line.kind.name(), Some(line.slot));
                let slot = slot.filter(|slot| *slot != ServerChat::NO_SLOT);
                let text = line.to_log_line();
                let facts = json!({ "text": text, "kind": kind, "slot": slot,
                    "name": line.name.as_str(), "said": line.text.as_str() });
                self.print("line", &facts, &text);
            }
            ClientEvent::Answer { id, text } if self.settings.answered(id, &text) => (),
            ClientEvent::Answer { id, text } => {
                self.print("answer", &json!({ "line": id, "text": text }), &text);
            }
            ClientEvent::Informed { world_name, map } => {
                let shown = if map.is_empty() { "the gray box" } else { &map };
                let text = format!("joined {world_name}, map {shown}");
                self.print("informed", &json!({ "world": world_name, "map": shown }), &text);
            }
            ClientEvent::Downloading(progress) => self.downloading(&progress),
            ClientEvent::Loaded(generation) => {
                self.bar = None;
                self.downloading_told = None;
                let fetched = std::mem::take(&mut self.fetched);
                if self.shared.json {
                    let facts = json!({ "generation": generation, "fetched": fetched });
                    self.print("loaded", &facts, "");
                }
            }
            ClientEvent::Stands("connecting") => {
                self.ended = None;
                self.told_to_leave = false;
            }
            ClientEvent::Spawned { slot, pawn, tick } => {
                self.has_played = true;
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
        self.bar = None;
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

    /// A preference is set through the inspector: one of the client's here, one of the server's on
    /// its console, if that listens to this player.
    fn set(&mut self, setting: Setting) {
        if setting.side() == Side::Client {
            if setting.apply(&mut self.prefs) {
                self.client.apply(&self.prefs);
            }
            return;
        }
        let (number, line) = self.settings.type_in(setting);
        self.client.console(number, line);
    }

    /// One line of the client's console.
    fn typed(&mut self, line: &str) -> Next {
        let answer = match parse(Side::Client, line) {
            Ok(None) => return Next::On,
            Ok(Some(Command::Connect(to))) => {
                // An attempt that is given up for another was never there to be left.
                self.told_to_leave = self.ended.is_none() && !self.tried_at_console;
                self.tried_at_console = true;
                self.client.connect(to);
                return Next::On;
            }
            Ok(Some(Command::Chat(text))) => {
                self.client.chat(text);
                return Next::On;
            }
            // The server has a console too: whether it listens to this player is its to say.
            Err(CommandError::Elsewhere(_) | CommandError::NotOurs(_)) if self.ended.is_none() => {
                self.next_line += 1;
                self.client.console(self.next_line, line.trim());
                return Next::On;
            }
            Ok(Some(Command::Disconnect)) if self.ended.is_none() => {
                self.told_to_leave = true;
                self.client.disconnect();
                return Next::On;
            }
            Ok(Some(Command::Disconnect)) => "not connected".to_owned(),
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
    pub(crate) fn leave(&mut self) {
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
    pub(crate) fn result(&self) -> Result<(), Failure> {
        self.result.as_ref().and_then(failure_of).map_or(Ok(()), Err)
    }

    /// A transfer: a bar for people, an event a second for programs, and how it went for both.
    fn downloading(&mut self, progress: &Progress) {
        let Progress { received, total, rate, left } = *progress;
        self.fetched = received;
        let is_whole = received == total;
        let due = self.downloading_told.is_none_or(|told| told.elapsed() >= DOWNLOADING_EVERY);
        if self.shared.json {
            if due || is_whole {
                self.downloading_told = Some(Instant::now());
                let facts = json!({ "received": received, "total": total, "rate": rate,
                    "left": left.map(Micros::as_secs_f64) });
                self.print("downloading", &facts, "");
            }
        } else if is_whole {
            self.bar = None;
            let text = format!("fetched {:.1} MB at {:.1} MB/s", megabytes(total), megabytes(rate));
            self.print("downloading", &Value::Null, &text);
        } else {
            let bar = self.bar.get_or_insert_with(Bar::new);
            bar.told("fetching", Unit::Bytes, received, total);
        }
    }

    fn print(&self, event: &str, facts: &Value, text: &str) {
        output::event(self.shared.json, event, facts, text);
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// The name of a player who set none: the host's, or one that follows from the key.
pub(crate) fn fallback_name(seed: u64) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let [a, b, ..] = seed.to_le_bytes();
    default_name(Some(&host), std::env::consts::OS, u16::from_le_bytes([a, b]))
}
