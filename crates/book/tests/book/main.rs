//! Books as their users see them: learned, grown, read, compiled, damaged and repaired.

mod annotations;
mod care;
mod compiled;
mod faults;
mod grow;
mod journal;
mod laws;
mod reading;
mod settings;
mod snapshots;
mod world;
