import { expect, it } from "vitest";
import { glance, notePlaces } from "#functions/provision/glance.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { NOW, record } from "../../support/builders.ts";

/** A glance for a node that has registered, after a plan that left `left` pods; the kinds that it has listed. */
async function registered({ records = [record({ name: "one" })], left = 0, isPlanned = true }) {
  const listed: string[] = [];
  const list = async (kind: string) => {
    listed.push(kind);
    return [];
  };
  const deps = { cluster: { name: "c" }, memory: new ProcessMemory(), kubernetes: { list }, now: () => NOW } as unknown as ClusterDeps;
  if (isPlanned)
    notePlaces({ podErrors: Object.fromEntries(Array.from({ length: left }, (_, i) => [`default/p-${i}`, "no place"])) }, deps);
  const { isIdle } = await glance({ cause: "NodeRegistered", detail: "one" }, { records, commands: [] }, deps);
  return { isIdle, listed };
}

it("pods are not listed for the only node that starts, when the last plan had a place for each", async () => {
  expect(await registered({})).toEqual({ isIdle: true, listed: [] });
});

it.for([
  { what: "the last plan has left a pod", change: { left: 1 } },
  { what: "this process has made no plan", change: { isPlanned: false } },
  { what: "another node starts", change: { records: [record({ name: "one" }), record({ name: "two" })] } },
])("pods are listed for a node that has registered when $what", async ({ change }) => {
  expect((await registered(change)).listed).toEqual(["Pod"]);
});
