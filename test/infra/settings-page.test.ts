import { expect, it } from "vitest";
import { CLUSTER, DEPLOYMENT } from "#infra/deployment-notes.ts";
import { EFFECTS, WITHOUT_EFFECT } from "#infra/setting-notes.ts";
import { CLUSTER_SHAPE, DEPLOYMENT_SHAPE } from "#infra/settings.ts";
import { settingsPage } from "#infra/settings-page.ts";
import { parseConfig } from "#settings/config.ts";
import { SETTINGS } from "#settings/setting-table.ts";

const base = { TABLE_NAME: "table", CLUSTERS: '[{"name":"c1"}]' };

it("docs/settings.md is what the tables say", async () => {
  await expect(settingsPage()).toMatchFileSnapshot("../../docs/settings.md");
});

it("every key of the settings file and of a cluster is documented, and no other", () => {
  const sorted = (keys: object): readonly string[] => Object.keys(keys).sort();
  expect(sorted(DEPLOYMENT)).toEqual(sorted(DEPLOYMENT_SHAPE));
  expect(sorted(CLUSTER)).toEqual(sorted(CLUSTER_SHAPE));
});

it("no setting both has an effect and has none", () => {
  expect(Object.keys(WITHOUT_EFFECT).filter((name) => name in EFFECTS)).toEqual([]);
});

it.for(Object.entries(SETTINGS))("the default of %s holds when the setting is given as when it is not", ([name, { fallback }]) => {
  expect(parseConfig({ ...base, [name]: fallback })).toEqual(parseConfig(base));
});

// The names of Karpenter v1.15's settings: each is in one of the tables.
it.for([
  ..."CLUSTER_NAME CLUSTER_ENDPOINT CLUSTER_CA_BUNDLE EKS_CONTROL_PLANE ISOLATED_VPC INTERRUPTION_QUEUE VM_MEMORY_OVERHEAD_PERCENT".split(
    " ",
  ),
  ..."RESERVED_ENIS DISABLE_DRY_RUN ENABLE_ZONAL_SHIFT AMI_REFRESH_INTERVAL SUBNET_REFRESH_INTERVAL AWS_FEATURE_GATES".split(" "),
  ..."BATCH_IDLE_DURATION BATCH_MAX_DURATION PREFERENCE_POLICY MIN_VALUES_POLICY FEATURE_GATES IGNORE_DRA_REQUESTS LOG_LEVEL".split(" "),
  ..."LOG_OUTPUT_PATHS LOG_ERROR_OUTPUT_PATHS METRICS_PORT HEALTH_PROBE_PORT KUBE_CLIENT_QPS KUBE_CLIENT_BURST ENABLE_PROFILING".split(" "),
  ..."DISABLE_LEADER_ELECTION LEADER_ELECTION_NAME LEADER_ELECTION_NAMESPACE DISABLE_CONTROLLER_WARMUP KARPENTER_SERVICE".split(" "),
  ..."DISABLE_CLUSTER_STATE_OBSERVABILITY MEMORY_LIMIT CPU_REQUESTS SCHEDULER_CONFIG SYSTEM_NAMESPACE SECURITY_GROUP_REFRESH_INTERVAL".split(
    " ",
  ),
])("%s of Karpenter is accounted for", (name) => {
  expect([name in EFFECTS, name in WITHOUT_EFFECT]).toContain(true);
});
