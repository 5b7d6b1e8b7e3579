import { stringify } from "yaml";
import { RESOURCES } from "#adapters/kubernetes/kinds.ts";
import { TRACED_KINDS } from "#core/insight/observed/trace.ts";

/** The ClusterRole that a recording needs, as YAML: get, list and watch, on the kinds that are recorded. */
export function readRights(): string {
  const byGroup = Map.groupBy(TRACED_KINDS, (kind) => {
    const [group, version] = RESOURCES[kind].apiVersion.split("/");
    return version === undefined ? "" : (group ?? "");
  });
  const rules = [...byGroup].map(([group, kinds]) => ({
    apiGroups: [group],
    resources: kinds.map((kind) => RESOURCES[kind].plural),
    verbs: ["get", "list", "watch"],
  }));
  return stringify({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "karpenter-serverless-observe" },
    rules,
  });
}
