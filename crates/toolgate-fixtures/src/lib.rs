//! toolgate-fixtures
