/**
 * The body of one model request, on any wire. Each wire has its own.
 */
export type WireRequest = MessagesRequest | ChatRequest;
/**
 * One wire message, told apart by its role.
 */
export type MessagesMessage = MessagesUserMessage | MessagesAssistantMessage | MessagesSystemMessage;
/**
 * A block of a user turn.
 */
export type MessagesUserBlock = MessagesTextBlock | MessagesImageBlock | MessagesToolResultBlock;
/**
 * Text of at least one character.
 */
export type NonEmptyString = string;
/**
 * Where the bytes of an image are. One request never mixes both kinds.
 */
export type MessagesImageSource = MessagesFileSource | MessagesBase64Source;
/**
 * A block of what a tool returned.
 */
export type MessagesResultBlock = MessagesTextBlock | MessagesImageBlock;
/**
 * A block of an assistant turn.
 */
export type MessagesAssistantBlock = MessagesTextBlock | MessagesThinkingBlock | MessagesToolUseBlock;
/**
 * Any JSON value, null included. The log keeps it and gives it no meaning.
 */
export type Json = unknown;
/**
 * A block of a change inside the history.
 */
export type MessagesSystemBlock = MessagesTextBlock | MessagesToolAdditionBlock | MessagesToolRemovalBlock;
/**
 * A whole number, 1 or more, that JavaScript holds exactly.
 */
export type PositiveCount = number;
/**
 * Any finite number, whole or not.
 */
export type FreeNumber = number;
/**
 * A whole number of things, 0 or more, that JavaScript holds exactly.
 */
export type Count = number;
/**
 * An instant in milliseconds since 1970-01-01T00:00:00Z. It may be negative, and successive events may go back in time.
 */
export type EpochMs = number;
/**
 * The number of an event in its log. The first event has 0 and each further event the next integer.
 */
export type Seq = number;
/**
 * Allows a reader that does not know the type of this event to keep the event without interpreting it. A reader that knows the type interprets the event all the same. The only value is true; otherwise the member is absent.
 */
export type Ignorable = true;
/**
 * One wire message, told apart by its role.
 */
export type ChatMessage = ChatSystemMessage | ChatUserMessage | ChatAssistantMessage | ChatToolMessage;
/**
 * A joined text (it may be empty), or parts when at least one of them is an image.
 */
export type ChatUserContent = string | ChatParts;
/**
 * The parts of a user message with images, in order.
 *
 * @minItems 1
 */
export type ChatParts = [ChatPart, ...ChatPart[]];
/**
 * A part of a user message with images.
 */
export type ChatPart = ChatTextPart | ChatImagePart | ChatFilePart;

/**
 * Body of one Messages request. Open: a request extension appends members of its own after `tools`, in the order the extensions were prepared. No member is ever null.
 */
export interface MessagesRequest {
  /**
   * Model id as the endpoint knows it; equals `GenerateOptions.model`.
   */
  model: string;
  /**
   * Responses are always streamed.
   */
  stream: true;
  /**
   * The conversation, roles alternating as far as merging allows. May be empty.
   */
  messages: MessagesMessage[];
  max_tokens: PositiveCount;
  thinking: MessagesThinking;
  output_config?: MessagesOutputConfig;
  system?: NonEmptyString;
  temperature?: FreeNumber;
  /**
   * Texts that end the output; sent whenever the caller gave a list, even an empty one.
   */
  stop_sequences?: string[];
  /**
   * Tool declarations; sent whenever the caller gave a list, even an empty one.
   */
  tools?: MessagesTool[];
  dsh_session_log?: SessionLogExtension;
  dsh_plugin_packages?: PluginPackagesExtension;
  [k: string]: unknown;
}
/**
 * A user turn: consecutive user and tool messages of the history merged, tool results first. Closed.
 */
export interface MessagesUserMessage {
  role: "user";
  /**
   * Blocks of the turn; never empty.
   *
   * @minItems 1
   */
  content: [MessagesUserBlock, ...MessagesUserBlock[]];
}
/**
 * Text; an empty text makes no block. Closed.
 */
export interface MessagesTextBlock {
  type: "text";
  text: NonEmptyString;
}
/**
 * An image; a text block with its handle stands right before it. Closed.
 */
export interface MessagesImageBlock {
  type: "image";
  source: MessagesImageSource;
}
/**
 * An image uploaded before through the Files API. Closed.
 */
export interface MessagesFileSource {
  type: "file";
  file_id: NonEmptyString;
}
/**
 * An image carried in the body. Closed.
 */
export interface MessagesBase64Source {
  type: "base64";
  /**
   * Media type of the bytes, such as image/png.
   */
  media_type: string;
  /**
   * The bytes in base64 with padding.
   */
  data: string;
}
/**
 * The result of a tool call of the assistant turn before. Closed.
 */
export interface MessagesToolResultBlock {
  type: "tool_result";
  /**
   * Id of the answered call.
   */
  tool_use_id: string;
  /**
   * What the tool returned; may be empty.
   */
  content: MessagesResultBlock[];
  /**
   * Whether the call failed; absent when the log does not say.
   */
  is_error?: boolean;
}
/**
 * An assistant turn: consecutive assistant messages of the history merged. Closed.
 */
export interface MessagesAssistantMessage {
  role: "assistant";
  /**
   * Blocks of the turn; never empty.
   *
   * @minItems 1
   */
  content: [MessagesAssistantBlock, ...MessagesAssistantBlock[]];
}
/**
 * Replayed reasoning, even if empty. Closed.
 */
export interface MessagesThinkingBlock {
  type: "thinking";
  /**
   * The reasoning text.
   */
  thinking: string;
  /**
   * Opaque proof from the response that made the text; only from a valid replay state of the same model.
   */
  signature?: string;
}
/**
 * A tool call of the assistant. Closed.
 */
export interface MessagesToolUseBlock {
  type: "tool_use";
  /**
   * Call id; unique within its wire message.
   */
  id: string;
  /**
   * Name of the called tool.
   */
  name: string;
  input: JsonObject;
}
/**
 * A JSON object. Open: members of any name and any value.
 */
export interface JsonObject {
  [k: string]: Json;
}
/**
 * A change inside the history: a system prompt update or a change of the offered tools. Always stands after a user turn; never merged with another system message. Closed.
 */
export interface MessagesSystemMessage {
  role: "system";
  /**
   * Blocks of the change; never empty.
   *
   * @minItems 1
   */
  content: [MessagesSystemBlock, ...MessagesSystemBlock[]];
}
/**
 * From here on the model may call the named tool. Closed.
 */
export interface MessagesToolAdditionBlock {
  type: "tool_addition";
  tool: MessagesToolReference;
}
/**
 * Names one tool declared in `tools`. Closed.
 */
export interface MessagesToolReference {
  type: "tool_reference";
  /**
   * Name of the tool.
   */
  name: string;
}
/**
 * From here on the model may not call the named tool. Closed.
 */
export interface MessagesToolRemovalBlock {
  type: "tool_removal";
  tool: MessagesToolReference;
}
/**
 * Whether the model reasons before it answers. Closed.
 */
export interface MessagesThinking {
  /**
   * `disabled` exactly when the effort is `off`.
   */
  type: "enabled" | "disabled";
}
/**
 * How much the model reasons; absent exactly when the effort is `off`. Closed.
 */
export interface MessagesOutputConfig {
  /**
   * Reasoning effort.
   */
  effort: "low" | "high" | "max";
}
/**
 * One tool declaration. Closed.
 */
export interface MessagesTool {
  /**
   * Name the model calls the tool by.
   */
  name: string;
  /**
   * What the tool does, for the model.
   */
  description: string;
  input_schema: JsonObject;
  /**
   * The tool is declared but becomes available only with a `tool_addition` block.
   */
  defer_loading?: true;
}
/**
 * Member `dsh_session_log`: the events of the session's log that the endpoint has not accepted yet. Closed.
 */
export interface SessionLogExtension {
  /**
   * Version of this extension.
   */
  version: 1;
  sessionFormatVersion: Count;
  session: SessionLogHeader;
  /**
   * Seq of the last event accepted before; -1 when there is none.
   */
  afterSeq: number;
  throughSeq: Seq;
  /**
   * The events afterSeq+1 to throughSeq, without a gap.
   *
   * @minItems 1
   */
  events: [SessionLogEvent, ...SessionLogEvent[]];
}
/**
 * The header of the live session; unlike the stored header it need not have `delegationDepth`, and it says how long the inherited prefix is. Closed.
 */
export interface SessionLogHeader {
  version: Count;
  /**
   * Session id.
   */
  id: string;
  createdAt: EpochMs;
  /**
   * Absolute path of the working directory.
   */
  cwd?: string;
  /**
   * Id of the session this one was forked or delegated from.
   */
  parentSession?: string;
  seedLength?: Count;
  /**
   * Present for a session that another agent started.
   */
  origin?: "subagent";
  delegationDepth?: Count;
  /**
   * Id of the agent preset.
   */
  agentPreset?: string;
}
/**
 * One event of the log. Its member order differs from the log file: it is the order of `properties` here. Closed.
 */
export interface SessionLogEvent {
  seq: Seq;
  time: EpochMs;
  data: Json;
  ignorable?: Ignorable;
  /**
   * Event type.
   */
  type: string;
  surfaceOp?: Json;
  sourceEventSeqs?: Json;
}
/**
 * Member `dsh_plugin_packages`: the plugin packages that the sending process had loaded. Not derivable from a log. Closed.
 */
export interface PluginPackagesExtension {
  /**
   * Version of this extension.
   */
  version: 1;
  /**
   * The packages, each once, sorted by name and then by version (UTF-16 code unit order).
   */
  packages: PluginPackage[];
}
/**
 * One loaded package. Closed.
 */
export interface PluginPackage {
  /**
   * Package name.
   */
  name: string;
  /**
   * Package version; absent when unknown.
   */
  version?: string;
}
/**
 * Body of one chat-completions request. Open: a request extension appends members of its own after `stop`. No member is ever null.
 */
export interface ChatRequest {
  /**
   * Model id as the endpoint knows it; equals `GenerateOptions.model`.
   */
  model: string;
  /**
   * The conversation in history order; messages of the same role are not merged.
   */
  messages: ChatMessage[];
  /**
   * Responses are always streamed.
   */
  stream: true;
  stream_options: ChatStreamOptions;
  thinking?: ChatThinking;
  /**
   * How much the model reasons; absent when thinking is off or undecided.
   */
  reasoning_effort?: "low" | "high" | "max";
  /**
   * Tool declarations; absent when there are none.
   *
   * @minItems 1
   */
  tools?: [ChatTool, ...ChatTool[]];
  temperature?: FreeNumber;
  max_tokens?: PositiveCount;
  /**
   * Texts that end the output; sent whenever the caller gave a list, even an empty one.
   */
  stop?: string[];
  dsh_session_log?: SessionLogExtension;
  dsh_plugin_packages?: PluginPackagesExtension;
  [k: string]: unknown;
}
/**
 * The system prompt, or an update of it in place. Closed.
 */
export interface ChatSystemMessage {
  role: "system";
  /**
   * The prompt text; may be empty.
   */
  content: string;
}
/**
 * Input of the user or of the harness. Closed.
 */
export interface ChatUserMessage {
  role: "user";
  content: ChatUserContent;
}
/**
 * Text; an empty text makes no part. Closed.
 */
export interface ChatTextPart {
  type: "text";
  text: NonEmptyString;
}
/**
 * An image carried in the body. Closed.
 */
export interface ChatImagePart {
  type: "image_url";
  image_url: ChatImageUrl;
}
/**
 * Address of an image. Closed.
 */
export interface ChatImageUrl {
  /**
   * A data URL: `data:<media type>;base64,<bytes>`.
   */
  url: string;
}
/**
 * An image uploaded before through the Files API. Closed.
 */
export interface ChatFilePart {
  type: "file";
  file_id: NonEmptyString;
}
/**
 * An answer of the model. Closed.
 */
export interface ChatAssistantMessage {
  role: "assistant";
  /**
   * All text of the answer; empty when there is none.
   */
  content: string;
  reasoning_content?: NonEmptyString;
  /**
   * The calls of the answer; absent when there are none.
   *
   * @minItems 1
   */
  tool_calls?: [ChatToolCall, ...ChatToolCall[]];
}
/**
 * A tool call of the assistant. Closed.
 */
export interface ChatToolCall {
  /**
   * Call id.
   */
  id: string;
  /**
   * Only functions exist.
   */
  type: "function";
  function: ChatFunctionCall;
}
/**
 * What a call calls. Closed.
 */
export interface ChatFunctionCall {
  /**
   * Name of the called tool.
   */
  name: string;
  /**
   * The arguments text as the model wrote it, valid JSON or not.
   */
  arguments: string;
}
/**
 * The result of a tool call. Whether the call failed is not sent. Closed.
 */
export interface ChatToolMessage {
  role: "tool";
  /**
   * Id of the answered call.
   */
  tool_call_id: string;
  content: NonEmptyString;
}
/**
 * What the stream shall report besides content. Closed.
 */
export interface ChatStreamOptions {
  /**
   * Token usage is always asked for.
   */
  include_usage: true;
}
/**
 * Whether the model reasons before it answers. Closed.
 */
export interface ChatThinking {
  /**
   * The switch.
   */
  type: "enabled" | "disabled";
}
/**
 * One tool declaration. Closed.
 */
export interface ChatTool {
  /**
   * Only functions exist.
   */
  type: "function";
  function: ChatFunction;
}
/**
 * What a declared tool is. Closed.
 */
export interface ChatFunction {
  /**
   * Name the model calls the tool by.
   */
  name: string;
  /**
   * What the tool does, for the model.
   */
  description: string;
  parameters: JsonObject;
}
