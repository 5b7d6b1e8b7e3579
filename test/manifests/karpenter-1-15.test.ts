import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withDefaults } from "#manifests/defaults.ts";
import { loadManifests } from "#manifests/read.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function read(name: string, spec: object, kind: string, apiVersion: string) {
  const path = join(temporaryFolder("karpenter-1-15"), name);
  writeFileSync(path, JSON.stringify({ apiVersion, kind, metadata: { name: "default" }, spec }));
  return loadManifests([path], {}).map(({ object }) => withDefaults(object, { priorityClass: () => undefined }).spec);
}

it("an EC2NodeClass may have enclaveOptions, with `enabled` in them", () => {
  const spec = {
    role: "r",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ id: "subnet-1a" }],
    securityGroupSelectorTerms: [{ id: "sg-1a" }],
  };
  const of = (enclaveOptions: object) => read("class.json", { ...spec, enclaveOptions }, "EC2NodeClass", "karpenter.k8s.aws/v1");
  expect(of({ enabled: true })).toMatchObject([{ enclaveOptions: { enabled: true } }]);
  expect(() => of({})).toThrow(/enclaveOptions.*enabled/);
});

const template = {
  spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
};

it("a NodePool may leave consolidateAfter out, and have a budget of node repair", () => {
  const disruption = { budgets: [{ nodes: "1", reasons: ["Unhealthy"] }] };
  const [pool] = read("pool.json", { template, disruption }, "NodePool", "karpenter.sh/v1");
  expect(pool).toMatchObject({
    disruption: { consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized", ...disruption },
  });
});
