import type { Mutation } from "../mutation.ts";

const TYPES = ["test/core/offerings/instance-types.test.ts"];
const SEEN = ["test/core/offerings/seen-memory.test.ts"];
const PRICES = ["test/functions/catalog/prices.test.ts"];
const WIRE = ["test/adapters/aws/prices.test.ts"];
const SHIFT = ["test/functions/catalog/zonal-shift.test.ts"];
const CONFIG = ["test/settings/config.test.ts"];
const WINDOW = ["test/functions/provision/batching-window.test.ts"];
const QUEUE = ["test/adapters/aws/wake-up-queue.test.ts"];

/** Rules of instance types, offerings, prices and settings, each broken in the place that keeps it. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "graviton-memory",
    rule: "Graviton instances lose 64 MiB more than others",
    file: "core/offerings/capacity.ts",
    from: 'type.arch === "arm64" ? 64 : 0',
    to: "0",
    tests: TYPES,
  },
  {
    name: "cpu-band",
    rule: "half a percent of the third and fourth core is reserved",
    file: "core/offerings/overhead.ts",
    from: "{ upTo: 4000, share: 0.005 }",
    to: "{ upTo: 4000, share: 0.0025 }",
    tests: TYPES,
  },
  {
    name: "metal-hypervisor",
    rule: "bare metal has an empty hypervisor label, not an absent one",
    file: "core/offerings/type-requirements.ts",
    from: 'type.hypervisor ?? ""',
    to: "type.hypervisor",
    tests: TYPES,
  },
  {
    name: "shared-requirement",
    rule: "requirements with equal keys and other values are different objects",
    file: "core/offerings/type-requirements.ts",
    from: 'const text = values.length === 0 ? "," : values.join();',
    to: 'const text = values.length === 0 ? "," : (values[0] ?? "");',
    tests: TYPES,
  },
  {
    name: "spot-stand-in",
    rule: "after spot prices were read, a zone without a spot price has no spot offering",
    file: "core/offerings/instance-types.ts",
    from: 'capacityType === "spot" && catalogue.spot ?',
    to: 'capacityType === "spot" && catalogue.spot?.[type.name] ?',
    tests: TYPES,
  },
  {
    name: "least-memory",
    rule: "the smallest amount of seen memory counts",
    file: "core/offerings/seen-memory.ts",
    from: "bytes <= known",
    to: "bytes >= known",
    tests: SEEN,
  },
  {
    name: "other-images",
    rule: "seen memory holds for the images that it was seen with",
    file: "core/offerings/seen-memory.ts",
    from: "images === imagesOf(nodeClass) &&",
    to: "images !== undefined &&",
    tests: SEEN,
  },
  {
    name: "mixed-prices",
    rule: "prices of another region are never kept beside those of this region",
    file: "functions/catalog/prices.ts",
    from: "...(!old.standIn && old.onDemand)",
    to: "...old.onDemand",
    tests: PRICES,
  },
  {
    name: "isolated-pricing",
    rule: "an isolated VPC does not call the Price List API",
    file: "functions/catalog/prices.ts",
    from: "return !isolatedVpc &&",
    to: "return (!isolatedVpc || region !== '') &&",
    tests: PRICES,
  },
  {
    name: "one-product",
    rule: "a product without a price keeps all old prices",
    file: "adapters/aws/prices.ts",
    from: "if (found.length === 0) throw",
    to: "if (found.length < 0) throw",
    tests: WIRE,
  },
  {
    name: "newest-spot",
    rule: "of two spot prices the newer one counts",
    file: "adapters/aws/prices.ts",
    from: "if (at < (newest.get(key) ?? 0)) continue;",
    to: "if (at > (newest.get(key) ?? at)) continue;",
    tests: WIRE,
  },
  {
    name: "shifted-zone",
    rule: "a mark on a zone covers every type in it",
    file: "core/offerings/unavailable.ts",
    from: "until.get(key(ANY, zone, capacityType)) ??",
    to: "",
    tests: SHIFT,
  },
  {
    name: "shift-end",
    rule: "a zone is unavailable no longer than its zonal shift lasts",
    file: "functions/catalog/zonal-shift.ts",
    from: "Math.min(until, at + RENEWED_FOR_MS)",
    to: "at + RENEWED_FOR_MS",
    tests: SHIFT,
  },
  {
    name: "horizon",
    rule: "a horizon of zero is refused",
    file: "settings/variables.ts",
    from: "ms !== undefined && ms > 0 ? { ms } : undefined",
    to: "ms !== undefined ? { ms } : undefined",
    tests: CONFIG,
  },
  {
    name: "window-by-cause",
    rule: "only wake-ups for unschedulable pods open no second batching window, whatever the names in their text",
    file: "core/passes/batching-window.ts",
    from: 'reason.cause === "PodsUnschedulable" && ',
    to: "",
    tests: WINDOW,
  },
  {
    name: "windows-held-open",
    rule: "pods that come and go do not hold batching windows open for ever",
    file: "core/passes/held-open.ts",
    from: '? "open" : "overdue"',
    to: '? "open" : "open"',
    tests: WINDOW,
  },
  {
    name: "old-text-as-a-whole",
    rule: "the text of an older version's wake-up is recognised as a whole",
    file: "core/ports/wake-up-causes.ts",
    from: "/^(\\d+) pod\\(s\\) unschedulable$/",
    to: "/(.*)unschedulable/",
    tests: WINDOW,
  },
  {
    name: "old-text-beside-the-cause",
    rule: "a wake-up's message keeps the text that older versions read",
    file: "adapters/aws/wake-up-queue.ts",
    from: "{ ...body, reason: reasonText(wakeUp.kind, wakeUp) }",
    to: "body",
    tests: QUEUE,
  },
  {
    name: "announced-recurring",
    rule: "a pod that fits nowhere is announced once an hour",
    file: "core/announcements/log-events.ts",
    from: 'identity: ["Pod", "error"], recurring: true',
    to: 'identity: ["Pod", "error"]',
    tests: ["test/functions/shared/announce.test.ts"],
  },
];
