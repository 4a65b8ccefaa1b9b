//! Scenarios: whole servers and whole clients in one world. The list of modules is the test plan.

mod account;
mod isolation;
mod join;
mod joining;
mod log;
mod prediction;
mod raw;
mod roster;
