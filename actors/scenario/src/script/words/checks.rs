//! Words that check something.

use rhai::{Dynamic, FnPtr, NativeCallContext};

use super::Words;
use super::time::in_time;
use crate::script::checks::{Check, Kind};
use crate::script::error::Said;
use crate::script::value::micros;

pub(super) fn register(words: &mut Words<'_>) {
    words.group("checks");
    let stage = words.stage.clone();
    words.word(
        "expect(\"name\", condition)",
        "The condition holds now.",
        move |cx: NativeCallContext<'_>, name: &str, holds: bool| -> Said<()> {
            stage.0.checks.borrow_mut().reach(cx.call_position());
            let mut world = stage.world()?;
            world.expect(&placed(name, &cx), holds);
            Ok(())
        },
    );
    let stage = words.stage.clone();
    words.word(
        "expect_within(seconds, \"name\", || condition)",
        "The condition holds at some moment within this time from now.",
        move |cx: NativeCallContext<'_>, span: Dynamic, name: &str, holds: FnPtr| -> Said<()> {
            let by = stage.0.now.get() + micros("expect_within", &span)?;
            in_time(&stage, "expect_within", by)?;
            let (name, place, kind) = (placed(name, &cx), cx.call_position(), Kind::By(by));
            stage.0.checks.borrow_mut().open(Check { name, kind, holds, place })
        },
    );
    let stage = words.stage.clone();
    words.word(
        "eventually(\"name\", || condition)",
        "The condition holds at some moment before the end.",
        move |cx: NativeCallContext<'_>, name: &str, holds: FnPtr| -> Said<()> {
            let kind = Kind::By(stage.plan()?.span);
            let (name, place) = (placed(name, &cx), cx.call_position());
            stage.0.checks.borrow_mut().open(Check { name, kind, holds, place })
        },
    );
    let stage = words.stage.clone();
    words.word(
        "never(\"name\", || condition)",
        "The condition holds at no moment from now on.",
        move |cx: NativeCallContext<'_>, name: &str, holds: FnPtr| -> Said<()> {
            stage.plan()?;
            let (name, place) = (placed(name, &cx), cx.call_position());
            let kind = Kind::Never;
            stage.0.checks.borrow_mut().open(Check { name, kind, holds, place })
        },
    );
}

/// A check's name with its line, so that whoever reads of it finds it.
fn placed(name: &str, cx: &NativeCallContext<'_>) -> String {
    match cx.call_position().line() {
        Some(line) => format!("{name} (line {line})"),
        None => name.to_owned(),
    }
}
