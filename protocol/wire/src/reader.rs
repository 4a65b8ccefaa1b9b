//! The walk that reads bytes nobody vouches for.
//!
//! Used through [`decode`], and by the schema walker. Never: panics, keeps what it read on an
//! error, or believes a count that the bytes left over could not fill.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;

use crate::error::{Fault, WireError, counted};
use crate::kind::Width;
use crate::slot::{NamedValue, Slot};
use crate::walk::{Count, Fields, Group, ListLen, Mark, Walk};

/// Reads a value that takes up all of `bytes`.
#[inline]
pub fn decode<F: Fields>(bytes: &[u8]) -> Result<F, WireError> {
    let mut value = F::default();
    let mut reader = Reader::new(bytes);
    value.fields(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// Fills what it visits from bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    whole: &'a [u8],
    /// What is left of the packet or section.
    rest: &'a [u8],
    /// Where `rest` ends in `whole`.
    end: usize,
    /// The newest count field that no list has taken yet.
    count: Option<u16>,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { whole: bytes, rest: bytes, end: bytes.len(), count: None }
    }

    /// How many bytes are left, inside a section to the section's end.
    #[inline]
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// How many bytes of the whole packet lie before the next one to be read.
    #[inline]
    pub const fn offset(&self) -> usize {
        self.end - self.rest.len()
    }

    /// The bytes that are left, inside a section to the section's end.
    #[inline]
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes on from a byte of the packet, inside a section from one of that section's.
    pub(crate) fn go(&mut self, offset: usize) {
        self.rest = self.whole.get(offset..self.end).unwrap_or_default();
    }

    /// Refuses bytes that nothing has read.
    #[inline]
    pub fn finish(&self) -> Result<(), WireError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(WireError::new("", Fault::Trailing(counted(self.rest.len()))))
    }

    #[inline]
    fn take<const N: usize>(&mut self, name: &'static str) -> Result<[u8; N], WireError> {
        let Some((head, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(WireError::new(name, Fault::Truncated));
        };
        self.rest = rest;
        Ok(*head)
    }

    #[inline]
    pub(crate) fn take_slice(
        &mut self,
        name: &'static str,
        len: usize,
    ) -> Result<&'a [u8], WireError> {
        let Some((head, rest)) = self.rest.split_at_checked(len) else {
            return Err(WireError::new(name, Fault::Truncated));
        };
        self.rest = rest;
        Ok(head)
    }

    #[inline]
    pub(crate) fn take_width(
        &mut self,
        name: &'static str,
        width: Width,
    ) -> Result<u32, WireError> {
        Ok(match width {
            Width::One => u32::from(u8::from_le_bytes(self.take(name)?)),
            Width::Two => u32::from(u16::from_le_bytes(self.take(name)?)),
            Width::Four => u32::from_le_bytes(self.take(name)?),
        })
    }

    #[inline]
    pub(crate) fn take_bool(&mut self, name: &'static str) -> Result<bool, WireError> {
        match self.take(name)? {
            [0] => Ok(false),
            [1] => Ok(true),
            [byte] => Err(WireError::new(name, Fault::NotBool(byte))),
        }
    }

    #[inline]
    fn take_f32(&mut self, name: &'static str) -> Result<f32, WireError> {
        let value = f32::from_le_bytes(self.take(name)?);
        if value.is_finite() { Ok(value) } else { Err(WireError::new(name, Fault::NotFinite)) }
    }

    pub(crate) fn take_varu32(&mut self, name: &'static str) -> Result<u32, WireError> {
        let mut value = 0;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.take(name)?;
            // The fifth byte has room for four bits; a last byte of zero could have been left out.
            if (shift == 28 && byte > 0x0f) || (shift > 0 && byte == 0) {
                break;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(WireError::new(name, Fault::Overlong))
    }

    /// Bytes behind a length of this width, which is at most `cap`.
    #[inline]
    pub(crate) fn take_prefixed(
        &mut self,
        name: &'static str,
        prefix: Width,
        cap: usize,
    ) -> Result<&'a [u8], WireError> {
        let len = self.take_width(name, prefix)? as usize;
        if len > cap {
            return Err(WireError::too_long(name, len, cap));
        }
        self.take_slice(name, len)
    }

    /// A text behind a length of this width, which is at most `cap`.
    pub(crate) fn take_text(
        &mut self,
        name: &'static str,
        prefix: Width,
        cap: usize,
    ) -> Result<&'a str, WireError> {
        let bytes = self.take_prefixed(name, prefix, cap)?;
        core::str::from_utf8(bytes).map_err(|_| WireError::new(name, Fault::NotUtf8))
    }

    /// A count that is within its cap and that the bytes left over can fill.
    fn take_count(&mut self, name: &'static str, list: &mut ListLen) -> Result<(), WireError> {
        let count = match list.count {
            Count::One => self.take_width(name, Width::One)?,
            Count::Two => self.take_width(name, Width::Two)?,
            Count::Earlier => match self.count.take() {
                Some(count) => u32::from(count),
                None => return Err(WireError::new(name, Fault::NoCount)),
            },
        } as usize;
        if count > list.cap {
            return Err(WireError::too_many(name, count, list.cap));
        }
        if count * list.entry_bytes_min > self.rest.len() {
            return Err(WireError::new(name, Fault::Truncated));
        }
        list.len = count;
        Ok(())
    }

    fn take_mask(&mut self, name: &'static str, mask: &mut NamedValue) -> Result<(), WireError> {
        mask.value = self.take_width(name, mask.names.width)?;
        let unknown = mask.names.unknown_bits(mask.value);
        if unknown != 0 {
            return Err(WireError::new(name, Fault::UnknownBits(unknown)));
        }
        Ok(())
    }

    /// Narrows the reader to a section's body.
    fn enter_section(&mut self, name: &'static str) -> Result<Mark, WireError> {
        let len = self.take_width(name, Width::Two)? as usize;
        let body = self.take_slice(name, len)?;
        let mark = Mark { start: self.offset(), end: self.end };
        self.end = mark.start;
        self.rest = body;
        Ok(mark)
    }
}

impl Walk for Reader<'_> {
    #[inline]
    fn leaf(&mut self, name: &'static str, slot: Slot<'_>) -> Result<(), WireError> {
        match slot {
            Slot::U8(v) => *v = u8::from_le_bytes(self.take(name)?),
            Slot::U16(v) => *v = u16::from_le_bytes(self.take(name)?),
            Slot::U32(v) => *v = u32::from_le_bytes(self.take(name)?),
            Slot::U64(v) => *v = u64::from_le_bytes(self.take(name)?),
            Slot::I8(v) => *v = i8::from_le_bytes(self.take(name)?),
            Slot::I16(v) => *v = i16::from_le_bytes(self.take(name)?),
            Slot::I32(v) => *v = i32::from_le_bytes(self.take(name)?),
            Slot::I64(v) => *v = i64::from_le_bytes(self.take(name)?),
            Slot::F32(v) => *v = self.take_f32(name)?,
            Slot::F64(v) => {
                *v = f64::from_le_bytes(self.take(name)?);
                if !v.is_finite() {
                    return Err(WireError::new(name, Fault::NotFinite));
                }
            }
            Slot::Bool(v) => *v = self.take_bool(name)?,
            Slot::Varu32(v) => *v = self.take_varu32(name)?,
            Slot::Count16(v) => {
                *v = u16::from_le_bytes(self.take(name)?);
                self.count = Some(*v);
            }
            Slot::F32x3([x, y, z]) => {
                (*x, *y, *z) = (self.take_f32(name)?, self.take_f32(name)?, self.take_f32(name)?);
            }
            Slot::F32x4([x, y, z, w]) => {
                (*x, *y) = (self.take_f32(name)?, self.take_f32(name)?);
                (*z, *w) = (self.take_f32(name)?, self.take_f32(name)?);
            }
            Slot::Hash128(v) | Slot::Guid(v) => *v = self.take(name)?,
            Slot::Root(v) => *v = self.take(name)?,
            Slot::Rest(v) => {
                replace(v, self.rest);
                self.rest = &self.rest[self.rest.len()..];
            }
            Slot::Str8(v) => self.take_text(name, Width::One, v.cap)?.clone_into(v.text),
            Slot::Str16(v) => self.take_text(name, Width::Two, v.cap)?.clone_into(v.text),
            Slot::Enum(v) | Slot::Flags(v) => v.value = self.take_width(name, v.names.width)?,
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
            Group::Optional(present) => *present = self.take_bool(name)?,
            Group::List(list) => self.take_count(name, list)?,
            Group::Sparse(mask) => self.take_mask(name, mask)?,
            Group::Union(tag) => tag.value = self.take_width(name, tag.names.width)?,
            Group::Section => return self.enter_section(name),
            Group::Tail(present) => *present = !self.rest.is_empty(),
        }
        Ok(Mark::FLAT)
    }

    #[inline]
    fn close(&mut self, mark: Mark) -> Result<(), WireError> {
        if mark != Mark::FLAT {
            self.rest = &self.whole[mark.start..mark.end];
            self.end = mark.end;
        }
        Ok(())
    }
}

fn replace(held: &mut Vec<u8>, bytes: &[u8]) {
    held.clear();
    held.reserve_exact(bytes.len());
    held.extend_from_slice(bytes);
}
