//! A bucket of tokens: how often one peer may do something.

use dh_machine::Micros;

/// How many tokens a bucket holds, and how they come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    /// The most it holds.
    pub(super) burst: u64,
    /// So many come back...
    pub(super) tokens: u64,
    /// ...in this time.
    pub(super) span: Micros,
}

/// Lines of chat: 4 at once, then 0.75 a second.
pub(super) const CHAT: Allowance = Allowance { burst: 4, tokens: 3, span: Micros::from_secs(4) };
/// Lines for the server's console: 8 at once, then 2 a second.
pub(super) const CONSOLE: Allowance = Allowance { burst: 8, tokens: 2, span: Micros::from_secs(1) };

/// What was found in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drawn {
    /// A token.
    Token,
    /// Nothing, for the first time since there was one.
    Emptied,
    /// Nothing, again.
    Nothing,
}

/// One bucket. A token is as many units as its span has microseconds, so nothing is ever rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    allowance: Allowance,
    units: u64,
    filled: Micros,
    is_dry: bool,
}

impl Bucket {
    pub(super) fn full(allowance: Allowance, now: Micros) -> Self {
        let units = allowance.burst * allowance.span.0;
        Self { allowance, units, filled: now, is_dry: false }
    }

    /// Nothing in it yet.
    #[cfg(test)]
    fn empty(allowance: Allowance, now: Micros) -> Self {
        Self { units: 0, ..Self::full(allowance, now) }
    }

    /// Take a token.
    pub(super) fn draw(&mut self, now: Micros) -> Drawn {
        let Allowance { burst, tokens, span } = self.allowance;
        let grown = now.since(self.filled).0.saturating_mul(tokens);
        self.units = self.units.saturating_add(grown).min(burst * span.0);
        self.filled = now;
        match self.units.checked_sub(span.0) {
            Some(left) => {
                (self.units, self.is_dry) = (left, false);
                Drawn::Token
            }
            None if std::mem::replace(&mut self.is_dry, true) => Drawn::Nothing,
            None => Drawn::Emptied,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(bucket: &mut Bucket, now: Micros, times: usize) -> Vec<Drawn> {
        (0..times).map(|_| bucket.draw(now)).collect()
    }

    /// CHAT-18
    #[test]
    fn four_at_once_and_then_three_every_four_seconds() {
        use Drawn::{Emptied, Nothing, Token};
        let mut bucket = Bucket::full(CHAT, Micros(0));
        let want = [Token, Token, Token, Token, Emptied, Nothing];
        assert_eq!(drawn(&mut bucket, Micros(0), 6), want);
        assert_eq!(bucket.draw(Micros(1_333_333)), Nothing);
        assert_eq!(drawn(&mut bucket, Micros(1_340_000), 2), [Token, Emptied]);
        let later = (2..=1_000).map(|n| bucket.draw(Micros(n * 100_000)));
        assert_eq!(later.filter(|it| *it == Token).count(), 74, "0.75 a second for 98.66 s");
    }

    /// CHAT-19
    #[test]
    fn waiting_fills_it_to_four_and_no_further() {
        let mut bucket = Bucket::empty(CHAT, Micros(0));
        assert_eq!(bucket.draw(Micros(0)), Drawn::Emptied);
        let hour = Micros::from_secs(3_600);
        let tokens = drawn(&mut bucket, hour, 6).iter().filter(|it| **it == Drawn::Token).count();
        assert_eq!(tokens, 4);
        assert_eq!(bucket.draw(Micros(u64::MAX)), Drawn::Token, "no time is too long");
    }
}
