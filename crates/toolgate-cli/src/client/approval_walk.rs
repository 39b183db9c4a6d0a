//! Going through what waits, one by one, at a terminal.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::process::ExitCode;

use toolgate_api::{ApproveRequest, EditRequest, InboxView, InvocationView, RejectRequest};

use super::answer::WaitArgs;
use super::approval::{self, Which};
use super::ask::{read_line, someone_is_there};
use super::decide::{self, Seen};
use super::http::Gate;
use super::{Global, Stop, approval_show, remember, show};
use crate::print;

pub(super) const EXAMPLES: &str = "\
Each call is shown with its preview. Type a letter, then Enter:
  a  approve it                r  approve it, and the same from now on (you are asked for how long)
  d  reject it, and say why    e  change its input in $EDITOR, and look again
  ?  ask back, and go on       s  skip it for now
  q  stop here

Examples:
  toolgate approval decide
  toolgate approval decide --box mine";

const KEYS: &str = "[a]pprove  [r]emember  [e]dit  [d] reject  [?] ask back  [s]kip  [q]uit: ";
/// How long to stay with a call that was let run before going on to the next.
const STAY: WaitArgs = WaitArgs { wait: Some(30.0) };

/// What to do after a call was looked at.
enum Then {
    Next,
    LookAgain,
    Quit,
}

pub(super) async fn run(which: Which, global: &Global) -> Result<ExitCode, Stop> {
    if global.json || !someone_is_there() || !std::io::stdout().is_terminal() {
        return Err(Stop::usage("going through what waits needs a person at a terminal")
            .hint("in a script use `toolgate approval list`, `approval show` and `approval approve`"));
    }
    let gate = Gate::of(global)?;
    let mut seen = HashSet::new();
    loop {
        let inbox: InboxView = approval::inbox(&gate, which).await?.read()?;
        let fresh: Vec<InvocationView> =
            inbox.items.into_iter().filter(|call| seen.insert(call.id.clone())).collect();
        if fresh.is_empty() {
            global.talk(if seen.is_empty() { "nothing waits for you" } else { "nothing more waits for you" });
            return Ok(ExitCode::SUCCESS);
        }
        // The longest waiting comes first.
        for call in fresh.into_iter().rev() {
            if matches!(visit(&gate, &call.id, global).await?, Then::Quit) {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

/// Stays with one call until something was said of it. What goes wrong with one is no reason to leave the others.
async fn visit(gate: &Gate, id: &str, global: &Global) -> Result<Then, Stop> {
    loop {
        let call = match decide::read_call(gate, id).await {
            // It is gone from this person's sight: someone else was faster.
            Err(stop) if stop.code() == "not_found" => return Ok(Then::Next),
            other => other?,
        };
        if call.status == "in_doubt" {
            let id = show::plain(id);
            global.talk(format_args!(
                "{id} is in doubt: say what became of it with `toolgate invocation settle`"
            ));
            return Ok(Then::Next);
        }
        if call.approval != "pending" || call.status != "pending" {
            return Ok(Then::Next);
        }
        print::data(format_args!("\n{}\n", approval_show::text(&call)));
        let then = answer(gate, &call, global).await.unwrap_or_else(|stop| {
            stop.report(false);
            Then::LookAgain
        });
        match then {
            Then::LookAgain => {}
            then => return Ok(then),
        }
    }
}

/// One word on what is shown.
async fn answer(gate: &Gate, call: &InvocationView, global: &Global) -> Result<Then, Stop> {
    let digest = Seen::default().digest(call);
    let Some(key) = read_line(KEYS) else { return Ok(Then::Quit) };
    match key.trim().to_ascii_lowercase().as_str() {
        key @ ("a" | "r") => {
            let remember = match key {
                "r" => match remember::asked()? {
                    Some(remember) => Some(remember),
                    None => return Ok(Then::LookAgain),
                },
                _ => None,
            };
            let confirm = decide::destroys(call).then(|| decide::type_name(&call.tool_id)).transpose()?;
            let body = ApproveRequest { digest, confirm, remember, ..ApproveRequest::default() };
            decide::say_yes(gate, call, &body, STAY, global).await?;
            Ok(Then::Next)
        }
        "e" => {
            let input = approval::in_editor(call)?;
            approval::send_edit(gate, &call.id, EditRequest { input, digest }).await?;
            Ok(Then::LookAgain)
        }
        "d" => {
            let Some(reason) = said("Why? Whoever made the call will read it: ") else {
                return Ok(Then::LookAgain);
            };
            let answer = decide::say_no(gate, call, RejectRequest { reason, digest }).await?;
            decide::show_decided(&answer, global)?;
            Ok(Then::Next)
        }
        "?" => {
            let Some(text) = said("What do you want to know? ") else { return Ok(Then::LookAgain) };
            approval::ask(gate, &call.id, text).await?;
            global.talk("asked; it goes on waiting");
            Ok(Then::Next)
        }
        "s" => Ok(Then::Next),
        "q" => Ok(Then::Quit),
        _ => Err(Stop::failed("that is none of the letters").hint("type a, r, e, d, ?, s or q, then Enter")),
    }
}

fn said(question: &str) -> Option<String> {
    read_line(question).map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}
