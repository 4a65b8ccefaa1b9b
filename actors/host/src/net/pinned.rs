//! Pinned: every source of randomness and time of the QUIC stack, drawn from a world's seed.
//!
//! Only the simulated network can make one, and what it configures speaks an ALPN of its own, so
//! that no real socket ever runs on a guessable key. The stream is the thread's, never the
//! process's: worlds run side by side on threads of their own.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use quinn::{ConnectionId, ConnectionIdGenerator, EndpointConfig, TimeSource};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret,
    SupportedKxGroup,
};
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use rustls::{Error, NamedGroup};

use crate::runtime::Seeds;

/// The ALPN of connections whose keys follow from a seed.
pub(crate) const SIMULATED_ALPN: &[u8] = b"dh-sim";

/// The pinned sources of one world; the thread has them while this lives.
#[derive(Debug)]
pub(crate) struct Pinned {
    seed: u64,
    /// Which world of this thread it is: a world that ends late must not end a newer one.
    world: u64,
}

impl Pinned {
    /// Pin this thread to a seed. For the simulated network alone.
    pub(super) fn new(seed: u64) -> Self {
        let world = DRAWS.with_borrow_mut(|draws| {
            draws.worlds += 1;
            draws.current = Some((draws.worlds, Seeds::new(seed).rng("crypto")));
            draws.worlds
        });
        Self { seed, world }
    }

    /// What the cryptography draws from.
    pub(crate) fn provider() -> CryptoProvider {
        CryptoProvider {
            secure_random: &PinnedRandom,
            kx_groups: vec![&PinnedX25519],
            ..rustls::crypto::ring::default_provider()
        }
    }

    /// The clock certificates and tokens are checked by.
    pub(crate) fn wall() -> Arc<PinnedWall> {
        Arc::new(PinnedWall)
    }

    /// Seed, connection ids and reset key of one endpoint; `number` differs per endpoint.
    pub(crate) fn endpoint(&self, number: u64) -> EndpointConfig {
        let mut rng = Seeds::new(self.seed).rng(&format!("endpoint {number}"));
        let mut reset = [0; 64];
        rng.fill_bytes(&mut reset);
        let reset = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &reset);
        let mut config = EndpointConfig::new(Arc::new(reset));
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        config.rng_seed(Some(seed));
        let seed = rng.next_u64();
        config.cid_generator(move || Box::new(PinnedIds(Seeds::new(seed).rng("connection ids"))));
        config
    }

    /// What seals the tokens of one endpoint.
    pub(crate) fn token_key(&self, number: u64) -> Arc<ring::hkdf::Prk> {
        let mut master = [0; 64];
        Seeds::new(self.seed).rng(&format!("tokens {number}")).fill_bytes(&mut master);
        Arc::new(ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&master))
    }

    /// The ids a client first addresses its server by.
    pub(crate) fn first_ids(&self, number: u64) -> Arc<dyn Fn() -> ConnectionId + Send + Sync> {
        let rng = Mutex::new(Seeds::new(self.seed).rng(&format!("first ids {number}")));
        Arc::new(move || {
            let mut id = [0; 16];
            rng.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut id);
            ConnectionId::new(&id)
        })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = DRAWS.try_with(|draws| {
            let mut draws = draws.borrow_mut();
            if draws.current.as_ref().is_some_and(|(world, _)| *world == self.world) {
                draws.current = None;
            }
        });
    }
}

/// The streams of the worlds this thread has run.
#[derive(Default)]
struct Draws {
    worlds: u64,
    current: Option<(u64, ChaCha8Rng)>,
}

thread_local! {
    static DRAWS: RefCell<Draws> = RefCell::default();
}

/// Fill from this thread's world; fails on a thread that has none.
fn draw(bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
    DRAWS.with_borrow_mut(|draws| {
        let (_, rng) = draws.current.as_mut().ok_or(GetRandomFailed)?;
        rng.fill_bytes(bytes);
        Ok(())
    })
}

#[derive(Debug)]
struct PinnedRandom;

impl SecureRandom for PinnedRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        draw(bytes)
    }
}

/// X25519 with a drawn secret: ring's own always asks the system.
#[derive(Debug)]
struct PinnedX25519;

impl SupportedKxGroup for PinnedX25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let mut secret = [0; 32];
        draw(&mut secret)?;
        let secret = x25519_dalek::StaticSecret::from(secret);
        let public = x25519_dalek::PublicKey::from(&secret).to_bytes();
        Ok(Box::new(Exchange { secret, public }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

struct Exchange {
    secret: x25519_dalek::StaticSecret,
    public: [u8; 32],
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let invalid = Error::PeerMisbehaved(rustls::PeerMisbehaved::InvalidKeyShare);
        let Ok(peer) = <[u8; 32]>::try_from(peer) else { return Err(invalid) };
        let shared = self.secret.diffie_hellman(&peer.into());
        if shared.was_contributory() {
            Ok(SharedSecret::from(&shared.as_bytes()[..]))
        } else {
            Err(invalid)
        }
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// A wall clock that stands: nothing in a world depends on the date.
#[derive(Debug)]
pub(crate) struct PinnedWall;

const WALL: Duration = Duration::from_secs(1_800_000_000);

impl TimeProvider for PinnedWall {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(WALL))
    }
}

impl TimeSource for PinnedWall {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + WALL
    }
}

struct PinnedIds(ChaCha8Rng);

impl ConnectionIdGenerator for PinnedIds {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; 8];
        self.0.fill_bytes(&mut id);
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
