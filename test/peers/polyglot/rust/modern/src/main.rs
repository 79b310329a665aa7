//! A server on rmcp 3, which speaks 2026-07-28 and asks through `input_required` results.

#![allow(deprecated)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InputRequests, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{from_value, json, to_value, Value};

#[path = "../../common.rs"]
mod common;

fn shape<Shape: serde::de::DeserializeOwned>(value: Value) -> Result<Shape, ErrorData> {
    from_value(value).map_err(failed)
}

/// A result as this revision has it.
fn complete<Shape: serde::de::DeserializeOwned>(mut value: Value) -> Result<Shape, ErrorData> {
    value["resultType"] = json!("complete");
    shape(value)
}

/// With characters that have to come back as they were.
const STATE: &str = "one \"question\" \u{e9}\n\t/+=";

#[derive(Default)]
struct Server {
    cancelled: AtomicUsize,
}

impl Server {
    async fn report(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let meta = to_value(&context.meta).unwrap_or_default();
        let Some(token) = meta.get("progressToken") else {
            return Ok(());
        };
        for step in 1..=3 {
            let note: ProgressNotificationParam = shape(common::step(token, step))?;
            let _ = context.peer.notify_progress(note).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// The client's answer to one question, or the result that asks it.
    fn answer(
        &self,
        request: &CallToolRequestParams,
        method: &str,
        params: Value,
    ) -> Result<Result<Value, InputRequiredResult>, ErrorData> {
        if let Some(answer) = request
            .input_responses
            .as_ref()
            .and_then(|all| all.get("question"))
        {
            if request.request_state.as_deref() != Some(STATE) {
                return Err(ErrorData::invalid_params(
                    "the request state was changed",
                    None,
                ));
            }
            return Ok(Ok(answer.clone()));
        }
        let question = json!({"question": {"method": method, "params": params}});
        let requests: InputRequests = shape(question)?;
        Ok(Err(InputRequiredResult::new(
            Some(requests),
            Some(STATE.to_string()),
        )))
    }
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        from_value(json!({
            "protocolVersion": "2026-07-28",
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
            "serverInfo": {"name": "rust-modern", "version": "1.0.0"},
            "instructions": "Ask for notes.",
        }))
        .expect("the information has the shape of an initialize result")
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        complete(common::tools())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let text = match request.name.as_ref() {
            "echo" => format!("echo: {}", common::text(&arguments["message"])),
            "ask" => match self.answer(&request, "elicitation/create", common::form())? {
                Ok(answer) => common::elicited(&answer),
                Err(asking) => return Ok(asking.into()),
            },
            "sample" => {
                let params = common::sampling(&arguments["question"]);
                match self.answer(&request, "sampling/createMessage", params)? {
                    Ok(answer) => common::sampled(&answer),
                    Err(asking) => return Ok(asking.into()),
                }
            }
            "roots" => match self.answer(&request, "roots/list", json!({}))? {
                Ok(answer) => common::uris(&answer),
                Err(asking) => return Ok(asking.into()),
            },
            "progress" => {
                self.report(&context).await?;
                "three steps".to_string()
            }
            "wait" => {
                context.ct.cancelled().await;
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                "cancelled".to_string()
            }
            "cancelled" => self.cancelled.load(Ordering::SeqCst).to_string(),
            "fail" => return Ok(complete::<CallToolResult>(common::broken())?.into()),
            _ => return Err(ErrorData::invalid_params("Unknown tool", None)),
        };
        Ok(complete::<CallToolResult>(common::say(&text))?.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        complete(common::prompts())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(complete::<GetPromptResult>(common::greeting(&arguments["name"]))?.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        complete(common::resources())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        complete(common::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match common::contents(&request.uri) {
            Some(contents) => Ok(complete::<ReadResourceResult>(contents)?.into()),
            None => Err(ErrorData::resource_not_found("Resource not found", None)),
        }
    }
}

#[tokio::main]
async fn main() {
    let io = rmcp::transport::io::stdio();
    match Server::default().serve(io).await {
        Ok(running) => {
            let _ = running.waiting().await;
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
