//! A legacy server on rmcp 2, which exits when the first message is not `initialize`.

#![allow(deprecated)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, CreateMessageRequestParams, ElicitRequestParams,
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResult, ServerInfo,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{from_value, json, to_value, Value};

#[path = "../../common.rs"]
mod common;

fn shape<Shape: serde::de::DeserializeOwned>(value: Value) -> Result<Shape, ErrorData> {
    from_value(value).map_err(failed)
}

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

    async fn ask(&self, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
        let form: ElicitRequestParams = shape(common::form())?;
        let answer = context
            .peer
            .create_elicitation(form)
            .await
            .map_err(failed)?;
        Ok(common::elicited(&to_value(answer).unwrap_or_default()))
    }

    async fn sample(
        &self,
        question: &Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let request: CreateMessageRequestParams = shape(common::sampling(question))?;
        let answer = context.peer.create_message(request).await.map_err(failed)?;
        Ok(common::sampled(&to_value(answer).unwrap_or_default()))
    }

    async fn roots(&self, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
        let listed = context.peer.list_roots().await.map_err(failed)?;
        Ok(common::uris(&to_value(listed).unwrap_or_default()))
    }
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerInfo {
        from_value(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
            "serverInfo": {"name": "rust-legacy", "version": "1.0.0"},
            "instructions": "Ask for notes.",
        }))
        .expect("the information has the shape of an initialize result")
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        shape(common::tools())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let text = match request.name.as_ref() {
            "echo" => format!("echo: {}", common::text(&arguments["message"])),
            "ask" => self.ask(&context).await?,
            "sample" => self.sample(&arguments["question"], &context).await?,
            "roots" => self.roots(&context).await?,
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
            "fail" => return shape(common::broken()),
            _ => return Err(ErrorData::invalid_params("Unknown tool", None)),
        };
        shape(common::say(&text))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        shape(common::prompts())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResult, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        shape(common::greeting(&arguments["name"]))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        shape(common::resources())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        shape(common::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResult, ErrorData> {
        match common::contents(&request.uri) {
            Some(contents) => shape(contents),
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
