import { auditRecords, firstTermination, gone, running } from "../observe.ts";
import { figure } from "../report.ts";
import type { E2eWorld } from "../world.ts";

/** Watches from the moment of scaling: first Unschedulable, CreateFleet, node Ready, all Running. Seconds as the API server stamps them are too coarse: its audit log has microseconds. */
export async function timeScaleUp(
  world: E2eWorld,
  source: string,
  namespace: string,
  deployment: string,
  replicas: number,
  timeoutMs?: number,
): Promise<void> {
  const calls = world.fake.state.calls.length;
  const from = Date.now();
  await world.cluster.kubectl("scale", "-n", namespace, `deployment/${deployment}`, `--replicas=${replicas}`);
  await running(world, namespace, replicas, timeoutMs);
  const unschedulable = auditTime(
    world,
    from,
    (line) => line.includes('"subresource":"status"') && line.includes('"reason":"Unschedulable"'),
  );
  const ready = auditTime(world, from, (line) => line.includes('"resource":"nodes"') && line.includes('"reason":"KubeletReady"'));
  const ran = auditTime(world, from, (line) => line.includes('"subresource":"status"') && line.includes('"phase":"Running"'), true);
  const fleet = world.fake.state.calls.slice(calls).find(({ action }) => action === "CreateFleet");
  if (unschedulable === undefined || ready === undefined || ran === undefined || fleet === undefined)
    throw new Error("the audit log or the call log lacks a step");
  figure(`${source}: from Unschedulable to CreateFleet`, new Date(fleet.time).getTime() - unschedulable);
  figure(`${source}: from Unschedulable to node Ready (machine boots in 1 s, Ready 1 s later)`, ready - unschedulable);
  figure(`${source}: from Unschedulable to the last pod Running`, ran - unschedulable);
}

function auditTime(world: E2eWorld, from: number, matches: (line: string) => boolean, last = false): number | undefined {
  const times = auditRecords(world, from, matches).map(({ stageTimestamp }) => Date.parse(stageTimestamp));
  return last ? times.at(-1) : times[0];
}

/** From a scale-down to the end of the machine. */
export async function timeScaleDown(world: E2eWorld, source: string, namespace: string, deployment: string): Promise<void> {
  const from = Date.now();
  const calls = world.fake.state.calls.length;
  await world.cluster.kubectl("scale", "-n", namespace, `deployment/${deployment}`, "--replicas=0");
  await gone(world);
  const ended = firstTermination(world, calls);
  if (ended !== undefined) figure(`${source}: from scale-to-zero to TerminateInstances (consolidateAfter included)`, ended - from);
}
