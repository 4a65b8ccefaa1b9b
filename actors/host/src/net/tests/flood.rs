//! Floods over real sockets: what they cost, and that a real client joins meanwhile.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::ear::{Ear, Over, Told, dial_options, identity, listen, real, sleep_ms};
use crate::net::{DialOptions, Dialed, Dialing, Endpoint, Knock, Net, Target, Verdict};

/// Sends one packet of a flood: its number, and the server.
type Sender = Box<dyn FnMut(u32, SocketAddr) + Send>;

/// A flood under way.
struct Flood {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<u32>,
}

impl Flood {
    fn start(to: SocketAddr, per_second: u32, mut send: Sender) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let (began, mut sent) = (Instant::now(), 0);
            while !told.load(Ordering::Relaxed) {
                let due = began.elapsed().as_secs_f64() * f64::from(per_second);
                while f64::from(sent) < due {
                    send(sent, to);
                    sent += 1;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            sent
        });
        Self { stop, thread }
    }

    /// How many it sent.
    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        u64::from(self.thread.join().unwrap())
    }
}

/// Packets from made-up loopback addresses: the n-th from the address of that number.
fn made_up(packets: Vec<Vec<u8>>, address: impl Fn(u32) -> u32 + Send + 'static) -> Sender {
    let sender = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let state = quinn::udp::UdpSocketState::new((&sender).into()).unwrap();
    Box::new(move |n, destination| {
        let made_up = Ipv4Addr::from(0x7f01_0000 + address(n) % 0x00f0_0000);
        let transmit = quinn::udp::Transmit {
            destination,
            ecn: None,
            contents: &packets[n as usize % packets.len()],
            segment_size: None,
            src_ip: Some(made_up.into()),
        };
        let _ = state.try_send((&sender).into(), &transmit);
    })
}

/// Packets from so many real sockets at the address every client of this machine has.
fn real_sockets(packets: Vec<Vec<u8>>, count: u32) -> Sender {
    let socket = |_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let sockets: Vec<_> = (0..count).map(socket).collect();
    Box::new(move |n, to| {
        let packet = &packets[n as usize % packets.len()];
        let _ = sockets[(n % count) as usize].send_to(packet, to);
    })
}

/// First packets as real clients send them, so that nothing in them gives them away. Many, as a
/// server takes those with one connection id for one connection.
async fn first_packets(net: &Net) -> Vec<Vec<u8>> {
    let heard = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    heard.set_nonblocking(true).unwrap();
    let target = Target::Udp(heard.local_addr().unwrap(), "nobody".to_owned());
    let ear = Ear::new(net);
    let (mut packets, mut buffer) = (Vec::new(), vec![0; 2_000]);
    while packets.len() < 512 {
        let options = DialOptions::new(target.clone(), identity(9));
        let dials: Vec<_> = (0..32).map(|_| net.dial(options.clone(), ear.dialed())).collect();
        sleep_ms(20).await;
        dials.iter().for_each(Dialing::cancel);
        while let Ok(len) = heard.recv(&mut buffer) {
            packets.extend((len >= 1200).then(|| buffer[..len].to_vec()));
        }
    }
    packets
}

/// Of a core, at most, while 10,000 first packets a second come.
const SHARE_MAX: f64 = 0.05;

/// What a flood came to.
#[derive(Debug)]
struct Outcome {
    sent: u64,
    shed: u64,
    retried: u64,
    /// Of a core, without what the listening of the test costs.
    share: f64,
    joined: Duration,
}

/// Two seconds of a flood, and a client that joins in it.
async fn outcome(net: &Net, per_second: u32, send: impl FnOnce(Vec<Vec<u8>>) -> Sender) -> Outcome {
    let (endpoint, knocks) = listen(net);
    let packets = first_packets(net).await;
    let idle = cpu_share(accept_all(&endpoint, &knocks, Duration::from_millis(500))).await;
    let flood = Flood::start(endpoint.address(), per_second, send(packets));
    accept_all(&endpoint, &knocks, Duration::from_millis(500)).await;
    let mut flooded = f64::INFINITY;
    // What else this machine does only ever adds to it: the calmest of many spans counts.
    for _ in 0..20 {
        let share = cpu_share(accept_all(&endpoint, &knocks, Duration::from_millis(300))).await;
        flooded = flooded.min(share);
        if flooded - idle <= SHARE_MAX {
            break;
        }
    }
    let ear = Ear::new(net);
    let began = Instant::now();
    net.dial(dial_options(&endpoint, Over::Quic), ear.dialed());
    let joined = loop {
        accept_all(&endpoint, &knocks, Duration::from_millis(2)).await;
        if let Some(Told::Dialed(Dialed::Connected(_))) = ear.take() {
            break began.elapsed();
        }
        assert!(began.elapsed() < Duration::from_secs(8), "no join: {:?}", endpoint.stats());
    };
    let sent = flood.stop();
    let stats = endpoint.stats();
    let share = flooded - idle;
    let outcome = Outcome { sent, shed: stats.shed, retried: stats.retried, share, joined };
    println!("{outcome:?}");
    assert!(stats.knocks <= 200, "nobody is asked about a flood: {stats:?}");
    outcome
}

/// Accept whoever the listener hears of.
async fn accept_all(endpoint: &Endpoint, knocks: &Ear, span: Duration) {
    let began = Instant::now();
    while began.elapsed() < span {
        while let Some(told) = knocks.take() {
            if let Told::Knock(Knock::Incoming(incoming)) = told {
                endpoint.answer(incoming.id, Verdict::Accept);
            }
        }
        sleep_ms(1).await;
    }
}

/// Which part of a core this thread used while it waited for something.
async fn cpu_share(something: impl Future<Output = ()>) -> f64 {
    let (cpu, wall) = (thread_cpu(), Instant::now());
    something.await;
    (thread_cpu() - cpu).as_secs_f64() / wall.elapsed().as_secs_f64()
}

fn thread_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
}

/// Each answer is a Retry, a tenth of a first packet: so few of them keep the bytes out far below
/// three times the bytes in.
#[test]
fn ten_thousand_first_packets_a_second_cost_little_and_a_real_client_joins_meanwhile() {
    real(async |net| {
        for times in [1, 2] {
            let flood = outcome(&net, 10_000, |packets| made_up(packets, move |n| n / times));
            let Outcome { sent, shed, retried, share, joined } = flood.await;
            assert!(shed * 10 > sent * 9, "{shed} of {sent}");
            assert!(retried * 20 < sent, "{retried} of {sent} were answered");
            assert!(share <= SHARE_MAX, "{share} of a core");
            assert!(joined <= Duration::from_secs(1), "{joined:?}");
        }
    });
}

#[test]
fn addresses_that_come_again_as_a_client_does_keep_no_real_client_out() {
    real(async |net| {
        let mut joins = Vec::new();
        // Those who pass in a moment are drawn by lot: of three clients one may have to try again.
        for _ in 0..3 {
            let again = |packets| made_up(packets, |n| 1_200 + n / 2 - n % 2 * 1_200);
            let Outcome { sent, retried, joined, .. } = outcome(&net, 10_000, again).await;
            assert!(retried * 10 < sent, "{retried} of {sent} were answered");
            joins.push(joined);
        }
        joins.sort_unstable();
        assert!(joins[1] <= Duration::from_secs(3), "{joins:?}");
    });
}

#[test]
fn short_packets_of_one_address_are_dropped_and_keep_no_real_client_waiting() {
    real(async |net| {
        let flood = outcome(&net, 700, |packets| real_sockets(vec![packets[0][..8].to_vec()], 1));
        let Outcome { sent, shed, retried, joined, .. } = flood.await;
        assert!(shed * 10 > sent * 9 && retried == 0, "{shed} of {sent}, {retried}");
        assert!(joined <= Duration::from_millis(240), "{joined:?}");
    });
}

#[test]
fn four_hundred_real_sockets_keep_no_real_client_out() {
    real(async |net| {
        let flood = outcome(&net, 10_000, |packets| real_sockets(packets, 400));
        let Outcome { sent, retried, joined, .. } = flood.await;
        assert!(retried * 10 < sent, "{retried} of {sent} were answered");
        assert!(joined <= Duration::from_secs(3), "{joined:?}");
    });
}
