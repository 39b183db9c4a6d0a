//! toolgate-api
