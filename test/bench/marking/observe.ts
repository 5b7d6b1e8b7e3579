import { readFileSync } from "node:fs";

// What kube-scheduler did to the pods of a Deployment, from the API server's audit log.

/** A Deployment of pods of one CPU. */
export const deployment = (name: string, replicas: number): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "web", image: "registry.example/web:1", resources: { requests: { cpu: "1" } } }] },
    },
  },
});

interface AuditRecord {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly name?: string };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** What kube-scheduler's first status write of each pod took: begin and end, ms since the epoch, by the pod's name. */
export function marks(auditLog: string, prefix: string): ReadonlyMap<string, readonly [number, number]> {
  const found = new Map<string, readonly [number, number]>();
  for (const line of readFileSync(auditLog, "utf8").split("\n")) {
    if (!line.includes('"system:kube-scheduler"') || !line.includes(`"${prefix}-`)) continue;
    const { verb, user, objectRef, ...at } = JSON.parse(line) as AuditRecord;
    const { resource, subresource, name = "" } = objectRef ?? {};
    if (verb !== "patch" || user.username !== "system:kube-scheduler" || resource !== "pods" || subresource !== "status") continue;
    if (!found.has(name)) found.set(name, [Date.parse(at.requestReceivedTimestamp), Date.parse(at.stageTimestamp)]);
  }
  return found;
}

/** What a course came to. Times are seconds after the first pod was marked. */
export interface Played {
  readonly marked: number;
  readonly markedAfter: number;
  /** What kube-scheduler waited for a write of a pod's status, ms, in the middle of all pods. */
  readonly writeMs: number;
  /** With the stand-in of the webhook alone: pods that it has heard of, and when it had heard of the last. */
  readonly heard?: number;
  readonly heardAfter?: number;
}

/** `begin` is when the first pod was marked, ms since the epoch. */
export function markingOf(found: ReadonlyMap<string, readonly [number, number]>): Played & { readonly begin: number } {
  const written = [...found.values()].sort(([a], [b]) => a - b);
  const begin = written[0]?.[0] ?? Number.NaN;
  const took = written.map(([from, to]) => to - from).sort((a, b) => a - b);
  return {
    begin,
    marked: written.length,
    markedAfter: (Math.max(...written.map(([, end]) => end)) - begin) / 1_000,
    writeMs: took[Math.floor(took.length / 2)] ?? Number.NaN,
  };
}
