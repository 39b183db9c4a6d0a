//! Regular expressions as JavaScript has them.
//!
//! A client in JavaScript compiles the output schemas of all tools it lists, and one expression of another language
//! keeps it from seeing any. So an expression is shown there only if it is sure to be understood: this knows the
//! grammar of expressions with the flag `u`, and says no where it does not know.

use std::iter::Peekable;
use std::str::Chars;

/// Whether the expression is sure to be one of JavaScript's.
pub(crate) fn is_ecma(pattern: &str) -> bool {
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
                '<' => match self.rest.next()? {
                    '=' | '!' => term = Term::Single,
                    first if first.is_ascii_alphabetic() => {
                        while self.rest.next_if(char::is_ascii_alphanumeric).is_some() {}
                        self.rest.next_if_eq(&'>')?;
                    }
                    _ => return None,
                },
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
        let mut before: Option<char> = None;
        loop {
            match self.rest.next()? {
                ']' => return Some(Term::Repeatable),
                '\\' => {
                    let escaped = *self.rest.peek()?;
                    self.escape(true)?;
                    let is_class = matches!(escaped, 'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'p' | 'P');
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
            'p' | 'P' => {
                self.rest.next_if_eq(&'{')?;
                let name: String = std::iter::from_fn(|| self.rest.next_if(|c| *c != '}')).take(8).collect();
                self.rest.next_if_eq(&'}')?;
                const KNOWN: [&str; 12] = ["L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "Nd", "P", "S", "Z"];
                KNOWN.contains(&name.as_str()).then_some(())?;
            }
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
    use super::is_ecma;

    #[test]
    fn javascript_is_told_from_other_languages() {
        for known in [
            "",
            "^[a-z0-9_-]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$",
            r"(?<=a)b|(?<year>\d+)x{2,}?",
            r"^[\w.-]+\/[^\]]*$",
            r"^[\w-]+$",
            r"\p{L}\u00e9\x41",
            "a|b|",
        ] {
            assert!(is_ecma(known), "{known}");
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
            r"\p{Foo}",
            "(?>a)",
            r"\-",
            "a++",
        ] {
            assert!(!is_ecma(unknown), "{unknown}");
        }
        assert!(!is_ecma(&"(".repeat(100_000)));
    }
}
