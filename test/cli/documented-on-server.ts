import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { manifests } from "#infra/manifests.ts";
import { deployment } from "../e2e/arrange.ts";
import { removeDir } from "../e2e/support/child.ts";
import { buildCluster, startCluster } from "../e2e/support/cluster.ts";
import { projectRoot, withProjectNode } from "../e2e/support/paths.ts";
import { DOCUMENTED } from "../support/documented.ts";

/**
 * Runs the command lines of the documents that are kubectl's, and jq's about the lab's report, as they stand, against a
 * real API server that has what they name: `node test/cli/documented-on-server.ts`. Prints a line each and
 * "N passed, N failed".
 */

const dir = mkdtempSync(join(tmpdir(), "documented-"));
const cluster = await startCluster({ dataDir: join(dir, "cluster"), clusterName: "my-cluster" });
const kubectl = join(dir, "kubectl");
writeFileSync(kubectl, `#!/bin/sh\nexec '${await buildCluster()}' kubectl --kubeconfig '${cluster.kubeconfig}' "$@"\n`, { mode: 0o755 });

const defaultPool = readFileSync(join(projectRoot, "infra/default-pool.yaml"), "utf8").replaceAll(/\$\{CLUSTER_NAME\}/g, "my-cluster");
const named = (pool: string, nodeClass: string): string =>
  defaultPool
    .replace("name: default\nspec:\n  template", `name: ${pool}\nspec:\n  template`)
    .replaceAll("name: default", `name: ${nodeClass}`);
const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels: { "eks.amazonaws.com/nodegroup": "my-group" } } };
const webhook = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "karpenter-serverless-notify" },
};

/** The program itself, and what is no kubectl's, run elsewhere: test/cli/documented-commands.test.ts says where. */
const isOurs = (line: string): boolean => /^(kubectl (?!karpenter-serverless)|jq -?\S* .* report\.json$)/.test(line);
const lines = [...new Set(DOCUMENTED.map(({ line }) => line).filter(isOurs))];

let passed = 0;
let failed = 0;
try {
  const apply = (...objects: readonly (object | string)[]): Promise<unknown> =>
    Promise.all(objects.map((one) => cluster.kubectl("apply", "-f", "-", { input: typeof one === "string" ? one : JSON.stringify(one) })));
  await cluster.kubectl("apply", "--server-side", "-f", "-", { input: manifests({ cluster: "my-cluster" }) });
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
  await apply(named("my-nodepool", "my-class"), named("NAME", "default").replace("name: NAME", "name: name"), node, webhook);
  await cluster.kubectl("apply", "-n", "kube-system", "-f", "-", { input: JSON.stringify(deployment("cluster-autoscaler", 1)) });
  writeFileSync(join(dir, "my-workload.yaml"), JSON.stringify(deployment("web", 1)));
  execFileSync(
    join(projectRoot, "node_modules/.bin/node"),
    [
      join(projectRoot, "cli/main.ts"),
      "lab",
      join(projectRoot, "lab/stories/inflate.yaml"),
      "--scale",
      "other/inflate=2",
      "--report",
      join(dir, "report.json"),
    ],
    { stdio: "ignore", cwd: projectRoot },
  );
  const env = { ...withProjectNode(), PATH: [dir, process.env["PATH"]].join(delimiter) };
  for (const line of lines) {
    // A NodePool's name has no upper case letters. jq answers 1 where what is asked of a report does not hold.
    const typed = line.replace("nodepool NAME", "nodepool name");
    try {
      execFileSync("sh", ["-c", typed], { cwd: dir, env, stdio: "pipe", timeout: 60_000 });
      passed += 1;
      console.log(`ok      ${line}`);
    } catch (error) {
      const { status, stderr } = error as { readonly status: number; readonly stderr: Buffer };
      const isAnswer = line.startsWith("jq") && status === 1 && String(stderr) === "";
      if (isAnswer) passed += 1;
      else failed += 1;
      console.log(`${isAnswer ? "ok    " : "FAILED"}  ${line}${isAnswer ? " (no)" : `: ${String(stderr).trim()}`}`);
    }
  }
} finally {
  await cluster.stop();
  removeDir(dir);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 10 ? 0 : 1;
