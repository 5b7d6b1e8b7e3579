import * as edges from "../edges.ts";
import { maybe, several } from "../edges.ts";
import { amounts, type Draw, labelsOf, namespaced } from "./fields.ts";
import { podSpec } from "./pods.ts";

/** So many PodTemplates are there at a time; t0 fits on no node. */
const TEMPLATES = 4;

export const podTemplate: Draw = (random, i) => {
  const spec = podSpec(random) as { readonly nodeSelector: object };
  const isNowhere = i % TEMPLATES === 0;
  return {
    apiVersion: "v1",
    kind: "PodTemplate",
    metadata: { ...namespaced(random, i), name: `t${i % TEMPLATES}` },
    template: {
      ...maybe(random, 0.5, () => ({ metadata: { creationTimestamp: null, labels: labelsOf(random) } })),
      spec: isNowhere ? { ...spec, nodeSelector: { ...spec.nodeSelector, nowhere: "x" } } : spec,
    },
  };
};

/** Room for at most three pods that a node can hold: what a buffer lawfully buys is no concern of these tests. */
export const capacityBuffer: Draw = (random, i) => {
  const template = random.between(random.next() < 0.05 ? 0 : 1, TEMPLATES - 1);
  const limits = amounts(random, edges.CRD_QUANTITIES);
  return {
    apiVersion: "autoscaling.x-k8s.io/v1beta1",
    kind: "CapacityBuffer",
    metadata: namespaced(random, i),
    spec: {
      ...random.pick<() => object>([
        () => ({ podTemplateRef: { name: `t${template}` }, replicas: template === 0 ? 2 ** 31 - 1 : random.pick([0, 1, 3]) }),
        () => ({ podTemplateRef: { name: "t0" }, limits }),
        () => ({ scalableRef: { kind: random.pick(["Deployment", "constructor", "Pod"]), name: "inflate" }, percentage: 2 ** 31 - 1 }),
        () => ({ scalableRef: { apiGroup: random.pick(["", "apps", "x"]), kind: "StatefulSet", name: "none" }, replicas: 3, limits }),
        () => ({ percentage: 0, limits }),
      ])(),
      ...maybe(random, 0.1, () => ({ provisioningStrategy: random.pick(["", "constructor", edges.UNICODE[3] as string]) })),
    },
    ...maybe(random, 0.3, () => ({
      status: {
        replicas: random.pick([0, 2 ** 31 - 1]),
        conditions: several(random, 30, (j) => ({
          ...{ type: `T${j}`, status: "True", reason: "x", message: random.pick(edges.UNICODE) },
          lastTransitionTime: random.pick(edges.TIMES),
        })),
      },
    })),
  };
};
