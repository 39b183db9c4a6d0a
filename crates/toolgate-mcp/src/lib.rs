//! The MCP protocol as this gate speaks it to its clients: messages, eras, sealed state; no HTTP and no rules.
