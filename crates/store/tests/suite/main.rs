//! Stores on a disk, whole and damaged.

mod common;
mod damage;
mod logs;
