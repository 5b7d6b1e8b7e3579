import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventCode } from "@aws-sdk/client-ec2";
import { recordWire } from "../support/wire-log.ts";
import { control } from "./control.ts";
import { interrupt, rebalance, scheduleMaintenance, terminate } from "./ec2/instance-life.ts";
import { byIds } from "./ec2/instances.ts";
import { AwsError, unauthorized } from "./errors.ts";
import { type ActiveFault, type FaultBook, throttled, tokenBucket } from "./faults.ts";
import type { AwsEvent, FakeAwsOptions, FakeCluster, ImageRelease } from "./options.ts";
import { changePrice, type PriceChange } from "./prices.ts";
import { type Reply, type Understood, understand } from "./request.ts";
import { type FakeAwsState, makeFakeAwsState, releaseImages } from "./world.ts";

export type FakeAws = {
  /** `http://127.0.0.1:<port>`: the endpoint of every service. */
  readonly url: string;
  readonly port: number;
  /** The state of the region; `reset` makes a new object. */
  readonly state: FakeAwsState;
  readonly faults: FaultBook;
  /** The answer of DescribeCluster; set it when the API server has started. */
  readonly cluster: FakeCluster;
  /** Advances the fake's clock; tasks that are due run at once. */
  advance(ms: number): void;
  /** Sends the spot notice of an instance and terminates it two minutes later. Throws when the id is unknown. */
  interrupt(instanceId: string): AwsEvent;
  rebalance(instanceId: string): AwsEvent;
  /** The instance ends without notice. */
  crash(instanceId: string): void;
  /** Makes DescribeInstanceStatus report a check that has failed for `sinceMs`. */
  impair(instanceId: string, check: "instance" | "system", sinceMs?: number): void;
  /** Plans maintenance, such as `instance-retirement`, two weeks ahead, and sends the AWS Health event. */
  scheduleMaintenance(instanceId: string, code: EventCode): AwsEvent;
  /** Changes the price of a type. Throws when the type has no such price. */
  changePrice(change: PriceChange): void;
  /** Publishes newer machine images. */
  release(release: ImageRelease): void;
  /** Restores the initial state: same options, no instances, no faults, no calls. */
  reset(): void;
  close(): Promise<void>;
};

const MAX_CALLS = 20_000;

/** Starts the fake on 127.0.0.1. Rejects when the port is taken. */
export async function startFakeAws(options: FakeAwsOptions): Promise<FakeAws> {
  let world = makeFakeAwsState(options);
  let mayPass = bucketOf(world);
  const server = createServer((request, response) => {
    serve(fake, (action) => mayPass(action, world.clock.now()), request, response).catch((error: unknown) => {
      // A bug of the fake itself: the text says so, because it must not be mistaken for an answer of AWS.
      response.writeHead(500, { "content-type": "text/plain" });
      response.end(`The fake failed: ${error instanceof Error ? error.stack : String(error)}`);
    });
  });
  const the = (id: string) => {
    const [instance] = byIds(world, [id]);
    if (!instance) throw new AwsError("InvalidInstanceID.NotFound", `no instance ${id}`);
    return instance;
  };
  const fake: FakeAws = {
    get url() {
      return `http://127.0.0.1:${fake.port}`;
    },
    get port() {
      return (server.address() as AddressInfo).port;
    },
    get state() {
      return world;
    },
    get faults() {
      return world.faults;
    },
    get cluster() {
      return world.cluster;
    },
    advance: (ms) => world.clock.advance(ms),
    interrupt: (id) => interrupt(world, the(id)),
    rebalance: (id) => rebalance(world, the(id)),
    crash: (id) => terminate(world, the(id), { code: "Server.InternalError", message: "Server.InternalError: Internal error on launch" }),
    impair(id, check, sinceMs = 0) {
      the(id).impaired[check] = world.clock.now() - sinceMs;
    },
    scheduleMaintenance: (id, code) => scheduleMaintenance(world, the(id), code),
    changePrice: (change) => changePrice(world.prices, change),
    release: (release) => releaseImages(world, release),
    reset() {
      const { cluster } = world;
      world.clock.clear();
      world = makeFakeAwsState({ ...options, cluster });
      mayPass = bucketOf(world);
    },
    async close() {
      world.clock.clear();
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
    },
  };
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  return fake;
}

function bucketOf({ options: { ec2Bucket }, clock }: FakeAwsState): (action: string, now: number) => boolean {
  if (ec2Bucket === undefined) return () => true;
  const buckets = new Map<string, (now: number) => boolean>();
  return (action, now) => {
    const name = typeof ec2Bucket === "function" ? action : "";
    const known = buckets.get(name) ?? tokenBucket(typeof ec2Bucket === "function" ? ec2Bucket(action) : ec2Bucket, clock.now());
    buckets.set(name, known);
    return known(now);
  };
}

async function serve(
  fake: FakeAws,
  mayPass: (action: string) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const body = bytes.toString("utf8");
  if (request.url?.startsWith("/_fake/")) {
    send(response, control(fake, request, body));
    return;
  }
  recordWire(request, bytes);
  const world = fake.state;
  let understood: Understood;
  try {
    understood = understand(world, request, body);
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    send(response, { status: error.status, contentType: "text/plain", body: `${error.code}: ${error.message}` });
    return;
  }
  const { call } = understood;
  if (world.calls.length > MAX_CALLS) world.calls.splice(0, world.calls.length - MAX_CALLS);
  const faults = world.faults.meet(call);
  for (const { delayMs } of faults) if (delayMs !== undefined) await sleep(delayMs);
  if (faults.some(({ dropConnection }) => dropConnection)) {
    call.outcome = "dropped";
    request.socket.destroy();
    return;
  }
  const reply = answer(world, understood, faults, call.service !== "ec2" || mayPass(call.action));
  if (faults.some(({ dropConnectionAfterEffect }) => dropConnectionAfterEffect)) {
    call.outcome = "dropped";
    request.socket.destroy();
    return;
  }
  send(response, reply, call.requestId);
}

function answer(world: FakeAwsState, { call, perform, refuse }: Understood, faults: readonly ActiveFault[], inQuota: boolean): Reply {
  try {
    if (!inQuota || faults.some(({ throttle }) => throttle)) throw throttled(call.service);
    const error = faults.find((fault) => fault.error)?.error;
    if (error) throw new AwsError(error.code, error.message ?? `${error.code} (made by a fault)`, error.status ?? 400);
    const refusal = world.options.authorize?.(call, world);
    if (refusal !== undefined) throw unauthorized(call.service, refusal);
    const reply = perform(world, faults);
    call.outcome = "ok";
    return reply;
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    call.outcome = error.code;
    return refuse(error);
  }
}

function send(response: ServerResponse, { status, contentType, headers, body }: Reply, requestId = ""): void {
  response.writeHead(status, { "content-type": contentType, "x-amzn-requestid": requestId, ...headers });
  response.end(body);
}
