//! The product: the real binary as a server and as a command, exit code, stdout and stderr in one snapshot.

mod audit;
mod doctor;
mod gate;
mod help;
mod invocation;
mod session;
mod shown;
mod tool;
