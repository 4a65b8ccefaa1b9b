//! Canvas: cells that only cleaned and clipped text gets into.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::inspect::screen::text::{Look, cells_of, columns};

/// What a text is, which decides how it looks; without colours what is loud is bold or reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Dim,
    Bold,
    Title,
    Chosen,
    Alarm,
    Loud,
    /// A bar or a column of a chart.
    Chart,
    /// One of several charts in one place.
    Part(usize),
}

/// What is drawn on.
#[derive(Debug)]
pub(crate) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    pub(crate) look: Look,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl<'a> Canvas<'a> {
    pub(crate) fn new(buffer: &'a mut Buffer, look: Look) -> Self {
        let (width, height) = (buffer.area.width, buffer.area.height);
        Self { buffer, look, width, height }
    }

    /// Write the begin of a text into at most so many cells; how many it took.
    pub(crate) fn put(&mut self, x: u16, y: u16, text: &str, cells: u16, tone: Tone) -> u16 {
        let text = self.look.clip(text, usize::from(self.room(x, cells)));
        self.write(x, y, &text, tone)
    }

    /// Write the end of a text into at most so many cells; how many it took.
    pub(crate) fn put_end(&mut self, x: u16, y: u16, text: &str, cells: u16, tone: Tone) -> u16 {
        let text = self.look.clip_front(text, usize::from(self.room(x, cells)));
        self.write(x, y, &text, tone)
    }

    /// Write a text at the right end of so many cells.
    pub(crate) fn put_right(&mut self, x: u16, y: u16, text: &str, cells: u16, tone: Tone) {
        let cells = self.room(x, cells);
        let text = self.look.clip(text, usize::from(cells));
        let taken = columns(cells_of(&text));
        self.write(x + cells - taken, y, &text, tone);
    }

    /// Give a whole line a tone.
    pub(crate) fn fill(&mut self, y: u16, tone: Tone) {
        let style = self.style(tone);
        self.buffer.set_style(Rect::new(0, y, self.width, 1), style);
    }

    fn room(&self, x: u16, cells: u16) -> u16 {
        cells.min(self.width.saturating_sub(x))
    }

    fn write(&mut self, x: u16, y: u16, text: &str, tone: Tone) -> u16 {
        if x >= self.width || y >= self.height {
            return 0;
        }
        let style = self.style(tone);
        self.buffer.set_string(x, y, text, style);
        columns(cells_of(text))
    }

    fn style(&self, tone: Tone) -> Style {
        const PARTS: [Color; 6] =
            [Color::Cyan, Color::Yellow, Color::Green, Color::Magenta, Color::Blue, Color::White];
        let style = Style::new();
        let colours = self.look.colours;
        let coloured = |colour: Color| if colours { style.fg(colour) } else { style };
        match tone {
            Tone::Plain => style,
            Tone::Dim if colours => style.fg(Color::DarkGray),
            Tone::Dim => style.add_modifier(Modifier::DIM),
            Tone::Bold => style.add_modifier(Modifier::BOLD),
            Tone::Title => coloured(Color::Cyan).add_modifier(Modifier::BOLD),
            Tone::Chosen => style.add_modifier(Modifier::REVERSED),
            Tone::Alarm => coloured(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Loud if colours => {
                style.fg(Color::White).bg(Color::Red).add_modifier(Modifier::BOLD)
            }
            Tone::Loud => style.add_modifier(Modifier::BOLD | Modifier::REVERSED),
            Tone::Chart => coloured(Color::Cyan),
            Tone::Part(part) => coloured(PARTS[part % PARTS.len()]),
        }
    }
}
