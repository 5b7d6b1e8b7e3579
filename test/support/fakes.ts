import type { Log } from "../../core/ports/log.ts";
import type { WakeUp, WakeUps } from "../../core/ports/wake-ups.ts";

/** Collects what was asked for. */
export function recordingWakeUps(): WakeUps & { readonly sent: WakeUp[] } {
  const sent: WakeUp[] = [];
  return { sent, wake: async (wakeUps) => void sent.push(...wakeUps) };
}

/** Collects error lines; says nothing. */
export function recordingLog(): Log & { readonly errors: string[] } {
  const errors: string[] = [];
  const log = { errors, debug: () => {}, info: () => {}, error: (message: string) => void errors.push(message), with: () => log };
  return log;
}
