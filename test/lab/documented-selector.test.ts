import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { playManifests } from "#lab/play.ts";
import type { LabReport } from "#lab/report.ts";
import { manifestProblems } from "#manifests/check.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const blocksOf = (page: string): readonly string[] =>
  [...readFileSync(page, "utf8").matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);

const ours = blocksOf("docs/deploy.md").find((block) => block.startsWith("nodeSelector:")) ?? "";

it("the node selector of docs/deploy.md keeps pods on the NodePool that it names", async () => {
  const selector = parse(ours) as { readonly nodeSelector: Readonly<Record<string, string>> };
  const pool = (name: string, weight: number) => ({
    ...{ apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name } },
    spec: {
      weight,
      template: {
        spec: {
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }],
        },
      },
    },
  });
  const nodeClass = {
    ...{ apiVersion: "karpenter.k8s.aws/v1", kind: "EC2NodeClass", metadata: { name: "default" } },
    spec: {
      role: "KarpenterNodeRole-lab",
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": "lab" } }],
      securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": "lab" } }],
    },
  };
  const pod = (name: string, spec: object) => ({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" } },
    spec: { ...spec, containers: [{ name: "web", image: "web", resources: { requests: { cpu: "1" } } }] },
  });
  // Without the selector the NodePool of more weight is taken.
  const objects = [nodeClass, pool("my-nodepool", 1), pool("preferred", 50), pod("kept-apart", selector), pod("other", {})];
  const file = join(temporaryFolder("documented-selector"), "manifests.yaml");
  writeFileSync(file, objects.map((object) => `---\n${JSON.stringify(object)}\n`).join(""));
  const reports: LabReport[] = [];
  await playManifests([file], [], 5, {
    ...{ json: false, colour: false, seed: 1, region: "us-west-2", print: () => {} },
    onReport: (made) => void reports.push(made),
  });
  const [report] = reports;
  const poolOf = (name: string) => {
    const found = report?.pods.find((one) => one.name === name);
    return report?.nodes.find((node) => node.name === found?.node)?.nodePool;
  };
  expect([poolOf("kept-apart"), poolOf("other")]).toEqual(["my-nodepool", "preferred"]);
});

it("the budgets of docs/node-repair.md are those of a NodePool", () => {
  const { disruption } = parse(blocksOf("docs/node-repair.md").find((block) => block.startsWith("disruption:")) ?? "");
  const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "default" } };
  expect(disruption.budgets).toHaveLength(2);
  expect(manifestProblems({ ...pool, spec: { disruption, template: { spec: { nodeClassRef, requirements: [] } } } })).toEqual([]);
});

it("each block of YAML of the documents is one that a test reads", () => {
  // By their first words: this test, health-checks.test.ts, prometheus.ts; recipes.test.ts reads all of its page.
  const held = ["disruption:\n  budgets:", "nodeSelector:", "resource.customizations.health.", "scrape_configs:"];
  const pages = ["README.md", ...readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : []))];
  const others = pages
    .filter((page) => page !== "docs/recipes.md")
    .flatMap((page) => blocksOf(page).map((block) => ({ page, block: block.slice(0, 60) })))
    .filter(({ block }) => !held.some((start) => block.startsWith(start)));
  expect(others).toEqual([]);
});
