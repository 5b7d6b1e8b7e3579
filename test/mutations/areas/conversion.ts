import type { Mutation } from "../mutation.ts";

const WEBHOOK = ["test/core/conversion/convert.test.ts"];
const UPGRADE = ["test/core/conversion/upgrade.test.ts"];
const SELECTORS = ["test/core/conversion/selectors.test.ts"];
const MANIFESTS = ["test/cli/convert/convert.test.ts"];
const RULES = ["test/cli/convert/rules.test.ts"];

/** Rules of the way from older APIs to v1 (legacy-apis.md), each broken in the place that keeps it. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "residue",
    rule: "what the other version cannot hold is parked",
    file: "core/conversion/convert.ts",
    from: "return lost.length === 0 ? result :",
    to: "return lost.length >= 0 ? result :",
    tests: WEBHOOK,
  },
  {
    name: "edit-wins",
    rule: "an edit of the other version counts more than what was parked",
    file: "core/conversion/residue.ts",
    from: ": !stale.has(mapOf(part));",
    to: ": true;",
    tests: WEBHOOK,
  },
  {
    name: "moved-item",
    rule: "an item of a list is known by what it says, not by its place",
    file: "core/conversion/residue.ts",
    from: "items.findIndex((item) => equalJson(item, was))",
    to: "-1",
    tests: WEBHOOK,
  },
  {
    name: "identity",
    rule: "what is parked cannot change other metadata",
    file: "core/conversion/residue.ts",
    from: " && isConverted(at);",
    to: ";",
    tests: WEBHOOK,
  },
  {
    name: "never",
    rule: "a pool that never consolidated does not begin to",
    file: "core/conversion/node-pool.ts",
    from: " || draft.get(CONSOLIDATE_AFTER) !== undefined;",
    to: ";",
    tests: WEBHOOK,
  },
  {
    name: "at-least",
    rule: "at least 4 is more than 3",
    file: "core/conversion/claim-template.ts",
    from: "String(BigInt(bound) - 1n)",
    to: "String(BigInt(bound))",
    tests: WEBHOOK,
  },
  {
    name: "stale-reference",
    rule: "a reference is only shown as it was once written while it still means the same",
    file: "core/conversion/node-class-ref.ts",
    from: "isJsonObject(written) && equalJson(nodeClassRefToV1(written), ref)",
    to: "isJsonObject(written)",
    tests: WEBHOOK,
  },
  {
    name: "defaults",
    rule: "the defaults that v1alpha5's webhook put in are written out",
    file: "core/conversion/upgrade/provisioner.ts",
    from: "if (added.length === 0) return;",
    to: "return;",
    tests: UPGRADE,
  },
  {
    name: "quiet-pool",
    rule: "a Provisioner that did not consolidate makes a NodePool that does not",
    file: "core/conversion/upgrade/provisioner.ts",
    from: 'pool.set(CONSOLIDATE_AFTER, "Never");',
    to: 'pool.set(CONSOLIDATE_AFTER, "0s");',
    tests: UPGRADE,
  },
  {
    name: "shared-class",
    rule: "NodePools without kubelet settings keep a class that others share",
    file: "core/conversion/upgrade/kubelet.ts",
    from: "groups.find(([first]) => first?.kubelet === undefined) ?? ",
    to: "",
    tests: UPGRADE,
  },
  {
    name: "v1-pool",
    rule: "a NodePool of v1 keeps the class as it is",
    file: "core/conversion/upgrade/kubelet.ts",
    from: "(isKept ? undefined : groups[0])",
    to: "groups[0]",
    tests: UPGRADE,
  },
  {
    name: "hop-limit",
    rule: "the hop limit that was the default is written out",
    file: "core/conversion/upgrade/node-class.ts",
    from: "draft.set(HOP_LIMIT, 2);",
    to: "draft.set(HOP_LIMIT, 1);",
    tests: UPGRADE,
  },
  {
    name: "ids-alone",
    rule: "ids beside other keys are told of, and kept alone",
    file: "core/conversion/upgrade/selectors.ts",
    from: "problems: isAlone ? [] : [mixed]",
    to: "problems: []",
    tests: SELECTORS,
  },
  {
    name: "comments",
    rule: "comments of fields that have no successor are kept",
    file: "cli/convert/convert.ts",
    from: "if (placed.has(placeOf(input, path))) return [];",
    to: "return [];",
    tests: MANIFESTS,
  },
  {
    name: "placeholders",
    rule: "placeholders come back",
    file: "cli/convert/placeholders.ts",
    from: 'placeholders[Number(i)] ?? ""',
    to: '""',
    tests: MANIFESTS,
  },
  {
    name: "strict-terms",
    rule: "for images, one term with more than its id is too many",
    file: "cli/convert/rules.ts",
    from: "(isStrict || crowded.length === terms.length)",
    to: "crowded.length === terms.length",
    tests: RULES,
  },
];
