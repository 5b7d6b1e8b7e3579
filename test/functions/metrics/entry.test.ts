import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { clusterToken } from "#adapters/lambda/path-token.ts";
import { MINUTE, pass, running, scale } from "../../support/lab-story.ts";
import { scrapedLabs, TOKEN } from "../../support/scraped-lab.ts";

const sampleOf = (body: string, start: string): number =>
  Number(
    body
      .split("\n")
      .find((line) => line.startsWith(start))
      ?.split(" ")
      .at(-1) ?? Number.NaN,
  );

describe("the metrics function", () => {
  it("a scrape has the nodes, pods, pools and counters of a cluster", async () => {
    const lab = await running(3);
    const { cluster } = lab.world;
    const scraped = scrapedLabs([lab]);
    await scraped.get();
    await pass(lab, MINUTE);
    const { statusCode, headers, body } = await scraped.get();
    expect(statusCode).toBe(200);
    expect(headers["content-type"]).toContain("application/openmetrics-text");
    expect(body.endsWith("# EOF\n")).toBe(true);
    expect(sampleOf(body, "karpenter_build_info")).toBe(1);
    expect(sampleOf(body, `karpenter_cluster_state_synced{cluster="${cluster}"}`)).toBe(1);
    const nodes = sampleOf(body, `karpenter_cluster_state_node_count{cluster="${cluster}"}`);
    expect(nodes).toBeGreaterThan(0);
    const created = [...body.matchAll(/^karpenter_nodes_created_total\{.*\} (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
    expect(created).toBe(nodes);
    const states = [...body.matchAll(/^karpenter_pods_state\{(.*)\} 1$/gm)].map(([, labels = ""]) => labels);
    expect(states.filter((labels) => labels.includes('name="inflate') && labels.includes('phase="Running"'))).toHaveLength(3);
    expect(states.every((labels) => labels.includes(`cluster="${cluster}"`))).toBe(true);
    expect(sampleOf(body, "karpenter_nodepools_cost_total")).toBeGreaterThan(0);
    const allocatable = [...body.matchAll(/^karpenter_nodes_allocatable\{(.*)\} /gm)].map(([, labels = ""]) => labels);
    for (const wanted of ["nodepool=", "zone=", "instance_type=", "capacity_type=", "arch=", 'managed="true"', 'resource_type="cpu"'])
      expect(
        allocatable.some((labels) => labels.includes(wanted)),
        wanted,
      ).toBe(true);
    expect(scraped.errors).toEqual([]);
  });

  it("pods that become ready between two scrapes are observed once", async () => {
    const lab = await running(1);
    const scraped = scrapedLabs([lab]);
    await scraped.get();
    scale(lab, 4);
    await pass(lab, 2 * MINUTE);
    const start = "karpenter_pods_startup_duration_seconds_count";
    expect(sampleOf((await scraped.get()).body, start)).toBe(3);
    await pass(lab, MINUTE);
    expect(sampleOf((await scraped.get()).body, start)).toBe(3);
  });

  it("a cluster that does not answer is told as not synced, and the others are served", async () => {
    const lab = await running(1);
    const scraped = scrapedLabs([lab], ["hung"]);
    const { statusCode, body } = await scraped.get();
    expect(statusCode).toBe(200);
    expect(sampleOf(body, 'karpenter_cluster_state_synced{cluster="hung"}')).toBe(0);
    expect(sampleOf(body, `karpenter_cluster_state_synced{cluster="${lab.world.cluster}"}`)).toBe(1);
    expect(scraped.errors).toEqual(["could not read a cluster for its metrics; its counters are served, its gauges are not"]);
  });

  it("a scraper may ask for some clusters and groups, zipped, and in the text format", async () => {
    const lab = await running(1);
    const scraped = scrapedLabs([lab], ["hung"]);
    const query = `cluster=${lab.world.cluster}&collect[]=offerings&collect[]=nodepools`;
    const response = await scraped.get({ query, headers: { accept: "*/*", "accept-encoding": "gzip, deflate" } });
    expect(response).toMatchObject({ statusCode: 200, isBase64Encoded: true, headers: { "content-encoding": "gzip" } });
    const text = gunzipSync(Buffer.from(response.body, "base64")).toString("utf8");
    expect(text).toContain("# TYPE karpenter_nodeclaims_created_total counter");
    expect(text).not.toContain("# EOF");
    expect(text).toContain("karpenter_cloudprovider_instance_type_offering_price_estimate{");
    expect(text).toContain("karpenter_nodepools_limit".slice(0, 18));
    for (const absent of ["karpenter_pods_state", "karpenter_nodes_allocatable", 'cluster="hung"']) expect(text).not.toContain(absent);
  });

  it.for([
    { asked: { token: "another-token-0123456789" }, statusCode: 401, says: "Authorization: Bearer TOKEN" },
    { asked: { headers: { authorization: "" } }, statusCode: 401, says: "MetricsTokenArn" },
    { asked: { path: "/v1/x" }, statusCode: 404, says: "only the path /metrics" },
    { asked: { method: "POST" }, statusCode: 405, says: "read with GET" },
    { asked: { query: "cluster=strange" }, statusCode: 400, says: "Cluster strange is not served by this stack; it serves" },
    { asked: { query: "collect[]=node" }, statusCode: 400, says: "did you mean nodes?" },
  ])("answers $statusCode to $asked in one sentence", async ({ asked, statusCode, says }) => {
    const response = await scrapedLabs([], ["c1"]).get(asked);
    expect(response.statusCode).toBe(statusCode);
    expect(JSON.parse(response.body).message).toContain(says);
  });

  it("a cluster's token reads that cluster alone, where it is named", async () => {
    const lab = await running(1);
    const own = lab.world.cluster;
    const scraped = scrapedLabs([lab], ["other"]);
    const token = clusterToken(TOKEN, own);
    expect((await scraped.get({ token, query: `cluster=${own}` })).statusCode).toBe(200);
    for (const query of ["", "cluster=other", `cluster=${own}&cluster=other`])
      expect((await scraped.get({ token, query })).statusCode).toBe(401);
  });

  it.for([{}, { headers: null }, { rawPath: 7 }, null])("an event of any shape gets an answer: %j", async (event) => {
    const { metricsEntry } = await import("#functions/metrics/entry.ts");
    const handle = metricsEntry({ isToken: async () => false } as unknown as Parameters<typeof metricsEntry>[0]);
    expect((await handle(event as unknown as Parameters<typeof handle>[0])).statusCode).toBe(401);
  });
});
