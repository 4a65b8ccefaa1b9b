//! Terminal: the screen of the user, which is given back as it was, however this ends.

use std::io::{self, BufWriter, Stdout, stdout};

use ratatui::backend::{Backend as _, ClearType, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;
use rustix::termios::tcgetwinsize;

/// Columns and rows of a terminal that does not say.
const USUAL: (u16, u16) = (80, 24);
/// Columns and rows that are drawn at most, whatever a terminal says of itself.
const LARGEST: (u16, u16) = (1_000, 400);

/// The terminal while it shows the screen.
#[derive(Debug)]
pub(super) struct Terminal {
    backend: CrosstermBackend<BufWriter<Stdout>>,
    /// What it shows.
    shown: Buffer,
}

impl Terminal {
    /// Take it over.
    pub(super) fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        // From here on it is given back, also where the next step fails.
        let backend = CrosstermBackend::new(BufWriter::with_capacity(1 << 16, stdout()));
        let mut terminal = Self { backend, shown: Buffer::default() };
        execute!(stdout(), EnterAlternateScreen, Hide)?;
        terminal.forget()?;
        Ok(terminal)
    }

    /// Draw; only cells that differ from what it shows are written.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        let (width, height) = size();
        let area = Rect::new(0, 0, width, height);
        if self.shown.area != area {
            self.backend.clear_region(ClearType::All)?;
            self.shown = Buffer::empty(area);
        }
        let mut next = Buffer::empty(area);
        draw(&mut next);
        self.backend.draw(self.shown.diff(&next).into_iter())?;
        self.backend.flush()?;
        self.shown = next;
        Ok(())
    }

    /// What it shows is not known any more: all of it is drawn next time.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        self.shown = Buffer::default();
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that has gone needs nothing of it.
        let _ = execute!(stdout(), Show, LeaveAlternateScreen);
        give_back();
    }
}

/// Have it read lines again; this waits for nobody.
pub(super) fn give_back() {
    let _ = disable_raw_mode();
}

/// Its columns and rows.
pub(super) fn size() -> (u16, u16) {
    match tcgetwinsize(stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            (size.ws_col.min(LARGEST.0), size.ws_row.min(LARGEST.1))
        }
        _ => USUAL,
    }
}
