import { type Pacemaker, tokenBucket } from "../aws/token-bucket.ts";
import type { httpsTransport } from "./transport.ts";

type Transports = ReturnType<typeof httpsTransport>;

/** Limits requests to one API server: `burst` at once, `qps` per second on average. */
export function paced(
  { send, open }: Transports,
  { qps, burst }: { readonly qps: number; readonly burst: number },
  pacemaker?: Pacemaker,
): Transports {
  const turn = tokenBucket({ rate: qps, burst }, pacemaker);
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
