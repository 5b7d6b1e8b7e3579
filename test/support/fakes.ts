import type { Log } from "#core/ports/log.ts";
import type { WakeUp, WakeUps } from "#core/ports/wake-ups.ts";

/** A WakeUps port that records the wake-ups it is asked to send. */
export function recordingWakeUps(): WakeUps & { readonly sent: WakeUp[] } {
  const sent: WakeUp[] = [];
  return { sent, wake: async (wakeUps) => void sent.push(...wakeUps) };
}

/** For entries whose messages return when the queue says so. */
export const noVisibility = async (): Promise<void> => {};

/** A Log port that records the messages of error lines and prints nothing. */
export function recordingLog(): Log & { readonly errors: string[] } {
  const errors: string[] = [];
  const log = { errors, debug: () => {}, info: () => {}, error: (message: string) => void errors.push(message), with: () => log };
  return log;
}
