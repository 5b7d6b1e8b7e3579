import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { eventBus } from "#adapters/aws/event-bus.ts";
import type { Announcement } from "#core/ports/announcements.ts";
import { noAnnouncements } from "#functions/shared/announce.ts";
import { wireAnnouncements } from "#functions/wiring/announcements.ts";
import { recordingLog } from "../../support/fakes.ts";

const events = mockClient(EventBridgeClient);
const sent = () => events.commandCalls(PutEventsCommand).map(({ args }) => args[0].input.Entries ?? []);
const AT = Date.parse("2026-11-21T12:00:00Z");
const announcement = (name: string, detail: Announcement["detail"] = {}): Announcement => ({
  ...{ kind: "NodeClaim Launched", cluster: "c1", at: AT },
  detail: { id: name, cluster: "c1", NodeClaim: { name }, ...detail },
});
const many = (count: number, detail?: Announcement["detail"]) => Array.from({ length: count }, (_, i) => announcement(`a${i}`, detail));

vi.stubEnv("AWS_REGION", "us-west-2");

function bus() {
  const log = recordingLog();
  return { log, bus: eventBus({ busName: "decisions", log }) };
}

beforeEach(() => {
  events.reset();
  events.on(PutEventsCommand).resolves({ FailedEntryCount: 0, Entries: [] });
});

describe("eventBus", () => {
  it("announcements are sent, with the instance where there is one", async () => {
    await bus().bus.announce([announcement("a", { "provider-id": "aws:///us-west-2a/i-0abc" }), announcement("b")]);
    expect(sent()).toEqual([
      [
        {
          EventBusName: "decisions",
          Source: "karpenter-serverless",
          DetailType: "NodeClaim Launched",
          Time: new Date(AT),
          Resources: ["i-0abc"],
          Detail: '{"id":"a","cluster":"c1","NodeClaim":{"name":"a"},"provider-id":"aws:///us-west-2a/i-0abc"}',
        },
        expect.objectContaining({ Resources: [], Detail: '{"id":"b","cluster":"c1","NodeClaim":{"name":"b"}}' }),
      ],
    ]);
  });

  it("announcements are sent ten at a time, and no announcements make no call", async () => {
    const { bus: own } = bus();
    await own.announce([]);
    expect(sent()).toEqual([]);
    await own.announce(many(23));
    expect(sent().map(({ length }) => length)).toEqual([10, 10, 3]);
  });

  it("a batch stays within 256 KB, and a larger announcement is shortened", async () => {
    await bus().bus.announce(many(5, { pods: "é".repeat(50_000) }));
    expect(sent().map(({ length }) => length)).toEqual([2, 2, 1]);
    events.resetHistory();
    await bus().bus.announce(many(1, { nodes: Array.from({ length: 20_000 }, (_, i) => `node-number-${i}`), reason: "empty" }));
    expect(JSON.parse(sent()[0]?.[0]?.Detail ?? "")).toEqual({
      id: "a0",
      cluster: "c1",
      NodeClaim: { name: "a0" },
      reason: "empty",
      truncated: true,
    });
  });

  it("announcements that the bus refuses or that cannot be sent are logged, and the work goes on", async () => {
    events.on(PutEventsCommand).resolvesOnce({ FailedEntryCount: 1, Entries: [{ EventId: "1" }, { ErrorCode: "ThrottlingException" }] });
    const refusing = bus();
    await refusing.bus.announce(many(2));
    expect(refusing.log.errors).toEqual(["event bus refused announcements"]);
    events.on(PutEventsCommand).rejects(new Error("AccessDenied"));
    const denied = bus();
    await denied.bus.announce(many(11));
    expect(denied.log.errors).toEqual(["announcing failed", "announcing failed"]);
  });

  it("announcing takes no more than a second", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort(new Error("too late")));
    const log = recordingLog();
    const hanging = (_: unknown, signal: AbortSignal) => new Promise<never>((_resolve, reject) => reject(signal.reason));
    await eventBus({ busName: "decisions", log, connect: async () => hanging }).announce(many(1));
    expect(timeout).toHaveBeenCalledWith(1_000);
    expect(log.errors).toEqual(["announcing failed"]);
    timeout.mockRestore();
  });

  it("the client is made once, at the first announcement, and again after a failure", async () => {
    const log = recordingLog();
    const connect = vi.fn(async () => async () => []);
    connect.mockRejectedValueOnce(new Error("no credentials"));
    const lazy = eventBus({ busName: "decisions", log, connect });
    expect(connect).not.toHaveBeenCalled();
    for (let i = 0; i < 3; i++) await lazy.announce(many(1));
    expect(connect).toHaveBeenCalledTimes(2);
    expect(log.errors).toEqual(["announcing failed"]);
  });

  it("announcements are sent only when a bus is named", () => {
    const log = recordingLog();
    const config = { clusters: [] } as unknown as Parameters<typeof wireAnnouncements>[0]["config"];
    expect(wireAnnouncements({ config, log })).toBe(noAnnouncements);
    expect(wireAnnouncements({ config: { ...config, eventBusName: "default" }, log })).not.toBe(noAnnouncements);
  });
});
