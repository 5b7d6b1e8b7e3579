import { manifests } from "#infra/manifests.ts";
import type { InstallationPorts, KubeObject, LiveSettings, LoggedError } from "#installer/account/ports.ts";
import { objectsOf } from "#installer/install/apply-manifests.ts";
import { VERSION } from "#settings/version.ts";
import { keyOf, ROLE, SECRET, World } from "../install/world.ts";

export const NOW = Date.parse("2026-11-24T12:00:00Z");
export const minutesAgo = (minutes: number): number => NOW - minutes * 60_000;
export const timeOf = (ms: number): string => new Date(ms).toISOString();

const FUNCTIONS = ["notify", "provision", "lifecycle", "interruption", "disruption", "catalog"];
const QUEUES = ["Provision", "Claims", "Disruption", "Catalog", "Interruption"];

/** A cluster and a stack that work, of which a test breaks one thing. */
export class Installed extends World {
  readonly errors = new Map<string, LoggedError>();
  /** Messages by the URL of the queue. */
  readonly depths = new Map<string, number>();
  readonly disabled = new Set<string>();
  /** Points of a metric by "NAME VALUE-OF-A-DIMENSION"; of a sweep, one a minute ago. */
  readonly metrics = new Map<string, number>();
  sweptAt: number | undefined = minutesAgo(1);
  prices: string | undefined = timeOf(minutesAgo(120));
  /** Of the stack. */
  createdAt = minutesAgo(60 * 24);
  quota = 1_000;
  httpStatus = 403;

  constructor() {
    super();
    this.outputs = { ...this.outputs, Version: VERSION, TableName: "table-1", ProvisionRoleArn: "arn:aws:iam::1:role/provision" };
    this.stack = { status: "UPDATE_COMPLETE", templateUrl: "", outputs: this.outputs };
    this.resources = [
      ...FUNCTIONS.map((name) => ({ name, type: "AWS::Lambda::Function", id: `karpenter-serverless-${name}` })),
      ...QUEUES.flatMap((name) => [
        { name: `${name}Queue1A2B`, type: "AWS::SQS::Queue", id: `https://sqs/1/${name}Queue` },
        { name: `${name}DeadLetters1A2B`, type: "AWS::SQS::Queue", id: `https://sqs/1/${name}DeadLetters` },
      ]),
      { name: "ProvisionSource7", type: "AWS::Lambda::EventSourceMapping", id: "uuid-of-provision" },
      { name: "SpotInterruptionRule7", type: "AWS::Events::Rule", id: "karpenter-serverless-SpotRule" },
      { name: "ProvisionSweep", type: "AWS::Scheduler::Schedule", id: "karpenter-serverless-provision-sweep" },
    ];
    const all = objectsOf(manifests({ cluster: "c1", notifyUrl: "https://notify.example", notifyToken: SECRET }));
    for (const object of [...all, pool("default", READY), nodeClass("default", READY)]) this.put(object);
  }

  put(object: object): void {
    const made = object as KubeObject;
    this.objects.set(keyOf(made), made);
  }

  /** What a person has not changed by hand. */
  readonly live: { -readonly [Question in keyof LiveSettings]: LiveSettings[Question] } = unchanged();

  installationPorts(changed: Partial<InstallationPorts["account"]> = {}): InstallationPorts {
    const { account, stacks, clusterApi, clusterRecords, secret } = this.ports(changed);
    return {
      ...{ account, clusterApi, clusterRecords, secret, now: () => NOW, records: () => this.records },
      stacks: {
        ...stacks,
        describe: async (name) => {
          const found = await stacks.describe(name);
          return found && { ...found, createdAt: this.createdAt };
        },
      },
      inspector: {
        lastError: async (name) => this.errors.get(name),
        depth: async (url) => this.depths.get(url) ?? 0,
        isScheduleEnabled: async (name) => !this.disabled.has(name),
        metric: async ({ name, dimensions }) => {
          if (name === "AsyncEventsReceived") return this.sweptAt === undefined ? [] : [{ at: this.sweptAt, value: 1 }];
          const value = this.metrics.get([name, Object.values(dimensions).at(-1)].join(" ").trim());
          return value === undefined ? [] : [{ at: minutesAgo(1), value }];
        },
        ec2Quota: async () => this.quota,
        pricesAsOf: async () => this.prices,
        get: async () => this.httpStatus,
      },
      live: this.live,
    };
  }
}

/** Parts of a stack as its template makes them, in a network with NAT. */
export const unchanged = (): LiveSettings => ({
  recursiveLoop: async () => "Allow",
  reservedConcurrency: async () => undefined,
  isSourceEnabled: async () => true,
  isRuleEnabled: async () => true,
  logGroupClass: async () => "STANDARD",
  network: async () => ({ withoutWayOut: [], endpoints: [] }),
});

export const READY = [{ type: "Ready", status: "True" }];

const ref = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };

export const pool = (name: string, conditions: readonly object[]): object => ({
  ...{ apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name } },
  ...{ spec: { template: { spec: { nodeClassRef: ref } } }, status: { conditions } },
});

export const nodeClass = (name: string, conditions: readonly object[]): object => ({
  ...{ apiVersion: "karpenter.k8s.aws/v1", kind: "EC2NodeClass", metadata: { name } },
  ...{ spec: { role: ROLE.slice(ROLE.lastIndexOf("/") + 1) }, status: { conditions } },
});

export const claim = (name: string, made: number, conditions: readonly object[]): object => ({
  ...{ apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name, creationTimestamp: timeOf(made) } },
  ...{ spec: { nodeClassRef: ref }, status: { conditions } },
});

/** A pod that kube-scheduler finds no node for. */
export const waitingPod = (name: string, since: number): object => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "shop" }, spec: { containers: [] } },
  status: {
    phase: "Pending",
    conditions: [
      { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes fit", lastTransitionTime: timeOf(since) },
    ],
  },
});
