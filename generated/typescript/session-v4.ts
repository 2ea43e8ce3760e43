/**
 * Who stopped a turn.
 */
export type AbortReason = UserAbort | ParentAbort | DisposedAbort | LegacyAbort | HookAbort;
/**
 * Text of at least one character.
 */
export type NonEmptyString = string;
/**
 * A whole number, 1 or more, that JavaScript holds exactly.
 */
export type PositiveCount = number;
/**
 * The number of an event in its log. The first event has 0 and each further event the next integer.
 */
export type Seq = number;
/**
 * An instant in milliseconds since 1970-01-01T00:00:00Z. It may be negative, and successive events may go back in time.
 */
export type EpochMs = number;
/**
 * Allows a reader that does not know the type of this event to keep the event without interpreting it. A reader that knows the type interprets the event all the same. The only value is true; otherwise the member is absent.
 */
export type Ignorable = true;
/**
 * A whole number of things, 0 or more, that JavaScript holds exactly.
 */
export type Count = number;
/**
 * An entry of a recorded response: a packed run of deltas, or one chunk.
 */
export type StreamRecord = TextRunRecord | ReasoningRunRecord | ToolCallRunRecord | RawChunkRecord;
/**
 * A whole number, negative ones included, that JavaScript holds exactly.
 */
export type SafeInteger = number;
/**
 * One piece of a model response, independent of the provider.
 */
export type StreamChunk =
  | BlockStartChunk
  | TextDeltaChunk
  | ReasoningDeltaChunk
  | ToolCallDeltaChunk
  | BlockEndChunk
  | UsageChunk
  | FinishChunk;
/**
 * A piece of message content.
 */
export type ContentBlock = KnownContentBlock | OpaqueContentBlock;
/**
 * A content block of a type described here.
 */
export type KnownContentBlock = TextBlock | ReasoningBlock | ImageBlock | FileBlock | ToolCallBlock;
/**
 * The encoding of a stored image.
 */
export type ImageMediaType = "image/png" | "image/jpeg" | "image/webp" | "image/gif";
/**
 * How a model response ended.
 */
export type FinishReason = KnownFinishReason | OpaqueFinishReason;
/**
 * A finish reason of a kind described here.
 */
export type KnownFinishReason = StopFinish | ToolCallsFinish | MaxTokensFinish | AbortedFinish | ErrorFinish;
/**
 * Any JSON value, null included. The log keeps it and gives it no meaning.
 */
export type Json = unknown;
/**
 * Any finite number, whole or not.
 */
export type FreeNumber = number;
/**
 * Every node of the shadowed range in surface order: the first is its start, the last is its end.
 *
 * @minItems 1
 */
export type ShadowedSeqs = [Seq, ...Seq[]];
/**
 * What an injected text is to the model: instructions to follow, a catalog of things on offer, a relayed message, recalled history, a snapshot of current state, or a notice of something that happened.
 */
export type ContextForm = "instructions" | "catalog" | "relay" | "recall" | "snapshot" | "notice";
/**
 * A piece of developer message content: like other content, and tool changes.
 */
export type DeveloperContentBlock = KnownDeveloperContentBlock | OpaqueContentBlock;
/**
 * A content block of a developer message, of a type described here.
 */
export type KnownDeveloperContentBlock =
  TextBlock | ReasoningBlock | ImageBlock | FileBlock | ToolCallBlock | ToolAdditionBlock | ToolRemovalBlock;
/**
 * Who or what produced a message.
 */
export type MessageSource = KnownMessageSource | OpaqueSource;
/**
 * A source of a kind described here.
 */
export type KnownMessageSource =
  | UserSource
  | ModelSource
  | ToolSource
  | SystemPromptSource
  | ToolRegistrySource
  | PtcModeSource
  | CordisHostRunnerSource
  | WorkingDirectorySource
  | RuntimeContextSource
  | CompactCheckpointSource
  | TitleRequestSource
  | UserQuestionReplySource
  | ContextSource
  | AgentInstructionsSource
  | SkillCatalogSource
  | SkillInvocationSource
  | SessionReferenceSource
  | GoalSource
  | AgentMessageSource
  | SubagentSettledSource
  | TeamMessageSource
  | WebhookSource
  | CoordinatorSource
  | SubagentReportSource;
/**
 * What an event of a surface type does to the surface: "append" adds it as the last node, a replacement puts it in the place of a range.
 */
export type SurfaceOp = "append" | SurfaceReplace;
/**
 * Earlier events that this one was made from, as a flat list in the order of the writer. Each number is lower than the own seq and occurs once. A replacement cites at least every node it shadows.
 *
 * @minItems 1
 */
export type SourceEventSeqs = [Seq, ...Seq[]];
/**
 * Which of the two waiting lists: next-turn is read when a turn starts, one message at a time; next-step is read whole at every step.
 */
export type InboxTarget = "next-turn" | "next-step";
/**
 * An event of a type that has a schema.
 */
export type KnownSessionEvent =
  | TurnStartEvent
  | TurnEndEvent
  | StepStartEvent
  | StepEndEvent
  | UserMessageEvent
  | SystemMessageEvent
  | DeveloperMessageEvent
  | AssistantMessageEvent
  | AssistantAttemptEvent
  | ToolCallEvent
  | ToolResultEvent
  | RequestHeaderEvent
  | RequestContextEvent
  | LlmRetryEvent
  | LlmRetryStartedEvent
  | PtcDispatchStartEvent
  | PtcDispatchEvent
  | InboxSplicedEvent
  | CompactionStartEvent
  | CompactionSummaryEvent
  | CompactionEndEvent
  | CompactionPruneEvent
  | ImageOffloadEvent
  | EndSeedEvent
  | SessionTitleEvent
  | TitleLlmRequestEvent
  | DeliveryAcceptedEvent
  | AgentPresetSelectedEvent
  | ModelSelectionEvent
  | WorkingDirectoryChangeEvent;
/**
 * Why a turn ended.
 */
export type TurnEndReason = KnownTurnEndReason | OpaqueTurnEndReason;
/**
 * A reason of a kind described here.
 */
export type KnownTurnEndReason =
  | CompletedTurnEnd
  | BlockedTurnEnd
  | MaxTokensTurnEnd
  | InterruptedTurnEnd
  | AbortedTurnEnd
  | ErrorTurnEnd
  | ForkedTurnEnd;
/**
 * Why the header was written. initial: the log had none. resume: first request after the session was taken up again. change: the header differs from the one before. series: equal header, but the request does not continue the cached prefix.
 */
export type RequestHeaderReason = "initial" | "resume" | "change" | "series";
/**
 * Payload of llm/retry.
 */
export type LlmRetryData = NormalLlmRetryData | AlwaysLlmRetryData;
/**
 * Where a title came from.
 */
export type TitleSource = FallbackTitleSource | UserTitleSource | ProviderTitleSource;
/**
 * A message that a model reads or writes.
 */
export type Message = SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolResultMessage;
/**
 * An event of a session log, as a program holds it (sourceEventSeqs as a flat list).
 */
export type SessionEvent = KnownSessionEvent | OpaqueEvent;
/**
 * The list sourceEventSeqs as a row of a log file holds it. In a strictly increasing list, each run of three or more consecutive numbers is written as a range; any other list is written as it is. [1,3,4,5,9] is stored as [1,[3,5],9].
 *
 * @minItems 1
 *
 * Items: One number or one range.
 */
export type StoredSourceEventSeqs = [Seq | StoredSeqRange, ...(Seq | StoredSeqRange)[]];
/**
 * A run of consecutive event numbers, written as its first and its last number, both included. Writers use it for runs of three or more.
 *
 * @minItems 2
 * @maxItems 2
 */
export type StoredSeqRange = [Seq, Seq, ...Seq[]];

/**
 * Every type of this file by its name.
 */
export interface Definitions {
  AbortReason: AbortReason;
  AbortedFinish: AbortedFinish;
  AbortedTurnEnd: AbortedTurnEnd;
  AdapterDefaults: AdapterDefaults;
  AgentInstructionsChange: AgentInstructionsChange;
  AgentInstructionsSource: AgentInstructionsSource;
  AgentMessageSource: AgentMessageSource;
  AgentPresetSelectedData: AgentPresetSelectedData;
  AgentPresetSelectedEvent: AgentPresetSelectedEvent;
  AlwaysLlmRetryData: AlwaysLlmRetryData;
  AssistantAttemptData: AssistantAttemptData;
  AssistantAttemptEvent: AssistantAttemptEvent;
  AssistantMessage: AssistantMessage;
  AssistantMessageData: AssistantMessageData;
  AssistantMessageEvent: AssistantMessageEvent;
  BlockEndChunk: BlockEndChunk;
  BlockStartChunk: BlockStartChunk;
  BlockedTurnEnd: BlockedTurnEnd;
  CallConfig: CallConfig;
  CompactCheckpointSource: CompactCheckpointSource;
  CompactionEndData: CompactionEndData;
  CompactionEndEvent: CompactionEndEvent;
  CompactionPruneData: CompactionPruneData;
  CompactionPruneEvent: CompactionPruneEvent;
  CompactionStartData: CompactionStartData;
  CompactionStartEvent: CompactionStartEvent;
  CompactionSummaryData: CompactionSummaryData;
  CompactionSummaryEvent: CompactionSummaryEvent;
  CompletedTurnEnd: CompletedTurnEnd;
  ContentBlock: ContentBlock;
  ContextForm: ContextForm;
  ContextSection: ContextSection;
  ContextSource: ContextSource;
  CoordinatorSource: CoordinatorSource;
  CordisHostRunnerSource: CordisHostRunnerSource;
  Count: Count;
  DeliveryAcceptedData: DeliveryAcceptedData;
  DeliveryAcceptedEvent: DeliveryAcceptedEvent;
  DeveloperContentBlock: DeveloperContentBlock;
  DeveloperMessage: DeveloperMessage;
  DeveloperMessageData: DeveloperMessageData;
  DeveloperMessageEvent: DeveloperMessageEvent;
  DisposedAbort: DisposedAbort;
  EndSeedData: EndSeedData;
  EndSeedEvent: EndSeedEvent;
  EpochHeader: EpochHeader;
  EpochMs: EpochMs;
  ErrorFinish: ErrorFinish;
  ErrorTurnEnd: ErrorTurnEnd;
  EventEnvelope: EventEnvelope;
  FallbackTitleSource: FallbackTitleSource;
  FileBlock: FileBlock;
  FileRef: FileRef;
  FinishChunk: FinishChunk;
  FinishReason: FinishReason;
  ForkedTurnEnd: ForkedTurnEnd;
  FreeNumber: FreeNumber;
  GoalSource: GoalSource;
  HookAbort: HookAbort;
  Ignorable: Ignorable;
  ImageBlock: ImageBlock;
  ImageDimensions: ImageDimensions;
  ImageMediaType: ImageMediaType;
  ImageOffloadData: ImageOffloadData;
  ImageOffloadEvent: ImageOffloadEvent;
  ImageOffloadTarget: ImageOffloadTarget;
  ImageRef: ImageRef;
  InboxSplicedData: InboxSplicedData;
  InboxSplicedEvent: InboxSplicedEvent;
  InboxTarget: InboxTarget;
  InterruptedTurnEnd: InterruptedTurnEnd;
  Json: Json;
  JsonObject: JsonObject;
  KnownContentBlock: KnownContentBlock;
  KnownDeveloperContentBlock: KnownDeveloperContentBlock;
  KnownFinishReason: KnownFinishReason;
  KnownMessageSource: KnownMessageSource;
  KnownSessionEvent: KnownSessionEvent;
  KnownTurnEndReason: KnownTurnEndReason;
  LegacyAbort: LegacyAbort;
  LlmFailure: LlmFailure;
  LlmRetryData: LlmRetryData;
  LlmRetryEvent: LlmRetryEvent;
  LlmRetryStartedData: LlmRetryStartedData;
  LlmRetryStartedEvent: LlmRetryStartedEvent;
  MaxTokensFinish: MaxTokensFinish;
  MaxTokensTurnEnd: MaxTokensTurnEnd;
  Message: Message;
  MessageSource: MessageSource;
  ModelRoute: ModelRoute;
  ModelSelectionData: ModelSelectionData;
  ModelSelectionEvent: ModelSelectionEvent;
  ModelSource: ModelSource;
  NonEmptyString: NonEmptyString;
  NormalLlmRetryData: NormalLlmRetryData;
  OpaqueContentBlock: OpaqueContentBlock;
  OpaqueEvent: OpaqueEvent;
  OpaqueFinishReason: OpaqueFinishReason;
  OpaqueSource: OpaqueSource;
  OpaqueTurnEndReason: OpaqueTurnEndReason;
  OwnerPrincipal: OwnerPrincipal;
  ParentAbort: ParentAbort;
  PositiveCount: PositiveCount;
  ProviderTitleSource: ProviderTitleSource;
  PtcDispatchData: PtcDispatchData;
  PtcDispatchEvent: PtcDispatchEvent;
  PtcDispatchStartData: PtcDispatchStartData;
  PtcDispatchStartEvent: PtcDispatchStartEvent;
  PtcModeSource: PtcModeSource;
  RawChunkRecord: RawChunkRecord;
  ReasoningBlock: ReasoningBlock;
  ReasoningDeltaChunk: ReasoningDeltaChunk;
  ReasoningRunRecord: ReasoningRunRecord;
  ReplayState: ReplayState;
  RequestContextData: RequestContextData;
  RequestContextEvent: RequestContextEvent;
  RequestHeaderData: RequestHeaderData;
  RequestHeaderEvent: RequestHeaderEvent;
  RequestHeaderReason: RequestHeaderReason;
  RuntimeContextSource: RuntimeContextSource;
  SafeInteger: SafeInteger;
  Seq: Seq;
  SessionEvent: SessionEvent;
  SessionHeader: SessionHeader;
  SessionReference: SessionReference;
  SessionReferenceSource: SessionReferenceSource;
  SessionTitleData: SessionTitleData;
  SessionTitleEvent: SessionTitleEvent;
  ShadowedRange: ShadowedRange;
  ShadowedSeqs: ShadowedSeqs;
  SkillCatalogEntry: SkillCatalogEntry;
  SkillCatalogSource: SkillCatalogSource;
  SkillInvocationSource: SkillInvocationSource;
  SourceEventSeqs: SourceEventSeqs;
  StepData: StepData;
  StepEndEvent: StepEndEvent;
  StepStartEvent: StepStartEvent;
  StopFinish: StopFinish;
  StoredEventRow: StoredEventRow;
  StoredSeqRange: StoredSeqRange;
  StoredSessionHeader: StoredSessionHeader;
  StoredSourceEventSeqs: StoredSourceEventSeqs;
  StreamChunk: StreamChunk;
  StreamRecord: StreamRecord;
  SubagentReportSource: SubagentReportSource;
  SubagentSettledSource: SubagentSettledSource;
  SurfaceOp: SurfaceOp;
  SurfaceReplace: SurfaceReplace;
  SystemMessage: SystemMessage;
  SystemMessageData: SystemMessageData;
  SystemMessageEvent: SystemMessageEvent;
  SystemPromptSource: SystemPromptSource;
  TeamMessageSource: TeamMessageSource;
  TextBlock: TextBlock;
  TextDeltaChunk: TextDeltaChunk;
  TextRunRecord: TextRunRecord;
  TitleLlmRequestData: TitleLlmRequestData;
  TitleLlmRequestEvent: TitleLlmRequestEvent;
  TitleRequestMessage: TitleRequestMessage;
  TitleRequestSource: TitleRequestSource;
  TitleSource: TitleSource;
  TokenUsage: TokenUsage;
  ToolAdditionBlock: ToolAdditionBlock;
  ToolCallBlock: ToolCallBlock;
  ToolCallData: ToolCallData;
  ToolCallDeltaChunk: ToolCallDeltaChunk;
  ToolCallEvent: ToolCallEvent;
  ToolCallRunRecord: ToolCallRunRecord;
  ToolCallsFinish: ToolCallsFinish;
  ToolError: ToolError;
  ToolRegistrySource: ToolRegistrySource;
  ToolRemovalBlock: ToolRemovalBlock;
  ToolResultData: ToolResultData;
  ToolResultEvent: ToolResultEvent;
  ToolResultMessage: ToolResultMessage;
  ToolSchema: ToolSchema;
  ToolSource: ToolSource;
  TurnEndData: TurnEndData;
  TurnEndEvent: TurnEndEvent;
  TurnEndReason: TurnEndReason;
  TurnStartData: TurnStartData;
  TurnStartEvent: TurnStartEvent;
  UsageChunk: UsageChunk;
  UserAbort: UserAbort;
  UserMessage: UserMessage;
  UserMessageEvent: UserMessageEvent;
  UserQuestionReplySource: UserQuestionReplySource;
  UserSource: UserSource;
  UserTitleSource: UserTitleSource;
  WebhookSource: WebhookSource;
  WorkingDirectoryChangeData: WorkingDirectoryChangeData;
  WorkingDirectoryChangeEvent: WorkingDirectoryChangeEvent;
  WorkingDirectorySource: WorkingDirectorySource;
}
/**
 * A person stopped the turn. Closed.
 */
export interface UserAbort {
  kind: "user";
}
/**
 * The parent agent stopped the turn. Closed.
 */
export interface ParentAbort {
  kind: "parent";
}
/**
 * The agent was taken down. Closed.
 */
export interface DisposedAbort {
  kind: "disposed";
}
/**
 * An older log did not record who stopped the turn. Closed.
 */
export interface LegacyAbort {
  kind: "legacy";
}
/**
 * A hook stopped the turn. Closed.
 */
export interface HookAbort {
  kind: "hook";
  /**
   * What the hook said.
   */
  reason: string;
}
/**
 * The caller cancelled the call. Closed.
 */
export interface AbortedFinish {
  kind: "aborted";
  failure: LlmFailure;
}
/**
 * A failed model call, or another failure that ended a turn. Closed.
 */
export interface LlmFailure {
  message: NonEmptyString;
  code: NonEmptyString;
  /**
   * The HTTP status, when there was one.
   */
  status?: number;
  /**
   * How long the provider asked to wait, in milliseconds.
   */
  providerRetryAfterMs?: number;
  requestId?: NonEmptyString;
  offloadImages?: PositiveCount;
}
/**
 * The turn was stopped. Closed.
 */
export interface AbortedTurnEnd {
  kind: "aborted";
  reason: AbortReason;
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
 * One instruction file that began to apply, was replaced or stopped to apply. Closed.
 */
export interface AgentInstructionsChange {
  /**
   * What happened to the file.
   */
  action: "set" | "replace" | "remove";
  /**
   * The scope the instructions apply to.
   */
  scope: string;
  /**
   * The path of the file.
   */
  path: string;
  /**
   * A digest of the text of the file.
   */
  digest?: string;
}
/**
 * Project instructions, such as an AGENTS.md file, brought into the conversation. Closed.
 */
export interface AgentInstructionsSource {
  kind: "agent-instructions";
  form: "instructions";
  /**
   * The files that the message covers.
   */
  changes: AgentInstructionsChange[];
  /**
   * The message states all instructions in force, not a change.
   */
  baseline?: true;
  baselineIdentity?: NonEmptyString;
}
/**
 * Another agent wrote the message. Closed.
 */
export interface AgentMessageSource {
  kind: "agent-message";
  form: "relay";
  senderSessionId: NonEmptyString;
}
/**
 * Payload of agent-preset/selected. Closed.
 */
export interface AgentPresetSelectedData {
  /**
   * The id of the preset.
   */
  agentPreset: string;
}
/**
 * An agent preset was chosen. The last one counts. Closed.
 */
export interface AgentPresetSelectedEvent {
  type: "agent-preset/selected";
  seq: Seq;
  time: EpochMs;
  data: AgentPresetSelectedData;
  ignorable?: Ignorable;
}
/**
 * Payload of llm/retry under a policy without a limit. Closed.
 */
export interface AlwaysLlmRetryData {
  retryId: NonEmptyString;
  turn: PositiveCount;
  step: PositiveCount;
  provider: NonEmptyString;
  mode: "always";
  policyKey: NonEmptyString;
  retry: PositiveCount;
  /**
   * The wait before the retry, in milliseconds.
   */
  delayMs: number;
  failure: LlmFailure;
}
/**
 * Payload of assistant/attempt. Closed.
 */
export interface AssistantAttemptData {
  turn: Count;
  step: Count;
  /**
   * The response as far as it arrived.
   */
  stream: StreamRecord[];
}
/**
 * Successive text deltas of one block, packed. Closed.
 */
export interface TextRunRecord {
  type: "text-chunks";
  time0: EpochMs;
  index: Count;
  /**
   * Milliseconds from each member to the next, one fewer than there are members. A gap can be 0 or negative.
   */
  dt: SafeInteger[];
  /**
   * The texts of the deltas.
   *
   * @minItems 1
   */
  texts: [string, ...string[]];
}
/**
 * Successive reasoning deltas of one block, packed. Closed.
 */
export interface ReasoningRunRecord {
  type: "reasoning-chunks";
  time0: EpochMs;
  index: Count;
  /**
   * Milliseconds from each member to the next, one fewer than there are members. A gap can be 0 or negative.
   */
  dt: SafeInteger[];
  /**
   * The texts of the deltas.
   *
   * @minItems 1
   */
  texts: [string, ...string[]];
}
/**
 * Successive tool-call deltas of one block with equal id and name, packed. A delta that has no name never shares a run with one that has. Closed.
 */
export interface ToolCallRunRecord {
  type: "tool-call-chunks";
  time0: EpochMs;
  index: Count;
  /**
   * Milliseconds from each member to the next, one fewer than there are members. A gap can be 0 or negative.
   */
  dt: SafeInteger[];
  id: NonEmptyString;
  name?: NonEmptyString;
  /**
   * The pieces of the arguments.
   *
   * @minItems 1
   */
  args: [string, ...string[]];
}
/**
 * One chunk that is not packed into a run. Closed.
 */
export interface RawChunkRecord {
  type: "chunk";
  time: EpochMs;
  chunk: StreamChunk;
}
/**
 * A block of the response begins. Closed.
 */
export interface BlockStartChunk {
  type: "block-start";
  index: Count;
  /**
   * The type of the content block. Not "tool-result", which this format does not have.
   */
  blockType: string;
}
/**
 * More text for a text block. Closed.
 */
export interface TextDeltaChunk {
  type: "text-delta";
  index: Count;
  /**
   * The text to append.
   */
  text: string;
}
/**
 * More text for a reasoning block. Closed.
 */
export interface ReasoningDeltaChunk {
  type: "reasoning-delta";
  index: Count;
  /**
   * The text to append.
   */
  text: string;
}
/**
 * More of a tool call. Closed.
 */
export interface ToolCallDeltaChunk {
  type: "tool-call-delta";
  index: Count;
  /**
   * The call id; it can be empty until the provider sends it.
   */
  id: string;
  /**
   * The name of the tool.
   */
  name?: string;
  /**
   * The text to append to the arguments.
   */
  argumentsDelta: string;
}
/**
 * A block of the response is complete. Closed.
 */
export interface BlockEndChunk {
  type: "block-end";
  index: Count;
  block: ContentBlock;
}
/**
 * A piece of text. Closed.
 */
export interface TextBlock {
  type: "text";
  /**
   * The text, possibly empty.
   */
  text: string;
}
/**
 * What a model wrote while thinking, apart from its answer. Closed.
 */
export interface ReasoningBlock {
  type: "reasoning";
  /**
   * The reasoning text, possibly empty.
   */
  text: string;
}
/**
 * An image. Closed.
 */
export interface ImageBlock {
  type: "image";
  attachment: ImageRef;
  /**
   * The image is no longer sent to the model; a short text stands in for it. Absent otherwise.
   */
  offloaded?: true;
}
/**
 * Names an image in the attachment store and tells its properties. Closed.
 */
export interface ImageRef {
  attachmentId: NonEmptyString;
  mediaType: ImageMediaType;
  bytes: Count;
  width: PositiveCount;
  height: PositiveCount;
  /**
   * The file name the image came with.
   */
  name?: string;
  originalDimensions?: ImageDimensions;
}
/**
 * The size of an image. Closed.
 */
export interface ImageDimensions {
  width: PositiveCount;
  height: PositiveCount;
}
/**
 * A file of any kind. The model reads a text that names it. Closed.
 */
export interface FileBlock {
  type: "file";
  attachment: FileRef;
}
/**
 * Names a file of any kind in the attachment store. Closed.
 */
export interface FileRef {
  attachmentId: NonEmptyString;
  /**
   * The file name as it was given.
   */
  name: string;
  bytes: Count;
}
/**
 * A tool call that a model asks for. Closed.
 */
export interface ToolCallBlock {
  type: "tool-call";
  id: NonEmptyString;
  name: NonEmptyString;
  /**
   * The arguments as the model wrote them: usually the text of a JSON object, neither parsed nor checked.
   */
  arguments: string;
}
/**
 * A content block of a type that is not described here. Readers keep it as it is. The type tool-result does not occur in this format, and tool changes occur only in developer messages. Open: members besides type have no meaning here.
 */
export interface OpaqueContentBlock {
  /**
   * Any block type that is not described here.
   */
  type: string;
  [k: string]: unknown;
}
/**
 * The token counts so far. The last one of a response counts. Closed.
 */
export interface UsageChunk {
  type: "usage";
  usage: TokenUsage;
}
/**
 * Tokens that one model call read and wrote. Closed.
 */
export interface TokenUsage {
  inputTokens: Count;
  outputTokens: Count;
  totalTokens?: Count;
  cacheReadTokens?: Count;
  cacheWriteTokens?: Count;
  reasoningTokens?: Count;
}
/**
 * The end of a response. Closed.
 */
export interface FinishChunk {
  type: "finish";
  reason: FinishReason;
  replayState?: ReplayState;
}
/**
 * The model was done. Closed.
 */
export interface StopFinish {
  kind: "stop";
}
/**
 * The model waits for the results of its tool calls. Closed.
 */
export interface ToolCallsFinish {
  kind: "tool-calls";
}
/**
 * The response was cut at the token limit. Closed.
 */
export interface MaxTokensFinish {
  kind: "max-tokens";
}
/**
 * The call failed. Closed.
 */
export interface ErrorFinish {
  kind: "error";
  failure: LlmFailure;
}
/**
 * A finish reason of a kind that is not described here. Open: members besides kind have no meaning here.
 */
export interface OpaqueFinishReason {
  /**
   * Any kind that is not described here.
   */
  kind: string;
  [k: string]: unknown;
}
/**
 * What an adapter needs to send its own response back unchanged. Closed.
 */
export interface ReplayState {
  response: Json;
  /**
   * State of each block, in the order of the blocks.
   */
  blocks?: Json[];
}
/**
 * A model call that failed, was stopped or will be tried again, and left nothing to show. The model never sees it. Closed.
 */
export interface AssistantAttemptEvent {
  type: "assistant/attempt";
  seq: Seq;
  time: EpochMs;
  data: AssistantAttemptData;
  ignorable?: Ignorable;
}
/**
 * What a model wrote. Closed.
 */
export interface AssistantMessage {
  id: NonEmptyString;
  role: "assistant";
  /**
   * The blocks of the response in the order of their first appearance. Empty when the response had none.
   */
  content: ContentBlock[];
  source: ModelSource;
}
/**
 * A model wrote the message. Closed.
 */
export interface ModelSource {
  kind: "model";
  provider: NonEmptyString;
  model: NonEmptyString;
  replayState?: Json;
}
/**
 * Payload of assistant/message. Closed.
 */
export interface AssistantMessageData {
  turn: Count;
  step: Count;
  message: AssistantMessage;
  /**
   * The response as it arrived. Empty when it was not recorded.
   */
  stream: StreamRecord[];
  usage?: TokenUsage;
  /**
   * The response was cut off; only its text and reasoning were kept.
   */
  interrupted?: true;
}
/**
 * A model response enters the surface. Closed.
 */
export interface AssistantMessageEvent {
  type: "assistant/message";
  seq: Seq;
  time: EpochMs;
  data: AssistantMessageData;
  /**
   * Always appended: an assistant message never replaces other nodes.
   */
  surfaceOp: "append";
  ignorable?: Ignorable;
}
/**
 * A step was refused before the model was asked. Closed.
 */
export interface BlockedTurnEnd {
  kind: "blocked";
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
 * The summary that a compaction put in the place of older history. Closed.
 */
export interface CompactCheckpointSource {
  kind: "compact-checkpoint";
  compactionId: NonEmptyString;
  sourceCommandId?: NonEmptyString;
}
/**
 * Payload of compaction/end. Closed.
 */
export interface CompactionEndData {
  compactionId: NonEmptyString;
  sourceCommandId?: NonEmptyString;
  /**
   * The open turn; null when no turn is open.
   */
  turn: Count | null;
  /**
   * Why the compaction failed. Absent when it succeeded.
   */
  error?: string;
}
/**
 * The open compaction ends. Closed.
 */
export interface CompactionEndEvent {
  type: "compaction/end";
  seq: Seq;
  time: EpochMs;
  data: CompactionEndData;
  ignorable?: Ignorable;
}
/**
 * Payload of compaction/prune. Closed.
 */
export interface CompactionPruneData {
  shadowedRange: ShadowedRange;
  shadowedSeqs: ShadowedSeqs;
  shadowedTokenCount: Count;
}
/**
 * A range of the surface, in surface order. The number of its start can be higher than that of its end. Closed.
 */
export interface ShadowedRange {
  start: Seq;
  end: Seq;
}
/**
 * Announces that the next event, a tool/result, shortens the result it replaces. Closed.
 */
export interface CompactionPruneEvent {
  type: "compaction/prune";
  seq: Seq;
  time: EpochMs;
  data: CompactionPruneData;
  ignorable?: Ignorable;
}
/**
 * Payload of compaction/start. Closed.
 */
export interface CompactionStartData {
  compactionId: NonEmptyString;
  sourceCommandId?: NonEmptyString;
  /**
   * The open turn; null when no turn is open.
   */
  turn: Count | null;
}
/**
 * A compaction begins. No other one is open. Closed.
 */
export interface CompactionStartEvent {
  type: "compaction/start";
  seq: Seq;
  time: EpochMs;
  data: CompactionStartData;
  ignorable?: Ignorable;
}
/**
 * Payload of compaction/summary. Closed.
 */
export interface CompactionSummaryData {
  compactionId: NonEmptyString;
  sourceCommandId?: NonEmptyString;
  /**
   * The text that will stand for the shadowed history.
   */
  summary: ContentBlock[];
  /**
   * What the model wrote, before the summary was taken from it.
   */
  rawOutput?: ContentBlock[];
  /**
   * The summary came from a model call. Only together with rawOutput.
   */
  llmStreamCall?: true;
  shadowedRange: ShadowedRange;
  shadowedSeqs: ShadowedSeqs;
  shadowedTokenCount: Count;
  provider: NonEmptyString;
  model: NonEmptyString;
  maxTokens?: Count;
  usage?: TokenUsage;
}
/**
 * The summary of the open compaction. The next event is the user/message that replaces the shadowed range. Closed.
 */
export interface CompactionSummaryEvent {
  type: "compaction/summary";
  seq: Seq;
  time: EpochMs;
  data: CompactionSummaryData;
  ignorable?: Ignorable;
}
/**
 * The model finished its reply. Closed.
 */
export interface CompletedTurnEnd {
  kind: "completed";
}
/**
 * A named part of a state snapshot. Closed.
 */
export interface ContextSection {
  /**
   * The name of the part.
   */
  name: string;
  /**
   * Its text.
   */
  text: string;
}
/**
 * One of the producers that put a text about the state of things into the conversation. Closed.
 */
export interface ContextSource {
  /**
   * The producer. compact-basic comes only from migrated logs.
   */
  kind:
    | "compact-basic"
    | "model-selection"
    | "user-approval"
    | "plan-mode"
    | "schedule"
    | "time-context"
    | "tmux-context"
    | "repeat-tool-reminder"
    | "tool-goal"
    | "tool-jobs"
    | "hooks-codex"
    | "hooks-claude-code"
    | "tool-cordis";
  form?: ContextForm;
  /**
   * The parts of a snapshot. Present exactly with form "snapshot".
   */
  sections?: ContextSection[];
  /**
   * One line for people. Present exactly with form "notice"; at most 120 UTF-16 units.
   */
  summary?: string;
}
/**
 * A coordinating agent wrote the message. An older kind that readers keep. Closed.
 */
export interface CoordinatorSource {
  kind: "coordinator";
  form: "relay";
  senderSessionId: NonEmptyString;
}
/**
 * The plugin host wrote the message. Closed.
 */
export interface CordisHostRunnerSource {
  kind: "cordis-host-runner";
}
/**
 * Payload of session-log-deepseek/delivery-accepted. Closed.
 */
export interface DeliveryAcceptedData {
  sessionId: NonEmptyString;
  sessionFormatVersion?: Count;
  throughSeq: Seq;
}
/**
 * The service took over the log up to an event. Closed.
 */
export interface DeliveryAcceptedEvent {
  type: "session-log-deepseek/delivery-accepted";
  seq: Seq;
  time: EpochMs;
  data: DeliveryAcceptedData;
  ignorable?: Ignorable;
}
/**
 * A tool that the model can use from now on. Its definition is in the request header that the message names. Closed.
 */
export interface ToolAdditionBlock {
  type: "tool-addition";
  toolName: NonEmptyString;
}
/**
 * A tool that the model can no longer use. Closed.
 */
export interface ToolRemovalBlock {
  type: "tool-removal";
  toolName: NonEmptyString;
}
/**
 * A message of the harness with the authority of a developer: tools that came or went. Closed.
 */
export interface DeveloperMessage {
  id: NonEmptyString;
  role: "developer";
  /**
   * What the model reads, in order.
   */
  content: DeveloperContentBlock[];
  source: MessageSource;
}
/**
 * A person wrote the message. Closed.
 */
export interface UserSource {
  kind: "user";
  /**
   * The id of the client request that brought the message.
   */
  rpcId?: string;
  /**
   * The time zone of the client, as an IANA name.
   */
  clientTimeZone?: string;
  principal?: OwnerPrincipal;
}
/**
 * The owner of the running harness. Closed.
 */
export interface OwnerPrincipal {
  kind: "owner";
}
/**
 * A tool call produced the message. Closed.
 */
export interface ToolSource {
  kind: "tool";
  callId: NonEmptyString;
}
/**
 * The rendered system prompt. Closed.
 */
export interface SystemPromptSource {
  kind: "system-prompt";
}
/**
 * The set of tools changed. Closed.
 */
export interface ToolRegistrySource {
  kind: "tool-registry";
}
/**
 * Instructions for programmatic tool calls. Closed.
 */
export interface PtcModeSource {
  kind: "ptc-mode";
}
/**
 * The working directory changed. Written since release 0.2.1. Closed.
 */
export interface WorkingDirectorySource {
  kind: "working-directory";
}
/**
 * The current state of the surroundings, such as the date or open files. With sections it is a snapshot; without them it says that the former snapshot no longer holds. Closed.
 */
export interface RuntimeContextSource {
  kind: "runtime-context";
  form?: ContextForm;
  /**
   * The parts of a snapshot. Present exactly with form "snapshot".
   */
  sections?: ContextSection[];
  /**
   * One line for people. Present exactly with form "notice"; at most 120 UTF-16 units.
   */
  summary?: string;
}
/**
 * The title provider that asks a model wrote the message. Closed.
 */
export interface TitleRequestSource {
  kind: "dsh-session-title-llm";
  form?: ContextForm;
  /**
   * The parts of a snapshot. Present exactly with form "snapshot".
   */
  sections?: ContextSection[];
  /**
   * One line for people. Present exactly with form "notice"; at most 120 UTF-16 units.
   */
  summary?: string;
}
/**
 * A person answered a question of the model. Written since release 0.2.1. Closed.
 */
export interface UserQuestionReplySource {
  kind: "user-question-reply";
  /**
   * The tool call that asked.
   */
  callId: string;
  outcome: "answered";
}
/**
 * The list of skills that the model can use. Closed.
 */
export interface SkillCatalogSource {
  kind: "skill-catalog";
  form: "catalog";
  /**
   * The skills, in the order shown.
   */
  entries: SkillCatalogEntry[];
  /**
   * The list replaces an earlier one.
   */
  update?: true;
}
/**
 * One skill on offer. Closed.
 */
export interface SkillCatalogEntry {
  name: NonEmptyString;
  /**
   * What the skill is for.
   */
  description: string;
}
/**
 * The text of a skill that was invoked. Closed.
 */
export interface SkillInvocationSource {
  kind: "skill-invocation";
  name: NonEmptyString;
  form: "instructions";
}
/**
 * History of other sessions that a person referred to. Closed.
 */
export interface SessionReferenceSource {
  kind: "session-reference";
  form: "recall";
  version: 1;
  /**
   * The sessions, each one once.
   *
   * @minItems 1
   */
  references: [SessionReference, ...SessionReference[]];
}
/**
 * What was taken from another session, and what was left out. Closed.
 */
export interface SessionReference {
  sessionId: NonEmptyString;
  /**
   * The name shown for that session.
   */
  label: string;
  capturedFormatVersion?: SafeInteger;
  /**
   * The last event that was looked at; null when the log had none.
   */
  capturedThroughSeq: Seq | null;
  /**
   * The history taken had been compacted.
   */
  compacted: boolean;
  originalMessages: Count;
  retainedMessages: Count;
  omittedMessages: Count;
  omittedBytes: Count;
  /**
   * True exactly when messages or bytes were left out.
   */
  truncated: boolean;
  inputIndex: Count;
}
/**
 * The harness asks the model to go on with a goal. Closed.
 */
export interface GoalSource {
  kind: "goal";
  goalId: NonEmptyString;
  revision: PositiveCount;
  round: PositiveCount;
}
/**
 * A subagent has finished. Closed.
 */
export interface SubagentSettledSource {
  kind: "subagent-settled";
  form: "notice";
  /**
   * One line that says what happened.
   */
  summary: string;
  senderSessionId: NonEmptyString;
}
/**
 * A member of an agent team wrote the message. Closed.
 */
export interface TeamMessageSource {
  kind: "team-message";
  teamId: NonEmptyString;
  messageId: NonEmptyString;
  senderId: NonEmptyString;
  /**
   * The name of that member.
   */
  senderName: string;
}
/**
 * An external service called a webhook. Closed.
 */
export interface WebhookSource {
  kind: "webhook";
  provider: NonEmptyString;
  source: NonEmptyString;
  deliveryId: NonEmptyString;
  ruleId: NonEmptyString;
  form: "notice";
  /**
   * One line that says what happened.
   */
  summary: string;
}
/**
 * A subagent reports to its parent. An older kind that readers keep. Closed.
 */
export interface SubagentReportSource {
  kind: "subagent-report";
  form: "relay";
  senderSessionId: NonEmptyString;
}
/**
 * A source of a kind that is not described here. Readers keep it as it is. Plugins name themselves: "plugin:" and the name. The kind "plugin" alone, which earlier formats used, is refused. Open: members besides kind belong to the producer.
 */
export interface OpaqueSource {
  /**
   * Any kind that is not described here, except "plugin".
   */
  kind: string;
  [k: string]: unknown;
}
/**
 * Payload of developer/message. Closed.
 */
export interface DeveloperMessageData {
  turn: PositiveCount;
  step: PositiveCount;
  message: DeveloperMessage;
  headerSeq?: Seq;
}
/**
 * A developer message enters the surface. Closed.
 */
export interface DeveloperMessageEvent {
  type: "developer/message";
  seq: Seq;
  time: EpochMs;
  data: DeveloperMessageData;
  surfaceOp: SurfaceOp;
  sourceEventSeqs?: SourceEventSeqs;
  ignorable?: Ignorable;
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
 * Payload of session/end-seed. Closed.
 */
export interface EndSeedData {
  /**
   * All events before this one were inherited from the session that this one was forked from.
   */
  inherited?: true;
}
/**
 * A boundary: what stands before was not written by the process that goes on. With inherited, it separates the inherited events of a forked session from its own; without, the session was restored or replayed. Closed.
 */
export interface EndSeedEvent {
  type: "session/end-seed";
  seq: Seq;
  time: EpochMs;
  data: EndSeedData;
  ignorable?: Ignorable;
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
 * A JSON object. Open: members of any name and any value.
 */
export interface JsonObject {
  [k: string]: Json;
}
/**
 * The turn failed. Closed.
 */
export interface ErrorTurnEnd {
  kind: "error";
  error: LlmFailure;
}
/**
 * The outer shape of an event whose type the format knows, before its payload is looked at. Events of surface types must have surfaceOp; all others have neither surfaceOp nor sourceEventSeqs. Closed.
 */
export interface EventEnvelope {
  type: NonEmptyString;
  seq: Seq;
  time: EpochMs;
  data: Json;
  surfaceOp?: SurfaceOp;
  sourceEventSeqs?: SourceEventSeqs;
  ignorable?: Ignorable;
}
/**
 * The title was cut from a message. Closed.
 */
export interface FallbackTitleSource {
  kind: "fallback";
}
/**
 * The session was forked while the turn was open; the end was written for the child. Closed.
 */
export interface ForkedTurnEnd {
  kind: "forked";
}
/**
 * Payload of image/offload. Closed.
 */
export interface ImageOffloadData {
  /**
   * The messages, each one once.
   *
   * @minItems 1
   */
  targets: [ImageOffloadTarget, ...ImageOffloadTarget[]];
}
/**
 * One message whose images go. Closed.
 */
export interface ImageOffloadTarget {
  seq: Seq;
  /**
   * Which images of the message go, counted from 0 among its image blocks, in increasing order. Images that went before keep their number.
   *
   * @minItems 1
   */
  imageIndexes: [Count, ...Count[]];
}
/**
 * Marks images on the surface as offloaded: from here on the model gets a short text in their place. Closed.
 */
export interface ImageOffloadEvent {
  type: "image/offload";
  seq: Seq;
  time: EpochMs;
  data: ImageOffloadData;
  ignorable?: Ignorable;
}
/**
 * Payload of agent/inbox/spliced: removes messages from a waiting list and puts others in their place. Closed.
 */
export interface InboxSplicedData {
  target: InboxTarget;
  start: Count;
  removedCount?: PositiveCount;
  /**
   * The messages that come in at that position.
   */
  inserted: UserMessage[];
  /**
   * The removed messages were withdrawn. Absent when they were claimed for a step.
   */
  outcome?: "canceled";
}
/**
 * Input for the model: words of a person, or a text that the harness or a plugin puts in. Closed.
 */
export interface UserMessage {
  id: NonEmptyString;
  role: "user";
  /**
   * What the model reads, in order.
   */
  content: ContentBlock[];
  source: MessageSource;
}
/**
 * A waiting list of messages changed. Closed.
 */
export interface InboxSplicedEvent {
  type: "agent/inbox/spliced";
  seq: Seq;
  time: EpochMs;
  data: InboxSplicedData;
  ignorable?: Ignorable;
}
/**
 * The process ended while the turn was open; the end was written later. Closed.
 */
export interface InterruptedTurnEnd {
  kind: "interrupted";
}
/**
 * A turn begins. No other turn is open. Closed.
 */
export interface TurnStartEvent {
  type: "turn/start";
  seq: Seq;
  time: EpochMs;
  data: TurnStartData;
  ignorable?: Ignorable;
}
/**
 * Payload of turn/start. Closed.
 */
export interface TurnStartData {
  turn: PositiveCount;
}
/**
 * The open turn ends. No step is open. Closed.
 */
export interface TurnEndEvent {
  type: "turn/end";
  seq: Seq;
  time: EpochMs;
  data: TurnEndData;
  ignorable?: Ignorable;
}
/**
 * Payload of turn/end. Closed.
 */
export interface TurnEndData {
  turn: PositiveCount;
  reason: TurnEndReason;
}
/**
 * The reply was cut at the token limit. Closed.
 */
export interface MaxTokensTurnEnd {
  kind: "max-tokens";
}
/**
 * A reason of a kind that is not described here. Open: members besides kind have no meaning here.
 */
export interface OpaqueTurnEndReason {
  /**
   * Any kind that is not described here.
   */
  kind: string;
  [k: string]: unknown;
}
/**
 * A step of the open turn begins. Closed.
 */
export interface StepStartEvent {
  type: "step/start";
  seq: Seq;
  time: EpochMs;
  data: StepData;
  ignorable?: Ignorable;
}
/**
 * Payload of step/start and step/end. Closed.
 */
export interface StepData {
  turn: PositiveCount;
  step: PositiveCount;
}
/**
 * The open step ends. All its tool calls have results. Closed.
 */
export interface StepEndEvent {
  type: "step/end";
  seq: Seq;
  time: EpochMs;
  data: StepData;
  ignorable?: Ignorable;
}
/**
 * A user message enters the surface, or takes the place of a range of it. Needs no open turn. Closed.
 */
export interface UserMessageEvent {
  type: "user/message";
  seq: Seq;
  time: EpochMs;
  data: UserMessage;
  surfaceOp: SurfaceOp;
  sourceEventSeqs?: SourceEventSeqs;
  ignorable?: Ignorable;
}
/**
 * The system prompt enters the surface. When it is the first node it is protected: only another system/message may replace it, and only it alone. Closed.
 */
export interface SystemMessageEvent {
  type: "system/message";
  seq: Seq;
  time: EpochMs;
  data: SystemMessageData;
  surfaceOp: SurfaceOp;
  sourceEventSeqs?: SourceEventSeqs;
  ignorable?: Ignorable;
}
/**
 * Payload of system/message. Closed.
 */
export interface SystemMessageData {
  turn: PositiveCount;
  step: PositiveCount;
  message: SystemMessage;
}
/**
 * The system prompt, or an empty one. Empty content keeps its place on the surface and sends nothing to the model. Closed.
 */
export interface SystemMessage {
  id: NonEmptyString;
  role: "system";
  /**
   * No block (no prompt) or one text block.
   *
   * @maxItems 1
   */
  content: TextBlock[];
  source: SystemPromptSource;
}
/**
 * A tool call that the assistant message asked for is started. Closed.
 */
export interface ToolCallEvent {
  type: "tool/call";
  seq: Seq;
  time: EpochMs;
  data: ToolCallData;
  ignorable?: Ignorable;
}
/**
 * Payload of tool/call. Closed.
 */
export interface ToolCallData {
  turn: PositiveCount;
  step: PositiveCount;
  callId: NonEmptyString;
  name: NonEmptyString;
  /**
   * The arguments as the model wrote them, as in that block.
   */
  arguments: string;
}
/**
 * The result of a tool call enters the surface. A replacement takes the place of exactly one tool/result and differs from it in content only. Closed.
 */
export interface ToolResultEvent {
  type: "tool/result";
  seq: Seq;
  time: EpochMs;
  data: ToolResultData;
  surfaceOp: SurfaceOp;
  sourceEventSeqs?: SourceEventSeqs;
  ignorable?: Ignorable;
}
/**
 * Payload of tool/result. Closed.
 */
export interface ToolResultData {
  turn: PositiveCount;
  step: PositiveCount;
  message: ToolResultMessage;
  error?: ToolError;
  meta?: Json;
}
/**
 * The result of a tool call. Open: members whose names begin with "plugin:". Migration from V3 renames members that are not declared to plugin:message:<name> and plugin:result:<name>.
 */
export interface ToolResultMessage {
  id: NonEmptyString;
  role: "tool";
  toolCallId: NonEmptyString;
  /**
   * What the tool gave back.
   */
  content: ContentBlock[];
  /**
   * The call failed. Absent means false.
   */
  isError?: boolean;
  source: ToolSource;
  [k: string]: unknown;
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
 * The header of the next model request, written in full. It holds until the next event of this type. Closed.
 */
export interface RequestHeaderEvent {
  type: "request/header";
  seq: Seq;
  time: EpochMs;
  data: RequestHeaderData;
  ignorable?: Ignorable;
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
 * What the route declares about the model. Written before a request when one of the four values differs from the last event of this type. Closed.
 */
export interface RequestContextEvent {
  type: "request/context";
  seq: Seq;
  time: EpochMs;
  data: RequestContextData;
  ignorable?: Ignorable;
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
 * A model call failed and will be tried again after a wait. Closed.
 */
export interface LlmRetryEvent {
  type: "llm/retry";
  seq: Seq;
  time: EpochMs;
  data: LlmRetryData;
  ignorable?: Ignorable;
}
/**
 * Payload of llm/retry under a policy with a limit. Closed.
 */
export interface NormalLlmRetryData {
  retryId: NonEmptyString;
  turn: PositiveCount;
  step: PositiveCount;
  provider: NonEmptyString;
  mode: "normal";
  policyKey: NonEmptyString;
  retry: PositiveCount;
  maxRetries: PositiveCount;
  /**
   * The wait before the retry, in milliseconds.
   */
  delayMs: number;
  failure: LlmFailure;
}
/**
 * The wait before a retry is over and the call is made again. Closed.
 */
export interface LlmRetryStartedEvent {
  type: "llm/retry-started";
  seq: Seq;
  time: EpochMs;
  data: LlmRetryStartedData;
  ignorable?: Ignorable;
}
/**
 * Payload of llm/retry-started. Closed.
 */
export interface LlmRetryStartedData {
  retryId: NonEmptyString;
  turn: PositiveCount;
  step: PositiveCount;
  retry: PositiveCount;
}
/**
 * A program that the model wrote calls a tool. Closed.
 */
export interface PtcDispatchStartEvent {
  type: "tool/ptc-dispatch-start";
  seq: Seq;
  time: EpochMs;
  data: PtcDispatchStartData;
  ignorable?: Ignorable;
}
/**
 * Payload of tool/ptc-dispatch-start. Closed.
 */
export interface PtcDispatchStartData {
  rootCallId: NonEmptyString;
  parentCallId: NonEmptyString;
  subCallId: NonEmptyString;
  name: NonEmptyString;
  arguments: Json;
}
/**
 * A tool call of a program that the model wrote is settled. Closed.
 */
export interface PtcDispatchEvent {
  type: "tool/ptc-dispatch";
  seq: Seq;
  time: EpochMs;
  data: PtcDispatchData;
  ignorable?: Ignorable;
}
/**
 * Payload of tool/ptc-dispatch. Closed.
 */
export interface PtcDispatchData {
  rootCallId: NonEmptyString;
  parentCallId: NonEmptyString;
  subCallId: NonEmptyString;
  name: NonEmptyString;
  arguments: Json;
  /**
   * The call failed.
   */
  isError: boolean;
  error?: ToolError;
  /**
   * What the tool gave back to the program.
   */
  content: ContentBlock[];
  meta?: Json;
}
/**
 * The session gets a title. The last one counts. Closed.
 */
export interface SessionTitleEvent {
  type: "session/title";
  seq: Seq;
  time: EpochMs;
  data: SessionTitleData;
  ignorable?: Ignorable;
}
/**
 * Payload of session/title. Closed.
 */
export interface SessionTitleData {
  title: NonEmptyString;
  /**
   * The earlier user/message events of people that the title was made from. Empty exactly when a person wrote the title.
   */
  messageSeqs: Seq[];
  source: TitleSource;
}
/**
 * A person wrote the title. Closed.
 */
export interface UserTitleSource {
  kind: "user";
}
/**
 * A title provider made the title. Closed.
 */
export interface ProviderTitleSource {
  kind: "provider";
  provider: NonEmptyString;
  model?: ModelRoute;
}
/**
 * A model and the provider that serves it. Closed.
 */
export interface ModelRoute {
  provider: NonEmptyString;
  model: NonEmptyString;
}
/**
 * A model is asked for a title, outside the conversation. Closed.
 */
export interface TitleLlmRequestEvent {
  type: "session/title-llm-request";
  seq: Seq;
  time: EpochMs;
  data: TitleLlmRequestData;
  ignorable?: Ignorable;
}
/**
 * Payload of session/title-llm-request. Closed.
 */
export interface TitleLlmRequestData {
  titleProvider: NonEmptyString;
  /**
   * The user/message events that the title is made from.
   *
   * @minItems 1
   */
  messageSeqs: [Seq, ...Seq[]];
  route: ModelRoute;
  /**
   * The system prompt of the request.
   */
  system: string;
  /**
   * The messages of the request: exactly one.
   *
   * @minItems 1
   * @maxItems 1
   */
  messages: [TitleRequestMessage, ...TitleRequestMessage[]];
  maxTokens: PositiveCount;
  /**
   * How much the model is to think, in words of the provider.
   */
  reasoningEffort?: string;
}
/**
 * The one message of a title request. Closed.
 */
export interface TitleRequestMessage {
  id: NonEmptyString;
  role: "user";
  /**
   * One text block.
   *
   * @minItems 1
   * @maxItems 1
   */
  content: [TextBlock, ...TextBlock[]];
  source: TitleRequestSource;
}
/**
 * A model was chosen. The last one counts. Closed.
 */
export interface ModelSelectionEvent {
  type: "model/selection";
  seq: Seq;
  time: EpochMs;
  data: ModelSelectionData;
  ignorable?: Ignorable;
}
/**
 * Payload of model/selection. Closed.
 */
export interface ModelSelectionData {
  provider: NonEmptyString;
  model: NonEmptyString;
  reasoningEffort?: NonEmptyString;
}
/**
 * The working directory changed. Written since release 0.2.1. Closed.
 */
export interface WorkingDirectoryChangeEvent {
  type: "working-directory/change";
  seq: Seq;
  time: EpochMs;
  data: WorkingDirectoryChangeData;
  ignorable?: Ignorable;
}
/**
 * Payload of working-directory/change. Closed.
 */
export interface WorkingDirectoryChangeData {
  cwd: NonEmptyString;
}
/**
 * An event of a type that format V4 does not know. It is marked ignorable, so readers keep it as it is and never put it on the surface. Plugins of this format use types that begin with "plugin:". Closed.
 */
export interface OpaqueEvent {
  /**
   * Any type outside the vocabulary of the format.
   */
  type: string;
  seq: Seq;
  time: EpochMs;
  data: Json;
  surfaceOp?: Json;
  sourceEventSeqs?: Json;
  ignorable: Ignorable;
}
/**
 * What is known about a session before its first event, as a program holds it. Closed.
 */
export interface SessionHeader {
  /**
   * The format version.
   */
  version: 4;
  id: NonEmptyString;
  createdAt: Count;
  cwd?: NonEmptyString;
  /**
   * The session that this one was forked from or delegated by.
   */
  parentSession?: string;
  /**
   * True exactly when the log begins with events inherited from another session.
   */
  isSeeded: boolean;
  /**
   * The session belongs to a subagent.
   */
  origin?: "subagent";
  delegationDepth?: Count;
  /**
   * The id of the agent preset.
   */
  agentPreset?: string;
}
/**
 * One event as a row of a log file holds it: the envelope with sourceEventSeqs in range form. Closed.
 */
export interface StoredEventRow {
  type: NonEmptyString;
  seq: Seq;
  time: EpochMs;
  data: Json;
  surfaceOp?: SurfaceOp;
  sourceEventSeqs?: StoredSourceEventSeqs;
  ignorable?: Ignorable;
}
/**
 * The header as the first line of a log file holds it. Closed.
 */
export interface StoredSessionHeader {
  type: "session";
  /**
   * The format version.
   */
  version: 4;
  id: NonEmptyString;
  createdAt: Count;
  cwd?: NonEmptyString;
  /**
   * The session that this one was forked from or delegated by.
   */
  parentSession?: string;
  /**
   * True exactly when the log begins with events inherited from another session.
   */
  isSeeded: boolean;
  /**
   * The session belongs to a subagent.
   */
  origin?: "subagent";
  delegationDepth: Count;
  /**
   * The id of the agent preset.
   */
  agentPreset?: string;
}
