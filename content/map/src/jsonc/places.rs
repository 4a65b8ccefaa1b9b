//! Places: line and column of offsets, each found in a short time however long the text is.
//!
//! Used by reports.

/// Bytes between two marks.
const STEP: usize = 64 << 10;

/// The places of one text.
#[derive(Debug)]
pub(super) struct Places<'a> {
    text: &'a [u8],
    /// Lines and characters before every so many bytes, as far as anybody asked.
    marks: Vec<Mark>,
}

/// Whole lines before a byte, and characters before it in its own.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    lines: u32,
    letters: u32,
}

impl<'a> Places<'a> {
    /// The places of a text.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), marks: vec![Mark::default()] }
    }

    /// Line and column of an offset, both counted from 1, the column in characters.
    pub(super) fn of(&mut self, at: usize) -> (u32, u32) {
        let at = at.min(self.text.len());
        while self.marks.len() <= at / STEP {
            let end = self.marks.len() * STEP;
            let mark = self.marks.last().copied().unwrap_or_default();
            self.marks.push(mark.behind(&self.text[end - STEP..end]));
        }
        let start = at / STEP;
        let mark = self.marks[start].behind(&self.text[start * STEP..at]);
        (mark.lines.saturating_add(1), mark.letters.saturating_add(1))
    }
}

impl Mark {
    fn behind(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |Self { lines, letters }, byte| match byte {
            b'\n' => Self { lines: lines.saturating_add(1), letters: 0 },
            // The later bytes of a character.
            0x80..=0xbf => Self { lines, letters },
            _ => Self { lines, letters: letters.saturating_add(1) },
        })
    }
}
