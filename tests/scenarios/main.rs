//! Scenarios: whole servers and whole clients in one world. The list of modules is the test plan.

#[cfg(test)]
mod account;
#[cfg(test)]
mod builds;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod clock;
#[cfg(test)]
mod content;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod interpolation;
#[cfg(test)]
mod isolation;
#[cfg(test)]
mod join;
#[cfg(test)]
mod joining;
#[cfg(test)]
mod leaving;
#[cfg(test)]
mod log;
#[cfg(test)]
mod paths;
#[cfg(test)]
mod prediction;
#[cfg(test)]
mod raw;
#[cfg(test)]
mod roster;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod starving;
