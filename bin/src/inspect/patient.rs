//! Patient: a connection that is waited for so long and no longer, whatever comes over it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long the other end may be silent.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long a whole answer may take, or one event of a stream.
const WHOLE_MAX: Duration = Duration::from_secs(15);

/// A connection whose answer has to be there in time.
#[derive(Debug)]
pub(crate) struct Patient {
    stream: TcpStream,
    silent_max: Duration,
    whole_max: Duration,
    until: Instant,
}

impl Patient {
    /// One whose answer is waited for from now on.
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self::of(stream, PATIENCE, WHOLE_MAX)
    }

    fn of(stream: TcpStream, silent_max: Duration, whole_max: Duration) -> Self {
        Self { stream, silent_max, whole_max, until: Instant::now() + whole_max }
    }

    /// Something else is waited for, from now on.
    pub(crate) fn begin(&mut self) {
        self.until = Instant::now() + self.whole_max;
    }

    /// How long the next step may take.
    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(self.late()) } else { Ok(left.min(self.silent_max)) }
    }

    /// What a step that failed is told as.
    fn told(&self, error: io::Error) -> io::Error {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => self.late(),
            _ => error,
        }
    }

    fn late(&self) -> io::Error {
        let why = match Instant::now() < self.until {
            true => format!("it did not answer within {:?}", self.silent_max),
            false => format!("its answer took longer than {:?}", self.whole_max),
        };
        io::Error::new(ErrorKind::TimedOut, why)
    }
}

impl Read for Patient {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(into).map_err(|error| self.told(error))
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes).map_err(|error| self.told(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// What comes of reading all that somebody writes who was handed the connection.
    fn read(work: impl FnOnce(TcpStream) + Send + 'static) -> (io::Error, Duration) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        std::thread::spawn(move || work(listener.accept().unwrap().0));
        let ms = Duration::from_millis;
        let (begun, mut patient) = (Instant::now(), Patient::of(stream, ms(300), ms(900)));
        let error = patient.read_to_end(&mut Vec::new()).unwrap_err();
        (error, begun.elapsed())
    }

    #[test]
    fn who_says_nothing_is_given_up_and_told_in_words() {
        let (error, took) = read(|stream| {
            std::thread::sleep(Duration::from_secs(5));
            drop(stream);
        });
        assert_eq!(error.to_string(), "it did not answer within 300ms");
        assert!(took < Duration::from_secs(3), "{took:?}");
    }

    #[test]
    fn who_says_a_byte_now_and_then_is_given_up_once_the_whole_took_too_long() {
        let (error, took) = read(|mut stream| {
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        assert_eq!(error.to_string(), "its answer took longer than 900ms");
        assert!(took < Duration::from_secs(4), "{took:?}");
    }
}
