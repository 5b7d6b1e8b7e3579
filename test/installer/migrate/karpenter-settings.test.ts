import { describe, expect, it } from "vitest";
import { carriedOver, differing, taken } from "#installer/migrate/karpenter-settings.ts";

describe("settings of Karpenter", () => {
  it.for([
    { name: "BATCH_IDLE_DURATION", value: "2s", want: { fate: "carried" } },
    { name: "FEATURE_GATES", value: "NodeRepair=true,SomethingNew=true", want: { fate: "carried" } },
    { name: "DISABLE_LEADER_ELECTION", value: "true", want: { fate: "none", why: expect.stringContaining("there is no leader election") } },
    { name: "MY_OWN", value: "1", want: { fate: "none", why: "there is no such setting here" } },
    { name: "IGNORE_DRA_REQUESTS", value: "false", want: { fate: "none", why: expect.stringContaining("no node is planned") } },
    { name: "BATCH_MAX_DURATION", value: "1h", want: { fate: "none", why: expect.stringContaining("5m") } },
  ])("$name=$value is $want.fate", ({ name, value, want }) => {
    expect(carriedOver({ [name]: value })).toEqual([{ name, value, ...want }]);
  });

  it("those that tell the pod about itself are no settings", () => {
    const about = { CLUSTER_NAME: "c", KUBERNETES_MIN_VERSION: "1.19.0-0", METRICS_PORT: "8080", AWS_REGION: "x", INTERRUPTION_QUEUE: "q" };
    expect(carriedOver(about)).toEqual([]);
  });

  it("those that the functions take go into a deployment, and no others", () => {
    expect(taken({ BATCH_IDLE_DURATION: "2s", MEMORY_LIMIT: "1", CLUSTER_NAME: "c" })).toEqual({ BATCH_IDLE_DURATION: "2s" });
  });

  it("differ from the deployed ones by their value and not by how it is written; what is not set has its default", () => {
    const wanted = { BATCH_IDLE_DURATION: "1s", BATCH_MAX_DURATION: "20s", FEATURE_GATES: "NodeRepair=false", LOG_LEVEL: "debug" };
    expect(differing(wanted, { BATCH_IDLE_DURATION: "1000ms", LOG_LEVEL: "info" })).toEqual(["BATCH_MAX_DURATION", "LOG_LEVEL"]);
  });
});
