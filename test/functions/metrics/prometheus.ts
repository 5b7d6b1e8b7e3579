/*
 * A real Prometheus reads the metrics function, and dashboards are asked of it.
 * `node test/functions/metrics/prometheus.ts [FOLDER]`: two clusters are played in the lab for some minutes of virtual
 * time; Prometheus (of Debian's package `prometheus`) scrapes the function meanwhile; then each query of the Grafana
 * dashboards in FOLDER (*.json), and of those in infra/grafana, is asked. In: dashboards. Out: a line for each query
 * that is empty, and "N passed, N failed" of panels; exit code 1 when a panel is empty whose metrics are not in EMPTY.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Lab } from "#lab/host.ts";
import { CATALOGUE, deployment, NODE_CLASS, nodePool, ON_DEMAND } from "../../simulation/story.ts";
import { MINUTE, pass, ready, scale } from "../../support/lab-story.ts";
import { scrapedLabs, TOKEN } from "../../support/scraped-lab.ts";

/**
 * Metrics of the dashboards that are not served, each with who has it; docs/metrics-and-events.md says so, "Karpenter's
 * metrics that are not emitted".
 */
const EMPTY: readonly (readonly [RegExp, string])[] = [
  [/^node_(time|boot_time)_seconds$/, "another exporter's"],
  [/^workqueue_/, "absent: there is no work queue in memory"],
  [/^karpenter_allocation_controller_/, "Karpenter v1.14 has none either"],
];

const folders = [resolve(import.meta.dirname, "../../../infra/grafana"), ...process.argv.slice(2)];
const dir = mkdtempSync(join(tmpdir(), "prometheus-"));

/** The scrape configuration that the document shows is one that Prometheus takes. */
function checkDocumented(): void {
  const page = readFileSync(resolve(import.meta.dirname, "../../../docs/metrics-and-events.md"), "utf8");
  const [, block = ""] = /^```yaml\n(scrape_configs:[\s\S]*?)^```/m.exec(page) ?? [];
  const [token, config] = [join(dir, "documented-token"), join(dir, "documented.yml")];
  writeFileSync(token, TOKEN);
  writeFileSync(config, block.replace(/credentials_file: [^ ]+/, `credentials_file: ${token}`));
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "config", config], { encoding: "utf8" });
  if (status !== 0 || !block.includes("job_name"))
    throw new Error(`the scrape configuration of the document is refused: ${stdout}${stderr}`);
}
checkDocumented();

/** A lab with a NodePool that has limits and consolidates, some nodes, and pods that wait. */
async function play(seed: number): Promise<Lab> {
  const pool = nodePool([ON_DEMAND]);
  const limited = { ...pool, spec: { ...(pool["spec"] as object), limits: { cpu: "64", memory: "256Gi" } } };
  const agent = { containers: [{ name: "agent", image: "agent", resources: { requests: { cpu: "100m", memory: "64Mi" } } }] };
  const labels = { app: "agent" };
  const daemonSet = {
    ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "agent", namespace: "kube-system" } },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: agent } },
  };
  const lab = await ready([NODE_CLASS, limited, daemonSet, deployment(0, { cpu: "1" })], { seed, catalogue: CATALOGUE });
  scale(lab, 6 * seed);
  await pass(lab, 3 * MINUTE);
  return lab;
}

interface Panel {
  readonly title?: string;
  readonly type?: string;
  readonly panels?: readonly Panel[];
  readonly targets?: readonly { readonly expr?: string }[];
}
interface Dashboard {
  readonly panels?: readonly Panel[];
}

const panelsOf = (panels: readonly Panel[] = []): readonly Panel[] => panels.flatMap((panel) => [panel, ...panelsOf(panel.panels)]);

/** The query with the dashboard's variables filled as "All" and the interval that Grafana would choose. */
const filled = (expr: string): string =>
  expr
    .replaceAll(/\[\$\{?\w+\}?\]/g, "[5m]")
    .replaceAll(/\$__rate_interval|\$\{__rate_interval\}|\$__interval/g, "5m")
    .replaceAll(/\$\{?distribution_filter\}?/g, "zone")
    .replaceAll("$controller", "provision")
    .replaceAll("$quantile", "0.5")
    .replaceAll(/\$\{?\w+\}?/g, ".*");

const labs = [await play(1), await play(2)];
const scraped = scrapedLabs(labs);
const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  scraped
    .get({ token: "", path: url.pathname, query: url.searchParams.toString(), headers, method: request.method ?? "GET" })
    .then(({ statusCode, headers: own, body, isBase64Encoded }) =>
      response.writeHead(statusCode, own).end(isBase64Encoded ? Buffer.from(body, "base64") : body),
    )
    .catch((error: unknown) => response.writeHead(500).end(String(error)));
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
const port = 20_000 + (process.pid % 20_000);
writeFileSync(
  join(dir, "prometheus.yml"),
  JSON.stringify({
    scrape_configs: [
      {
        ...{
          job_name: "karpenter",
          scrape_interval: "2s",
          scrape_timeout: "2s",
          honor_labels: true,
          authorization: { credentials: TOKEN },
        },
        ...{ params: { "collect[]": ["nodes", "pods", "nodepools", "conditions", "offerings"] }, static_configs: [{ targets: [target] }] },
      },
    ],
  }),
);
const [options, address] = [["--config.file", join(dir, "prometheus.yml"), "--storage.tsdb.path", join(dir, "data")], `127.0.0.1:${port}`];
const prometheus = spawn("prometheus", [...options, "--web.listen-address", address], { stdio: "ignore" });

async function ask(query: string): Promise<readonly unknown[]> {
  const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`);
  const answer = (await response.json()) as { readonly error?: string; readonly data?: { readonly result: readonly unknown[] } };
  if (answer.error !== undefined) throw new Error(`${query}: ${answer.error}`);
  return answer.data?.result ?? [];
}

let [passed, failed] = [0, 0];
try {
  const text = (await scraped.get({ query: "collect[]=nodes&collect[]=pods&collect[]=nodepools", headers: { accept: "*/*" } })).body;
  const { stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  const grammar = `${stdout}${stderr}`.split("\n").filter((line) => /error/i.test(line));
  console.log(grammar.length === 0 ? "ok     promtool reads the text format" : `FAILED promtool: ${grammar.join("; ")}`);
  if (grammar.length === 0) passed++;
  else failed++;
  for (let i = 0; i < 100 && (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok !== true; i++) await sleep(200);
  for (const replicas of [9, 3, 12, 1, 8]) {
    for (const lab of labs) {
      scale(lab, replicas);
      await pass(lab, 4 * MINUTE);
    }
    await sleep(4_500);
  }
  for (const one of await ask("up")) console.log(JSON.stringify(one));
  const clusters = await ask("count by (cluster) (karpenter_nodes_allocatable{resource_type='cpu'})");
  console.log(`${clusters.length === 2 ? "ok    " : "FAILED"} two clusters' figures are apart`);
  if (clusters.length === 2) passed++;
  else failed++;
  for (const folder of folders) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
      const { panels } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Dashboard;
      for (const { title = "", targets = [] } of panelsOf(panels)) {
        for (const { expr } of targets) {
          if (expr === undefined) continue;
          const query = filled(expr);
          const names = [...query.matchAll(/\b[a-z]+_[a-z_]+\b(?=[{)\s[]|$)/g)].map(([name]) => name);
          const foreign = EMPTY.find(([absent]) => names.some((name) => absent.test(name)))?.[1];
          const found = await ask(query);
          const isGood = found.length > 0 || foreign !== undefined;
          if (isGood) passed++;
          else failed++;
          console.log(
            `${isGood ? "ok    " : "FAILED"} ${file}: ${title}: ${found.length} series${foreign === undefined ? "" : ` (${foreign})`}${isGood ? "" : `: ${query}`}`,
          );
        }
      }
    }
  }
} finally {
  prometheus.kill();
  server.close();
  rmSync(dir, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
