import { expect, it } from "vitest";
import { settingsAdvice } from "#core/conversion/upgrade/settings.ts";

const configMap = (name: string, data: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { ...data } });

it("the advice names the settings of today and keys without one", () => {
  const data = {
    batchMaxDuration: "10s",
    "aws.clusterName": "prod",
    "aws.clusterEndpoint": "",
    "aws.interruptionQueueName": "q",
    "aws.defaultInstanceProfile": "p",
  };
  expect(settingsAdvice(configMap("karpenter-global-settings", data))).toBe(
    'settings are the stack\'s: write "settings": {"BATCH_MAX_DURATION":"10s","CLUSTER_NAME":"prod"} in infra/clusters.json (docs/settings.md); ' +
      "aws.defaultInstanceProfile has no counterpart",
  );
});

it("other ConfigMaps get no advice", () => {
  expect(settingsAdvice(configMap("aws-auth", { batchMaxDuration: "10s" }))).toBeUndefined();
});
