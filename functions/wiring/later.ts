import type { Later } from "../shared/cluster-deps.ts";

/** Timers of the process. */
export const later: Later = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};
