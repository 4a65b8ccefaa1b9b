//! Race: wait for the first of two futures, the first named winning a tie.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Which future ended first.
#[derive(Debug)]
pub(crate) enum First<A, B> {
    A(A),
    B(B),
}

/// Wait for the first of the two; the other is dropped. `a` is always asked first, so equal runs
/// end equally.
pub(crate) async fn race<A: Future, B: Future>(a: A, b: B) -> First<A::Output, B::Output> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(move |cx| match a.as_mut().poll(cx) {
        Poll::Ready(out) => Poll::Ready(First::A(out)),
        Poll::Pending => b.as_mut().poll(cx).map(First::B),
    })
    .await
}
