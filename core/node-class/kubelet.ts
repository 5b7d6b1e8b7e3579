import { parseDuration } from "../lib/duration.ts";
import { isJsonObject, type JsonObject, mapAt } from "../lib/json.ts";
import { listed } from "../lib/listed.ts";
import type { AmiFamily } from "../model/node-class.ts";
import { amountProblem, parseQuantity } from "../model/quantity.ts";
import { FAMILIES } from "./family.ts";
import { COMMON_KUBELET_FIELDS, KUBELET_FIELDS } from "./kubelet-fields.ts";
import { typeProblems } from "./kubelet-types.ts";

const SIGNALS = ["memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree", "pid.available"];
const RESERVABLE = ["cpu", "memory", "ephemeral-storage", "pid"];
const PERCENTAGE = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%$/i;

/**
 * Why no node can be launched with these kubelet settings, one sentence for each problem: the fields and types of
 * KubeletConfiguration, and what a kubelet refuses or ignores without a word. Expressions are checked apart
 * (karpenter-provider-aws: pkg/apis/v1/kubeletconfiguration_validation.go, ValidateKubeletConfig).
 */
export function kubeletProblems(kubelet: unknown): readonly string[] {
  if (kubelet === undefined || kubelet === null) return [];
  if (!isJsonObject(kubelet)) return ["spec.kubelet: it must be a map of settings"];
  const { registerWithTaints, maxPods = null, ...others } = kubelet;
  // A text is an expression.
  const fields = typeof maxPods === "string" ? others : { ...others, maxPods };
  return [
    ...typeProblems(fields, KUBELET_FIELDS, "spec.kubelet"),
    ...(registerWithTaints === undefined
      ? []
      : [
          "spec.kubelet.registerWithTaints: it is made of each NodeClaim's taints; take it out, and use taints and startupTaints of the NodePool",
        ]),
    ...["evictionHard", "evictionSoft", "evictionMinimumReclaim"].flatMap((field) => signalProblems(kubelet, field, thresholdProblem)),
    ...signalProblems(kubelet, "evictionSoftGracePeriod", graceProblem),
    ...lacking(kubelet, "evictionSoft", "evictionSoftGracePeriod"),
    ...lacking(kubelet, "evictionSoftGracePeriod", "evictionSoft"),
    ...["kubeReserved", "systemReserved"].flatMap((field) => reservedProblems(kubelet, field)),
    ...rangeProblems(kubelet),
  ];
}

/**
 * Which settings images of a family do not take, one sentence for each. AL2023 takes all; with Custom the user's own
 * user data configure the kubelet
 * (karpenter-provider-aws: pkg/controllers/nodeclass/validation.go, validateKubeletFieldsSupported).
 */
export function unsupportedKubelet(kubelet: Readonly<Record<string, unknown>> | undefined, family: AmiFamily): readonly string[] {
  if (kubelet === undefined || family === "AL2023" || family === "Custom") return [];
  const fields = Object.keys(kubelet).filter(
    (field) => !COMMON_KUBELET_FIELDS.has(field) || (field === "podsPerCore" && !FAMILIES[family].honoursPodsPerCore),
  );
  const { clusterDNS } = kubelet;
  return [
    ...(fields.length === 0
      ? []
      : [`spec.kubelet: images of ${family} cannot set ${listed(fields.sort())}; take out what they cannot set`]),
    ...(Array.isArray(clusterDNS) && clusterDNS.length > 1
      ? [`spec.kubelet.clusterDNS: images of ${family} take one address, and ${clusterDNS.length} are given; leave one`]
      : []),
  ];
}

/** The entries of a map that are strings; types are checked apart. */
const textsOf = (kubelet: JsonObject, field: string): readonly (readonly [string, string])[] =>
  Object.entries(mapAt(kubelet, [field])).filter((entry): entry is [string, string] => typeof entry[1] === "string");

function signalProblems(kubelet: JsonObject, field: string, problemOf: (text: string) => string | undefined): readonly string[] {
  return textsOf(kubelet, field).flatMap(([signal, text]) => {
    const problem = problemOf(text);
    return [
      ...(SIGNALS.includes(signal) ? [] : [`spec.kubelet.${field}: ${signal} is none of ${SIGNALS.join(", ")}; take it out`]),
      ...(problem === undefined ? [] : [`spec.kubelet.${field}[${signal}]: ${problem}`]),
    ];
  });
}

function thresholdProblem(text: string): string | undefined {
  const quoted = JSON.stringify(text);
  if (text.endsWith("%")) {
    const isShare = PERCENTAGE.test(text) && Number.parseFloat(text) <= 100;
    return isShare ? undefined : `${quoted} is not a percentage from 0% to 100%`;
  }
  let amount = 0;
  const unreadable = amountProblem(() => {
    amount = parseQuantity(text);
  });
  return unreadable ?? (amount < 0 ? `${quoted} is negative` : undefined);
}

function graceProblem(text: string): string | undefined {
  const duration = parseDuration(text);
  if (duration === undefined) return `${JSON.stringify(text)} is not a duration like 30s or 1m30s`;
  return duration < 0 ? `${JSON.stringify(text)} is negative` : undefined;
}

function lacking(kubelet: JsonObject, field: string, other: string): readonly string[] {
  const others = new Set(Object.keys(mapAt(kubelet, [other])));
  return Object.keys(mapAt(kubelet, [field]))
    .filter((name) => !others.has(name))
    .map((name) => `spec.kubelet.${field}: ${name} needs one in ${other} too; add it, or take this one out`);
}

function reservedProblems(kubelet: JsonObject, field: string): readonly string[] {
  return textsOf(kubelet, field).flatMap(([resource, text]) => {
    return [
      ...(RESERVABLE.includes(resource) ? [] : [`spec.kubelet.${field}: ${resource} is none of ${RESERVABLE.join(", ")}; take it out`]),
      ...(text.startsWith("-") ? [`spec.kubelet.${field}[${resource}]: ${JSON.stringify(text)} is negative`] : []),
    ];
  });
}

function rangeProblems(kubelet: JsonObject): readonly string[] {
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = kubelet;
  const outside = (fields: readonly string[], most: number, range: string): readonly string[] =>
    fields.flatMap((field) => {
      const value = kubelet[field];
      return typeof value === "number" && (value < 0 || value > most) ? [`spec.kubelet.${field}: ${value} ${range}`] : [];
    });
  return [
    ...outside(["imageGCHighThresholdPercent", "imageGCLowThresholdPercent"], 100, "is not from 0 to 100"),
    ...outside(["podsPerCore", "evictionMaxPodGracePeriod", "maxPods"], Number.POSITIVE_INFINITY, "is negative"),
    ...(typeof high === "number" && typeof low === "number" && high <= low
      ? [
          `spec.kubelet: imageGCHighThresholdPercent (${high}) must be greater than imageGCLowThresholdPercent (${low}); older versions took them equal`,
        ]
      : []),
  ];
}
