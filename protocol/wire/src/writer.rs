//! The walk that writes.
//!
//! Used through [`encode`]. Never: emits part of a value; an error leaves the buffer as it was.

use alloc::vec::Vec;

use crate::error::{Fault, WireError, counted};
use crate::kind::{NumberBytes, Width};
use crate::limit::SECTION_MAX;
use crate::slot::{CappedText, Slot};
use crate::walk::{Count, Fields, Group, ListLen, Mark, Walk};

/// Appends the bytes of `value` to `out`. On an error `out` is as it was.
///
/// Takes `&mut` because one walk writes and reads; the value is not changed.
#[inline]
pub fn encode<F: Fields>(value: &mut F, out: &mut Vec<u8>) -> Result<(), WireError> {
    let start = out.len();
    let written = value.fields(&mut Writer::new(out));
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Appends what it visits to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// The newest count field that no list has taken yet.
    count: Option<u16>,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `out`.
    #[inline]
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, count: None }
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn put_width(&mut self, width: Width, value: u32) {
        self.put(&width.number(value));
    }

    fn put_text(
        &mut self,
        name: &'static str,
        prefix: Width,
        CappedText { cap, text }: &CappedText<'_>,
    ) -> Result<(), WireError> {
        let cap = *cap;
        if text.len() > cap {
            return Err(WireError::too_long(name, text.len(), cap));
        }
        self.put_width(prefix, counted(text.len()));
        self.put(text.as_bytes());
        Ok(())
    }

    fn put_count(&mut self, name: &'static str, list: &ListLen) -> Result<(), WireError> {
        if list.len > list.cap {
            return Err(WireError::too_many(name, list.len, list.cap));
        }
        let held = counted(list.len);
        match list.count {
            Count::One => self.put_width(Width::One, held),
            Count::Two => self.put_width(Width::Two, held),
            Count::Earlier => {
                let told = self.count.take().ok_or_else(|| WireError::new(name, Fault::NoCount))?;
                let told = u32::from(told);
                if told != held {
                    return Err(WireError::new(name, Fault::CountDiffers { told, held }));
                }
            }
        }
        Ok(())
    }

    fn seal_section(&mut self, start: usize) -> Result<(), WireError> {
        let body = self.out.len() - start;
        let len = u16::try_from(body).map_err(|_| WireError::too_long("", body, SECTION_MAX))?;
        self.out[start - 2..start].copy_from_slice(&len.to_le_bytes());
        Ok(())
    }
}

impl Walk for Writer<'_> {
    #[inline]
    fn leaf(&mut self, name: &'static str, slot: Slot<'_>) -> Result<(), WireError> {
        match slot {
            Slot::U8(v) => self.put(&[*v]),
            Slot::U16(v) => self.put(&v.to_le_bytes()),
            Slot::U32(v) => self.put(&v.to_le_bytes()),
            Slot::U64(v) => self.put(&v.to_le_bytes()),
            Slot::I8(v) => self.put(&v.to_le_bytes()),
            Slot::I16(v) => self.put(&v.to_le_bytes()),
            Slot::I32(v) => self.put(&v.to_le_bytes()),
            Slot::I64(v) => self.put(&v.to_le_bytes()),
            Slot::F32(v) => {
                finite(name, v.is_finite())?;
                self.put(&v.to_le_bytes());
            }
            Slot::F64(v) => {
                finite(name, v.is_finite())?;
                self.put(&v.to_le_bytes());
            }
            Slot::Bool(v) => self.put(&[u8::from(*v)]),
            Slot::Varu32(v) => self.put(&NumberBytes::varu32(*v)),
            Slot::Count16(v) => {
                self.count = Some(*v);
                self.put(&v.to_le_bytes());
            }
            Slot::F32x3(v) => {
                finite(name, v.iter().all(|f| f.is_finite()))?;
                self.put(v.map(f32::to_le_bytes).as_flattened());
            }
            Slot::F32x4(v) => {
                finite(name, v.iter().all(|f| f.is_finite()))?;
                self.put(v.map(f32::to_le_bytes).as_flattened());
            }
            Slot::Hash128(v) | Slot::Guid(v) => self.put(v),
            Slot::Root(v) => self.put(v),
            Slot::Rest(v) => self.put(v),
            Slot::Str8(v) => self.put_text(name, Width::One, v)?,
            Slot::Str16(v) => self.put_text(name, Width::Two, v)?,
            Slot::Enum(v) | Slot::Flags(v) => self.put_width(v.names.width, v.value),
        }
        Ok(())
    }

    #[inline]
    fn record(&mut self, _: &'static str, _: &'static str) -> Result<Mark, WireError> {
        Ok(Mark::FLAT)
    }

    #[inline]
    fn open(&mut self, name: &'static str, group: Group<'_>) -> Result<Mark, WireError> {
        match group {
            Group::Tail(_) => {}
            Group::Optional(present) => self.put(&[u8::from(*present)]),
            Group::List(list) => self.put_count(name, list)?,
            Group::Sparse(mask) => {
                let unknown = mask.names.unknown_bits(mask.value);
                if unknown != 0 {
                    return Err(WireError::new(name, Fault::UnknownBits(unknown)));
                }
                self.put_width(mask.names.width, mask.value);
            }
            Group::Union(tag) => self.put_width(tag.names.width, tag.value),
            Group::Section => {
                self.put(&[0, 0]);
                return Ok(Mark { start: self.out.len(), end: 0 });
            }
        }
        Ok(Mark::FLAT)
    }

    #[inline]
    fn close(&mut self, mark: Mark) -> Result<(), WireError> {
        if mark == Mark::FLAT {
            return Ok(());
        }
        self.seal_section(mark.start)
    }
}

#[inline]
fn finite(name: &'static str, finite: bool) -> Result<(), WireError> {
    if finite { Ok(()) } else { Err(WireError::new(name, Fault::NotFinite)) }
}
