// What account-check asks and orders of AWS, in one region with the caller's credentials. Each rejects with AWS's own
// sentence. Everything that is made carries the tags that are given.

export type Tags = Readonly<Record<string, string>>;

export interface StackCalls {
  readonly createStack: (stack: { readonly name: string; readonly template: string; readonly tags: Tags }) => Promise<void>;
  /** Undefined when there is no such stack. */
  readonly stack: (name: string) => Promise<{ readonly status: string; readonly outputs: Readonly<Record<string, string>> } | undefined>;
  /** Why the first resource of a stack could not be made; empty where none failed. */
  readonly failure: (name: string) => Promise<string>;
  /** Does nothing when there is none. */
  readonly removeStack: (name: string) => Promise<void>;
  /** Names of the stacks that begin with a prefix and are not deleted. */
  readonly stacks: (prefix: string) => Promise<readonly string[]>;
  /** Names of the tables that begin with a prefix. */
  readonly tables: (prefix: string) => Promise<readonly string[]>;
  /** Does nothing when there is none. */
  readonly removeTable: (name: string) => Promise<void>;
}

/** A message of a queue. */
export interface Message {
  readonly body: string;
  readonly group?: string;
}

export interface QueueCalls {
  readonly send: (queueUrl: string, message: Message) => Promise<void>;
  /** Takes up to ten messages out of a queue. */
  readonly take: (queueUrl: string) => Promise<readonly Message[]>;
}

/** What Lambda reports of an invocation, ms. */
export interface Invocation {
  readonly durationMs: number;
  /** Absent where an environment was there. */
  readonly initMs?: number;
}

export interface FunctionCalls {
  readonly replaceCode: (functionName: string, zip: Uint8Array) => Promise<void>;
  /** Changes the function's environment, so that its next invocation has a new one of Lambda's. */
  readonly renew: (functionName: string, mark: string) => Promise<void>;
  readonly invoke: (functionName: string, event: object) => Promise<Invocation>;
}

export interface MachineCalls {
  readonly createTemplate: (template: {
    readonly name: string;
    readonly instanceType: string;
    /** The SSM parameter with the id of the image. */
    readonly imageParameter: string;
    readonly tags: Tags;
  }) => Promise<void>;
  /** Names of launch templates with a tag. */
  readonly templates: (tag: Tag) => Promise<readonly string[]>;
  /** Does nothing when there is none. */
  readonly removeTemplate: (name: string) => Promise<void>;
  /** An instant fleet of one on-demand machine. */
  readonly launch: (fleet: {
    readonly template: string;
    readonly subnet: string;
    readonly token: string;
    readonly tags: Tags;
  }) => Promise<readonly string[]>;
  /** The state of an instance by its id; undefined while EC2 does not know it. */
  readonly state: (id: string) => Promise<string | undefined>;
  /** Ids of instances with a tag that are not ending. */
  readonly instances: (tag: Tag) => Promise<readonly string[]>;
  readonly terminate: (ids: readonly string[]) => Promise<void>;
}

/** A tag to look for; any value when it has none. */
export interface Tag {
  readonly key: string;
  readonly value?: string;
}

export interface CheckCloud extends StackCalls, QueueCalls, FunctionCalls, MachineCalls {
  readonly caller: () => Promise<{ readonly account: string; readonly arn: string }>;
  /** Whether the caller may pass a role also outside of CloudFormation. */
  readonly maySimplyPass: (callerArn: string, roleArn: string) => Promise<boolean>;
  readonly hasRole: (name: string) => Promise<boolean>;
}

export interface CheckPorts {
  readonly cloud: CheckCloud;
  /** The ZIP of the function notify, as an installation uploads it. */
  readonly notifyCode: () => Promise<Uint8Array>;
  /** Asks the person; undefined where standard input is no terminal. */
  readonly confirm: (question: string) => Promise<boolean | undefined>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly newId: () => string;
}
