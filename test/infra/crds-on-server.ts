import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { headroomOf } from "#core/capacity-buffers/headroom.ts";
import { bufferStatus } from "#core/capacity-buffers/status.ts";
import type { CapacityBuffer } from "#core/model/capacity-buffer.ts";
import { PRICE_PER_HOUR } from "#core/model/labels.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { nodePoolStatus } from "#core/node-pool/status.ts";
import { removeDir } from "../e2e/support/child.ts";
import { startCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { CHANGES, capacityBuffer, nodeClass, nodePool, SAMPLES, type Sample } from "./crd-samples.ts";
import { NODE_OVERLAY_SAMPLES, nodeOverlay } from "./node-overlay-samples.ts";

/**
 * Applies the CRDs to a real API server and shows it every sample: `node test/infra/crds-on-server.ts`. Prints one line
 * a failure and "N passed, N failed"; exits 1 when one failed.
 */

const CRD_DIR = join(import.meta.dirname, "..", "..", "infra", "crds");

type Check = readonly [name: string, run: () => Promise<string | undefined>];

/** What the server says of an object: "" when it takes it. */
async function submit(cluster: TestCluster, verb: readonly string[], object: object): Promise<string> {
  try {
    await cluster.kubectl(...verb, "-f", "-", { input: JSON.stringify(object) });
    return "";
  } catch (error) {
    return String(error);
  }
}

/** A sentence when the answer is not the one that the sample wants. */
function judge({ refused }: Sample, answer: string): string | undefined {
  if (refused === undefined) {
    return answer === "" ? undefined : `was refused: ${answer}`;
  }
  if (answer === "") {
    return `was accepted, wanted a refusal with "${refused}"`;
  }
  return answer.includes(refused) ? undefined : `was refused without "${refused}": ${answer}`;
}

function checks(cluster: TestCluster): readonly Check[] {
  const read = async (...args: readonly string[]): Promise<string> => cluster.kubectl(...args);
  return [
    ...[...SAMPLES, ...NODE_OVERLAY_SAMPLES].map(
      (sample): Check => [sample.name, async () => judge(sample, await submit(cluster, ["create", "--dry-run=server"], sample.object))],
    ),
    ...CHANGES.map(
      (change): Check => [
        change.name,
        async () => {
          await cluster.kubectl("create", "-f", "-", { input: JSON.stringify(change.before) });
          try {
            return judge(change, await submit(cluster, ["replace", "--dry-run=server"], change.object));
          } finally {
            await cluster.kubectl("delete", "-f", "-", { input: JSON.stringify(change.before) });
          }
        },
      ],
    ),
    [
      "defaults of a NodePool",
      async () => {
        await submit(cluster, ["create"], nodePool({}));
        const spec: unknown = JSON.parse(await read("get", "nodepool", "sample", "-o", "jsonpath={.spec}"));
        const want = {
          disruption: { budgets: [{ nodes: "10%" }], consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized" },
          template: {
            spec: {
              expireAfter: "720h",
              nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
              requirements: [],
            },
          },
        };
        return same(spec, want);
      },
    ],
    [
      "defaults of an EC2NodeClass",
      async () => {
        await submit(cluster, ["create"], nodeClass({}));
        const options: unknown = JSON.parse(await read("get", "ec2nc", "sample", "-o", "jsonpath={.spec.metadataOptions}"));
        return same(options, { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" });
      },
    ],
    [
      "a NodePool with a price cap and a schedule, and the status that the functions write",
      async () => {
        const capped = { "karpenter-serverless/max-price-per-hour": "12.50" };
        const annotations = { ...capped, "karpenter-serverless/schedule": "TZ=Europe/Berlin 0 20 * * 1-4 for 10h" };
        const sample = nodePool({}) as NodePool;
        const answer = await submit(cluster, ["apply"], { ...sample, metadata: { ...sample.metadata, annotations } });
        if (answer !== "") return answer;
        const found = JSON.parse(await read("get", "nodepool", "sample", "-o", "json")) as NodePool;
        const now = Date.parse("2026-01-05T22:00:00Z");
        const status = nodePoolStatus(found, { nodeClass: undefined, nodeClaims: [], nodes: [], price: 0.0425, now });
        await read("patch", "nodepool", "sample", "--subresource=status", "--type=merge", "-p", JSON.stringify({ status }));
        const written = JSON.parse(await read("get", "nodepool", "sample", "-o", "json")) as NodePool;
        const asleep = written.status?.conditions?.find(({ type }) => type === "Asleep")?.status;
        return same([written.status?.resources?.[PRICE_PER_HOUR], asleep], ["0.0425", "True"]);
      },
    ],
    ["columns of nodepools", async () => columns(await read("get", "nodepools"), "NAME NODECLASS NODES READY AGE")],
    [
      "wide columns of nodepools",
      async () => columns(await read("get", "nodepools", "-o", "wide"), "NAME NODECLASS NODES READY AGE WEIGHT CPU MEMORY"),
    ],
    ["columns of ec2nodeclasses", async () => columns(await read("get", "ec2ncs"), "NAME READY AGE")],
    ["wide columns of ec2nodeclasses", async () => columns(await read("get", "ec2nc", "-o", "wide"), "NAME READY AGE ROLE")],
    [
      "columns of nodeclaims",
      async () => {
        const claim = SAMPLES.find(({ name }) => name.startsWith("a claim as"));
        await submit(cluster, ["create"], claim?.object ?? {});
        const wide = columns(
          await read("get", "nodeclaims", "-o", "wide"),
          "NAME TYPE CAPACITY ZONE NODE READY AGE IMAGEID ID NODEPOOL NODECLASS DRIFTED",
        );
        return wide ?? columns(await read("get", "nodeclaims"), "NAME TYPE CAPACITY ZONE NODE READY AGE");
      },
    ],
    [
      "columns of nodeoverlays",
      async () => {
        await submit(cluster, ["create"], nodeOverlay({ weight: 5, priceAdjustment: "+10%" }));
        const conditions = '[{"type":"Ready","status":"True","reason":"Ready","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]';
        await read(
          "patch",
          "nodeoverlay",
          "sample",
          "--subresource=status",
          "--type=merge",
          "-p",
          `{"status":{"conditions":${conditions}}}`,
        );
        const fault = columns(await read("get", "overlays", "-o", "wide"), "NAME READY AGE WEIGHT PRICE ADJUSTMENT");
        const [, row = ""] = (await read("get", "nodeoverlays")).split("\n");
        await read("delete", "nodeoverlay", "sample");
        return fault ?? same(row.split(/\s+/).slice(0, 2), ["sample", "True"]);
      },
    ],
    [
      "columns of capacitybuffers, with the status that provisioning writes",
      async () => {
        await submit(cluster, ["create"], capacityBuffer({ podTemplateRef: { name: "room" }, replicas: 2 }));
        const found = JSON.parse(await read("get", "cb", "sample", "-o", "json")) as CapacityBuffer;
        const [headroom] = headroomOf([found], { podTemplates: [], deployments: [], statefulSets: [], replicaSets: [] });
        if (headroom === undefined) return "a buffer that exists asks for nothing";
        const status = bufferStatus(found, headroom.resolution, { existing: 0, onTheirWay: 0, errors: [] }, 0);
        await read("patch", "cb", "sample", "--subresource=status", "--type=merge", "-p", JSON.stringify({ status }));
        const table = await read("get", "cb");
        await read("delete", "cb", "sample");
        // Every column has a value except those without content: kubectl prints blanks for them.
        const wanted = "NAME STRATEGY PODTEMPLATE REPLICAS CONDITIONSTYPE CONDITIONSSTATUS CONDITIONSREASON AGE";
        const [, row = ""] = table.split("\n");
        return columns(table, wanted) ?? same(/PodTemplateNotFound/.test(row) && /active-capacity/.test(row), true);
      },
    ],
    [
      "a status is kept apart from the spec",
      async () => {
        await read("patch", "nodepool", "sample", "--subresource=status", "--type=merge", "-p", '{"status":{"resources":{"cpu":"4"}}}');
        return same(await read("get", "nodepool", "sample", "-o", "jsonpath={.status.nodes} {.status.resources.cpu}"), "0 4");
      },
    ],
    [
      "the category lists all three kinds",
      async () => {
        const names = await read("get", "karpenter", "-o", "name");
        return same(names.trim().split("\n").sort(), [
          "ec2nodeclass.karpenter.k8s.aws/sample",
          "nodeclaim.karpenter.sh/sample",
          "nodepool.karpenter.sh/sample",
        ]);
      },
    ],
    [
      "a static NodePool scales",
      async () => {
        await read("delete", "nodepool", "sample");
        await submit(cluster, ["create"], nodePool({ spec: { replicas: 1 } }));
        await read("scale", "nodepool", "sample", "--replicas=3");
        return same(await read("get", "nodepool", "sample", "-o", "jsonpath={.spec.replicas}"), "3");
      },
    ],
  ];
}

function columns(table: string, want: string): string | undefined {
  return same(table.split("\n")[0]?.trim().split(/\s+/).join(" "), want);
}

function same(got: unknown, want: unknown): string | undefined {
  return JSON.stringify(got) === JSON.stringify(want) ? undefined : `is ${JSON.stringify(got)}, wanted ${JSON.stringify(want)}`;
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "crds-on-server-"));
  const cluster = await startCluster({ dataDir, clusterName: "crds", args: ["--scheduler=false"] });
  let failed = 0;
  let passed = 0;
  try {
    for (const file of readdirSync(CRD_DIR)) {
      await cluster.kubectl("apply", "-f", join(CRD_DIR, file));
    }
    await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
    for (const [name, run] of checks(cluster)) {
      const fault = await run().catch(String);
      if (fault === undefined) {
        passed += 1;
      } else {
        failed += 1;
        console.log(`FAIL ${name}: ${fault}`);
      }
    }
  } finally {
    await cluster.stop();
    removeDir(dataDir);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
