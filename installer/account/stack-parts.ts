import { FUNCTION_NAMES, FUNCTIONS, type FunctionName } from "#infra/functions.ts";
import type { StackResource } from "./ports.ts";

/** A queue of a stack. */
interface StackQueue {
  /** As in "claims". */
  readonly name: string;
  readonly url: string;
}

/** What a deployed stack is made of, by what its resources are called. */
export interface StackParts {
  readonly functions: readonly { readonly name: FunctionName; readonly functionName: string }[];
  readonly queues: readonly StackQueue[];
  readonly deadLetters: readonly StackQueue[];
  /** Names of the schedules that EventBridge Scheduler knows. */
  readonly schedules: readonly string[];
  /** Ids of the event sources that queues start functions by, with the function. */
  readonly eventSources: readonly { readonly name: string; readonly id: string }[];
  /** Names of the EventBridge rules that bring notices of EC2. */
  readonly rules: readonly string[];
  /** Whether the audit log of a cluster is subscribed to. */
  readonly hasAuditFilter: boolean;
}

export function partsOf(resources: readonly StackResource[]): StackParts {
  const ofType = (type: string): readonly StackResource[] => resources.filter((resource) => resource.type === type);
  const queues = (suffix: string): readonly StackQueue[] =>
    ofType("AWS::SQS::Queue").flatMap(({ name, id }) => {
      const [, part] = new RegExp(`^([A-Z][a-z]+)${suffix}`).exec(name) ?? [];
      return part === undefined ? [] : [{ name: part.toLowerCase(), url: id }];
    });
  return {
    functions: ofType("AWS::Lambda::Function").flatMap(({ id }) => {
      const name = FUNCTION_NAMES.find((one) => id.endsWith(`-${one}`));
      return name === undefined ? [] : [{ name, functionName: id }];
    }),
    queues: queues("Queue"),
    deadLetters: queues("DeadLetters"),
    schedules: ofType("AWS::Scheduler::Schedule").map(({ id }) => id),
    eventSources: ofType("AWS::Lambda::EventSourceMapping").map(({ name, id }) => ({
      name: (/^([A-Z][a-z]+)Source/.exec(name)?.[1] ?? name).toLowerCase(),
      id,
    })),
    rules: ofType("AWS::Events::Rule").map(({ id }) => id),
    hasAuditFilter: ofType("AWS::Logs::SubscriptionFilter").length > 0,
  };
}

/** The functions that the sweep starts. */
export const isSwept = (name: FunctionName): boolean => FUNCTIONS[name].schedules.length > 0;
