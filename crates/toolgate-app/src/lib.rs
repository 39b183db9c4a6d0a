//! toolgate-app
