import type { Fault } from "../fault.ts";

const TYPES = ["test/core/offerings/instance-types.test.ts"];
const SEEN = ["test/core/offerings/seen-memory.test.ts"];
const KUBELET = ["test/core/launch/kubelet-expressions.test.ts"];
const PRICES = ["test/functions/catalog/prices.test.ts"];
const WIRE = ["test/adapters/aws/prices.test.ts"];
const SHIFT = ["test/functions/catalog/zonal-shift.test.ts"];
const CONFIG = ["test/settings/config.test.ts"];
const WINDOW = ["test/functions/provision/batching-window.test.ts"];
const QUEUE = ["test/adapters/aws/wake-up-queue.test.ts"];

/** Rules of instance types, offerings, prices and settings, each broken in the place that keeps it. */
export const FAULTS: readonly Fault[] = [
  {
    name: "max-pods-of-reservations",
    rule: "an expression in kubeReserved counts with the pod limit that maxPods gives",
    edits: [
      {
        file: "core/offerings/kubelet-of-type.ts",
        find: "variables ??= variablesFor(made);",
        replace: "variables ??= variablesFor(fixed);",
      },
    ],
    foundBy: "unit",
    within: KUBELET,
  },
  {
    name: "type-without-kubelet-value",
    rule: "a type for which an expression of the kubelet has no value is not launched",
    edits: [{ file: "core/offerings/instance-types.ts", find: "boots && problem === undefined && suits(", replace: "boots && suits(" }],
    foundBy: "unit",
    within: KUBELET,
  },
  {
    name: "template-of-another-reservation",
    rule: "types for which the kubelet reserves different amounts have launch templates of their own",
    edits: [
      {
        file: "core/launch/template-groups.ts",
        find: "const names = Object.keys(kubelet[field] ?? {}).filter((name) => amounts[name] !== undefined);",
        replace: "const names: string[] = [];",
      },
    ],
    foundBy: "unit",
    within: KUBELET,
  },
  {
    name: "kubelet-setting-to-false",
    rule: "a kubelet's field that is set to false differs from one that is absent",
    edits: [{ file: "core/node-class/hash.ts", find: "...(other.length > 0 && {", replace: "...(other.length > 99 && {" }],
    foundBy: "unit",
    within: ["test/core/node-class/status.test.ts"],
  },
  {
    name: "graviton-memory",
    rule: "Graviton instances lose 64 MiB more than others",
    edits: [{ file: "core/offerings/capacity.ts", find: 'type.arch === "arm64" ? 64 : 0', replace: "0" }],
    foundBy: "unit",
    within: TYPES,
  },
  {
    name: "cpu-band",
    rule: "half a percent of the third and fourth core is reserved",
    edits: [{ file: "core/offerings/overhead.ts", find: "{ upTo: 4000, share: 0.005 }", replace: "{ upTo: 4000, share: 0.0025 }" }],
    foundBy: "unit",
    within: TYPES,
  },
  {
    name: "metal-hypervisor",
    rule: "bare metal has an empty hypervisor label, not an absent one",
    edits: [{ file: "core/offerings/type-requirements.ts", find: 'type.hypervisor ?? ""', replace: "type.hypervisor" }],
    foundBy: "unit",
    within: TYPES,
  },
  {
    name: "shared-requirement",
    rule: "requirements with equal keys and other values are different objects",
    edits: [
      {
        file: "core/offerings/type-requirements.ts",
        find: 'const text = values.length === 0 ? "," : values.join();',
        replace: 'const text = values.length === 0 ? "," : (values[0] ?? "");',
      },
    ],
    foundBy: "unit",
    within: TYPES,
  },
  {
    name: "spot-stand-in",
    rule: "after spot prices were read, a zone without a spot price has no spot offering",
    edits: [
      {
        file: "core/offerings/instance-types.ts",
        find: 'capacityType === "spot" && catalogue.spot ?',
        replace: 'capacityType === "spot" && catalogue.spot?.[type.name] ?',
      },
    ],
    foundBy: "unit",
    within: TYPES,
  },
  {
    name: "least-memory",
    rule: "the smallest amount of seen memory counts",
    edits: [{ file: "core/offerings/seen-memory.ts", find: "bytes <= known", replace: "bytes >= known" }],
    foundBy: "unit",
    within: SEEN,
  },
  {
    name: "other-images",
    rule: "seen memory holds for the images that it was seen with",
    edits: [{ file: "core/offerings/seen-memory.ts", find: "images === imagesOf(nodeClass) &&", replace: "images !== undefined &&" }],
    foundBy: "unit",
    within: SEEN,
  },
  {
    name: "mixed-prices",
    rule: "prices of another region are never kept beside those of this region",
    edits: [{ file: "functions/catalog/prices.ts", find: "...(!old.standIn && old.onDemand)", replace: "...old.onDemand" }],
    foundBy: "unit",
    within: PRICES,
  },
  {
    name: "isolated-pricing",
    rule: "an isolated VPC does not call the Price List API",
    edits: [{ file: "functions/catalog/prices.ts", find: "return !isolatedVpc &&", replace: "return (!isolatedVpc || region !== '') &&" }],
    foundBy: "unit",
    within: PRICES,
  },
  {
    name: "one-product",
    rule: "a product without a price keeps all old prices",
    edits: [{ file: "adapters/aws/prices.ts", find: "if (found.length === 0) throw", replace: "if (found.length < 0) throw" }],
    foundBy: "unit",
    within: WIRE,
  },
  {
    name: "newest-spot",
    rule: "of two spot prices the newer one counts",
    edits: [
      {
        file: "adapters/aws/prices.ts",
        find: "if (at < (newest.get(key) ?? 0)) continue;",
        replace: "if (at > (newest.get(key) ?? at)) continue;",
      },
    ],
    foundBy: "unit",
    within: WIRE,
  },
  {
    name: "shifted-zone",
    rule: "a mark on a zone covers every type in it",
    edits: [{ file: "core/offerings/unavailable.ts", find: "known.get(key(ANY, zone, capacityType)) ??", replace: "" }],
    foundBy: "unit",
    within: SHIFT,
  },
  {
    name: "shift-end",
    rule: "a zone is unavailable no longer than its zonal shift lasts",
    edits: [{ file: "functions/catalog/zonal-shift.ts", find: "Math.min(until, at + RENEWED_FOR_MS)", replace: "at + RENEWED_FOR_MS" }],
    foundBy: "unit",
    within: SHIFT,
  },
  {
    name: "horizon",
    rule: "a horizon of zero is refused",
    edits: [
      {
        file: "settings/variables.ts",
        find: "ms !== undefined && ms > 0 ? { ms } : undefined",
        replace: "ms !== undefined ? { ms } : undefined",
      },
    ],
    foundBy: "unit",
    within: CONFIG,
  },
  {
    name: "window-by-cause",
    rule: "only wake-ups for unschedulable pods open no second batching window, whatever the names in their text",
    edits: [{ file: "core/passes/batching-window.ts", find: 'reason.cause === "PodsUnschedulable" && ', replace: "" }],
    foundBy: "unit",
    within: WINDOW,
  },
  {
    name: "windows-held-open",
    rule: "pods that come and go do not hold batching windows open for ever",
    edits: [{ file: "core/passes/held-open.ts", find: '? "open" : "overdue"', replace: '? "open" : "open"' }],
    foundBy: "unit",
    within: WINDOW,
  },
  {
    name: "text-beside-the-cause",
    rule: "a wake-up's message has the text that a version logs that does not know its cause",
    edits: [{ file: "adapters/aws/wake-up-queue.ts", find: "{ ...body, reason: reasonText(wakeUp.kind, wakeUp) }", replace: "body" }],
    foundBy: "unit",
    within: QUEUE,
  },
  {
    name: "announced-recurring",
    rule: "a pod that fits nowhere is announced once an hour",
    edits: [
      {
        file: "core/announcements/log-events.ts",
        find: 'identity: ["Pod", "error"], recurring: true',
        replace: 'identity: ["Pod", "error"]',
      },
    ],
    foundBy: "unit",
    within: ["test/functions/shared/announce.test.ts"],
  },
];
