import { type FieldType, KUBELET_FIELDS } from "#core/node-class/kubelet-fields.ts";

export interface KubeletSample {
  readonly name: string;
  readonly kubelet: Readonly<Record<string, unknown>>;
}

/** Values of each JSON type, odd ones among them. */
const ODD: readonly unknown[] = [
  "",
  "x",
  "5s",
  "1h30m",
  "-1s",
  "500Mi",
  "10%",
  "1e1.5",
  0,
  1,
  -1,
  1.5,
  2147483647,
  2147483648,
  true,
  [],
  ["x"],
  [1],
  {},
  { x: "y" },
  { x: 1 },
];

const RIGHT: Readonly<Record<string, unknown>> = {
  ...{ string: "x", bool: true, int32: 1, int64: 1, uint32: 1, float64: 1.5, duration: "5s", durationOrNanoseconds: "5s", quantity: "1Mi" },
};

/** Each field with each kind of value; nested fields one by one; and the rules that go beyond types. */
export function kubeletSamples(): readonly KubeletSample[] {
  const samples: KubeletSample[] = [];
  const add = (kubelet: Readonly<Record<string, unknown>>): void => void samples.push({ name: `settings ${samples.length + 1}`, kubelet });
  for (const [field, type] of Object.entries(KUBELET_FIELDS)) {
    for (const value of [rightValue(type), ...ODD]) add({ [field]: value });
    for (const value of nestedValues(type)) add({ [field]: value });
    add({ [field.toUpperCase()]: rightValue(type) });
  }
  for (const kubelet of RULES) add(kubelet);
  return samples;
}

function rightValue(type: FieldType): unknown {
  if (typeof type === "string") return RIGHT[type];
  if (Array.isArray(type)) return [rightValue(type[0])];
  return Object.fromEntries(Object.entries(type).map(([name, one]) => [name === "*" ? "a" : name, rightValue(one)]));
}

/** A value for each nested field that has another type than it should. */
function nestedValues(type: FieldType): readonly unknown[] {
  if (typeof type === "string") return [];
  if (Array.isArray(type)) return [...ODD, ...nestedValues(type[0])].map((value) => [value]);
  return Object.entries(type).flatMap(([name, one]) =>
    [...ODD, ...nestedValues(one)].map((value) => ({ [name === "*" ? "a" : name]: value })).concat([{ unknownField: 1 }] as never[]),
  );
}

const THRESHOLDS = [
  "5%",
  "0%",
  "100%",
  "100.5%",
  "-5%",
  "+5%",
  "%",
  "5.5%",
  "1e1%",
  "5 %",
  "100Mi",
  "-1Mi",
  "0",
  "",
  "x",
  "1Gi%",
  ".5%",
  "5.%",
];

const RULES: readonly Readonly<Record<string, unknown>>[] = [
  ...THRESHOLDS.map((text) => ({ evictionHard: { "memory.available": text } })),
  ...THRESHOLDS.map((text) => ({ evictionMinimumReclaim: { "nodefs.available": text } })),
  ...["5s", "-5s", "0", "1d", "", "1m30s"].map((text) => ({
    ...{ evictionSoft: { "memory.available": "1Gi" }, evictionSoftGracePeriod: { "memory.available": text } },
  })),
  { evictionSoft: { "memory.available": "1Gi" } },
  { evictionSoftGracePeriod: { "memory.available": "5s" } },
  { evictionSoft: { "memory.available": "1Gi", "pid.available": "5%" }, evictionSoftGracePeriod: { "memory.available": "5s" } },
  { evictionHard: { "cpu.available": "5%" } },
  ...["1", "-1", "500m", "vcpus * 10", "-vcpus", "", "not an expression"].map((text) => ({ kubeReserved: { cpu: text } })),
  ...["gpu", "pid", "ephemeral-storage", "hugepages-2Mi"].map((name) => ({ systemReserved: { [name]: "1" } })),
  ...[
    [50, 40],
    [40, 50],
    [50, 50],
    [101, 0],
    [100, 0],
    [0, -1],
  ].map(([high, low]) => ({
    ...{ imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low },
  })),
  ...[-1, 0, "vcpus", "-1", "", 110, 2147483648, 1.5, true].map((maxPods) => ({ maxPods })),
  { podsPerCore: -1 },
  { evictionMaxPodGracePeriod: -1 },
  { registerWithTaints: [] },
  { registerWithTaints: null },
  { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" },
];
