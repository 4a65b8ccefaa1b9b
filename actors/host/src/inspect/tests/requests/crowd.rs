//! Many at once: who is heard where more come than there are places.

use super::*;

#[test]
fn whoever_has_asked_is_heard_however_many_come_behind() {
    let stage = Stage::new();
    std::thread::scope(|scope| {
        // Nobody is let in for a while, so that all of them are let in at once.
        let asleep = r#"{"do":"set","key":"asleep","value":""}"#;
        let held = scope.spawn(|| stage.order(asleep));
        std::thread::sleep(ASLEEP / 4);
        let mut asking = stage.connect();
        let text = format!(
            "GET /metrics HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
            stage.secret
        );
        asking.write_all(text.as_bytes()).unwrap();
        let silent: Vec<TcpStream> = (0..CONNECTIONS_MAX * 3).map(|_| stage.connect()).collect();
        let mut answer = String::new();
        asking.read_to_string(&mut answer).unwrap();
        assert_eq!(status(&answer), 200);
        drop(silent);
        assert_eq!(held.join().unwrap().0, 200);
    });
}
