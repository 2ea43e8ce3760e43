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
 * What came of a request for approval: a person allowed this one act or rejected it, the request was withdrawn, or nobody could answer.
 */
export type ApprovalOutcome = "allowed-once" | "rejected" | "cancelled" | "unavailable";
/**
 * An entry of a recorded response: a packed run of deltas, or one chunk.
 */
export type StreamRecord = TextRunRecord | ReasoningRunRecord | ToolCallRunRecord | RawChunkRecord;
/**
 * A whole number of things, 0 or more, that JavaScript holds exactly.
 */
export type Count = number;
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
 * What a remark is about.
 */
export type FeedbackCategory =
  | "task-result"
  | "instruction-following"
  | "product-interaction"
  | "service-stability"
  | "resource-cost"
  | "security-privacy-permission"
  | "other";
/**
 * A goal as it stands after a change.
 */
export type Goal = UnblockedGoal | BlockedGoal;
/**
 * Payload of goal/change.
 */
export type GoalChangeData = GoalSnapshotChange | GoalClearChange;
/**
 * Which of the two waiting lists: next-turn is read when a turn starts, one message at a time; next-step is read whole at every step.
 */
export type InboxTarget = "next-turn" | "next-step";
/**
 * An event of a type that the format knows.
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
  | WorkingDirectoryChangeEvent
  | ApprovalAskedEvent
  | ApprovalDecidedEvent
  | ApprovalPolicyEvent
  | SandboxModeEvent
  | PermissionPresetEvent
  | PlanModeEvent
  | CommandRunEvent
  | CommandDoneEvent
  | FeedbackRecordEvent
  | FeedbackMessagePutEvent
  | FeedbackMessageDeleteEvent
  | HookInvokedEvent
  | HookResultEvent
  | TodoWriteEvent
  | GoalChangeEvent
  | ScheduleChangeEvent
  | JobRegisteredEvent
  | JobSettledEvent
  | WorkflowRunStartEvent
  | WorkflowRunEndEvent
  | WorkflowAgentStartEvent
  | WorkflowAgentEndEvent
  | TeamMemberEvent
  | TeamTaskEvent
  | TeamMessageQueuedEvent
  | TeamMessageDeliveredEvent
  | SubagentDescriptorEvent
  | SubagentCatalogEvent
  | SubagentModelPolicyEvent
  | DeliverablesPresentedEvent
  | WorkspaceChangesEvent
  | WebSearchRequestEvent;
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
 * Payload of schedule/change.
 */
export type ScheduleChangeData = ScheduleCreate | ScheduleDelete | ScheduleDispatch;
/**
 * A reminder as it is when it is made.
 */
export type Schedule = AfterSchedule | AtSchedule | EverySchedule;
/**
 * Payload of subagent/descriptor.
 */
export type SubagentDescriptorData = OneShotDescriptor | ContinuableDescriptor;
/**
 * Payload of subagent/catalog.
 */
export type SubagentCatalogData = OneShotChild | ContinuableChild | UnknownChild | ExternalChild;
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
  AfterSchedule: AfterSchedule;
  AgentInstructionsChange: AgentInstructionsChange;
  AgentInstructionsSource: AgentInstructionsSource;
  AgentMessageSource: AgentMessageSource;
  AgentPresetSelectedData: AgentPresetSelectedData;
  AgentPresetSelectedEvent: AgentPresetSelectedEvent;
  AlwaysLlmRetryData: AlwaysLlmRetryData;
  ApprovalAskedData: ApprovalAskedData;
  ApprovalAskedEvent: ApprovalAskedEvent;
  ApprovalDecidedData: ApprovalDecidedData;
  ApprovalDecidedEvent: ApprovalDecidedEvent;
  ApprovalOutcome: ApprovalOutcome;
  ApprovalPolicyData: ApprovalPolicyData;
  ApprovalPolicyEvent: ApprovalPolicyEvent;
  AssistantAttemptData: AssistantAttemptData;
  AssistantAttemptEvent: AssistantAttemptEvent;
  AssistantMessage: AssistantMessage;
  AssistantMessageData: AssistantMessageData;
  AssistantMessageEvent: AssistantMessageEvent;
  AtSchedule: AtSchedule;
  BlockEndChunk: BlockEndChunk;
  BlockStartChunk: BlockStartChunk;
  BlockedGoal: BlockedGoal;
  BlockedReason: BlockedReason;
  BlockedTurnEnd: BlockedTurnEnd;
  CallConfig: CallConfig;
  CommandDoneData: CommandDoneData;
  CommandDoneEvent: CommandDoneEvent;
  CommandRunData: CommandRunData;
  CommandRunEvent: CommandRunEvent;
  CommandSource: CommandSource;
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
  ContinuableChild: ContinuableChild;
  ContinuableDescriptor: ContinuableDescriptor;
  CoordinatorSource: CoordinatorSource;
  CordisHostRunnerSource: CordisHostRunnerSource;
  Count: Count;
  DeliverablesPresentedData: DeliverablesPresentedData;
  DeliverablesPresentedEvent: DeliverablesPresentedEvent;
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
  EverySchedule: EverySchedule;
  ExternalChild: ExternalChild;
  FallbackTitleSource: FallbackTitleSource;
  FeedbackCategory: FeedbackCategory;
  FeedbackMessageDeleteData: FeedbackMessageDeleteData;
  FeedbackMessageDeleteEvent: FeedbackMessageDeleteEvent;
  FeedbackMessagePutData: FeedbackMessagePutData;
  FeedbackMessagePutEvent: FeedbackMessagePutEvent;
  FeedbackRecordData: FeedbackRecordData;
  FeedbackRecordEvent: FeedbackRecordEvent;
  FileBlock: FileBlock;
  FileRef: FileRef;
  FinishChunk: FinishChunk;
  FinishReason: FinishReason;
  ForkedTurnEnd: ForkedTurnEnd;
  FreeNumber: FreeNumber;
  Goal: Goal;
  GoalChangeData: GoalChangeData;
  GoalChangeEvent: GoalChangeEvent;
  GoalClearChange: GoalClearChange;
  GoalRef: GoalRef;
  GoalSnapshotChange: GoalSnapshotChange;
  GoalSource: GoalSource;
  HookAbort: HookAbort;
  HookInvokedData: HookInvokedData;
  HookInvokedEvent: HookInvokedEvent;
  HookResultData: HookResultData;
  HookResultEvent: HookResultEvent;
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
  JobRegisteredData: JobRegisteredData;
  JobRegisteredEvent: JobRegisteredEvent;
  JobSettledData: JobSettledData;
  JobSettledEvent: JobSettledEvent;
  JobToolCall: JobToolCall;
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
  MessageFeedback: MessageFeedback;
  MessageSource: MessageSource;
  ModelRoute: ModelRoute;
  ModelSelectionData: ModelSelectionData;
  ModelSelectionEvent: ModelSelectionEvent;
  ModelSource: ModelSource;
  NonEmptyString: NonEmptyString;
  NormalLlmRetryData: NormalLlmRetryData;
  OneShotChild: OneShotChild;
  OneShotDescriptor: OneShotDescriptor;
  OpaqueContentBlock: OpaqueContentBlock;
  OpaqueEvent: OpaqueEvent;
  OpaqueFinishReason: OpaqueFinishReason;
  OpaqueSource: OpaqueSource;
  OpaqueTurnEndReason: OpaqueTurnEndReason;
  OwnerPrincipal: OwnerPrincipal;
  ParentAbort: ParentAbort;
  PermissionPresetData: PermissionPresetData;
  PermissionPresetEvent: PermissionPresetEvent;
  PlanModeData: PlanModeData;
  PlanModeEvent: PlanModeEvent;
  PositiveCount: PositiveCount;
  PresentedFile: PresentedFile;
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
  SandboxModeData: SandboxModeData;
  SandboxModeEvent: SandboxModeEvent;
  Schedule: Schedule;
  ScheduleChangeData: ScheduleChangeData;
  ScheduleChangeEvent: ScheduleChangeEvent;
  ScheduleCreate: ScheduleCreate;
  ScheduleDelete: ScheduleDelete;
  ScheduleDispatch: ScheduleDispatch;
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
  SubagentCatalogData: SubagentCatalogData;
  SubagentCatalogEvent: SubagentCatalogEvent;
  SubagentDescriptorData: SubagentDescriptorData;
  SubagentDescriptorEvent: SubagentDescriptorEvent;
  SubagentModelPolicyData: SubagentModelPolicyData;
  SubagentModelPolicyEvent: SubagentModelPolicyEvent;
  SubagentReportSource: SubagentReportSource;
  SubagentSettledSource: SubagentSettledSource;
  SurfaceOp: SurfaceOp;
  SurfaceReplace: SurfaceReplace;
  SystemMessage: SystemMessage;
  SystemMessageData: SystemMessageData;
  SystemMessageEvent: SystemMessageEvent;
  SystemPromptSource: SystemPromptSource;
  TeamMember: TeamMember;
  TeamMemberData: TeamMemberData;
  TeamMemberEvent: TeamMemberEvent;
  TeamMessage: TeamMessage;
  TeamMessageDeliveredData: TeamMessageDeliveredData;
  TeamMessageDeliveredEvent: TeamMessageDeliveredEvent;
  TeamMessageQueuedData: TeamMessageQueuedData;
  TeamMessageQueuedEvent: TeamMessageQueuedEvent;
  TeamMessageSource: TeamMessageSource;
  TeamTask: TeamTask;
  TeamTaskData: TeamTaskData;
  TeamTaskEvent: TeamTaskEvent;
  TextBlock: TextBlock;
  TextDeltaChunk: TextDeltaChunk;
  TextRunRecord: TextRunRecord;
  TitleLlmRequestData: TitleLlmRequestData;
  TitleLlmRequestEvent: TitleLlmRequestEvent;
  TitleRequestMessage: TitleRequestMessage;
  TitleRequestSource: TitleRequestSource;
  TitleSource: TitleSource;
  TodoItem: TodoItem;
  TodoWriteData: TodoWriteData;
  TodoWriteEvent: TodoWriteEvent;
  TokenUsage: TokenUsage;
  ToolAdditionBlock: ToolAdditionBlock;
  ToolCallBlock: ToolCallBlock;
  ToolCallData: ToolCallData;
  ToolCallDeltaChunk: ToolCallDeltaChunk;
  ToolCallEvent: ToolCallEvent;
  ToolCallRunRecord: ToolCallRunRecord;
  ToolCallsFinish: ToolCallsFinish;
  ToolError: ToolError;
  ToolFilter: ToolFilter;
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
  UnblockedGoal: UnblockedGoal;
  UnknownChild: UnknownChild;
  UsageChunk: UsageChunk;
  UserAbort: UserAbort;
  UserMessage: UserMessage;
  UserMessageEvent: UserMessageEvent;
  UserQuestionReplySource: UserQuestionReplySource;
  UserSource: UserSource;
  UserTitleSource: UserTitleSource;
  WebSearchBody: WebSearchBody;
  WebSearchMessage: WebSearchMessage;
  WebSearchRequestData: WebSearchRequestData;
  WebSearchRequestEvent: WebSearchRequestEvent;
  WebSearchText: WebSearchText;
  WebSearchThinking: WebSearchThinking;
  WebSearchTool: WebSearchTool;
  WebhookSource: WebhookSource;
  WorkflowAgentEndData: WorkflowAgentEndData;
  WorkflowAgentEndEvent: WorkflowAgentEndEvent;
  WorkflowAgentStartData: WorkflowAgentStartData;
  WorkflowAgentStartEvent: WorkflowAgentStartEvent;
  WorkflowRunEndData: WorkflowRunEndData;
  WorkflowRunEndEvent: WorkflowRunEndEvent;
  WorkflowRunStartData: WorkflowRunStartData;
  WorkflowRunStartEvent: WorkflowRunStartEvent;
  WorkingDirectoryChangeData: WorkingDirectoryChangeData;
  WorkingDirectoryChangeEvent: WorkingDirectoryChangeEvent;
  WorkingDirectorySource: WorkingDirectorySource;
  WorkspaceChangesData: WorkspaceChangesData;
  WorkspaceChangesEvent: WorkspaceChangesEvent;
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
 * A reminder after a time. Closed.
 */
export interface AfterSchedule {
  /**
   * Names the reminder. An id is never used again in the same session. No whitespace around it.
   */
  id: string;
  kind: "after";
  /**
   * The name of the reminder, without whitespace around it, 120 UTF-16 units at most. Written by late releases; absent in older events.
   */
  title?: string;
  /**
   * What the model is told, without whitespace around it.
   */
  prompt: string;
  afterSeconds: PositiveCount;
  /**
   * When it is next due. A UTC instant written as YYYY-MM-DDTHH:MM:SS.mmmZ.
   */
  scheduledAt: string;
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
 * Payload of approval/asked. Closed.
 */
export interface ApprovalAskedData {
  id: NonEmptyString;
  toolName: NonEmptyString;
  callId?: NonEmptyString;
  /**
   * Why approval is needed, for the person to read.
   */
  reason?: string;
}
/**
 * A tool asks for approval, inside a turn. Closed.
 */
export interface ApprovalAskedEvent {
  type: "approval/asked";
  seq: Seq;
  time: EpochMs;
  data: ApprovalAskedData;
  ignorable?: Ignorable;
}
/**
 * Payload of approval/decided. Closed.
 */
export interface ApprovalDecidedData {
  id: NonEmptyString;
  outcome: ApprovalOutcome;
}
/**
 * A request for approval is settled. Closed.
 */
export interface ApprovalDecidedEvent {
  type: "approval/decided";
  seq: Seq;
  time: EpochMs;
  data: ApprovalDecidedData;
  ignorable?: Ignorable;
}
/**
 * Payload of approval/policy. Closed.
 */
export interface ApprovalPolicyData {
  /**
   * Whether a person is asked before a tool acts, or every request is turned down at once.
   */
  policy: "ask" | "never";
  /**
   * The policy was taken over from the agent that delegated this session. Otherwise absent.
   */
  source?: "delegation";
}
/**
 * The approval policy changes. The last one counts. Closed.
 */
export interface ApprovalPolicyEvent {
  type: "approval/policy";
  seq: Seq;
  time: EpochMs;
  data: ApprovalPolicyData;
  ignorable?: Ignorable;
}
/**
 * Payload of assistant/attempt. Closed.
 */
export interface AssistantAttemptData {
  turn: PositiveCount;
  step: PositiveCount;
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
  turn: PositiveCount;
  step: PositiveCount;
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
 * A reminder at a fixed time. Closed.
 */
export interface AtSchedule {
  /**
   * Names the reminder. An id is never used again in the same session. No whitespace around it.
   */
  id: string;
  kind: "at";
  /**
   * The name of the reminder, without whitespace around it, 120 UTF-16 units at most. Written by late releases; absent in older events.
   */
  title?: string;
  /**
   * What the model is told, without whitespace around it.
   */
  prompt: string;
  /**
   * When it is next due. A UTC instant written as YYYY-MM-DDTHH:MM:SS.mmmZ.
   */
  scheduledAt: string;
}
/**
 * A goal that cannot go on without help. Closed.
 */
export interface BlockedGoal {
  id: NonEmptyString;
  revision: PositiveCount;
  /**
   * What is to be reached, without whitespace around it.
   */
  objective: string;
  phase: "blocked";
  blockedReason: BlockedReason;
  maxGoalRounds: PositiveCount;
}
/**
 * Why a goal cannot go on. Closed.
 */
export interface BlockedReason {
  /**
   * A stable code of lower-case words joined by hyphens.
   */
  code: string;
  /**
   * For people, without whitespace around it.
   */
  message: string;
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
 * Payload of command/done. Closed.
 */
export interface CommandDoneData {
  commandId: NonEmptyString;
  /**
   * How it ended.
   */
  kind: "success" | "error";
  /**
   * What the person is told.
   */
  text?: string;
  sourceEventSeq?: Seq;
}
/**
 * A command has ended. Closed.
 */
export interface CommandDoneEvent {
  type: "command/done";
  seq: Seq;
  time: EpochMs;
  data: CommandDoneData;
  ignorable?: Ignorable;
}
/**
 * Payload of command/run. Closed.
 */
export interface CommandRunData {
  commandId: NonEmptyString;
  name: NonEmptyString;
  /**
   * What was written after the name. Absent when the command keeps its input out of the log.
   */
  args?: string;
  source: CommandSource;
}
/**
 * Who ran the command. Closed.
 */
export interface CommandSource {
  kind: "user";
}
/**
 * A command begins to run. Closed.
 */
export interface CommandRunEvent {
  type: "command/run";
  seq: Seq;
  time: EpochMs;
  data: CommandRunData;
  ignorable?: Ignorable;
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
 * A child that takes further messages. Closed.
 */
export interface ContinuableChild {
  /**
   * The shape of the payload. Both are the same here; 1 came after the first V4 releases.
   */
  version: 0 | 1;
  childId: NonEmptyString;
  childCreatedAt: Count;
  mode: "continuable";
  /**
   * The name shown for the child.
   */
  label: string;
}
/**
 * A child that takes further messages. Closed.
 */
export interface ContinuableDescriptor {
  version: 3;
  mode: "continuable";
  provider: NonEmptyString;
  label: NonEmptyString;
  agentProvider?: NonEmptyString;
  agentModel?: NonEmptyString;
  agentReasoningEffort?: NonEmptyString;
  persona?: NonEmptyString;
  toolFilter?: ToolFilter;
}
/**
 * Which tools a child has. At least one of the two lists is present. Closed.
 */
export interface ToolFilter {
  /**
   * Only these tools.
   */
  allow?: NonEmptyString[];
  /**
   * All tools but these.
   */
  deny?: NonEmptyString[];
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
 * Payload of deliverables/presented. Closed.
 */
export interface DeliverablesPresentedData {
  turn: PositiveCount;
  callId: NonEmptyString;
  /**
   * The files, the most important one first.
   *
   * @minItems 1
   */
  files: [PresentedFile, ...PresentedFile[]];
}
/**
 * One file for the user. Closed.
 */
export interface PresentedFile {
  path: NonEmptyString;
  /**
   * What it is.
   */
  description?: string;
}
/**
 * The model presents files as its result. Closed.
 */
export interface DeliverablesPresentedEvent {
  type: "deliverables/presented";
  seq: Seq;
  time: EpochMs;
  data: DeliverablesPresentedData;
  ignorable?: Ignorable;
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
 * A reminder again and again. Closed.
 */
export interface EverySchedule {
  /**
   * Names the reminder. An id is never used again in the same session. No whitespace around it.
   */
  id: string;
  kind: "every";
  /**
   * The name of the reminder, without whitespace around it, 120 UTF-16 units at most. Written by late releases; absent in older events.
   */
  title?: string;
  /**
   * What the model is told, without whitespace around it.
   */
  prompt: string;
  /**
   * The interval in seconds, 60 or more.
   */
  everySeconds: number;
  /**
   * When it is next due. A UTC instant written as YYYY-MM-DDTHH:MM:SS.mmmZ.
   */
  scheduledAt: string;
}
/**
 * A child that runs elsewhere, without a session here. Written since release 0.2.1. Closed.
 */
export interface ExternalChild {
  version: 2;
  childId: NonEmptyString;
  childCreatedAt: Count;
  mode: "external";
  /**
   * The name shown for the child.
   */
  label?: string;
}
/**
 * The title was cut from a message. Closed.
 */
export interface FallbackTitleSource {
  kind: "fallback";
}
/**
 * Payload of feedback/message-delete. Closed.
 */
export interface FeedbackMessageDeleteData {
  sessionId: NonEmptyString;
  messageId: NonEmptyString;
}
/**
 * The rating of a reply is withdrawn. Closed.
 */
export interface FeedbackMessageDeleteEvent {
  type: "feedback/message-delete";
  seq: Seq;
  time: EpochMs;
  data: FeedbackMessageDeleteData;
  ignorable?: Ignorable;
}
/**
 * Payload of feedback/message-put. Closed.
 */
export interface FeedbackMessagePutData {
  sessionId: NonEmptyString;
  item: MessageFeedback;
}
/**
 * What a person thinks of one reply. Closed.
 */
export interface MessageFeedback {
  messageId: NonEmptyString;
  /**
   * The verdict.
   */
  rating: "positive" | "negative";
  /**
   * Why. Not blank.
   */
  note?: string;
  category?: FeedbackCategory;
  /**
   * A fresh UUID for each change, so that two writers notice each other.
   */
  version: string;
  createdAt: Count;
  updatedAt: Count;
}
/**
 * A reply is rated, or its rating changes. The last one for a message counts. Closed.
 */
export interface FeedbackMessagePutEvent {
  type: "feedback/message-put";
  seq: Seq;
  time: EpochMs;
  data: FeedbackMessagePutData;
  ignorable?: Ignorable;
}
/**
 * Payload of feedback/record. Closed.
 */
export interface FeedbackRecordData {
  text?: NonEmptyString;
  category?: FeedbackCategory;
}
/**
 * A remark about the session. It may be empty. Closed.
 */
export interface FeedbackRecordEvent {
  type: "feedback/record";
  seq: Seq;
  time: EpochMs;
  data: FeedbackRecordData;
  ignorable?: Ignorable;
}
/**
 * The session was forked while the turn was open; the end was written for the child. Closed.
 */
export interface ForkedTurnEnd {
  kind: "forked";
}
/**
 * A goal that nothing holds up. Closed.
 */
export interface UnblockedGoal {
  id: NonEmptyString;
  revision: PositiveCount;
  /**
   * What is to be reached, without whitespace around it.
   */
  objective: string;
  /**
   * Whether the harness works on the goal, waits, or has reached it.
   */
  phase: "active" | "paused" | "complete";
  maxGoalRounds: PositiveCount;
}
/**
 * Payload of goal/change for every operation but clear. Closed.
 */
export interface GoalSnapshotChange {
  kind: "goal/change";
  version: 1;
  /**
   * What was done.
   */
  operation: "create" | "edit" | "pause" | "resume" | "complete" | "block";
  goal: Goal;
  roundsStarted: Count;
  createdAt: Count;
  updatedAt: Count;
}
/**
 * Payload of goal/change for the operation clear. Closed.
 */
export interface GoalClearChange {
  kind: "goal/change";
  version: 1;
  operation: "clear";
  cleared: GoalRef;
  clearedAt: Count;
}
/**
 * A revision of a goal. Closed.
 */
export interface GoalRef {
  id: NonEmptyString;
  revision: PositiveCount;
}
/**
 * The goal of the session changes. There is at most one at a time. Closed.
 */
export interface GoalChangeEvent {
  type: "goal/change";
  seq: Seq;
  time: EpochMs;
  data: GoalChangeData;
  ignorable?: Ignorable;
}
/**
 * Payload of hook/invoked. Closed.
 */
export interface HookInvokedData {
  turn: Count;
  point: NonEmptyString;
  /**
   * The convention that the hook is written for.
   */
  dialect: "claude-code" | "codex";
  /**
   * The pattern of its configuration that matched.
   */
  matcher?: string;
  handlerId: NonEmptyString;
}
/**
 * A hook is started. Closed.
 */
export interface HookInvokedEvent {
  type: "hook/invoked";
  seq: Seq;
  time: EpochMs;
  data: HookInvokedData;
  ignorable?: Ignorable;
}
/**
 * Payload of hook/result. Closed.
 */
export interface HookResultData {
  turn: Count;
  point: NonEmptyString;
  handlerId: NonEmptyString;
  decision: NonEmptyString;
  exitCode?: SafeInteger;
  /**
   * The beginning of what it wrote to stderr.
   */
  stderrSummary?: string;
  /**
   * How long it ran, in milliseconds.
   */
  durationMs: number;
}
/**
 * A hook has ended. Closed.
 */
export interface HookResultEvent {
  type: "hook/result";
  seq: Seq;
  time: EpochMs;
  data: HookResultData;
  ignorable?: Ignorable;
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
 * Payload of job/registered. Closed.
 */
export interface JobRegisteredData {
  jobId: NonEmptyString;
  owner: NonEmptyString;
  kind: NonEmptyString;
  label: NonEmptyString;
  startedAt: Count;
  toolCall?: JobToolCall;
}
/**
 * The tool call that a job came from. Closed.
 */
export interface JobToolCall {
  callId: NonEmptyString;
  rootCallId: NonEmptyString;
}
/**
 * A job begins. Written since release 0.2.1. Closed.
 */
export interface JobRegisteredEvent {
  type: "job/registered";
  seq: Seq;
  time: EpochMs;
  data: JobRegisteredData;
  ignorable?: Ignorable;
}
/**
 * Payload of job/settled: what job/registered said, and how the job ended. Closed.
 */
export interface JobSettledData {
  jobId: NonEmptyString;
  owner: NonEmptyString;
  kind: NonEmptyString;
  label: NonEmptyString;
  startedAt: Count;
  toolCall?: JobToolCall;
  finishedAt: Count;
  /**
   * How it ended.
   */
  status: "completed" | "killed" | "failed";
  /**
   * What ended it: its own producer, a request to stop it, or the end of the process.
   */
  cause: "producer" | "kill" | "teardown";
  /**
   * Whether the producer itself said how the job ended.
   */
  producerReported: boolean;
  /**
   * One line about the end.
   */
  detail?: string;
}
/**
 * A job has ended. Written since release 0.2.1. Closed.
 */
export interface JobSettledEvent {
  type: "job/settled";
  seq: Seq;
  time: EpochMs;
  data: JobSettledData;
  ignorable?: Ignorable;
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
 * The sandbox mode changes. The last one counts. Closed.
 */
export interface SandboxModeEvent {
  type: "sandbox/mode";
  seq: Seq;
  time: EpochMs;
  data: SandboxModeData;
  ignorable?: Ignorable;
}
/**
 * Payload of sandbox/mode. Closed.
 */
export interface SandboxModeData {
  /**
   * What tools can write: nothing, the workspace, or everything.
   */
  mode: "read-only" | "workspace-write" | "danger-full-access";
  /**
   * The mode was taken over from the agent that delegated this session. Otherwise absent.
   */
  source?: "delegation";
}
/**
 * A named set of permissions was chosen. The mode and the policy that it stands for are events of their own. The last one counts. Closed.
 */
export interface PermissionPresetEvent {
  type: "permission/preset";
  seq: Seq;
  time: EpochMs;
  data: PermissionPresetData;
  ignorable?: Ignorable;
}
/**
 * Payload of permission/preset. Closed.
 */
export interface PermissionPresetData {
  preset: NonEmptyString;
}
/**
 * Plan mode is switched on or off. The last one counts. Closed.
 */
export interface PlanModeEvent {
  type: "plan/mode";
  seq: Seq;
  time: EpochMs;
  data: PlanModeData;
  ignorable?: Ignorable;
}
/**
 * Payload of plan/mode. Closed.
 */
export interface PlanModeData {
  /**
   * Whether the model only plans, without changing anything.
   */
  active: boolean;
}
/**
 * The model writes its task list anew. The last list counts. Closed.
 */
export interface TodoWriteEvent {
  type: "todo/write";
  seq: Seq;
  time: EpochMs;
  data: TodoWriteData;
  ignorable?: Ignorable;
}
/**
 * Payload of todo/write. Closed.
 */
export interface TodoWriteData {
  /**
   * The whole list, in order.
   */
  todos: TodoItem[];
}
/**
 * One task. Closed.
 */
export interface TodoItem {
  /**
   * What is to be done.
   */
  content: string;
  /**
   * How far it is.
   */
  status: "pending" | "in_progress" | "completed";
}
/**
 * A reminder is made, withdrawn or handed over. Late releases keep reminders outside the log and only read these events. Closed.
 */
export interface ScheduleChangeEvent {
  type: "schedule/change";
  seq: Seq;
  time: EpochMs;
  data: ScheduleChangeData;
  ignorable?: Ignorable;
}
/**
 * Payload of schedule/change for a new reminder. Closed.
 */
export interface ScheduleCreate {
  version: 1;
  operation: "create";
  schedule: Schedule;
}
/**
 * Payload of schedule/change for a reminder that is withdrawn. Closed.
 */
export interface ScheduleDelete {
  version: 1;
  operation: "delete";
  /**
   * The reminder. No whitespace around it.
   */
  id: string;
}
/**
 * Payload of schedule/change for a reminder that came due. Closed.
 */
export interface ScheduleDispatch {
  version: 1;
  operation: "dispatch";
  /**
   * The reminder. One that does not recur is over with this. No whitespace around it.
   */
  id: string;
  /**
   * When it was handed over. Present for a recurring reminder, which goes on from here. A UTC instant written as YYYY-MM-DDTHH:MM:SS.mmmZ.
   */
  acceptedAt?: string;
}
/**
 * A workflow begins to run. Closed.
 */
export interface WorkflowRunStartEvent {
  type: "tool-workflow/run-start";
  seq: Seq;
  time: EpochMs;
  data: WorkflowRunStartData;
  ignorable?: Ignorable;
}
/**
 * Payload of tool-workflow/run-start. Closed.
 */
export interface WorkflowRunStartData {
  runId: NonEmptyString;
  name: NonEmptyString;
}
/**
 * A run of a workflow has ended. Closed.
 */
export interface WorkflowRunEndEvent {
  type: "tool-workflow/run-end";
  seq: Seq;
  time: EpochMs;
  data: WorkflowRunEndData;
  ignorable?: Ignorable;
}
/**
 * Payload of tool-workflow/run-end. Closed.
 */
export interface WorkflowRunEndData {
  runId: NonEmptyString;
  /**
   * How the run ended.
   */
  stopReason: "completed" | "cancelled" | "error";
}
/**
 * A workflow starts an agent. Closed.
 */
export interface WorkflowAgentStartEvent {
  type: "tool-workflow/agent-start";
  seq: Seq;
  time: EpochMs;
  data: WorkflowAgentStartData;
  ignorable?: Ignorable;
}
/**
 * Payload of tool-workflow/agent-start. Closed.
 */
export interface WorkflowAgentStartData {
  runId: NonEmptyString;
  seq: PositiveCount;
  /**
   * The name shown for the agent.
   */
  label: string;
  /**
   * The phase of the workflow that it works in.
   */
  phase?: string;
  childId: NonEmptyString;
}
/**
 * An agent of a workflow has ended. Closed.
 */
export interface WorkflowAgentEndEvent {
  type: "tool-workflow/agent-end";
  seq: Seq;
  time: EpochMs;
  data: WorkflowAgentEndData;
  ignorable?: Ignorable;
}
/**
 * Payload of tool-workflow/agent-end. Closed.
 */
export interface WorkflowAgentEndData {
  runId: NonEmptyString;
  seq: PositiveCount;
  /**
   * How the agent ended.
   */
  outcome: "completed" | "failed" | "cancelled";
}
/**
 * A teammate comes, or its phase changes. Closed.
 */
export interface TeamMemberEvent {
  type: "team/member";
  seq: Seq;
  time: EpochMs;
  data: TeamMemberData;
  ignorable?: Ignorable;
}
/**
 * Payload of team/member. Closed.
 */
export interface TeamMemberData {
  version: 2;
  teamId: NonEmptyString;
  member: TeamMember;
}
/**
 * A teammate as it stands. Closed.
 */
export interface TeamMember {
  id: NonEmptyString;
  /**
   * Its name, unique in the team. It never changes.
   */
  name: string;
  /**
   * What it is for.
   */
  description: string;
  /**
   * What runs it. It never changes.
   */
  provider: string;
  /**
   * Whether it began empty or with the history of the lead. It never changes.
   */
  context: "fresh" | "fork";
  /**
   * Whether it is being made, works, or could not be made. It begins as provisioning.
   */
  phase: "provisioning" | "active" | "failed";
  /**
   * Why it could not be made.
   */
  error?: string;
}
/**
 * A task is made or changes. Closed.
 */
export interface TeamTaskEvent {
  type: "team/task";
  seq: Seq;
  time: EpochMs;
  data: TeamTaskData;
  ignorable?: Ignorable;
}
/**
 * Payload of team/task. Closed.
 */
export interface TeamTaskData {
  version: 2;
  teamId: NonEmptyString;
  task: TeamTask;
}
/**
 * A task as it stands. Closed.
 */
export interface TeamTask {
  id: NonEmptyString;
  revision: PositiveCount;
  /**
   * The task in one line.
   */
  subject: string;
  /**
   * The task in full.
   */
  description: string;
  /**
   * How far it is.
   */
  status: "pending" | "in_progress" | "completed" | "deleted";
  ownerId?: NonEmptyString;
  /**
   * The tasks that come first. No cycle, each one once.
   */
  blockedBy: NonEmptyString[];
  /**
   * The paths that the task is going to write.
   */
  writeScopes: string[];
}
/**
 * A member of the team writes to another one. Closed.
 */
export interface TeamMessageQueuedEvent {
  type: "team/message/queued";
  seq: Seq;
  time: EpochMs;
  data: TeamMessageQueuedData;
  ignorable?: Ignorable;
}
/**
 * Payload of team/message/queued. Closed.
 */
export interface TeamMessageQueuedData {
  version: 2;
  teamId: NonEmptyString;
  message: TeamMessage;
}
/**
 * A message of one member to another. Closed.
 */
export interface TeamMessage {
  id: NonEmptyString;
  senderId: NonEmptyString;
  /**
   * The name of that member.
   */
  senderName: string;
  targetId: NonEmptyString;
  /**
   * What it says.
   */
  content: ContentBlock[];
}
/**
 * A message of the team has reached its member. Closed.
 */
export interface TeamMessageDeliveredEvent {
  type: "team/message/delivered";
  seq: Seq;
  time: EpochMs;
  data: TeamMessageDeliveredData;
  ignorable?: Ignorable;
}
/**
 * Payload of team/message/delivered. Closed.
 */
export interface TeamMessageDeliveredData {
  version: 2;
  teamId: NonEmptyString;
  messageId: NonEmptyString;
  targetId: NonEmptyString;
}
/**
 * Stands in the log of a child and says how it was made. The first one of its own counts. Closed.
 */
export interface SubagentDescriptorEvent {
  type: "subagent/descriptor";
  seq: Seq;
  time: EpochMs;
  data: SubagentDescriptorData;
  ignorable?: Ignorable;
}
/**
 * A child that does one thing and ends. Closed.
 */
export interface OneShotDescriptor {
  version: 3;
  mode: "one-shot";
  provider: NonEmptyString;
  /**
   * The name shown for it.
   */
  label?: string;
}
/**
 * Stands in the log of the parent: a child was made. Each child occurs once after the inherited part. Closed.
 */
export interface SubagentCatalogEvent {
  type: "subagent/catalog";
  seq: Seq;
  time: EpochMs;
  data: SubagentCatalogData;
  ignorable?: Ignorable;
}
/**
 * A child that does one thing and ends. Closed.
 */
export interface OneShotChild {
  /**
   * The shape of the payload. Both are the same here; 1 came after the first V4 releases.
   */
  version: 0 | 1;
  childId: NonEmptyString;
  childCreatedAt: Count;
  mode: "one-shot";
  /**
   * The name shown for the child.
   */
  label?: string;
}
/**
 * A child whose own log does not say how it was made. Migration from V3 writes it. Closed.
 */
export interface UnknownChild {
  version: 1;
  childId: NonEmptyString;
  childCreatedAt: Count;
  mode: "unknown";
  /**
   * The name shown for the child.
   */
  label?: string;
}
/**
 * Fixes which models the agent may choose for its subagents. The first one counts. Closed.
 */
export interface SubagentModelPolicyEvent {
  type: "subagent/model-selection-policy";
  seq: Seq;
  time: EpochMs;
  data: SubagentModelPolicyData;
  ignorable?: Ignorable;
}
/**
 * Payload of subagent/model-selection-policy. Closed.
 */
export interface SubagentModelPolicyData {
  /**
   * The models on offer, each one once.
   *
   * @minItems 1
   */
  allowedModels: [ModelRoute, ...ModelRoute[]];
}
/**
 * The turn changed files of the workspace. Which ones is known to the process that wrote this, as long as it runs. Closed.
 */
export interface WorkspaceChangesEvent {
  type: "workspace/changes";
  seq: Seq;
  time: EpochMs;
  data: WorkspaceChangesData;
  ignorable?: Ignorable;
}
/**
 * Payload of workspace/changes. Closed.
 */
export interface WorkspaceChangesData {
  turn: PositiveCount;
}
/**
 * A web search is sent to a model, outside the conversation. Closed.
 */
export interface WebSearchRequestEvent {
  type: "web/deepseek-search-llm-request";
  seq: Seq;
  time: EpochMs;
  data: WebSearchRequestData;
  ignorable?: Ignorable;
}
/**
 * Payload of web/deepseek-search-llm-request. Closed.
 */
export interface WebSearchRequestData {
  endpoint: NonEmptyString;
  apiVersion: NonEmptyString;
  body: WebSearchBody;
}
/**
 * The body of the request. Closed.
 */
export interface WebSearchBody {
  model: NonEmptyString;
  max_tokens: PositiveCount;
  /**
   * One message.
   *
   * @minItems 1
   * @maxItems 1
   */
  messages: [WebSearchMessage, ...WebSearchMessage[]];
  /**
   * One tool.
   *
   * @minItems 1
   * @maxItems 1
   */
  tools: [WebSearchTool, ...WebSearchTool[]];
  thinking?: WebSearchThinking;
}
/**
 * The only message of the request. Closed.
 */
export interface WebSearchMessage {
  role: "user";
  /**
   * One text.
   *
   * @minItems 1
   * @maxItems 1
   */
  content: [WebSearchText, ...WebSearchText[]];
}
/**
 * The text of the question. Closed.
 */
export interface WebSearchText {
  type: "text";
  /**
   * The text.
   */
  text: string;
}
/**
 * The only tool of the request, which the service runs itself. Closed.
 */
export interface WebSearchTool {
  type: "web_search_20250305";
  name: "web_search";
  max_uses: PositiveCount;
}
/**
 * Switches thinking off. Closed.
 */
export interface WebSearchThinking {
  type: "disabled";
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
