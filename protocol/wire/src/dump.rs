//! The walk that shows a value: as one line for logs, as a tree for tools.
//!
//! Used by inspectors, golden packets and tests. Never parsed again; the text may change freely.

use alloc::string::String;
use core::fmt::{self, Write as _};

use crate::bits::write_flags;
use crate::error::WireError;
use crate::slot::Slot;
use crate::walk::{Fields, Group, Mark, Walk};

/// Bytes of a rest that are shown.
const REST_SHOWN: usize = 16;

/// The value in one line: `version=2 schema_hash=00ff..`.
pub fn line<F: Fields>(value: &mut F) -> String {
    dump(value, Style::Line)
}

/// The value with one line for each field, indented by two spaces for each group around it.
pub fn tree<F: Fields>(value: &mut F) -> String {
    dump(value, Style::Tree)
}

fn dump<F: Fields>(value: &mut F, style: Style) -> String {
    let mut dump = Dump { out: String::new(), style, open: 0, closers: String::new() };
    let walk: &mut dyn Walk = &mut dump;
    // Showing has no way to fail; what was shown until then stands.
    let _ = value.fields(walk);
    dump.out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Line,
    Tree,
}

/// Appends what it visits as text.
#[derive(Debug)]
struct Dump {
    out: String,
    style: Style,
    /// Groups around the next field that are shown.
    open: usize,
    /// How each open group ends, a space for those that are not shown.
    closers: String,
}

impl Dump {
    /// Starts a field: what separates it from the one before, and its name.
    fn name(&mut self, name: &'static str) {
        if self.style == Style::Tree {
            for _ in 0..self.open {
                self.out.push_str("  ");
            }
        } else if !self.out.is_empty() && !self.out.ends_with(['{', '[']) {
            self.out.push(' ');
        }
        self.out.push_str(name);
    }

    fn leaf_text(&mut self, name: &'static str, value: fmt::Arguments<'_>) {
        self.name(name);
        self.out.push('=');
        let _ = self.out.write_fmt(value);
        if self.style == Style::Tree {
            self.out.push('\n');
        }
    }

    fn begin(&mut self, name: &'static str, opener: char, closer: char) {
        self.name(name);
        self.out.push(if self.style == Style::Tree { '\n' } else { opener });
        self.open += 1;
        self.closers.push(closer);
    }
}

impl Walk for Dump {
    fn leaf(&mut self, name: &'static str, slot: Slot<'_>) -> Result<(), WireError> {
        match slot {
            Slot::U8(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::U16(v) | Slot::Count16(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::U32(v) | Slot::Varu32(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::U64(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::I8(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::I16(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::I32(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::I64(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::F32(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::F64(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::Bool(v) => self.leaf_text(name, format_args!("{v}")),
            Slot::F32x3([x, y, z]) => self.leaf_text(name, format_args!("({x} {y} {z})")),
            Slot::F32x4([x, y, z, w]) => self.leaf_text(name, format_args!("({x} {y} {z} {w})")),
            Slot::Hash128(v) => self.leaf_text(name, format_args!("{}", crate::Hash128(*v))),
            Slot::Guid(v) => self.leaf_text(name, format_args!("{}", crate::Guid(*v))),
            Slot::Root(v) => self.leaf_text(name, format_args!("{}", crate::Root(*v))),
            Slot::Rest(v) => self.leaf_text(name, format_args!("{}", Shown(v))),
            // Debug escapes what a peer could hide in a text.
            Slot::Str8(v) | Slot::Str16(v) => self.leaf_text(name, format_args!("{:?}", v.text)),
            Slot::Enum(v) => match v.names.name_of(v.value) {
                Some(member) => self.leaf_text(name, format_args!("{member}")),
                None => self.leaf_text(name, format_args!("{}", v.value)),
            },
            Slot::Flags(v) => {
                let mut bits = String::new();
                let _ = write_flags(&mut bits, v.names, v.value);
                self.leaf_text(name, format_args!("{}", bits.to_ascii_lowercase()));
            }
        }
        Ok(())
    }

    fn record(&mut self, name: &'static str, _: &'static str) -> Result<Mark, WireError> {
        self.begin(name, '{', '}');
        Ok(Mark::FLAT)
    }

    fn open(&mut self, name: &'static str, group: Group<'_>) -> Result<Mark, WireError> {
        match group {
            Group::Sparse(_) | Group::Union(_) => self.begin(name, '{', '}'),
            Group::List(list) => {
                self.begin(name, '[', ']');
                if list.len == 0 && self.style == Style::Tree {
                    self.out.pop();
                    self.out.push_str("=[]\n");
                }
            }
            Group::Optional(present) => {
                if !*present {
                    self.leaf_text(name, format_args!("none"));
                }
                self.closers.push(' ');
            }
            // The body shows itself under the same name.
            Group::Section | Group::Tail(_) => self.closers.push(' '),
        }
        Ok(Mark::FLAT)
    }

    fn close(&mut self, _mark: Mark) -> Result<(), WireError> {
        match self.closers.pop() {
            Some(' ') | None => {}
            Some(closer) => {
                self.open -= 1;
                if self.style == Style::Line {
                    self.out.push(closer);
                }
            }
        }
        Ok(())
    }
}

/// The first bytes in hex, and how many there are.
struct Shown<'a>(&'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(REST_SHOWN)];
        shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        let more = if shown.len() < self.0.len() { ".." } else { "" };
        write!(f, "{more} ({} bytes)", self.0.len())
    }
}
