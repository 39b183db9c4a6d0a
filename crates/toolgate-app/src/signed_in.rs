//! A person who signed in: known by their cookie, seen in a list, and signed out.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolgate_core::actor::Credential;
use toolgate_core::id::{PrincipalId, SignInId, TenantId};
use toolgate_core::port::store::EndSignIns;
use toolgate_core::principal::SignIn;
use toolgate_core::scope::Scopes;
use toolgate_core::{Actor, Timestamp};

use crate::secret::Secret;
use crate::sign_in::{LONGEST, end_of};
use crate::{App, AppError};

/// How late a sign-out on another node is seen. Other changes are seen sooner: they move the tenant on.
const FRESH: Duration = Duration::from_secs(1);
/// How often a use is written down.
const TOUCH_EVERY: Duration = Duration::from_secs(60);
const MOST: usize = 10_000;

/// Cookies seen a moment ago, by hash.
#[derive(Debug, Default)]
pub(crate) struct KnownCookies(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    cookies: HashMap<[u8; 32], KnownCookie>,
    /// Goes up whenever someone is forgotten.
    forgotten: u64,
}

#[derive(Debug)]
struct KnownCookie {
    actor: Actor,
    sign_in: SignIn,
    generation: u64,
    seen: Instant,
}

impl App {
    /// Who a cookie stands for, and their sign-in: none when it is not one of ours, has ended, or stands for someone
    /// who is switched off.
    ///
    /// # Errors
    /// When the store can't be asked.
    pub async fn authenticate_cookie(&self, cookie: &Secret) -> Result<Option<(Actor, SignIn)>, AppError> {
        let (hash, now) = (cookie.hash(), self.now());
        if let Some(known) = self.known_cookie(&hash, now) {
            return Ok(Some(known));
        }
        let before = (self.entrance.cookies.lock().forgotten, self.snapshots.moves());
        let Some((mut sign_in, principal)) = self.store().sign_in_by_hash(&hash).await? else {
            return Ok(None);
        };
        if !lasts_at(&sign_in, now) || !self.still_holds(&sign_in).await? {
            return Ok(None);
        }
        let credential = Credential::SignIn(sign_in.id);
        let Some(actor) = self.actor_from(principal, credential, Scopes::default(), None).await? else {
            return Ok(None);
        };
        if sign_in.last_seen_at.plus(TOUCH_EVERY) <= now {
            let end = end_of(sign_in.created_at, now);
            match self.store().touch_sign_in(sign_in.id, now, end).await {
                Ok(()) => (sign_in.last_seen_at, sign_in.expires_at) = (now, end),
                // It is still a sign-in; the next request tries again.
                Err(cause) => tracing::warn!(error = %cause, "the use of a sign-in could not be noted"),
            }
        }
        self.remember_cookie(hash, &actor, &sign_in, before);
        Ok(Some((actor, sign_in)))
    }

    /// Ends the sign-in a cookie stands for. One that is over already is no error.
    ///
    /// # Errors
    /// When the store can't be written.
    pub async fn end_cookie(&self, cookie: &Secret) -> Result<(), AppError> {
        let hash = cookie.hash();
        let found = self.store().sign_in_by_hash(&hash).await?;
        if let Some((sign_in, _)) = found {
            let which = EndSignIns::One(sign_in.id);
            self.store().end_sign_ins(&sign_in.tenant, &sign_in.principal, which).await?;
        }
        self.entrance.cookies.forget(|known| known.hash == hash);
        Ok(())
    }

    /// The caller's own sign-ins that have not ended, newest first.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn own_sign_ins(&self, actor: &Actor) -> Result<Vec<SignIn>, AppError> {
        let now = self.now();
        let mut all = self.store().sign_ins(&actor.tenant, &actor.principal).await?;
        all.retain(|sign_in| lasts_at(sign_in, now));
        Ok(all)
    }

    /// Ends one of the caller's own sign-ins.
    ///
    /// # Errors
    /// "Not found" for one that is not there or is someone else's.
    pub async fn end_own_sign_in(&self, actor: &Actor, id: SignInId) -> Result<(), AppError> {
        if !self.own_sign_ins(actor).await?.iter().any(|sign_in| sign_in.id == id) {
            return Err(AppError::NotFound { what: "sign-in" });
        }
        self.end_all_sign_ins(&actor.tenant, &actor.principal, EndSignIns::One(id)).await
    }

    /// Ends sign-ins of a person, and forgets them here at once.
    pub(crate) async fn end_all_sign_ins(
        &self,
        tenant: &TenantId,
        user: &PrincipalId,
        which: EndSignIns,
    ) -> Result<(), AppError> {
        self.store().end_sign_ins(tenant, user, which).await?;
        self.entrance.cookies.forget(|known| {
            (&known.tenant, &known.principal) == (tenant, user) || known.home() == (tenant, user)
        });
        Ok(())
    }

    fn known_cookie(&self, hash: &[u8; 32], now: Timestamp) -> Option<(Actor, SignIn)> {
        let known = self.entrance.cookies.lock();
        let cookie = known.cookies.get(hash)?;
        let generation = self.snapshots.get(&cookie.actor.tenant)?.tenant.generation;
        let valid = cookie.generation == generation
            && cookie.seen.elapsed() < FRESH
            && lasts_at(&cookie.sign_in, now);
        valid.then(|| (cookie.actor.clone(), cookie.sign_in.clone()))
    }

    fn remember_cookie(&self, hash: [u8; 32], actor: &Actor, sign_in: &SignIn, before: (u64, u64)) {
        let Some(snapshot) = self.snapshots.get(&actor.tenant) else { return };
        let mut known = self.entrance.cookies.lock();
        // Invariant: what was read before a change is not remembered as if it were read after it.
        if (known.forgotten, self.snapshots.moves()) != before {
            return;
        }
        if known.cookies.len() >= MOST {
            known.cookies.clear();
        }
        let cookie = KnownCookie {
            actor: actor.clone(),
            sign_in: sign_in.clone(),
            generation: snapshot.tenant.generation,
            seen: Instant::now(),
        };
        known.cookies.insert(hash, cookie);
    }
}

impl KnownCookies {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, which: impl Fn(&SignIn) -> bool) {
        let mut known = self.lock();
        known.forgotten += 1;
        known.cookies.retain(|_, cookie| !which(&cookie.sign_in));
    }
}

fn lasts_at(sign_in: &SignIn, now: Timestamp) -> bool {
    now < sign_in.expires_at && now < sign_in.created_at.plus(LONGEST)
}
