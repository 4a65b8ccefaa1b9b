//! State: what the screen shows, as a pure state machine: keys and snapshots in, effects out.

#[cfg(test)]
mod tests;

use dh_host::inspect::{LaneName, Order as Ordered};

use super::Told;
use super::help;
use super::keys::Key;
use super::limits::{self, LimitLine};
use super::lines::{self, ActorLine, Id, LinkLine, WaitLine};
use super::listing::{FILTER_MAX, Listing, Step};
use super::order::{Bounding, Order, Wording};
use super::page::Page;
use super::processes::{self, ProcessLine};
use super::source::{Heard, Source};

/// Lines of a page beside its rows: tabs, titles, what is asked or told, the state of all.
pub(crate) const FRAME_ROWS: usize = 4;

/// How long a process that is lost is still shown, where others are looked for.
const LOST_US: u64 = 5_000_000;

/// What keys are for at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Commands.
    #[default]
    Keys,
    /// Letters of the filter.
    Filter,
    /// Digits of a bound.
    Bound(Bounding),
    /// Words of an order to a process.
    Words(Wording),
    /// Whether an order is meant.
    Sure(Order),
}

/// What the shell has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// End.
    Quit,
    /// Listen to a process anew, with everything of the actor at this path.
    Follow { source: usize, actor: Option<String> },
    /// Have something done, and tell what came of it.
    Order(Order),
}

/// All that is shown.
#[derive(Debug)]
pub(crate) struct State {
    live: Vec<Source>,
    /// What was live when the screen was stopped.
    frozen: Option<Vec<Source>>,
    pub(crate) now_us: u64,
    /// Columns and rows of the terminal.
    pub(crate) size: (u16, u16),
    pub(crate) page: Page,
    pub(crate) mode: Mode,
    pub(crate) has_help: bool,
    /// The first line of help that is shown.
    pub(crate) help_top: usize,
    pub(crate) actors: Listing,
    pub(crate) links: Listing,
    pub(crate) waits: Listing,
    pub(crate) limits: Listing,
    pub(crate) processes: Listing,
    /// Which tick loop is shown.
    pub(crate) strip: usize,
    /// The actor whose page is open.
    pub(crate) opened: Option<Id>,
    /// What came of the last order.
    pub(crate) told: Option<String>,
}

impl State {
    /// A screen on these processes.
    pub(crate) fn new(names: Vec<String>, size: (u16, u16)) -> Self {
        Self {
            live: names.into_iter().map(|name| Source::new(name, 0)).collect(),
            frozen: None,
            now_us: 0,
            size,
            page: Page::default(),
            mode: Mode::default(),
            has_help: false,
            help_top: 0,
            actors: Listing::default(),
            links: Listing::default(),
            waits: Listing::default(),
            limits: Listing::default(),
            processes: Listing::default(),
            strip: 0,
            opened: None,
            told: None,
        }
    }

    /// What is shown of each process.
    pub(crate) fn sources(&self) -> &[Source] {
        self.frozen.as_deref().unwrap_or(&self.live)
    }

    /// How each process can be heard at the moment, whatever is shown.
    pub(crate) fn heard_now(&self) -> &[Source] {
        &self.live
    }

    /// Whether the screen was stopped.
    pub(crate) fn is_paused(&self) -> bool {
        self.frozen.is_some()
    }

    /// The actor whose page is open.
    pub(crate) fn opened(&self) -> Option<ActorLine<'_>> {
        let id = self.opened?;
        lines::actors(self.sources()).into_iter().find(|line| line.id == id)
    }

    /// Rows of a page.
    pub(crate) fn rows(&self) -> usize {
        usize::from(self.size.1).saturating_sub(FRAME_ROWS)
    }

    /// One more process is looked at; its number among them.
    pub(crate) fn found(&mut self, name: String) -> usize {
        let source = Source::new(name, self.now_us);
        match self.live.iter().position(|at| at.state == Heard::Gone) {
            Some(free) => {
                self.live[free] = source;
                free
            }
            None => {
                self.live.push(source);
                self.live.len() - 1
            }
        }
    }

    /// Let go of the processes that were lost a while ago; their numbers.
    pub(crate) fn leave_lost(&mut self) -> Vec<usize> {
        let now = self.now_us;
        let is_over = |at: &Source| at.is_stale() && now.saturating_sub(at.came_us) > LOST_US;
        let over: Vec<usize> = (0..self.live.len()).filter(|&at| is_over(&self.live[at])).collect();
        for &at in &over {
            self.live[at].leave();
            self.let_go(at);
        }
        if !over.is_empty() {
            self.settle();
        }
        over
    }

    /// A process told something, or cannot be heard: why.
    pub(crate) fn heard(&mut self, source: usize, told: Result<Told, String>) -> Option<Effect> {
        let now = self.now_us;
        let live = self.live.get_mut(source).filter(|live| live.state != Heard::Gone)?;
        let mut effect = None;
        match told {
            Ok(told) => {
                let pid = live.snapshot.process.pid;
                if !live.hear(told, now) {
                    let actor = self.followed(source);
                    return Some(Effect::Follow { source, actor });
                }
                if pid != 0 && pid != self.live[source].snapshot.process.pid {
                    effect = self.forget(source);
                }
            }
            Err(why) => live.state = Heard::Lost(why),
        }
        self.settle();
        effect
    }

    /// Another process answers where one was: what was chosen is not there.
    fn forget(&mut self, source: usize) -> Option<Effect> {
        self.frozen = None;
        self.mode = Mode::Keys;
        self.told = Some("another process answers there now".to_owned());
        self.let_go(source).then_some(Effect::Follow { source, actor: None })
    }

    /// Choose nothing of a process; whether the page of one of its actors was open.
    fn let_go(&mut self, source: usize) -> bool {
        let is_its = |id: &Id| id.source == source;
        for page in Page::ALL {
            self.listing(page).chosen.take_if(|id| is_its(id));
        }
        self.opened.take_if(|id| is_its(id)).is_some()
    }

    /// Something was done, or was not.
    pub(crate) fn answered(&mut self, answer: Result<String, String>) {
        self.told = Some(match answer {
            Ok(done) => format!("done: {done}"),
            Err(why) => format!("NOT DONE: {why}"),
        });
    }

    /// The terminal has this size now.
    pub(crate) fn resized(&mut self, size: (u16, u16)) {
        self.size = size;
        self.settle();
    }

    /// A key was pressed.
    pub(crate) fn pressed(&mut self, key: Key) -> Option<Effect> {
        if key == Key::Interrupt {
            return Some(Effect::Quit);
        }
        let effect = match std::mem::take(&mut self.mode) {
            Mode::Keys if self.has_help => {
                self.read_on(key);
                None
            }
            Mode::Keys => self.command(key),
            Mode::Filter => {
                self.filter(key);
                None
            }
            Mode::Bound(bounding) => {
                self.mode = bounding.pressed(key);
                None
            }
            Mode::Words(wording) => {
                self.mode = wording.pressed(key);
                None
            }
            Mode::Sure(order) => self.sure(order, key),
        };
        self.settle();
        effect
    }

    /// Read help further up or down; any other key ends it.
    fn read_on(&mut self, key: Key) {
        let page = self.rows().max(1);
        let last = help::lines(usize::from(self.size.0)).len().saturating_sub(page);
        self.help_top = match key {
            Key::Up | Key::Char('k') => self.help_top.saturating_sub(1),
            Key::Down | Key::Char('j') => self.help_top + 1,
            Key::PageUp => self.help_top.saturating_sub(page),
            Key::PageDown | Key::Char(' ') => self.help_top + page,
            _ => {
                self.has_help = false;
                0
            }
        }
        .min(last);
    }

    fn command(&mut self, key: Key) -> Option<Effect> {
        self.told = None;
        match key {
            Key::Char('q') => return Some(Effect::Quit),
            Key::Char('?') => self.has_help = true,
            Key::Char('p') => {
                self.frozen = if self.is_paused() { None } else { Some(self.live.clone()) };
            }
            Key::Char('/') if self.opened.is_none() => self.mode = Mode::Filter,
            Key::Char(digit @ '1'..='9') => return self.turn(Page::at(digit)?),
            Key::Tab => return self.turn(self.page.beside(1)),
            Key::BackTab => return self.turn(self.page.beside(Page::ALL.len() - 1)),
            Key::Enter => return self.open(),
            Key::Esc => return self.back(),
            Key::Char('r') => self.ask(Order::restart),
            Key::Char('b') => self.ask_bound(),
            Key::Char('d') => self.ask_dump(),
            Key::Char('s') => self.ask_words(Wording::set),
            Key::Char('l') => self.ask_words(Wording::log_level),
            _ if self.opened.is_some() => (),
            key => self.arrange(key),
        }
        None
    }

    /// Keys that choose rows and order them.
    fn arrange(&mut self, key: Key) {
        let rows = self.rows().max(1).cast_signed();
        let step = match key {
            Key::Up | Key::Char('k') => Step::Rows(-1),
            Key::Down | Key::Char('j') => Step::Rows(1),
            Key::PageUp => Step::Rows(-rows),
            Key::PageDown | Key::Char(' ') => Step::Rows(rows),
            Key::Home | Key::Char('g') => Step::First,
            Key::End => Step::Last,
            Key::Left | Key::Char('<') => return self.sort(-1),
            Key::Right | Key::Char('>') => return self.sort(1),
            Key::Char(letter) if letter.is_ascii_uppercase() => return self.sort_by(letter),
            _ => return,
        };
        if self.page == Page::Ticks {
            self.strip = match step {
                Step::Rows(rows) => self.strip.saturating_add_signed(rows),
                Step::First => 0,
                Step::Last => usize::MAX,
            };
            return;
        }
        let ids = self.ids(self.page);
        self.listing(self.page).step(&ids, step);
    }

    fn sort(&mut self, step: isize) {
        match self.page {
            Page::Actors => self.actors.sort_beside::<ActorLine<'_>>(step),
            Page::Links => self.links.sort_beside::<LinkLine<'_>>(step),
            Page::Waits => self.waits.sort_beside::<WaitLine<'_>>(step),
            Page::Limits => self.limits.sort_beside::<LimitLine<'_>>(step),
            Page::Processes => self.processes.sort_beside::<ProcessLine<'_>>(step),
            Page::Ticks => (),
        }
    }

    fn sort_by(&mut self, letter: char) {
        match self.page {
            Page::Actors => self.actors.sort_by_letter::<ActorLine<'_>>(letter),
            Page::Links => self.links.sort_by_letter::<LinkLine<'_>>(letter),
            Page::Waits => self.waits.sort_by_letter::<WaitLine<'_>>(letter),
            Page::Limits => self.limits.sort_by_letter::<LimitLine<'_>>(letter),
            Page::Processes => self.processes.sort_by_letter::<ProcessLine<'_>>(letter),
            Page::Ticks => false,
        };
    }

    /// Show another page; an actor's own page is closed.
    fn turn(&mut self, page: Page) -> Option<Effect> {
        self.page = page;
        self.close()
    }

    fn open(&mut self) -> Option<Effect> {
        let id = match self.page {
            _ if self.opened.is_some() => return None,
            Page::Actors => self.actors.chosen?,
            Page::Waits => Id { other: 0, ..self.waits.chosen? },
            Page::Ticks | Page::Links | Page::Limits | Page::Processes => return None,
        };
        self.page = Page::Actors;
        (self.opened, self.actors.chosen) = (Some(id), Some(id));
        Some(Effect::Follow { source: id.source, actor: self.followed(id.source) })
    }

    /// The path that a process is to tell everything of.
    fn followed(&self, source: usize) -> Option<String> {
        let id = self.opened.filter(|id| id.source == source)?;
        let row = self.live.get(source)?.snapshot.actor(id.number)?;
        Some(row.path.clone()).filter(|path| path.len() <= Ordered::WORD_MAX)
    }

    fn close(&mut self) -> Option<Effect> {
        let id = self.opened.take()?;
        Some(Effect::Follow { source: id.source, actor: None })
    }

    fn back(&mut self) -> Option<Effect> {
        if self.opened.is_some() {
            return self.close();
        }
        if self.page != Page::Ticks {
            let listing = self.listing(self.page);
            match listing.filter.is_empty() {
                false => listing.filter.clear(),
                true => listing.chosen = None,
            }
        }
        None
    }

    fn filter(&mut self, key: Key) {
        if self.page == Page::Ticks {
            return;
        }
        let filter = &mut self.listing(self.page).filter;
        match key {
            Key::Enter => return,
            Key::Esc => return filter.clear(),
            Key::Backspace => drop(filter.pop()),
            Key::Char(c) if filter.chars().count() < FILTER_MAX => filter.extend(c.to_lowercase()),
            _ => (),
        }
        self.mode = Mode::Filter;
    }

    fn ask(&mut self, order: impl FnOnce(usize, &str) -> Order) {
        match self.meant() {
            Some(line) => self.mode = Mode::Sure(order(line.id.source, &line.row.path)),
            None => self.told = Some("choose an actor first: 1, then the arrow keys".to_owned()),
        }
    }

    fn ask_bound(&mut self) {
        match self.meant() {
            Some(line) => {
                let now = [
                    (LaneName::Data, line.row.data.max),
                    (LaneName::Control, line.row.control.max),
                ];
                self.mode = Mode::Bound(Bounding::new(line.id.source, &line.row.path, now));
            }
            None => self.told = Some("choose an actor first: 1, then the arrow keys".to_owned()),
        }
    }

    fn ask_dump(&mut self) {
        let source = self.meant().map_or(0, |line| line.id.source);
        if let Some(at) = self.live.get(source) {
            self.mode = Mode::Sure(Order::dump(source, &at.name));
        }
    }

    fn ask_words(&mut self, wording: impl FnOnce(usize, &str) -> Wording) {
        let source = self.meant().map_or(0, |line| line.id.source);
        if let Some(at) = self.live.get(source) {
            self.mode = Mode::Words(wording(source, &at.name));
        }
    }

    /// The actor that an order would be for.
    fn meant(&self) -> Option<ActorLine<'_>> {
        let chosen = self.actors.chosen.filter(|_| self.page == Page::Actors);
        let id = self.opened.or(chosen)?;
        lines::actors(self.sources()).into_iter().find(|line| line.id == id)
    }

    fn sure(&mut self, order: Order, key: Key) -> Option<Effect> {
        if key == Key::Char('y') {
            self.told = Some("asked, waiting for the answer".to_owned());
            return Some(Effect::Order(order));
        }
        self.told = Some("nothing was done".to_owned());
        None
    }

    fn listing(&mut self, page: Page) -> &mut Listing {
        match page {
            Page::Actors | Page::Ticks => &mut self.actors,
            Page::Links => &mut self.links,
            Page::Waits => &mut self.waits,
            Page::Limits => &mut self.limits,
            Page::Processes => &mut self.processes,
        }
    }

    /// The rows of a page, in the order they are shown in.
    fn ids(&self, page: Page) -> Vec<Id> {
        fn of<L: lines::Line>(lines: Vec<L>) -> Vec<Id> {
            lines.iter().map(lines::Line::id).collect()
        }
        let sources = self.sources();
        match page {
            Page::Actors | Page::Ticks => of(self.actors.arranged(lines::actors(sources))),
            Page::Links => of(self.links.arranged(lines::links(sources))),
            Page::Waits => of(self.waits.arranged(lines::waits(sources))),
            Page::Limits => of(self.limits.arranged(limits::limits(sources))),
            Page::Processes => of(self.processes.arranged(processes::processes(sources))),
        }
    }

    /// Bring what is chosen in line with what there is.
    fn settle(&mut self) {
        let strips: usize = self.sources().iter().map(|source| source.snapshot.ticks.len()).sum();
        self.strip = self.strip.min(strips.saturating_sub(1));
        let rows = self.rows();
        if self.page != Page::Ticks {
            let ids = self.ids(self.page);
            self.listing(self.page).settle(&ids, rows);
        }
        if self.opened.is_some() && self.opened().is_none() {
            self.opened = None;
            self.told = Some("the actor has ended".to_owned());
        }
    }
}
