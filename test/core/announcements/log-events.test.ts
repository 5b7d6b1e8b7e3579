import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import { memoryLog } from "#adapters/telemetry/log.ts";
import { eventOf, fieldsOf, LOG_EVENTS, type LogEvents, lineOf, logEvent } from "#core/announcements/log-events.ts";
import type { AnnouncementKind } from "#core/ports/announcements.ts";

const ROOT = join(import.meta.dirname, "../../..");

describe("the table of log events", () => {
  it("has the messages, levels and announcements that users rely on", () => {
    const rows = Object.entries(LOG_EVENTS).map(([message, { level, announced }]) => {
      const { kind, identity = [], recurring } = announced ?? {};
      return [level, message, ...(kind ? [`${kind} by ${identity.join(", ")}${recurring ? ", once an hour" : ""}`] : [])].join(" | ");
    });
    expect(rows).toEqual([
      "info | created nodeclaim",
      "info | launched nodeclaim | NodeClaim Launched by NodeClaim, provider-id",
      "error | failed launching nodeclaim | NodeClaim Launch Failed by NodeClaim, reason, error, once an hour",
      "info | registered nodeclaim | NodeClaim Registered by NodeClaim, provider-id",
      "info | initialized nodeclaim | NodeClaim Initialized by NodeClaim, provider-id",
      "info | deleted nodeclaim | NodeClaim Terminated by NodeClaim, provider-id",
      "info | deleted node",
      "info | tainted node",
      "info | deleting unhealthy node",
      "info | garbage collected node",
      "info | disrupting nodeclaim(s) | Nodes Disrupted by command-id",
      "info | initiating delete from interruption message | Node Interrupted by NodeClaim, messageKind",
      "error | could not schedule pod | Pod Unschedulable by Pod, error, once an hour",
      "info | computed unready node(s) will fit pod(s)",
      "info | provisioning nodeclaims to satisfy replica count",
      "info | deprovisioning nodeclaims to satisfy replica count",
    ]);
  });

  it("has the fields of the announcements that programs outside the cluster read", () => {
    type Machine = "NodePool" | "NodeClaim" | "provider-id" | "instance-type" | "zone" | "capacity-type";
    type Fields<M extends keyof LogEvents> = keyof LogEvents[M];
    expectTypeOf<Fields<"launched nodeclaim">>().toEqualTypeOf<Machine | "price-per-hour" | "allocatable" | "reason" | "command-id">();
    expectTypeOf<Fields<"failed launching nodeclaim">>().toEqualTypeOf<Machine | "error" | "reason">();
    expectTypeOf<Fields<"registered nodeclaim">>().toEqualTypeOf<Machine | "Node">();
    expectTypeOf<Fields<"initialized nodeclaim">>().toEqualTypeOf<Machine | "Node" | "allocatable">();
    expectTypeOf<Fields<"deleted nodeclaim">>().toEqualTypeOf<Machine | "reason">();
    expectTypeOf<Fields<"initiating delete from interruption message">>().toEqualTypeOf<Machine | "messageKind" | "action">();
    expectTypeOf<Fields<"could not schedule pod">>().toEqualTypeOf<"Pod" | "error">();
    expectTypeOf<Fields<"disrupting nodeclaim(s)">>().toEqualTypeOf<
      | ("reason" | "command" | "command-id" | "decision" | "savings-per-hour")
      | ("disrupted-node-count" | "replacement-node-count" | "pod-count")
      | ("disrupted-nodes" | "replacement-nodes" | "replacement-nodeclaims")
    >();
  });

  it("announces each kind of announcement by one event", () => {
    const kinds: Readonly<Record<AnnouncementKind, true>> = {
      ...{ "NodeClaim Launched": true, "NodeClaim Registered": true, "NodeClaim Initialized": true, "NodeClaim Terminated": true },
      ...{ "NodeClaim Launch Failed": true, "Nodes Disrupted": true, "Node Interrupted": true, "Pod Unschedulable": true },
    };
    const announced = Object.values(LOG_EVENTS).flatMap((event) => (event.announced ? [event.announced.kind] : []));
    expect(announced.toSorted()).toEqual(Object.keys(kinds).toSorted());
  });

  it("is what every writer takes these messages from", () => {
    const byHand = Object.keys(LOG_EVENTS).map((message) => message.replaceAll(/[()]/g, "\\$&"));
    const text = new RegExp(`(?:\\.(?:debug|info|error)\\(|message:)\\s*["\`](?:${byHand.join("|")})`);
    const files = globSync("{core,functions}/**/*.ts", { cwd: ROOT });
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => text.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
    expect(text.test('log.info("launched nodeclaim", {')).toBe(true);
    expect(text.test('{ type: "Log", level: "info", message: `disrupting nodeclaim(s) via delete` }')).toBe(true);
  });
});

describe("a line of an event", () => {
  it("is written at the event's level with the fields in their order", () => {
    const log = memoryLog();
    logEvent(log, "could not schedule pod", { controller: "provisioner", Pod: "default/web", error: "too large" });
    const fields = { controller: "provisioner", Pod: "default/web", error: "too large" };
    expect(log.records).toEqual([{ level: "error", message: "could not schedule pod", fields }]);
  });

  it("is known by its message, or by the beginning of one that goes on", () => {
    const line = lineOf("deleted node", { Node: { name: "n" } }, "hand");
    expect(line).toEqual({ level: "info", message: "deleted node via hand", fields: { Node: { name: "n" } } });
    expect(eventOf(line.message)).toBe("deleted node");
    expect(fieldsOf(line, "deleted node")).toEqual({ Node: { name: "n" } });
    expect(fieldsOf(line, "tainted node")).toBeUndefined();
    expect(eventOf("constructor")).toBeUndefined();
  });
});
