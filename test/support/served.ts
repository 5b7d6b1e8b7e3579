import type { AuditedCluster } from "#functions/audit/entry.ts";

/** Clusters that are served, as the audit function asks for them. */
export const servedAs = <T extends AuditedCluster>(clusters: readonly T[]) => ({
  all: async (): Promise<readonly T[]> => clusters,
  find: async (name: string): Promise<T | undefined> => clusters.find((cluster) => cluster.name === name),
});
