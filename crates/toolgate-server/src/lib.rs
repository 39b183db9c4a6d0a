//! toolgate-server
