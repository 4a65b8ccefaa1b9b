//! What one run came to, as people, programs and reports are told.

use std::collections::{BTreeMap, BTreeSet};

use dh_scenario::script::DeedKind;
use dh_scenario::{Conditions, Place, Ran, Script, ScriptError, failure_kind};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output::one_line;
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
    /// The first of them.
    pub(super) first: Option<First>,
    /// Places of the script where something was checked.
    pub(super) checks: usize,
    /// Checks of the script that it did not come to.
    pub(super) unreached: Vec<Place>,
    /// What was done and what happened, in order.
    pub(super) course: Vec<Line>,
    /// What was asked to break it off.
    pub(super) until: Option<f64>,
    pub(super) is_broken_off: bool,
    /// Where its flight record lies.
    pub(super) record: Option<String>,
    /// The journals beside it, which can be replayed.
    pub(super) journals: Vec<String>,
    /// The pallets beside them, which they are replayed with.
    pub(super) pallets: Vec<String>,
    pub(super) mistake: Option<ScriptError>,
    /// The keys of what was left out.
    pub(super) left_out: BTreeSet<String>,
    /// The file of deeds that were left out.
    pub(super) without: Option<String>,
    /// Preferences of the command line, `KEY=VALUE`.
    pub(super) set: Vec<String>,
    /// What the script printed, and when.
    pub(super) prints: Vec<(f64, String)>,
}

/// The failure that a run is told by.
#[derive(Clone, Debug)]
pub(super) struct First {
    /// When it showed.
    pub(super) at: f64,
    pub(super) what: String,
    /// What it has in common with those of other runs.
    pub(super) kind: String,
}

/// One thing that was done, or that happened.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) at: f64,
    /// Whether it was done by the script, and broke something.
    pub(super) is_deed: bool,
    pub(super) is_fault: bool,
    pub(super) text: String,
}

impl Outcome {
    pub(super) fn of(script: &Script, conditions: &Conditions, ran: &Ran) -> Self {
        let Conditions { seed, without, .. } = conditions;
        let report = &ran.report;
        let keys = ran.deeds.iter().map(|deed| &deed.key);
        let left_out = keys.filter(|key| without.contains(*key));
        let first = report.failures.first().map(|it| First {
            at: it.at.as_secs_f64(),
            what: it.what.clone(),
            kind: failure_kind(&it.what, &ran.deeds),
        });
        let mut failures: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
        failures.extend(ran.mistake.iter().map(ScriptError::to_string));
        Self {
            sim_seconds: report.simulated.as_secs_f64(),
            cpu_seconds: report.cpu.as_secs_f64(),
            packet_hash: report.wire.bytes,
            event_hash: report.hashes.events,
            world_hash: report.hashes.worlds,
            failures,
            first,
            checks: ran.checks,
            unreached: ran.unreached.clone(),
            course: course(ran, without),
            is_broken_off: ran.is_broken_off && report.failures.is_empty(),
            mistake: ran.mistake.clone(),
            left_out: left_out.cloned().collect(),
            set: conditions.prefs.clone(),
            prints: ran.prints.iter().map(|it| (it.at.as_secs_f64(), it.text.clone())).collect(),
            ..Self::bare(script, *seed)
        }
    }

    /// A run that never began, because its script is at fault.
    pub(super) fn refused(script: &Script, seed: u64, mistake: ScriptError) -> Self {
        let failures = vec![mistake.to_string()];
        Self { failures, mistake: Some(mistake), ..Self::bare(script, seed) }
    }

    /// Nothing but what is known before a run.
    fn bare(script: &Script, seed: u64) -> Self {
        Self {
            scenario: script.name(),
            file: script.file().to_owned(),
            seed,
            hash: script.hash(),
            runtime: "sim",
            transport: None,
            sim_seconds: 0.0,
            cpu_seconds: 0.0,
            packet_hash: 0,
            event_hash: 0,
            world_hash: 0,
            failures: Vec::new(),
            first: None,
            checks: 0,
            unreached: Vec::new(),
            course: Vec::new(),
            until: None,
            is_broken_off: false,
            record: None,
            journals: Vec::new(),
            pallets: Vec::new(),
            mistake: None,
            left_out: BTreeSet::new(),
            without: None,
            set: Vec::new(),
            prints: Vec::new(),
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
        words.extend(self.until.map(|until| format!("--until {until}")));
        words.extend(self.without.iter().map(|file| format!("--without {}", quoted(file))));
        words.extend(self.set.iter().map(|pair| format!("--set {}", quoted(pair))));
        words.join(" ")
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        let hash = |hash: u64| format!("{hash:016x}");
        let prints = self.prints.iter().map(|(at, text)| json!({ "at": at, "text": text }));
        let prints: Vec<Value> = prints.collect();
        let unreached = self
            .unreached
            .iter()
            .map(|it| json!({ "line": it.line, "column": it.column, "check": it.text }));
        let unreached: Vec<Value> = unreached.collect();
        let again = if self.passed() { None } else { Some(self.again()) };
        json!({
            "scenario": self.scenario,
            "file": self.file,
            "hash": hash(self.hash),
            "seed": self.seed,
            "build": build(),
            "passed": self.passed(),
            "brokenOff": self.is_broken_off,
            "checks": self.checks,
            "unreached": unreached,
            "simSeconds": self.sim_seconds,
            "cpuSeconds": self.cpu_seconds,
            "packetHash": hash(self.packet_hash),
            "eventHash": hash(self.event_hash),
            "worldHash": hash(self.world_hash),
            "failures": self.failures,
            "again": again,
            "prints": prints,
            "record": self.record,
            "journals": self.journals,
            "pallets": self.pallets,
        })
    }
}

/// The checks that no run came to, by file and place. A run that a mistake of the script ended says
/// nothing of them.
pub(super) fn unreached(outcomes: &[Outcome]) -> Vec<&Place> {
    let mut by_file: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for it in outcomes.iter().filter(|it| it.mistake.is_none()) {
        by_file.entry(&it.file).or_default().push(it);
    }
    let of_all = by_file.into_values().flat_map(|runs| {
        let (first, others) =
            runs.split_first().map_or((None, &[][..]), |(it, rest)| (Some(it), rest));
        let is_everywhere =
            move |place: &&Place| others.iter().all(|run| run.unreached.contains(place));
        first.into_iter().flat_map(|run| &run.unreached).filter(is_everywhere).collect::<Vec<_>>()
    });
    of_all.collect()
}

/// The files that came to their ends, and of which no run has a check, reached or not.
pub(super) fn unchecked(outcomes: &[Outcome]) -> BTreeSet<&str> {
    let is_whole = |it: &&Outcome| it.mistake.is_none() && !it.is_broken_off;
    let checks = |it: &&Outcome| 0 < it.checks || !it.unreached.is_empty();
    let checked: BTreeSet<&str> = outcomes.iter().filter(checks).map(|it| &*it.file).collect();
    let whole = outcomes.iter().filter(is_whole).map(|it| &*it.file);
    whole.filter(|file| !checked.contains(file)).collect()
}

/// What this program is, for whoever compares two runs.
pub(super) fn build() -> String {
    let (commit, lockfile) = (env!("DH_COMMIT"), env!("DH_LOCKFILE"));
    format!("{VERSION}-{commit}-{}", &lockfile[..8])
}

/// A script that was refused, as a failure.
pub(super) fn refused(mistake: &ScriptError) -> Failure {
    let exit = if mistake.missing { Exit::Missing } else { Exit::Damaged };
    Failure::new(exit, mistake).remedy(mistake.remedy())
}

/// What the script did and what came of it, by time; without what was left out.
fn course(ran: &Ran, without: &BTreeSet<String>) -> Vec<Line> {
    let done = ran.deeds.iter().filter(|deed| !without.contains(&deed.key));
    let done = done.map(|deed| Line {
        at: deed.at.as_secs_f64(),
        is_deed: true,
        is_fault: deed.kind == DeedKind::Fault,
        text: deed.what.clone(),
    });
    let told = ran.told.iter().map(|it| {
        let gap = if it.text.trim().is_empty() { "" } else { ": " };
        let text = format!("{} {}{gap}{}", it.whose, it.name, it.text.trim());
        Line { at: it.at.as_secs_f64(), is_deed: false, is_fault: false, text }
    });
    let mut lines: Vec<Line> = done.chain(told).collect();
    lines.sort_by(|a, b| a.at.total_cmp(&b.at).then(b.is_deed.cmp(&a.is_deed)));
    lines
}

impl Line {
    /// As a line of a page or of a terminal.
    pub(super) fn shown(&self) -> String {
        let kind = match self {
            Self { is_fault: true, .. } => "fault",
            Self { is_deed: true, .. } => "done",
            _ => "",
        };
        format!("{:>9.3} s  {kind:<5}  {}", self.at, one_line(&self.text))
    }
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "/._-+".contains(it);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
