//! User file: reads a small text file, whatever may stand in its place.
//!
//! Used for preferences. Reading neither waits for a writer nor takes more memory than the limit.

use crate::exit::{Exit, Failure};
use rustix::fs::OFlags;
use std::fs::{self, File, Metadata};
use std::io::{Error, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// What the file says; nothing if there is none.
///
/// What is no file, too large or no text is a wrong configuration; what the system does not let us
/// read is a failure of reading.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Option<String>, Failure> {
    let shown = path.display();
    let wrong = |why: String| Failure::new(Exit::Config, format!("{shown} {why}"));
    let unreadable = |error: Error| {
        let failure = Failure::new(Exit::Io, format!("cannot read {shown}: {error}"));
        match error.kind() {
            ErrorKind::PermissionDenied => failure.remedy(format!("chmod u+r {shown}")),
            _ => failure,
        }
    };
    let is_file = |facts: &Metadata| match facts.is_file() {
        true => Ok(()),
        false => Err(wrong("is no file of text".to_owned())),
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        facts => is_file(&facts.map_err(unreadable)?)?,
    }
    // Something else may stand there by now: what was opened counts, and opening it must not wait.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(unreadable)?;
    is_file(&file.metadata().map_err(unreadable)?)?;
    let mut bytes = Vec::new();
    let read = file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if u64::try_from(read).is_ok_and(|read| read > bytes_max) {
        return Err(wrong(format!("is larger than {bytes_max} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| wrong("is not UTF-8".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    const BYTES_MAX: u64 = 1_000;

    #[test]
    fn a_file_of_text_is_read_and_none_is_none() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        assert_eq!(read(&path, BYTES_MAX), Ok(None));
        fs::write(&path, "x".repeat(1_000)).unwrap();
        assert_eq!(read(&path, BYTES_MAX).unwrap().unwrap().len(), 1_000);
    }

    #[test]
    fn whatever_is_no_small_file_of_text_is_a_wrong_configuration_at_once() {
        let home = tempfile::tempdir().unwrap();
        let [pipe, large, bytes] = ["pipe", "large", "bytes"].map(|name| home.path().join(name));
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        File::create(&large).unwrap().set_len(1 << 30).unwrap();
        fs::write(&bytes, [0xff]).unwrap();
        for path in [home.path(), &pipe, &large, &bytes, Path::new("/dev/zero")] {
            let wrong = read(path, BYTES_MAX).unwrap_err();
            assert_eq!(wrong.exit, Exit::Config, "{wrong:?}");
            assert!(wrong.cause.starts_with(&path.display().to_string()), "{wrong:?}");
        }
    }

    #[test]
    fn what_the_system_does_not_let_us_read_is_a_failure_of_reading() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(read(&file.join("below"), BYTES_MAX).unwrap_err().exit, Exit::Io);
    }
}
