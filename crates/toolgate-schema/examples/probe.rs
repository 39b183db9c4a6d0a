use serde_json::{Map, Value, json};
fn on<T: Send + 'static>(kb: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(kb << 10).spawn(work).unwrap().join().unwrap()
}
fn main() {
    let a: Vec<usize> = std::env::args().skip(2).map(|s| s.parse().unwrap()).collect();
    let (inner, links, kb_compile, kb_drop) = (a[0], a[1], a[2], a[3]);
    let keyword = std::env::args().nth(1).unwrap();
    let deep = |innermost| (0..inner).fold(innermost, |inner, _| json!({ keyword.clone(): inner, "type": ["array", "object"] }));
    let mut definitions = Map::new();
    for i in 0..links {
        definitions.insert(format!("d{i}"), deep(json!({"$ref": format!("#/$defs/d{}", i + 1)})));
    }
    definitions.insert(format!("d{links}"), json!({"type": "string"}));
    let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    let v = on(kb_compile, move || jsonschema::options().offline().build(&schema).unwrap());
    println!("compiled");
    on(kb_drop, move || drop(v));
    println!("dropped");
}
