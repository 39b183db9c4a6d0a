use super::*;

const ONE: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OTHER: &str = "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f";

fn ring(newest: &str, old: &[&str]) -> Keyring {
    Keyring::from_texts(newest, old.iter().copied(), "the test").unwrap()
}

fn tenant() -> TenantId {
    TenantId::default_tenant()
}

#[test]
fn what_is_sealed_opens() {
    let (tenant, connection) = (tenant(), ConnectionId::generate());
    let belongs = Belongs { tenant: &tenant, connection };
    for secret in [&b""[..], b"s3cret", &[0; 100_000]] {
        let sealed = ring(ONE, &[]).seal(belongs, 3, secret).unwrap();
        assert_eq!(&**ring(ONE, &[]).open_secret(belongs, &sealed).unwrap(), secret);
        assert!(secret.is_empty() || !sealed.sealed.windows(secret.len()).any(|part| part == secret));
    }
}

#[test]
fn every_seal_is_another() {
    let (tenant, connection) = (tenant(), ConnectionId::generate());
    let belongs = Belongs { tenant: &tenant, connection };
    let (a, b) =
        (ring(ONE, &[]).seal(belongs, 1, b"x").unwrap(), ring(ONE, &[]).seal(belongs, 1, b"x").unwrap());
    assert!(a.sealed != b.sealed && a.wrapped != b.wrapped);
}

#[test]
fn a_changed_envelope_does_not_open() {
    let (tenant, connection) = (tenant(), ConnectionId::generate());
    let belongs = Belongs { tenant: &tenant, connection };
    let keys = ring(ONE, &[OTHER]);
    let sealed = keys.seal(belongs, 1, b"s3cret").unwrap();
    for at in 0..sealed.sealed.len() {
        let mut changed = sealed.clone();
        changed.sealed[at] ^= 1;
        assert_eq!(keys.open_secret(belongs, &changed), Err(EnvelopeError::Broken));
    }
    for at in 0..sealed.wrapped.len() {
        let mut changed = sealed.clone();
        changed.wrapped[at] ^= 0x80;
        assert_eq!(keys.open_secret(belongs, &changed), Err(EnvelopeError::Broken));
    }
    for length in 0..sealed.sealed.len() {
        let mut cut = sealed.clone();
        cut.sealed.truncate(length);
        assert_eq!(keys.open_secret(belongs, &cut), Err(EnvelopeError::Broken));
    }
    let mut renamed = sealed;
    renamed.key_id = ring(OTHER, &[]).newest().to_owned();
    assert_eq!(keys.open_secret(belongs, &renamed), Err(EnvelopeError::Broken));
}

#[test]
fn an_envelope_opens_in_its_own_place_alone() {
    let (here, there) = (tenant(), "other".parse().unwrap());
    let connection = ConnectionId::generate();
    let belongs = Belongs { tenant: &here, connection };
    let keys = ring(ONE, &[]);
    let sealed = keys.seal(belongs, 2, b"s3cret").unwrap();
    let elsewhere = [
        (Belongs { tenant: &there, connection }, sealed.clone()),
        (Belongs { tenant: &here, connection: ConnectionId::generate() }, sealed.clone()),
        (belongs, SealedSecret { version: 1, ..sealed.clone() }),
    ];
    for (belongs, envelope) in elsewhere {
        assert_eq!(keys.open_secret(belongs, &envelope), Err(EnvelopeError::Broken));
    }
    // Nor can its parts be mixed with another's.
    let next = keys.seal(belongs, 3, b"another").unwrap();
    let mixed = SealedSecret { wrapped: next.wrapped, ..sealed };
    assert_eq!(keys.open_secret(belongs, &mixed), Err(EnvelopeError::Broken));
}

#[test]
fn a_rotated_key_opens_what_is_old_and_then_takes_it_over() {
    let (tenant, connection) = (tenant(), ConnectionId::generate());
    let belongs = Belongs { tenant: &tenant, connection };
    let sealed = ring(ONE, &[]).seal(belongs, 1, b"s3cret").unwrap();
    let (both, new) = (ring(OTHER, &[ONE]), ring(OTHER, &[]));
    assert_eq!(&**both.open_secret(belongs, &sealed).unwrap(), b"s3cret");
    assert_eq!(new.open_secret(belongs, &sealed), Err(EnvelopeError::UnknownKey(sealed.key_id.clone())));
    let moved = both.rewrap(belongs, &sealed).unwrap();
    assert_eq!((moved.version, &moved.sealed), (1, &sealed.sealed), "the secret itself is not touched");
    assert_eq!(&**new.open_secret(belongs, &moved).unwrap(), b"s3cret");
    assert!(ring(ONE, &[]).open_secret(belongs, &moved).is_err());
}

#[test]
fn what_is_sealed_for_a_purpose_opens_for_it_alone() {
    let keys = ring(ONE, &[]);
    let (id, sealed) = seal_for(&keys, "a", b"bound", b"s3cret").unwrap();
    assert_eq!(&**open_for(&keys, "a", b"bound", (&id, &sealed)).unwrap(), b"s3cret");
    assert!(open_for(&keys, "b", b"bound", (&id, &sealed)).is_err());
    assert!(open_for(&keys, "a", b"other", (&id, &sealed)).is_err());
}
