import { describe, expect, it } from "vitest";
import { putOff, reasonText, WAKE_UP_CAUSES, type WakeUpReason } from "#core/ports/wake-up-causes.ts";

describe("the causes of wake-ups", () => {
  it("have the texts that log lines have always had", () => {
    const texts = Object.entries(WAKE_UP_CAUSES).flatMap(([kind, rows]) =>
      Object.entries<{ readonly words: (detail: string) => string }>(rows).map(([cause, { words }]) => `${kind} ${cause}: ${words("X")}`),
    );
    expect(texts).toEqual([
      "provision PodsUnschedulable: X pod(s) unschedulable",
      "provision PodsComing: pods are coming",
      "provision PlanPutOff: X; another decision was under way",
      "provision ReplicasPutOff: replicas wait for another decision",
      "provision AuditUnreadable: audit delivery could not be read",
      "provision BufferChanged: X changed",
      "provision BufferRoomTaken: room of CapacityBuffers is taken",
      "provision NodeClassReady: EC2NodeClass X is ready",
      "provision NodeClassChanged: EC2NodeClass X changed",
      "provision NodePoolReady: NodePool X is ready",
      "provision NodePoolChanged: NodePool X changed",
      "provision NodeOverlayChanged: NodeOverlay X changed",
      "provision NodeClaimTerminating: X",
      "provision NodeRegistered: X is registered",
      "provision NodeInitialized: X is initialized",
      "provision NodeClaimRemoved: X is removed",
      "provision PodsWaiting: pods still wait",
      "provision Sweep: sweep",
      "provision Unknown: X",
      "disruption PodsMoved: pods came or went",
      "disruption NodesRemoved: nodes went",
      "disruption ReplacementReady: X is up",
      "disruption DefinitionChanged: X changed",
      "disruption Due: due",
      "disruption PutOff: another decision was under way",
      "disruption Sweep: sweep",
      "disruption Unknown: X",
      "catalog ObjectChanged: X changed",
      "catalog LookupFailed: a lookup for EC2NodeClass X failed",
      "catalog Sweep: sweep",
      "catalog Unknown: X",
    ]);
  });

  it.for<{ reason: WakeUpReason<"provision">; cause: string; text: string }>([
    {
      reason: { cause: "PodsUnschedulable", detail: "2" },
      cause: "PlanPutOff",
      text: "2 pod(s) unschedulable; another decision was under way",
    },
    { reason: { cause: "PodsComing" }, cause: "PlanPutOff", text: "pods are coming; another decision was under way" },
    {
      reason: { cause: "NodePoolReady", detail: "unschedulable" },
      cause: "PlanPutOff",
      text: "NodePool unschedulable is ready; another decision was under way",
    },
  ])("a plan for $reason.cause that is put off says so once, however often it is put off", ({ reason, cause, text }) => {
    const once = putOff(reason);
    expect(once.cause).toBe(cause);
    expect(putOff(putOff(once))).toEqual(once);
    expect(reasonText("provision", once)).toBe(text);
  });
});
