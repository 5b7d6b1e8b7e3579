import type { VirtualClock } from "./clock.ts";
import { currentInvocation, type Invocation, never } from "./invocation.ts";

/** One call of a port, as a fault simulation sees it. */
export interface PortCall {
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly invocation: Invocation | undefined;
  /** The number of the call in its invocation, from 1. */
  readonly number: number;
}

/** What a hook returns: "kill" ends the whole invocation there; a throw fails the call. */
export type KillVerdict = "kill" | undefined;

export interface CallHooks {
  /** Before the effect. A throw fails the call without an effect. */
  before?(call: PortCall): Promise<KillVerdict> | KillVerdict;
  /** After the effect, before the caller gets the result. A throw loses the answer, not the effect. */
  after?(call: PortCall, result: unknown): Promise<KillVerdict> | KillVerdict;
}

const counts = new WeakMap<Invocation, number>();

/**
 * The same port with hooks around each of its methods, so that a simulation can fail or kill before or after any
 * effect, and interleave invocations at each call (`clock.remote`). Calls outside an invocation, which the world makes
 * itself, are not intercepted.
 */
export function withIntercept<T extends object>(port: T, name: string, hooks: CallHooks, clock?: VirtualClock): T {
  return new Proxy(port, {
    get(target, property, receiver) {
      const value: unknown = Reflect.get(target, property, receiver);
      if (typeof value !== "function" || typeof property !== "string") return value;
      return async (...args: unknown[]) => {
        const invocation = currentInvocation();
        if (!invocation) return Reflect.apply(value, target, args);
        if (invocation.killed) return never();
        const number = (counts.get(invocation) ?? 0) + 1;
        counts.set(invocation, number);
        const call: PortCall = { port: name, method: property, args, invocation, number };
        const pass = async (verdict: Promise<KillVerdict> | KillVerdict): Promise<void> => {
          if ((await verdict) === "kill") invocation.kill();
          if (invocation.killed) await never();
        };
        await clock?.remote(`${invocation.id} ${name}.${property}`);
        await pass(hooks.before?.(call));
        const result: unknown = await Reflect.apply(value, target, args);
        await pass(hooks.after?.(call, result));
        return result;
      };
    },
  });
}
