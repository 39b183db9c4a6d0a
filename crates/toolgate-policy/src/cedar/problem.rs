//! What is wrong with a text of policies, said so that whoever wrote it can mend it.

use std::fmt;

use miette::Diagnostic;

/// The most problems one answer names.
pub(super) const MOST_PROBLEMS: usize = 50;
/// The most characters of one message or hint.
const LONGEST: usize = 500;

/// One thing wrong, or one warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyProblem {
    /// The id of the policy, when it has one.
    pub policy: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What would mend it.
    pub hint: Option<String>,
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
}

/// Everything found wrong, at most 50, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PolicyProblems(pub Vec<PolicyProblem>);

impl fmt::Display for PolicyProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}:{}: ", self.line, self.column)?;
        if let Some(policy) = &self.policy {
            write!(f, "policy `{policy}`: ")?;
        }
        f.write_str(&self.message)
    }
}

impl PolicyProblem {
    /// A problem at a byte of the text.
    pub(super) fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = place(text, offset);
        Self { policy: None, message: show(&message.into()), hint: None, line, column }
    }

    /// What Cedar found, where it found it. `start` is used when Cedar does not say where.
    pub(super) fn of(text: &str, start: usize, found: &dyn Diagnostic) -> Self {
        let label = found.labels().and_then(|mut labels| labels.next());
        let offset = label.as_ref().map_or(start, miette::LabeledSpan::offset);
        let mut message = found.to_string();
        if let Some(label) = label.as_ref().and_then(miette::LabeledSpan::label) {
            message = format!("{message}: {label}");
        }
        let problem = Self::at(text, offset, message);
        match found.help() {
            Some(help) => problem.hint(help.to_string()),
            None => problem,
        }
    }

    pub(super) fn policy(self, id: &str) -> Self {
        Self { policy: Some(show(id)), ..self }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(show(&hint.into())), ..self }
    }
}

impl PolicyProblems {
    /// The first of these in the order of the text, none twice.
    pub(super) fn bounded(mut problems: Vec<PolicyProblem>) -> Self {
        problems.sort_by(|a, b| {
            (a.line, a.column, &a.message, &a.policy).cmp(&(b.line, b.column, &b.message, &b.policy))
        });
        problems.dedup();
        problems.truncate(MOST_PROBLEMS);
        Self(problems)
    }
}

impl From<PolicyProblem> for PolicyProblems {
    fn from(problem: PolicyProblem) -> Self {
        Self(vec![problem])
    }
}

/// One line of bounded length, without characters that would hide or reorder what is around them.
fn show(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .map(|c| if c.is_control() || toolgate_core::text::is_invisible(c) { ' ' } else { c })
        .take(LONGEST + 1)
        .collect();
    if let Some((end, _)) = shown.char_indices().nth(LONGEST) {
        shown.truncate(end);
        // The last character makes room for the mark that something is missing.
        shown.pop();
        shown.push('…');
    }
    shown
}

fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        assert_eq!(place("", 0), (1, 1));
        assert_eq!(place("ä\nbä x", "ä\nbä ".len()), (2, 4));
        assert_eq!(place("ab", 99), (1, 3));
    }

    #[test]
    fn what_is_shown_is_short_and_on_one_line() {
        let problem = PolicyProblem::at("", 0, "ä".repeat(9_000)).hint("a\n\u{202e}b");
        assert_eq!(problem.message.chars().count(), LONGEST);
        assert!(problem.message.ends_with('…'));
        assert_eq!(problem.hint.as_deref(), Some("a  b"));
        assert_eq!(show(&"x".repeat(LONGEST)), "x".repeat(LONGEST));
    }

    #[test]
    fn many_problems_are_cut() {
        let text = "\n".repeat(200);
        let many = (0..200).rev().map(|i| PolicyProblem::at(&text, i, "m")).collect();
        let bounded = PolicyProblems::bounded(many);
        assert_eq!((bounded.0.len(), bounded.0[0].line), (MOST_PROBLEMS, 1));
    }
}
