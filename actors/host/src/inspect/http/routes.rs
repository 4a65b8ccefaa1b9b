//! Routes: what can be asked for, and how each is answered.

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use serde_json::json;

use super::Desk;
use super::events::Events;
use super::places::Place;
use crate::inspect::follow::Follower;
use crate::inspect::inspector::Want;

/// Everything a request needs beside itself.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) desk: Desk,
    pub(crate) place: Place,
}

/// What is told to everybody: a status, and no data.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// All there is to be asked for.
pub(crate) fn router(visitor: Visitor) -> Router {
    Router::new()
        .route("/snapshot", get(snapshot))
        .route("/events", get(events))
        .fallback(nothing_here)
        .route("/healthz", get(|| async { StatusCode::OK }))
        .route("/readyz", get(readyz))
        .with_state(visitor)
}

/// Answers whoever has the token, and anybody who only asks for health. Everybody else learns
/// nothing: no route has seen the request.
pub(crate) async fn answer(
    request: hyper::Request<Incoming>,
    visitor: Visitor,
    router: TowerToHyperService<Router>,
) -> Result<Response, Infallible> {
    if !HEALTH.contains(&request.uri().path()) {
        if !visitor.desk.access.allows(request.headers()) {
            return Ok(StatusCode::UNAUTHORIZED.into_response());
        }
        visitor.place.trust();
    }
    router.call(request).await
}

async fn readyz(State(visitor): State<Visitor>) -> StatusCode {
    if visitor.desk.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// Which snapshot is asked for.
#[derive(Debug, Default, Deserialize)]
struct Which {
    seq: Option<u64>,
    actor: Option<String>,
}

impl Which {
    fn want(self) -> Want {
        self.seq.map_or(Want::Newest(self.actor), Want::Seq)
    }
}

async fn snapshot(State(visitor): State<Visitor>, Query(which): Query<Which>) -> Response {
    let seq = which.seq;
    match visitor.desk.look(which.want()).await {
        Some(snapshot) => axum_json(StatusCode::OK, &*snapshot),
        None => no_snapshot(seq),
    }
}

/// How a stream is wanted.
#[derive(Debug, Deserialize)]
struct Stream {
    hz: Option<u32>,
    actor: Option<String>,
}

async fn events(State(visitor): State<Visitor>, Query(stream): Query<Stream>) -> Response {
    let desk = &visitor.desk;
    let Some(snapshot) = desk.look(Want::Newest(stream.actor.clone())).await else {
        return no_snapshot(None);
    };
    let follower = Follower::new(desk.collector.clone(), stream.actor, &snapshot);
    let events = Events::new(desk.inspector.clone(), &snapshot, follower, stream.hz);
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::new(events)).into_response()
}

async fn nothing_here() -> Response {
    refused(StatusCode::NOT_FOUND, "there is nothing here; see /snapshot")
}

/// Why there is no snapshot.
fn no_snapshot(seq: Option<u64>) -> Response {
    match seq {
        Some(seq) => refused(
            StatusCode::NOT_FOUND,
            &format!("the snapshot of seq {seq} is not kept any more"),
        ),
        None => refused(StatusCode::SERVICE_UNAVAILABLE, "too many look at once; try again"),
    }
}

/// One line of JSON that says what is wrong.
fn refused(status: StatusCode, what: &str) -> Response {
    axum_json(status, &json!({ "error": what }))
}

fn axum_json(status: StatusCode, body: &impl serde::Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(body) => (status, [(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
