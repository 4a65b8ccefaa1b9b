//! Value: what a preference holds.

use std::fmt;

use crate::Kind;

/// One value of a preference, already checked against its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// On or off.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite number.
    Float(f64),
    /// A text, or the name of a choice.
    Text(String),
    /// A colour as 0xRRGGBB.
    Colour(u32),
}

impl Value {
    /// Reads what a person typed; `None` where `kind` does not allow it.
    #[must_use]
    pub fn read(kind: Kind, text: &str) -> Option<Self> {
        let text = text.trim();
        let value = match kind {
            Kind::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" | "1" => Self::Bool(true),
                "false" | "off" | "no" | "0" => Self::Bool(false),
                _ => return None,
            },
            Kind::Int { .. } => Self::Int(text.parse().ok()?),
            Kind::Float { .. } => Self::Float(text.parse().ok()?),
            Kind::Text { .. } | Kind::Choice(_) | Kind::Identities => Self::Text(text.to_owned()),
            Kind::Colour => {
                let digits = text.strip_prefix('#').or_else(|| text.strip_prefix("0x"))?;
                let digits = Some(digits).filter(|it| it.len() == 6 && !it.starts_with('+'))?;
                Self::Colour(u32::from_str_radix(digits, 16).ok()?)
            }
        };
        kind.allows(&value).then_some(value)
    }
}

/// As it is typed: a colour as `#rrggbb`, a float with as few digits as it takes.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(on) => write!(f, "{on}"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::Colour(rgb) => write!(f, "#{rgb:06x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: Kind, text: &str) -> Option<String> {
        Value::read(kind, text).map(|value| value.to_string())
    }

    #[test]
    fn what_is_typed_reads_back_as_it_prints() {
        let int = Kind::Int { min: 1, max: 64 };
        let float = Kind::Float { min: 0.0, max: 0.1 };
        for (kind, typed, printed) in [
            (Kind::Bool, " On ", "true"),
            (Kind::Bool, "no", "false"),
            (int, "64", "64"),
            (float, "0.020", "0.02"),
            (float, "1e-2", "0.01"),
            (Kind::Choice(&["key", "name"]), "name", "name"),
            (Kind::Text { units_max: 4 }, "  ab c ", "ab c"),
            (Kind::Colour, "#4FA3d1", "#4fa3d1"),
            (Kind::Colour, "0x00000f", "#00000f"),
        ] {
            let value = Value::read(kind, typed);
            assert_eq!(value.as_ref().map(ToString::to_string).as_deref(), Some(printed));
            assert_eq!(Value::read(kind, printed), value, "{typed}");
        }
    }

    #[test]
    fn what_lies_outside_its_range_or_is_of_another_kind_is_refused() {
        let int = Kind::Int { min: 1, max: 64 };
        let float = Kind::Float { min: 0.0, max: 0.1 };
        for (kind, typed) in [
            (Kind::Bool, "maybe"),
            (int, "0"),
            (int, "65"),
            (int, "2.5"),
            (int, ""),
            (float, "0.11"),
            (float, "NaN"),
            (float, "inf"),
            (Kind::Choice(&["key", "name"]), "Key"),
            (Kind::Text { units_max: 4 }, "abcde"),
            (Kind::Text { units_max: 4 }, "  "),
            (Kind::Text { units_max: 9 }, "a\nb"),
            (Kind::Colour, "4fa3d1"),
            (Kind::Colour, "#4fa3d"),
            (Kind::Colour, "#+fa3d1"),
        ] {
            assert_eq!(read(kind, typed), None, "{typed:?}");
        }
    }
}
