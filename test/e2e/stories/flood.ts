import { random } from "../../conformance/generate/random.ts";
import { apply, applyPool, deployment, neverConsolidated, reset, scale, unlimited } from "../arrange.ts";
import type { BusEvent } from "../deployment.ts";
import { alive, auditRecords, LONG, list, running } from "../observe.ts";
import { check, expect, figure } from "../report.ts";
import { REGION } from "../stage.ts";
import { awsJson } from "../support/aws-call.ts";
import { nameOf } from "../support/deploy.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";

const MESSAGES = 500;
const MACHINES = 8;
/** Instances that get a single notice, so that a lost notice would show. */
const NOTICED_ONCE = 3;
const NOTICED_OFTEN = 3;
const COPIES = 20;
const UNREADABLE = 20;

const instanceEvent = (type: string, id: string, detail: object = {}): BusEvent => ({
  source: "aws.ec2",
  "detail-type": type,
  resources: [`arn:aws:ec2:${REGION}a:instance/${id}`],
  detail: { "instance-id": id, ...detail },
});

const notice = (id: string): BusEvent => instanceEvent("EC2 Spot Instance Interruption Warning", id, { "instance-action": "terminate" });
const rebalance = (id: string): BusEvent => instanceEvent("EC2 Instance Rebalance Recommendation", id);
const stateChange = (id: string): BusEvent => instanceEvent("EC2 Instance State-change Notification", id, { state: "shutting-down" });
const retirement = (id: string): BusEvent => ({
  source: "aws.health",
  "detail-type": "AWS Health Event",
  resources: [id],
  detail: { service: "EC2", eventTypeCategory: "scheduledChange", affectedEntities: [{ entityValue: id }] },
});

/**
 * Five hundred messages at once: notices for our instances, some once and some repeated, among notices for other
 * instances and malformed messages.
 */
export async function floodStory(world: E2eWorld): Promise<void> {
  await world.registerWebhook();
  await check("a spot NodePool becomes Ready", () => applyPool(world, "spot", neverConsolidated, unlimited));
  await check(`${MACHINES} pods run on a spot machine each`, async () => {
    await apply(world, deployment("apart", MACHINES, { apart: true }));
    await running(world, "default", MACHINES);
  });
  const machines = alive(world);
  const victims = machines.slice(0, NOTICED_ONCE + NOTICED_OFTEN);
  const spared = machines.slice(victims.length);
  const claimOf = new Map(
    (await list(world, "nodeclaims")).map(({ metadata, status }) => [status?.providerID?.split("/").at(-1), metadata.name]),
  );
  const names = new Set(victims.map(({ id }) => claimOf.get(id)));
  await check(`${MESSAGES} interruption messages at once: none is lost, none hits the wrong machine`, async () => {
    const events = flood(
      victims.map(({ id }) => id),
      spared.map(({ id }) => id),
    );
    const from = Date.now();
    await Promise.all([world.putEvents(events), sendUnreadable(world)]);
    figure(`${MESSAGES} interruption messages: time to put them on the bus`, Date.now() - from);
    await eventually("the queue is empty", async () => (await waiting(world, "InterruptionQueue")) === 0, { timeoutMs: LONG });
    figure(`${MESSAGES} interruption messages: from the first to an empty queue`, Date.now() - from);
    const deleted = await eventually(
      "all claims that were told of are deleted",
      () => {
        const found = auditRecords(world, from, (line) => line.includes('"verb":"delete"') && line.includes('"resource":"nodeclaims"'));
        return new Set(found.map(({ objectRef }) => objectRef?.name)).size >= names.size ? found : undefined;
      },
      { timeoutMs: LONG, everyMs: 500 },
    );
    const first = new Map(deleted.map(({ objectRef, stageTimestamp }) => [objectRef?.name, Date.parse(stageTimestamp)] as const).reverse());
    figure(`${MESSAGES} interruption messages: from the first to the last act on a claim`, Math.max(...first.values()) - from);
    const wrong = [...first.keys()].filter((name) => !names.has(name));
    expect(wrong.length === 0, () => `claims that nobody gave notice of: ${wrong.join(" ")}`);
  });
  await check("the machines that were told of are replaced, the others stay", async () => {
    await eventually("the machines end", () => victims.every(({ state }) => state === "terminated"), { timeoutMs: LONG });
    await running(world, "default", MACHINES);
    expect(
      spared.every(({ state }) => state === "running"),
      () => "a machine ended that was only recommended to be rebalanced",
    );
    expect((await waiting(world, "InterruptionDeadLetters")) === 0, () => "messages in the dead-letter queue");
  });
  await check("all pods gone, all machines gone", async () => {
    await scale(world, "apart", 0);
    await reset(world);
    await world.removeWebhook();
  });
}

/** The list in an order that depends only on the seed. */
function flood(victims: readonly string[], spared: readonly string[]): readonly BusEvent[] {
  const source = random("five hundred messages");
  const once = victims.slice(0, NOTICED_ONCE);
  const ours = [
    ...once.map(notice),
    ...victims.slice(NOTICED_ONCE).flatMap((id) => Array.from({ length: COPIES }, () => notice(id))),
    ...spared.flatMap((id) => Array.from({ length: COPIES }, () => rebalance(id))),
  ];
  const foreign = Array.from({ length: MESSAGES - UNREADABLE - ours.length }, (_, i) => {
    const id = `i-0f0e160${i.toString(16).padStart(10, "0")}`;
    return source.pick([notice, rebalance, stateChange, retirement])(id);
  });
  const all = [...ours, ...foreign];
  return source.some(all, all.length);
}

/** Malformed messages, sent to the queue directly. */
async function sendUnreadable(world: E2eWorld): Promise<void> {
  const QueueUrl = world.outputs["InterruptionQueueUrl"];
  const bodies = Array.from({ length: UNREADABLE }, (_, i) => ["{", "[]", '"notice"', '{"version":"0","resources":"i-1"}'][i % 4]);
  await Promise.all(bodies.map((MessageBody) => awsJson(world.ministack, "sqs", "AmazonSQS.SendMessage", { QueueUrl, MessageBody })));
}

/** The number of messages of a queue, given by its logical id, that wait or are being handled. */
async function waiting(world: E2eWorld, queue: string): Promise<number> {
  const input = { QueueName: nameOf(world.names, queue) };
  const { QueueUrl } = await awsJson<{ QueueUrl: string }>(world.ministack, "sqs", "AmazonSQS.GetQueueUrl", input);
  const { Attributes } = await awsJson<{ Attributes: Readonly<Record<string, string>> }>(
    world.ministack,
    "sqs",
    "AmazonSQS.GetQueueAttributes",
    { QueueUrl, AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] },
  );
  return Object.values(Attributes).reduce((sum, value) => sum + Number(value), 0);
}
