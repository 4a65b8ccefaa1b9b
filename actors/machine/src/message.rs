//! What an actor's message says about itself: its kind, its lane, and what happens when it is full.

/// A message that waits in an actor's port. Actor messages never cross the wire.
///
/// Declare them with [`actor_message!`](crate::actor_message), which keeps every kind, its lane
/// and its overflow policy in one list.
pub trait ActorMessage: Send + 'static {
    /// The name of each kind, in the order of [`ActorMessage::kind`].
    const KINDS: &'static [&'static str];

    /// Which kind this is: an index into `KINDS`.
    fn kind(&self) -> usize;

    /// Which lane it waits in.
    fn lane(&self) -> Lane;

    /// What happens when its lane is full.
    fn overflow(&self) -> Overflow;
}

/// One of the two queues of a port; control is always taken first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Supervision, endings, commands: small, and never behind data.
    Control,
    /// Everything else.
    Data,
}

/// What happens to a message whose lane is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It goes back to its sender.
    Refuse,
    /// It takes the place of a waiting one of the same kind and key, full or not; refused when the
    /// lane is full and none waits.
    Coalesce(u64),
    /// The oldest waiting message of its kind makes room; refused when none of its kind waits.
    DropOldest,
    /// Its sender waits for a place.
    Wait,
    /// It must never happen: the receiving actor is ended and its supervisor told.
    Fatal,
}

/// Declares an actor's messages with the lane and overflow policy of each kind.
///
/// ```ignore
/// actor_message! {
///     /// Everything a roster can be told.
///     pub enum RosterMsg {
///         /// A peer entered play.
///         Entered(Entered): Control Refuse,
///         /// The newest published frame.
///         Frame(Arc<Frame>): Data DropOldest,
///         /// One input of a peer; a newer one replaces it.
///         Wish(Wish): Data Coalesce(|wish| wish.peer),
///         /// Nothing to say but this.
///         Stop: Control Fatal,
///     }
/// }
/// ```
#[macro_export]
macro_rules! actor_message {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident {
            $(
                $(#[$doc:meta])*
                $Kind:ident $(($Body:ty))? :
                    $Lane:ident $Policy:ident $((|$it:pat_param| $key:expr))?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        $vis enum $Name { $($(#[$doc])* $Kind $(($Body))?),* }

        impl $crate::ActorMessage for $Name {
            const KINDS: &'static [&'static str] = &[$(stringify!($Kind)),*];

            fn kind(&self) -> usize {
                #[derive(Clone, Copy)]
                enum Index { $($Kind),* }
                match self {
                    $($crate::actor_message!(@any $Kind $($Body)?) => Index::$Kind as usize),*
                }
            }

            fn lane(&self) -> $crate::Lane {
                match self {
                    $($crate::actor_message!(@any $Kind $($Body)?) => $crate::Lane::$Lane),*
                }
            }

            fn overflow(&self) -> $crate::Overflow {
                match self {
                    $($crate::actor_message!(@bind $Kind $($Body)? $(, $it)?) =>
                        $crate::actor_message!(@policy $Policy $(, $key)?)),*
                }
            }
        }
    };
    (@any $Kind:ident $Body:ty) => { Self::$Kind(_) };
    (@any $Kind:ident) => { Self::$Kind };
    (@bind $Kind:ident $Body:ty, $it:pat_param) => { Self::$Kind($it) };
    (@bind $Kind:ident $Body:ty) => { Self::$Kind(_) };
    (@bind $Kind:ident) => { Self::$Kind };
    (@policy Coalesce, $key:expr) => { $crate::Overflow::Coalesce($key) };
    (@policy Coalesce) => { $crate::Overflow::Coalesce(0) };
    (@policy $Policy:ident) => { $crate::Overflow::$Policy };
}

#[cfg(test)]
mod tests {
    use super::*;

    actor_message! {
        /// A port's worth of kinds.
        enum Sample {
            /// Carries a key.
            Keyed(u64): Data Coalesce(|key| *key),
            /// Keeps the newest.
            Newest(u8): Data Coalesce,
            /// Ends it.
            Stop: Control Fatal,
        }
    }

    #[test]
    fn each_kind_states_its_name_lane_and_policy_in_one_list() {
        assert_eq!(Sample::KINDS, ["Keyed", "Newest", "Stop"]);
        assert_eq!(Sample::Keyed(7).overflow(), Overflow::Coalesce(7));
        let newest = Sample::Newest(7);
        assert_eq!(newest.overflow(), Overflow::Coalesce(0));
        assert!(matches!(newest, Sample::Newest(7)), "a message keeps its body");
        assert_eq!((Sample::Stop.kind(), Sample::Stop.lane()), (2, Lane::Control));
        assert_eq!(Sample::Stop.overflow(), Overflow::Fatal);
    }
}
