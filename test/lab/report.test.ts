import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { playManifests } from "#lab/play.ts";
import type { LabReport } from "#lab/report.ts";
import { MADE_UP } from "../support/made-up-image.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MANIFESTS = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: c, image: i, resources: { requests: { cpu: 1 } } }] } }
---
apiVersion: v1
kind: Pod
metadata: { name: lost }
spec: { nodeSelector: { team: blue }, containers: [{ name: c, image: i, resources: { requests: { cpu: 1 } } }] }
`;

const REFUSED = `apiVersion: v1
kind: Pod
metadata: { name: alone }
spec: { priorityClassName: higher, containers: [{ name: c, image: i }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template: { metadata: { labels: { app: web } }, spec: { priorityClassName: high, containers: [{ name: c, image: i }] } }
`;

const path = join(temporaryFolder("lab-report"), "all.yaml");
writeFileSync(path, MANIFESTS);

async function reportOf(json: boolean): Promise<LabReport> {
  const reports: LabReport[] = [];
  const options = { json, colour: false, seed: 1, region: "us-west-2", print: () => {} };
  const down = [{ namespace: "default", name: "web", replicas: 1 }];
  await playManifests([path], down, 2, { ...options, onReport: (made) => void reports.push(made) });
  const [report] = reports;
  if (report === undefined) throw new Error("there is no report");
  return report;
}

it("a report has the pods with their nodes or reasons, the nodes with their prices, and what happened", async () => {
  const report = await reportOf(false);
  const [lost, web, ...others] = report.pods;
  expect(others.map(({ owner }) => owner)).toEqual(["DaemonSet", "DaemonSet", "DaemonSet", "DaemonSet"]);
  expect([lost?.owner, web?.owner]).toEqual([null, "ReplicaSet"]);
  expect(lost).toMatchObject({ namespace: "default", name: "lost", phase: "Pending", node: null });
  expect(lost?.reason).toMatch(/^NodePool default: .*team/);
  expect(web).toMatchObject({ phase: "Running", reason: null });
  const [node] = report.nodes;
  expect(node).toMatchObject({ name: web?.node, nodePool: "default", state: "Ready", capacityType: "on-demand", pods: 5 });
  expect(node?.pricePerHour).toBeGreaterThan(0);
  expect(report.launched - report.terminated).toBe(report.nodes.length);
  expect(report.seconds).toBeGreaterThanOrEqual(4 * 60);
  expect(report.dollars).toBeGreaterThan(0);
});

it("a seed always gives the same report, with the log as JSON too", async () => {
  expect(await reportOf(true)).toEqual(await reportOf(false));
});

it("pods that the API server refuses are told in the story and in the report, and others are played", async () => {
  const lines: string[] = [];
  const reports: LabReport[] = [];
  const file = join(temporaryFolder("lab-refused"), "all.yaml");
  writeFileSync(file, REFUSED);
  const print = (line: string): void => void lines.push(line);
  const onReport = (made: LabReport): void => void reports.push(made);
  await playManifests([file], [], 2, { json: false, colour: false, seed: 1, region: "us-west-2", print, onReport });
  expect(reports[0]?.pods).toEqual([]);
  expect(reports[0]?.refused).toMatchObject([
    { kind: "Pod", name: "alone", message: 'pods "alone" is forbidden: no PriorityClass with name higher was found' },
    { kind: "Deployment", namespace: "default", name: "web" },
  ]);
  const text = lines.join("\n").replaceAll(/\s+/g, " ");
  expect(text).toMatch(/failed to create pods default\/web-\w+ Error creating: .* no PriorityClass with name high was found/);
  expect(text).toMatch(/Deployment default\/web has no pods: .*; apply that PriorityClass, or correct priorityClassName/);
  expect(text).toContain("Pod default/alone was not created: ");
});

it("a node that was launched and has not registered is in the report with its state, its price and the reason", async () => {
  const reports: LabReport[] = [];
  const file = join(temporaryFolder("lab-unregistered"), "all.yaml");
  writeFileSync(file, MADE_UP + MANIFESTS);
  const onReport = (made: LabReport): void => void reports.push(made);
  await playManifests([file], [], 2, { json: true, colour: false, seed: 1, region: "us-west-2", print: () => {}, onReport });
  const [report] = reports;
  expect(report?.nodes).toMatchObject([
    { nodePool: "made-up", state: "NotRegistered", instanceType: "m5.large", pricePerHour: expect.any(Number), pods: 0 },
    { nodePool: "made-up", state: "NotRegistered" },
  ]);
  expect(report?.nodes[0]?.reason).toMatch(/^node made-up-\w+ was launched \S+ ago and has not registered: the user data is empty/);
  expect(report?.nodes.length).toBe(report?.launched);
});
