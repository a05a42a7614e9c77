//! The door between Python and the core.
