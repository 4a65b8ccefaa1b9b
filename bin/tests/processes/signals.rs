//! Who asks a role to end is heard at once, whatever it does.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::demo::has_adapter;
use crate::display::Display;
use crate::process::{Ended, Process};
use crate::session::{client, server_with};

const ASKING: [(Signal, &str); 3] =
    [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM"), (Signal::HUP, "SIGHUP")];
/// How long ending in order may take; a second, and what a busy machine adds.
const ENDING_MAX: Duration = Duration::from_secs(5);

fn asked(process: &mut Process, signal: Signal) -> Ended {
    let asked = Instant::now();
    process.signal(signal);
    let ended = process.end();
    assert!(ended.status.success(), "{signal:?}: {ended:?}");
    assert!(asked.elapsed() < ENDING_MAX, "{signal:?}: {:?}", asked.elapsed());
    ended
}

#[test]
fn play_without_a_window_ends_in_order_when_asked_and_tells_its_actors() {
    for (signal, name) in ASKING {
        let words = ["play", "--headless", "--seconds", "300", "--peers", "2"];
        let mut demo = Process::start(&words);
        demo.error_with("playing headless for 300 s");
        std::thread::sleep(Duration::from_millis(500));
        let ended = asked(&mut demo, signal);
        assert!(ended.err.iter().any(|line| *line == format!("leaving: {name}")), "{ended:?}");
        assert!(ended.out.iter().any(|line| line.contains("roster")), "{ended:?}");
        assert!(!demo.home().join("driftholm.png").exists());
    }
}

#[test]
fn play_at_a_window_ends_in_order_when_asked() {
    if !has_adapter() {
        return;
    }
    let Some(display) = Display::start() else { return };
    let variables = [("DISPLAY", display.name.as_str()), ("WAYLAND_DISPLAY", "")];
    let words = ["play", "--seconds", "300", "--peers", "1"];
    let mut demo = Process::start_with(&words, &variables);
    demo.line_with("playing as ");
    let ended = asked(&mut demo, Signal::TERM);
    assert!(ended.out.iter().any(|line| line.contains("roster")), "{ended:?}");
}

#[test]
fn a_server_and_its_client_end_in_order_when_asked_by_any_of_the_signals() {
    for (signal, name) in ASKING {
        let (mut server, address) = server_with(&[]);
        let mut ada = client(&address, "ada");
        ada.line_with("playing as ");
        let ended = asked(&mut ada, signal);
        assert!(ended.err.iter().any(|line| *line == format!("leaving: {name}")), "{ended:?}");
        server.line_with("ada left");
        let ended = asked(&mut server, signal);
        assert_eq!(ended.out.last(), Some(&format!("stopped: {name}")));
    }
}

/// A server that stands still confirms no goodbye, which is waited for half a second; on a busy
/// machine that may be over before anybody asks again.
#[test]
fn whoever_asks_again_a_moment_later_does_not_wait_for_an_orderly_end() {
    let (server, address) = server_with(&[]);
    let ended_at_once = (0..5).any(|number| {
        let mut ada = client(&address, &format!("ada {number}"));
        ada.line_with("playing as ");
        server.signal(Signal::STOP);
        ada.signal(Signal::TERM);
        ada.error_with("leaving: SIGTERM");
        std::thread::sleep(Duration::from_millis(280));
        ada.signal(Signal::TERM);
        let ended = ada.end();
        server.signal(Signal::CONT);
        assert!(ended.status.success() || ended.status.signal() == Some(15), "{ended:?}");
        !ended.status.success()
    });
    assert!(ended_at_once);
}
