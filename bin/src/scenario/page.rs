//! Reports of many runs: a page for people, and XML for whoever collects tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::outcome::{Line, Outcome, build, unreached};

/// Lines that are shown of one failing run, the last before it ended.
const LINES_SHOWN: usize = 600;

const STYLE: &str = "
:root { color-scheme: light dark; --ok: #2e8b57; --bad: #c0392b; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.seeds { display: flex; flex-wrap: wrap; gap: 2px; }
.seeds i { width: 9px; height: 9px; background: var(--ok); border-radius: 2px; }
.seeds i.bad { background: var(--bad); }
pre { overflow: auto; background: #8881; padding: .8rem; border-radius: 6px; }
.bad { color: var(--bad); }
";

/// One page of everything that ran.
pub(super) fn html(outcomes: &[Outcome]) -> String {
    let failed = outcomes.iter().filter(|it| !it.passed()).count();
    let mut page = String::new();
    let _ = write!(
        page,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <title>Driftholm scenarios</title><style>{STYLE}</style>\
         <h1>{} passed, <span class=\"{}\">{failed} failed</span></h1>\
         <p>build {}</p><table><tr><th>scenario<th>seeds<th class=\"n\">simulated s\
         <th class=\"n\">core s</tr>",
        outcomes.len() - failed,
        if failed == 0 { "" } else { "bad" },
        escaped(&build()),
    );
    let mut by_name: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    outcomes.iter().for_each(|it| by_name.entry(&it.scenario).or_default().push(it));
    for (name, runs) in &by_name {
        let dots = runs.iter().fold(String::new(), |mut dots, run| {
            let class = if run.passed() { "" } else { " class=\"bad\"" };
            let _ = write!(dots, "<i{class} title=\"seed {}\"></i>", run.seed);
            dots
        });
        let (sim, cpu) = runs
            .iter()
            .fold((0.0, 0.0), |(sim, cpu), run| (sim + run.sim_seconds, cpu + run.cpu_seconds));
        let _ = write!(
            page,
            "<tr><td>{}<td><div class=\"seeds\">{dots}</div><td class=\"n\">{sim:.0}\
             <td class=\"n\">{cpu:.2}</tr>",
            escaped(name),
        );
    }
    page.push_str("</table>");
    let places = unreached(outcomes);
    if !places.is_empty() {
        page.push_str("<h2 class=\"bad\">Checks that no run reached</h2><ul>");
        for place in places {
            let _ = write!(page, "<li>{}", escaped(&place.to_string()));
        }
        page.push_str("</ul>");
    }
    outcomes.iter().filter(|it| !it.passed()).for_each(|it| failure(&mut page, it));
    page.push_str("</html>\n");
    page
}

fn failure(page: &mut String, outcome: &Outcome) {
    let (name, again) = (escaped(&outcome.scenario), escaped(&outcome.again()));
    let _ = write!(page, "<h2 class=\"bad\">{name} - seed {}</h2><ul>", outcome.seed);
    for it in &outcome.failures {
        let _ = write!(page, "<li>{}", escaped(it));
    }
    let _ =
        write!(page, "</ul><p>Again:<pre>{again}</pre><p>What was done, and what happened:<pre>");
    let shown = last_lines(outcome);
    let before = outcome.course.len() - shown.len();
    if before > 0 {
        let _ = writeln!(page, "after {before} more");
    }
    for line in shown {
        let class = if line.is_fault { " class=\"bad\"" } else { "" };
        let _ = writeln!(page, "<span{class}>{}</span>", escaped(&line.shown()));
    }
    page.push_str("</pre>");
}

/// Everything that ran, one test case a run.
pub(super) fn junit(outcomes: &[Outcome]) -> String {
    let failed = outcomes.iter().filter(|it| !it.passed()).count();
    let seconds: f64 = outcomes.iter().map(|it| it.cpu_seconds).sum();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        xml,
        "<testsuite name=\"scenarios\" tests=\"{}\" failures=\"{failed}\" time=\"{seconds:.3}\">",
        outcomes.len(),
    );
    for it in outcomes {
        let (name, seed, time) = (escaped(&it.scenario), it.seed, it.cpu_seconds);
        let _ = writeln!(
            xml,
            "  <testcase classname=\"{name}\" name=\"seed {seed}\" time=\"{time:.3}\">\n    \
             <properties><property name=\"scenario\" value=\"{:016x}\"/><property name=\"build\" \
             value=\"{}\"/><property name=\"checks\" value=\"{}\"/></properties>",
            it.hash,
            escaped(&build()),
            it.checks,
        );
        if it.passed() {
            unreached_of(&mut xml, it);
            xml.push_str("  </testcase>\n");
            continue;
        }
        let first = it.failures.first().map(|it| escaped(it)).unwrap_or_default();
        let _ = write!(xml, "    <failure message=\"{first}\">");
        for it in &it.failures {
            let _ = writeln!(xml, "{}", escaped(it));
        }
        let _ = writeln!(xml, "again: {}</failure>\n    <system-out>", escaped(&it.again()));
        for line in last_lines(it) {
            let _ = writeln!(xml, "{}", escaped(&line.shown()));
        }
        xml.push_str("    </system-out>\n");
        unreached_of(&mut xml, it);
        xml.push_str("  </testcase>\n");
    }
    xml.push_str("</testsuite>\n");
    xml
}

/// What one run did not check, as its errors.
fn unreached_of(xml: &mut String, outcome: &Outcome) {
    if outcome.unreached.is_empty() {
        return;
    }
    xml.push_str("    <system-err>");
    for place in &outcome.unreached {
        let _ = writeln!(xml, "not reached: {}", escaped(&place.to_string()));
    }
    xml.push_str("    </system-err>\n");
}

/// The lines that are shown of one run, the last before it ended.
fn last_lines(outcome: &Outcome) -> &[Line] {
    &outcome.course[outcome.course.len().saturating_sub(LINES_SHOWN)..]
}

/// Text as XML and HTML take it; what no document may hold is shown as a replacement.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(it),
            it if it.is_control() || matches!(it, '\u{fffe}' | '\u{ffff}') => {
                safe.push('\u{fffd}');
            }
            it => safe.push(it),
        }
    }
    safe
}
