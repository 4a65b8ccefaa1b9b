//! Planted bugs: each is turned on in turn, a hunt over seeds finds it, and shrinking leaves little
//! of the storm that it was found in. With none turned on the same hunt finds nothing. Beside it, a
//! panic in each kind of actor, at each of its first messages.

#[cfg(test)]
mod hunt;
#[cfg(test)]
mod sweep;
