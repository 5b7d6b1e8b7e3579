import { describe, expect, it } from "vitest";
import { announcementOf } from "#core/announcements/announcement-of.ts";
import type { LogFields } from "#core/ports/log.ts";

const of = (message: string, fields: LogFields = {}, cluster = "c1", at = 1_000) => announcementOf({ message, fields, at }, cluster);

describe("announcementOf", () => {
  it.for([
    { message: "launched nodeclaim", kind: "NodeClaim Launched" },
    { message: "registered nodeclaim", kind: "NodeClaim Registered" },
    { message: "initialized nodeclaim", kind: "NodeClaim Initialized" },
    { message: "deleted nodeclaim", kind: "NodeClaim Terminated" },
    { message: "failed launching nodeclaim", kind: "NodeClaim Launch Failed" },
    { message: "disrupting nodeclaim(s) via delete, terminating 1 nodes (0 pods) n/m5.large/spot", kind: "Nodes Disrupted" },
    { message: "initiating delete from interruption message", kind: "Node Interrupted" },
    { message: "could not schedule pod", kind: "Pod Unschedulable" },
    { message: "tainted node", kind: undefined },
    { message: "created nodeclaim", kind: undefined },
    { message: "constructor", kind: undefined },
  ])("the log line '$message' is announced as: $kind", ({ message, kind }) => {
    expect(of(message)?.kind).toBe(kind);
  });

  it("an announcement has the fields of its log line except the writer's", () => {
    const fields = {
      controller: "nodeclaim.lifecycle",
      namespace: "",
      name: "a",
      NodeClaim: { name: "a" },
      zone: "us-west-2a",
      gone: undefined,
    };
    expect(of("launched nodeclaim", fields)).toEqual({
      kind: "NodeClaim Launched",
      cluster: "c1",
      at: 1_000,
      detail: {
        id: expect.stringMatching(/^[0-9a-f]{16}$/),
        cluster: "c1",
        message: "launched nodeclaim",
        NodeClaim: { name: "a" },
        zone: "us-west-2a",
      },
    });
  });

  it("an announcement's id is equal for equal occurrences, whatever the other fields say", () => {
    const id = (message: string, fields: LogFields, cluster?: string, at?: number) => of(message, fields, cluster, at)?.detail["id"];
    const claim = { NodeClaim: { name: "a" }, "provider-id": "aws:///us-west-2a/i-1" };
    const first = id("launched nodeclaim", claim);
    expect(id("launched nodeclaim", { ...claim, allocatable: { cpu: "2" } }, "c1", 2_000)).toBe(first);
    const others = [
      id("registered nodeclaim", claim),
      id("launched nodeclaim", claim, "c2"),
      id("launched nodeclaim", { ...claim, "provider-id": "aws:///us-west-2a/i-2" }),
      id("launched nodeclaim", { ...claim, NodeClaim: { name: "b" } }),
    ];
    expect(new Set([first, ...others]).size).toBe(5);
    const command = { "command-id": "x" };
    expect(id("disrupting nodeclaim(s) via delete, terminating 2 nodes", command)).toBe(
      id("disrupting nodeclaim(s) via delete, terminating 1 nodes", command),
    );
  });
});
