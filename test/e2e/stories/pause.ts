import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { dynamoNodeClaimStore } from "#adapters/store/dynamodb-store.ts";
import type { KubeObject } from "#installer/account/ports.ts";
import { type PausePorts, pause, resume } from "#installer/pause/pause.ts";
import { apply, applyPool, manifest, quickly, reset, scale } from "../arrange.ts";
import { alive, evictions, functionLines, LONG, lastCall, list, pods, running } from "../observe.ts";
import { check, expect, figure } from "../report.ts";
import { CLUSTER, REGION } from "../stage.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";

/** A pause is in force so long after its order (docs/pause.md), ms. */
const IN_FORCE_MS = 10_000;
/** Longer than consolidateAfter, the validation of a command and a sweep together, ms. */
const OBSERVED_MS = 80_000;
const CONFIG_MAP = { name: "karpenter-serverless-pause", namespace: "kube-system" } as const;

/** The ports of the commands `pause` and `resume`, for the stack of this run. */
function portsOf({ dynamodb, outputs, cluster }: E2eWorld): PausePorts {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new DynamoDBClient({ endpoint: dynamodb.url, region: REGION, credentials });
  const find = async ({ kind, metadata: { name, namespace = "" } }: KubeObject) => {
    const text = await cluster.kubectl("get", kind, name, "-n", namespace, "-o", "json", "--ignore-not-found");
    return text.trim() === "" ? undefined : (JSON.parse(text) as KubeObject);
  };
  return {
    now: Date.now,
    account: { caller: async () => ({ account: "000000000000", arn: "arn:aws:iam::000000000000:user/operator" }) },
    stacks: { describe: async () => ({ status: "CREATE_COMPLETE", templateUrl: "", outputs }), metadata: async () => ({}) },
    clusterRecords: () => ({ list: async () => [] }),
    clusterApi: () => ({ find }),
    records: (tableName) => dynamoNodeClaimStore({ tableName, client }),
  };
}

/** A person pauses disruption by the command, and launches by kubectl alone. */
export async function pauseStory(world: E2eWorld): Promise<void> {
  const stack = { stackName: "e2e", cluster: CLUSTER };
  const ports = portsOf(world);
  await world.registerWebhook();
  await check("the default NodePool becomes Ready, and five pods run", async () => {
    await applyPool(world, "default", quickly);
    await apply(world, manifest("inflate-cpu"));
    await scale(world, "inflate", 5);
    await running(world, "default", 5);
  });
  const machines = alive(world).map(({ id }) => id);
  await check("disruption is paused by the command: nothing is tainted, evicted or ended for as long as it holds", async () => {
    const { output } = await pause({ ...stack, only: "disruption", forMs: undefined, reason: "an AMI is examined" }, ports);
    expect(output?.includes("disruption is paused by arn:aws:iam::000000000000:user/operator") === true, () => String(output));
    await sleep(IN_FORCE_MS);
    const from = Date.now();
    await scale(world, "inflate", 1);
    await running(world, "default", 1);
    await sleep(OBSERVED_MS);
    expect(
      alive(world)
        .map(({ id }) => id)
        .join() === machines.join(),
      () => "a machine was launched or ended",
    );
    expect(evictions(world, from, 201).length === 0, () => "a pod was evicted");
    const tainted = (await list(world, "nodes")).filter(({ spec }) => spec.taints?.some(({ key }) => key === "karpenter.sh/disrupted"));
    expect(tainted.length === 0, () => `${tainted.length} nodes are tainted`);
    expect(functionLines(world, from, "disrupting nodeclaim(s)").length === 0, () => "a command was begun");
  });
  await check("resume by the command: a smaller machine takes the place", async () => {
    const from = Date.now();
    const after = lastCall(world);
    const { output } = await resume(stack, ports);
    expect(output?.includes(`cluster ${CLUSTER}: resumed`) === true, () => String(output));
    await eventually("the old machines end", () => !alive(world).some(({ id }) => machines.includes(id)), { timeoutMs: LONG });
    await running(world, "default", 1);
    figure("pause: from resume to the old machine's end", Date.now() - from);
    expect(lastCall(world) > after, () => "EC2 was not called");
  });
  const few = alive(world).length;
  await check("launches are paused by a ConfigMap: pods wait, and say why", async () => {
    const data = { only: "launches", reason: "the budget of this month", by: "ann" };
    await apply(world, { apiVersion: "v1", kind: "ConfigMap", metadata: CONFIG_MAP, data });
    await sleep(IN_FORCE_MS);
    await scale(world, "inflate", 10);
    await sleep(OBSERVED_MS);
    expect(alive(world).length <= few, () => `${alive(world).length} machines, ${few} before`);
    const waiting = (await pods(world)).filter(({ status }) => status?.phase === "Pending");
    expect(waiting.length > 0, () => "no pod waits");
    const events = await world.cluster.kubectl("get", "events", "-A", "-o", "jsonpath={.items[*].message}");
    expect(events.includes("launches are paused by ConfigMap kube-system/karpenter-serverless-pause (by its own word ann)"), () => events);
  });
  await check("the ConfigMap is deleted: all pods run", async () => {
    const from = Date.now();
    await world.cluster.kubectl("delete", "configmap", CONFIG_MAP.name, "-n", CONFIG_MAP.namespace);
    await running(world, "default", 10);
    figure("pause: from the ConfigMap's end until ten pods run", Date.now() - from);
  });
  await check("all pods gone, all machines gone", async () => {
    await reset(world);
    await world.removeWebhook();
  });
}
