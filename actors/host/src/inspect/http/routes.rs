//! Routes: what can be asked for, and how each is answered.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use serde_json::json;

use super::Desk;
use super::places::Place;
use crate::inspect::inspector::Want;

/// Everything a request needs beside itself.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    desk: Desk,
    place: Place,
}

/// All there is to be asked for by one connection.
pub(crate) fn router(desk: Desk, _peer: Option<SocketAddr>, place: Place) -> Router {
    let visitor = Visitor { desk, place };
    Router::new()
        .route("/snapshot", get(snapshot))
        .fallback(nothing_here)
        .layer(middleware::from_fn_with_state(visitor.clone(), admitted))
        .route("/healthz", get(|| async { StatusCode::OK }))
        .route("/readyz", get(readyz))
        .with_state(visitor)
}

/// Lets through whoever has the token; anybody else learns nothing.
async fn admitted(State(visitor): State<Visitor>, request: Request, next: Next) -> Response {
    if !visitor.desk.access.allows(request.headers()) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    visitor.place.trust();
    next.run(request).await
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
