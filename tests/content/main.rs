//! Content: pallets and the store on disks that fail, run full and read wrongly.

#[cfg(test)]
mod faults;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod stage;
