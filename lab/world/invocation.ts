import { AsyncLocalStorage } from "node:async_hooks";
import type { Lineage } from "./lineage.ts";

/** One run of a handler. Everything that it awaits belongs to it, so that a remote call knows its invocation. */
export interface Invocation {
  readonly id: string;
  /** Name of the function that runs. */
  readonly name: string;
  readonly killed: boolean;
  /** The lineage of the messages that it sends. */
  readonly lineage: Lineage;
  /** Ends the invocation where it is: its code never continues, and its caller gets KilledError. */
  kill(): void;
}

/** The error that the host of a killed invocation gets. The killed code gets no error, because it never continues. */
export class KilledError extends Error {
  override readonly name = "KilledError";
}

const current = new AsyncLocalStorage<Invocation>();

/** The invocation of the calling code; undefined for the code of the world itself. */
export const currentInvocation = (): Invocation | undefined => current.getStore();

/** Runs `fn` as an invocation. Rejects with KilledError when it is killed, even if its code never ends. */
export function invoke<T>(id: string, name: string, fn: () => Promise<T>, lineage: Lineage = new Map()): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let killed = false;
    const invocation: Invocation = {
      id,
      name,
      lineage,
      get killed() {
        return killed;
      },
      kill() {
        killed = true;
        reject(new KilledError(`${name} (${id}) was killed`));
      },
    };
    current.run(invocation, () => fn().then(resolve, reject));
  });
}

/** The result of a call in a killed invocation: a promise that never settles. */
export const never = (): Promise<never> => new Promise<never>(() => {});
