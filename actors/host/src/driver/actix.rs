//! The `actix` driver: a shell on an arbiter. Messages never enter the mailbox; only a unit `Wake`
//! does, and at most one between two turns.

use actix::prelude::{
    ActorContext, ActorFutureExt, AsyncContext, Context, Handler, Message, SpawnHandle,
};
use actix_rt::ArbiterHandle;
use dh_machine::Micros;

use crate::actor::Actor;
use crate::shell::{Life, Shell, TURN_MESSAGES, Turn};

/// Something waits in the port.
struct Wake;

impl Message for Wake {
    type Result = ();
}

struct Host<A: Actor> {
    // Boxed, so that it may move whatever the machine is made of.
    shell: Box<Shell<A>>,
    /// The timer that is set, and for when.
    timer: Option<(Micros, SpawnHandle)>,
}

pub(super) fn start<A: Actor>(arbiter: &ArbiterHandle, life: Life<A>) {
    let port = life.port().clone();
    let address = <Host<A> as actix::Actor>::start_in_arbiter(arbiter, move |_| Host {
        shell: Box::new(Shell::new(life)),
        timer: None,
    });
    port.core.driven_by(Box::new(move || wake(&address)));
}

#[expect(clippy::disallowed_methods, reason = "the unit wake, of which at most one is on its way")]
fn wake<A: Actor>(address: &actix::Addr<Host<A>>) {
    address.do_send(Wake);
}

impl<A: Actor> actix::Actor for Host<A> {
    type Context = Context<Self>;
}

impl<A: Actor> Handler<Wake> for Host<A> {
    type Result = ();

    fn handle(&mut self, _: Wake, cx: &mut Context<Self>) {
        self.turn(cx);
    }
}

impl<A: Actor> Host<A> {
    fn turn(&mut self, cx: &mut Context<Self>) {
        match self.shell.turn(None, TURN_MESSAGES) {
            Turn::Rest(deadline) => self.rest(deadline, cx),
            Turn::Again => self.again(cx),
            Turn::Ended => cx.stop(),
        }
    }

    /// Others on this arbiter go first: a message to oneself would be taken before them.
    fn again(&mut self, cx: &mut Context<Self>) {
        let others = actix::fut::wrap_future::<_, Self>(tokio::task::yield_now());
        cx.spawn(others.map(|(), host, cx| host.turn(cx)));
    }

    /// Set the timer unless one is set that comes in time; one that comes too early just has the
    /// shell look again.
    fn rest(&mut self, deadline: Option<Micros>, cx: &mut Context<Self>) {
        let Some(deadline) = deadline else { return };
        let clock = self.shell.core().clock;
        if let Some((set, timer)) = self.timer {
            if set <= deadline {
                return;
            }
            cx.cancel_future(timer);
        }
        if deadline <= clock.now() {
            self.timer = None;
            return self.again(cx);
        }
        let come = actix::fut::wrap_future::<_, Self>(async move {
            clock.sleep_until(deadline).await;
        });
        let timer = cx.spawn(come.map(|(), host, cx| {
            host.timer = None;
            host.turn(cx);
        }));
        self.timer = Some((deadline, timer));
    }
}
