import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { manifestProblems } from "#manifests/check.ts";
import { loadManifests, ManifestError } from "#manifests/read.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const pod = (spec: object, metadata: object = { name: "x" }): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata,
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});

describe("workloads may hold only the fields of the API", () => {
  it.for([
    { object: pod({ nodeSelecter: { a: "b" } }), says: 'is no field that is known here; did you mean "nodeSelector"?' },
    { object: pod({ containers: [{ name: "c", resources: { request: { cpu: "1" } } }] }), says: 'did you mean "requests"?' },
    { object: pod({ containers: [null] }), says: "must be a map, not null" },
    { object: pod({ tolerations: "oops" }), says: 'must be a list, not "oops"' },
    { object: pod({ tolerations: [{ key: "a", value: true }] }), says: "must be text, not true; put it in quotes" },
    { object: pod({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "z" }] }), says: "is missing; add it, the API requires it" },
    { object: pod({ containers: [{ name: "c", resources: { requests: { cpu: "-1" } } }] }), says: '"-1" is below 0' },
    { object: pod({}, { name: "x", namespace: 4 }), says: "must be text, not 4; put it in quotes" },
    {
      object: { apiVersion: "apps/v1", kind: "Deploymnt", metadata: { name: "x" } },
      says: "apps/v1 has no kind Deploymnt; did you mean Deployment?",
    },
    {
      object: { apiVersion: "karpenter.sh/v1beta1", kind: "NodePool", metadata: { name: "x" } },
      says: "WhenUnderutilized is now WhenEmptyOrUnderutilized",
    },
  ])("$says", ({ object, says }) => {
    expect(manifestProblems(object)[0]?.message).toContain(says);
  });

  it.for([
    pod({
      nodeSelector: { a: "b" },
      terminationGracePeriodSeconds: 30,
      tolerations: [{ operator: "Exists" }],
      securityContext: { runAsUser: 1 },
    }),
    pod({ containers: [{ name: "c", resources: { requests: { cpu: 0.5, "nvidia.com/gpu": 1 } }, env: [{ name: "A", value: "b" }] }] }),
    { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "x" } },
  ])("a valid object has no problem (%#)", (object) => {
    expect(manifestProblems(object)).toEqual([]);
  });
});

describe("kustomizations that cannot be followed", () => {
  const folder = temporaryFolder("kustomizations");
  it.for([
    { text: "resources: pool.yaml\n", says: "resources must be a list of paths; write - before each" },
    { text: "resources: [../itself]\n", name: "itself", says: "names itself among its resources" },
    { text: "resources: [\n", says: "line 2: this is not valid YAML" },
    { text: "resources: [github.com/o/r]\n", says: "github.com/o/r is not on this machine" },
  ])("$says", ({ text, says, name = `k${text.length}` }) => {
    const path = join(folder, name);
    mkdirSync(path);
    writeFileSync(join(path, "kustomization.yaml"), text);
    expect(() => loadManifests([path])).toThrow(ManifestError);
    expect(() => loadManifests([path])).toThrow(says);
    expect(() => loadManifests([join(path, "kustomization.yaml")])).toThrow(says);
  });
});
