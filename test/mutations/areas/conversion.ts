import type { Mutation } from "../mutation.ts";

const WEBHOOK = ["test/core/conversion/convert.test.ts"];
const UPGRADE = ["test/core/conversion/upgrade.test.ts"];
const SELECTORS = ["test/core/conversion/selectors.test.ts"];
const MANIFESTS = ["test/cli/convert/convert.test.ts"];
const RULES = ["test/cli/convert/rules.test.ts"];

/** Rules of the conversion from older APIs to v1, each broken in the place that keeps it. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "residue",
    rule: "an annotation keeps what the other version cannot express",
    file: "core/conversion/convert.ts",
    from: "return lost.length === 0 ? result :",
    to: "return lost.length >= 0 ? result :",
    tests: WEBHOOK,
  },
  {
    name: "edit-wins",
    rule: "an edit of the other version wins over the annotation",
    file: "core/conversion/residue.ts",
    from: ": !stale.has(mapOf(part));",
    to: ": true;",
    tests: WEBHOOK,
  },
  {
    name: "moved-item",
    rule: "an item of a list is identified by its content, not by its index",
    file: "core/conversion/residue.ts",
    from: "items.findIndex((item) => equalJson(item, was))",
    to: "-1",
    tests: WEBHOOK,
  },
  {
    name: "identity",
    rule: "the annotation cannot change other metadata",
    file: "core/conversion/residue.ts",
    from: " && isConverted(at);",
    to: ";",
    tests: WEBHOOK,
  },
  {
    name: "never",
    rule: "a NodePool that never consolidated does not start to",
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
    rule: "a reference gets its original form only while it has not changed",
    file: "core/conversion/node-class-ref.ts",
    from: "isJsonObject(written) && equalJson(nodeClassRefToV1(written), ref)",
    to: "isJsonObject(written)",
    tests: WEBHOOK,
  },
  {
    name: "defaults",
    rule: "the defaults that v1alpha5's webhook added are written",
    file: "core/conversion/upgrade/provisioner.ts",
    from: "if (added.length === 0) return;",
    to: "return;",
    tests: UPGRADE,
  },
  {
    name: "quiet-pool",
    rule: "a Provisioner without consolidation becomes a NodePool without consolidation",
    file: "core/conversion/upgrade/provisioner.ts",
    from: 'pool.set(CONSOLIDATE_AFTER, "Never");',
    to: 'pool.set(CONSOLIDATE_AFTER, "0s");',
    tests: UPGRADE,
  },
  {
    name: "shared-class",
    rule: "NodePools without kubelet settings keep an EC2NodeClass that others share",
    file: "core/conversion/upgrade/kubelet.ts",
    from: "groups.find(([first]) => first?.kubelet === undefined) ?? ",
    to: "",
    tests: UPGRADE,
  },
  {
    name: "v1-pool",
    rule: "a v1 NodePool keeps its EC2NodeClass unchanged",
    file: "core/conversion/upgrade/kubelet.ts",
    from: "(isKept ? undefined : groups[0])",
    to: "groups[0]",
    tests: UPGRADE,
  },
  {
    name: "hop-limit",
    rule: "the old default of the hop limit is written",
    file: "core/conversion/upgrade/node-class.ts",
    from: "draft.set(HOP_LIMIT, 2);",
    to: "draft.set(HOP_LIMIT, 1);",
    tests: UPGRADE,
  },
  {
    name: "ids-alone",
    rule: "ids beside other keys get a note and are kept alone",
    file: "core/conversion/upgrade/selectors.ts",
    from: "problems: isAlone ? [] : [mixed]",
    to: "problems: []",
    tests: SELECTORS,
  },
  {
    name: "comments",
    rule: "comments of fields without a successor are kept",
    file: "cli/convert/convert.ts",
    from: "if (placed.has(placeOf(input, path))) return [];",
    to: "return [];",
    tests: MANIFESTS,
  },
  {
    name: "placeholders",
    rule: "placeholders are restored",
    file: "cli/convert/placeholders.ts",
    from: 'placeholders[Number(i)] ?? ""',
    to: '""',
    tests: MANIFESTS,
  },
  {
    name: "strict-terms",
    rule: "for images, a single term with more than its id is refused",
    file: "cli/convert/rules.ts",
    from: "(isStrict || crowded.length === terms.length)",
    to: "crowded.length === terms.length",
    tests: RULES,
  },
];
