//! toolgate-tools
