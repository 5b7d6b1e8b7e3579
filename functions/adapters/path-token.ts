import type { Log } from "../../core/ports/log.ts";
import { sameText } from "./function-url.ts";

/**
 * Whether a text is the secret part of a function's public path. The API server cannot sign its requests, so this is
 * what distinguishes it from a stranger.
 */
export type PathToken = (given: string) => Promise<boolean>;

/** A token that never changes. */
export function fixedToken(token: string): PathToken {
  return async (given) => sameText(given, token);
}

/**
 * How long a warm function does not read the secret again, so that calls with wrong paths cost next to nothing, ms.
 */
const MIN_READ_GAP_MS = 60_000;
const TOKEN = /^[A-Za-z0-9_-]{16,}$/;

export interface SecretTokenOptions {
  /** Gives the present text of the secret. */
  readonly read: () => Promise<string>;
  readonly log: Pick<Log, "error">;
  readonly now: () => number;
}

/**
 * A token that a secret holds. It is read at the first call and again when a call brings another one, so a new token
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

  return async (given) => {
    if (kept !== undefined && sameText(given, kept.token)) return true;
    if (kept !== undefined && now() - kept.at < MIN_READ_GAP_MS) return false;
    reading ??= refresh().finally(() => {
      reading = undefined;
    });
    await reading;
    return kept !== undefined && sameText(given, kept.token);
  };
}
