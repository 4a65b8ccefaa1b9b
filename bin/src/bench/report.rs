//! Report: the figures of one bench, as a table and as JSON.

use std::fmt;

use serde_json::{Value, json};

/// What one bench came to.
#[derive(Debug)]
pub(super) struct Report {
    bench: &'static str,
    figures: Vec<Figure>,
}

/// One figure, and what it is held against.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    control: Option<(&'static str, f64)>,
    budget: Option<Budget>,
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Budget {
    /// No more than this, in the figure's unit.
    AtMost(f64),
    /// No less than this, in the figure's unit.
    AtLeast(f64),
    /// No more than so many times its control.
    TimesControl(f64),
}

impl Report {
    /// A report without figures.
    pub(super) const fn new(bench: &'static str) -> Self {
        Self { bench, figures: Vec::new() }
    }

    /// Adds a figure.
    pub(super) fn push(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// One JSON object; what a figure has not is null.
    pub(super) fn json(&self) -> Value {
        let figures: Vec<Value> = self.figures.iter().map(Figure::json).collect();
        json!({ "bench": self.bench, "figures": figures })
    }
}

impl Figure {
    /// A figure on its own.
    pub(super) fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { name: name.into(), value, unit, control: None, budget: None }
    }

    /// Beside this control, measured in the same run.
    pub(super) fn beside(self, name: &'static str, value: f64) -> Self {
        Self { control: Some((name, value)), ..self }
    }

    /// With a budget.
    pub(super) fn within(self, budget: Budget) -> Self {
        Self { budget: Some(budget), ..self }
    }

    fn ratio(&self) -> Option<f64> {
        self.control.map(|(_, control)| self.value / control).filter(|ratio| ratio.is_finite())
    }

    fn met(&self) -> Option<bool> {
        match self.budget? {
            Budget::AtMost(most) => Some(self.value <= most),
            Budget::AtLeast(least) => Some(self.value >= least),
            Budget::TimesControl(times) => {
                self.control.map(|(_, control)| self.value <= times * control)
            }
        }
    }

    fn told_budget(&self) -> Option<String> {
        Some(match self.budget? {
            Budget::AtMost(most) => format!("<= {most} {}", self.unit),
            Budget::AtLeast(least) => format!(">= {least} {}", self.unit),
            Budget::TimesControl(times) => format!("<= {times} x control"),
        })
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "control": self.control.map(|(_, value)| value),
            "controlName": self.control.map(|(name, _)| name),
            "ratio": self.ratio(),
            "budget": self.told_budget(),
            "met": self.met(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.bench)?;
        self.figures.iter().try_for_each(|figure| write!(f, "\n  {figure}"))
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<44} {:>10.2} {:<10}", self.name, self.value, self.unit)?;
        let control = self.control.map(|(name, value)| format!("{name} {value:.2}"));
        let ratio = self.ratio().map(|ratio| format!("x {ratio:.2}"));
        write!(f, " {:<32} {:<8}", control.unwrap_or_default(), ratio.unwrap_or_default())?;
        if let (Some(budget), Some(met)) = (self.told_budget(), self.met()) {
            write!(f, " {budget:<18} {}", if met { "met" } else { "NOT MET" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_met_up_to_its_edge_and_not_beyond() {
        let met =
            |value, budget| Figure::new("x", value, "us").beside("y", 2.0).within(budget).met();
        assert_eq!(met(1.5, Budget::AtMost(1.5)), Some(true));
        assert_eq!(met(1.6, Budget::AtMost(1.5)), Some(false));
        assert_eq!(met(97.0, Budget::AtLeast(97.0)), Some(true));
        assert_eq!(met(96.9, Budget::AtLeast(97.0)), Some(false));
        assert_eq!(met(2.2, Budget::TimesControl(1.1)), Some(true));
        assert_eq!(met(2.3, Budget::TimesControl(1.1)), Some(false));
        assert_eq!(Figure::new("x", 1.0, "us").met(), None);
    }

    #[test]
    fn json_has_every_field_and_null_where_there_is_none() {
        let mut report = Report::new("wire");
        let figure = Figure::new("write", 11.0, "ns").beside("by hand", 10.0);
        report.push(figure.within(Budget::TimesControl(1.5)));
        report.push(Figure::new("alone", 3.0, "us"));
        let json = report.json();
        assert_eq!(json["bench"], "wire");
        assert_eq!(json["figures"][0]["ratio"], 1.1);
        assert_eq!(json["figures"][0]["controlName"], "by hand");
        assert_eq!(json["figures"][0]["budget"], "<= 1.5 x control");
        assert_eq!(json["figures"][0]["met"], true);
        for absent in ["control", "controlName", "ratio", "budget", "met"] {
            assert!(json["figures"][1][absent].is_null(), "{absent}");
        }
    }
}
