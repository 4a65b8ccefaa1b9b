//! Scenarios: whole servers and whole clients in one world. The list of modules is the test plan.

mod join;
