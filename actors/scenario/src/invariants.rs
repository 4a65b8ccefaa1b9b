//! What must hold at every moment of every scenario, without being asked for.

use dh_host::Runtime;

/// Checks each tick; tells each thing that broke once.
#[derive(Debug, Default)]
pub(crate) struct Invariants {
    told: Vec<String>,
}

impl Invariants {
    /// What is broken now and was not told before.
    pub(crate) fn check(&mut self, runtime: &Runtime) -> Vec<String> {
        let mut broken = Vec::new();
        for report in runtime.registry().unbalanced() {
            for lane in [report.port.control, report.port.data] {
                if lane.max < lane.peak {
                    broken.push(format!(
                        "{}: a lane of {} held {} messages",
                        report.path, lane.max, lane.peak
                    ));
                }
            }
            if !report.port.balanced() {
                broken.push(format!("{}: the accounting of its port does not add up", report.path));
            }
        }
        broken.retain(|what| !self.told.contains(what));
        self.told.extend(broken.iter().cloned());
        broken
    }
}
