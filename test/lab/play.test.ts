import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type PlayOptions, playManifests } from "#lab/play.ts";
import { ManifestError } from "#manifests/read.ts";
import { MADE_UP } from "../support/made-up-image.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("lab-play");

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const pod = (name: string, spec: string): string => `apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec: { containers: [{ name: c, image: i, resources: { requests: { cpu: 1 } } }], ${spec} }
`;

async function play(
  text: string,
  scalings: Parameters<typeof playManifests>[1] = [],
  { minutes = 2, settings = {} }: { readonly minutes?: number; readonly settings?: NonNullable<PlayOptions["settings"]> } = {},
): Promise<string> {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const options = { json: false, colour: false, seed: 1, region: "us-west-2", print, settings };
  await playManifests([file("all.yaml", text)], scalings, minutes, options);
  return lines.join("\n");
}

describe("the summary says why pods wait", () => {
  it("groups pods by reason", async () => {
    const text = ["a", "b"].map((name) => pod(name, "nodeSelector: { team: blue }")).join("---\n");
    expect(await play(text)).toMatch(/2 pods are pending\. Why:\n {2}default\/a, default\/b: NodePool default: .*team/);
  });

  it("names volumes that do not exist", async () => {
    const text = pod("a", "volumes: [{ name: d, persistentVolumeClaim: { claimName: gone } }]");
    expect(await play(text)).toMatch(/default\/a: PersistentVolumeClaim default\/gone does not exist/);
  });

  it("names NodePools that cannot be used", async () => {
    const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: lonely }
spec: { template: { spec: { requirements: [], nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: gone } } } }
---
`;
    expect(await play(pool + pod("a", ""))).toContain("NodePool lonely cannot be used: there is no EC2NodeClass gone");
  });
});

it("a NodeClass of EKS Auto Mode is reported as not served here", async () => {
  const auto = `apiVersion: eks.amazonaws.com/v1
kind: NodeClass
metadata: { name: neuron }
spec: {}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: neuron }
spec: { template: { spec: { requirements: [], nodeClassRef: { group: eks.amazonaws.com, kind: NodeClass, name: neuron } } } }
---
`;
  const played = (await play(auto + pod("a", ""))).replaceAll(/\s+/g, " ");
  const reason =
    "its nodeClassRef names a NodeClass of group eks.amazonaws.com, which belongs to EKS Auto Mode and is not served here; use an EC2NodeClass of group karpenter.k8s.aws";
  expect(played).toContain("kubectl apply: NodeClass/neuron (belongs to EKS Auto Mode, and has no");
  expect(played).toContain(`NodePool neuron cannot be used: ${reason}`);
  expect(played).toContain(`default/a: no NodePool can launch nodes: neuron cannot be used: ${reason}`);
});

it("an EC2NodeClass that is not ready is named with its cause and fix wherever a pod waits for it", async () => {
  const old = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: old }
spec:
  role: node
  amiSelectorTerms: [{ alias: al2@latest }]
  subnetSelectorTerms: [{ tags: { team: a } }]
  securityGroupSelectorTerms: [{ tags: { team: a } }]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: limited }
spec: { template: { spec: { requirements: [], nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: old } } } }
---
`;
  const played = (await play(old + pod("a", ""))).replaceAll(/\s+/g, " ");
  const cause =
    "EC2NodeClass old is not ready (AMIsReady): there are no AL2 images for Kubernetes 1.33 and later, and the cluster runs 1.36; use al2023@latest without amiFamily AL2, and see that userData suits it";
  expect(played).toContain(`NodePool limited cannot be used: ${cause}`);
  expect(played).toContain(`limited is not Ready: NodeClassReady: UnhealthyDependents: ${cause}`);
});

it("CapacityBuffers are played with their gate on, and the summary shows their status", async () => {
  const template = `apiVersion: v1
kind: PodTemplate
metadata: { name: room }
template: { spec: { containers: [{ name: c, image: i, resources: { requests: { cpu: 1 } } }] } }
---
`;
  const buffer = (name: string, shape: string): string => `apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: { name: ${name} }
spec: { podTemplateRef: { name: ${shape} }, replicas: 2 }
`;
  const published = await play(`${template}${buffer("spare", "room")}---\n${buffer("lost", "gone")}`);
  expect(published).toMatch(/default\/spare +2 +Resolved +FitsExistingCapacity/);
  expect(published).toContain(
    "CapacityBuffer default/lost: PodTemplate default/gone does not exist; create it, or correct spec.podTemplateRef",
  );
  await expect(play(buffer("spare", "room").replace(", replicas: 2", ""))).rejects.toThrow(
    "spec has a podTemplateRef and neither replicas nor limits to say how much; add one of them",
  );
});

it("a setting precedes the gate that a manifest turns on", async () => {
  const overlay = `apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: { name: discount }
spec: { requirements: [{ key: karpenter.sh/capacity-type, operator: In, values: [on-demand] }], priceAdjustment: "-10%" }
---
`;
  const reviewed = (text: string): boolean => !text.includes("NodeOverlay discount is not applied: it has not been looked at yet");
  expect(reviewed(await play(overlay + pod("a", "")))).toBe(true);
  expect(reviewed(await play(overlay + pod("a", ""), [], { settings: { nodeOverlay: false } }))).toBe(false);
});

it("--scale takes StatefulSets too, and an unknown name is an error before anything is played", async () => {
  const db = `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  replicas: 0
  selector: { matchLabels: { app: db } }
  template: { metadata: { labels: { app: db } }, spec: { containers: [{ name: c, image: i, resources: { requests: { cpu: 1 } } }] } }
`;
  expect(await play(db, [{ namespace: "default", name: "db", replicas: 1 }])).toContain("launched nodeclaim");
  const slip = play(db, [{ namespace: "default", name: "bd", replicas: 1 }]);
  await expect(slip).rejects.toThrow(ManifestError);
  await expect(slip).rejects.toThrow(
    '--scale: there is no Deployment or StatefulSet "bd" in namespace "default" among the manifests; give one of db',
  );
});

it("manifests that nothing in the lab reads are marked", async () => {
  const text = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: { name: x }\nspec: {}\n";
  expect(await play(text)).toContain("kubectl apply: Certificate/x (has no part in the lab)");
});

const jobSpec = `template: { spec: { restartPolicy: Never, containers: [{ name: c, image: i, resources: { requests: { cpu: 1 } } }] } }`;

describe("Jobs end", () => {
  const job = `apiVersion: batch/v1
kind: Job
metadata: { name: once }
spec: { ${jobSpec} }
`;

  it("a Job of one pod launches one node, which is removed, and the play ends", async () => {
    const published = await play(job);
    expect(published.match(/launched nodeclaim/g)).toHaveLength(1);
    expect(published).toContain("completed job               default/once  (pods: 1 succeeded)");
    expect(published).toContain("There are no nodes.");
    expect(published).toMatch(/default\/once +Complete +1\/1 +0 /);
    expect(published).not.toContain("The lab stops here");
  });

  it("the play does not end while a pod of a Job runs, however long it runs", async () => {
    const annotated = job.replace(
      "template: {",
      'template: { metadata: { annotations: { lab.karpenter-serverless/run-seconds: "3600" } },',
    );
    expect(await play(annotated)).toMatch(/\+1:\d\d:\d\d +completed job/);
  });

  it("an annotation that is no number of seconds is an error of the manifest", async () => {
    const annotated = job.replace("template: {", 'template: { metadata: { annotations: { lab.karpenter-serverless/run-seconds: "5m" } },');
    await expect(play(annotated)).rejects.toThrow(
      /all\.yaml:1: the annotation lab\.karpenter-serverless\/run-seconds is "5m"; write a number of seconds, as in "300"/,
    );
  });

  const cronJob = (schedule: string): string => `apiVersion: batch/v1
kind: CronJob
metadata: { name: tick }
spec: { schedule: "${schedule}", jobTemplate: { spec: { ${jobSpec} } } }
`;

  it("a CronJob that never leaves the cluster quiet is played for three hours, and the end says so", { timeout: 60_000 }, async () => {
    const published = await play(cronJob("*/2 * * * *"));
    expect(published.match(/started job/g)).toHaveLength(89);
    expect(published).toContain("The lab stops here, after 3 hours of virtual time: CronJobs run again and again.");
  });

  it("a CronJob that leaves the cluster quiet is played until it has run twice", async () => {
    const published = await play(cronJob("*/30 * * * *"));
    expect(published.match(/started job/g)).toHaveLength(2);
    expect(published).not.toContain("The lab stops here");
  });

  it("a CronJob whose first run is later than that is named with the --minutes that play it", async () => {
    expect(await play(cronJob("0 3 * * *"))).toMatch(
      /CronJob default\/tick has not run: its next run is at 2026-01-02T03:00Z; give --minutes 10\d\d to play it/,
    );
  });

  it("a schedule that cannot be read is an error of the manifest", async () => {
    await expect(play(cronJob("often"))).rejects.toThrow('"often" is not a schedule');
  });
});

describe("a node that does not register", () => {
  it("is named with its age, the cause, the fix and what would follow", async () => {
    const published = await play(MADE_UP + pod("a", ""));
    expect(published).toMatch(
      /node made-up-\w+ was launched 3m59s ago and has not registered: the user data is empty: .*\. EC2NodeClass made-up has amiFamily Custom, .*set spec\.amiFamily .*\. After 15 minutes without a registration it is deleted .*--minutes 16 plays it/,
    );
    expect(published).toMatch(/made-up-\w+ +m5\.large +\S+ +\S+ +<not registered> +Unknown/);
    expect(published).toContain("No Nodes found");
    expect(published).toMatch(/default\/a: the pods wait for nodes that are missing: made-up-/);
  });

  it("is launched ever more rarely, and the end says so", { timeout: 60_000 }, async () => {
    const published = await play(MADE_UP + pod("a", ""), [], { minutes: 16 });
    expect(published).toMatch(/made-up launches nothing until \S+ UTC: no node of the last 6 tries has registered/);
  });

  it("is named when EC2 does not launch it", async () => {
    const tooLong = MADE_UP.replace("role: node", `role: node\n  amiFamily: AL2023\n  userData: "${"x".repeat(16_000)}"`);
    const published = await play(tooLong + pod("a", ""));
    expect(published).toMatch(/node made-up-\w+ was planned \S+ ago and has not been launched: userData is \d+ bytes/);
    expect(published).toMatch(/made-up-\w+ .*<not launched>/);
  });

  it("is not planned where no AMI boots its type, and a type that an AMI boots is launched beside it", async () => {
    const published = await play(MADE_UP.replace("m5.large", "m6g.large") + pod("a", ""));
    expect(published).toMatch(/default\/a: .*m6g\.large,? is unavailable.* no AMI of the EC2NodeClass boots it/s);
    const both = await play(MADE_UP.replace("[m5.large]", "[m6gd.large, m5d.xlarge]") + pod("a", ""));
    expect(both).toMatch(/made-up-\w+ +m5d\.xlarge/);
  });
});

it("the timeline shows the pods that give way to pods of higher priority", async () => {
  const priority = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: { name: low }\nvalue: -10\n";
  const deployment = (name: string, replicas: number, spec: string) => `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { containers: [{ name: c, image: i, resources: { requests: { cpu: 1500m } } }], ${spec} }
`;
  const text = [priority, deployment("paused", 1, "priorityClassName: low"), deployment("web", 0, "")].join("---\n");
  const shown = await play(text, [{ namespace: "default", name: "web", replicas: 1 }]);
  expect(shown).toMatch(/preempted pod +default\/paused-\S+ +from\s/);
});
