//! A queue of jobs that are run by worker threads, with retries.
//!
//! Written as a sample: it has most kinds of declarations.

#![allow(dead_code)]

use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Display, Formatter};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often a job is tried.
pub const MAX_ATTEMPTS: u32 = 5;

static GREETING: &str = "ready";

/// The identifier of a job.
pub type JobId = u64;

/// What a job may end with.
///
/// More of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Done(String),
    Failed { reason: String, attempts: u32 },
}

/// A queue of jobs, first in, first out.
#[derive(Default)]
pub struct Queue<T: Send + 'static> {
    jobs: Arc<Mutex<VecDeque<T>>>,
    names: BTreeMap<JobId, String>,
}

/// Something that can be run.
pub trait Runnable {
    type Output;

    /// Runs it once.
    fn run(&mut self) -> Result<Self::Output, RunError>;

    /// Runs it until it succeeds.
    fn run_until_done(&mut self, pause: Duration) -> Self::Output {
        loop {
            match self.run() {
                Ok(output) => return output,
                Err(_) => std::thread::sleep(pause),
            }
        }
    }
}

#[derive(Debug)]
pub struct RunError(String);

impl<T: Send + 'static> Queue<T> {
    /// Makes an empty queue.
    pub fn new() -> Self {
        Self { jobs: Arc::new(Mutex::new(VecDeque::new())), names: BTreeMap::new() }
    }

    /// Adds a job at the end, e.g. `queue.push(1, job)`. Never blocks.
    #[inline]
    #[must_use = "the place tells who comes first"]
    pub fn push(&mut self, id: JobId, job: T) -> usize {
        let mut jobs = self.jobs.lock().unwrap();
        jobs.push_back(job);
        self.names.insert(id, format!("job {id}"));
        jobs.len()
    }

    // Takes the first job
    // out of the queue.
    pub(crate) async fn take(&self) -> Option<T> {
        fn inner(count: usize) -> bool {
            count > 0
        }
        let mut jobs = self.jobs.lock().ok()?;
        if inner(jobs.len()) { jobs.pop_front() } else { None }
    }

    unsafe fn clear_names(&mut self) {
        self.names.clear();
    }
}

impl Display for RunError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "could not run: {}", self.0)
    }
}

impl<'a, T> From<&'a Queue<T>> for Vec<JobId>
where
    T: Send + 'static,
{
    fn from(queue: &'a Queue<T>) -> Self {
        queue.names.keys().copied().collect::<Vec<_>>()
    }
}

/**
 * Makes a queue of the jobs that are given.
 */
#[macro_export]
macro_rules! queue {
    ($($job:expr),*) => {{
        let mut found = Queue::new();
        $(found.push(0, $job);)*
        found
    }};
}

pub mod backoff {
    //! Pauses between attempts.
    use super::*;

    /// The pause before an attempt, doubled each time.
    pub fn pause(attempt: u32) -> Duration {
        let factor = 2u64.saturating_pow(attempt.min(super::MAX_ATTEMPTS));
        Duration::from_millis(factor * 100)
    }
}

/// Either of two numbers in the same memory.
pub union Number {
    whole: u32,
    real: f32,
}

extern "C" {
    fn abs(input: i32) -> i32;
}

pub fn describe(outcome: &Outcome) -> String {
    let shorten = |text: &str| text.chars().take(20).collect::<String>();
    match outcome {
        Outcome::Done(text) => shorten(text),
        Outcome::Failed { reason, attempts } => format!("{} after {attempts}", shorten(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_was_pushed() {
        let mut queue = Queue::new();
        assert_eq!(queue.push(1, "a"), 1);
    }
}
