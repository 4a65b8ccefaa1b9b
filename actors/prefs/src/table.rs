//! The table of preferences: the one place where one is declared.
//!
//! Everything else about preferences is derived from these rows. Nobody reads a value here.

use crate::preference::{Applies, Key, Kind, Preference, Standard};

/// Declares the rows, in the order of documents, and a typed key for each.
macro_rules! preferences {
    ($(
        $(#[doc = $help:literal])+
        $Name:ident: $Type:ty =
            $key:literal, $kind:expr, $standard:expr, $unit:literal, $applies:ident;
    )*) => {
        /// All preferences.
        pub const TABLE: &[Preference] = &[$(Preference {
            key: $key,
            kind: $kind,
            standard: $standard,
            unit: $unit,
            help: concat!($($help),+).trim_ascii_start(),
            applies: Applies::$applies,
        }),*];

        /// The typed key of each row.
        pub mod key {
            use super::{Key, Row};

            $(
                $(#[doc = $help])+
                pub const $Name: Key<$Type> = Key::new(Row::$Name as usize);
            )*
        }

        #[expect(
            non_camel_case_types,
            clippy::upper_case_acronyms,
            reason = "each stands for the constant of its name"
        )]
        enum Row { $($Name),* }

        /// For each row, whether its value can be read as the type of its key.
        #[cfg(test)]
        const READABLE: &[fn(&crate::Prefs) -> bool] = &[$(|prefs| {
            <$Type as crate::Typed>::typed(prefs.value(&TABLE[Row::$Name as usize])).is_some()
        }),*];
    };
}

/// The row of that name, letter for letter.
#[must_use]
pub fn find(key: &str) -> Option<&'static Preference> {
    TABLE.iter().find(|preference| preference.key == key)
}

const fn int(min: i64, max: i64) -> Kind {
    Kind::Int { min, max }
}

const fn float(min: f64, max: f64) -> Kind {
    Kind::Float { min, max }
}

preferences! {
    /// The name others see.
    CLIENT_NAME: Option<String> =
        "client.name", Kind::Text { units_max: 32 }, Standard::From("host name"), "", NextJoin;
    /// The colour others see.
    CLIENT_SEED_COLOUR: Option<u32> =
        "client.seedColour", Kind::Colour, Standard::From("name"), "", NextJoin;
    /// Bytes of downloaded pallets that are kept; those used longest ago go first.
    CACHE_MAX_BYTES: u64 =
        "client.cache.maxBytes", int(0, 1 << 50), Standard::Int(20 << 30), "bytes", Live;

    /// How far the tick clock may leave real time either way, as a share.
    CLOCK_MAX_RATE: f32 =
        "client.net.clockMaxRate", float(0.0, 0.1), Standard::Float(0.02), "", Live;
    /// Unanswered inputs after which the link counts as dead and no more are made.
    HOLD_BACKLOG: Option<u32> = "client.net.holdBacklog", int(8, 120),
        Standard::From("one second of ticks"), "inputs", Live;
    /// Queue margin that one starved tick earns.
    NET_MARGIN_GROWTH: f32 =
        "client.net.marginGrowth", float(0.0, 8.0), Standard::Float(0.5), "ticks", Live;
    /// The most queue margin that starved ticks can earn.
    NET_MARGIN_MAX: f32 =
        "client.net.marginMax", float(0.0, 9.0), Standard::Float(6.0), "ticks", Live;
    /// Calm after which one tick of queue margin is given back.
    NET_MARGIN_DECAY: f32 =
        "client.net.marginDecay", float(0.0, 600.0), Standard::Float(10.0), "s", Live;
    /// How long a server may take to answer a connect.
    CONNECT_TIMEOUT: f32 =
        "client.net.connectTimeout", float(0.1, 600.0), Standard::Float(10.0), "s", NextJoin;

    /// How far behind the newest snapshot others are drawn, before any margin.
    INTERP: Option<f32> =
        "client.interp", float(0.0, 1.0), Standard::From("two ticks"), "s", Live;
    /// Snapshots kept to draw others from; it bounds the delay.
    INTERP_BUFFER_TICKS: u32 =
        "client.interp.bufferTicks", int(4, 128), Standard::Int(16), "ticks", NextJoin;
    /// Whether frames that ran out of snapshots earn extra delay.
    INTERP_AUTO_MARGIN: bool =
        "client.interp.autoMargin", Kind::Bool, Standard::Bool(true), "", Live;
    /// Delay that one such frame earns.
    INTERP_MARGIN_GROWTH: f32 =
        "client.interp.marginGrowth", float(0.0, 8.0), Standard::Float(0.5), "ticks", Live;
    /// The most delay that such frames can earn.
    INTERP_MAX_MARGIN_TICKS: f32 =
        "client.interp.maxMarginTicks", float(0.0, 120.0), Standard::Float(8.0), "ticks", Live;
    /// Calm after which one tick of that delay is given back.
    INTERP_MARGIN_DECAY: f32 =
        "client.interp.marginDecay", float(0.0, 600.0), Standard::Float(10.0), "s", Live;
    /// How often held frames and jumps are logged, where there were any.
    INTERP_REPORT_INTERVAL: f32 =
        "client.interp.reportInterval", float(1.0, 3600.0), Standard::Float(10.0), "s", Live;

    /// The name of the world, as clients are told it.
    SERVER_NAME: String =
        "server.name", Kind::Text { units_max: 64 }, Standard::Text("Driftholm"), "", Restart;
    /// Sessions at one time. Lowering it ends none.
    MAX_PLAYERS: u32 = "server.maxPlayers", int(1, 64), Standard::Int(16), "sessions", Live;
    /// Chunks of content that may wait to be sent to one player.
    BLOB_CHUNK_WINDOW: u32 =
        "server.net.blobChunkWindow", int(1, 8192), Standard::Int(512), "chunks", Live;
    /// What a player is known by: the key it proves to hold, or, among friends and in tests, the
    /// name it claims.
    SERVER_IDENTITY: String = "server.identity", Kind::Choice(&["key", "name"]),
        Standard::Text("key"), "", Restart;
    /// Who may use every command, from wherever they play. `op` and `deop` change it.
    OPERATORS: Option<String> =
        "server.operators", Kind::Identities, Standard::From("nobody"), "", Live;
    /// Threads that encode snapshots and serve sessions.
    SESSIONS_THREADS: Option<u32> = "server.sessions.threads", int(1, 64),
        Standard::From("cores - 3, at least 1"), "threads", Restart;
    /// The most time the tick thread may spin before a tick is due.
    TICK_MAX_SPIN: f32 =
        "server.tick.maxSpin", float(0.0, 4.0), Standard::Float(0.4), "ms", Live;
    /// The share of the nominal tick rate below which a warning is logged.
    TICK_RATE_WARN_FRACTION: f32 =
        "server.tick.rateWarnFraction", float(0.0, 1.0), Standard::Float(0.9), "", Live;
    /// The least time between two such warnings.
    TICK_RATE_WARN_INTERVAL: f32 =
        "server.tick.rateWarnInterval", float(1.0, 3600.0), Standard::Float(10.0), "s", Live;
    /// Whether the tick thread asks for a higher priority.
    TICK_RAISE_PRIORITY: bool =
        "server.tick.raisePriority", Kind::Bool, Standard::Bool(true), "", Restart;
    /// The most ticks simulated at once after a stall; the rest follows.
    TICK_MAX_CATCH_UP: u32 =
        "server.tick.maxCatchUp", int(1, 60), Standard::Int(4), "ticks", Live;
    /// Whether the host's sleep timer is tightened while ticks run; without effect where a host
    /// has no such setting.
    TIMER_PERIOD: bool = "server.timerPeriod", Kind::Bool, Standard::Bool(true), "", Restart;

    /// Whether everybody may use the commands that are cheats.
    CHEATS: bool = "world.cheats", Kind::Bool, Standard::Bool(false), "", Live;
    /// How fast a pawn flies that passes through everything.
    NOCLIP_SPEED: f32 =
        "world.noclipSpeed", float(0.1, 1000.0), Standard::Float(8.0), "m/s", Live;
    /// How fast the world's time runs.
    TIME_SCALE: f32 = "world.timeScale", float(0.05, 10.0), Standard::Float(1.0), "", Live;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Prefs, environment_name};

    #[test]
    fn every_row_reads_as_the_type_of_its_key() {
        let prefs = Prefs::default();
        for (readable, preference) in READABLE.iter().zip(TABLE) {
            assert!(readable(&prefs), "{}", preference.key);
        }
    }

    #[test]
    fn every_standard_value_is_allowed_and_every_row_has_help() {
        for Preference { key, kind, standard, help, .. } in TABLE {
            assert!(standard.value().is_none_or(|value| kind.allows(&value)), "{key}");
            assert!(help.ends_with('.') && !help.starts_with(' '), "{key}: {help:?}");
        }
    }

    #[test]
    fn no_two_rows_share_a_key_or_an_environment_name() {
        let keys: BTreeSet<_> = TABLE.iter().map(|row| row.key).collect();
        let names: BTreeSet<_> = TABLE.iter().map(|row| environment_name(row.key)).collect();
        assert_eq!((keys.len(), names.len()), (TABLE.len(), TABLE.len()));
    }
}
