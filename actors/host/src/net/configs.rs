//! Configs: everything quinn and rustls are told, real or pinned, in one place.

use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, EndpointConfig, ServerConfig};
use quinn_proto::HashedConnectionIdGenerator;
use ring::rand::{SecureRandom, SystemRandom};
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::sign::SingleCertAndKey;
use rustls::time_provider::{DefaultTimeProvider, TimeProvider};

use super::certificate::{AnyClient, OneServer};
use super::congestion::{Congestion, End, transport};
use super::identity::Identity;
use super::key::PeerKey;
use super::limit;
use super::pinned::{Pinned, SIMULATED_ALPN};
use super::simulated::SimulatedNetwork;

/// The ALPN of play. There is no version in it, so that a mismatch can be told with both numbers.
pub(crate) const ALPN: &[u8] = b"dh";

/// The name a client asks for: nothing is looked up or verified by it, keys are.
pub(crate) const SERVER_NAME: &str = "driftholm";

/// Why there is no configuration: the system gave no randomness, or the libraries disagree.
#[derive(Debug)]
pub(crate) struct ConfigError(pub(crate) String);

/// Where the keys of one endpoint come from.
#[derive(Debug)]
pub(crate) struct Source {
    pinned: Option<(SimulatedNetwork, u64)>,
}

impl Source {
    /// Of the next endpoint of a runtime.
    pub(crate) fn of(network: Option<&SimulatedNetwork>) -> Self {
        Self { pinned: network.map(|network| (network.clone(), network.next_endpoint())) }
    }

    pub(crate) fn endpoint(&self) -> EndpointConfig {
        match self.pinned() {
            Some((pinned, number)) => pinned.endpoint(number),
            None => EndpointConfig::default(),
        }
    }

    /// Of an endpoint that listens: one that starts again knows the ids that it gave out before,
    /// and tells whoever still talks to them that nobody is there. A peer of a server that was
    /// killed would wait for its patience to end else.
    pub(crate) fn listening(&self, identity: &Identity) -> EndpointConfig {
        let key = identity.secret_for("driftholm: connections of a server that starts again");
        let Some(key) = key.filter(|_| self.pinned.is_none()) else { return self.endpoint() };
        let ids = ring::hmac::sign(&key, b"connection ids");
        let ids = ids.as_ref().first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        let mut config = EndpointConfig::new(Arc::new(key));
        config.cid_generator(move || Box::new(HashedConnectionIdGenerator::from_key(ids)));
        config
    }

    pub(crate) fn server(
        &self,
        identity: &Identity,
        congestion: Congestion,
    ) -> Result<ServerConfig, ConfigError> {
        let provider = Arc::new(self.provider());
        let algorithms = provider.signature_verification_algorithms;
        let mut tls = rustls::ServerConfig::builder_with_details(provider, self.wall())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_client_cert_verifier(AnyClient::new(algorithms))
            .with_cert_resolver(Arc::new(certified(identity)));
        tls.alpn_protocols = vec![self.alpn()];
        tls.send_tls13_tickets = 0;
        let crypto = Arc::new(QuicServerConfig::try_from(tls)?);
        let mut config = match self.pinned() {
            Some((pinned, number)) => {
                let mut config = ServerConfig::new(crypto, pinned.token_key(number));
                config.time_source(Pinned::wall());
                config
            }
            None => ServerConfig::new(crypto, system_token_key()?),
        };
        config
            .transport_config(transport(congestion, End::Server))
            .max_incoming(2 * limit::KNOCKS_MAX)
            .incoming_buffer_size(INCOMING_BUFFER)
            .incoming_buffer_size_total(INCOMING_BUFFER_TOTAL);
        Ok(config)
    }

    /// A client's configuration, and the verifier that will know which key the server showed.
    pub(crate) fn client(
        &self,
        identity: &Identity,
        expected: Option<PeerKey>,
        congestion: Congestion,
    ) -> Result<(ClientConfig, Arc<OneServer>), ConfigError> {
        let provider = Arc::new(self.provider());
        let verifier = OneServer::new(expected, provider.signature_verification_algorithms);
        let mut tls = rustls::ClientConfig::builder_with_details(provider, self.wall())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::<OneServer>::clone(&verifier))
            .with_client_cert_resolver(Arc::new(certified(identity)));
        tls.alpn_protocols = vec![self.alpn()];
        tls.resumption = Resumption::disabled();
        let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
        if let Some((pinned, number)) = self.pinned() {
            config.initial_dst_cid_provider(pinned.first_ids(number));
        }
        config.transport_config(transport(congestion, End::Client));
        Ok((config, verifier))
    }

    fn pinned(&self) -> Option<(&Pinned, u64)> {
        self.pinned.as_ref().map(|(network, number)| (network.pinned(), *number))
    }

    fn provider(&self) -> CryptoProvider {
        match self.pinned {
            Some(_) => Pinned::provider(),
            None => rustls::crypto::ring::default_provider(),
        }
    }

    fn wall(&self) -> Arc<dyn TimeProvider> {
        match self.pinned {
            Some(_) => Pinned::wall(),
            None => Arc::new(DefaultTimeProvider),
        }
    }

    fn alpn(&self) -> Vec<u8> {
        if self.pinned.is_some() { SIMULATED_ALPN.to_vec() } else { ALPN.to_vec() }
    }
}

impl<E: std::error::Error> From<E> for ConfigError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

fn certified(identity: &Identity) -> SingleCertAndKey {
    SingleCertAndKey::from(identity.certified())
}

fn system_token_key() -> Result<Arc<ring::hkdf::Prk>, ConfigError> {
    let mut master = [0; 64];
    SystemRandom::new()
        .fill(&mut master)
        .map_err(|_| ConfigError("the system gave no randomness".to_owned()))?;
    Ok(Arc::new(ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&master)))
}

/// Bytes of one unanswered arrival that are kept beside its first packet.
const INCOMING_BUFFER: u64 = 4 << 10;
/// The same for all of them.
const INCOMING_BUFFER_TOTAL: u64 = 4 << 20;
