import type { Fault } from "../fault.ts";

const WEBHOOK = ["test/core/conversion/convert.test.ts"];
const UPGRADE = ["test/core/conversion/upgrade.test.ts"];
const SELECTORS = ["test/core/conversion/selectors.test.ts"];
const MANIFESTS = ["test/cli/convert/convert.test.ts"];
const RULES = ["test/cli/convert/rules.test.ts"];

/** Rules of the conversion from older APIs to v1, each broken in the place that keeps it. */
export const FAULTS: readonly Fault[] = [
  {
    name: "residue",
    rule: "an annotation keeps what the other version cannot express",
    edits: [
      { file: "core/conversion/convert.ts", find: "return lost.length === 0 ? result :", replace: "return lost.length >= 0 ? result :" },
    ],
    foundBy: "unit",
    within: WEBHOOK,
  },
  {
    name: "edit-wins",
    rule: "an edit of the other version wins over the annotation",
    edits: [{ file: "core/conversion/residue.ts", find: ": !stale.has(mapOf(part));", replace: ": true;" }],
    foundBy: "unit",
    within: WEBHOOK,
  },
  {
    name: "moved-item",
    rule: "an item of a list is identified by its content, not by its index",
    edits: [{ file: "core/conversion/residue.ts", find: "items.findIndex((item) => equalJson(item, was))", replace: "-1" }],
    foundBy: "unit",
    within: WEBHOOK,
  },
  {
    name: "identity",
    rule: "the annotation cannot change other metadata",
    edits: [{ file: "core/conversion/residue.ts", find: " && isConverted(at);", replace: ";" }],
    foundBy: "unit",
    within: WEBHOOK,
  },
  {
    name: "never",
    rule: "a NodePool that never consolidated does not start to",
    edits: [{ file: "core/conversion/node-pool.ts", find: " || draft.get(CONSOLIDATE_AFTER) !== undefined;", replace: ";" }],
    foundBy: "unit",
    within: WEBHOOK,
  },
  {
    name: "at-least",
    rule: "at least 4 is more than 3",
    edits: [{ file: "core/conversion/claim-template.ts", find: "String(BigInt(bound) - 1n)", replace: "String(BigInt(bound))" }],
    foundBy: "unit",
    within: WEBHOOK,
  },
  {
    name: "stale-reference",
    rule: "a reference gets its original form only while it has not changed",
    edits: [
      {
        file: "core/conversion/node-class-ref.ts",
        find: "isJsonObject(written) && equalJson(nodeClassRefToV1(written), ref)",
        replace: "isJsonObject(written)",
      },
    ],
    foundBy: "unit",
    within: WEBHOOK,
  },
  {
    name: "defaults",
    rule: "the defaults that v1alpha5's webhook added are written",
    edits: [{ file: "core/conversion/upgrade/provisioner.ts", find: "if (added.length === 0) return;", replace: "return;" }],
    foundBy: "unit",
    within: UPGRADE,
  },
  {
    name: "quiet-pool",
    rule: "a Provisioner without consolidation becomes a NodePool without consolidation",
    edits: [
      {
        file: "core/conversion/upgrade/provisioner.ts",
        find: 'pool.set(CONSOLIDATE_AFTER, "Never");',
        replace: 'pool.set(CONSOLIDATE_AFTER, "0s");',
      },
    ],
    foundBy: "unit",
    within: UPGRADE,
  },
  {
    name: "shared-class",
    rule: "NodePools without kubelet settings keep an EC2NodeClass that others share",
    edits: [
      { file: "core/conversion/upgrade/kubelet.ts", find: "groups.find(([first]) => first?.kubelet === undefined) ?? ", replace: "" },
    ],
    foundBy: "unit",
    within: UPGRADE,
  },
  {
    name: "v1-pool",
    rule: "a v1 NodePool keeps its EC2NodeClass unchanged",
    edits: [{ file: "core/conversion/upgrade/kubelet.ts", find: "(isKept ? undefined : groups[0])", replace: "groups[0]" }],
    foundBy: "unit",
    within: UPGRADE,
  },
  {
    name: "hop-limit",
    rule: "the old default of the hop limit is written",
    edits: [{ file: "core/conversion/upgrade/node-class.ts", find: "draft.set(HOP_LIMIT, 2);", replace: "draft.set(HOP_LIMIT, 1);" }],
    foundBy: "unit",
    within: UPGRADE,
  },
  {
    name: "ids-alone",
    rule: "ids beside other keys get a note and are kept alone",
    edits: [{ file: "core/conversion/upgrade/selectors.ts", find: "problems: isAlone ? [] : [mixed]", replace: "problems: []" }],
    foundBy: "unit",
    within: SELECTORS,
  },
  {
    name: "comments",
    rule: "comments of fields without a successor are kept",
    edits: [{ file: "cli/convert/convert.ts", find: "if (placed.has(placeOf(input, path))) return [];", replace: "return [];" }],
    foundBy: "unit",
    within: MANIFESTS,
  },
  {
    name: "placeholders",
    rule: "placeholders are restored",
    edits: [{ file: "cli/convert/placeholders.ts", find: 'placeholders[Number(i)] ?? ""', replace: '""' }],
    foundBy: "unit",
    within: MANIFESTS,
  },
  {
    name: "strict-terms",
    rule: "for images, a single term with more than its id is refused",
    edits: [
      { file: "cli/convert/rules.ts", find: "(isStrict || crowded.length === terms.length)", replace: "crowded.length === terms.length" },
    ],
    foundBy: "unit",
    within: RULES,
  },
];
