import { isJsonObject, type JsonObject, mapAt, textAt } from "../../lib/json.ts";

/** Keys of the ConfigMap that configured Karpenter up to 0.32, and the names of our settings for them. */
const SETTINGS: Readonly<Record<string, string>> = {
  batchMaxDuration: "BATCH_MAX_DURATION",
  batchIdleDuration: "BATCH_IDLE_DURATION",
  "aws.clusterCABundle": "CLUSTER_CA_BUNDLE",
  "aws.clusterEndpoint": "CLUSTER_ENDPOINT",
  "aws.clusterName": "CLUSTER_NAME",
  "aws.isolatedVPC": "ISOLATED_VPC",
  "aws.reservedENIs": "RESERVED_ENIS",
  "aws.vmMemoryOverheadPercent": "VM_MEMORY_OVERHEAD_PERCENT",
};

/** Keys that need no setting: drift is always detected, and the stack creates its own queue. */
const NEEDLESS = new Set(["featureGates.driftEnabled", "aws.interruptionQueueName"]);

/**
 * What to do about Karpenter's ConfigMap of settings, which the stack's settings replace; undefined for any other
 * object.
 */
export function settingsAdvice(object: JsonObject): string | undefined {
  if (object["kind"] !== "ConfigMap" || textAt(object, ["metadata", "name"]) !== "karpenter-global-settings") return undefined;
  const data = isJsonObject(object["data"]) ? mapAt(object, ["data"]) : {};
  const settings = Object.entries(data).flatMap(([key, value]) => {
    const name = Object.hasOwn(SETTINGS, key) ? SETTINGS[key] : undefined;
    return name === undefined || value === "" ? [] : [[name, String(value)] as const];
  });
  const others = Object.keys(data).filter((key) => !Object.hasOwn(SETTINGS, key) && !NEEDLESS.has(key));
  const rest = others.length === 0 ? "" : `; ${others.join(", ")} has no counterpart`;
  return `settings are the stack's: write "settings": ${JSON.stringify(Object.fromEntries(settings))} in infra/clusters.json (docs/settings.md)${rest}`;
}
