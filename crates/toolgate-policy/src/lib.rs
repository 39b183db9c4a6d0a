//! toolgate-policy
