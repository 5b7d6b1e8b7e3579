import { ConflictError, NotFoundError } from "#core/ports/errors.ts";

/**
 * Writes under optimistic concurrency: each write names the version of the object or record that was read. These
 * helpers say what happens when another writer was faster: client-go's retry.RetryOnConflict and client.IgnoreNotFound.
 *
 * @example
 * await ignoreGone(retryOnConflict(5, async () => changeNode(await kubernetes.get("Node", name))));
 */

/**
 * Runs `work` until it meets no ConflictError, at most `tries` times, without a pause; the last ConflictError is
 * thrown. `work` must read what it changes itself, so that each try starts from the newest version. Other errors are
 * thrown at once.
 */
export async function retryOnConflict<T>(tries: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt >= tries) throw error;
    }
  }
}

/**
 * The result of a write, or undefined when the object was written by another since it was read. Other errors are
 * thrown.
 */
export async function ignoreConflict<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof ConflictError) return undefined;
    throw error;
  }
}

/** The result of a write, or undefined when the object no longer exists. Other errors are thrown. */
export async function ignoreGone<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** Both: for writes that the next pass repeats from what it reads then, if they are still needed. */
export function ignoreConflictOrGone<T>(write: Promise<T>): Promise<T | undefined> {
  return ignoreGone(ignoreConflict(write));
}
