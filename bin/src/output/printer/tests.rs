//! Nobody who prints waits, and no line is lost without being counted.

use super::*;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

/// A stream whose reader lets one write pass at a time.
struct Gated {
    opened: Receiver<()>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Write for Gated {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.opened.recv().is_err() {
            return Err(ErrorKind::BrokenPipe.into());
        }
        self.written.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn gated() -> (Printer, Sender<()>, Arc<Mutex<Vec<u8>>>) {
    let (open, opened) = channel();
    let written = Arc::default();
    let stream = Gated { opened, written: Arc::clone(&written) };
    (Printer::start("gated", Ok(stream)), open, written)
}

/// Twice as many lines as find room.
fn flood(printer: &Printer) -> u64 {
    let line = [b"x".repeat(1_023), b"\n".to_vec()].concat();
    let count = 2 * WAITING_MAX / line.len();
    (0..count).for_each(|_| printer.print(&line));
    u64::try_from(count).unwrap()
}

#[test]
fn lines_that_nobody_reads_are_dropped_and_their_number_is_told_once_there_is_room() {
    let (printer, open, written) = gated();
    let offered = flood(&printer);
    (0..4).for_each(|_| open.send(()).unwrap());
    printer.finish(Duration::from_secs(10)).unwrap();
    printer.print(b"read again\n");
    printer.finish(Duration::from_secs(10)).unwrap();
    let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
    let kept = u64::try_from(text.lines().filter(|line| line.starts_with('x')).count()).unwrap();
    let told = note(offered - kept, false);
    assert!(kept < offered, "not all found room");
    assert!(text.ends_with(&format!("{told}read again\n")), "{kept} of {offered} were kept");
}

#[test]
fn the_end_waits_for_a_stream_that_is_stuck_only_so_long() {
    let (printer, open, _) = gated();
    flood(&printer);
    let start = Instant::now();
    printer.finish(Duration::from_millis(50)).unwrap();
    assert!((Duration::from_millis(50)..Duration::from_secs(5)).contains(&start.elapsed()));
    drop(open);
}

#[test]
fn a_reader_that_went_away_is_no_failure_and_a_full_disk_is() {
    let (printer, open, _) = gated();
    drop(open);
    printer.print(b"unheard\n");
    printer.finish(Duration::from_secs(10)).unwrap();
    let full = File::options().write(true).open("/dev/full");
    let printer = Printer::start("full", full);
    printer.print(b"no room\n");
    let failed = printer.finish(Duration::from_secs(10)).unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::StorageFull);
}

#[test]
fn dropped_lines_are_told_in_the_manner_of_their_stream() {
    assert_eq!(note(132, false), "... 132 lines were dropped: nobody read them\n");
    assert_eq!(note(132, true), "{\"event\":\"dropped\",\"lines\":132}\n");
}

#[test]
fn a_line_longer_than_the_queue_is_printed_whole_when_none_waits_before_it() {
    let (printer, open, written) = gated();
    let line = [b"x".repeat(WAITING_MAX), b"\n".to_vec()].concat();
    printer.print(&line);
    open.send(()).unwrap();
    printer.finish(Duration::from_secs(10)).unwrap();
    assert_eq!(written.lock().unwrap().len(), line.len());
}

/// A stream that takes a byte at a time, and each only when it is asked a third time.
struct Reluctant {
    asked: usize,
    written: Vec<u8>,
}

impl Write for Reluctant {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.asked += 1;
        match self.asked % 3 {
            1 => Err(ErrorKind::WouldBlock.into()),
            2 => Err(ErrorKind::Interrupted.into()),
            _ => self.written.write(&bytes[..1]),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stream_that_would_block_or_is_interrupted_is_tried_again() {
    let mut stream = Reluctant { asked: 0, written: Vec::new() };
    write_all(&mut stream, b"told\n").unwrap();
    assert_eq!((stream.asked, &stream.written[..]), (15, &b"told\n"[..]));
}

#[test]
fn after_a_line_that_was_dropped_no_shorter_one_takes_its_place() {
    let (printer, open, written) = gated();
    printer.print(b"first\n");
    // Its thread has taken it and waits for the stream, so that it takes nothing of what follows.
    while !printer.queue.lock().writing {
        thread::yield_now();
    }
    printer.print(&b"x".repeat(WAITING_MAX - 20));
    printer.print(&b"y".repeat(100));
    printer.print(b"short\n");
    (0..4).for_each(|_| open.send(()).unwrap());
    printer.finish(Duration::from_secs(10)).unwrap();
    let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
    assert!(text.ends_with(&note(2, false)) && !text.contains("short"));
}
