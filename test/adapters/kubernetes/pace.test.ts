import { expect, it } from "vitest";
import { paced } from "#adapters/kubernetes/pace.ts";

it("a burst passes at once, then the rate holds, and a pause refills the bucket", async () => {
  let now = 0;
  const sentAt: number[] = [];
  const transports = {
    send: async () => {
      sentAt.push(now);
      return { status: 200, body: undefined };
    },
    open: async () => {
      throw new Error("not opened here");
    },
  };
  const sleep = async (ms: number) => {
    now += ms;
  };
  const { send } = paced(transports, { qps: 10, burst: 3 }, { now: () => now, sleep });
  for (let i = 0; i < 6; i++) await send({ method: "GET", path: "/" });
  expect(sentAt).toEqual([0, 0, 0, 100, 200, 300]);
  now += 60_000;
  sentAt.length = 0;
  for (let i = 0; i < 4; i++) await send({ method: "GET", path: "/" });
  expect(sentAt.map((at) => at - 60_300)).toEqual([0, 0, 0, 100]);
});

it("concurrent requests get their turns in order", async () => {
  const waits: number[] = [];
  const transports = {
    send: async () => ({ status: 200, body: undefined }),
    open: async () => ({ status: 200, ended: Promise.resolve(), close: () => undefined }),
  };
  const pacemaker = {
    now: () => 0,
    sleep: async (ms: number) => {
      waits.push(ms);
    },
  };
  const { send, open } = paced(transports, { qps: 2, burst: 1 }, pacemaker);
  const list = { method: "GET", path: "/" } as const;
  await Promise.all([send(list), send(list), open(list, () => undefined, 1), send(list)]);
  expect(waits).toEqual([500, 1000, 1500]);
});
