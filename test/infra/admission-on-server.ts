import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manifests } from "#infra/manifests.ts";
import { removeDir } from "../e2e/support/child.ts";
import { startCluster } from "../e2e/support/cluster.ts";
import { benchOf, CLUSTER, eventually } from "./admission/bench.ts";
import { startAdmissionHost } from "./admission/host.ts";
import { noAnnouncements, outage, retreat } from "./admission/outages.ts";
import { PUBLISHED_NODE_POOL } from "./admission/v1beta1-samples.ts";
import { verdicts } from "./admission/verdicts.ts";
import { oldNodePoolCrd, stored, versions } from "./admission/versions.ts";

/**
 * Installs the manifests with the admission function's bundle behind them in a real API server, writes and reads both
 * versions, and takes the function away: `node test/infra/admission-on-server.ts`. Prints one line a step and "N
 * passed, N failed"; exits 1 when one failed.
 */

const TOKEN = "0123456789abcdef0123";

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "admission-on-server-"));
  const cluster = await startCluster({ dataDir, clusterName: CLUSTER, args: ["--scheduler=false"] });
  let [passed, failed] = [0, 0];
  try {
    const host = await startAdmissionHost(cluster, TOKEN, dataDir);
    await cluster.kubectl("apply", "-f", "-", { input: oldNodePoolCrd() });
    await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
    const older = PUBLISHED_NODE_POOL.replace("name: default", "name: stored");
    await eventually(async () => cluster.kubectl("apply", "-f", "-", { input: older }));
    const text = manifests({ cluster: CLUSTER, admissionUrl: host.url, admissionToken: TOKEN, caBundle: cluster.caData });
    await cluster.kubectl("apply", "-f", "-", { input: text });
    await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
    await eventually(async () => cluster.kubectl("get", "nodepools.v1.karpenter.sh,ec2nodeclasses.v1beta1.karpenter.k8s.aws"));
    const bench = benchOf(cluster, host);
    for (const [name, act] of [stored, versions, verdicts, outage, noAnnouncements, retreat].flatMap((steps) => steps(bench))) {
      const began = Date.now();
      const fault = await act().catch(String);
      fault === undefined ? passed++ : failed++;
      console.log(`${fault === undefined ? "ok  " : "FAIL"} ${name} (${Date.now() - began} ms)${fault === undefined ? "" : `: ${fault}`}`);
    }
  } finally {
    await cluster.stop();
    removeDir(dataDir);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

await main();
