//! toolgate-testkit
