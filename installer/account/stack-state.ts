/** A stack as CloudFormation describes it. */
export interface StackState {
  /** As in "CREATE_COMPLETE". */
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; absent where CloudFormation does not say. */
  readonly createdAt?: number;
}

/** Names of clusters in an output of a stack. */
export const namesOf = ({ outputs }: StackState, output: "Clusters" | "ClustersWithNodeRole"): readonly string[] =>
  outputs[output]?.split(",") ?? [];

/** Whether a stack is this product's. One that was never whole has no outputs, and holds nothing to lose. */
export const isOurs = ({ status, outputs }: StackState): boolean =>
  outputs["InterruptionQueueArn"] !== undefined ||
  /^(CREATE_FAILED|CREATE_IN_PROGRESS|REVIEW_IN_PROGRESS|ROLLBACK_.*|DELETE_.*)$/.test(status);

/** Whether an event is the begin of an attempt to create, update or remove the stack. */
export const isBegin = ({ resource, status }: { readonly resource: string; readonly status: string }, stack: string): boolean =>
  resource === stack && /^(CREATE|UPDATE|DELETE)_IN_PROGRESS$/.test(status);
