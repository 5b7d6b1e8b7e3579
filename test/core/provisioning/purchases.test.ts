import { expect, it } from "vitest";
import { type Purchases, podsBoughtFor, withLostPurchases } from "#core/provisioning/purchases.ts";
import { pod } from "../../support/objects.ts";

const MINUTE = 60_000;
const NOW = Date.parse("2026-11-28T10:00:00Z");
const waiting = pod("web", { metadata: { uid: "uid-web" } });
const UID = "uid-web";

const lost = (before: Purchases, nodeClaim: string, at: number): Purchases =>
  withLostPurchases(before, [{ nodeClaim, podUids: [UID] }], at);

it("a pod is held once three machines were bought for it for nothing within an hour, until the first is an hour ago", () => {
  const two = lost(lost({}, "a", NOW), "b", NOW + 10 * MINUTE);
  expect(podsBoughtFor(two, [waiting], NOW + 20 * MINUTE).reasons.size).toBe(0);
  const three = lost(two, "c", NOW + 20 * MINUTE);
  const held = podsBoughtFor(three, [waiting, pod("other", { metadata: { uid: "uid-other" } })], NOW + 20 * MINUTE);
  expect([...held.reasons.keys()]).toEqual([UID]);
  expect(held.reasons.get(UID)).toContain("3 machines were bought for the pod within an hour");
  expect(held.nextAt).toBe(NOW + 60 * MINUTE);
  expect(podsBoughtFor(three, [waiting], NOW + 60 * MINUTE).reasons.size).toBe(0);
});

it("a NodeClaim that is reported again counts once, at the time of its first report", () => {
  const once = lost({}, "a", NOW);
  expect(lost(once, "a", NOW + MINUTE)).toEqual(once);
});

it("what is older than an hour is forgotten, and of many pods the last are kept", () => {
  expect(lost(lost({}, "a", NOW), "b", NOW + 60 * MINUTE)).toEqual({ [UID]: { b: NOW + 60 * MINUTE } });
  const uids = Array.from({ length: 5_001 }, (_, i) => `uid-${i}`);
  const kept = Object.keys(withLostPurchases({}, [{ nodeClaim: "a", podUids: uids }], NOW));
  expect(kept).toHaveLength(5_000);
  expect(kept).not.toContain("uid-0");
});
