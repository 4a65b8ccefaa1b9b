//! Real processes of the real program: servers and clients on the loopback, and the demo.

#[cfg(test)]
mod content;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod display;
#[cfg(test)]
mod fetch;
#[cfg(test)]
mod inspect;
#[cfg(test)]
mod museum;
#[cfg(test)]
mod pipes;
#[cfg(test)]
mod process;
#[cfg(test)]
mod scenario;
#[cfg(test)]
mod session;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod starts;
#[cfg(test)]
mod window;
#[cfg(test)]
mod wire;
