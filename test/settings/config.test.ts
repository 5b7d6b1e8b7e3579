import { describe, expect, it } from "vitest";
import { ConfigError, parseConfig } from "#settings/config.ts";

const good = { TABLE_NAME: "karpenter", CLUSTERS: '[{"name":"c1"}]' };

const ZONE = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" };

function sentence(env: Record<string, string | undefined>, required: Parameters<typeof parseConfig>[1] = []): string {
  try {
    parseConfig({ ...good, ...env }, required);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return "accepted";
}

describe("parseConfig", () => {
  it("takes upstream's defaults for what is not set", () => {
    expect(parseConfig(good)).toEqual({
      region: "us-east-1",
      tableName: "karpenter",
      sumMetrics: false,
      queues: {},
      clusters: [{ name: "c1", sources: ["sweep"] }],
      logLevel: "info",
      cloudWatchMetrics: "essential",
      featureGates: {
        CapacityBuffer: false,
        NodeOverlay: false,
        NodeRepair: false,
        RebootForRepair: false,
        ReservedCapacity: true,
        SpotToSpotConsolidation: false,
        StaticCapacity: false,
        TerminateFirstDrift: false,
        TerminateFirstRepair: false,
      },
      historyDays: 30,
      kubeClientQps: 200,
      kubeClientBurst: 300,
      settings: {
        besideKarpenter: false,
        maxPricePerHour: {},
        stackMaxPricePerHour: undefined,
        savingsPlans: [],
        reservedInstances: false,
        sleepSchedule: {},
        capacityBuffer: false,
        nodeOverlay: false,
        nodeRepair: false,
        rebootForRepair: false,
        reservedCapacity: true,
        spotToSpotConsolidation: false,
        staticCapacity: false,
        terminateFirstDrift: false,
        terminateFirstRepair: false,
        vmMemoryOverheadPercent: 0.075,
        reservedEnis: 0,
        preferencePolicy: "Respect",
        launchTogether: 5,
        minValuesPolicy: "Strict",
        defaultConstraints: [],
        horizonMs: 24 * 3_600_000,
        disruptionRate: { share: 0.2, windowMs: 600_000 },
        podMoveCost: 0.001,
        nodeOverheadPrice: 0.02,
        burstablePrice: "surplus",
        isolatedVpc: false,
        legacyNodeRepair: false,
        zonalShift: false,
        amiRefreshMs: 60_000,
        subnetRefreshMs: 60_000,
        securityGroupRefreshMs: 60_000,
        batchIdleMs: 1_000,
        batchMaxMs: 10_000,
      },
    });
  });

  it("reads what is set, and takes an empty variable for one that is not", () => {
    const config = parseConfig(
      {
        ...good,
        CLUSTERS: JSON.stringify([
          { name: "c1", sources: ["audit", "notify"], endpoint: "https://x.example", caBundle: "LS0t" },
          { name: "c2", sources: [] },
        ]),
        CLAIM_QUEUE_URL: "https://sqs.example/claims",
        NOTIFY_TOKEN: "0123456789abcdef",
        FEATURE_GATES: "SpotToSpotConsolidation=true, SomethingNew=true,ReservedCapacity=false",
        VM_MEMORY_OVERHEAD_PERCENT: "0.05",
        RESERVED_ENIS: "",
        EVENT_BUS_NAME: "default",
        SCHEDULER_CONFIG: JSON.stringify({ podTopologySpread: { defaultConstraints: [ZONE] } }),
      },
      ["CLAIM_QUEUE_URL", "NOTIFY_TOKEN"],
    );
    expect(config.clusters).toEqual([
      { name: "c1", sources: ["audit", "notify"], endpoint: "https://x.example", caBundle: "LS0t" },
      { name: "c2", sources: [] },
    ]);
    expect(config).toMatchObject({
      queues: { claim: "https://sqs.example/claims" },
      notifyToken: "0123456789abcdef",
      eventBusName: "default",
      featureGates: {
        CapacityBuffer: false,
        NodeOverlay: false,
        NodeRepair: false,
        ReservedCapacity: false,
        SpotToSpotConsolidation: true,
        StaticCapacity: false,
      },
      settings: {
        spotToSpotConsolidation: true,
        reservedCapacity: false,
        vmMemoryOverheadPercent: 0.05,
        defaultConstraints: [ZONE],
        reservedEnis: 0,
      },
    });
    expect(config.featureGates).not.toHaveProperty("SomethingNew");
  });

  it.for<{ name: string; env: Record<string, string | undefined>; says: RegExp }>([
    { name: "no table", env: { TABLE_NAME: undefined }, says: /^TABLE_NAME: is missing; set it to .*\.$/ },
    { name: "no clusters", env: { CLUSTERS: undefined }, says: /^CLUSTERS: is missing; set it to JSON such as/ },
    { name: "clusters not JSON", env: { CLUSTERS: "c1,c2" }, says: /^CLUSTERS: is not JSON/ },
    { name: "an empty list of clusters", env: { CLUSTERS: "[]" }, says: /^CLUSTERS: names no cluster/ },
    {
      name: "a cluster without name",
      env: { CLUSTERS: '[{"name":"a"},{}]' },
      says: /^CLUSTERS: \[1\]\.name must be an EKS cluster's name/,
    },
    {
      name: "an unknown source",
      env: { CLUSTERS: '[{"name":"a","sources":["poll"]}]' },
      says: /^CLUSTERS: \[0\]\.sources\[0\] knows only "audit"/,
    },
    { name: "an unknown key", env: { CLUSTERS: '[{"name":"a","endpont":"x"}]' }, says: /^CLUSTERS: \[0\] does not know "endpont"/ },
    { name: "a cluster twice", env: { CLUSTERS: '[{"name":"a"},{"name":"a"}]' }, says: /the cluster a twice/ },
    { name: "a URL that is none", env: { PROVISION_QUEUE_URL: "provision.fifo" }, says: /^PROVISION_QUEUE_URL: set it to the queue's URL/ },
    {
      name: "a policy in lower case",
      env: { PREFERENCE_POLICY: "ignore" },
      says: /^PREFERENCE_POLICY: set it to Respect or Ignore or Weigh, not "ignore"/,
    },
    {
      name: "a negative share",
      env: { VM_MEMORY_OVERHEAD_PERCENT: "-1" },
      says: /^VM_MEMORY_OVERHEAD_PERCENT: set it to a number of 0 or more/,
    },
    { name: "half an interface", env: { RESERVED_ENIS: "0.5" }, says: /^RESERVED_ENIS: set it to a whole number/ },
    {
      name: "a role by its name alone",
      env: { CLUSTERS: '[{"name":"a","roleArn":"x"}]' },
      says: /^CLUSTERS: \[0\]\.roleArn must be the ARN of an IAM role/,
    },
    {
      name: "a bus by its ARN",
      env: { EVENT_BUS_NAME: "arn:aws:events:us-west-2:123456789012:event-bus/x" },
      says: /^EVENT_BUS_NAME: set it to the name of an EventBridge bus/,
    },
    {
      name: "a scheduler's configuration in YAML",
      env: { SCHEDULER_CONFIG: "podTopologySpread: {}" },
      says: /^SCHEDULER_CONFIG: is not JSON/,
    },
    {
      name: "a constraint that kube-scheduler would refuse",
      env: { SCHEDULER_CONFIG: JSON.stringify({ podTopologySpread: { defaultConstraints: [{ ...ZONE, maxSkew: 0 }] } }) },
      says: /^SCHEDULER_CONFIG: podTopologySpread\.defaultConstraints\[0\]\.maxSkew must be a whole number above 0, not 0\.$/,
    },
    { name: "a horizon of no time", env: { CONSOLIDATION_HORIZON: "0s" }, says: /^CONSOLIDATION_HORIZON: set it to a duration above 0/ },
    {
      name: "pods that pay for being moved",
      env: { CONSOLIDATION_POD_COST: "-1" },
      says: /^CONSOLIDATION_POD_COST: set it to a number of 0/,
    },
    { name: "a truth in words", env: { ISOLATED_VPC: "constructor" }, says: /^ISOLATED_VPC: set it to true or false, not "constructor"/ },
    {
      name: "images looked for all the time",
      env: { AMI_REFRESH_INTERVAL: "30s" },
      says: /^AMI_REFRESH_INTERVAL: set it to a duration from 1m to 24h/,
    },
    { name: "a window of an hour", env: { BATCH_IDLE_DURATION: "1h" }, says: /^BATCH_IDLE_DURATION: set it to a duration from 0s to 5m/ },
    { name: "a standstill", env: { KUBE_CLIENT_QPS: "0" }, says: /^KUBE_CLIENT_QPS: set it to a number of 1 or more/ },
    { name: "a malformed gate", env: { FEATURE_GATES: "NodeRepair" }, says: /^FEATURE_GATES: set it to a list such as/ },
    { name: "a log level of another tool", env: { LOG_LEVEL: "warn" }, says: /^LOG_LEVEL: set it to debug or info or error/ },
    {
      name: "a region that is none",
      env: { AWS_REGION: "Oregon" },
      says: /^AWS_REGION: set it to an AWS region such as us-west-2, not "Oregon"/,
    },
  ])("refuses $name in one sentence", ({ env, says }) => {
    expect(sentence(env)).toMatch(says);
  });

  it.for([
    { text: "90m", ms: 5_400_000 },
    { text: "none", ms: undefined },
  ])("takes a horizon of $text", ({ text, ms }) => {
    expect(parseConfig({ ...good, CONSOLIDATION_HORIZON: text }).settings.horizonMs).toBe(ms);
  });

  it("insists on what a function says it needs", () => {
    expect(sentence({}, ["CLAIM_QUEUE_URL"])).toMatch(/^CLAIM_QUEUE_URL: is missing; set it to the queue's URL/);
  });

  it("takes the ARN of a secret for a token, and the endpoint of a stand-in for all services", () => {
    const NOTIFY_TOKEN = "arn:aws-cn:secretsmanager:cn-north-1:111122223333:secret:NotifyToken-AbCdEf";
    const given = { ...good, NOTIFY_TOKEN, AWS_ENDPOINT_URL: "http://127.0.0.1:1" };
    expect(parseConfig(given)).toMatchObject({ notifyToken: NOTIFY_TOKEN, secretsEndpoint: "http://127.0.0.1:1" });
    const own = parseConfig({ ...given, AWS_ENDPOINT_URL_SECRETS_MANAGER: "http://127.0.0.1:2" });
    expect(own.secretsEndpoint).toBe("http://127.0.0.1:2");
  });

  it("does not repeat a secret", () => {
    const published = sentence({ NOTIFY_TOKEN: "hunter2" });
    expect(published).toMatch(/^NOTIFY_TOKEN: must be 16 or more/);
    expect(published).not.toContain("hunter2");
  });
});
