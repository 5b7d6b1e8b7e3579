import { createHmac } from "node:crypto";
import type { Log } from "#core/ports/log.ts";
import { sameText } from "./function-url.ts";

/**
 * Whether a text is the secret part of a cluster's public path. The API server cannot sign its requests, so this is
 * what distinguishes it from a stranger, and from another cluster of the stack. Without a cluster, what is asked about
 * is of all clusters, and the secret itself is accepted.
 */
export type PathToken = (given: string, cluster?: string) => Promise<boolean>;

/**
 * The token of one cluster, made of the stack's secret: who may read a cluster's webhook can call for that cluster
 * alone. 48 hex digits.
 */
export function clusterToken(secret: string, cluster: string): string {
  return createHmac("sha256", secret).update(`karpenter-serverless/${cluster}`).digest("hex").slice(0, 48);
}

/** The cluster's token; without a cluster the secret itself. */
export function isTokenOf(given: string, secret: string, cluster: string | undefined): boolean {
  return sameText(given, cluster === undefined ? secret : clusterToken(secret, cluster));
}

/** A secret that never changes. */
export function fixedToken(secret: string): PathToken {
  return async (given, cluster) => isTokenOf(given, secret, cluster);
}

/**
 * How long a warm function does not read the secret again, so that calls with wrong paths cost next to nothing, ms.
 */
const MIN_READ_GAP_MS = 60_000;
const TOKEN = /^[A-Za-z0-9_-]{16,}$/;

interface SecretTokenOptions {
  /** Gives the present text of the secret. */
  readonly read: () => Promise<string>;
  readonly log: Pick<Log, "error">;
  readonly now: () => number;
}

/**
 * Tokens of a stored secret. It is read at the first call and again when a call brings another token, so a new secret
 * holds without a deployment. While the secret cannot be read, calls are refused and the log has the reason.
 */
export function secretToken({ read, log, now }: SecretTokenOptions): PathToken {
  let kept: { readonly token: string; readonly at: number } | undefined;
  let reading: Promise<void> | undefined;

  const refresh = async (): Promise<void> => {
    // What is kept stays good while the secret cannot be read.
    const at = now();
    try {
      const token = await read();
      if (!TOKEN.test(token)) throw new Error("the secret holds no token of 16 or more letters, digits, - and _; store one in it");
      kept = { token, at };
    } catch (error) {
      if (kept !== undefined) kept = { ...kept, at };
      log.error("could not read the token of the function's path", { error: error instanceof Error ? error.message : String(error) });
    }
  };

  return async (given, cluster) => {
    if (kept !== undefined && isTokenOf(given, kept.token, cluster)) return true;
    if (kept !== undefined && now() - kept.at < MIN_READ_GAP_MS) return false;
    reading ??= refresh().finally(() => {
      reading = undefined;
    });
    await reading;
    return kept !== undefined && isTokenOf(given, kept.token, cluster);
  };
}
