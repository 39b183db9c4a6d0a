//! All tools of the server as a tenant's managers see them: on or off, and by whose word.

use serde::{Deserialize, Serialize};
use toolgate_core::tool_setting::ToolSetting;
use utoipa::ToSchema;

/// A tool and whether it is on.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RegistryToolView {
    /// Its id.
    #[schema(example = "core__get_current_time")]
    pub id: String,
    /// What people call it.
    pub title: String,
    /// Where it stands in the library.
    pub category: String,
    /// `system` when it is off until someone switches it on, `custom` when it is on until someone switches it off.
    #[schema(example = "custom")]
    pub origin: String,
    /// Whether it is on.
    pub enabled: bool,
    /// Why: `on_by_default`, `on_by_tenant`, `on_for_all`, `off_by_default`, `off_by_tenant` or `off_for_all`.
    #[schema(example = "on_by_default")]
    pub enablement: String,
    /// What this tenant says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<ToolSettingView>,
    /// What the default tenant says of it, for all tenants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_setting: Option<ToolSettingView>,
    /// What a call does to state.
    #[schema(example = "read")]
    pub effect: String,
    /// What leaves the house.
    #[schema(example = "none")]
    pub egress: String,
    /// Whether every call waits for a person, by contract or setting.
    pub requires_approval: bool,
}

/// A tenant's word on a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ToolSettingView {
    /// On or off; left out, the tool's own default holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// `always_ask` when every call asks a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

impl From<&ToolSetting> for ToolSettingView {
    fn from(setting: &ToolSetting) -> Self {
        Self { enabled: setting.enabled, approval: setting.approval.map(|_| "always_ask".to_owned()) }
    }
}

/// A page of the registry.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RegistryListView {
    /// The tools, ordered by id.
    pub tools: Vec<RegistryToolView>,
    /// Where the next page starts; none when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The tenant's word on a tool, taking the place of what it said before. At least one field. In the default tenant it
/// holds for all tenants.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutToolSettingRequest {
    /// On or off; left out, the tool's own default holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// `always_ask`, or left out. There is no `auto`: a setting can only tighten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^always_ask$")]
    pub approval: Option<String>,
}
