import { AsyncLocalStorage } from "node:async_hooks";

/** One run of a handler. Whatever it awaits belongs to it, so a remote call knows on whose behalf it is made. */
export interface Invocation {
  readonly id: string;
  /** Name of the function that runs. */
  readonly name: string;
  readonly killed: boolean;
  /** Ends the invocation where it stands: its code never goes on, its caller sees KilledError. */
  kill(): void;
}

/** What the host of a killed invocation sees; the killed code itself sees nothing any more. */
export class KilledError extends Error {
  override readonly name = "KilledError";
}

const current = new AsyncLocalStorage<Invocation>();

/** The invocation in which the caller runs; undefined for the world's own doings. */
export const currentInvocation = (): Invocation | undefined => current.getStore();

/** Runs `fn` as an invocation. Rejects with KilledError when it is killed, even if its code hangs for ever. */
export function invoke<T>(id: string, name: string, fn: () => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let killed = false;
    const invocation: Invocation = {
      id,
      name,
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

/** What a killed invocation's call comes to: nothing, ever. */
export const never = (): Promise<never> => new Promise<never>(() => {});
