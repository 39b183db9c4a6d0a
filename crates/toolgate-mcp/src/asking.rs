//! Asking the person at a client of the handshake era on the stream of their request, which may break off in between.

use std::time::Duration;

use serde_json::Value;
use toolgate_core::id::{InvocationId, PrincipalKind};
use toolgate_core::{CallResult, Invocation};

use crate::exchange::Exchange;
use crate::form;
use crate::gate::McpGate;
use crate::jsonrpc::request;
use crate::rpc_error::RpcError;
use crate::seal::Purpose;

/// How long a person may take to answer on the stream of a request.
const PERSON: Duration = Duration::from_secs(300);

/// How a person is asked on a stream.
pub(crate) enum Asking {
    /// With this form.
    With(Value),
    /// They were asked before the stream broke off.
    Asked,
}

impl McpGate {
    /// The form in which the person at this client can answer what a call asks; none where they can't.
    pub(crate) async fn question_form(
        &self,
        x: &Exchange<'_>,
        invocation: &Invocation,
    ) -> Result<Option<Value>, RpcError> {
        let path = self.plane.question_path(x.actor, invocation.id()).await?;
        Ok(question(x, invocation, path.as_deref()))
    }

    /// Asks a client of the handshake era on the stream of its request, and waits for what becomes of the call.
    pub(crate) async fn ask_on_stream(
        &self,
        x: &Exchange<'_>,
        invocation: &Invocation,
        asking: Asking,
    ) -> Result<String, RpcError> {
        let invocation = self.put_on_stream(x, invocation.id(), invocation, asking).await?;
        self.tell_again(x, &invocation.opened.tool, &CallResult::of(&invocation)).await
    }

    /// Asks on the stream of the request that led to `known`, and waits until the question is settled or put off.
    pub(crate) async fn put_on_stream(
        &self,
        x: &Exchange<'_>,
        known: InvocationId,
        invocation: &Invocation,
        asking: Asking,
    ) -> Result<Invocation, RpcError> {
        let call = invocation.id();
        let open = self.note_open(x, known);
        // A person takes longer than a stream may last.
        self.make_known(x, known, None, PERSON).await;
        let (put_off, note) = self.questions.until_put_off(call);
        if let Asking::With(mut form) = asking {
            // Versions before there were several modes do not know the word.
            if let Some(fields) = form.as_object_mut() {
                fields.shift_remove("mode");
            }
            let id = self.state_of(x, String::new(), invocation).seal(&self.sealer, Purpose::Question)?;
            x.out.ask(request(&id, "elicitation/create", &form));
        }
        let followed = tokio::select! {
            followed = self.plane.follow(x.actor, call, PERSON) => Some(followed),
            _ = put_off => None,
            () = x.gone.cancelled() => None,
        };
        drop((note, open));
        Ok(match followed {
            Some(followed) => followed?,
            None => self.plane.read(x.actor, call).await?,
        })
    }
}

/// The form for what a call asks, where this client's person can be shown one.
pub(crate) fn question(x: &Exchange<'_>, invocation: &Invocation, path: Option<&str>) -> Option<Value> {
    let person = x.actor.principal.kind() == PrincipalKind::User;
    path.filter(|_| person && x.client.capabilities.form)
        .and_then(|_| form::question(invocation.input(), None))
}
