//! What the wire promises, shown on shapes made for the purpose.

mod builds;
mod groups;
mod hostile;
mod leaves;
mod losses;
mod numbers;
#[expect(dead_code, reason = "the macro gives each type more than these tests use")]
mod plan;
mod read_schema;
mod schema;
#[expect(dead_code, reason = "the macro gives each type more than these tests use")]
mod shapes;
mod tables;
