//! Passwords: what is acceptable, what is kept, and changing one.

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use serde_json::json;
use tokio::sync::Semaphore;
use toolgate_core::administration::{AdminChange, Write};
use toolgate_core::id::{PrincipalId, TenantId};
use toolgate_core::port::store::EndSignIns;
use toolgate_core::principal::Principal;
use toolgate_core::{Actor, Credential};

use crate::attempts::login_bucket;
use crate::powers::nothing_changed_since;
use crate::tenant_link::unlink_by_password;
use crate::{App, AppError};

/// OWASP's first choice for argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// How many are hashed at once; the others wait, so that signing in can't eat the machine.
const AT_ONCE: usize = 2;
/// How long one waits for a place.
const PATIENCE: Duration = Duration::from_secs(10);
const LENGTH: std::ops::RangeInclusive<usize> = 12..=256;
/// The few that everyone tries first, of those that are long enough.
const COMMON: [&str; 16] = [
    "123456789012",
    "1234567890123",
    "12345678901234",
    "123123123123",
    "111111111111",
    "000000000000",
    "qwertyuiopas",
    "qwerty123456",
    "1q2w3e4r5t6y",
    "passwordpassword",
    "password1234",
    "password12345",
    "administrator",
    "letmeinletmein",
    "iloveyou1234",
    "changemechangeme",
];
/// No password of anyone: an unknown user costs what a wrong password costs.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$dG9vbGdhdGUgbm9ib2R5IQ$\
                      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A password on its way in. Prints as `***`.
#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// A password as it came in.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Whether it may be chosen by this user. Length is what counts; rules on digits and signs only make passwords
    /// that are hard to remember.
    pub(crate) fn check(&self, user: &PrincipalId) -> Result<(), AppError> {
        let length = self.0.chars().count();
        if !LENGTH.contains(&length) {
            let (least, most) = (LENGTH.start(), LENGTH.end());
            return Err(AppError::invalid(format!("a password has {least} to {most} characters"))
                .with_hint("a few unrelated words are easy to remember and hard to guess"));
        }
        let small = self.0.to_lowercase();
        let name = user.name().to_lowercase();
        if small == name || small == user.as_str() || COMMON.contains(&small.as_str()) {
            return Err(AppError::invalid("this password is among the first that anyone would try")
                .with_hint("a few unrelated words are easy to remember and hard to guess"));
        }
        Ok(())
    }

    const fn could_be(&self) -> bool {
        // In bytes: whatever is longer was never accepted.
        self.0.len() <= 4 * *LENGTH.end()
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// Whether a password was the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verified {
    No,
    Yes,
    /// Yes, but it is kept in a weaker form than is made today.
    Weakly,
}

/// Hashes and compares, a few at a time.
#[derive(Debug)]
pub(crate) struct Hasher(Arc<Semaphore>);

impl Default for Hasher {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Hasher {
    /// What is kept of a password, in PHC form.
    pub(crate) async fn hash(&self, password: Password) -> Result<String, AppError> {
        let mut salt = [0u8; 16];
        getrandom::fill(&mut salt).map_err(|_| broken("no randomness"))?;
        self.apart(move || {
            let hash = argon2()?.hash_password_with_salt(password.0.as_bytes(), &salt);
            hash.map(|hash| hash.to_string()).map_err(|_| broken("a password could not be hashed"))
        })
        .await?
    }

    /// Whether this is the password that was kept. Without one it takes as long to say no.
    pub(crate) async fn verify(
        &self,
        password: Password,
        kept: Option<String>,
    ) -> Result<Verified, AppError> {
        let expected = kept.is_some() && password.could_be();
        let kept = kept.unwrap_or_else(|| NOBODY.to_owned());
        let password = if password.could_be() { password } else { Password(String::new()) };
        self.apart(move || {
            let hash = PasswordHash::new(&kept).map_err(|_| broken("a kept password is damaged"))?;
            let right = argon2()?.verify_password(password.0.as_bytes(), &hash).is_ok();
            Ok(match (expected && right, is_todays(&hash)) {
                (false, _) => Verified::No,
                (true, true) => Verified::Yes,
                (true, false) => Verified::Weakly,
            })
        })
        .await?
    }

    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AppError> {
        let place = tokio::time::timeout(PATIENCE, Arc::clone(&self.0).acquire_owned()).await;
        let Ok(Ok(place)) = place else { return Err(AppError::TooMany { retry_after_seconds: 5 }) };
        // The place goes along: work that nobody waits for any more still takes up the machine.
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        done.await.map_err(|_| broken("a password could not be compared"))
    }
}

fn argon2() -> Result<Argon2<'static>, AppError> {
    let params =
        Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|_| broken("argon2 can't be set up"))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn is_todays(hash: &PasswordHash) -> bool {
    hash.algorithm == Algorithm::Argon2id.ident()
        && Params::try_from(hash).is_ok_and(|params| {
            (params.m_cost(), params.t_cost(), params.p_cost()) == (MEMORY_KIB, PASSES, LANES)
        })
}

fn broken(what: &'static str) -> AppError {
    AppError::Store(toolgate_core::port::store::StoreError::unavailable(what))
}

impl App {
    /// Changes the caller's own password, and ends all their other sign-ins, every link to choose another, and what the
    /// old one has linked with users of other tenants.
    ///
    /// # Errors
    /// When the current one is wrong, the new one is not acceptable, or the caller came with a key.
    pub async fn change_password(
        &self,
        actor: &Actor,
        current: Password,
        new: Password,
    ) -> Result<(), AppError> {
        let Credential::SignIn(id) = actor.credential else {
            return Err(AppError::forbidden("only a person who signed in changes their password"));
        };
        new.check(&actor.principal)?;
        let bucket = login_bucket(actor.tenant.as_str(), actor.principal.name());
        self.entrance.logins.take(&bucket)?;
        let kept = self.store().password(&actor.tenant, &actor.principal).await?;
        if self.entrance.hasher.verify(current, kept).await? == Verified::No {
            return Err(AppError::Unauthenticated { message: "the current password is not right" });
        }
        self.entrance.logins.give_back(&bucket);
        let hash = self.entrance.hasher.hash(new).await?;
        let made = self.links_by_password(&actor.tenant, &actor.principal).await?;
        let links = vec![unlink_by_password(&actor.principal)];
        self.keep_password(&actor.tenant, &actor.principal, hash, "changed", links).await?;
        self.void_invitations(&actor.tenant, &actor.principal).await?;
        self.void_tenant_links(&actor.tenant, &actor.principal, &made).await?;
        self.end_all_sign_ins(&actor.tenant, &actor.principal, EndSignIns::AllBut(id)).await
    }

    /// Keeps the same password in today's form, unless it was changed in the meantime.
    pub(crate) async fn strengthen_password(
        &self,
        user: &Principal,
        password: Password,
        kept: Option<&str>,
    ) -> Result<(), AppError> {
        let hash = self.entrance.hasher.hash(password).await?;
        let Some(tenant) = self.tenant_as_it_stands(&user.tenant).await? else { return Ok(()) };
        if self.store().password(&user.tenant, &user.id).await?.as_deref() != kept {
            return Ok(());
        }
        let guard = vec![nothing_changed_since(&tenant)];
        self.keep_password(&user.tenant, &user.id, hash, "kept in a stronger form", guard).await
    }

    async fn keep_password(
        &self,
        tenant: &TenantId,
        user: &PrincipalId,
        hash: String,
        how: &'static str,
        mut writes: Vec<Write>,
    ) -> Result<(), AppError> {
        let summary = json!({ "action": "password.set", "principal": user, "how": how });
        writes.push(Write::SetPassword { principal: user.clone(), hash: Some(hash) });
        self.commit(AdminChange::new(tenant.clone(), user.clone(), self.now(), &summary, writes)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str) -> Password {
        Password::new(text.to_owned())
    }

    #[test]
    fn length_is_what_counts() {
        let user: PrincipalId = "user:ada.lovelace@example.com".parse().unwrap();
        let check = |text: &str| password(text).check(&user).is_ok();
        assert!(check("correct horse battery"));
        assert!(check(&"ä".repeat(12)));
        assert!(check(&"ä".repeat(256)));
        assert!(!check("short"));
        assert!(!check(&"x".repeat(257)));
        assert!(!check("Ada.Lovelace@example.com"));
        assert!(!check("PasswordPassword"));
        assert_eq!(format!("{:?}", password("secret")), "***");
    }

    #[tokio::test]
    async fn only_the_right_password_fits_and_old_forms_are_noticed() {
        let hasher = Hasher::default();
        let kept = hasher.hash(password("correct horse battery")).await.unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        let verify = |text: &str, kept: Option<&str>| {
            let (hasher, text, kept) = (&hasher, password(text), kept.map(str::to_owned));
            async move { hasher.verify(text, kept).await.unwrap() }
        };
        assert_eq!(verify("correct horse battery", Some(&kept)).await, Verified::Yes);
        assert_eq!(verify("wrong horse battery", Some(&kept)).await, Verified::No);
        assert_eq!(verify("correct horse battery", None).await, Verified::No);
        assert_eq!(verify(&"x".repeat(100_000), Some(&kept)).await, Verified::No);
        let weak = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(1024, 1, 1, None).unwrap())
            .hash_password_with_salt(b"correct horse battery", &[1; 16])
            .unwrap()
            .to_string();
        assert_eq!(verify("correct horse battery", Some(&weak)).await, Verified::Weakly);
    }
}
