//! Certificates: whom each end believes in the handshake.
//!
//! A certificate only carries a key, and the handshake signature proves that its owner is there.
//! A server believes any key; a client the one it expects, or any when it meets the server first.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible,
    SignatureScheme,
};

use super::key::PeerKey;

/// The key that a certificate carries; `None` unless it is an Ed25519 key.
pub(crate) fn key_of(certificate: &CertificateDer<'_>) -> Option<PeerKey> {
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    let info = parsed.subject_public_key_info();
    let public = info.as_ref().strip_prefix(&SPKI_HEAD)?;
    (public.len() == 32).then(|| PeerKey::of_public_key(public))
}

/// The server's view of clients: any issuer, but the key must be there.
#[derive(Debug)]
pub(crate) struct AnyClient {
    algorithms: WebPkiSupportedAlgorithms,
}

impl AnyClient {
    pub(crate) fn new(algorithms: WebPkiSupportedAlgorithms) -> Arc<Self> {
        Arc::new(Self { algorithms })
    }
}

impl ClientCertVerifier for AnyClient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        carried_key(end_entity).map(|_| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::PeerIncompatible(PeerIncompatible::Tls12NotOffered))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

/// The client's view of one server: the expected key, or whichever it shows.
#[derive(Debug)]
pub(crate) struct OneServer {
    expected: Option<PeerKey>,
    shown: OnceLock<PeerKey>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl OneServer {
    pub(crate) fn new(
        expected: Option<PeerKey>,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Arc<Self> {
        Arc::new(Self { expected, shown: OnceLock::new(), algorithms })
    }

    /// The key of the certificate the server showed, believed or not.
    pub(crate) fn shown(&self) -> Option<PeerKey> {
        self.shown.get().copied()
    }
}

impl ServerCertVerifier for OneServer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let key = carried_key(end_entity)?;
        let _ = self.shown.set(key);
        if self.expected.is_none_or(|expected| expected == key) {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::PeerIncompatible(PeerIncompatible::Tls12NotOffered))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

fn carried_key(certificate: &CertificateDer<'_>) -> Result<PeerKey, Error> {
    key_of(certificate).ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))
}

/// What stands before the 32 bytes of an Ed25519 public key in a certificate (RFC 8410, 4).
const SPKI_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

#[cfg(test)]
mod tests {
    use super::super::identity::Identity;
    use super::*;

    #[test]
    fn the_key_in_a_certificate_is_the_key_of_its_identity() {
        let identity = Identity::from_secret(&[1; 32]);
        let certified = identity.certified();
        assert_eq!(key_of(&certified.cert[0]), Some(identity.key()));
    }

    #[test]
    fn bytes_that_are_no_ed25519_certificate_carry_no_key() {
        let ecdsa = rcgen::generate_simple_self_signed(Vec::new()).unwrap();
        assert_eq!(key_of(ecdsa.cert.der()), None);
        let good = Identity::from_secret(&[1; 32]).certified().cert[0].clone();
        for length in 0..good.len() {
            assert_eq!(key_of(&CertificateDer::from(good[..length].to_vec())), None);
        }
    }
}
