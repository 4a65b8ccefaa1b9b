//! Hostile peers as scenarios have them: they do what they say, in either runtime, and no more.

use dh_machine::Micros;

use super::ear::{
    BOTH, Ear, Over, dial_options, identity, join, listen, real, simulated, sleep_ms,
};
use super::ear::{Told, welcome};
use crate::net::{DialOptions, Knock, Links, Net, Trace, Verdict};

/// A flood upon a server, and what its player notices of it: nothing.
async fn flooded(net: &Net) -> u64 {
    let joined = join(net, Over::Quic, Links::IDEAL).await;
    let flood = net.flood(joined.endpoint.address(), 2_000, Micros::from_millis(500)).unwrap();
    for number in 0..50_u8 {
        joined.client.send(1, &[number]).unwrap();
        sleep_ms(20).await;
    }
    for number in 0..50_u8 {
        let told = joined.server_ear.next().await;
        assert!(matches!(&told, Told::Message((1, body)) if body[..] == [number]), "{told:?}");
    }
    assert!(joined.endpoint.stats().shed > 0, "{:?}", joined.endpoint.stats());
    flood.count()
}

#[test]
fn a_flood_sends_what_it_was_told_to_and_a_player_does_not_notice() {
    let run = || -> Trace {
        simulated(7, async |net| {
            assert_eq!(flooded(&net).await, 1_000);
            net.network().unwrap().trace()
        })
    };
    assert_eq!(run(), run());
    assert_eq!(real(async |net| flooded(&net).await), 1_000);
}

/// Handshakes that are begun, and that the server gives up.
async fn begun(net: &Net) {
    let (endpoint, knocks) = listen(net);
    let raid = net.half_open(endpoint.address(), 5).unwrap();
    let (mut knocked, mut failed) = (0, 0);
    while failed < 5 {
        match knocks.next().await {
            Told::Knock(Knock::Incoming(incoming)) => {
                endpoint.answer(incoming.id, Verdict::Accept);
                knocked += 1;
            }
            Told::Knock(Knock::Failed(_)) => failed += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(raid.count(), 5);
    assert!(knocked >= 5, "{knocked}");
}

#[test]
fn handshakes_that_are_never_gone_on_with_are_given_up_by_the_server() {
    simulated(8, async |net| begun(&net).await);
    real(async |net| begun(&net).await);
}

/// A peer that says hello and then reads nothing, until it is closed for it.
async fn unread(net: &Net, over: Over) {
    let (endpoint, knocks) = listen(net);
    let options = DialOptions { identity: identity(9), ..dial_options(&endpoint, over) };
    let peer = net.deaf_peer(options, vec![(4, b"hello".to_vec())]);
    let server = welcome(&endpoint, &knocks).await;
    let ear = Ear::new(net);
    server.deliver(ear.events());
    let told = ear.next().await;
    assert!(matches!(&told, Told::Message((4, body)) if body[..] == *b"hello"), "{told:?}");
    assert_eq!(peer.count(), 1);
    let mut sent = 0;
    while server.send(2, &[0; 60_000]).is_ok() {
        sleep_ms(1).await;
        sent += 1;
    }
    assert!((60..150).contains(&sent), "{over:?}: {sent}");
}

#[test]
fn a_peer_that_reads_nothing_is_closed_for_it() {
    for over in BOTH {
        simulated(9, async |net| unread(&net, over).await);
    }
    real(async |net| unread(&net, Over::Quic).await);
}

#[test]
fn a_raid_ends_with_its_handle() {
    simulated(10, async |net| {
        let (endpoint, _knocks) = listen(&net);
        let flood = net.flood(endpoint.address(), 1_000, Micros::from_secs(60)).unwrap();
        sleep_ms(1_000).await;
        drop(flood);
        sleep_ms(50).await;
        let before = net.network().unwrap().trace();
        sleep_ms(1_000).await;
        assert_eq!(net.network().unwrap().trace(), before);
        assert!(before.sent >= 990, "{before:?}");
    });
}

#[test]
fn a_server_that_is_killed_says_nothing_and_another_can_have_its_address_at_once() {
    for over in BOTH {
        simulated(11, async |net| {
            let joined = join(&net, over, Links::IDEAL).await;
            let began = net.shared.clock.now();
            joined.endpoint.kill();
            let (again, knocks) = listen(&net);
            assert_eq!(again.address(), joined.endpoint.address());
            // The end of the old one takes nothing from the new one.
            drop((joined.server, joined.endpoint, joined.knocks));
            sleep_ms(2_000).await;
            assert!(joined.client_ear.take().is_none(), "{over:?}: a goodbye");
            let ear = Ear::new(&net);
            net.dial(dial_options(&again, over), ear.dialed());
            let _server = welcome(&again, &knocks).await;
            assert!(matches!(ear.next().await, Told::Dialed(crate::net::Dialed::Connected(_))));
            let (closed, _) = joined.client_ear.closed().await;
            assert_ne!(closed.by, crate::net::By::Local, "{over:?}: {closed:?}");
            let silence = net.shared.clock.now().since(began);
            assert!(silence > Micros::from_secs(2), "{over:?}: {silence:?}");
        });
    }
}
