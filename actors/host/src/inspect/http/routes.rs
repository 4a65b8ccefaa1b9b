//! Routes: what can be asked for, and how each is answered.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use serde_json::json;

use super::events::Events;
use super::places::Place;
use super::{ANSWER_MAX, BUSY, CONNECTIONS_MAX, Desk, NoLook, ORDER_MAX, STREAMS_MAX};
use crate::inspect::access::Access;
use crate::inspect::follow::Follower;
use crate::inspect::inspector::Want;
use crate::inspect::order::{Order, REFUSED, Undone};
use crate::inspect::prometheus;

/// Everything a request needs beside itself.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) desk: Desk,
    pub(crate) place: Place,
    pub(crate) peer: SocketAddr,
}

/// The page, whole: it asks for nothing from elsewhere.
const PAGE: &str = include_str!("../page.html");
/// What the page may do: run what it holds itself, and ask this process.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
/// How long an order may take to arrive.
const ORDER_TIME_MAX: Duration = Duration::from_secs(2);

/// What who has no token is told, the same whatever was asked for.
const UNKNOWN: &str = "only who has the token may look: dh inspect --url prints a link that has \
                       it; programs send what inspect.token in the data folder holds, as \
                       authorization: Bearer TOKEN\n";

/// What is told to everybody: a status, and no data.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// All there is to be asked for.
pub(crate) fn router(visitor: Visitor) -> Router {
    Router::new()
        .route("/snapshot", get(snapshot))
        .route("/events", get(events))
        .route("/metrics", get(metrics))
        .route("/control", post(control))
        .route("/", get(page))
        .fallback(nothing_here)
        .method_not_allowed_fallback(another_method)
        .route("/healthz", get(|| async { StatusCode::OK }))
        .route("/readyz", get(readyz))
        .with_state(visitor)
}

/// Answers one request. Whoever is refused, for whatever reason, gives its connection back with
/// that.
pub(crate) async fn answer(
    request: hyper::Request<Incoming>,
    visitor: Visitor,
    router: TowerToHyperService<Router>,
) -> Result<Response, Infallible> {
    let mut answer = answer_allowed(request, visitor, router).await?;
    if answer.status().is_client_error() || answer.status().is_server_error() {
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(answer)
}

/// Answers whoever has the token, and anybody who only asks for health. Everybody else learns
/// nothing: no route has seen the request.
async fn answer_allowed(
    request: hyper::Request<Incoming>,
    visitor: Visitor,
    router: TowerToHyperService<Router>,
) -> Result<Response, Infallible> {
    if !HEALTH.contains(&request.uri().path()) {
        if let Some(seated) = swapped(&visitor, &request) {
            return Ok(seated);
        }
        if !visitor.desk.access.allows(request.headers()) {
            return Ok((StatusCode::UNAUTHORIZED, UNKNOWN).into_response());
        }
        if visitor.place.is_beside() {
            let what = format!("all {CONNECTIONS_MAX} connections are in use; try again");
            return Ok(refused(StatusCode::SERVICE_UNAVAILABLE, &what));
        }
        visitor.place.trust();
    }
    router.call(request).await
}

/// A page that is opened with its token in the address gets it as a cookie instead, and an address
/// that can be shown.
fn swapped(visitor: &Visitor, request: &hyper::Request<Incoming>) -> Option<Response> {
    let token = request.uri().query()?.strip_prefix("token=")?;
    let access = &visitor.desk.access;
    let is_page = request.method() == Method::GET && request.uri().path() == "/";
    if !is_page || !access.is_called_right(request.headers()) || !access.is_token(token) {
        return None;
    }
    let cookie = access.cookie();
    let headers = [
        (header::SET_COOKIE, cookie.as_str()),
        (header::LOCATION, "/"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Some((StatusCode::SEE_OTHER, headers).into_response())
}

async fn readyz(State(visitor): State<Visitor>) -> StatusCode {
    if visitor.desk.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// Which snapshot is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    seq: Option<u64>,
    actor: Option<String>,
}

impl Which {
    fn want(self) -> Want {
        self.seq.map_or(Want::Newest(self.actor), Want::Seq)
    }
}

/// What a query reads as, if it can be read.
type Asking<T> = Result<Query<T>, QueryRejection>;

async fn snapshot(State(visitor): State<Visitor>, which: Asking<Which>) -> Response {
    let which = match which {
        Ok(Query(which)) => which,
        Err(error) => return misread(&error),
    };
    match visitor.desk.look(which.want()).await {
        Ok(snapshot) => axum_json(StatusCode::OK, &*snapshot),
        Err(why) => no_snapshot(&why),
    }
}

/// How a stream is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    seq: Option<u64>,
    hz: Option<u32>,
    actor: Option<String>,
}

async fn events(State(visitor): State<Visitor>, stream: Asking<Stream>) -> Response {
    let stream = match stream {
        Ok(Query(stream)) => stream,
        Err(error) => return misread(&error),
    };
    let desk = &visitor.desk;
    let Some(place) = desk.stream() else {
        let what = format!("{STREAMS_MAX} streams are read already; try again");
        return refused(StatusCode::SERVICE_UNAVAILABLE, &what);
    };
    let which = Which { seq: stream.seq, actor: stream.actor.clone() };
    let snapshot = match desk.look(which.want()).await {
        Ok(snapshot) => snapshot,
        Err(why) => return no_snapshot(&why),
    };
    let follower = Follower::new(desk.collector.clone(), stream.actor, &snapshot);
    let events = Events::new(desk.inspector.clone(), &snapshot, follower, stream.hz, place);
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::new(events)).into_response()
}

async fn metrics(State(visitor): State<Visitor>, which: Asking<Which>) -> Response {
    let which = match which {
        Ok(Query(which)) => which,
        Err(error) => return misread(&error),
    };
    match visitor.desk.look(which.want()).await {
        Ok(snapshot) => {
            let kind = [(header::CONTENT_TYPE, prometheus::CONTENT_TYPE)];
            (kind, prometheus::text(&snapshot)).into_response()
        }
        Err(why) => no_snapshot(&why),
    }
}

/// The page; whatever it shows it asks for itself.
async fn page() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, PAGE).into_response()
}

/// Have something done.
async fn control(State(visitor): State<Visitor>, request: Request) -> Response {
    let by = visitor.peer;
    if !Access::is_of_own_page(request.headers()) {
        let what = "a page of another origin has nothing done here";
        return turned_down(by, StatusCode::FORBIDDEN, what);
    }
    let is_json = request.headers().get(header::CONTENT_TYPE);
    let is_json = is_json.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !is_json {
        let what = "content-type: expected application/json";
        return turned_down(by, StatusCode::UNSUPPORTED_MEDIA_TYPE, what);
    }
    let read = axum::body::to_bytes(request.into_body(), ORDER_MAX);
    let Ok(body) = tokio::time::timeout(ORDER_TIME_MAX, read).await else {
        return turned_down(by, StatusCode::REQUEST_TIMEOUT, "the order did not come in time");
    };
    let Ok(body) = body else {
        visitor.desk.order_limit().hit();
        let what = format!("an order has at most {ORDER_MAX} bytes");
        return turned_down(by, StatusCode::PAYLOAD_TOO_LARGE, &what);
    };
    let order = match serde_json::from_slice::<Order>(&body) {
        Ok(order) => order,
        Err(error) => {
            // The log has none of its text, which may be anything.
            let (line, column) = (error.line(), error.column());
            let what = format!("no order: it makes no sense at line {line}, column {column}");
            turned_down(by, StatusCode::BAD_REQUEST, &what);
            return refused(StatusCode::BAD_REQUEST, &format!("no order: {error}"));
        }
    };
    match visitor.desk.order(by, order).await {
        Some(Ok(done)) => axum_json(StatusCode::OK, &json!({ "done": done })),
        Some(Err(why)) => {
            let status = match why {
                Undone::Wrong(_) => StatusCode::BAD_REQUEST,
                Undone::Missing(_) => StatusCode::NOT_FOUND,
                Undone::Refused(_) => StatusCode::CONFLICT,
                Undone::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
                Undone::Cannot(_) => StatusCode::SERVICE_UNAVAILABLE,
            };
            refused(status, &why.to_string())
        }
        None => {
            let what = format!("no answer in {ANSWER_MAX:?}; it may still be done");
            refused(StatusCode::GATEWAY_TIMEOUT, &what)
        }
    }
}

/// Why what came is no order at all; the log has that with who sent it.
fn turned_down(by: SocketAddr, status: StatusCode, what: &str) -> Response {
    tracing::warn!(%by, "{REFUSED}: {what}");
    refused(status, what)
}

/// A query that makes no sense.
fn misread(error: &QueryRejection) -> Response {
    refused(StatusCode::BAD_REQUEST, &error.body_text())
}

async fn another_method() -> Response {
    let what = "expected POST for /control, and GET for everything else";
    refused(StatusCode::METHOD_NOT_ALLOWED, what)
}

async fn nothing_here() -> Response {
    let what = "there is nothing here; there is /, /snapshot, /events, /metrics, /control, \
                /healthz and /readyz";
    refused(StatusCode::NOT_FOUND, what)
}

/// Why there is no snapshot.
fn no_snapshot(why: &NoLook) -> Response {
    match why {
        NoLook::Missed(missed) => refused(StatusCode::NOT_FOUND, &missed.to_string()),
        NoLook::Busy => refused(StatusCode::SERVICE_UNAVAILABLE, BUSY),
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
