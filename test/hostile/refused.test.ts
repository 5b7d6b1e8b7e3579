import { afterEach, describe, expect, it } from "vitest";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { RefusedError } from "#core/ports/errors.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { INFLATE, MINUTE, pass, podsOf, ready, records, runningPods, SECOND, scale, until } from "../support/lab-story.ts";

const TEAM = { key: "team", operator: "Exists" };
const POOL = nodePool([ON_DEMAND, FAMILIES, TEAM]);
const POLICY = 'nodeclaims.karpenter.sh "default-x" is forbidden: ValidatingAdmissionPolicy "teams" denied request: no team blue';

const pod = (name: string, team: string): ApiObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "tenant" },
  spec: { nodeSelector: { team }, containers: [{ name: "main", image: "pause", resources: { requests: { cpu: "1" } } }] },
});

/** A cluster in which a policy refuses NodeClaims for the team blue; `tries` grows with each. */
async function withPolicy(objects: readonly ApiObject[]): Promise<{ readonly lab: Lab; readonly tries: number[] }> {
  const tries: number[] = [];
  const lab: Lab = await ready([NODE_CLASS, POOL, INFLATE], {
    hooks: {
      before: ({ port, method, args: [kind, object] }) => {
        if (port !== "kubernetes" || method !== "create" || kind !== "NodeClaim") return undefined;
        if ((object as NodeClaim).metadata.labels?.["team"] !== "blue") return undefined;
        tries.push(lab.world.clock.now());
        throw new RefusedError(POLICY);
      },
    },
  });
  for (const object of objects) lab.world.apply(object);
  return { lab, tries };
}

let lab: Lab | undefined;
afterEach(() => lab?.close());

const told = (from: Lab, kind: string, name: string): readonly string[] =>
  from.world.events
    .filter(({ about }) => about.kind === kind && about.metadata.name === name)
    .map(({ reason, message }) => `${reason} ${message}`);
const phaseOf = (from: Lab, name: string) => podsOf(from).find(({ metadata }) => metadata.name === name)?.status?.phase;

describe("a NodeClaim that the API server refuses", () => {
  it("is given up, its pod and its NodePool are told, and it is tried again less and less often", async () => {
    const played = await withPolicy([pod("mine", "blue")]);
    ({ lab } = played);
    await pass(lab, 60 * MINUTE);
    expect(told(lab, "Pod", "mine")).toContainEqual(expect.stringMatching(/^FailedScheduling .*no team blue/));
    expect(told(lab, "NodePool", "default")).toContainEqual(expect.stringMatching(/^NodeClaimRefused .*no team blue/));
    const minutes = played.tries.map((at) => Math.round((at - (played.tries[0] ?? 0)) / MINUTE));
    expect(minutes).toEqual([0, 1, 3, 7, 15, 31, 47]);
  });

  it("is tried again at once when its NodePool has changed", async () => {
    const played = await withPolicy([pod("mine", "blue")]);
    ({ lab } = played);
    await pass(lab, 20 * MINUTE);
    const before = played.tries.length;
    lab.world.apply(nodePool([ON_DEMAND, FAMILIES, { ...TEAM, operator: "In", values: ["red"] }]));
    lab.world.apply(POOL);
    await pass(lab, MINUTE);
    expect(played.tries.length).toBe(before + 1);
  });

  it("costs other pods nothing, also those that it was planned for", async () => {
    const anyTeam = { ...pod("other", "red"), spec: { ...(pod("other", "red").spec as object), nodeSelector: {} } };
    const played = await withPolicy([pod("mine", "blue"), anyTeam]);
    ({ lab } = played);
    scale(lab, 3);
    await until(lab, () => played.tries.length > 0, MINUTE);
    await pass(lab, SECOND);
    const refused = (await records(lab)).filter((record) => record.refused !== undefined);
    expect(Math.max(...refused.map(({ podUids }) => podUids.length))).toBeGreaterThan(1);
    await until(lab, () => phaseOf(lab as Lab, "other") === "Running" && runningPods(lab as Lab) >= 4, 3 * MINUTE);
    expect(phaseOf(lab, "mine")).toBe("Pending");
  });

  it("leaves no record behind when its pod is gone", async () => {
    const played = await withPolicy([pod("mine", "blue")]);
    ({ lab } = played);
    await pass(lab, 2 * MINUTE);
    lab.world.store.delete("Pod", "mine", { namespace: "tenant" }, { user: "tenant" });
    await pass(lab, 40 * MINUTE);
    expect(await records(lab)).toEqual([]);
  });
});
