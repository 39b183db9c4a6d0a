//! Keys: made, shown once, rotated and revoked. A key never reaches further than who makes it.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use toolgate_core::actor::Credential;
use toolgate_core::administration::Write;
use toolgate_core::document::Area;
use toolgate_core::id::{ApiKeyId, PrincipalId, PrincipalKind};
use toolgate_core::principal::{ApiKey, Principal};
use toolgate_core::scope::Scopes;
use toolgate_core::{Actor, Timestamp};

use crate::authenticate::{ApiKeySecret, hash_key};
use crate::bounds::{self, MAX_LIST};
use crate::powers::is_like_others;
use crate::{App, AppError};

/// The furthest end a key may have.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);
/// The longest a rotated key may go on working.
const LONGEST_OVERLAP: Duration = Duration::from_secs(7 * 24 * 3600);
/// The same for agents and services that rotate their own: long enough to pass the new one on.
const LONGEST_OWN_OVERLAP: Duration = Duration::from_secs(3600);
/// The most working keys of one principal.
const MOST: usize = 200;

/// A key to make.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Who it speaks for; none is the caller.
    pub principal: Option<PrincipalId>,
    /// What people call it.
    pub label: String,
    /// What it may do of what its principal may do.
    pub scopes: Scopes,
    /// When it stops working.
    pub ends: KeyEnd,
    /// Whether its principal works for the caller when it uses this key.
    pub on_behalf: bool,
}

/// When a key stops working.
#[derive(Debug, Clone, Copy)]
pub enum KeyEnd {
    /// Not by itself.
    Never,
    /// After a while.
    After(Duration),
    /// At this moment.
    At(Timestamp),
}

impl App {
    /// Keys after `after` and where the next part starts: those of one principal, or all for those who manage keys.
    /// Everyone else gets their own, and of another principal those that work for them.
    ///
    /// # Errors
    /// "Forbidden" for a credential that is narrowed and not for keys.
    pub async fn list_keys(
        &self,
        actor: &Actor,
        principal: Option<PrincipalId>,
        after: Option<ApiKeyId>,
        limit: u32,
    ) -> Result<(Vec<ApiKey>, Option<ApiKeyId>), AppError> {
        handles_keys(actor)?;
        let manager = self.require(actor, Area::Keys).is_ok();
        let whose =
            if manager { principal } else { Some(principal.unwrap_or_else(|| actor.principal.clone())) };
        let limit = limit as usize;
        let (mut shown, mut after) = (Vec::new(), after);
        loop {
            let part = self.store().keys(&actor.tenant, whose.as_ref(), after, 500).await?;
            let Some(last) = part.last() else { break };
            after = Some(last.id);
            shown.extend(part.into_iter().filter(|key| manager || is_own(actor, key)));
            if shown.len() > limit {
                break;
            }
        }
        let more = shown.len() > limit;
        shown.truncate(limit);
        let next = shown.last().filter(|_| more).map(|key| key.id);
        Ok((shown, next))
    }

    /// One key: one's own, or any for those who manage keys.
    ///
    /// # Errors
    /// "Forbidden" for everyone else, whether there is one or not.
    pub async fn read_key(&self, actor: &Actor, id: ApiKeyId) -> Result<ApiKey, AppError> {
        handles_keys(actor)?;
        let found = self.store().key(&actor.tenant, id).await?;
        if !found.as_ref().is_some_and(|key| is_own(actor, key)) {
            self.require(actor, Area::Keys)?;
        }
        found.ok_or(AppError::NotFound { what: "key" })
    }

    /// Makes a key. The secret is in the answer and nowhere else.
    ///
    /// # Errors
    /// "Forbidden" when the key would reach further than its maker.
    pub async fn create_key(&self, actor: &Actor, new: NewKey) -> Result<(ApiKey, ApiKeySecret), AppError> {
        handles_keys(actor)?;
        if actor.subject.is_some() {
            // Else an agent could shed the person it works for, and with them their limits.
            return Err(AppError::forbidden("a key that works for someone else makes no keys")
                .with_hint("the person it works for can make one"));
        }
        bounds::at_most(new.scopes.as_slice(), MAX_LIST, "scopes")?;
        let label = bounds::label(&new.label)?;
        let now = self.now();
        let expires_at = end(new.ends, now)?;
        let principal = new.principal.unwrap_or_else(|| actor.principal.clone());
        let holder = if new.on_behalf {
            self.servant(actor, &principal, &new.scopes).await?
        } else {
            self.key_holder(actor, &principal, &new.scopes).await?
        };
        within_own(actor, &new.scopes)?;
        self.ends_with_its_maker(actor, expires_at).await?;
        self.room_for_key(actor, &holder.id, None).await?;
        let subject = new.on_behalf.then(|| actor.principal.clone());
        let (key, secret) = made(actor, holder.id, subject, label, new.scopes, expires_at, now)?;
        let summary = json!({
            "action": "key.created", "key": key.id, "principal": key.principal, "subject": key.subject,
            "label": key.label, "scopes": key.scopes, "expires_at_micros": key.expires_at,
        });
        self.change(actor, summary, vec![Write::PutKey(Box::new(key.clone()))]).await?;
        Ok((key, secret))
    }

    /// Ends a key at once, and with it every key that came from it by rotation: whoever had the one may have the
    /// others. What has ended already stays as it is. Whoever manages keys may end any: a key that got out must not
    /// wait for someone mightier.
    ///
    /// # Errors
    /// As [`App::read_key`].
    pub async fn revoke_key(&self, actor: &Actor, id: ApiKeyId) -> Result<ApiKey, AppError> {
        let key = self.read_key(actor, id).await?;
        let heirs = self.heirs(&key).await?;
        if key.revoked_at.is_some() && heirs.iter().all(|heir| heir.revoked_at.is_some()) {
            return Ok(key);
        }
        let heirs: Vec<ApiKeyId> = heirs.iter().map(|heir| heir.id).collect();
        let summary =
            json!({ "action": "key.revoked", "key": id, "principal": key.principal, "and_from_it": heirs });
        // The store looks for the line itself: one that is rotated at this moment does not get away.
        self.change(actor, summary, vec![Write::EndKeyLine { id }]).await?;
        self.read_key(actor, id).await
    }

    /// Makes a new key with the principal, subject, scopes and end of an old one, which stops working after `overlap`.
    /// Each key is rotated once, so that one key never becomes many.
    ///
    /// # Errors
    /// "Forbidden" when the caller could not have made the old one; a conflict when the old one works no more or was
    /// rotated before.
    pub async fn rotate_key(
        &self,
        actor: &Actor,
        id: ApiKeyId,
        overlap: Duration,
    ) -> Result<(ApiKey, ApiKeySecret), AppError> {
        let old = self.read_key(actor, id).await?;
        if overlap > LONGEST_OVERLAP {
            return Err(AppError::invalid("`overlap_seconds` may be at most 604800, which is 7 days"));
        }
        let now = self.now();
        if !old.works_at(now) {
            return Err(AppError::Conflict { message: "the key works no more; make a new one".to_owned() });
        }
        // Invariant: nobody but the person behind it, or it itself, gets a key that works for that person.
        let for_me = old.subject.as_ref() == Some(&actor.principal);
        let its_own = old.principal == actor.principal && old.subject.as_ref() == actor.subject_id();
        if its_own && actor.principal.kind() != PrincipalKind::User && overlap > LONGEST_OWN_OVERLAP {
            return Err(AppError::invalid(
                "`overlap_seconds` may be at most 3600 for an agent or a service that rotates its own key",
            )
            .with_hint("whoever manages keys can rotate it with a longer overlap"));
        }
        if !for_me && !its_own {
            if old.subject.is_some() || actor.subject.is_some() {
                return Err(AppError::forbidden(
                    "a key that works for someone else can't be rotated by others",
                )
                .with_hint("revoke it; the person it works for can make a new one"));
            }
            self.key_holder(actor, &old.principal, &old.scopes).await?;
        }
        within_own(actor, &old.scopes)?;
        self.ends_with_its_maker(actor, old.expires_at).await?;
        self.room_for_key(actor, &old.principal, overlap.is_zero().then_some(id)).await?;
        let (mut key, secret) =
            made(actor, old.principal, old.subject, old.label, old.scopes, old.expires_at, now)?;
        key.replaces = Some(id);
        let summary = json!({
            "action": "key.rotated", "key": id, "new_key": key.id, "principal": key.principal,
            "overlap_seconds": overlap.as_secs(),
        });
        let writes = vec![Write::PutKey(Box::new(key.clone())), Write::EndKey { id, at: now.plus(overlap) }];
        self.change(actor, summary, writes).await.map_err(|cause| match cause {
            AppError::Conflict { .. } => AppError::Conflict {
                message: "the key was rotated before; rotate the one that took its place".to_owned(),
            },
            other => other,
        })?;
        Ok((key, secret))
    }

    /// The keys that came from this one by rotation, nearest first.
    async fn heirs(&self, key: &ApiKey) -> Result<Vec<ApiKey>, AppError> {
        let (mut by_old, mut after) = (HashMap::new(), None);
        loop {
            // A rotated key speaks for the same principal as the one before it.
            let part = self.store().keys(&key.tenant, Some(&key.principal), after, 500).await?;
            let Some(last) = part.last() else { break };
            after = Some(last.id);
            by_old.extend(part.into_iter().filter_map(|key| Some((key.replaces?, key))));
        }
        let mut heirs = Vec::new();
        let mut old = key.id;
        while let Some(heir) = by_old.remove(&old) {
            old = heir.id;
            heirs.push(heir);
        }
        Ok(heirs)
    }

    /// Who a key is for, when the caller may make one for them.
    async fn key_holder(
        &self,
        actor: &Actor,
        principal: &PrincipalId,
        scopes: &Scopes,
    ) -> Result<Principal, AppError> {
        // People look after their own keys. A machine that could make itself more of them would outlive every
        // revocation.
        let own = *principal == actor.principal && principal.kind() == PrincipalKind::User;
        if !own {
            self.require(actor, Area::Keys)?;
        }
        let found = self.store().principal(&actor.tenant, principal).await?;
        let holder = found.ok_or(AppError::NotFound { what: "principal" })?;
        if !own {
            let snapshot = self.as_it_stands(actor).await?;
            self.holds_as_much(actor, &snapshot, &holder, scopes)?;
            is_like_others(actor, &snapshot, &holder.id)?;
        }
        enabled(holder)
    }

    /// The agent or service that is to work for the caller, when it may. Both have agreed then: whoever manages it by
    /// `acts_for`, and the person by asking.
    async fn servant(
        &self,
        actor: &Actor,
        principal: &PrincipalId,
        scopes: &Scopes,
    ) -> Result<Principal, AppError> {
        if actor.principal.kind() != PrincipalKind::User {
            return Err(AppError::forbidden("only a person can have someone work for them")
                .with_hint("leave `on_behalf` out, or make the key as a user"));
        }
        if principal.kind() == PrincipalKind::User {
            return Err(AppError::invalid("a user works for nobody else")
                .with_hint("name an agent or a service in `principal`"));
        }
        let found = self.store().principal(&actor.tenant, principal).await?;
        // One that is not there answers like one that works for others: what there is, is not for everyone to know.
        let works_for_me =
            |servant: &Principal| servant.acts_for.iter().any(|who| who.matches(actor.principal.as_str()));
        let servant = found.filter(works_for_me).ok_or_else(|| {
            AppError::forbidden(format!("`{principal}` does not work for `{}`", actor.principal))
                .with_hint("whoever manages principals can name you in its `acts_for`")
        })?;
        let snapshot = self.as_it_stands(actor).await?;
        // Calls need the leave of both; managing asks only the one who holds the key.
        let rules = scopes.narrow_rules(&snapshot.rules(&servant));
        self.manages_as_much(actor, &servant, &rules, scopes)?;
        enabled(servant)
    }

    /// A key that expires makes none that outlives it.
    async fn ends_with_its_maker(
        &self,
        actor: &Actor,
        expires_at: Option<Timestamp>,
    ) -> Result<(), AppError> {
        let Credential::Key(id) = actor.credential else { return Ok(()) };
        let maker = self.store().key(&actor.tenant, id).await?;
        let Some(end) = maker.and_then(|maker| maker.expires_at) else { return Ok(()) };
        if expires_at.is_some_and(|at| at <= end) {
            return Ok(());
        }
        Err(AppError::forbidden("the key would outlive the one that makes it")
            .with_hint("name an earlier end, or make it with a key that has none"))
    }

    async fn room_for_key(
        &self,
        actor: &Actor,
        principal: &PrincipalId,
        ending: Option<ApiKeyId>,
    ) -> Result<(), AppError> {
        let now = self.now();
        let (mut working, mut after) = (0, None);
        loop {
            let part = self.store().keys(&actor.tenant, Some(principal), after, 500).await?;
            let Some(last) = part.last() else { return Ok(()) };
            after = Some(last.id);
            working += part.iter().filter(|key| key.works_at(now) && Some(key.id) != ending).count();
            if working >= MOST {
                return Err(AppError::Conflict {
                    message: format!(
                        "`{principal}` has {MOST} working keys, the most there may be; revoke some"
                    ),
                });
            }
        }
    }
}

/// A credential that is narrowed deals with keys only when its scopes say so.
fn handles_keys(actor: &Actor) -> Result<(), AppError> {
    if actor.scopes.may_manage(Area::Keys) {
        return Ok(());
    }
    Err(AppError::Forbidden {
        message: "this key's scopes do not let it deal with keys".to_owned(),
        rule: Some("key scopes".to_owned()),
        hint: Some("use a key with the scope `manage:keys`, or one without scopes".to_owned()),
    })
}

/// Whether this key is the caller's own: it speaks for the caller, or works for them.
fn is_own(actor: &Actor, key: &ApiKey) -> bool {
    let speaks = key.principal == actor.principal
        && (actor.subject.is_none() || key.subject.as_ref() == actor.subject_id());
    speaks || key.subject.as_ref() == Some(&actor.principal)
}

fn within_own(actor: &Actor, scopes: &Scopes) -> Result<(), AppError> {
    if scopes.within(&actor.scopes) {
        return Ok(());
    }
    let own: Vec<String> = actor.scopes.as_slice().iter().map(ToString::to_string).collect();
    Err(AppError::Forbidden {
        message: "the key would have wider scopes than the one that makes it".to_owned(),
        rule: Some("key scopes".to_owned()),
        hint: Some(format!("stay within `{}`", own.join("`, `"))),
    })
}

fn enabled(holder: Principal) -> Result<Principal, AppError> {
    if holder.disabled {
        return Err(AppError::Conflict { message: format!("`{}` is switched off", holder.id) });
    }
    Ok(holder)
}

fn end(ends: KeyEnd, now: Timestamp) -> Result<Option<Timestamp>, AppError> {
    let at = match ends {
        KeyEnd::Never => return Ok(None),
        KeyEnd::After(while_) => now.plus(while_),
        KeyEnd::At(at) => at,
    };
    if at <= now {
        return Err(AppError::invalid("the key would have expired already")
            .with_hint("name a moment to come, or leave the end out"));
    }
    if at > now.plus(LONGEST) {
        return Err(AppError::invalid("a key may expire at most 366 days ahead")
            .with_hint("choose an earlier end, or leave it out for a key without one"));
    }
    Ok(Some(at))
}

fn made(
    actor: &Actor,
    principal: PrincipalId,
    subject: Option<PrincipalId>,
    label: String,
    scopes: Scopes,
    expires_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(ApiKey, ApiKeySecret), AppError> {
    let secret = ApiKeySecret::generate()
        .map_err(|_| AppError::Store(toolgate_core::port::store::StoreError::unavailable("no randomness")))?;
    let key = ApiKey {
        id: ApiKeyId::generate(),
        tenant: actor.tenant.clone(),
        principal,
        subject,
        hash: hash_key(secret.reveal()),
        label,
        scopes,
        created_by: actor.principal.clone(),
        created_at: now,
        expires_at,
        revoked_at: None,
        last_used_at: None,
        replaces: None,
    };
    Ok((key, secret))
}
