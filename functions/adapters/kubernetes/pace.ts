import { setTimeout as sleep } from "node:timers/promises";
import type { httpsTransport } from "./transport.ts";

type Transports = ReturnType<typeof httpsTransport>;

/** A clock that can be waited on; a seam for tests. */
export interface Pacemaker {
  /** Milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}

/**
 * Holds requests to one API server to a rate: `burst` at once, `qps` a second in the long run. Who is over it waits for its turn, in order. A warm
 * function is paced across its calls; functions that run at the same time are not paced against each other.
 */
export function paced(
  { send, open }: Transports,
  { qps, burst }: { readonly qps: number; readonly burst: number },
  { now, sleep: wait }: Pacemaker = { now: () => performance.now(), sleep },
): Transports {
  let tokens = burst;
  let countedAt = now();
  const turn = async (): Promise<void> => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - countedAt) / 1_000) * qps) - 1;
    countedAt = at;
    // Below nothing: the request has taken a token that is still to come.
    if (tokens < 0) await wait((-tokens / qps) * 1_000);
  };
  return {
    send: async (request) => {
      await turn();
      return send(request);
    },
    open: async (request, onLine, lifetimeMs) => {
      await turn();
      return open(request, onLine, lifetimeMs);
    },
  };
}
