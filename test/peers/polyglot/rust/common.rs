//! What the servers of both majors say, as JSON that each turns into its own types.

use serde_json::{json, Map, Value};

pub fn say(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": false})
}

pub fn broken() -> Value {
    json!({"content": [{"type": "text", "text": "it broke"}], "isError": true})
}

fn tool(name: &str, description: &str, arguments: &[&str]) -> Value {
    let properties: Map<String, Value> = arguments
        .iter()
        .map(|argument| (argument.to_string(), json!({"type": "string"})))
        .collect();
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": arguments},
    })
}

pub fn tools() -> Value {
    json!({"tools": [
        tool("echo", "Says the message again", &["message"]),
        tool("ask", "Asks the user", &[]),
        tool("sample", "Asks the client's model", &["question"]),
        tool("roots", "Asks for the client's roots", &[]),
        tool("progress", "Reports three steps", &[]),
        tool("wait", "Waits until it is cancelled", &[]),
        tool("cancelled", "How many waits were cancelled", &[]),
        tool("fail", "Fails as a tool", &[]),
    ]})
}

pub fn form() -> Value {
    json!({
        "mode": "form",
        "message": "Who are you?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    })
}

pub fn sampling(question: &Value) -> Value {
    json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": question}}],
        "maxTokens": 50,
    })
}

pub fn step(token: &Value, step: u32) -> Value {
    json!({"progressToken": token, "progress": step, "total": 3, "message": format!("step {step}")})
}

/// `accept Ada`, or the action alone.
pub fn elicited(answer: &Value) -> String {
    let action = text(&answer["action"]);
    match answer["content"]["name"].as_str() {
        Some(name) => format!("{action} {name}"),
        None => action,
    }
}

pub fn sampled(answer: &Value) -> String {
    format!(
        "{}: {}",
        text(&answer["role"]),
        text(&answer["content"]["text"])
    )
}

pub fn uris(listed: &Value) -> String {
    let roots = listed["roots"].as_array().cloned().unwrap_or_default();
    roots
        .iter()
        .map(|root| text(&root["uri"]))
        .collect::<Vec<_>>()
        .join(",")
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

pub fn prompts() -> Value {
    json!({"prompts": [{
        "name": "greet",
        "description": "Greets somebody",
        "arguments": [{"name": "name", "required": true}],
    }]})
}

pub fn greeting(name: &Value) -> Value {
    let text = format!("hello {}", text(name));
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]})
}

pub fn resources() -> Value {
    json!({"resources": [{"uri": "note:///one", "name": "one", "mimeType": "text/plain"}]})
}

pub fn templates() -> Value {
    json!({"resourceTemplates": [
        {"uriTemplate": "note:///by/{author}", "name": "by", "mimeType": "text/plain"},
    ]})
}

/// The contents at a URI, if there are any.
pub fn contents(uri: &str) -> Option<Value> {
    let text = match uri.strip_prefix("note:///")? {
        "one" => "one".to_string(),
        rest => format!("by {}", rest.strip_prefix("by/")?),
    };
    Some(json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}))
}
