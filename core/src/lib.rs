//! fabricsim-core: a packet-level simulator of AI-training fabrics.
