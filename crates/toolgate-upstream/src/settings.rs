//! How much patience and room servers get.

use std::sync::Arc;
use std::time::Duration;

use crate::scratch::Scratch;
use crate::warden::Warden;

/// How much patience and room servers get. The defaults suit a gate; tests ask for less.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The largest message read from a server.
    pub largest_message: usize,
    /// How many calls may wait for a place, for each place there is.
    pub queue_factor: u32,
    /// Connection faults in a row after which a server rests.
    pub faults_before_rest: u32,
    /// How long the first rest is; each further one is twice as long.
    pub first_rest: Duration,
    /// The longest rest.
    pub longest_rest: Duration,
    /// How long a connection nobody uses is kept.
    pub idle: Duration,
    /// The most connections on one node; the one used least recently goes first.
    pub most_connections: usize,
    /// The most questions that a server may put to a person in one call.
    pub most_questions: u32,
    /// How long a person has to answer one.
    pub answered_within: Duration,
    /// How long a process may take to end by itself.
    pub farewell: Duration,
    /// The most memory a process may take, where the system can say so.
    pub process_memory: Option<u64>,
    /// The most files a process may hold open.
    pub process_files: u64,
    /// The user and group that processes run as, where the gate runs as root; none means the gate's own.
    pub run_as: Option<(u32, u32)>,
    /// Where processes work; none means a folder each among the machine's temporary ones.
    pub scratch: Option<Arc<Scratch>>,
    /// Who ends processes should the gate be ended without a last word.
    pub warden: Option<Arc<Warden>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            largest_message: 8 * 1024 * 1024,
            queue_factor: 4,
            faults_before_rest: 3,
            first_rest: Duration::from_secs(1),
            longest_rest: Duration::from_secs(60),
            idle: Duration::from_secs(10 * 60),
            most_connections: 500,
            most_questions: 5,
            answered_within: Duration::from_secs(10 * 60),
            farewell: Duration::from_secs(2),
            process_memory: Some(4 * 1024 * 1024 * 1024),
            process_files: 1_024,
            run_as: None,
            scratch: None,
            warden: None,
        }
    }
}
