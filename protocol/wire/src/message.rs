//! The declaration: [`message!`](crate::message) turns an ordinary item into a wire type.
//!
//! Used by `messages` and by tests. Never gives out numbers; the registry does.

/// Declares a wire type. Without a marker it is a record: its fields in wire order. A marker before
/// everything else makes it something tagged; what stands in the marker is the width:
///
/// ```text
/// message!( pub struct Hit { pub target: u32, pub amount: u16 } );       a record
/// message!( #[preset] pub struct Settings { .. } );                      its Default by hand
/// message!( #[sparse(u8)] pub struct Lamp { pub on: u8, .. } );          only members in `set`
/// message!( #[union(u8)] pub enum Form { Entity(Entity) = 0 } );         a tag, then that case
/// message!( #[union(u16)] pub enum Look { Gloss(f32) = 7 as "water.gloss" } );  rows by token
/// message!( #[named(u8)] pub enum Kind { Player = 0, Server = 1 } );     an enum by name
/// message!( #[open(u8)] pub enum Kind { Door = 4 } );                    keeps unknown values
/// message!( #[flags(u16)] pub enum Buttons { JUMP = 0, CROUCH = 1 } );   bits by name
/// ```
#[macro_export]
macro_rules! message {
    (#[union($Tag:ty)] $($item:tt)*) => { $crate::union_case! { $Tag; $($item)* } };
    (#[named($Tag:ty)] $($item:tt)*) => { $crate::named_value! { $Tag; $($item)* } };
    (#[open($Tag:ty)] $($item:tt)*) => { $crate::open_value! { $Tag; $($item)* } };
    (#[flags($Tag:ty)] $($item:tt)*) => { $crate::flag_set! { $Tag; $($item)* } };
    (#[sparse($Tag:ty)] $($item:tt)*) => { $crate::sparse_set! { $Tag; $($item)* } };
    (#[preset] $($item:tt)*) => { $crate::record! { $($item)* } };
    ($($item:tt)*) => { $crate::record! { #[derive(Default)] $($item)* } };
}

/// The record arm of [`message!`].
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident {
            $($(#[$doc:meta])* $fvis:vis $field:ident: $Type:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Name { $($(#[$doc])* $fvis $field: $Type),* }

        impl $crate::Fields for $Name {
            const SHAPE: &'static str = stringify!($Name);
            const BYTES_MIN: usize = 0 $(+ <$Type as $crate::Value>::BYTES_MIN)*;

            #[inline]
            fn fields<W: $crate::Walk + ?Sized>(
                &mut self,
                walk: &mut W,
            ) -> ::core::result::Result<(), $crate::WireError> {
                $($crate::WalkExt::field(walk, stringify!($field), &mut self.$field)?;)*
                Ok(())
            }
        }
    };
}

/// The sparse arm of [`message!`]: a member's bit is its place in the declaration.
#[doc(hidden)]
#[macro_export]
macro_rules! sparse_set {
    (
        $Tag:ty;
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident {
            $($(#[$doc:meta])* $fvis:vis $field:ident: $Type:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $Name {
            /// Which members travel: bit i is the i-th member.
            $vis set: $Tag,
            $($(#[$doc])* $fvis $field: $Type),*
        }

        impl $Name {
            const NAMES: &'static $crate::Names = &$crate::Names {
                name: stringify!($Name),
                width: <$Tag as $crate::Tag>::WIDTH,
                members: &$crate::numbered([$(stringify!($field)),*]),
                open: false,
            };
        }

        impl $crate::Value for $Name {
            const BYTES_MIN: usize = <$Tag as $crate::Tag>::WIDTH.bytes();

            fn walk<W: $crate::Walk + ?Sized>(
                &mut self,
                name: &'static str,
                walk: &mut W,
            ) -> ::core::result::Result<(), $crate::WireError> {
                const { assert!(Self::NAMES.fit(), "more members than the mask has bits") };
                let value = u32::from(self.set);
                let mut mask = $crate::NamedValue { names: Self::NAMES, value };
                let mark = walk.open(name, $crate::Group::Sparse(&mut mask))?;
                self.set = $crate::narrow(name, mask.value)?;
                let mut left = mask.value;
                $(
                    if left & 1 != 0 {
                        $crate::WalkExt::field(walk, stringify!($field), &mut self.$field)?;
                    }
                    left >>= 1;
                )*
                let _ = left;
                walk.close(mark)
            }
        }
    };
}

/// The union arm of [`message!`].
#[doc(hidden)]
#[macro_export]
macro_rules! union_case {
    (
        $Tag:ty;
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $(#[$first_doc:meta])*
            $First:ident($FirstBody:ty) = $first_tag:literal $(as $first_token:literal)?
            $(, $(#[$doc:meta])* $Case:ident($Body:ty) = $tag:literal $(as $token:literal)?)* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $Name {
            $(#[$first_doc])* $First($FirstBody),
            $($(#[$doc])* $Case($Body)),*
        }

        impl $Name {
            const NAMES: &'static $crate::Names = &$crate::Names {
                name: stringify!($Name),
                width: <$Tag as $crate::Tag>::WIDTH,
                members: &[
                    ($crate::case_name!($First $($first_token)?), $first_tag),
                    $(($crate::case_name!($Case $($token)?), $tag)),*
                ],
                open: false,
            };
        }

        impl ::core::default::Default for $Name {
            fn default() -> Self {
                Self::$First(<$FirstBody>::default())
            }
        }

        impl $crate::Value for $Name {
            const BYTES_MIN: usize = <$Tag as $crate::Tag>::WIDTH.bytes();

            #[inline]
            fn walk<W: $crate::Walk + ?Sized>(
                &mut self,
                name: &'static str,
                walk: &mut W,
            ) -> ::core::result::Result<(), $crate::WireError> {
                let own: u32 = match self {
                    Self::$First(_) => $first_tag,
                    $(Self::$Case(_) => $tag),*
                };
                let mut chosen = $crate::NamedValue { names: Self::NAMES, value: own };
                let mark = walk.open(name, $crate::Group::Union(&mut chosen))?;
                let mut tag = chosen.value;
                loop {
                    // Another tag than one's own: a reader or a describer has chosen it.
                    if tag != own {
                        *self = match tag {
                            $first_tag => Self::$First(<$FirstBody>::default()),
                            $($tag => Self::$Case(<$Body>::default()),)*
                            tag => {
                                let fault = $crate::Fault::UnknownCase(tag);
                                return Err($crate::WireError::new(name, fault));
                            }
                        };
                    }
                    match self {
                        Self::$First(body) => {
                            let name = $crate::case_name!($First $($first_token)?);
                            $crate::WalkExt::field(walk, name, body)?;
                        }
                        $(Self::$Case(body) => {
                            let name = $crate::case_name!($Case $($token)?);
                            $crate::WalkExt::field(walk, name, body)?;
                        })*
                    }
                    if !walk.again(&mut tag) {
                        return walk.close(mark);
                    }
                }
            }
        }
    };
}

/// What a case is called in the schema: its token, if it has one.
#[doc(hidden)]
#[macro_export]
macro_rules! case_name {
    ($Case:ident) => {
        stringify!($Case)
    };
    ($Case:ident $token:literal) => {
        $token
    };
}

/// The enum arm of [`message!`].
#[doc(hidden)]
#[macro_export]
macro_rules! named_value {
    (
        $Tag:ty;
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $(#[$first_doc:meta])* $First:ident = $first_value:literal
            $(, $(#[$doc:meta])* $Member:ident = $value:literal)* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $Name {
            #[default]
            $(#[$first_doc])* $First,
            $($(#[$doc])* $Member),*
        }

        impl $Name {
            /// Every member.
            $vis const ALL: &'static [Self] = &[Self::$First $(, Self::$Member)*];

            const NAMES: &'static $crate::Names = &$crate::Names {
                name: stringify!($Name),
                width: <$Tag as $crate::Tag>::WIDTH,
                members: &[
                    (stringify!($First), $first_value),
                    $((stringify!($Member), $value)),*
                ],
                open: false,
            };

            /// The number on the wire.
            $vis const fn value(self) -> $Tag {
                match self {
                    Self::$First => $first_value,
                    $(Self::$Member => $value),*
                }
            }

            /// The member with this number.
            $vis const fn of_value(value: $Tag) -> Option<Self> {
                match value {
                    $first_value => Some(Self::$First),
                    $($value => Some(Self::$Member),)*
                    _ => None,
                }
            }
        }

        impl $crate::Value for $Name {
            const BYTES_MIN: usize = <$Tag as $crate::Tag>::WIDTH.bytes();

            #[inline]
            fn walk<W: $crate::Walk + ?Sized>(
                &mut self,
                name: &'static str,
                walk: &mut W,
            ) -> ::core::result::Result<(), $crate::WireError> {
                let value = u32::from(self.value());
                let mut slot = $crate::NamedValue { names: Self::NAMES, value };
                walk.leaf(name, $crate::Slot::Enum(&mut slot))?;
                let raw = slot.value;
                let member = <$Tag>::try_from(raw).ok().and_then(Self::of_value);
                *self = member
                    .ok_or($crate::WireError::new(name, $crate::Fault::UnknownMember(raw)))?;
                Ok(())
            }
        }
    };
}

/// The arm of [`message!`] for enums that keep values no member has.
#[doc(hidden)]
#[macro_export]
macro_rules! open_value {
    (
        $Tag:ty;
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $($(#[$doc:meta])* $Member:ident = $value:literal),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $Name {
            $($(#[$doc])* $Member,)*
            /// A value of a newer build; never one that a member has.
            Unknown($Tag),
        }

        impl $Name {
            const NAMES: &'static $crate::Names = &$crate::Names {
                name: stringify!($Name),
                width: <$Tag as $crate::Tag>::WIDTH,
                members: &[$((stringify!($Member), $value)),*],
                open: true,
            };

            /// The number on the wire.
            $vis const fn value(self) -> $Tag {
                match self {
                    $(Self::$Member => $value,)*
                    Self::Unknown(value) => value,
                }
            }

            /// The member with this number, or the number kept.
            $vis const fn of_value(value: $Tag) -> Self {
                match value {
                    $($value => Self::$Member,)*
                    value => Self::Unknown(value),
                }
            }
        }

        impl ::core::default::Default for $Name {
            fn default() -> Self {
                Self::of_value(0)
            }
        }

        impl $crate::Value for $Name {
            const BYTES_MIN: usize = <$Tag as $crate::Tag>::WIDTH.bytes();

            #[inline]
            fn walk<W: $crate::Walk + ?Sized>(
                &mut self,
                name: &'static str,
                walk: &mut W,
            ) -> ::core::result::Result<(), $crate::WireError> {
                let value = u32::from(self.value());
                let mut slot = $crate::NamedValue { names: Self::NAMES, value };
                walk.leaf(name, $crate::Slot::Enum(&mut slot))?;
                let raw = slot.value;
                *self = Self::of_value($crate::narrow(name, raw)?);
                Ok(())
            }
        }
    };
}

/// The flag arm of [`message!`]: a set of bits, one constant for each member.
#[doc(hidden)]
#[macro_export]
macro_rules! flag_set {
    (
        $Tag:ty;
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $($(#[$doc:meta])* $FLAG:ident = $bit:literal),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $Name($Tag);

        impl $Name {
            $($(#[$doc])* $vis const $FLAG: Self = Self(1 << $bit);)*
            /// No flag.
            $vis const NONE: Self = Self(0);
            /// Every flag.
            $vis const ALL: Self = Self(0 $(| 1 << $bit)*);

            const NAMES: &'static $crate::Names = &$crate::Names {
                name: stringify!($Name),
                width: <$Tag as $crate::Tag>::WIDTH,
                members: &[$((stringify!($FLAG), $bit)),*],
                open: false,
            };

            /// The bits on the wire.
            $vis const fn bits(self) -> $Tag {
                self.0
            }

            /// The set of these bits, unless one of them has no name.
            $vis const fn of_bits(bits: $Tag) -> Option<Self> {
                if bits & !Self::ALL.0 == 0 { Some(Self(bits)) } else { None }
            }

            /// Whether no flag is set.
            $vis const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// Whether every flag of `other` is set.
            $vis const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// This set with the flags of `other` set or cleared.
            #[must_use]
            $vis const fn with(self, other: Self, on: bool) -> Self {
                if on { Self(self.0 | other.0) } else { Self(self.0 & !other.0) }
            }

            /// Sets or clears the flags of `other`.
            $vis const fn set(&mut self, other: Self, on: bool) {
                *self = self.with(other, on);
            }
        }

        impl ::core::ops::BitOr for $Name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                self.with(other, true)
            }
        }

        impl ::core::ops::BitAnd for $Name {
            type Output = Self;

            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }

        impl ::core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(concat!(stringify!($Name), "("))?;
                $crate::write_flags(f, Self::NAMES, u32::from(self.0))?;
                f.write_str(")")
            }
        }

        impl $crate::Value for $Name {
            const BYTES_MIN: usize = <$Tag as $crate::Tag>::WIDTH.bytes();

            #[inline]
            fn walk<W: $crate::Walk + ?Sized>(
                &mut self,
                name: &'static str,
                walk: &mut W,
            ) -> ::core::result::Result<(), $crate::WireError> {
                let value = u32::from(self.0);
                let mut slot = $crate::NamedValue { names: Self::NAMES, value };
                walk.leaf(name, $crate::Slot::Flags(&mut slot))?;
                let raw = slot.value;
                let unknown = raw & !u32::from(Self::ALL.0);
                if unknown != 0 {
                    return Err($crate::WireError::new(name, $crate::Fault::UnknownBits(unknown)));
                }
                self.0 = $crate::narrow(name, raw)?;
                Ok(())
            }
        }
    };
}
