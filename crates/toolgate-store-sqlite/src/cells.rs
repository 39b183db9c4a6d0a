//! The rows of a call as bytes: what the inbox keeps, and what is bound to the statements that write them.

use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::database::Fault;
use crate::row::damaged;

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const TEXT: u8 = 2;
const BLOB: u8 = 3;

/// Writes values one after the other.
#[derive(Debug, Default)]
pub(crate) struct CellWriter(Vec<u8>);

impl CellWriter {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn count(&mut self, count: u8) -> &mut Self {
        self.0.push(count);
        self
    }

    pub(crate) fn integer(&mut self, value: impl Into<i64>) -> &mut Self {
        self.0.push(INTEGER);
        self.0.extend(value.into().to_le_bytes());
        self
    }

    pub(crate) fn integer_opt(&mut self, value: Option<i64>) -> &mut Self {
        match value {
            Some(value) => self.integer(value),
            None => self.null(),
        }
    }

    pub(crate) fn text(&mut self, value: &str) -> &mut Self {
        self.long(TEXT, value.as_bytes())
    }

    pub(crate) fn text_opt(&mut self, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(value),
            None => self.null(),
        }
    }

    /// Anything by its text, without a string in between.
    pub(crate) fn display(&mut self, value: &impl std::fmt::Display) -> &mut Self {
        use std::io::Write;
        let start = self.0.len();
        self.0.extend([TEXT, 0, 0, 0, 0]);
        let _ = write!(self.0, "{value}");
        let length = u32::try_from(self.0.len() - start - 5).unwrap_or(u32::MAX);
        self.0[start + 1..start + 5].copy_from_slice(&length.to_le_bytes());
        self
    }

    pub(crate) fn display_opt(&mut self, value: Option<&impl std::fmt::Display>) -> &mut Self {
        match value {
            Some(value) => self.display(value),
            None => self.null(),
        }
    }

    pub(crate) fn blob(&mut self, value: &[u8]) -> &mut Self {
        self.long(BLOB, value)
    }

    fn null(&mut self) -> &mut Self {
        self.0.push(NULL);
        self
    }

    // Invariant: no field of a call is anywhere near 4 GiB; the doors see to that.
    fn long(&mut self, kind: u8, bytes: &[u8]) -> &mut Self {
        self.0.push(kind);
        self.0.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Reads them back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellReader<'a>(&'a [u8]);

impl<'a> CellReader<'a> {
    pub(crate) const fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn count(&mut self) -> Result<u8, Fault> {
        Ok(self.take(1)?[0])
    }

    /// The next value, which is bytes.
    pub(crate) fn blob(&mut self) -> Result<&'a [u8], Fault> {
        match self.next()? {
            ValueRef::Blob(bytes) => Ok(bytes),
            _ => Err(unreadable()),
        }
    }

    /// Binds the next values to the places of a statement and runs it.
    pub(crate) fn insert(&mut self, statement: &mut Statement<'_>) -> Result<usize, Fault> {
        for place in 1..=statement.parameter_count() {
            statement.raw_bind_parameter(place, ToSqlOutput::Borrowed(self.next()?))?;
        }
        Ok(statement.raw_execute()?)
    }

    fn next(&mut self) -> Result<ValueRef<'a>, Fault> {
        match self.take(1)?[0] {
            NULL => Ok(ValueRef::Null),
            INTEGER => {
                let bytes = self.take(8)?.try_into().map_err(|_| unreadable())?;
                Ok(ValueRef::Integer(i64::from_le_bytes(bytes)))
            }
            TEXT => self.long().map(ValueRef::Text),
            BLOB => self.long().map(ValueRef::Blob),
            _ => Err(unreadable()),
        }
    }

    fn long(&mut self) -> Result<&'a [u8], Fault> {
        let length = u32::from_le_bytes(self.take(4)?.try_into().map_err(|_| unreadable())?);
        self.take(length as usize)
    }

    fn take(&mut self, bytes: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(unreadable)?;
        self.0 = rest;
        Ok(taken)
    }
}

fn unreadable() -> Fault {
    damaged("call in the inbox")
}
