//! Everything that can be wrong with what the core is given. Each variant says what, got, allowed, where.

/// The one error type of the core.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum Error {
    /// The configuration is not what the door's contract says.
    #[error("config: {0}")]
    Config(String),
    /// A value outside its range.
    #[error("{field}: got {got}; allowed: {allowed}")]
    Value {
        /// Dotted name, as in the configuration.
        field: String,
        /// The value found.
        got: String,
        /// What would be accepted.
        allowed: String,
    },
    /// A message's column holds something impossible.
    #[error("messages.{field}[{row}]: got {got}; allowed: {allowed}")]
    Message {
        /// Column name.
        field: &'static str,
        /// Row number.
        row: usize,
        /// The value found.
        got: String,
        /// What would be accepted.
        allowed: String,
    },
    /// Failed links cut a pair of hosts that a message joins.
    #[error(
        "message {row}: no path from host-{src} to host-{dst}: {cut}; allowed: a fabric whose working links join every pair that communicates"
    )]
    Disconnected {
        /// Row of the message.
        row: usize,
        /// Sending host.
        src: u32,
        /// Receiving host.
        dst: u32,
        /// Which links are down between them.
        cut: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A fault of the simulator itself; the run is lost, the process is not.
    #[error("internal error, please report it: {0}")]
    Internal(String),
}

impl Error {
    /// Shorthand for [`Error::Value`].
    pub fn value(field: impl Into<String>, got: impl ToString, allowed: impl Into<String>) -> Self {
        Self::Value { field: field.into(), got: got.to_string(), allowed: allowed.into() }
    }
}
