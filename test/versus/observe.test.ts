import { expect, it } from "vitest";
import { unansweredCalls } from "./observe.ts";

it("a call of the webhook that the API server gave up is reported once, though its log has two lines for it", () => {
  const given = (name: string): readonly string[] => [
    `W1123 03:07:54.064596 1 dispatcher.go:205] Failed calling webhook, failing open ${name}: context deadline exceeded`,
    `E1123 03:07:54.064632 1 dispatcher.go:213] "Unhandled Error" err="failed calling webhook ${name}"`,
  ];
  expect(unansweredCalls(["I1123 ready", ...given("node.notify"), ...given("node-ready.notify")])).toEqual([
    "2 calls of the webhook had no answer within its second, because the machine is too busy",
  ]);
  expect(unansweredCalls(["I1123 ready"])).toEqual([]);
});
