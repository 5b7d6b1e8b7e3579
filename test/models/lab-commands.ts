import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { IAMClient } from "@aws-sdk/client-iam";
import { PricingClient } from "@aws-sdk/client-pricing";
import { SQSClient } from "@aws-sdk/client-sqs";
import { SSMClient } from "@aws-sdk/client-ssm";
import { ec2Client } from "#adapters/aws/clients.ts";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { awsInventory } from "#adapters/aws/inventory.ts";
import { sqsWakeUps } from "#adapters/aws/wake-up-queue.ts";
import { nodeClaimStore } from "#adapters/store/node-claim-store.ts";
import { dynamoTable } from "#adapters/store/table-dynamodb.ts";
import { embeddedTable } from "#adapters/store/table-embedded.ts";
import { createLab } from "#lab/host.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { deployment, NODE_CLASS, nodePool, ON_DEMAND, SPOT, START } from "../simulation/story.ts";

// Plays stories in the lab with the whole catalogue, and makes the commands for which the functions' calls of EC2, of
// the queues and of the table stand: those of a real account in kind and size. Nothing is sent. A child of main.ts,
// which records the commands (record-commands.ts).

const REGION = "us-west-2";
const config = { region: REGION, credentials: { accessKeyId: "AKIALAB", secretAccessKey: "secret" } };

/** A client whose calls end before anything is sent, with an answer without a member. */
function silent<Client extends { readonly middlewareStack: { add(...args: never[]): void } }>(client: Client): Client {
  const answer = () => async () => ({ response: {}, output: { $metadata: {} } });
  (client.middlewareStack.add as (middleware: unknown, options: object) => void)(answer, { step: "initialize", priority: "high" });
  return client;
}

const ec2 = silent(ec2Client(REGION, config.credentials));
const url = (name: string) => `https://sqs.${REGION}.amazonaws.com/111122223333/${name}`;
const real: Readonly<Record<string, object>> = {
  fleet: ec2Fleet(ec2),
  inventory: awsInventory({
    ec2,
    ssm: silent(new SSMClient(config)),
    pricing: silent(new PricingClient(config)),
    iam: silent(new IAMClient(config)),
  }),
  wakeUps: sqsWakeUps({
    queues: { provision: url("provision.fifo"), claim: url("claims"), disruption: url("disruption"), catalog: url("catalog") },
    now: Date.now,
    client: silent(new SQSClient(config)),
  }),
};
const table = dynamoTable({ name: "karpenter-serverless", client: silent(new DynamoDBClient(config)) });

const made: Promise<unknown>[] = [];
/**
 * Makes the commands of a call. The empty answer may be one that the adapter throws at; the command is made by then.
 */
function repeat(port: object, method: string, args: readonly unknown[]): void {
  const call: unknown = Reflect.get(port, method);
  if (typeof call === "function") made.push((async () => Reflect.apply(call, port, args))().catch(() => undefined));
}

/** A table on SQLite of which each call is repeated as DynamoDB's. */
function repeatedTable(now: () => number) {
  const embedded = embeddedTable({ now });
  return new Proxy(embedded, {
    get(target, property, receiver) {
      const value: unknown = Reflect.get(target, property, receiver);
      if (typeof value !== "function" || typeof property !== "string") return value;
      return (...args: readonly unknown[]): unknown => {
        repeat(table, property, args);
        return Reflect.apply(value, target, args);
      };
    },
  });
}

const classOf = (spec: object): ApiObject => ({ ...NODE_CLASS, spec: { ...(NODE_CLASS["spec"] as object), ...spec } });
const DISKS = [
  {
    deviceName: "/dev/xvda",
    rootVolume: true,
    ebs: { volumeSize: "80Gi", volumeType: "gp3", iops: 4000, throughput: 250, encrypted: true },
  },
];
const WINDOWS = { key: "kubernetes.io/os", operator: "In", values: ["windows"] };

const STORIES: Readonly<Record<string, readonly ApiObject[]>> = {
  "on demand, all types": [NODE_CLASS, nodePool([ON_DEMAND])],
  "spot, all types": [NODE_CLASS, nodePool([SPOT])],
  "either, all types": [NODE_CLASS, nodePool([])],
  "Bottlerocket with metadata options": [
    classOf({
      amiSelectorTerms: [{ alias: "bottlerocket@latest" }],
      metadataOptions: { httpTokens: "optional", httpPutResponseHopLimit: 2 },
    }),
    nodePool([ON_DEMAND]),
  ],
  "a class with disks and tags": [
    classOf({
      blockDeviceMappings: DISKS,
      tags: { team: "a" },
      detailedMonitoring: true,
      associatePublicIPAddress: true,
      instanceStorePolicy: "RAID0",
    }),
    nodePool([SPOT]),
  ],
  Windows: [classOf({ amiSelectorTerms: [{ alias: "windows2022@latest" }] }), nodePool([ON_DEMAND, WINDOWS])],
};

const MINUTE = 60_000;
for (const objects of Object.values(STORIES)) {
  const repeated = new Set(Object.keys(real));
  const before = ({ port, method, args }: PortCall): undefined => {
    if (repeated.has(port)) repeat(real[port] ?? {}, method, args);
  };
  let clock = (): number => START;
  const store = {
    ...nodeClaimStore(
      repeatedTable(() => clock()),
      { clock: () => clock() },
    ),
    close: () => undefined,
  };
  const lab = createLab({ seed: 1, start: START, region: REGION, sources: ["notify"], hooks: { before }, store });
  clock = lab.world.clock.now;
  for (const object of [...objects, deployment(0, { cpu: "3", memory: "4Gi" })]) lab.world.apply(object);
  const pass = (ms: number) => lab.world.clock.run({ until: lab.world.clock.now() + ms });
  await pass(2 * MINUTE);
  for (const replicas of [60, 10, 0]) {
    lab.world.scale("Deployment", "default", "inflate", replicas);
    await pass(6 * MINUTE);
  }
  lab.close();
}
await Promise.all(made);
