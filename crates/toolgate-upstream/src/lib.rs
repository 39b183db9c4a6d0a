//! MCP servers that this gate calls: connecting, listing, calling, and not trusting them.
