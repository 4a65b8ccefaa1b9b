//! A server is asked by messages, and answers by some.

use dh_host::net::InMessage;
use dh_machine::{Machine, Micros, Outbox};
use dh_messages::{Message as _, SCHEMA_WORDS, SchemaAnswer, SchemaHash, ToClient, ToServer};
use dh_wire::Schema;
use dh_wire::schema::{Edit, identity, pack};

use super::AskerMsg;
use super::state::{Asking, Effect};
use crate::exit::{Exit, Failure};

fn say(asking: &mut Asking, mut message: ToClient) -> Vec<Effect> {
    let (mut body, mut out) = (Vec::new(), Outbox::default());
    message.write_body(&mut body).unwrap();
    let message = InMessage { id: message.id(), body: body.into() };
    asking.handle(Micros(0), AskerMsg::Message(message), &mut out);
    out.drain().collect()
}

fn hash(asking: &mut Asking, schema: &Schema, wants_text: bool) -> Vec<Effect> {
    say(asking, ToClient::SchemaHash(SchemaHash { hash: schema.identity(), wants_text }))
}

fn answer(asking: &mut Asking, text: &str) -> Result<Schema, Failure> {
    let packed = pack(text, SCHEMA_WORDS).into();
    match say(asking, ToClient::SchemaAnswer(SchemaAnswer { packed })).pop() {
        Some(Effect::Tell(answer)) => answer,
        other => panic!("{other:?}"),
    }
}

fn another() -> Schema {
    let mut other = dh_messages::schema();
    other.edit(&Edit::Renumber { shape: "ChatKind".to_owned() }).unwrap();
    other
}

/// JOIN-02, JOIN-09
#[test]
fn a_server_of_another_build_is_asked_for_its_text_and_given_ours_where_it_wants_that() {
    for wants_text in [false, true] {
        let (mut asking, mut out, other) = (Asking::default(), Outbox::default(), another());
        asking.greet(&mut out);
        let first = out.drain().next().unwrap();
        assert!(matches!(first, Effect::Send(ToServer::ConnectRequest(it))
            if it.schema_hash == dh_messages::schema_hash()));
        let [Effect::Send(ToServer::SchemaText(text))] = &*hash(&mut asking, &other, wants_text)
        else {
            panic!("no text")
        };
        assert_eq!((text.wants_text, text.packed.is_empty()), (true, !wants_text));
        assert_eq!(answer(&mut asking, &other.text()).unwrap(), other);
    }
}

/// JOIN-07
#[test]
fn a_server_of_this_build_is_asked_for_nothing_more() {
    let own = dh_messages::schema();
    let told = hash(&mut Asking::default(), &own, false);
    assert!(matches!(&*told, [Effect::Tell(Ok(schema))] if *schema == own), "{told:?}");
}

/// JOIN-09
#[test]
fn a_text_that_is_not_what_was_announced_or_no_schema_is_damaged() {
    let (mut asking, other) = (Asking::default(), another());
    hash(&mut asking, &other, false);
    let own = dh_messages::schema_text();
    let wrong = answer(&mut asking, &own).unwrap_err();
    let short = identity(own.as_bytes()).short();
    assert_eq!(wrong.exit, Exit::Damaged);
    assert!(wrong.cause.contains(&format!("{} and is {short}", other.identity().short())));
    let (mut asking, none) = (Asking::default(), "nothing");
    let told = SchemaHash { hash: identity(none.as_bytes()), wants_text: false };
    say(&mut asking, ToClient::SchemaHash(told));
    assert!(answer(&mut asking, none).unwrap_err().cause.contains("cannot be read"));
}

/// A server can have this build say only so much, and is not waited for once it makes no sense.
#[test]
fn a_server_that_says_twice_what_it_writes_or_cannot_be_read_is_damaged() {
    let (mut asking, other) = (Asking::default(), another());
    hash(&mut asking, &other, true);
    let told = hash(&mut asking, &other, true);
    let [Effect::Tell(Err(failure))] = &*told else { panic!("{told:?}") };
    assert_eq!((failure.exit, failure.cause.contains("twice")), (Exit::Damaged, true));

    let mut out = Outbox::default();
    let message = InMessage { id: SchemaHash::ID, body: b"short".to_vec().into() };
    Asking::default().handle(Micros(0), AskerMsg::Message(message), &mut out);
    let told: Vec<Effect> = out.drain().collect();
    let [Effect::Tell(Err(failure))] = &*told else { panic!("{told:?}") };
    assert!(failure.cause.contains("unreadable message 44"), "{}", failure.cause);
}
