//! fabricsim-core: a packet-level simulator of AI-training fabrics. Pure Rust; it does not know that Python exists.
//!
//! One run is one straight line, see [`run()`]: configuration -> fabric -> workload -> windows until done -> output.

mod balancer;
pub mod config;
mod congestion;
mod discipline;
mod error;
mod fabric;
mod hash;
mod host;
mod link;
mod measure;
mod order;
mod packet;
mod port;
mod rng;
mod run;
mod spreader;
mod switch;
mod transport;
mod units;
mod window;
mod workload;

pub use config::Config;
pub use discipline::{LANES, LaneTally};
pub use error::Error;
pub use fabric::{Fabric, Tier};
pub use measure::{FlowColumns, Output, Progress, Sample, Status, TraceRow, WindowRow};
pub use port::PortTally;
pub use run::run;
pub use transport::{Counts, count_names};
pub use units::{NEVER, Ps};
pub use workload::Messages;
