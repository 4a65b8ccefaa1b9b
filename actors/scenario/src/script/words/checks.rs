//! Words that check something.

use rhai::{Dynamic, FnPtr};

use super::Words;
use super::time::in_time;
use crate::script::checks::{Check, Kind};
use crate::script::error::Said;
use crate::script::stage::Stage;
use crate::script::value::micros;

pub(super) fn register(words: &mut Words) {
    words.group(
        "checks",
        "expect_within(3, \"ada plays\", || ada.playing);\n\
         never(\"two pawns of one player\", || main.pawns > 1);\n\
         at(5, || expect(\"ada is here\", ada.playing));",
    );
    let stage = words.stage.clone();
    words.word(
        "expect(\"name\", condition)",
        "The condition holds now.",
        move |name: &str, holds: bool| -> Said<()> {
            let place = stage.0.place.get();
            stage.0.checks.borrow_mut().reach("expect", place)?;
            let found = stage.0.reads.borrow_mut().take();
            let mut world = stage.world()?;
            if !holds {
                world
                    .fail_at(format!("expected: {name}"), Some(stage.0.script.place(place, found)));
            }
            Ok(())
        },
    );
    let stage = words.stage.clone();
    words.word(
        "expect_within(seconds, \"name\", || condition)",
        "The condition holds at some moment within this time from now. Where a callback asks for \
         it and the scenario ends before that time, it is not judged.",
        move |span: Dynamic, name: &str, holds: FnPtr| -> Said<()> {
            let by = stage.0.now.get() + micros("expect_within", &span)?;
            in_time(&stage, "expect_within", by)?;
            open(&stage, "expect_within", name, Kind::By(by), holds)
        },
    );
    let stage = words.stage.clone();
    words.word(
        "eventually(\"name\", || condition)",
        "The condition holds at some moment before the end.",
        move |name: &str, holds: FnPtr| -> Said<()> {
            let kind = Kind::By(stage.plan()?.span);
            open(&stage, "eventually", name, kind, holds)
        },
    );
    let stage = words.stage.clone();
    words.word(
        "never(\"name\", || condition)",
        "The condition holds at no moment from now on.",
        move |name: &str, holds: FnPtr| -> Said<()> {
            stage.plan()?;
            open(&stage, "never", name, Kind::Never, holds)
        },
    );
}

fn open(stage: &Stage, word: &str, name: &str, kind: Kind, holds: FnPtr) -> Said<()> {
    let (name, place) = (name.to_owned(), stage.0.place.get());
    stage.0.checks.borrow_mut().open(word, Check { name, kind, holds, place })
}
