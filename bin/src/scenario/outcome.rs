//! What one run came to, as people, programs and reports are told.

use dh_scenario::{Failure as Missed, Ran, Script, ScriptError};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::version::VERSION;

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) scenario: String,
    pub(super) file: String,
    pub(super) seed: u64,
    pub(super) hash: u64,
    pub(super) runtime: &'static str,
    pub(super) transport: Option<&'static str>,
    pub(super) sim_seconds: f64,
    pub(super) cpu_seconds: f64,
    pub(super) packet_hash: u64,
    pub(super) event_hash: u64,
    pub(super) world_hash: u64,
    pub(super) failures: Vec<String>,
    pub(super) last_lines: Vec<String>,
    pub(super) deeds: Vec<(f64, &'static str, String)>,
    pub(super) mistake: Option<ScriptError>,
    /// The file of deeds that were left out.
    pub(super) without: Option<String>,
}

impl Outcome {
    pub(super) fn of(script: &Script, seed: u64, ran: &Ran) -> Self {
        let report = &ran.report;
        let mut failures: Vec<String> = report.failures.iter().map(told).collect();
        failures.extend(ran.mistake.iter().map(ScriptError::to_string));
        let deeds = ran.deeds.iter();
        let deeds = deeds.map(|it| (it.at.as_secs_f64(), it.kind.name(), it.key.clone()));
        Self {
            scenario: script.name(),
            file: script.file().to_owned(),
            seed,
            hash: script.hash(),
            runtime: "sim",
            transport: None,
            sim_seconds: report.simulated.as_secs_f64(),
            cpu_seconds: report.cpu.as_secs_f64(),
            packet_hash: report.wire.bytes,
            event_hash: report.hashes.events,
            world_hash: report.hashes.worlds,
            failures,
            last_lines: report.last_lines.clone(),
            deeds: deeds.collect(),
            mistake: ran.mistake.clone(),
            without: None,
        }
    }

    pub(super) fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// The line that names exactly what runs.
    pub(super) fn head(script: &Script, seed: u64) -> String {
        format!("seed {seed} - scenario {:016x} - build {}", script.hash(), build())
    }

    /// The one command that gives this run again.
    pub(super) fn again(&self) -> String {
        let mut words =
            vec![format!("dh scenario run {} --seed {}", quoted(&self.file), self.seed)];
        if self.runtime != "sim" {
            words.push(format!("--runtime {}", self.runtime));
        }
        words.extend(self.transport.map(|transport| format!("--transport {transport}")));
        words.extend(self.without.iter().map(|file| format!("--without {}", quoted(file))));
        words.join(" ")
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        let hash = |hash: u64| format!("{hash:016x}");
        let again = if self.passed() { None } else { Some(self.again()) };
        json!({
            "scenario": self.scenario,
            "file": self.file,
            "hash": hash(self.hash),
            "seed": self.seed,
            "build": build(),
            "passed": self.passed(),
            "simSeconds": self.sim_seconds,
            "cpuSeconds": self.cpu_seconds,
            "packetHash": hash(self.packet_hash),
            "eventHash": hash(self.event_hash),
            "worldHash": hash(self.world_hash),
            "failures": self.failures,
            "again": again,
        })
    }
}

/// What this program is, for whoever compares two runs.
pub(super) fn build() -> String {
    let (commit, lockfile) = (env!("DH_COMMIT"), env!("DH_LOCKFILE"));
    format!("{VERSION}-{commit}-{}", &lockfile[..8])
}

/// A script that was refused, as a failure.
pub(super) fn refused(mistake: &ScriptError) -> Failure {
    let exit = if mistake.missing { Exit::Missing } else { Exit::Damaged };
    Failure::new(exit, mistake).remedy("dh scenario docs lists every word and what it takes")
}

fn told(missed: &Missed) -> String {
    format!("at {:.3} s {}", missed.at.as_secs_f64(), missed.what)
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "/._-+".contains(it);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
