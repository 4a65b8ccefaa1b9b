//! What a script may use up. Reaching one of these ends it with the place where it was reached.

use std::time::Duration;

/// Operations of one callback, or of the script's own statements.
pub const OPERATIONS_MAX: u64 = 2_000_000;
/// Functions that call each other.
pub const CALLS_MAX: usize = 32;
/// Expressions within each other.
pub const DEPTH_MAX: usize = 64;
/// Closures, arrays and object maps within each other.
pub const NESTED_MAX: usize = 64;
/// Bytes of the stack of a thread that runs scripts: as many as drop the deepest array there is.
pub const STACK_BYTES: usize = 16 << 20;
/// Bytes of memory that a process may take while a script runs in it.
pub const MEMORY_MAX: u64 = 4 << 30;
/// Variables at one time.
pub const VARIABLES_MAX: usize = 512;
/// Functions of one script, closures among them.
pub const FUNCTIONS_MAX: usize = 512;
/// Bytes of one text.
pub const TEXT_MAX: usize = 1 << 16;
/// Elements of one array.
pub const ARRAY_MAX: usize = 1 << 14;
/// Entries of one object map.
pub const MAP_MAX: usize = 1 << 12;
/// Bytes of one file.
pub const FILE_MAX: u64 = 1 << 16;
/// Simulated seconds of one scenario.
pub const SECONDS_MAX: f64 = 36_000.0;
/// Degrees of one turn of a view, either way.
pub const DEGREES_MAX: f64 = 1e6;
/// Characters of the name of a peer or a server.
pub const NAME_MAX: usize = 64;
/// Peers of one scenario.
pub const PEERS_MAX: usize = 1_024;
/// Servers of one scenario.
pub const SERVERS_MAX: usize = 16;
/// Bytes of one pallet that is made up.
pub const PALLET_MAX: u64 = 1 << 26;
/// Bytes of noise in all pallets of a scenario together.
pub const PALLETS_MAX: u64 = 1 << 28;
/// Callbacks, handlers and checks that wait at one time.
pub const WAITING_MAX: usize = 1 << 14;
/// Callbacks at one moment of the world.
pub const DUE_MAX: usize = 1 << 16;
/// Real time that one callback may take, where its operations are few and long.
pub const CALL_MAX: Duration = Duration::from_secs(5);
/// Floods, handshakes that never end and deaf peers in one scenario.
pub const RAIDS_MAX: usize = 64;
/// Failures that are told of one run.
pub const FAILURES_MAX: usize = 64;
/// Lines that are kept of what a script prints.
pub const PRINTS_MAX: usize = 1_000;
/// Characters of one such line.
pub const PRINT_MAX: usize = 1_000;
/// Mistakes that are told of the data at the top.
pub const MISTAKES_MAX: usize = 20;
/// Names that are listed where one of them was expected.
pub const LISTED_MAX: usize = 12;
/// Values that are remembered of what a condition read.
pub const READS_MAX: usize = 12;
/// Characters that are shown of one value.
pub const SHOWN_MAX: usize = 80;
/// Deeds that are remembered of one run.
pub const DEEDS_MAX: usize = 1 << 16;
/// The last things that happened, which a failing run tells.
pub const TOLD_MAX: usize = 512;
