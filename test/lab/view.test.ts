import { expect, it } from "vitest";
import { runLab } from "#lab/lab.ts";
import { playStory } from "#lab/play.ts";
import { STORIES } from "#lab/stories.ts";
import { recording } from "#lab/view.ts";

const [inflate] = STORIES;

it("a recorded story has a frame for each second in which something changed, and an overview of each", async () => {
  const { record, source } = recording("The lab");
  const printed: string[] = [];
  const options = { json: false, colour: false, seed: 1, region: "us-west-2", print: (line: string) => void printed.push(line) };
  if (inflate === undefined) throw new Error("there is no story");
  await playStory(inflate, { ...options, recorder: record("inflate", inflate.title) });
  const [story] = source.index().stories ?? [];
  if (story === undefined) throw new Error("no story was recorded");
  const { frames } = story;

  // As it is printed without a recorder.
  const plain: string[] = [];
  await playStory(inflate, { ...options, print: (line) => void plain.push(line) });
  expect(printed).toEqual(plain);

  const launched = frames.findIndex(({ lines }) => lines.some(({ what }) => what === "launched nodeclaim"));
  expect(frames[launched]).toMatchObject({ perHour: 0.096, nodes: 0 });
  expect(await source.scene(frames[launched]?.scene ?? "")).toMatchObject({
    cost: { perHour: 0.096 },
    claims: [{ step: "launched", instanceType: "m5.large", pods: 5 }],
    waiting: [{ state: "coming" }],
  });

  const last = frames.at(-1);
  const end = await source.scene(last?.scene ?? "");
  expect(end?.nodes).toMatchObject([{ state: "ready", instanceType: "m5.large", capacityType: "on-demand", pods: 5 }]);
  expect(end?.pods.waiting).toBe(0);
  const pods = await source.pods(last?.scene ?? "");
  expect(pods?.filter(({ owner }) => owner !== "DaemonSet").map(({ node }) => node)).toEqual(Array(5).fill(end?.nodes[0]?.name));
  expect(frames.every(({ at }, i) => i === 0 || at > (frames[i - 1]?.at ?? 0))).toBe(true);
  expect(await source.scene("no-such-scene")).toBeUndefined();
});

it.for([
  { args: ["--open"], why: "--open is for the page; add --view" },
  { args: ["--port", "1"], why: "--port is for the page; add --view" },
  { args: ["--view", "--json"], why: "--view shows a page and --json prints a log; give one of them" },
])("$args is refused: $why", async ({ args, why }) => {
  await expect(runLab(args)).rejects.toThrow(why);
});
