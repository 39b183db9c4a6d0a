//! Regular expressions that every client's language has.
//!
//! Clients compile the output schemas of the tools they list or call, and one expression of another language keeps some
//! of them from seeing any tool. So an expression is shown there only if it is sure to be understood: this knows what
//! JavaScript with the flag `u` and Python have in common, and says no where it does not know.

use std::iter::Peekable;
use std::str::Chars;

/// Whether the expression is sure to be understood.
pub(crate) fn is_portable(pattern: &str) -> bool {
    let mut reader = Reader { rest: pattern.chars().peekable(), open: 0 };
    reader.alternatives().is_some() && reader.rest.peek().is_none()
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    /// How many groups are open.
    open: usize,
}

/// What a quantifier may follow.
#[derive(PartialEq)]
enum Term {
    Repeatable,
    Single,
}

/// The deepest groups that are read; it takes stack.
const DEEPEST: usize = 64;

impl Reader<'_> {
    /// Reads to the end, or to the end of the group. None where it is not known to be right.
    fn alternatives(&mut self) -> Option<()> {
        while let Some(c) = self.rest.next_if(|c| *c != ')') {
            let term = match c {
                '|' | '^' | '$' => Term::Single,
                '(' => self.group()?,
                '[' => self.class()?,
                '\\' => self.escape(false)?,
                '*' | '+' | '?' | '{' | '}' | ']' => return None,
                _ => Term::Repeatable,
            };
            self.quantifier(&term)?;
        }
        (self.open > 0 || self.rest.peek().is_none()).then_some(())
    }

    fn group(&mut self) -> Option<Term> {
        let mut term = Term::Repeatable;
        if self.rest.next_if_eq(&'?').is_some() {
            match self.rest.next()? {
                ':' => {}
                '=' | '!' => term = Term::Single,
                _ => return None,
            }
        }
        self.open += 1;
        if self.open > DEEPEST {
            return None;
        }
        self.alternatives()?;
        self.open -= 1;
        self.rest.next_if_eq(&')')?;
        Some(term)
    }

    /// What can stand within brackets, without ranges from or to a class such as `\w`.
    fn class(&mut self) -> Option<Term> {
        self.rest.next_if_eq(&'^');
        // Empty in one language, a bracket to the other.
        if self.rest.peek() == Some(&']') {
            return None;
        }
        let mut before: Option<char> = None;
        loop {
            match self.rest.next()? {
                ']' => return Some(Term::Repeatable),
                '\\' => {
                    let escaped = *self.rest.peek()?;
                    self.escape(true)?;
                    let is_class = matches!(escaped, 'd' | 'D' | 's' | 'S' | 'w' | 'W');
                    // A range that ends or begins with an escape is left to those who know its value.
                    if self.rest.peek() == Some(&'-') && is_class {
                        self.rest.next();
                        self.rest.next_if_eq(&']')?;
                        return Some(Term::Repeatable);
                    }
                    before = None;
                }
                '-' => match (before, self.rest.peek().copied()) {
                    (_, Some(']')) => {}
                    (None, _) => before = Some('-'),
                    (Some(low), Some(high)) if high != '\\' && low <= high => {
                        self.rest.next();
                        before = None;
                    }
                    _ => return None,
                },
                c => before = Some(c),
            }
        }
    }

    fn escape(&mut self, in_class: bool) -> Option<Term> {
        let digits = |reader: &mut Self, count: usize| {
            (0..count).try_for_each(|_| reader.rest.next_if(char::is_ascii_hexdigit).map(drop))
        };
        match self.rest.next()? {
            'b' | 'B' if !in_class => return Some(Term::Single),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'f' | 'n' | 'r' | 't' | 'v' => {}
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {}
            'b' | '-' if in_class => {}
            'x' => digits(self, 2)?,
            'u' if self.rest.peek() != Some(&'{') => digits(self, 4)?,
            _ => return None,
        }
        Some(Term::Repeatable)
    }

    fn quantifier(&mut self, term: &Term) -> Option<()> {
        match self.rest.peek() {
            Some('*' | '+' | '?') if *term == Term::Repeatable => {
                self.rest.next();
            }
            Some('{') if *term == Term::Repeatable => {
                self.rest.next();
                let least = self.number()?;
                if self.rest.next_if_eq(&',').is_some() && self.rest.peek() != Some(&'}') {
                    (self.number()? >= least).then_some(())?;
                }
                self.rest.next_if_eq(&'}')?;
            }
            _ => return Some(()),
        }
        self.rest.next_if_eq(&'?');
        Some(())
    }

    fn number(&mut self) -> Option<u32> {
        let digits: String = std::iter::from_fn(|| self.rest.next_if(char::is_ascii_digit)).collect();
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::is_portable;

    #[test]
    fn what_all_have_is_told_from_the_rest() {
        for known in [
            "",
            "^[a-z0-9_-]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$",
            r"(?:a|b)c|(\d+)x{2,}?",
            r"^[\w.-]+\/[^\]]*$",
            r"^[\w-]+$",
            r"\u00e9\x41",
            "a|b|",
        ] {
            assert!(is_portable(known), "{known}");
        }
        for unknown in [
            "[",
            "(",
            ")",
            "a)",
            "*a",
            "a**",
            "(?i)a",
            "(?P<x>a)",
            r"a\Z",
            r"\@",
            r"[\w-.]",
            "[[:alpha:]]x]",
            "a{",
            "}",
            "]",
            "a{2,1}",
            "[z-a]",
            r"(?=a)*",
            r"\",
            r"(a)\1",
            r"\p{L}",
            "(?<=a)b",
            "(?<year>a)",
            "[]",
            "[^]",
            "(?>a)",
            r"\-",
            "a++",
        ] {
            assert!(!is_portable(unknown), "{unknown}");
        }
        assert!(!is_portable(&"(".repeat(100_000)));
    }
}
