//! Whether a form is after something secret. The protocol lets no server ask for that in a form, and a form that does is
//! after more than it should be.

use crate::clean::hides;
use crate::glance::glance;

/// Whether the name of a field says that something secret belongs into it.
pub(crate) fn asks_for_secret(name: &str) -> bool {
    words(name).iter().any(|word| WORDS.contains(&word.as_str())) || speaks_of_secret(name)
}

/// Whether a text speaks of something secret.
pub(crate) fn speaks_of_secret(text: &str) -> bool {
    let seen = glance(text);
    PHRASES.iter().any(|phrase| seen.contains(&glance(phrase)))
}

/// What is secret wherever it stands, however it is written.
const PHRASES: &[&str] = &[
    "password",
    "passwort",
    "passwd",
    "passphrase",
    "passcode",
    "contraseña",
    "mot de passe",
    "api key",
    "secret key",
    "private key",
    "ssh key",
    "access token",
    "refresh token",
    "bearer token",
    "auth token",
    "session token",
    "session cookie",
    "client secret",
    "credential",
    "credit card",
    "debit card",
    "card number",
    "kreditkarte",
    "security code",
    "verification code",
    "one-time code",
    "authenticator code",
    "login code",
    "2fa code",
    "seed phrase",
    "recovery phrase",
    "recovery code",
    "backup code",
    "mnemonic",
    "social security",
];

/// What is secret as a word of its own, and part of harmless ones.
const WORDS: &[&str] =
    &["pin", "otp", "totp", "mfa", "cvv", "cvc", "cvv2", "ssn", "pwd", "pass", "token", "secret", "pan"];

/// The words of a name: `cardPin`, `card_pin` and `card pin` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut low = false;
    for c in name.chars().filter(|c| !hides(*c)) {
        if !c.is_alphanumeric() || (low && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        low = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_for_secrets_are_known_however_they_are_written() {
        for name in [
            "password",
            "Your P A S S W O R D",
            "user_passwd",
            "раsswоrd",
            "pass\u{200b}word",
            "apiKey",
            "API-KEY",
            "card.number",
            "cardPin",
            "OTP",
            "token",
            "githubToken",
            "CVC",
            "client_secret",
            "0ne-t1me code",
        ] {
            assert!(asks_for_secret(name), "{name}");
        }
        for name in [
            "shipping",
            "name",
            "e-mail",
            "opinion",
            "maxTokens",
            "footprint",
            "passenger",
            "secretary",
            "company",
        ] {
            assert!(!asks_for_secret(name), "{name}");
        }
    }
}
