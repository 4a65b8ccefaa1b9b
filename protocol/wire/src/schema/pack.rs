//! A schema's text on its way to another build: deflated against words that both builds have.
//!
//! Used for the exchange of schemas. Most of a text is names, which deflate cannot shorten where
//! they come first; builds of one frame share most names, so they share a dictionary. What comes
//! packed is hostile: it is unpacked into at most so many bytes, whatever it claims to hold.

use alloc::string::String;
use alloc::vec::Vec;

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output, create_comp_flags_from_zip_params,
};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::error::{SchemaError, SchemaFault};
use crate::limit::{SCHEMA_PACKED_MAX, SCHEMA_TEXT_MAX};

/// How hard to look for repetitions, of 10. Done once a process.
const LEVEL: i32 = 9;
/// A raw stream without a header, and no strategy but the usual one.
const RAW: i32 = 0;
const USUAL: i32 = 0;

/// The text as a raw deflate stream (RFC 1951) that goes on from these words: whoever unpacks it
/// has to have the same.
pub fn pack(text: &str, words: &str) -> Vec<u8> {
    let flags = create_comp_flags_from_zip_params(LEVEL, RAW, USUAL);
    let mut deflate = CompressorOxide::new(flags);
    let mut packed = Vec::new();
    let mut take = |bytes: &[u8], packed: &mut Vec<u8>, flush| {
        let (status, _) = compress_to_output(&mut deflate, bytes, flush, |out| {
            packed.extend_from_slice(out);
            true
        });
        debug_assert!(matches!(status, TDEFLStatus::Okay | TDEFLStatus::Done), "{status:?}");
    };
    // What the words alone come to ends with a whole byte, and is left out.
    take(words.as_bytes(), &mut packed, TDEFLFlush::Sync);
    packed.clear();
    take(text.as_bytes(), &mut packed, TDEFLFlush::Finish);
    packed
}

/// The text that was packed against these words.
///
/// # Errors
///
/// More bytes than [`SCHEMA_PACKED_MAX`], or than [`SCHEMA_TEXT_MAX`] once they are unpacked; a
/// stream that cannot be unpacked, or what it holds is not text.
pub fn unpack(packed: &[u8], words: &str) -> Result<String, SchemaError> {
    let wrong = |fault| SchemaError::new(0, fault);
    if packed.len() > SCHEMA_PACKED_MAX {
        let fault = SchemaFault::TooLong { bytes: packed.len(), cap: SCHEMA_PACKED_MAX };
        return Err(wrong(fault));
    }
    let mut text = alloc::vec![0; words.len() + SCHEMA_TEXT_MAX];
    text[..words.len()].copy_from_slice(words.as_bytes());
    let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let mut inflate = DecompressorOxide::new();
    let (status, read, len) = decompress(&mut inflate, packed, &mut text, words.len(), flags);
    match status {
        TINFLStatus::Done if read == packed.len() => {}
        TINFLStatus::HasMoreOutput => {
            let fault = SchemaFault::TooLong { bytes: SCHEMA_TEXT_MAX, cap: SCHEMA_TEXT_MAX };
            return Err(wrong(fault));
        }
        _ => return Err(wrong(SchemaFault::NotPacked)),
    }
    text.truncate(words.len() + len);
    text.drain(..words.len());
    String::from_utf8(text).map_err(|_| wrong(SchemaFault::NotUtf8))
}
