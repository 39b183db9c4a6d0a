//! The one client for requests that leave the house.
