//! A bound tool does not hand out its executor.
use toolgate_core::BoundTool;

fn take(tool: &BoundTool) {
    let _executor = &tool.executor;
}

fn main() {}
