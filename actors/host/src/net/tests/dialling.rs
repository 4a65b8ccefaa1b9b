//! Dialling: every way not to get a connection, and whom to believe.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::sign::CertifiedKey;

use super::ear::{
    BOTH, Ear, Over, Told, dial, dial_options, identity, listen, lossy, real, server_address,
    simulated, sleep_ms, welcome,
};
use crate::net::{
    DialError, DialOptions, Dialed, Endpoint, Identity, KnownHosts, ListenOptions, Net, Target,
    Trust, Verdict, Whose,
};

fn udp(address: &str) -> DialOptions {
    let address: SocketAddr = address.parse().unwrap();
    DialOptions::new(Target::Udp(address, "server".to_owned()), identity(2))
}

/// A server that accepts everybody, on a task of its own.
fn open_house(net: &Net, of: u8) -> Endpoint {
    let knocks = Ear::new(net);
    let options = ListenOptions::new(server_address(net), identity(of));
    let endpoint = net.listen(options, knocks.knocks()).unwrap();
    let door = endpoint.clone();
    net.shared.handle.spawn(async move {
        let mut guests = Vec::new();
        loop {
            match knocks.take() {
                Some(Told::Knock(crate::net::Knock::Incoming(incoming))) => {
                    door.answer(incoming.id, Verdict::Accept);
                }
                Some(Told::Knock(crate::net::Knock::Arrived { connection, .. })) => {
                    guests.push(connection);
                }
                _ => sleep_ms(1).await,
            }
        }
    });
    endpoint
}

/// OQ-21
#[test]
fn a_closed_port_is_told_as_nobody_listening_and_quickly() {
    real(async |net| {
        let free = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let began = std::time::Instant::now();
        let error = dial(&net, udp(&free.to_string())).await.unwrap_err();
        assert!(matches!(error, DialError::PortUnreachable(at) if at == free), "{error}");
        assert!(began.elapsed().as_secs() < 2);
    });
    for over in BOTH {
        simulated(1, async |net| {
            let (endpoint, _knocks) = listen(&net);
            let mut options = dial_options(&endpoint, over);
            options.target = match over {
                Over::Quic => Target::Udp("10.9.9.9:1".parse().unwrap(), "gone".to_owned()),
                Over::Memory => Target::Memory("10.9.9.9:1".parse().unwrap(), Whose::Host),
            };
            let error = dial(&net, options).await.unwrap_err();
            assert!(matches!(error, DialError::PortUnreachable(_)), "{error}");
        });
    }
}

/// OQ-21
#[test]
fn a_name_without_an_address_and_a_socket_that_cannot_be_bound_are_told_apart() {
    real(async |net| {
        let mut options = udp("127.0.0.1:1");
        options.target = Target::Host("no-such-host.invalid".to_owned(), 27015);
        let error = dial(&net, options.clone()).await.unwrap_err();
        assert!(matches!(error, DialError::Lookup { .. }), "{error}");
        options.target = Target::Host("127.0.0.1".to_owned(), 27015);
        options.from = Some("192.0.2.1:0".parse().unwrap());
        let error = dial(&net, options).await.unwrap_err();
        assert!(matches!(error, DialError::Bind(_)), "{error}");
    });
}

/// OQ-21
#[test]
fn a_server_that_refuses_is_told_as_refusing() {
    for over in BOTH {
        simulated(2, async |net| {
            let (endpoint, _knocks) = listen(&net);
            endpoint.close();
            let error = dial(&net, dial_options(&endpoint, over)).await.unwrap_err();
            assert!(matches!(error, DialError::Refused), "{over:?} {error}");
        });
    }
}

/// OQ-21
#[test]
fn a_silent_server_is_no_error_and_the_dial_can_be_cancelled() {
    for over in BOTH {
        simulated(3, async |net| {
            let (endpoint, knocks) = listen(&net);
            let ear = Ear::new(&net);
            let dialling = net.dial(dial_options(&endpoint, over), ear.dialed());
            let Told::Knock(crate::net::Knock::Incoming(incoming)) = knocks.next().await else {
                panic!("no knock");
            };
            endpoint.answer(incoming.id, Verdict::Ignore);
            sleep_ms(5_000).await;
            assert!(ear.take().is_none(), "{over:?}");
            dialling.cancel();
            sleep_ms(20_000).await;
            assert!(ear.take().is_none(), "{over:?}");
            net.dial(dial_options(&endpoint, over), ear.dialed());
            let told = ear.next().await;
            let Told::Dialed(Dialed::Failed(error)) = told else { panic!("{told:?}") };
            assert!(matches!(error, DialError::TimedOut), "{over:?} {error}");
        });
    }
}

/// OQ-10
#[test]
fn each_end_knows_the_key_of_the_other() {
    for over in BOTH {
        simulated(4, async |net| {
            let (endpoint, knocks) = listen(&net);
            let ear = Ear::new(&net);
            net.dial(dial_options(&endpoint, over), ear.dialed());
            let server = welcome(&endpoint, &knocks).await;
            let Told::Dialed(Dialed::Connected(client)) = ear.next().await else {
                panic!("not connected");
            };
            assert_eq!(server.key(), Some(identity(2).key()), "{over:?}");
            assert_eq!(client.key(), Some(identity(1).key()), "{over:?}");
        });
    }
}

/// OQ-10a
#[test]
fn a_server_is_pinned_when_first_met_and_another_key_is_refused_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known-hosts");
    let meet = |server: u8| {
        simulated(5, async |net| {
            let endpoint = open_house(&net, server);
            let mut options = dial_options(&endpoint, Over::Quic);
            options.trust = Trust::KnownHosts(path.clone());
            let ear = Ear::new(&net);
            net.dial(options, ear.dialed());
            let mut told = Vec::new();
            loop {
                let Told::Dialed(dialed) = ear.next().await else { continue };
                let is_last = !matches!(dialed, Dialed::Trusting { .. });
                told.push(dialed);
                if is_last {
                    return told;
                }
            }
        })
    };
    let first = meet(1);
    let [Dialed::Trusting { name, fingerprint }, Dialed::Connected(_)] = &first[..] else {
        panic!("{first:?}");
    };
    assert_eq!((name.as_str(), *fingerprint), ("server", identity(1).key().fingerprint()));
    assert!(matches!(&meet(1)[..], [Dialed::Connected(_)]));
    let changed = meet(9);
    let [Dialed::Failed(error)] = &changed[..] else { panic!("{changed:?}") };
    assert!(error.to_string().starts_with("server key changed: server is known by SHA256:"));
    let DialError::KeyChanged { expected, shown, .. } = error else { panic!("{error}") };
    assert_eq!(expected.0, identity(1).key());
    assert_eq!(shown.0, identity(9).key());
    KnownHosts::forget(&path, "server").unwrap();
    assert!(matches!(&meet(9)[..], [Dialed::Trusting { .. }, Dialed::Connected(_)]));
}

/// OQ-10a
#[test]
fn the_loopback_is_never_pinned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known-hosts");
    real(async |net| {
        let endpoint = open_house(&net, 1);
        let mut options = dial_options(&endpoint, Over::Quic);
        options.trust = Trust::KnownHosts(path.clone());
        dial(&net, options).await.unwrap();
    });
    assert!(!path.exists());
}

/// OQ-10a
#[test]
fn a_file_of_known_servers_that_cannot_be_read_stops_the_dial() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known-hosts");
    std::fs::write(&path, "rubbish\n").unwrap();
    simulated(6, async |net| {
        let endpoint = open_house(&net, 1);
        let mut options = dial_options(&endpoint, Over::Quic);
        options.trust = Trust::KnownHosts(path.clone());
        let error = dial(&net, options).await.unwrap_err();
        assert!(matches!(error, DialError::KnownHosts(_)));
        let told = "known-hosts line 1: expected NAME SHA256:..., found one word; mend or remove";
        assert!(error.to_string().contains(told), "{error}");
    });
}

#[test]
fn a_trusted_key_is_the_only_one_believed() {
    for over in BOTH {
        simulated(7, async |net| {
            let endpoint = open_house(&net, 1);
            let mut options = dial_options(&endpoint, over);
            options.trust = Trust::Key(identity(1).key());
            dial(&net, options.clone()).await.unwrap();
            options.trust = Trust::Key(identity(3).key());
            let error = dial(&net, options).await.unwrap_err();
            assert!(matches!(error, DialError::KeyChanged { .. }), "{over:?} {error}");
        });
    }
}

/// OQ-10
#[test]
fn a_stolen_certificate_without_its_key_is_refused() {
    simulated(8, async |net| {
        let (endpoint, knocks) = listen(&net);
        let (victim, thief) = (identity(2).certified(), identity(66).certified());
        let forged = CertifiedKey::new(victim.cert.clone(), Arc::clone(&thief.key));
        let mut options = dial_options(&endpoint, Over::Quic);
        options.identity = Identity::forged(forged, identity(2).key());
        let ear = Ear::new(&net);
        net.dial(options, ear.dialed());
        let failed = loop {
            match knocks.next().await {
                Told::Knock(crate::net::Knock::Incoming(incoming)) => {
                    endpoint.answer(incoming.id, Verdict::Accept);
                }
                Told::Knock(crate::net::Knock::Failed(failed)) => break failed,
                other => panic!("the thief got in: {other:?}"),
            }
        };
        assert!(failed.why.ends_with("invalid peer certificate: BadSignature"), "{failed:?}");
    });
}

/// OQ-10b
#[test]
fn the_protocol_name_carries_no_version() {
    assert_eq!(crate::net::configs::ALPN, b"dh");
}

#[test]
fn a_dial_gets_through_a_bad_path() {
    for over in BOTH {
        for seed in 0..10 {
            simulated(seed, async |net| {
                let endpoint = open_house(&net, 1);
                let mut options = dial_options(&endpoint, over);
                options.links = lossy(60, 20, 150_000);
                dial(&net, options).await.unwrap();
            });
        }
    }
}
