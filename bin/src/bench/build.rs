//! Building pallets, beside reading the same files and hashing them as a pallet is hashed.
//!
//! CPU time is that of all threads: a build compiles models side by side.

mod samples;

use std::fs;
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};

use dh_host::bench::cpu_of_this_process;
use dh_pallet::xxh128;

use super::measure::median;
use super::progress;
use super::report::{Figure, Report};
use crate::exit::{Exit, Failure};

const ROUNDS: usize = 3;
const CONTROL: &str = "reading, hashing";

/// Builds the core pallet's sources and a folder of random meshes and pictures.
pub(super) fn run() -> Result<Report, Failure> {
    progress("building: a few seconds");
    let home = tempfile::tempdir().map_err(|error| failed(&error))?;
    let mut report = Report::new("build");
    for (name, write) in samples::KINDS {
        let folder = home.path().join(name);
        let files = write(&folder).map_err(|error| failed(&error))?;
        compare(name, &folder, &files, &mut report)?;
    }
    Ok(report)
}

fn compare(
    name: &str,
    folder: &Path,
    files: &[PathBuf],
    report: &mut Report,
) -> Result<(), Failure> {
    let out = folder.with_extension("pallet");
    let (mut building, mut reading) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let start = cpu_of_this_process();
        dh_compile::build(folder, &out, &|_| {}).map_err(|error| failed(&error))?;
        building.push((cpu_of_this_process() - start).as_secs_f64());
        let start = cpu_of_this_process();
        bytes = read_and_hash(files).map_err(|error| failed(&error))?;
        reading.push((cpu_of_this_process() - start).as_secs_f64());
    }
    let megabytes = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6;
    let (build, read) = (median(building), median(reading));
    let what = format!("{name}, {megabytes:.1} MB: CPU of a build");
    report.push(Figure::new(what, build * 1e3, "ms").beside(CONTROL, read * 1e3));
    let figure = Figure::new(format!("{name}: sources a CPU second"), megabytes / build, "MB/s");
    report.push(figure.beside(CONTROL, megabytes / read));
    Ok(())
}

/// Both hashes of every file; how many bytes they have.
fn read_and_hash(files: &[PathBuf]) -> io::Result<usize> {
    let mut fingerprint = xxh128();
    let mut total = 0;
    for file in files {
        let bytes = fs::read(file)?;
        black_box(blake3::hash(&bytes));
        fingerprint.update(&bytes);
        total += bytes.len();
    }
    black_box(fingerprint.finish());
    Ok(total)
}

fn failed(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Io, format!("cannot measure building: {error}"))
        .remedy("free some space in the folder of temporary files")
}
