import { describe, expect, it } from "vitest";
import type { Announcement, AnnouncementKind } from "#core/ports/announcements.ts";
import { play, STORIES } from "../simulation/story.ts";

async function announced(name: string): Promise<readonly Announcement[]> {
  const story = STORIES.find((candidate) => candidate.name === name);
  if (story === undefined) throw new Error(`there is no story ${name}`);
  const { lab } = await play(story, 1);
  lab.close();
  return lab.announcements;
}

const UP: readonly AnnouncementKind[] = ["NodeClaim Launched", "NodeClaim Registered", "NodeClaim Initialized"];
const one = (published: readonly Announcement[], kind: AnnouncementKind) => {
  const found = published.find((announcement) => announcement.kind === kind);
  if (found === undefined) throw new Error(`nothing of kind ${kind}`);
  return found.detail;
};

const nameOf = (detail: Announcement["detail"] | undefined): unknown =>
  (detail?.["NodeClaim"] as { readonly name?: string } | undefined)?.name;

describe("what the lab announces", () => {
  it("a replacement: the removed nodes, their replacements, and the reason", async () => {
    const published = await announced("replace");
    expect(published.map(({ kind }) => kind)).toEqual([...UP, "Nodes Disrupted", ...UP, "NodeClaim Terminated"]);
    const first = one(published, "NodeClaim Launched");
    const disrupted = one(published, "Nodes Disrupted");
    const second = published[4]?.detail;
    expect(first).toMatchObject({ reason: "provisioned", NodePool: { name: "default" }, "price-per-hour": expect.any(Number) });
    expect(disrupted).toMatchObject({
      reason: "underutilized",
      "disrupted-nodes": [{ NodeClaim: first["NodeClaim"], "price-per-hour": first["price-per-hour"] }],
      "replacement-nodeclaims": [nameOf(second)],
      "savings-per-hour": expect.closeTo(Number(first["price-per-hour"]) - Number(second?.["price-per-hour"])),
    });
    expect(second).toMatchObject({ reason: "underutilized", "command-id": disrupted["command-id"] });
    expect(one(published, "NodeClaim Terminated")).toMatchObject({
      NodeClaim: first["NodeClaim"],
      "provider-id": first["provider-id"],
      reason: "underutilized",
    });
    expect(new Set(published.map(({ detail }) => detail["id"])).size).toBe(published.length);
    expect(published.map(({ at }) => at)).toEqual(published.map(({ at }) => at).toSorted((a, b) => a - b));
  });

  it("an interruption: the notice, the replacement, then the end", async () => {
    const published = await announced("interruption");
    const kinds = published.map(({ kind }) => kind);
    expect(kinds.slice(0, 4)).toEqual([...UP, "Node Interrupted"]);
    expect(kinds.slice(4, -1)).toEqual(UP);
    expect(kinds.at(-1)).toBe("NodeClaim Terminated");
    expect(one(published, "Node Interrupted")).toMatchObject({
      messageKind: "spot_interrupted",
      "provider-id": one(published, "NodeClaim Launched")["provider-id"],
      "capacity-type": "spot",
    });
  });
});
