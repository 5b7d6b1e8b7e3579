import { expect, it } from "vitest";
import { restOf } from "#functions/provision/glance.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { INSTANCE, NOW, record } from "../../support/builders.ts";
import { node, pod } from "../../support/objects.ts";

const nodes = (count: number) => Array.from({ length: count }, (_, i) => node(`node-${i}`, { providerID: `aws:///z/i-${i}` }));

/** What a sweep finds in a cluster, and the kinds that it has listed. */
async function look({ count = 3, unbound = 0, records = [] as readonly ReturnType<typeof record>[], memory = new ProcessMemory() }) {
  const listed: string[] = [];
  const kubernetes = {
    list: async (kind: string, { fieldSelector = "" }: { readonly fieldSelector?: string } = {}) => {
      listed.push(kind);
      if (kind === "Node") return nodes(count);
      return fieldSelector.includes("spec.nodeName=") ? Array.from({ length: unbound }, (_, i) => pod(`p-${i}`)) : [];
    },
  };
  const store = { list: async () => records, commands: async () => [] };
  const found = await restOf({ cluster: { name: "c1" }, memory, store, kubernetes, now: () => NOW } as unknown as ClusterDeps);
  return { found, listed };
}

it("a sweep of a cluster in which no pod waits and no node goes lists pods and nodes alone", async () => {
  expect(await look({})).toEqual({ found: "quiet", listed: ["Pod", "Node"] });
});

it("a sweep looks at everything while a pod is unbound", async () => {
  expect(await look({ unbound: 1 })).toEqual({ found: undefined, listed: ["Pod"] });
});

it("a sweep of a large cluster looks at everything, so that the next plan need not read all of it anew", async () => {
  expect((await look({ count: 40 })).found).toBe("quiet");
  const memory = new ProcessMemory();
  expect(await look({ count: 41, memory })).toEqual({ found: undefined, listed: ["Pod", "Node"] });
  expect(await look({ count: 41, memory })).toEqual({ found: undefined, listed: [] });
});

it("a sweep looks at everything when a node goes that has not registered, and not for one without pods", async () => {
  const going = { instance: INSTANCE, terminating: { reason: "deleted", at: NOW } };
  expect((await look({ records: [record(going)] })).found).toBeUndefined();
  expect((await look({ records: [record({ ...going, nodeName: "node-1" })] })).found).toBe("nothing moves");
});
