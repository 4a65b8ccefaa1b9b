//! Every limit of the wire, in one place.
//!
//! Used by writer, reader, describer, envelope and whoever reads a schema. Never: a limit of one
//! message, which stands in that message's types.

/// The longest body an envelope may announce, in bytes.
pub const ENVELOPE_BODY_MAX: usize = 1 << 20;
/// The longest text behind a one-byte length, in bytes.
pub const STR8_MAX: usize = 255;
/// The longest text behind a two-byte length, in bytes.
pub const STR16_MAX: usize = 65_535;
/// The most entries behind a one-byte count.
pub const LIST8_MAX: usize = 255;
/// The most entries behind a two-byte count.
pub const LIST16_MAX: usize = 65_535;
/// The longest body of a reserved section, in bytes.
pub const SECTION_MAX: usize = 65_535;
/// How deep shapes may nest, counted in groups.
pub const NESTING_MAX: usize = 16;
/// How deep lists may nest in lists; with [`LIST_MEMORY_RATIO_MAX`] it bounds what a read
/// allocates.
pub const LIST_DEPTH_MAX: usize = 2;
/// Bytes of memory one entry of a list may take for each byte it takes at least on the wire.
/// Checked when a list type is compiled.
pub const LIST_MEMORY_RATIO_MAX: usize = 24;
/// Reading n bytes allocates at most this many times n, plus [`READ_MEMORY_BASE_BYTES`].
pub const READ_MEMORY_RATIO_MAX: usize = 64;
/// What reading may allocate beside its share per byte, in bytes.
pub const READ_MEMORY_BASE_BYTES: usize = 1_024;
/// The longest text of a schema, in bytes.
pub const SCHEMA_TEXT_MAX: usize = 256 << 10;
/// The longest text of a schema once it is packed, in bytes.
pub const SCHEMA_PACKED_MAX: usize = 64 << 10;
/// The longest name in a schema that is read, in bytes.
pub const SCHEMA_NAME_MAX: usize = 64;
/// What unpacking a schema may allocate beside its share per byte, in bytes: the longest text, and
/// the words that come before it.
pub const UNPACK_MEMORY_BASE_BYTES: usize = SCHEMA_TEXT_MAX + (64 << 10);
/// The most fields of all messages of a schema that is read, each shape counted wherever it is
/// used.
pub const SCHEMA_FIELDS_MAX: usize = 16_384;
/// What another build's packet may grow to when it is rewritten as one of this build's: so many
/// times its bytes, plus [`PLAN_GROWTH_BASE_BYTES`].
pub const PLAN_GROWTH_RATIO_MAX: usize = 2;
/// What rewriting may add beside its share per byte, in bytes.
pub const PLAN_GROWTH_BASE_BYTES: usize = 64 << 10;
/// What making the plan for another build may allocate beside its share of that build's schema
/// text, in bytes: so much for each field, counted wherever it is used.
pub const PLAN_MEMORY_BASE_BYTES: usize = SCHEMA_FIELDS_MAX * 1_024;
/// What rewriting may allocate beside its share per byte, in bytes: what it may add, while that
/// grows, and the places of fields that stand in another order.
pub const REWRITE_MEMORY_BASE_BYTES: usize = PLAN_GROWTH_BASE_BYTES * 4 + SCHEMA_FIELDS_MAX * 16;
