//! Hash maps for hot paths: the keys are small integers, and the mixer of [`crate::rng`] is as good as the library's hasher and several times cheaper.

use crate::rng::mix;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map from small integers.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<MixHasher>>;

/// A set of small integers.
pub type FastSet<K> = HashSet<K, BuildHasherDefault<MixHasher>>;

/// Hashes one integer.
#[derive(Default)]
pub struct MixHasher(u64);

impl Hasher for MixHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }

    fn write_u16(&mut self, key: u16) {
        self.0 = mix(u64::from(key));
    }

    fn write_u32(&mut self, key: u32) {
        self.0 = mix(u64::from(key));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = mix(key);
    }
}
