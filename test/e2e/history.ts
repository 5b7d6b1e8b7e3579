import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { NODE_CLAIM_TAG } from "#core/model/tags.ts";
import type { FakeInstance } from "./fake-aws/world.ts";
import { LONG } from "./observe.ts";
import { expect } from "./report.ts";
import { CLUSTER, REGION } from "./stage.ts";
import { projectRoot } from "./support/paths.ts";
import { eventually } from "./support/wait.ts";
import type { E2eWorld } from "./world.ts";

// What a person learns from `why` and `history` about what the stories did.

/** Runs `why`, `history` or `report` about the stage's cluster; the text without line breaks. */
export type AskHistory = (command: "why" | "history" | "report", ...words: readonly string[]) => Promise<string>;

const run = promisify(execFile);

/** The environment in which the commands reach the stage's table, and the rest of its account. */
export function personsEnvironment({ dynamodb, ministack, fake }: E2eWorld): Readonly<Record<string, string>> {
  const services = ["EC2", "SSM", "PRICING", "EKS", "IAM"].map((name) => [`AWS_ENDPOINT_URL_${name}`, fake.url]);
  return {
    ...(process.env as Record<string, string>),
    ...Object.fromEntries(services),
    AWS_ENDPOINT_URL: ministack.url,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
}

export function askHistory(world: E2eWorld): AskHistory {
  const env = personsEnvironment(world);
  const table = ["--cluster", CLUSTER, "--table", world.outputs["TableName"] ?? ""];
  return async (command, ...words) => {
    const args = ["--disable-warning=ExperimentalWarning", "cli/main.ts", command, ...words, ...table];
    const { stdout } = await run(process.execPath, args, { cwd: projectRoot, env, maxBuffer: 100_000_000 });
    return words.includes("--json") ? stdout : stdout.replace(/\s+/g, " ");
  };
}

/** The fields of an entry that the checks read. */
interface Told {
  readonly type: string;
  readonly at: number;
  readonly nodeClaim?: string;
  readonly reason?: string;
  readonly sentence: string;
  readonly machine?: { readonly instanceId: string };
}

/**
 * Each machine that was launched for a NodeClaim after `before` and has ended is told once, with its reason; and `why`
 * says the same of so many of them. Returns the number of machines that ended.
 */
export async function expectReasons(
  world: E2eWorld,
  ask: AskHistory,
  { before, since, whys }: { readonly before: ReadonlySet<string>; readonly since: number; readonly whys: number },
): Promise<number> {
  const isEnded = ({ id, state, tags }: FakeInstance): boolean =>
    !before.has(id) && (state === "terminated" || state === "shutting-down") && tags.has(NODE_CLAIM_TAG);
  const ended = [...world.fake.state.instances.values()].filter(isEnded);
  const ends = await eventually(
    "the end of each machine is told",
    async () => {
      const { entries } = JSON.parse(await ask("history", "--since", new Date(since).toISOString(), "--json")) as {
        readonly entries: readonly Told[];
      };
      const found = entries.filter(({ type }) => type === "Removed" || type === "Collected");
      const untold = ended.filter(({ id }) => !found.some(({ machine }) => machine?.instanceId === id));
      if (untold.length === 0) return found;
      throw new Error(`nothing is told of ${untold.map(({ id, tags }) => `${id} (${tags.get(NODE_CLAIM_TAG)})`).join(", ")}`);
    },
    { timeoutMs: LONG, everyMs: 2_000 },
  );
  for (const { id } of ended) {
    const own = ends.filter(({ machine }) => machine?.instanceId === id);
    expect(own.length === 1, () => `${id} is told ${own.length} times: ${own.map(({ sentence }) => sentence).join("; ")}`);
    expect(own[0]?.type === "Collected" || (own[0]?.reason ?? "") !== "", () => `${id} ended without a reason: ${own[0]?.sentence}`);
  }
  for (const { tags } of ended.slice(0, whys)) {
    const text = await ask("why", `nodeclaim/${tags.get(NODE_CLAIM_TAG)}`);
    expect(/ends \(\w+\) because \S|ended: neither a record nor a NodeClaim knew/.test(text), () => text);
  }
  return ended.length;
}

/** A write in a transaction takes two units a KB. */
const UNITS_OF_TRANSACTION = 2;

/** The entries in the table, their bytes, and the write units of that many bytes. */
export async function toldCost({ dynamodb, outputs }: E2eWorld): Promise<{ entries: number; bytes: number; writes: number }> {
  const client = new DynamoDBClient({
    endpoint: dynamodb.url,
    region: REGION,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const cost = { entries: 0, bytes: 0, writes: 0 };
  for await (const { Items = [] } of paginateScan({ client }, { TableName: outputs["TableName"] })) {
    for (const item of Items.filter(({ pk }) => pk?.S?.startsWith("history#"))) {
      const bytes = Object.entries(item).reduce(
        (sum, [name, value]) => sum + name.length + (value.B?.byteLength ?? Buffer.byteLength(value.S ?? value.N ?? JSON.stringify(value))),
        0,
      );
      cost.entries++;
      cost.bytes += bytes;
      cost.writes += UNITS_OF_TRANSACTION * Math.ceil(bytes / 1_024);
    }
  }
  return cost;
}
