/**
 * Text of at least one character.
 */
export type NonEmptyString = string;
/**
 * Any JSON value, null included. The log keeps it and gives it no meaning.
 */
export type Json = unknown;
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
 * Any finite number, whole or not.
 */
export type FreeNumber = number;
/**
 * A whole number, 1 or more, that JavaScript holds exactly.
 */
export type PositiveCount = number;
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
 * What a request is for, when it is not one of the loop. compaction: a summary of older messages. session-title: a title for the session.
 */
export type GeneratePurpose = "compaction" | "session-title";
/**
 * A block of an assistant turn.
 */
export type MessagesAssistantBlock = MessagesTextBlock | MessagesThinkingBlock | MessagesToolUseBlock;
/**
 * Where the bytes of an image are. One request never mixes both kinds.
 */
export type MessagesImageSource = MessagesFileSource | MessagesBase64Source;
/**
 * One wire message, told apart by its role.
 */
export type MessagesMessage = MessagesUserMessage | MessagesAssistantMessage | MessagesSystemMessage;
/**
 * A block of a user turn.
 */
export type MessagesUserBlock = MessagesTextBlock | MessagesImageBlock | MessagesToolResultBlock;
/**
 * A block of what a tool returned.
 */
export type MessagesResultBlock = MessagesTextBlock | MessagesImageBlock;
/**
 * A block of a change inside the history.
 */
export type MessagesSystemBlock = MessagesTextBlock | MessagesToolAdditionBlock | MessagesToolRemovalBlock;
/**
 * A block of an answer.
 */
export type PiAiBlock = PiAiTextBlock | PiAiThinkingBlock | PiAiToolCall;
/**
 * A message, told apart by its role.
 */
export type PiAiMessage = PiAiSystemMessage | PiAiUserMessage | PiAiAssistantMessage | PiAiToolResultMessage;
/**
 * A text: of a system message. Parts: of a developer message.
 */
export type PiAiSystemContent = NonEmptyString | PiAiTexts;
/**
 * Text parts in order; none for a bare change of tools.
 */
export type PiAiTexts = PiAiTextPart[];
/**
 * A joined text (it may be empty), or parts when at least one of them is an image.
 */
export type PiAiUserContent = string | PiAiParts;
/**
 * Parts of a message, in order.
 *
 * @minItems 1
 */
export type PiAiParts = [PiAiPart, ...PiAiPart[]];
/**
 * A part of a message.
 */
export type PiAiPart = PiAiTextPart | PiAiImagePart;
/**
 * Which changes of the tools the model reads inside the history. Absent: none. in-history: additions and removals. addition-only: additions.
 */
export type RouteToolUpdate = "in-history" | "addition-only";
/**
 * A kind of input.
 */
export type RouteModality = "text" | "image";
/**
 * How much a DeepSeek model is to think. off: not at all.
 */
export type RouteEffort = "off" | "low" | "high" | "max";
/**
 * The body of one model request, on any wire, or what a library takes in its place. Each wire has its own.
 */
export type WireRequest = MessagesRequest | ChatRequest | PiAiContext;

/**
 * Every type of this file by its name.
 */
export interface Definitions {
  ChatAssistantMessage: ChatAssistantMessage;
  ChatFilePart: ChatFilePart;
  ChatFunction: ChatFunction;
  ChatFunctionCall: ChatFunctionCall;
  ChatImagePart: ChatImagePart;
  ChatImageUrl: ChatImageUrl;
  ChatMessage: ChatMessage;
  ChatPart: ChatPart;
  ChatParts: ChatParts;
  ChatRequest: ChatRequest;
  ChatStreamOptions: ChatStreamOptions;
  ChatSystemMessage: ChatSystemMessage;
  ChatTextPart: ChatTextPart;
  ChatThinking: ChatThinking;
  ChatTool: ChatTool;
  ChatToolCall: ChatToolCall;
  ChatToolMessage: ChatToolMessage;
  ChatUserContent: ChatUserContent;
  ChatUserMessage: ChatUserMessage;
  Count: Count;
  EpochMs: EpochMs;
  FreeNumber: FreeNumber;
  GenerateContentBlock: GenerateContentBlock;
  GenerateMessage: GenerateMessage;
  GenerateOptions: GenerateOptions;
  GeneratePurpose: GeneratePurpose;
  GenerateTool: GenerateTool;
  GenerateToolHistory: GenerateToolHistory;
  GenerateToolUpdate: GenerateToolUpdate;
  Ignorable: Ignorable;
  Json: Json;
  JsonObject: JsonObject;
  MessagesAssistantBlock: MessagesAssistantBlock;
  MessagesAssistantMessage: MessagesAssistantMessage;
  MessagesBase64Source: MessagesBase64Source;
  MessagesFileSource: MessagesFileSource;
  MessagesImageBlock: MessagesImageBlock;
  MessagesImageSource: MessagesImageSource;
  MessagesMessage: MessagesMessage;
  MessagesOutputConfig: MessagesOutputConfig;
  MessagesRequest: MessagesRequest;
  MessagesResultBlock: MessagesResultBlock;
  MessagesSystemBlock: MessagesSystemBlock;
  MessagesSystemMessage: MessagesSystemMessage;
  MessagesTextBlock: MessagesTextBlock;
  MessagesThinking: MessagesThinking;
  MessagesThinkingBlock: MessagesThinkingBlock;
  MessagesTool: MessagesTool;
  MessagesToolAdditionBlock: MessagesToolAdditionBlock;
  MessagesToolReference: MessagesToolReference;
  MessagesToolRemovalBlock: MessagesToolRemovalBlock;
  MessagesToolResultBlock: MessagesToolResultBlock;
  MessagesToolUseBlock: MessagesToolUseBlock;
  MessagesUserBlock: MessagesUserBlock;
  MessagesUserMessage: MessagesUserMessage;
  NonEmptyString: NonEmptyString;
  PiAiAssistantMessage: PiAiAssistantMessage;
  PiAiBlock: PiAiBlock;
  PiAiContext: PiAiContext;
  PiAiCost: PiAiCost;
  PiAiImagePart: PiAiImagePart;
  PiAiMessage: PiAiMessage;
  PiAiPart: PiAiPart;
  PiAiParts: PiAiParts;
  PiAiSystemContent: PiAiSystemContent;
  PiAiSystemMessage: PiAiSystemMessage;
  PiAiTextBlock: PiAiTextBlock;
  PiAiTextPart: PiAiTextPart;
  PiAiTexts: PiAiTexts;
  PiAiThinkingBlock: PiAiThinkingBlock;
  PiAiTool: PiAiTool;
  PiAiToolCall: PiAiToolCall;
  PiAiToolName: PiAiToolName;
  PiAiToolResultMessage: PiAiToolResultMessage;
  PiAiUsage: PiAiUsage;
  PiAiUserContent: PiAiUserContent;
  PiAiUserMessage: PiAiUserMessage;
  PluginPackage: PluginPackage;
  PluginPackagesExtension: PluginPackagesExtension;
  PositiveCount: PositiveCount;
  Route: Route;
  RouteEffort: RouteEffort;
  RouteModality: RouteModality;
  RouteToolUpdate: RouteToolUpdate;
  Seq: Seq;
  SessionLogEvent: SessionLogEvent;
  SessionLogExtension: SessionLogExtension;
  SessionLogHeader: SessionLogHeader;
  WireRequest: WireRequest;
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
 * An image uploaded before through the Files API. Closed.
 */
export interface ChatFilePart {
  type: "file";
  file_id: NonEmptyString;
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
/**
 * A JSON object. Open: members of any name and any value.
 */
export interface JsonObject {
  [k: string]: Json;
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
 * A piece of message content, as the ContentBlock of the session's format describes it. Open: each type has members of its own.
 */
export interface GenerateContentBlock {
  /**
   * The kind of block.
   */
  type: string;
  [k: string]: unknown;
}
/**
 * A message of the folded surface, as the Message of the session's format describes it, or one without id and source that a caller made for this request alone. Open: id, source, toolCallId and isError are as in the log.
 */
export interface GenerateMessage {
  /**
   * Who speaks. tool and developer occur from format 4 on.
   */
  role: "system" | "developer" | "user" | "assistant" | "tool";
  /**
   * The content blocks in order.
   */
  content: GenerateContentBlock[];
  [k: string]: unknown;
}
/**
 * One model request, before it is put on a wire. Closed.
 */
export interface GenerateOptions {
  provider: NonEmptyString;
  model: NonEmptyString;
  /**
   * How much the model is to think, in words of the provider.
   */
  reasoningEffort?: string;
  /**
   * The messages in order. Those of a loop request are the folded surface.
   */
  messages: GenerateMessage[];
  /**
   * A system prompt besides the messages. Loop requests of formats 3 and 4 never have it: their prompt is a message. One-shot callers such as titles do.
   */
  system?: string;
  /**
   * The tools of the request header in force; absent when it has none.
   */
  tools?: GenerateTool[];
  toolHistory?: GenerateToolHistory;
  temperature?: FreeNumber;
  maxTokens?: PositiveCount;
  /**
   * Texts that end the response. An empty list differs from an absent one.
   */
  stop?: string[];
  sessionId?: NonEmptyString;
  purpose?: GeneratePurpose;
}
/**
 * A tool that the model may call. Closed.
 */
export interface GenerateTool {
  /**
   * The name the model calls it by.
   */
  name: string;
  /**
   * What it does, for the model.
   */
  description: string;
  parameters: JsonObject;
  /**
   * The tool is declared, and the model may use it only after a tool-addition block. From format 4 on.
   */
  deferLoading?: true;
}
/**
 * How the tools came to be what they are. From format 4 on. Closed.
 */
export interface GenerateToolHistory {
  /**
   * The baseline: the tools at the start of the current series of requests.
   */
  tools: GenerateTool[];
  /**
   * The changes since then, oldest first.
   */
  updates: GenerateToolUpdate[];
}
/**
 * One change of the tools. Closed.
 */
export interface GenerateToolUpdate {
  messageId: NonEmptyString;
  /**
   * The definitions of the tools that came in. Empty when tools only went away.
   */
  additions: GenerateTool[];
}
/**
 * Text; an empty text makes no block. Closed.
 */
export interface MessagesTextBlock {
  type: "text";
  text: NonEmptyString;
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
 * An image uploaded before through the Files API. Closed.
 */
export interface MessagesFileSource {
  type: "file";
  file_id: NonEmptyString;
}
/**
 * An image; a text block with its handle stands right before it. Closed.
 */
export interface MessagesImageBlock {
  type: "image";
  source: MessagesImageSource;
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
 * How much the model reasons; absent exactly when the effort is `off`. Closed.
 */
export interface MessagesOutputConfig {
  /**
   * Reasoning effort.
   */
  effort: "low" | "high" | "max";
}
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
 * Whether the model reasons before it answers. Closed.
 */
export interface MessagesThinking {
  /**
   * `disabled` exactly when the effort is `off`.
   */
  type: "enabled" | "disabled";
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
 * An answer of a model. With usable replay state as the model gave it, otherwise told anew under the api `dsh-foreign`. Closed.
 */
export interface PiAiAssistantMessage {
  role: "assistant";
  /**
   * The blocks of the answer, in order.
   */
  content: PiAiBlock[];
  api: NonEmptyString;
  provider: NonEmptyString;
  model: NonEmptyString;
  /**
   * The model that answered, in words of the endpoint.
   */
  responseModel?: string;
  /**
   * The id of the response.
   */
  responseId?: string;
  /**
   * How much the model thought, in words of the provider.
   */
  providerThinkingLevel?: string;
  usage: PiAiUsage;
  /**
   * Why the answer ended.
   */
  stopReason: "stop" | "length" | "toolUse" | "error" | "aborted";
  /**
   * Always 0: a context is the same whenever it is made.
   */
  timestamp: 0;
}
/**
 * Text of an answer. Closed.
 */
export interface PiAiTextBlock {
  type: "text";
  /**
   * The text.
   */
  text: string;
  /**
   * The provider's proof of it.
   */
  textSignature?: string;
}
/**
 * Reasoning of an answer. Closed.
 */
export interface PiAiThinkingBlock {
  type: "thinking";
  /**
   * The reasoning.
   */
  thinking: string;
  /**
   * The provider's proof of it.
   */
  thinkingSignature?: string;
  /**
   * Whether the provider hid it.
   */
  redacted?: boolean;
}
/**
 * A tool call. Closed.
 */
export interface PiAiToolCall {
  type: "toolCall";
  /**
   * The id of the call.
   */
  id: string;
  /**
   * The name of the tool.
   */
  name: string;
  arguments: JsonObject;
  /**
   * The provider's proof of the thought behind it.
   */
  thoughtSignature?: string;
  /**
   * Where the tool is from, in words of the provider.
   */
  namespace?: string;
}
/**
 * Token counts, which a history does not have: all 0. Closed.
 */
export interface PiAiUsage {
  /**
   * Tokens read.
   */
  input: 0;
  /**
   * Tokens written.
   */
  output: 0;
  /**
   * Tokens read from the cache.
   */
  cacheRead: 0;
  /**
   * Tokens written to the cache.
   */
  cacheWrite: 0;
  /**
   * All tokens.
   */
  totalTokens: 0;
  cost: PiAiCost;
}
/**
 * Costs, which a history does not have: all 0. Closed.
 */
export interface PiAiCost {
  /**
   * Of tokens read.
   */
  input: 0;
  /**
   * Of tokens written.
   */
  output: 0;
  /**
   * Of tokens read from the cache.
   */
  cacheRead: 0;
  /**
   * Of tokens written to the cache.
   */
  cacheWrite: 0;
  /**
   * Of all tokens.
   */
  total: 0;
}
/**
 * What the pi-ai library takes for one request. Closed.
 */
export interface PiAiContext {
  /**
   * The prompt in force at the start: of the options, of leading system messages, or both (by release). Absent when there is none.
   */
  systemPrompt?: string;
  /**
   * The rest of the conversation, in order.
   */
  messages: PiAiMessage[];
  /**
   * The tools that the model may use from the start; absent when there are none.
   *
   * @minItems 1
   */
  tools?: [PiAiTool, ...PiAiTool[]];
}
/**
 * A later system prompt, or a change of the tools; from format 4 on. Closed.
 */
export interface PiAiSystemMessage {
  role: "system";
  content: PiAiSystemContent;
  /**
   * Always 0: a context is the same whenever it is made.
   */
  timestamp: 0;
  /**
   * The tools that came in; absent when there are none.
   *
   * @minItems 1
   */
  toolsAdded?: [PiAiTool, ...PiAiTool[]];
  /**
   * The tools that went; absent when there are none.
   *
   * @minItems 1
   */
  toolsRemoved?: [PiAiToolName, ...PiAiToolName[]];
}
/**
 * Text; an empty text makes no part. Closed.
 */
export interface PiAiTextPart {
  type: "text";
  text: NonEmptyString;
}
/**
 * A tool declaration. Closed.
 */
export interface PiAiTool {
  /**
   * The name the model calls it by.
   */
  name: string;
  /**
   * What it does, for the model.
   */
  description: string;
  parameters: JsonObject;
}
/**
 * A tool, by its name. Closed.
 */
export interface PiAiToolName {
  /**
   * The name.
   */
  name: string;
}
/**
 * Input of the user or of the harness. Closed.
 */
export interface PiAiUserMessage {
  role: "user";
  content: PiAiUserContent;
  /**
   * Always 0: a context is the same whenever it is made.
   */
  timestamp: 0;
}
/**
 * An image; a text part with its handle stands in front. Closed.
 */
export interface PiAiImagePart {
  type: "image";
  /**
   * Its bytes in base64.
   */
  data: string;
  /**
   * Its media type.
   */
  mimeType: string;
}
/**
 * The result of a tool call. Closed.
 */
export interface PiAiToolResultMessage {
  role: "toolResult";
  /**
   * The id of the answered call.
   */
  toolCallId: string;
  /**
   * The name of the called tool, by an earlier answer; `unknown` without one.
   */
  toolName: string;
  content: PiAiParts;
  /**
   * Whether the call failed.
   */
  isError: boolean;
  /**
   * Always 0: a context is the same whenever it is made.
   */
  timestamp: 0;
}
/**
 * A route to one model. Only systemPromptUpdate and contextWindow are found in a log too (request/context). Closed.
 */
export interface Route {
  /**
   * The session format of the release that sends. 2 has texts about images of its own and no files; absent means 3, whose texts 4 still has.
   */
  formatVersion?: 2 | 3 | 4;
  /**
   * The model reads a later system message as the new system prompt. Absent: it reads only a leading one.
   */
  systemPromptUpdate?: "in-history";
  toolUpdate?: RouteToolUpdate;
  /**
   * What the model takes in. Without image, images become a text. Absent: unknown; images are then kept and refused by the wire.
   */
  inputModalities?: RouteModality[];
  contextWindow?: PositiveCount;
  maxTokens?: PositiveCount;
  reasoningEffort?: RouteEffort;
  /**
   * Whether the deployment lets the model think. Absent: the deployment does not say.
   */
  thinking?: "enabled" | "disabled";
  /**
   * The providers whose replay state this route understands: those that the same adapter instance serves. Absent: only the provider of the request.
   */
  replayProviders?: string[];
  /**
   * How images travel: as ids of the Files API, or as base64 in the body. One request has one mode. Absent: files when all images have fileIds, otherwise inline.
   */
  imageMode?: "files" | "inline";
  /**
   * The id that the Files API gave to each uploaded image, by attachment id.
   */
  fileIds?: {
    [k: string]: string;
  };
  /**
   * The folder of the attachment store as the model is told about it; null when the model cannot reach it. Absent: where the store is that is read from.
   */
  attachmentRoot?: string | null;
  maxImagesPerRequest?: PositiveCount;
  maxRequestFilesBytes?: PositiveCount;
  maxInlineRequestImageBytes?: PositiveCount;
  imageMaxBytes?: PositiveCount;
  imageOffloadCountQuantum?: PositiveCount;
  imageOffloadByteQuantum?: PositiveCount;
  inlineImageOffloadByteQuantum?: PositiveCount;
}
