import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { removeDir } from "../../e2e/support/child.ts";
import { startCluster, type TestCluster } from "../../e2e/support/cluster.ts";
import { wholeLines } from "../../e2e/support/growing-log.ts";
import { projectRoot } from "../../e2e/support/paths.ts";
import { eventually } from "../../e2e/support/wait.ts";

/**
 * Runs `what-if` against a real API server (test/e2e/cluster). Checks its answer, the snapshot that it saves and, by
 * the audit log of the server, that it only read. Prints what a user sees. Exit code 1 when a check fails.
 */
const folder = mkdtempSync(join(tmpdir(), "what-if-real-"));
const run = promisify(execFile);

async function whatIf(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(projectRoot, "cli", "main.ts"), "what-if", ...args]);
  return stdout;
}

const REF = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
const POOL = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: {
    template: {
      spec: {
        requirements: [
          { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
          { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
        ],
        nodeClassRef: REF,
      },
    },
    disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "1m", budgets: [{ nodes: "100%" }] },
  },
};
const CLASS = {
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name: "default" },
  spec: {
    role: "node",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": "c1" } }],
    securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": "c1" } }],
    userData: "#!/bin/sh\necho secret-user-data\n",
  },
};
const CLASS_STATUS = {
  subnets: ["a", "b"].map((letter, i) => ({ id: `subnet-${letter}`, zone: `us-west-2${letter}`, zoneID: `usw2-az${i + 1}` })),
  securityGroups: [{ id: "sg-1", name: "nodes" }],
  amis: [{ id: "ami-1", name: "al2023", requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }] }],
  conditions: [{ type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }],
};

/** An m5.2xlarge as Karpenter would have launched it: a node with a kubelet, and its NodeClaim. */
async function addMachine(name: string, { kubectl, control }: TestCluster): Promise<void> {
  const labels = {
    "karpenter.sh/nodepool": "default",
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "karpenter.sh/capacity-type": "on-demand",
    "karpenter.sh/registered": "true",
    "karpenter.sh/initialized": "true",
    "node.kubernetes.io/instance-type": "m5.2xlarge",
    "topology.kubernetes.io/zone": "us-west-2a",
    "topology.kubernetes.io/region": "us-west-2",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
  };
  const providerID = `aws:///us-west-2a/i-${name}`;
  const capacity = { cpu: "8", memory: "31Gi", pods: "58", "ephemeral-storage": "20Gi" };
  const joined = await fetch(`${control}/join`, {
    method: "POST",
    body: JSON.stringify({ metadata: { name, labels }, spec: { providerID }, status: { capacity, allocatable: capacity } }),
  });
  assert.ok(joined.ok, await joined.text());
  const claim = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name: `default-${name}`, labels },
    spec: { requirements: [], nodeClassRef: REF },
  };
  await kubectl("create", "-f", "-", { input: JSON.stringify(claim) });
  const at = "2026-01-01T00:00:00Z";
  const conditions = ["Launched", "Registered", "Initialized"].map((type) => ({
    type,
    status: "True",
    reason: type,
    message: "",
    lastTransitionTime: at,
  }));
  const status = { providerID, nodeName: name, capacity, allocatable: capacity, imageID: "ami-1", conditions };
  await patchStatus("nodeclaim", `default-${name}`, status, kubectl);
}

async function patchStatus(kind: string, name: string, status: object, kubectl: TestCluster["kubectl"]): Promise<void> {
  await kubectl("patch", kind, name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status }));
}

const WEB = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [
          {
            name: "c",
            image: "private.example/web",
            env: [{ name: "PASSWORD", value: "secret-password" }],
            resources: { requests: { cpu: "1", memory: "3Gi" } },
          },
        ],
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: { matchLabels: { app: "web" } },
          },
        ],
      },
    },
  },
};

interface AuditEvent {
  readonly verb: string;
  readonly userAgent?: string;
  readonly requestURI: string;
}

async function check(cluster: TestCluster): Promise<void> {
  const { kubectl, kubeconfig, auditLog } = cluster;
  await kubectl("apply", "-f", join(projectRoot, "infra", "crds"));
  await kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
  for (const object of [POOL, CLASS, WEB]) await kubectl("create", "-f", "-", { input: JSON.stringify(object) });
  await patchStatus("ec2nodeclass", "default", CLASS_STATUS, kubectl);
  for (const name of ["n1", "n2", "n3"]) await addMachine(name, cluster);
  await kubectl("rollout", "status", "deployment/web", "--timeout=300s");

  const live = ["--kubeconfig", kubeconfig];
  const text = await whatIf(...live, "--family", "m6a", "--budget", "default=1");
  console.log(text);
  assert.match(text, /: 3 nodes, \$1\.1520\/h/);
  assert.match(text, /default +m5\.2xlarge +on-demand +3 +1\.152/);
  assert.match(text, /RequirementsDrifted: 3 nodes: n1, n2 and n3/);
  assert.match(text, /default +m6a\.\w+ +on-demand +- +- /);

  const saved = join(folder, "snapshot.json.gz");
  console.log(await whatIf(...live, "--save", saved));
  const bill = async (...args: readonly string[]) => {
    const { today, leftAlone, changed } = JSON.parse(await whatIf(...args, "--format", "json"));
    return [today, leftAlone.bill.rows, changed.bill.rows];
  };
  const wish = ["--set", "nodepool/default.spec.template.spec.taints=[{key: dedicated, effect: NoSchedule}]"];
  assert.deepEqual(await bill(saved, ...wish), await bill(...live, ...wish));
  const { stdout: content } = await run("gzip", ["-dc", saved], { maxBuffer: 2 ** 30 });
  assert.doesNotMatch(content, /secret-|private\.example/);

  // The API server writes an event once it has answered.
  const events = await eventually("the audit log has more than 20 calls of what-if", () => {
    const found = wholeLines(auditLog)
      .filter((line) => line.includes("karpenter-serverless"))
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(({ userAgent }) => userAgent === "karpenter-serverless");
    if (found.length > 20) return found;
    throw new Error(`${found.length} calls`);
  });
  const verbs = Object.entries(Object.groupBy(events, ({ verb }) => verb)).map(([verb, list]) => `${verb} ${list?.length}`);
  console.log(`the API server's audit log of what-if: ${verbs.join(", ")}`);
  assert.deepEqual(
    [...new Set(events.map(({ verb }) => verb))].filter((verb) => verb !== "list" && verb !== "get"),
    [],
  );
  assert.deepEqual(
    events.filter(({ requestURI }) => /secrets|configmaps/.test(requestURI)),
    [],
  );
}

const policy = join(folder, "policy.yaml");
writeFileSync(policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
const cluster = await startCluster({ dataDir: join(folder, "data"), clusterName: "c1", args: [`--audit-policy=${policy}`] });
try {
  await check(cluster);
  console.log("all is as it should be");
} finally {
  await cluster.stop();
  removeDir(folder);
}
