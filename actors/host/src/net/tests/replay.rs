//! dbg
use super::ear::*;
use dh_machine::Micros;
use crate::net::*;
use bytes::Bytes;
#[test]
fn dbg() {
        simulated(4, async |net| {
            let held = Link {
                latency: Micros::from_millis(20),
                reorder_ppm: 300_000,
                reorder: Micros::from_millis(300),
                ..Link::IDEAL
            };
            let joined = join(&net, Over::Quic, Links::both(held)).await;
            net.network().unwrap().keep_records(true);
            for number in 0..300_u32 {
                joined.server.send(1, &number.to_le_bytes()).unwrap();
                joined.server.send_datagrams([Bytes::copy_from_slice(&number.to_le_bytes())]);
                joined.client.send(1, b"").unwrap();
                sleep_ms(17).await;
            }
            sleep_ms(3_000).await;
            for r in net.network().unwrap().take_datagrams() { if r.arrived.is_none() {println!("{:?}", r);} }
            let ps = net.network().unwrap().take_records();
            for p in ps.iter().filter(|p| p.from == "10.0.0.1:27015".parse().unwrap()).take(60) {println!("{} {} {:?}", p.at.0, p.bytes, p.fate);}
            
        });
}
