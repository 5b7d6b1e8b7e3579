import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { BUNDLED_REGIONS } from "../functions/adapters/catalogue/bundled.ts";
import { ManifestError } from "../functions/adapters/manifests/read.ts";
import { type PlayOptions, playManifests, playStory, type Scaling } from "./play.ts";
import { WIDTH } from "./render.ts";
import { type LabStory, MORE_STORIES, STORIES } from "./stories.ts";

const USAGE = `npm start                         three short stories on the real EC2 catalogue
npm start -- STORY                one of ${[...STORIES, ...MORE_STORIES].map(({ name }) => name).join(", ")}
npm start -- FILE|FOLDER...       your own manifests ("-" is standard input)

  --scale NAME=N                  then scale this Deployment, StatefulSet or static NodePool (NAMESPACE/NAME=N; may be given
                                  several times)
  --minutes N                     a step is over when nothing has changed for so many minutes (5)
  --region NAME                   ${BUNDLED_REGIONS.join(", ")} (us-west-2; ap-northeast-2 in replace and spot-to-spot)
  --seed N                        another course of chance (1)
  --json                          the functions' log as JSON lines
`;

/** Where the lab plays unless a story or --region says otherwise. */
const HOME = "us-west-2";

/** A request that cannot be carried out: one sentence, exit code 2. */
class UsageError extends Error {}

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = read(args);
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const region = values.region === undefined ? undefined : oneOf(values.region, BUNDLED_REGIONS, "--region");
  const options: PlayOptions = {
    json: values.json,
    colour: process.stdout.isTTY === true && !values.json,
    seed: wholeNumber(values.seed, "--seed"),
    region: region ?? HOME,
    width: columns(process.stdout),
    print: (line) => void process.stdout.write(`${line}\n`),
  };
  const story = storyOf(positionals);
  if (positionals.length > 0 && story === undefined) {
    await playManifests(positionals, values.scale.map(scaling), wholeNumber(values.minutes ?? "5", "--minutes"), options);
    if (!options.json && values.scale.length === 0) options.print("\nTry next: --scale NAME=N to see the cluster follow a Deployment.");
    return;
  }
  const idle = values.scale.length > 0 ? "--scale" : values.minutes !== undefined ? "--minutes" : undefined;
  if (idle !== undefined) throw new UsageError(`${idle} is for your own manifests; name their files or folders too.`);
  const stories = (story ? [story] : STORIES).map((each) => ({ ...each, region: region ?? each.region ?? HOME }));
  if (!options.json) {
    const where = [...new Set(stories.map((each) => each.region))].join(" and ");
    options.print(
      `The real handlers on a virtual clock; EC2 and the cluster are simulated, types and on-demand prices are those of ${where} (spot prices are made up).`,
    );
  }
  for (const each of stories) await playStory(each, { ...options, region: each.region });
  if (!options.json) options.print("\nTry next: npm start -- your-manifests/ --scale NAME=10 plays your own cluster's manifests.");
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h", default: false },
        json: { type: "boolean", default: false },
        minutes: { type: "string" },
        region: { type: "string" },
        scale: { type: "string", multiple: true, default: [] as string[] },
        seed: { type: "string", default: "1" },
      },
    });
  } catch (error) {
    // Node's own messages go on for several sentences.
    const [first = ""] = (error instanceof Error ? error.message : String(error)).split(/\.\s/);
    throw new UsageError(`${first.replace(/\.$/, "")}; see npm start -- --help.`);
  }
}

/** A story that is asked for by its name; a file or folder of that name comes first. */
function storyOf([name, ...others]: readonly string[]): LabStory | undefined {
  if (name === undefined || others.length > 0 || existsSync(name)) return undefined;
  return [...STORIES, ...MORE_STORIES].find((story) => story.name === name);
}

/** Of a terminal, from 80 on; 120 where the output goes elsewhere or there is more room. */
function columns({ isTTY, columns: given }: NodeJS.WriteStream): number {
  return isTTY === true && given > 0 ? Math.min(WIDTH, Math.max(80, given)) : WIDTH;
}

function wholeNumber(text: string, option: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new UsageError(`${option} takes a whole number above 0, not "${text}".`);
}

function oneOf<T extends string>(text: string, choices: readonly T[], option: string): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw new UsageError(`${option} is one of ${choices.join(", ")}, not "${text}".`);
}

function scaling(text: string): Scaling {
  const [, namespace = "default", name, replicas] = /^(?:([^/=]+)\/)?([^/=]+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined) throw new UsageError(`--scale takes NAME=N or NAMESPACE/NAME=N, not "${text}".`);
  return { namespace, name, replicas: Number(replicas) };
}

// A reader that has seen enough (`| head`) is no fault of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  await main(process.argv.slice(2));
} catch (error) {
  const plain = error instanceof UsageError || error instanceof ManifestError;
  process.stderr.write(`${error instanceof Error ? (plain ? error.message : error.stack) : String(error)}\n`);
  process.exitCode = plain ? 2 : 1;
}
