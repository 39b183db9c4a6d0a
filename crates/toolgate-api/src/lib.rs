//! What REST promises: bodies end in `Request`, answers in `View`. A rename inside never changes these.

mod approval;
mod assignment;
mod connection;
mod entity;
mod error;
mod event_list;
mod file;
mod input_request;
mod invocation;
mod key;
mod kill;
mod limit;
mod notification;
mod oauth;
mod policy;
mod principal;
mod profile;
mod registry;
mod report;
mod review;
mod role;
mod share;
mod sign_in;
mod tenant;
mod tenant_link;
mod tool;
mod toolset;
mod upstream;
mod usage;

pub use approval::{
    ApprovalRuleListView, ApprovalRuleView, ApproveRequest, EditRequest, GrantListView, GrantView, InboxView,
    PutApprovalRuleRequest, ReassignRequest, RemarkRequest, RememberRequest, RememberWord,
};
pub use assignment::{AssignmentListView, AssignmentView, PutAssignmentRequest};
pub use connection::{ConnectRequest, ConnectView, ConnectionListView, ConnectionView, PutConnectionRequest};
pub use entity::{EntityListView, EntityTypeListView, EntityTypeView, EntityView};
pub use error::{DoorCode, ErrorBody, ErrorView};
pub use event_list::{AuditEventListView, AuditEventView};
pub use file::{FileListView, FileView, InvocationFilesView};
pub use input_request::{AnswerInputRequest, InputRequestView};
pub use invocation::{
    AuditReportView, BrokenRecordView, CallView, CreateSessionRequest, EventView, InvocationListView,
    InvocationView, InvokeRequest, MeView, ReasonRequest, RejectRequest, SearchedView, SessionView,
    SettleRequest, SettlementWord, TimingView, rfc3339,
};
pub use key::{CreateKeyRequest, KeyListView, KeyView, NewKeyView, RotateKeyRequest};
pub use kill::{KillListView, KillView, ThrowKillRequest, ThrownKillView};
pub use limit::{BudgetView, LimitListView, LimitView, PutLimitRequest};
pub use notification::{NotificationListView, NotificationView};
pub use oauth::{
    CreateOauthClientRequest, NewOauthClientView, OauthClientListView, OauthClientView, OauthGrantListView,
    OauthGrantView,
};
pub use policy::{
    ExplainPolicyRequest, ExplainStepView, ExplanationView, PolicyCheckView, PolicyDiffView,
    PolicyProblemView, PolicySchemaView, PolicyTrialView, PolicyVersionListView, PolicyVersionView,
    PolicyView, RollbackPolicyRequest, SavePolicyRequest, TriedCallView, TriedVerdictView, TryPolicyRequest,
    ValidatePolicyRequest,
};
pub use principal::{CreatePrincipalRequest, PrincipalListView, PrincipalView, UpdatePrincipalRequest};
pub use profile::{ProfileListView, ProfileView, PutProfileRequest};
pub use registry::{PutToolSettingRequest, RegistryListView, RegistryToolView, ToolSettingView};
pub use report::{LinksView, ToolResultRequest, ToolResultView};
pub use review::{RemarkView, ReviewView, VoteView};
pub use role::{PutRoleRequest, RoleListView, RoleView};
pub use share::{NewShareView, ShareListView, ShareRequest, ShareView};
pub use sign_in::{
    AcceptRequest, ChangePasswordRequest, IdentityProviderView, InvitationView, SecretText, SignInListView,
    SignInMethodsView, SignInRequest, SignInView, SignedInView,
};
pub use tenant::{CreateTenantRequest, TenantCreatedView, TenantListView, TenantView, UpdateTenantRequest};
pub use tenant_link::{
    AddTenantRequest, OwnTenantListView, OwnTenantView, SwitchTenantRequest, TenantAddedView,
    TenantLinkListView, TenantLinkView,
};
pub use tool::{ToolListView, ToolSummaryView, ToolView};
pub use toolset::{PutToolsetRequest, ToolsetListView, ToolsetView};
pub use upstream::{
    AcceptUpstreamToolRequest, PutUpstreamRequest, RefuseUpstreamToolRequest, TransportView,
    UpstreamHealthView, UpstreamListView, UpstreamRefreshView, UpstreamTestView, UpstreamToolListView,
    UpstreamToolView, UpstreamView,
};
pub use usage::{UsageRowView, UsageView};
