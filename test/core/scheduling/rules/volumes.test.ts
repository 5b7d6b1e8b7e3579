import { expect, it } from "vitest";
import { volumesOf } from "#core/scheduling/rules/volumes.ts";
import * as objects from "#test/support/objects.ts";
import { snapshot } from "../../disruption/builders.ts";

/** A pod with claims of one class each; each class has so many places, with the keys that `keyOf` gives. */
function podWith(claims: number, places: number, keyOf: (claim: number, place: number) => string) {
  const indices = Array.from({ length: claims }, (_, i) => i);
  const pod = objects.pod("p", {
    spec: { volumes: indices.map((i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: `c${i}` } })) },
  });
  const volumes = volumesOf({
    ...snapshot({}),
    persistentVolumeClaims: indices.map((i) => ({
      metadata: { name: `c${i}`, namespace: "default" },
      spec: { storageClassName: `s${i}` },
    })),
    storageClasses: indices.map((i) => ({
      metadata: { name: `s${i}` },
      provisioner: "ebs.csi.aws.com",
      volumeBindingMode: "WaitForFirstConsumer",
      allowedTopologies: Array.from({ length: places }, (_, j) => ({
        matchLabelExpressions: [{ key: keyOf(i, j), values: [`value-${j}`] }],
      })),
    })),
  });
  return { pod, volumes };
}

it("a pod whose claims have more combinations of places than memory holds is left with a reason", () => {
  const { pod, volumes } = podWith(20, 10, (claim, place) => `example.com/k${claim}-${place}`);
  expect(volumes.problem(pod)).toMatch(/^its volumes can be used in more than 256 combinations of places; name fewer/);
  const [only, ...others] = volumes.of(pod).alternatives;
  expect(others).toEqual([]);
  expect([...(only?.values() ?? [])].some(({ never }) => never)).toBe(true);
});

it("claims of the same places have as many alternatives as one of them", () => {
  const { pod, volumes } = podWith(20, 10, () => "topology.kubernetes.io/zone");
  expect(volumes.problem(pod)).toBeUndefined();
  expect(volumes.of(pod).alternatives).toHaveLength(10);
});

it("one claim may have many places", () => {
  const { pod, volumes } = podWith(1, 600, () => "topology.kubernetes.io/zone");
  expect(volumes.problem(pod)).toBeUndefined();
  expect(volumes.of(pod).alternatives).toHaveLength(600);
});

it.for([
  { name: "alone no node meets", terms: [{}], problem: /default\/c0 has empty terms alone in its node affinity, which no node meets/ },
  { name: "beside another is left out", terms: [{}, { zone: "us-west-2a" }], problem: undefined },
])("an empty term of a volume's node affinity $name", ({ terms, problem }) => {
  const pod = objects.pod("p", { spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c0" } }] } });
  const volumes = volumesOf({
    ...snapshot({}),
    persistentVolumeClaims: [
      {
        metadata: { name: "c0", namespace: "default", annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
        spec: { volumeName: "pv" },
      },
    ],
    persistentVolumes: [
      {
        metadata: { name: "pv" },
        spec: {
          nodeAffinity: {
            required: {
              nodeSelectorTerms: terms.map(({ zone }: { zone?: string }) => ({
                ...(zone !== undefined && { matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: [zone] }] }),
              })),
            },
          },
        },
      },
    ],
  });
  if (problem === undefined) expect(volumes.of(pod).alternatives).toHaveLength(1);
  else expect(volumes.problem(pod)).toMatch(problem);
});
