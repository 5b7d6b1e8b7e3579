import type { Ec2Requests, Environment } from "./ec2-requests.ts";
import { currentInvocation, type Invocation, invoke, never } from "./invocation.ts";
import type { Lineage } from "./lineage.ts";

/**
 * Makes one request to EC2. With a launch template an environment makes it once; "with others": those of one moment are
 * one request (adapters/aws/fleet.ts).
 */
export type MakeRequest = (action: string, once?: { readonly template: string } | "with others") => Promise<void>;

/** The environments in which Lambda runs functions: one invocation at a time in each, and the last one used first. */
export interface Ec2Environments {
  /** How a new environment begins. */
  make(environment: () => Environment): void;
  /** Runs an invocation in an environment of its function that is free, or in a new one; a killed one is lost. */
  invoke<T>(id: string, name: string, body: () => Promise<T>, lineage?: Lineage): Promise<T>;
  /** Makes requests from the environment of the invocation that asks. */
  requesting(requests: Ec2Requests): MakeRequest;
}

export function ec2Environments(): Ec2Environments {
  const free = new Map<string, Environment[]>();
  const used = new WeakMap<Invocation, Environment>();
  let makeOne: (() => Environment) | undefined;
  /** An environment is made when the invocation first asks EC2. */
  const environmentOf = (invocation: Invocation | undefined): Environment | undefined => {
    if (invocation === undefined) return undefined;
    const known = used.get(invocation) ?? free.get(invocation.name)?.pop() ?? makeOne?.();
    if (known !== undefined) used.set(invocation, known);
    return known;
  };
  return {
    make(environment) {
      makeOne = environment;
    },
    invoke: (id, name, body, lineage) =>
      invoke(
        id,
        name,
        async () => {
          const result = await body();
          const invocation = currentInvocation();
          const environment = invocation && used.get(invocation);
          if (environment !== undefined) free.set(name, [...(free.get(name) ?? []), environment]);
          return result;
        },
        lineage,
      ),
    requesting: (requests) => async (action, once) => {
      const invocation = currentInvocation();
      const environment = environmentOf(invocation);
      const key = once === undefined ? undefined : once === "with others" ? action : `${action} ${once.template}`;
      const made = (key === undefined ? undefined : environment?.made.get(key)) ?? requests.make(action, environment);
      if (key !== undefined) environment?.made.set(key, made);
      try {
        await made;
      } catch (error) {
        if (key !== undefined) environment?.made.delete(key);
        throw error;
      }
      if (once === "with others") environment?.made.delete(action);
      // Killed while it waited: the request is never made.
      if (invocation?.killed) await never();
    },
  };
}
