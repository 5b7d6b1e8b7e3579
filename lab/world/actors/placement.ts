import { ownValue } from "#core/lib/own-value.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeSelectorRequirement, NodeSelectorTerm, Pod, PodSpec } from "#core/model/pod.ts";
import type { Taint, Toleration } from "#core/model/taint.ts";

/** The rules of kube-scheduler and the DaemonSet controller that look at one node alone. */

export function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some((t) => {
    if (t.effect && t.effect !== taint.effect) return false;
    if (t.key !== undefined && t.key !== "" && t.key !== taint.key) return false;
    if (t.operator === "Exists") return true;
    if (t.operator === "Gt" || t.operator === "Lt") {
      const [have, bound] = [Number(taint.value), Number(t.value)];
      return t.operator === "Gt" ? have > bound : have < bound;
    }
    return t.key !== undefined && t.key !== "" && (t.value ?? "") === (taint.value ?? "");
  });
}

/** The first taint that excludes the pod; PreferNoSchedule never does. */
export const untolerated = (spec: PodSpec, taints: readonly Taint[] | undefined): Taint | undefined =>
  taints?.find((t) => t.effect !== "PreferNoSchedule" && !tolerates(spec.tolerations, t));

function meets({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [have, bound] = [int64(value), int64(values[0])];
      if (have === undefined || bound === undefined) return false;
      return operator === "Gt" ? have > bound : have < bound;
    }
  }
}

/** The integer of a text as kube-scheduler reads it; a term with a larger one selects nothing. */
function int64(text: string | undefined): bigint | undefined {
  const integer = text !== undefined && /^[+-]?\d{1,40}$/.test(text) ? BigInt(text) : undefined;
  return integer !== undefined && BigInt.asIntN(64, integer) === integer ? integer : undefined;
}

/** A term without expressions selects nothing. */
export function meetsTerm(term: NodeSelectorTerm, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((r) => meets(r, ownValue(labels, r.key))) &&
    matchFields.every((r) => meets(r, r.key === "metadata.name" ? node.metadata.name : undefined))
  );
}

/** Whether a node meets the node selector and the required node affinity. */
export function selectsNode(spec: PodSpec, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) if (ownValue(labels, key) !== value) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => meetsTerm(term, node));
}

/** The host ports of a pod; the address 0.0.0.0 clashes with every address. */
export function hostPorts(pod: Pod): readonly { readonly ip: string; readonly key: string }[] {
  const containers = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? []).filter((c) => c.restartPolicy === "Always")];
  return containers.flatMap((c) =>
    (c.ports ?? []).flatMap((p) => (p.hostPort ? [{ ip: p.hostIP || "0.0.0.0", key: `${p.protocol ?? "TCP"}/${p.hostPort}` }] : [])),
  );
}

export const portsClash = (a: readonly { ip: string; key: string }[], b: readonly { ip: string; key: string }[]): boolean =>
  a.some((x) => b.some((y) => x.key === y.key && (x.ip === y.ip || x.ip === "0.0.0.0" || y.ip === "0.0.0.0")));
