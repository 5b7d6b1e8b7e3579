import type { IncomingMessage } from "node:http";
import type { EventCode } from "@aws-sdk/client-ec2";
import { AwsError } from "./errors.ts";
import type { FakeAws } from "./fake-aws.ts";
import type { Fault } from "./faults.ts";
import type { FakeCluster, ImageRelease } from "./options.ts";
import type { Reply } from "./request.ts";
import type { FakeAwsState } from "./world.ts";

type Order = Readonly<Record<string, unknown>>;

/** The control interface of the fake under `/_fake/`, for a fake in a process of its own. JSON in, JSON out. */
export function control(fake: FakeAws, request: IncomingMessage, body: string): Reply {
  const url = new URL(request.url ?? "/", "http://localhost");
  const name = `${request.method} ${url.pathname.slice("/_fake/".length)}`;
  const handle = ORDERS[name];
  if (!handle) return reply(404, { error: `There is no ${name}; there are: ${Object.keys(ORDERS).join(", ")}.` });
  try {
    return reply(200, handle(fake, { ...Object.fromEntries(url.searchParams), ...(body === "" ? {} : (JSON.parse(body) as Order)) }) ?? {});
  } catch (error) {
    if (error instanceof AwsError || error instanceof SyntaxError) return reply(400, { error: error.message });
    throw error;
  }
}

const reply = (status: number, value: unknown): Reply => ({ status, contentType: "application/json", body: `${JSON.stringify(value)}\n` });

const text = (order: Order, field: string): string => {
  const value = order[field];
  if (typeof value !== "string") throw new AwsError("BadOrder", `The field '${field}' must be a string: send {"${field}": "…"}.`);
  return value;
};

const ORDERS: Readonly<Record<string, (fake: FakeAws, order: Order) => unknown>> = {
  "GET state": (fake) => stateOf(fake.state),
  /** Calls with a number above `after`. */
  "GET calls": (fake, order) => fake.state.calls.filter(({ number }) => number > Number(order["after"] ?? 0)),
  /** EventBridge events from index `after` on. */
  "GET events": (fake, order) => fake.state.events.slice(Number(order["after"] ?? 0)),
  "GET faults": (fake) => fake.faults.list(),
  "POST faults": (fake, order) => {
    text(order, "action");
    return { id: fake.faults.add(order as unknown as Fault) };
  },
  "DELETE faults": (fake, order) => (order["id"] === undefined ? fake.faults.clear() : fake.faults.remove(Number(order["id"]))),
  "POST reset": (fake) => fake.reset(),
  "POST advance": (fake, order) => fake.advance(Number(order["ms"] ?? 0)),
  "POST interrupt": (fake, order) => fake.interrupt(text(order, "instanceId")),
  "POST rebalance": (fake, order) => fake.rebalance(text(order, "instanceId")),
  "POST crash": (fake, order) => fake.crash(text(order, "instanceId")),
  "POST impair": (fake, order) =>
    fake.impair(text(order, "instanceId"), order["check"] === "system" ? "system" : "instance", Number(order["sinceMs"] ?? 0)),
  "POST maintenance": (fake, order) => fake.scheduleMaintenance(text(order, "instanceId"), text(order, "code") as EventCode),
  "POST release": (fake, order) =>
    fake.release({ date: text(order, "date"), bottlerocket: text(order, "bottlerocket") } satisfies ImageRelease),
  "POST price": (fake, order) =>
    fake.changePrice({
      instanceType: text(order, "instanceType"),
      ...(order["zone"] === undefined ? {} : { zone: text(order, "zone") }),
      price: Number(order["price"] ?? Number.NaN),
    }),
  "POST cluster": (fake, order) => Object.assign(fake.cluster, order as Partial<FakeCluster>),
};

/** The state for tests; user data is decoded, and tags are objects. */
function stateOf(world: FakeAwsState): unknown {
  return {
    now: world.clock.now(),
    region: world.region,
    cluster: world.cluster,
    instances: [...world.instances.values()].map(({ tags, launch, ...rest }) => ({ ...rest, tags: Object.fromEntries(tags) })),
    launchTemplates: [...world.launchTemplates.values()].map(({ id, name, tags }) => ({ id, name, tags: Object.fromEntries(tags) })),
    fleets: [...world.fleets.values()].map(({ tags, ...rest }) => ({ ...rest, tags: Object.fromEntries(tags) })),
    instanceProfiles: [...world.instanceProfiles.values()].map(({ tags, ...rest }) => ({ ...rest, tags: Object.fromEntries(tags) })),
    subnets: [...world.subnets.values()].map(({ used, nextHost, tags, ...rest }) => ({ ...rest, tags: Object.fromEntries(tags) })),
    securityGroups: [...world.securityGroups.values()].map(({ tags, ...rest }) => ({ ...rest, tags: Object.fromEntries(tags) })),
    hookErrors: world.hookErrors.map(String),
    calls: world.calls.length,
  };
}
