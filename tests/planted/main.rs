//! Planted bugs: each is turned on in turn, a hunt over seeds finds it, and shrinking leaves little
//! of the storm that it was found in. With none turned on the same hunt finds nothing.

#[cfg(test)]
mod hunt;
