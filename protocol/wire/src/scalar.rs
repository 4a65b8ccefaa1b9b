//! Numbers, truth values and vectors as fields.
//!
//! Used wherever a message names a plain Rust type. Never: a float that is not finite; writer and
//! reader both refuse those.

use crate::error::WireError;
use crate::slot::Slot;
use crate::walk::{Value, Walk};

/// A `u32` in one to five bytes, seven bits each: small numbers are short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Varu32(pub u32);

macro_rules! scalars {
    ($($Type:ty = $Slot:ident $bytes:literal;)*) => {$(
        impl Value for $Type {
            const BYTES_MIN: usize = $bytes;

            #[inline]
            fn walk<W: Walk + ?Sized>(
                &mut self,
                name: &'static str,
                walk: &mut W,
            ) -> Result<(), WireError> {
                walk.leaf(name, Slot::$Slot(self))
            }
        }
    )*};
}

scalars! {
    u8 = U8 1;
    u16 = U16 2;
    u32 = U32 4;
    u64 = U64 8;
    i8 = I8 1;
    i16 = I16 2;
    i32 = I32 4;
    i64 = I64 8;
    f32 = F32 4;
    f64 = F64 8;
    bool = Bool 1;
    [f32; 3] = F32x3 12;
    [f32; 4] = F32x4 16;
}

impl Value for Varu32 {
    const BYTES_MIN: usize = 1;

    #[inline]
    fn walk<W: Walk + ?Sized>(
        &mut self,
        name: &'static str,
        walk: &mut W,
    ) -> Result<(), WireError> {
        walk.leaf(name, Slot::Varu32(&mut self.0))
    }
}

impl From<u32> for Varu32 {
    fn from(value: u32) -> Self {
        Self(value)
    }
}
