//! What the database's errors mean.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;
use toolgate_core::port::store::StoreError;

/// Why a statement did not go through.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The database said no, or the connection broke.
    Driver(tokio_postgres::Error),
    /// No connection could be had.
    Pool(PoolError),
    /// No answer came in time.
    Slow,
}

impl Fault {
    /// Whether another writer took this place in a session's chain.
    pub(crate) fn place_is_taken(&self) -> bool {
        self.refusal().is_some_and(|db| db.constraint() == Some("events_place"))
    }

    /// Whether the same statement may well go through when tried again.
    pub(crate) fn is_passing(&self) -> bool {
        self.refusal().is_some_and(|db| {
            matches!(*db.code(), SqlState::T_R_DEADLOCK_DETECTED | SqlState::T_R_SERIALIZATION_FAILURE)
        })
    }

    /// Whether the statement itself is at fault, so that another one could still go through.
    pub(crate) fn is_of_the_statement(&self) -> bool {
        self.is_passing() || self.refusal().is_some_and(|db| refuses(db.code()))
    }

    fn refusal(&self) -> Option<&tokio_postgres::error::DbError> {
        match self {
            Self::Driver(error) => error.as_db_error(),
            Self::Pool(_) | Self::Slow => None,
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        // Only the message: a detail would repeat the row.
        match fault.refusal() {
            Some(db) if refuses(db.code()) => Self::Refused(db.message().to_owned()),
            _ => Self::unavailable(fault),
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Driver(_) => "the database could not do it",
            Self::Pool(_) => "there is no connection to the database",
            Self::Slow => "the database did not answer in time",
        })
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Driver(error) => Some(error),
            Self::Pool(error) => Some(error),
            Self::Slow => None,
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

/// Whether a code speaks of the data written rather than of the database's health: data exceptions (a NUL in a text),
/// constraints and triggers, rows touched twice, values too large for an index.
fn refuses(code: &SqlState) -> bool {
    matches!(&code.code()[..2], "21" | "22" | "23" | "54" | "P0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_refused_and_trouble_is_not() {
        for code in
            [SqlState::CHECK_VIOLATION, SqlState::CHARACTER_NOT_IN_REPERTOIRE, SqlState::RAISE_EXCEPTION]
        {
            assert!(refuses(&code), "{code:?}");
        }
        for code in [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::QUERY_CANCELED,
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::DISK_FULL,
            SqlState::UNDEFINED_TABLE,
        ] {
            assert!(!refuses(&code), "{code:?}");
        }
    }
}
