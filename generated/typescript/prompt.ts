/**
 * Text of at least one character.
 */
export type NonEmptyString = string;
/**
 * Any JSON value, null included. The log keeps it and gives it no meaning.
 */
export type Json = unknown;
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
 * Why the header was written. initial: the log had none. resume: first request after the session was taken up again. change: the header differs from the one before. series: equal header, but the request does not continue the cached prefix.
 */
export type RequestHeaderReason = "initial" | "resume" | "change" | "series";
/**
 * What is decided about the result of a call.
 */
export type PostToolDecision = AcceptDecision | BlockDecision;
/**
 * What is decided before a call.
 */
export type PreToolDecision = AllowDecision | DenyDecision | AskDecision | CancelDecision;
/**
 * Which changes of the tools the model reads inside the history. Absent: none. in-history: additions and removals. addition-only: additions.
 */
export type RouteToolUpdate = "in-history" | "addition-only";
/**
 * The name of a prompt variable. A text refers to it in double braces, without spaces.
 */
export type VariableName = string;
/**
 * The number of an event in its log. The first event has 0 and each further event the next integer.
 */
export type Seq = number;
/**
 * Earlier events that this one was made from, as a flat list in the order of the writer. Each number is lower than the own seq and occurs once. A replacement cites at least every node it shadows.
 *
 * @minItems 1
 */
export type SourceEventSeqs = [Seq, ...Seq[]];
/**
 * What an event of a surface type does to the surface: "append" adds it as the last node, a replacement puts it in the place of a range.
 */
export type SurfaceOp = "append" | SurfaceReplace;
/**
 * How long a call may take, in milliseconds.
 */
export type TimeoutMs = number;

/**
 * Every type of this file by its name.
 */
export interface Definitions {
  AcceptDecision: AcceptDecision;
  AdapterDefaults: AdapterDefaults;
  AddedMessage: AddedMessage;
  AllowDecision: AllowDecision;
  AskDecision: AskDecision;
  AssembleContext: AssembleContext;
  AssembledText: AssembledText;
  BlockDecision: BlockDecision;
  CallConfig: CallConfig;
  CancelDecision: CancelDecision;
  Count: Count;
  DenyDecision: DenyDecision;
  DueMessage: DueMessage;
  EpochHeader: EpochHeader;
  FailureReason: FailureReason;
  FreeNumber: FreeNumber;
  HeaderDecision: HeaderDecision;
  Json: Json;
  JsonObject: JsonObject;
  NonEmptyString: NonEmptyString;
  OutputSchema: OutputSchema;
  ParameterSpecs: ParameterSpecs;
  PersonaConfig: PersonaConfig;
  PositiveCount: PositiveCount;
  PostToolDecision: PostToolDecision;
  PreToolDecision: PreToolDecision;
  PreparedCall: PreparedCall;
  PromptAssembly: PromptAssembly;
  PromptConfig: PromptConfig;
  PromptContext: PromptContext;
  PromptProjectionInput: PromptProjectionInput;
  PromptSection: PromptSection;
  PromptVariable: PromptVariable;
  PropertySpec: PropertySpec;
  RequestContextData: RequestContextData;
  RequestHeaderData: RequestHeaderData;
  RequestHeaderReason: RequestHeaderReason;
  RouteToolUpdate: RouteToolUpdate;
  Seq: Seq;
  SeriesMemory: SeriesMemory;
  ShownBlock: ShownBlock;
  SourceEventSeqs: SourceEventSeqs;
  SurfaceCommit: SurfaceCommit;
  SurfaceOp: SurfaceOp;
  SurfaceReplace: SurfaceReplace;
  TimeoutMs: TimeoutMs;
  ToolDefinition: ToolDefinition;
  ToolError: ToolError;
  ToolFailure: ToolFailure;
  ToolInvocation: ToolInvocation;
  ToolOutput: ToolOutput;
  ToolProviderResult: ToolProviderResult;
  ToolRestriction: ToolRestriction;
  ToolSchema: ToolSchema;
  ToolSuccess: ToolSuccess;
  ValueSpec: ValueSpec;
  VariableName: VariableName;
}
/**
 * Take the result, perhaps with another content or another value in its place, never both. Closed.
 */
export interface AcceptDecision {
  kind: "accept";
  /**
   * What the model reads instead.
   */
  content?: ShownBlock[];
  value?: Json;
  /**
   * Messages behind those of the call.
   */
  additionalContexts?: AddedMessage[];
}
/**
 * A content block as the session format describes it. Open: the other members depend on the type.
 */
export interface ShownBlock {
  type: NonEmptyString;
  [k: string]: unknown;
}
/**
 * A user message as the session format describes it. Open: an id and more.
 */
export interface AddedMessage {
  role: "user";
  /**
   * The content blocks in order.
   */
  content: ShownBlock[];
  source: JsonObject;
  [k: string]: unknown;
}
/**
 * A JSON object. Open: members of any name and any value.
 */
export interface JsonObject {
  [k: string]: Json;
}
/**
 * Marks the settings that were filled in with a default of the adapter. Each marked setting is present in the config. Closed.
 */
export interface AdapterDefaults {
  /**
   * config.reasoningEffort is a default.
   */
  reasoningEffort?: true;
  /**
   * config.maxTokens is a default.
   */
  maxTokens?: true;
}
/**
 * Let the call run, unless a guard denies it. Closed.
 */
export interface AllowDecision {
  kind: "allow";
}
/**
 * Let a person decide. Without anybody to ask the call is denied. Closed.
 */
export interface AskDecision {
  kind: "ask";
  /**
   * Why somebody is asked; the message of the failure when nobody can be.
   */
  reason?: string;
  /**
   * The same for displays.
   */
  displayReason?: string;
}
/**
 * What one assembly is for; every provider and listener gets it. Open: other software adds members.
 */
export interface AssembleContext {
  scope?: Json;
  signal?: Json;
  agent?: Json;
  [k: string]: unknown;
}
/**
 * A section or a context whose text is made, and not interpolated yet. Closed.
 */
export interface AssembledText {
  /**
   * The name of the contribution.
   */
  name: string;
  /**
   * The text with its references.
   */
  text: string;
  /**
   * As it was registered; absent where it was not stated.
   */
  interpolate?: boolean;
}
/**
 * Make a failure of the result. Closed.
 */
export interface BlockDecision {
  kind: "block";
  /**
   * What the model reads instead; the message of the failure is its texts, joined by line feeds.
   */
  feedback: ShownBlock[];
  /**
   * The only messages that are kept.
   */
  additionalContexts?: AddedMessage[];
}
/**
 * The settings of a model call. Released readers tolerate further members and ignore them. Closed.
 */
export interface CallConfig {
  provider: NonEmptyString;
  model: NonEmptyString;
  reasoningEffort?: NonEmptyString;
  temperature?: FreeNumber;
  maxTokens?: PositiveCount;
  /**
   * Texts that end the response. An empty list differs from an absent one.
   */
  stop?: string[];
}
/**
 * Treat the call as cancelled before it began. Closed.
 */
export interface CancelDecision {
  kind: "cancel";
}
/**
 * Do not run the call, and tell the model why. Closed.
 */
export interface DenyDecision {
  kind: "deny";
  /**
   * The message of the failure.
   */
  reason: string;
  info?: ToolError;
}
/**
 * Why a tool call failed, for programs. Closed.
 */
export interface ToolError {
  name: NonEmptyString;
  code: NonEmptyString;
  /**
   * A finer reason. Written by late V3 releases and by V4.
   */
  reason?: string;
}
/**
 * A message that nobody has appended yet, as the session format describes it. Open: an id and more.
 */
export interface DueMessage {
  /**
   * Who speaks: a system prompt, or runtime context.
   */
  role: "system" | "user";
  /**
   * One text block, or nothing for an empty prompt.
   */
  content: ShownBlock[];
  source: JsonObject;
  [k: string]: unknown;
}
/**
 * What stays the same from request to request until it is written anew. The system prompt is not here: it is a system/message on the surface, and a member named system is refused. Released readers tolerate other members. Closed.
 */
export interface EpochHeader {
  config: CallConfig;
  adapterDefaults?: AdapterDefaults;
  /**
   * The tools that the model can use. Absent when there are none.
   *
   * @minItems 1
   */
  tools?: [ToolSchema, ...ToolSchema[]];
}
/**
 * A tool as the model sees it. Closed.
 */
export interface ToolSchema {
  name: NonEmptyString;
  /**
   * What the tool does, for the model.
   */
  description: string;
  parameters: JsonObject;
  /**
   * The definition is kept out of the context of the model until a later message adds the tool.
   */
  deferLoading?: true;
}
/**
 * Why a call failed. Closed.
 */
export interface FailureReason {
  /**
   * The words; a thrown error reaches the model as Error: and this.
   */
  message: string;
  info?: ToolError;
}
/**
 * What a request logs about itself before it is sent. Closed.
 */
export interface HeaderDecision {
  header?: RequestHeaderData;
  /**
   * The tools that a developer message names as new, in the order of now.
   */
  added: string[];
  /**
   * The tools that it names as gone, in the order of before.
   */
  removed: string[];
  route?: RequestContextData;
  memory: SeriesMemory;
}
/**
 * Payload of request/header. Closed.
 */
export interface RequestHeaderData {
  header: EpochHeader;
  reason: RequestHeaderReason;
  /**
   * The request does not continue the cached prefix of the one before. Absent with reason "series", which says so itself.
   */
  startsSeries?: true;
}
/**
 * Payload of request/context. Closed.
 */
export interface RequestContextData {
  provider: NonEmptyString;
  model: NonEmptyString;
  contextWindow?: PositiveCount;
  /**
   * The model reads a later system message as the new system prompt. Absent: it reads only the leading one.
   */
  systemPromptUpdate?: "in-history";
}
/**
 * What a loop remembers of its last request, or of the moment at which it began. Closed.
 */
export interface SeriesMemory {
  generation: Count;
  /**
   * Whether this loop has logged a header.
   */
  headerLogged: boolean;
}
/**
 * A schema of the enforced subset, for what a tool gives back. Without type and oneOf it stands for any JSON value. Closed.
 */
export interface OutputSchema {
  /**
   * The type of the value.
   */
  type?: "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";
  /**
   * The value is valid in exactly one of these. Stands without type.
   *
   * @minItems 2
   */
  oneOf?: [OutputSchema, OutputSchema, ...OutputSchema[]];
  /**
   * The members of an object.
   */
  properties?: {
    [k: string]: OutputSchema;
  };
  /**
   * The members that an object has to have; each is one of properties.
   */
  required?: string[];
  /**
   * Whether an object may have other members. Absent: it may.
   */
  additionalProperties?: boolean;
  items?: OutputSchema;
  /**
   * The values that a scalar may have.
   *
   * @minItems 1
   */
  enum?: [Json, ...Json[]];
  const?: Json;
  /**
   * What the value means, for the model.
   */
  description?: string;
  /**
   * A short name of the value.
   */
  title?: string;
  default?: Json;
  examples?: Json;
}
/**
 * The arguments of a typed tool, or the members of an object, by name. Open: each member is a property.
 */
export interface ParameterSpecs {
  [k: string]: PropertySpec;
}
/**
 * A property in the typed form: a value, and whether it is required. Closed.
 */
export interface PropertySpec {
  /**
   * The type of the value.
   */
  type?: "object" | "array" | "string" | "number" | "integer" | "boolean" | "null" | "json";
  /**
   * The value is valid in exactly one of these. Stands without type.
   *
   * @minItems 2
   */
  oneOf?: [ValueSpec, ValueSpec, ...ValueSpec[]];
  properties?: ParameterSpecs;
  /**
   * Whether an object may have other members. Every object says so.
   */
  additionalProperties?: boolean;
  /**
   * The property has to be there.
   */
  required?: true;
  items?: ValueSpec;
  /**
   * The values that a scalar may have.
   *
   * @minItems 1
   */
  enum?: [Json, ...Json[]];
  const?: Json;
  /**
   * What the value means, for the model.
   */
  description?: string;
  /**
   * A short name of the value.
   */
  title?: string;
  default?: Json;
  examples?: Json;
}
/**
 * A value in the typed form. Closed.
 */
export interface ValueSpec {
  /**
   * The type of the value.
   */
  type?: "object" | "array" | "string" | "number" | "integer" | "boolean" | "null" | "json";
  /**
   * The value is valid in exactly one of these. Stands without type.
   *
   * @minItems 2
   */
  oneOf?: [ValueSpec, ValueSpec, ...ValueSpec[]];
  properties?: ParameterSpecs;
  /**
   * Whether an object may have other members. Every object says so.
   */
  additionalProperties?: boolean;
  items?: ValueSpec;
  /**
   * The values that a scalar may have.
   *
   * @minItems 1
   */
  enum?: [Json, ...Json[]];
  const?: Json;
  /**
   * What the value means, for the model.
   */
  description?: string;
  /**
   * A short name of the value.
   */
  title?: string;
  default?: Json;
  examples?: Json;
}
/**
 * The settings of a scope's own persona, which takes the place of both persona sections of the deployment. Open: unknown settings are ignored.
 */
export interface PersonaConfig {
  /**
   * The text of the section deployment:persona-prefix in the scope.
   */
  prefix: string;
  /**
   * The text of the section deployment:persona-suffix in the scope. Absent: empty, which shadows the one of the deployment.
   */
  suffix?: string;
  /**
   * Whether the prefix is the whole system prompt. Absent: it is not.
   */
  complete?: boolean;
  /**
   * Whether contexts that are not required take part in the scope. Absent: they do.
   */
  includeRuntimeContext?: boolean;
  [k: string]: unknown;
}
/**
 * A request as its adapter has prepared it, and what the adapter declares about the route. Closed.
 */
export interface PreparedCall {
  config: CallConfig;
  adapterDefaults?: AdapterDefaults;
  /**
   * The assembled tools in order.
   */
  tools?: ToolSchema[];
  contextWindow?: PositiveCount;
  /**
   * The model reads a later system message as the new system prompt.
   */
  systemPromptUpdate?: "in-history";
  toolUpdate?: RouteToolUpdate;
}
/**
 * All that one request is told. Open: listeners add members.
 */
export interface PromptAssembly {
  /**
   * The sections in order; there is only one when it is complete.
   */
  sections: AssembledText[];
  /**
   * The contexts in order.
   */
  contexts: AssembledText[];
  /**
   * The tools in the order in which they are sent.
   */
  tools: ToolSchema[];
  /**
   * The value of every registered variable that has one, by name.
   */
  variables: {
    [k: string]: string;
  };
  [k: string]: unknown;
}
/**
 * What the service registers by itself, and how tools are ordered. Open: unknown settings are ignored.
 */
export interface PromptConfig {
  /**
   * Whether the section harness:identity is registered. Absent: it is.
   */
  includeHarnessIdentity?: boolean;
  /**
   * Whether contexts that are not required take part anywhere. Absent: they do.
   */
  includeRuntimeContext?: boolean;
  /**
   * The text of the section deployment:persona-prefix, which is there even when it is empty.
   */
  personaPrefix?: string;
  /**
   * The text of the section deployment:persona-suffix, which is there even when it is empty.
   */
  personaSuffix?: string;
  /**
   * The names of tools in the order in which they are sent; the entry <unlisted-tools> stands for all others. Absent, which is not the empty list: by name.
   *
   * @minItems 1
   */
  toolOrder?: [string, ...string[]];
  [k: string]: unknown;
}
/**
 * A fact of the moment. The model reads all facts together as one snapshot, which is written again only when it has changed. Closed.
 */
export interface PromptContext {
  /**
   * Unique in its layer.
   */
  name: string;
  order: FreeNumber;
  /**
   * The text; an empty one contributes nothing.
   */
  text: string;
  /**
   * Whether references are replaced. Absent: they are.
   */
  interpolate?: boolean;
  /**
   * Whether it stays when runtime context is suppressed.
   */
  required?: boolean;
}
/**
 * What the projection of the system prompt is asked. Closed.
 */
export interface PromptProjectionInput {
  /**
   * The rendered prompt; empty when there is none.
   */
  rendered: string;
  /**
   * The route of this attempt reads prompts inside the history.
   */
  inHistory: boolean;
  /**
   * This request does not continue the messages of the one before.
   */
  startsSeries: boolean;
}
/**
 * A part of the system prompt. Closed.
 */
export interface PromptSection {
  /**
   * Unique in its layer; of sections of one order the one with the lower name, by UTF-16 code units, comes first.
   */
  name: string;
  order: FreeNumber;
  /**
   * The text, with references to variables in it; a program may give a function that is called once for each assembly.
   */
  text: string;
  /**
   * Whether references are replaced. Absent: they are.
   */
  interpolate?: boolean;
  /**
   * Whether this text is the whole system prompt. At most one section in effect is complete.
   */
  complete?: boolean;
}
/**
 * A variable in one assembly. Closed.
 */
export interface PromptVariable {
  name: VariableName;
  /**
   * What references to it become. Absent: it has no value in this assembly, and a reference to it fails.
   */
  value?: string;
}
/**
 * A message that is due, and how it enters the surface. Closed.
 */
export interface SurfaceCommit {
  message: DueMessage;
  surfaceOp: SurfaceOp;
  sourceEventSeqs?: SourceEventSeqs;
}
/**
 * Puts this event in the place of a range of surface nodes. The range runs from the node startSeq to the node endSeq in surface order, both included. Every node in it must be cited in sourceEventSeqs. Closed.
 */
export interface SurfaceReplace {
  op: "replace";
  startSeq: Seq;
  endSeq: Seq;
}
/**
 * A tool. Only the members of its schema reach the model. Open: execute, projectContent, finalizeContent, isConcurrencySafe, presentCall and presentResult are functions, and members of others are kept.
 */
export interface ToolDefinition {
  /**
   * The name by which the model calls the tool; unique in its layer.
   */
  name: string;
  /**
   * What the tool does, for the model.
   */
  description: string;
  parameters: JsonObject;
  /**
   * The definition is kept out of the context of the model until a later message adds the tool.
   */
  deferLoading?: true;
  output: ToolOutput;
  timeoutMs?: TimeoutMs;
  [k: string]: unknown;
}
/**
 * What a tool gives back. Open: render and presentationMeta are functions.
 */
export interface ToolOutput {
  schema: OutputSchema;
  [k: string]: unknown;
}
/**
 * A call that did not work. Closed.
 */
export interface ToolFailure {
  isError: true;
  error: FailureReason;
  /**
   * What the model reads of it.
   */
  content: ShownBlock[];
  meta?: Json;
  /**
   * Messages that the model gets with its next step.
   *
   * @minItems 1
   */
  additionalContexts?: [AddedMessage, ...AddedMessage[]];
}
/**
 * A call of a tool. Open: the signal, the agent and the token of the calling program are live objects.
 */
export interface ToolInvocation {
  callId: NonEmptyString;
  /**
   * The tool.
   */
  name: string;
  arguments: Json;
  rootCallId?: NonEmptyString;
  [k: string]: unknown;
}
/**
 * What a tool provider gives for one assembly. Open: nothing else is read.
 */
export interface ToolProviderResult {
  /**
   * The tools that are visible in this assembly. Members beyond those of a tool schema are left out.
   */
  schemas: ToolSchema[];
  /**
   * The names of all tools of the provider before restrictions, which toolOrder is checked against. Absent: those of schemas.
   */
  knownNames?: string[];
  [k: string]: unknown;
}
/**
 * What a scope may use of the tools that it inherits. Closed.
 */
export interface ToolRestriction {
  /**
   * Only these are visible; an empty list hides all.
   */
  allow?: string[];
  /**
   * These are hidden.
   */
  deny?: string[];
}
/**
 * A call that worked. Closed.
 */
export interface ToolSuccess {
  isError: false;
  value: Json;
  /**
   * What the model reads of it.
   */
  content: ShownBlock[];
  meta?: Json;
  /**
   * Messages that the model gets with its next step.
   *
   * @minItems 1
   */
  additionalContexts?: [AddedMessage, ...AddedMessage[]];
  /**
   * No further step is needed.
   */
  concludesTurn?: true;
}
