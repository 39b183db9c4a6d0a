//! Rate and concurrency on this node.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use toolgate_core::error::{CallError, ErrorCode};
use toolgate_core::id::{PrincipalId, ToolName};
use toolgate_core::port::gate::{Limiter, Permit};
use toolgate_core::{Actor, ToolContract};

type ByPrincipal = DefaultKeyedRateLimiter<PrincipalId>;

/// How often the limiters forget keys that are back at their full quota.
const TIDY_EVERY: u32 = 4096;

/// GCRA rates per principal, in all and per tool, and concurrency per tool.
#[derive(Debug)]
pub struct LocalLimiter {
    clock: DefaultClock,
    all: Option<ByPrincipal>,
    tools: Mutex<HashMap<ToolName, Arc<ToolLimits>>>,
    calls: AtomicU32,
}

#[derive(Debug)]
struct ToolLimits {
    rate: Option<(u32, ByPrincipal)>,
    concurrency: Option<(u32, Arc<AtomicU32>)>,
}

/// One taken place among a tool's concurrent calls.
struct Place(Arc<AtomicU32>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl LocalLimiter {
    /// Lets each principal make so many calls a second over all tools; none means no such limit.
    #[must_use]
    pub fn new(per_second: Option<NonZeroU32>) -> Self {
        Self {
            clock: DefaultClock::default(),
            all: per_second.map(|rate| RateLimiter::keyed(Quota::per_second(rate))),
            tools: Mutex::default(),
            calls: AtomicU32::new(0),
        }
    }

    fn limits_of(&self, tool: &ToolContract) -> Option<Arc<ToolLimits>> {
        let (rate, concurrency) = (tool.limits.rate_per_minute, tool.limits.concurrency);
        if rate.is_none() && concurrency.is_none() {
            return None;
        }
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let known = tools.get(&tool.id).filter(|known| {
            known.rate.as_ref().map(|(rate, _)| *rate) == rate
                && known.concurrency.as_ref().map(|(most, _)| *most) == concurrency
        });
        if let Some(known) = known {
            return Some(Arc::clone(known));
        }
        let fresh = Arc::new(ToolLimits {
            rate: rate.map(|rate| {
                let quota = Quota::per_minute(NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN));
                (rate, RateLimiter::keyed(quota))
            }),
            concurrency: concurrency.map(|most| (most, Arc::default())),
        });
        tools.insert(tool.id.clone(), Arc::clone(&fresh));
        Some(fresh)
    }

    fn check_rate(&self, limiter: &ByPrincipal, actor: &Actor, what: &str) -> Result<(), CallError> {
        limiter.check_key(&actor.principal).map_err(|not_until| {
            let wait = not_until.wait_time_from(self.clock.now());
            let seconds = wait.as_secs_f64().ceil().max(1.0);
            CallError::new(ErrorCode::RateLimited, format!("too many calls {what}"))
                .hint(format!("try again in {seconds} s"))
                .details(serde_json::json!({ "retry_after_seconds": seconds }))
        })
    }
}

impl Limiter for LocalLimiter {
    fn knock(&self, actor: &Actor) -> Result<(), CallError> {
        let Some(all) = &self.all else { return Ok(()) };
        if self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(TIDY_EVERY) {
            all.retain_recent();
        }
        self.check_rate(all, actor, "by this principal")
    }

    fn admit(&self, actor: &Actor, tool: &ToolContract) -> Result<Permit, CallError> {
        let Some(limits) = self.limits_of(tool) else { return Ok(Permit::free()) };
        if let Some((_, rate)) = &limits.rate {
            self.check_rate(rate, actor, "of this tool")?;
        }
        let Some((most, taken)) = &limits.concurrency else { return Ok(Permit::free()) };
        if taken.fetch_add(1, Ordering::AcqRel) >= *most {
            taken.fetch_sub(1, Ordering::AcqRel);
            return Err(CallError::new(
                ErrorCode::BudgetExceeded,
                format!("{most} calls of this tool run already"),
            )
            .hint("try again when one has ended"));
        }
        Ok(Permit::holding(Place(Arc::clone(taken))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolgate_core::AccessRules;
    use toolgate_core::id::TenantId;

    fn tool(limits: serde_json::Value) -> ToolContract {
        serde_json::from_value(json!({
            "id": "core__x", "title": "t", "description": "d", "category": "c", "icon": "i",
            "input_schema": {"type": "object"}, "output_schema": {"type": "object"}, "limits": limits,
            "effect": "read", "redaction": {"allow": ["*"]}, "execution": {"kind": "native", "plugin": "core"}
        }))
        .unwrap()
    }

    fn actor(principal: &str) -> Actor {
        Actor {
            tenant: TenantId::default_tenant(),
            principal: principal.parse().unwrap(),
            subject: None,
            rules: AccessRules::default(),
            key: None,
        }
    }

    #[test]
    fn one_principals_rate_does_not_touch_anothers() {
        let limiter = LocalLimiter::new(None);
        let two_a_minute = tool(json!({"rate_per_minute": 2}));
        assert!(limiter.admit(&actor("user:a"), &two_a_minute).is_ok());
        assert!(limiter.admit(&actor("user:a"), &two_a_minute).is_ok());
        let refused = limiter.admit(&actor("user:a"), &two_a_minute).unwrap_err();
        assert_eq!(refused.code, ErrorCode::RateLimited);
        assert!(refused.details.unwrap()["retry_after_seconds"].as_f64().unwrap() > 1.0);
        assert!(limiter.admit(&actor("user:b"), &two_a_minute).is_ok());
    }

    #[test]
    fn places_come_back_when_calls_end() {
        let limiter = LocalLimiter::new(None);
        let one_at_a_time = tool(json!({"concurrency": 1}));
        let held = limiter.admit(&actor("user:a"), &one_at_a_time).unwrap();
        assert_eq!(
            limiter.admit(&actor("user:b"), &one_at_a_time).unwrap_err().code,
            ErrorCode::BudgetExceeded
        );
        drop(held);
        assert!(limiter.admit(&actor("user:b"), &one_at_a_time).is_ok());
    }

    #[test]
    fn a_principal_has_one_rate_over_all_calls() {
        let limiter = LocalLimiter::new(NonZeroU32::new(1));
        assert!(limiter.knock(&actor("user:a")).is_ok());
        assert_eq!(limiter.knock(&actor("user:a")).unwrap_err().code, ErrorCode::RateLimited);
        assert!(limiter.knock(&actor("user:b")).is_ok());
    }
}
