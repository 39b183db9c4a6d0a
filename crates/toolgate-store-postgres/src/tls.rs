//! Encrypted connections, by rustls with ring.
//!
//! `sslmode` says how much is asked for: `disable`; `prefer` (the default) encrypts when the server can, without
//! checking who it is, since an attacker could as well switch encryption off; `require` and libpq's `verify-ca` and
//! `verify-full` encrypt and check the certificate and host name, against the system's roots and those in
//! `sslrootcert`.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;
use toolgate_core::port::store::StoreError;

/// Takes the words the driver does not know out of a URL: the verifying modes, which become `require`, and the file of
/// root certificates.
pub(crate) fn take_words(url: &str) -> (String, Option<String>) {
    let Some((place, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let mut roots = None;
    let mut words = Vec::new();
    for word in query.split('&') {
        match word.split_once('=') {
            Some(("sslrootcert", file)) => roots = Some(file.replace("%2F", "/").replace("%2f", "/")),
            Some(("sslmode", "verify-ca" | "verify-full")) => words.push("sslmode=require"),
            _ => words.push(word),
        }
    }
    let url = if words.is_empty() { place.to_owned() } else { format!("{place}?{}", words.join("&")) };
    (url, roots)
}

pub(crate) fn connector(mode: SslMode, roots: Option<&str>) -> Result<MakeRustlsConnect, StoreError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(StoreError::unavailable)?;
    let config = if mode == SslMode::Require {
        builder.with_root_certificates(trusted(roots)?).with_no_client_auth()
    } else {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyServer(provider)))
            .with_no_client_auth()
    };
    Ok(MakeRustlsConnect::new(config))
}

fn trusted(file: Option<&str>) -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(file) = file {
        let unreadable =
            |cause| StoreError::unavailable(format!("`sslrootcert` {file} can't be read: {cause}"));
        for certificate in CertificateDer::pem_file_iter(file).map_err(unreadable)? {
            roots.add(certificate.map_err(unreadable)?).map_err(StoreError::unavailable)?;
        }
    }
    Ok(roots)
}

/// Takes any certificate, but holds the server to it for the length of the connection.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_the_driver_does_not_know_are_taken_out() {
        let check = |url: &str, rest: &str, roots: Option<&str>| {
            assert_eq!(take_words(url), (rest.to_owned(), roots.map(str::to_owned)));
        };
        check("postgres://u@h/d", "postgres://u@h/d", None);
        check("postgres://u@h/d?sslmode=disable", "postgres://u@h/d?sslmode=disable", None);
        check(
            "postgres://u@h/d?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem&application_name=x",
            "postgres://u@h/d?sslmode=require&application_name=x",
            Some("/etc/ca.pem"),
        );
        check("postgres://u@h/d?sslrootcert=ca.pem", "postgres://u@h/d", Some("ca.pem"));
    }
}
