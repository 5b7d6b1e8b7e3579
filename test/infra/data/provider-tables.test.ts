import { expect, it } from "vitest";
import { gatesIn, limitsIn, pricesIn, settingsIn } from "#infra/data/provider-tables.ts";

const ROW = (name: string, { isTrunk, branch, ipv4 }: { isTrunk: boolean; branch: number; ipv4: number }) =>
  [
    `\t"${name}": {`,
    "\t\tInterface:               4,",
    `\t\tIPv4PerInterface:        ${ipv4},`,
    `\t\tIsTrunkingCompatible:    ${isTrunk},`,
    `\t\tBranchInterface:         ${branch},`,
    "\t\tNetworkCards: []NetworkCard{\n\t\t\t{\n\t\t\t\tMaximumNetworkInterfaces: 4,\n\t\t\t},\n\t\t},\n\t},",
  ].join("\n");
const VPC = `var Limits = map[string]*VPCLimits{\n${ROW("m5.large", { isTrunk: true, branch: 9, ipv4: 10 })}\n${ROW("t2.micro", { isTrunk: false, branch: 3, ipv4: 2 })}\n}`;
const BANDWIDTH =
  '\t\t// c1.xlarge has vague bandwidth information, bandwidth is High\n\t\t"m5.large":    750,\n\t\t"c9g.large":   1000,\n';

it("reads limits; only a trunking type has branch interfaces", () => {
  expect(limitsIn(VPC, BANDWIDTH)).toEqual({
    "c9g.large": { networkMbps: 1000 },
    "m5.large": { podEni: 9, ipv4PerEni: 10, networkMbps: 750 },
    "t2.micro": { ipv4PerEni: 2 },
  });
});

it.for([
  { vpc: "", bandwidth: BANDWIDTH },
  { vpc: VPC, bandwidth: "" },
])("refuses a table of another form", ({ vpc, bandwidth }) => {
  expect(() => limitsIn(vpc, bandwidth)).toThrow("another form");
});

it("reads the prices of one region", () => {
  const table =
    '\t"us-east-1": {\n\t\t// a1 family\n\t\t"a1.large": 0.051000, "a1.medium": 0.025500,\n\t},\n\t"us-west-1": {\n\t\t"a1.large": 9.0,\n\t},\n';
  expect(pricesIn(table, "us-east-1")).toEqual({ "a1.large": 0.051, "a1.medium": 0.0255 });
  expect(() => pricesIn("var x = 1", "us-east-1")).toThrow("no region us-east-1");
});

it("reads settings and feature gates", () => {
  const options = [
    "type FeatureGates struct {\n\tinputStr string\n\n\tNodeRepair bool\n\tSpotToSpotConsolidation bool\n}",
    'fs.IntVar(&o.MetricsPort, "metrics-port", env.WithDefaultInt("METRICS_PORT", 8080), "…")',
    'fs.BoolVarWithEnv(&o.LegacyNodeRepair, "legacy-node-repair", "LEGACY_NODE_REPAIR", false, "…")',
  ].join("\n");
  expect(settingsIn(options)).toEqual(["LEGACY_NODE_REPAIR", "METRICS_PORT"]);
  expect(gatesIn(options)).toEqual(["NodeRepair", "SpotToSpotConsolidation"]);
});
