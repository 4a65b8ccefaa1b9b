//! Messages: two words each, written by the shell that handled one.

use std::sync::Arc;

use dh_machine::Micros;

use super::pool::{Hand, Pool, Words};
use crate::registry::ActorId;

/// One message that was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// When the machine got it.
    pub(crate) at: Micros,
    /// Who sent it; nobody where no actor did.
    pub(crate) from: ActorId,
    /// Who handled it.
    pub(crate) to: ActorId,
    /// Index into the kinds of `to`.
    pub(crate) kind: usize,
    /// How long it had waited; more than a minute is told as one.
    pub(crate) wait: Micros,
    /// How long it took, in nanoseconds; more than eight seconds are told as eight.
    pub(crate) handle_ns: u64,
    pub(crate) panicked: bool,
}

/// Where one shell notes its messages.
#[derive(Debug)]
pub(crate) struct Notes(Hand);

const KIND_BITS: u32 = 8;
const WAIT_BITS: u32 = 26;
const HANDLE_BITS: u32 = 29;
/// Handling is noted in units of so many nanoseconds, as a power of two.
const HANDLE_GRAIN: u32 = 4;

impl Notes {
    pub(super) fn new(pool: &Arc<Pool>, owner: ActorId) -> Self {
        Self(Hand::new(pool, owner))
    }

    /// Note one message, later than all before.
    #[inline]
    pub(crate) fn note(&mut self, message: &Message) {
        let mut after = message.at.0.wrapping_sub(self.0.base);
        if self.0.is_full() || after > u64::from(u32::MAX) {
            self.0.turn_over(message.at.0);
            after = 0;
        }
        self.0.push(words(message, after));
    }
}

#[inline]
fn words(message: &Message, after: u64) -> Words {
    let fit = |value: u64, bits: u32| value.min((1 << bits) - 1);
    let mut second = u64::from(message.panicked);
    second = second << KIND_BITS | fit(message.kind as u64, KIND_BITS);
    second = second << WAIT_BITS | fit(message.wait.0, WAIT_BITS);
    second = second << HANDLE_BITS | fit(message.handle_ns >> HANDLE_GRAIN, HANDLE_BITS);
    [after << 32 | (message.from.0 & u64::from(u32::MAX)), second]
}

/// All messages that are kept, in the order of their times.
pub(super) fn read(pool: &Pool) -> Vec<Message> {
    let pieces = pool.read();
    let mut messages: Vec<Message> =
        Vec::with_capacity(pieces.iter().map(|it| it.records.len()).sum());
    for piece in &pieces {
        let message = |words: &Words| of(*words, piece.owner, piece.base);
        messages.extend(piece.records.iter().map(message));
    }
    messages.sort_by_key(|message| (message.at, message.to));
    messages
}

fn of([first, mut second]: Words, to: ActorId, base: u64) -> Message {
    let mut cut = |bits: u32| {
        let part = second & ((1 << bits) - 1);
        second >>= bits;
        part
    };
    let handle_ns = cut(HANDLE_BITS) << HANDLE_GRAIN;
    let (wait, kind) = (Micros(cut(WAIT_BITS)), cut(KIND_BITS));
    Message {
        at: Micros(base + (first >> 32)),
        from: ActorId(first & u64::from(u32::MAX)),
        to,
        kind: usize::try_from(kind).unwrap_or_default(),
        wait,
        handle_ns,
        panicked: cut(1) == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Message = Message {
        at: Micros(1_000_007),
        from: ActorId(0xfedc_ba98),
        to: ActorId(9),
        kind: 3,
        wait: Micros(1_234),
        handle_ns: 16 * 777,
        panicked: true,
    };

    fn through(messages: &[Message]) -> Vec<Message> {
        let pool = Arc::new(Pool::new(1 << 16));
        let mut notes = Notes::new(&pool, ActorId(9));
        messages.iter().for_each(|message| notes.note(message));
        read(&pool)
    }

    #[test]
    fn a_message_is_read_as_it_was_noted_also_hours_after_the_one_before() {
        let later = Message { at: Micros(9_000_000_000), panicked: false, ..SAMPLE };
        assert_eq!(through(&[SAMPLE, later]), [SAMPLE, later]);
    }

    #[test]
    fn messages_of_several_actors_are_read_in_the_order_of_their_times() {
        let pool = Arc::new(Pool::new(1 << 16));
        let mut notes = [1, 2].map(|owner| (owner, Notes::new(&pool, ActorId(owner))));
        for at in 0..6 {
            let (owner, notes) = &mut notes[usize::try_from(at % 2).unwrap()];
            notes.note(&Message { at: Micros(at), to: ActorId(*owner), ..SAMPLE });
        }
        let times: Vec<u64> = read(&pool).iter().map(|message| message.at.0).collect();
        assert_eq!(times, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_is_too_long_to_tell_is_told_as_the_longest() {
        let long = Message { wait: Micros(u64::MAX), handle_ns: u64::MAX, kind: 999, ..SAMPLE };
        let read = through(&[long])[0];
        assert!(read.wait > Micros::from_secs(60) && read.handle_ns > 8_000_000_000);
        assert_eq!((read.kind, read.panicked, read.at), (255, true, SAMPLE.at));
    }
}
