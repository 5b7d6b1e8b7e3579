import { afterEach, describe, expect, it } from "vitest";
import { parseCron } from "#core/lib/cron.ts";
import { addResources, fits, maxResources, parseResources, subtractResources } from "#core/model/quantity.ts";
import { aliasOf } from "#core/node-class/family.ts";
import { selects } from "#core/pods/label-selector.ts";
import { labelsCompatible, normalizeKey, requirementsFrom, requirementsFromLabels } from "#core/requirements/requirements.ts";
import { manifestProblems } from "#manifests/check.ts";
import { lookupsOfInherited } from "../support/inherited-key.ts";
import { messages, podsOf } from "../support/lab-story.ts";
import { playKey } from "./key-story.ts";

/** What every plain object inherits: most are lawful label keys, and "constructor" is a lawful name. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype);
const PROBE = "probe-key";

afterEach(() => {
  Reflect.deleteProperty(Object.prototype, PROBE);
});

describe("keys that users write", () => {
  it("no function looks up a user's key on a plain object", async () => {
    const places = await lookupsOfInherited(PROBE, async () => (await playKey(PROBE)).close());
    expect(places).toEqual([]);
  });

  it("a plain lookup of a user's key is found", async () => {
    const labels: Readonly<Record<string, string>> = { app: "web" };
    expect(await lookupsOfInherited(PROBE, async () => labels[PROBE])).toHaveLength(1);
  });

  it('a cluster with the key "constructor" everywhere gets its nodes, and its nodes are consolidated', async () => {
    const lab = await playKey("constructor");
    const waiting = podsOf(lab).filter(({ status }) => status?.phase !== "Running");
    expect(waiting.map(({ metadata }) => metadata.name.split("-")[0])).toEqual(["lacking"]);
    expect(lab.log.filter(({ level }) => level === "error").map(({ message }) => message)).toEqual(
      expect.arrayContaining(["could not schedule pod"]),
    );
    expect(messages(lab)).toContain("deleted nodeclaim");
    lab.close();
  });

  it.for(INHERITED)("the label %s is absent where nobody wrote it, and present where a user did", (key) => {
    expect(normalizeKey(key)).toBe(key);
    const absent = requirementsFrom([{ key, operator: "DoesNotExist" }]);
    const labels = Object.fromEntries([[key, "x"]]);
    expect(labelsCompatible({}, absent)).toBe(true);
    expect(labelsCompatible(labels, absent)).toBe(false);
    expect(labelsCompatible(labels, requirementsFromLabels(labels))).toBe(true);
    expect(selects({ matchExpressions: [{ key, operator: "Exists" }] }, {})).toBe(false);
    expect(selects({ matchLabels: labels }, labels)).toBe(true);
  });

  it.for(INHERITED.filter((name) => name !== "__proto__"))("the resource %s is counted as any other", (name) => {
    const two = parseResources({ [name]: "2" });
    expect(addResources({}, two)[name]).toBe(2000);
    expect(maxResources({}, two)[name]).toBe(2000);
    expect(subtractResources({}, two)[name]).toBe(-2000);
    expect(fits(two, {})).toBe(false);
    expect(fits(two, two)).toBe(true);
  });

  it.for(INHERITED)("%s is no alias, no schedule and no kind", (name) => {
    expect(aliasOf({ amiSelectorTerms: [{ alias: `${name}@latest` }] })).toBeUndefined();
    expect(parseCron(name)).toBeUndefined();
    expect(manifestProblems({ apiVersion: "v1", kind: name, metadata: { name: "x" } })).toEqual([]);
  });
});
