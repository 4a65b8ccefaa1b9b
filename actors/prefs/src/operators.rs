//! Operators: the identities that have authority over a world, as one preference holds them.
//!
//! Used by the roster and by the check of the preference. It knows identities as text, not players.

use std::fmt;

use crate::Target;

/// Who is an operator: the value of `server.operators`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operators(Vec<String>);

/// Why an identity cannot be an operator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoOperator {
    /// It is none.
    NotAnIdentity,
    /// It is a claim that nobody has to prove.
    Guest,
    /// It has a comma in it, which stands between two.
    Comma,
    /// There are [`Operators::MAX`] already.
    Full,
}

impl Operators {
    /// The most operators of one server.
    pub const MAX: usize = 32;

    /// Reads identities with commas between them; an empty text is nobody.
    ///
    /// # Errors
    /// Why one of them cannot be an operator's.
    pub fn read(text: &str) -> Result<Self, NoOperator> {
        let mut operators = Self::default();
        if !text.trim().is_empty() {
            for identity in text.split(',') {
                operators.add(identity.trim())?;
            }
        }
        Ok(operators)
    }

    /// Whether this identity is one.
    #[must_use]
    pub fn contains(&self, identity: &str) -> bool {
        self.0.iter().any(|it| it == identity)
    }

    /// Make this identity one; whether it was none.
    ///
    /// # Errors
    /// Why it cannot be one.
    pub fn add(&mut self, identity: &str) -> Result<bool, NoOperator> {
        match Target::read(identity) {
            Ok(Target::Identity(_)) if identity.starts_with("guest:") => Err(NoOperator::Guest),
            Ok(Target::Identity(_)) if identity.contains(',') => Err(NoOperator::Comma),
            Ok(Target::Identity(_)) if self.contains(identity) => Ok(false),
            Ok(Target::Identity(_)) if self.0.len() == Self::MAX => Err(NoOperator::Full),
            Ok(Target::Identity(_)) => {
                self.0.push(identity.to_owned());
                Ok(true)
            }
            _ => Err(NoOperator::NotAnIdentity),
        }
    }

    /// Make this identity none; whether it was one.
    pub fn remove(&mut self, identity: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|it| it != identity);
        self.0.len() < before
    }

    /// Every identity, in the order of their making.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// As the preference holds them.
impl fmt::Display for Operators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl fmt::Display for NoOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnIdentity => f.write_str("expected an identity, as `players` lists it"),
            Self::Guest => f.write_str(
                "a guest proves nothing, so that anybody could be that one; it has to show a key",
            ),
            Self::Comma => {
                f.write_str("an identity with a comma in it cannot stand in server.operators")
            }
            Self::Full => {
                write!(f, "there are {} operators already; `deop` one first", Operators::MAX)
            }
        }
    }
}

impl std::error::Error for NoOperator {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions OQ-11.
    #[test]
    fn identities_are_read_added_removed_and_print_as_they_read() {
        let mut operators = Operators::read(" key:00ff , local:alice ").unwrap();
        assert!(operators.contains("key:00ff") && operators.contains("local:alice"));
        assert_eq!(operators.to_string(), "key:00ff,local:alice");
        assert_eq!((operators.add("key:01"), operators.add("key:01")), (Ok(true), Ok(false)));
        assert!(operators.remove("key:00ff") && !operators.remove("key:00ff"));
        assert_eq!(Operators::read(&operators.to_string()), Ok(operators.clone()));
        assert_eq!(operators.iter().collect::<Vec<_>>(), ["local:alice", "key:01"]);
        assert_eq!(Operators::read(" "), Ok(Operators::default()));
    }

    #[test]
    fn what_proves_nothing_or_cannot_be_written_down_is_no_operator() {
        let read = |text: &str| Operators::read(text).unwrap_err();
        assert_eq!(read("guest:bob"), NoOperator::Guest);
        for text in ["#1", "alice", "key:00ff,", ",", "key:"] {
            assert_eq!(read(text), NoOperator::NotAnIdentity, "{text}");
        }
        assert_eq!(Operators::default().add("local:a,b"), Err(NoOperator::Comma));
        let many: Vec<String> = (0..=Operators::MAX).map(|it| format!("key:{it}")).collect();
        assert_eq!(read(&many.join(",")), NoOperator::Full);
    }
}
