//! A tenant's word on a tool that code defines: a `system_override` row. The default tenant's rows apply to all.

use serde::{Deserialize, Serialize};

use crate::profile::ProfileApproval;

/// A tenant's word on a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSetting {
    /// On or off; left out, the tool's own default holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether every call asks a person. Can only tighten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ProfileApproval>,
}

/// Why a tool is on or off in a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enablement {
    /// On: the contract offers it unless someone switches it off.
    OnByDefault,
    /// On: the tenant switched it on.
    OnByTenant,
    /// On: switched on for all tenants.
    OnForAll,
    /// Off: it is offered only where someone switches it on.
    OffByDefault,
    /// Off: the tenant switched it off.
    OffByTenant,
    /// Off: switched off for all tenants; no tenant can switch it on.
    OffForAll,
    /// Off: the contract names other tenants.
    NotForTenant,
}

impl Enablement {
    /// The one resolver: contract, tenant row and default-tenant row to on or off. Off for all is final, a tenant's own
    /// word comes before on for all, and no row overrules the contract's list of tenants.
    #[must_use]
    pub const fn resolve(
        offered: bool,
        opt_in: bool,
        tenant_row: Option<bool>,
        default_row: Option<bool>,
    ) -> Self {
        match (offered, default_row, tenant_row) {
            (false, _, _) => Self::NotForTenant,
            (true, Some(false), _) => Self::OffForAll,
            (true, _, Some(false)) => Self::OffByTenant,
            (true, _, Some(true)) => Self::OnByTenant,
            (true, Some(true), None) => Self::OnForAll,
            (true, None, None) if opt_in => Self::OffByDefault,
            (true, None, None) => Self::OnByDefault,
        }
    }

    /// Whether the tool is there.
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self, Self::OnByDefault | Self::OnByTenant | Self::OnForAll)
    }

    /// The same in a sentence.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::OnByDefault => "the tool is on unless someone switches it off",
            Self::OnByTenant => "the tenant switched it on",
            Self::OnForAll => "it is switched on for all tenants",
            Self::OffByDefault => "the tool is off until someone switches it on",
            Self::OffByTenant => "the tenant switched it off",
            Self::OffForAll => "it is switched off for all tenants",
            Self::NotForTenant => "the tool is for other tenants",
        }
    }

    /// The text form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OnByDefault => "on_by_default",
            Self::OnByTenant => "on_by_tenant",
            Self::OnForAll => "on_for_all",
            Self::OffByDefault => "off_by_default",
            Self::OffByTenant => "off_by_tenant",
            Self::OffForAll => "off_for_all",
            Self::NotForTenant => "not_for_tenant",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_rows_has_one_answer() {
        use Enablement::*;
        let check = |opt_in, tenant, default, expected: Enablement| {
            assert_eq!(Enablement::resolve(true, opt_in, tenant, default), expected);
            assert_eq!(Enablement::resolve(false, opt_in, tenant, default), NotForTenant);
        };
        for opt_in in [false, true] {
            check(opt_in, None, None, if opt_in { OffByDefault } else { OnByDefault });
            check(opt_in, Some(true), None, OnByTenant);
            check(opt_in, Some(false), None, OffByTenant);
            check(opt_in, None, Some(true), OnForAll);
            check(opt_in, Some(true), Some(true), OnByTenant);
            check(opt_in, Some(false), Some(true), OffByTenant);
            for tenant in [None, Some(true), Some(false)] {
                check(opt_in, tenant, Some(false), OffForAll);
            }
        }
    }
}
