import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { beforeAll, describe, expect, it } from "vitest";
import { makeApp } from "#infra/app.ts";
import { cloudStatements } from "#infra/policies.ts";
import { parseSettings } from "#infra/settings.ts";

const one = (settings: Readonly<Record<string, unknown>>, clusters: readonly object[] = [{ name: "a" }]) => {
  const warnings: string[] = [];
  const parsed = parseSettings({ clusters, settings }, "test", (sentence) => warnings.push(sentence));
  return { parsed, warnings };
};

describe("Karpenter's settings", () => {
  it("that do nothing here are told with the reason, and given to no function", () => {
    const { parsed, warnings } = one({ LOG_LEVEL: "debug", METRICS_PORT: 8080, DISABLE_LEADER_ELECTION: true });
    expect(warnings).toEqual([
      expect.stringMatching(/^test: settings\.DISABLE_LEADER_ELECTION has no effect here: there is no leader election.*\.$/),
      "test: settings.METRICS_PORT has no effect here: metrics go to CloudWatch, namespace Karpenter; with scrape Prometheus reads them from a function's URL, which has no port.",
    ]);
    expect(parsed.settings).toEqual({ LOG_LEVEL: "debug" });
  });

  it("of Karpenter 1.15 never fail the synthesis; gates that are not here are named", () => {
    const { parsed, warnings } = one({
      FEATURE_GATES: "NodeRepair=true,SomethingNew=true",
      AWS_FEATURE_GATES: "DRAEFA=true",
      IGNORE_DRA_REQUESTS: false,
      SECURITY_GROUP_REFRESH_INTERVAL: "2m",
    });
    expect(warnings).toEqual([
      expect.stringMatching(/AWS_FEATURE_GATES has no effect here/),
      expect.stringMatching(/IGNORE_DRA_REQUESTS has no effect here: no node is planned for a pod that claims devices/),
      "test: settings.FEATURE_GATES: the gate SomethingNew has no effect here.",
    ]);
    expect(Object.keys(parsed.settings).sort()).toEqual(["FEATURE_GATES", "SECURITY_GROUP_REFRESH_INTERVAL"]);
  });

  it("may be numbers and truths, as in a values.yaml", () => {
    expect(one({ RESERVED_ENIS: 1, ISOLATED_VPC: true }).parsed.settings).toEqual({ RESERVED_ENIS: "1", ISOLATED_VPC: "true" });
  });

  it("that describe the one cluster go there", () => {
    const settings = { CLUSTER_NAME: "a", CLUSTER_ENDPOINT: "https://a.example", CLUSTER_CA_BUNDLE: "LS0t" };
    const { parsed } = one(settings);
    expect(parsed.clusters).toMatchObject([{ name: "a", endpoint: "https://a.example", caBundle: "LS0t" }]);
    expect(parsed.settings).toEqual({});
  });

  it.for([
    {
      name: "another cluster",
      settings: { CLUSTER_NAME: "b" },
      says: "settings.CLUSTER_NAME is b, but clusters says a; leave one of them out.",
    },
    { name: "a host", settings: { CLUSTER_ENDPOINT: "a.example" }, says: /settings\.CLUSTER_ENDPOINT .*https:\/\// },
    {
      name: "a wrong value",
      settings: { ENABLE_ZONAL_SHIFT: "on" },
      says: 'settings.ENABLE_ZONAL_SHIFT: set it to true or false, not "on".',
    },
    {
      name: "an unknown name",
      settings: { ISOLATED_VPCS: "true" },
      says: "settings has ISOLATED_VPCS, which is none; there are AMI_REFRESH_INTERVAL,",
    },
    { name: "a list", settings: { LOG_LEVEL: ["info"] }, says: "settings.LOG_LEVEL" },
  ])("refuse $name in one sentence", ({ settings, says }) => {
    expect(() => one(settings)).toThrow(says);
  });

  it("cannot say something of one of several clusters", () => {
    expect(() => one({ CLUSTER_ENDPOINT: "https://a.example" }, [{ name: "a" }, { name: "b" }])).toThrow(
      "settings.CLUSTER_ENDPOINT says not of which of 2 clusters; set endpoint in clusters.",
    );
  });
});

describe("a stack made with settings", () => {
  const templateOf = (settings: Readonly<Record<string, unknown>>): Template => {
    const { stack } = makeApp({ settings: one(settings).parsed, code: () => Code.fromInline("// not run") });
    return Template.fromStack(stack);
  };
  let plain: Template;
  let set: Template;
  // A stack takes seconds on a machine that has other work.
  beforeAll(() => {
    plain = templateOf({});
    set = templateOf({ ENABLE_ZONAL_SHIFT: true, ISOLATED_VPC: true, BATCH_IDLE_DURATION: "3s" });
  }, 120_000);

  it("lets the catalog function read an account whose commitments are counted, and no other", () => {
    const reads = (settings: Readonly<Record<string, string>>) => {
      const statements = JSON.stringify(
        cloudStatements("catalog", parseSettings({ clusters: [{ name: "prod" }] }, "test").clusters, settings).map((one) => one.toJSON()),
      );
      return ["ec2:DescribeInstances", "ec2:DescribeReservedInstances"].filter((action) => statements.includes(`"${action}"`));
    };
    expect(reads({})).toEqual([]);
    expect(reads({ SAVINGS_PLANS: "none", RESERVED_INSTANCES: "false" })).toEqual([]);
    expect(reads({ SAVINGS_PLANS: "m5=1" })).toEqual(["ec2:DescribeInstances"]);
    expect(reads({ RESERVED_INSTANCES: "true" })).toEqual(["ec2:DescribeInstances", "ec2:DescribeReservedInstances"]);
  });

  it.for([
    { gates: undefined, allowed: false },
    { gates: "NodeRepair=true", allowed: false },
    { gates: "RebootForRepair=false", allowed: false },
    { gates: "NodeRepair=true, RebootForRepair=true", allowed: true },
  ])("lets the lifecycle function reboot instances of its clusters under the gate RebootForRepair alone: $gates", ({ gates, allowed }) => {
    const { clusters } = parseSettings({ clusters: [{ name: "prod" }] }, "test");
    const statements = cloudStatements("lifecycle", clusters, gates === undefined ? {} : { FEATURE_GATES: gates });
    const reboots = statements.map((one) => one.toJSON()).filter(({ Action }) => [Action].flat().includes("ec2:RebootInstances"));
    expect(reboots).toHaveLength(allowed ? 1 : 0);
    for (const { Condition } of reboots) expect(Condition.StringEquals).toEqual({ "aws:ResourceTag/eks:eks-cluster-name": ["prod"] });
  });

  it("lets the catalog function call what they ask for, and no more", () => {
    const calls = (template: Template) => {
      const roles = JSON.stringify(template.findResources("AWS::IAM::Role"));
      return ["pricing:GetProducts", "arc-zonal-shift:GetManagedResource"].filter((action) => roles.includes(action));
    };
    expect([calls(plain), calls(set)]).toEqual([["pricing:GetProducts"], ["arc-zonal-shift:GetManagedResource"]]);
  });

  it("holds wake-ups for plans back for a second, whatever BATCH_IDLE_DURATION is", () => {
    for (const template of [plain, set]) template.hasResourceProperties("AWS::SQS::Queue", { FifoQueue: true, DelaySeconds: 1 });
  });
});

it("a region of a partition that is not in the table is refused, and those of the table are taken", () => {
  const settingsIn = (region: string) => parseSettings({ clusters: [{ name: "one", sources: ["sweep"] }], region }, "a.json");
  expect(() => settingsIn("moon-sea-1")).toThrow(
    "a.json: moon-sea-1 is of no partition of AWS whose endpoints are known (aws, aws-cn, aws-us-gov, aws-eusc, aws-iso, aws-iso-b, aws-iso-e, aws-iso-f); choose a region of these.",
  );
  expect(settingsIn("eusc-de-east-1").region).toBe("eusc-de-east-1");
});
