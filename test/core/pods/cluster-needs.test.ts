import { expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import { clusterNeeds } from "#core/pods/cluster-needs.ts";
import { pod } from "../../support/objects.ts";

const withSpec = (spec: Record<string, unknown>): Pod => ({ ...pod("p"), spec: { containers: [], ...spec } }) as Pod;
const term = { topologyKey: "topology.kubernetes.io/zone", labelSelector: {}, namespaceSelector: { matchLabels: { team: "a" } } };

it.for([
  { name: "a plain pod", spec: {}, want: {} },
  { name: "a claim", spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] }, want: { volumes: true } },
  { name: "a generic ephemeral volume", spec: { volumes: [{ name: "v", ephemeral: {} }] }, want: { volumes: true } },
  { name: "other volumes", spec: { volumes: [{ name: "v", emptyDir: {} }, null] }, want: {} },
  ...["podAffinity", "podAntiAffinity"].flatMap((kind) => [
    {
      name: `required ${kind} that selects namespaces`,
      spec: { affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
      want: { namespaces: true },
    },
    {
      name: `preferred ${kind} that selects namespaces`,
      spec: { affinity: { [kind]: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] } } },
      want: { namespaces: true },
    },
  ]),
  {
    name: "affinity that names its namespaces",
    spec: {
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, namespaceSelector: undefined, namespaces: ["b"] }] },
      },
    },
    want: {},
  },
  {
    name: "nulls where terms may be",
    spec: { volumes: null, affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [null] }, podAntiAffinity: null } },
    want: {},
  },
])("$name needs $want", ({ spec, want }) => {
  expect(clusterNeeds([pod("plain"), withSpec(spec)])).toEqual({ volumes: false, namespaces: false, ...want });
});
