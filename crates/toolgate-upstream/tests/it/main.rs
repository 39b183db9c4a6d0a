//! The connector and servers it did not choose: ones that lie, flood, hang and die, and ones that people really run.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code")]

mod hostile;
mod http;
mod keys;
mod old_http;
mod peers;
mod plane;
mod process;
mod question;
mod task;
