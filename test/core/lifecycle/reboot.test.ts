import { describe, expect, it } from "vitest";
import type { ClaimView, Step } from "#core/lifecycle/action.ts";
import { advance } from "#core/lifecycle/advance.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pause } from "#core/model/pause.ts";
import * as objects from "../../support/objects.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const MINUTE = 60_000;
const at = (ago: number): string => new Date(NOW - ago).toISOString().replace(".000", "");
const condition = (type: string, ago: number, more: Partial<Condition> = {}): Condition => ({
  ...{ type, status: "True", reason: type, message: "", lastTransitionTime: at(ago) },
  ...more,
});

interface Parts {
  readonly reason?: "RebootRequested" | "RebootIssued";
  /** Since when the reboot is requested, and issued, ms. */
  readonly requestedAgo?: number;
  readonly issuedAgo?: number;
  readonly period?: string;
  readonly before?: string;
  readonly boot?: string;
  readonly ready?: boolean;
  readonly nodeDeleted?: boolean;
  readonly taints?: Node["spec"]["taints"];
  readonly labels?: Readonly<Record<string, string>>;
  readonly record?: Partial<NodeClaimRecord>;
  readonly view?: Partial<ClaimView>;
}

const TAINT = { key: "karpenter.sh/rebooting", effect: "NoSchedule" } as const;

function step(parts: Parts): Step {
  const { reason = "RebootRequested", requestedAgo = MINUTE, issuedAgo, period = "300s", before, boot = "one", ready = true } = parts;
  const annotations = {
    ...{ "karpenter-serverless/intent": "intent", "karpenter.sh/reboot-termination-grace-period": period },
    ...(before !== undefined && { "karpenter.sh/reboot-pre-boot-id": before }),
  };
  const initialized =
    issuedAgo === undefined
      ? condition("Initialized", 3_600_000)
      : condition("Initialized", issuedAgo, { status: "Unknown", reason: "Rebooting" });
  const providerID = "aws:///a/i-1";
  const claim: NodeClaim = objects.nodeClaim("c", {
    uid: "uid",
    labels: { "karpenter.k8s.aws/ec2nodeclass": "default" },
    metadata: { annotations, finalizers: ["karpenter.sh/termination"] },
    providerID,
    status: { nodeName: "n" },
    conditions: [
      ...[condition("Launched", 3_600_000), condition("Registered", 3_600_000), initialized],
      condition("Rebooting", requestedAgo, { reason, message: "rebooting for AcceleratedHardwareReady/XID63" }),
    ],
  });
  const built = objects.node("n", { providerID, labels: parts.labels ?? {}, taints: parts.taints ?? [TAINT], ready });
  const metadata = { ...built.metadata, ...(parts.nodeDeleted && { deletionTimestamp: at(0) }) };
  const node: Node = { ...built, metadata, status: { ...built.status, nodeInfo: { bootID: boot } } };
  const record = {
    ...{
      cluster: "c",
      name: "c",
      uid: "uid",
      version: 3,
      intentId: "intent",
      manifest: claim,
      reason: "provisioned",
      createdAt: 0,
      podUids: [],
    },
    ...{ instanceTypes: [], pricePerHour: 0, launchAttempts: 1, dueAt: 0, initializedAt: 0 },
    instance: { id: "i-1", instanceType: "m5.large", zone: "a", capacityType: "on-demand" },
    ...parts.record,
  } as unknown as NodeClaimRecord;
  return advance({
    ...{
      now: NOW,
      name: "c",
      record,
      claim,
      nodes: [node],
      otherYoungNodes: [],
      instance: undefined,
      pods: [],
      volumeAttachments: undefined,
    },
    ...{ replacements: [], pauses: [] },
    ...parts.view,
  });
}

/** What a step does, in a word for each action. */
const told = ({ actions, wakeAt }: Step): string =>
  [
    ...actions.map((action) =>
      action.type === "Event" ? action.event.reason : action.type === "Count" ? `${action.metric} ${action.labels["result"]}` : action.type,
    ),
    ...(wakeAt === undefined ? [] : [`wait ${(wakeAt - NOW) / 1_000} s`]),
  ].join(", ");
const conditionsAfter = ({ actions }: Step): readonly string[] =>
  actions
    .flatMap((action) => (action.type === "WriteClaim" && action.status ? (action.claim.status?.conditions ?? []) : []))
    .map(({ type, status, reason }) => `${type}=${status}/${reason}`);

describe("a reboot that is requested", () => {
  it.for<{ name: string; parts: Parts; want: string }>([
    { name: "first keeps new pods off the node", parts: { taints: [] }, want: "WriteNode" },
    { name: "then asks for the node's pods", parts: { view: { pods: undefined } }, want: "" },
    { name: "waits for late pods", parts: { requestedAgo: 2_000 }, want: "wait 3 s" },
    { name: "names the boot before it reboots", parts: {}, want: "WriteClaim" },
    { name: "skips the drain where that has no time", parts: { period: "0s", view: { pods: undefined } }, want: "WriteClaim" },
    { name: "writes down that it asks EC2, and asks it", parts: { before: "one" }, want: "WriteRecord, RebootInstance, WriteClaim" },
    {
      name: "does not ask again while an earlier call may still be heeded",
      parts: { before: "one", record: { rebootSentAt: NOW - 30_000 } },
      want: "wait 15 s",
    },
    {
      name: "asks again when nothing has happened for two minutes",
      parts: { before: "one", requestedAgo: 4 * MINUTE, record: { rebootSentAt: NOW - 2 * MINUTE } },
      want: "WriteRecord, RebootInstance, WriteClaim",
    },
    {
      name: "asks although an earlier reboot was asked for a minute ago",
      parts: { before: "one", requestedAgo: 10_000, record: { rebootSentAt: NOW - MINUTE } },
      want: "WriteRecord, RebootInstance, WriteClaim",
    },
    { name: "is issued where the node has booted already", parts: { before: "one", boot: "two" }, want: "WriteClaim" },
  ])("$name", ({ parts, want }) => {
    expect(told(step(parts))).toBe(want);
  });

  it("is issued with the NodeClaim no longer initialized", () => {
    expect(conditionsAfter(step({ before: "one" }))).toEqual(
      expect.arrayContaining(["Rebooting=True/RebootIssued", "Initialized=Unknown/Rebooting"]),
    );
  });

  it.for<{ name: string; parts: Parts; want: string }>([
    { name: "EC2 refuses it", parts: { before: "one", view: { rebootRefused: "no" } }, want: "provider_error" },
    {
      name: "EC2 does not take it in five minutes after the drain",
      parts: { before: "one", requestedAgo: 11 * MINUTE, record: { rebootSentAt: NOW - 3 * MINUTE } },
      want: "provider_error",
    },
    {
      name: "the node does not come back in twenty minutes",
      parts: { reason: "RebootIssued", requestedAgo: 30 * MINUTE, issuedAgo: 21 * MINUTE, before: "one" },
      want: "recovery_timeout",
    },
  ])("ends in a replacement, with the bound of the drain, when $name", ({ parts, want }) => {
    const failed = step(parts);
    expect(told(failed)).toContain(`RebootFailed, nodes_reboots_total ${want}`);
    const [written] = failed.actions.flatMap((action) => (action.type === "WriteRecord" ? [action.record.terminating] : []));
    expect(written).toMatchObject({ reason: "unhealthy", deadline: NOW + 5 * MINUTE });
  });

  const pause: Pause = { source: "table", only: "disruption", at: NOW - MINUTE, by: "arn", reason: "" };

  it("waits while disruption is paused, and continues afterwards, however late", () => {
    expect(told(step({ taints: [], view: { pauses: [pause] } }))).toBe("wait 60 s");
    expect(told(step({ requestedAgo: 20 * MINUTE, before: "one" }))).toBe("WriteRecord, RebootInstance, WriteClaim");
  });

  it("ends with its node, when that is deleted", () => {
    const [write] = step({ nodeDeleted: true }).actions;
    expect(write?.type === "WriteRecord" && write.record.terminating?.reason).toBe("deleted");
  });

  it("is given up, and the node kept, where its bound cannot be read", () => {
    const refused = step({ period: "soon" });
    expect(told(refused)).toContain("WriteClaim, RebootFailed, nodes_reboots_total invalid_request");
    expect(conditionsAfter(refused)).toContain("Rebooting=False/RebootFailed");
  });
});

describe("a reboot that is issued", () => {
  const issued: Parts = { reason: "RebootIssued", issuedAgo: MINUTE, requestedAgo: 3 * MINUTE, before: "one" };

  it.for<{ name: string; parts: Parts; want: string }>([
    { name: "takes the label of the boot before off", parts: { labels: { "karpenter.sh/initialized": "true" } }, want: "WriteNode" },
    { name: "waits for the new boot", parts: {}, want: "wait 15 s" },
    { name: "lets pods come once it is there", parts: { boot: "two" }, want: "WriteNode" },
    { name: "waits until the node is Ready", parts: { boot: "two", ready: false, taints: [] }, want: "RebootObserved, wait 15 s" },
    {
      name: "succeeds then",
      parts: { boot: "two", taints: [] },
      want: "RebootObserved, WriteClaim, nodes_reboots_total succeeded, Observe, Observe",
    },
  ])("$name", ({ parts, want }) => {
    expect(told(step({ ...issued, ...parts }))).toBe(want);
  });

  it("keeps the taint while the old boot still answers", () => {
    const [write] = step({ ...issued, labels: { "karpenter.sh/initialized": "true" } }).actions;
    expect(write?.type === "WriteNode" && write.node.spec.taints).toEqual([TAINT]);
  });
});
