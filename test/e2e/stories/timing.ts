import { type AuditRecord, auditRecords, callsSince, firstTermination, gone, lastCall, running } from "../observe.ts";
import { figure } from "../report.ts";
import { everyStep } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";

/**
 * Measures the steps after a scale-up: first Unschedulable, CreateFleet, node Ready, all Running. Times are from the
 * audit log, which has microseconds; timestamps of objects have only seconds.
 */
export async function timeScaleUp(world: E2eWorld, source: string, namespace: string, deployment: string, replicas: number): Promise<void> {
  const after = lastCall(world);
  const from = Date.now();
  await world.cluster.kubectl("scale", "-n", namespace, `deployment/${deployment}`, `--replicas=${replicas}`);
  const names = (await running(world, namespace, replicas)).map(({ metadata }) => metadata.name);
  const found = await everyStep<Steps>("all steps of the scale-up are written down", () => stepsIn(world, from, after, names), {
    everyMs: 500,
  });
  const unschedulable = found["an Unschedulable pod in the audit log"];
  figure(`${source}: from Unschedulable to CreateFleet`, found["CreateFleet in EC2's call log"] - unschedulable);
  figure(
    `${source}: from Unschedulable to node Ready (machine boots in 1 s, Ready 1 s later)`,
    found["a Ready node in the audit log"] - unschedulable,
  );
  figure(`${source}: from Unschedulable to the last pod Running`, found["each pod Running in the audit log"] - unschedulable);
}

/** Time of the first occurrence of each step, ms since the epoch. */
interface Steps {
  readonly "an Unschedulable pod in the audit log": number;
  readonly "CreateFleet in EC2's call log": number;
  readonly "a Ready node in the audit log": number;
  /** When the last pod runs. */
  readonly "each pod Running in the audit log": number;
}

type Seen = { readonly [Step in keyof Steps]: Steps[Step] | undefined };

function stepsIn(world: E2eWorld, from: number, after: number, pods: readonly string[]): Seen {
  const status = (resource: string, text: string): readonly AuditRecord[] =>
    auditRecords(world, from, (line) => line.includes('"subresource":"status"') && line.includes(text)).filter(
      ({ objectRef }) => objectRef?.resource === resource && objectRef.subresource === "status",
    );
  const running = status("pods", '"phase":"Running"');
  const ran = pods.map((name) => timeOf(running.find(({ objectRef }) => objectRef?.name === name)));
  return {
    "an Unschedulable pod in the audit log": timeOf(status("pods", '"reason":"Unschedulable"')[0]),
    "CreateFleet in EC2's call log": callsSince(world, after, "CreateFleet")[0]?.time,
    "a Ready node in the audit log": timeOf(status("nodes", '"reason":"KubeletReady"')[0]),
    "each pod Running in the audit log": ran.every((time) => time !== undefined) ? Math.max(...ran) : undefined,
  };
}

const timeOf = (record: AuditRecord | undefined): number | undefined => record && Date.parse(record.stageTimestamp);

/** Measures the time from a scale-down to the end of the instance. */
export async function timeScaleDown(world: E2eWorld, source: string, namespace: string, deployment: string): Promise<void> {
  const from = Date.now();
  const after = lastCall(world);
  await world.cluster.kubectl("scale", "-n", namespace, `deployment/${deployment}`, "--replicas=0");
  await gone(world);
  const ended = firstTermination(world, after);
  if (ended !== undefined) figure(`${source}: from scale-to-zero to TerminateInstances (consolidateAfter included)`, ended - from);
}
