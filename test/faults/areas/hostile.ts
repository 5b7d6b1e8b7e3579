import type { Fault } from "../fault.ts";

const AMOUNTS = ["test/hostile/amounts.test.ts"];
const AUDIT = ["test/functions/audit/listen.test.ts"];
const BULKHEADS = ["test/hostile/bulkheads.test.ts"];
const REFUSED = ["test/hostile/refused.test.ts"];
const WRITABLE = ["test/hostile/writable.test.ts"];
const FOREIGN = ["test/hostile/foreign-instances.test.ts"];
const IMPOSTER = ["test/hostile/imposter-nodes.test.ts"];
const TWINS = ["test/hostile/twin-claims.test.ts"];
const RECORDS = ["test/hostile/records.test.ts"];
const KEYS = ["test/hostile/keys.test.ts"];
const OWNERS = ["test/lab/other-owners.test.ts"];
const BESIDE = ["test/lab/beside-karpenter.test.ts"];
const NOTICES = ["test/core/interruption/concerns.test.ts"];

/** Rules that keep what one user writes from stopping the others, each broken in the line that keeps it. */
export const FAULTS: readonly Fault[] = [
  {
    name: "inherited-key",
    rule: "a map has only the keys that were written into it",
    edits: [{ file: "core/lib/own-value.ts", find: "Object.hasOwn(map, key) ? map[key] : undefined", replace: "map[key]" }],
    foundBy: "unit",
    within: KEYS,
  },
  {
    name: "inherited-label",
    rule: "a user's label key is looked up among the node's own labels",
    edits: [{ file: "core/scheduling/trial-cluster.ts", find: "ownValue(view?.labels, key)", replace: "view?.labels[key]" }],
    foundBy: "unit",
    within: KEYS,
  },
  {
    name: "unreadable-limit",
    rule: "a NodePool whose limits cannot be read is left out of decisions",
    edits: [
      {
        file: "core/set-aside/amounts.ts",
        find: "const problem = resourcesProblem(limits);",
        replace: "const problem = limits === null ? resourcesProblem(limits) : undefined;",
      },
    ],
    foundBy: "unit",
    within: BULKHEADS,
  },
  {
    name: "unreadable-pod",
    rule: "the node of a running pod that cannot be read takes no further pods",
    edits: [{ file: "core/set-aside/set-aside.ts", find: 'this.#hold(node, "Pod", pod.metadata);', replace: "" }],
    foundBy: "unit",
    within: BULKHEADS,
  },
  {
    name: "bound-of-64-bits",
    rule: "an integer that 64 bits do not hold is no bound",
    edits: [{ file: "core/lib/int64.ts", find: "return magnitude <= MAX_INT64 ? magnitude : undefined;", replace: "return magnitude;" }],
    foundBy: "unit",
    within: AMOUNTS,
  },
  {
    name: "most-of-a-quantity",
    rule: "an amount that Kubernetes does not count is finite",
    edits: [
      {
        file: "core/model/quantity.ts",
        find: "if (leading > MAX_DIGITS) return MAX_MILLI;",
        replace: "if (leading > MAX_DIGITS) return Number.POSITIVE_INFINITY;",
      },
    ],
    foundBy: "unit",
    within: AMOUNTS,
  },
  {
    name: "refused-forever",
    rule: "a NodeClaim that the API server refuses is not planned again at once",
    edits: [{ file: "core/provisioning/refused.ts", find: "now < retryAt(record) ? own : []", replace: "now < 0 ? own : []" }],
    foundBy: "unit",
    within: REFUSED,
  },
  {
    name: "refused-together",
    rule: "pods of other demands are planned without the pod whose NodeClaim was refused",
    edits: [{ file: "core/provisioning/refused.ts", find: "const turns = turnsOf(own);", replace: "const turns = [own];" }],
    foundBy: "unit",
    within: REFUSED,
  },
  {
    name: "refused-changed-pool",
    rule: "a changed NodePool ends the wait after a refusal",
    edits: [
      {
        file: "core/provisioning/refused.ts",
        find: ' || generations.get(record.nodePool ?? "") !== record.nodePoolGeneration',
        replace: "",
      },
    ],
    foundBy: "unit",
    within: REFUSED,
  },
  {
    name: "unwritable-count",
    rule: "no NodeClaim is planned with more requirements than the API server takes",
    edits: [
      {
        file: "core/scheduling/tables/requirement-sets.ts",
        find: "itemsOf(set) <= MAX_ITEMS && valueCharacters(set)",
        replace: "valueCharacters(set)",
      },
    ],
    foundBy: "unit",
    within: WRITABLE,
  },
  {
    name: "unwritable-size",
    rule: "a NodeClaim's requirements have 64 KB of values at most",
    edits: [{ file: "core/scheduling/tables/requirement-sets.ts", find: " && valueCharacters(set) <= MAX_VALUE_CHARACTERS", replace: "" }],
    foundBy: "unit",
    within: ["test/hostile/sizes.test.ts"],
  },
  {
    name: "unwritable-preference",
    rule: "a preference that no NodeClaim can hold is given up",
    edits: [
      {
        file: "core/scheduling/rules/preferences.ts",
        find: "isReadableTerm(preference) && isWritableTerm(preference)",
        replace: "isReadableTerm(preference)",
      },
    ],
    foundBy: "unit",
    within: WRITABLE,
  },
  {
    name: "others-hidden",
    rule: "NodeClaims and NodePools of another controller are hidden from the functions",
    edits: [
      {
        file: "adapters/kubernetes/managed-objects.ts",
        find: "if (everyOwner || !isHidden(kind) ||",
        replace: "if (everyOwner || isHidden(kind) ||",
      },
    ],
    foundBy: "unit",
    within: OWNERS,
  },
  {
    name: "others-in-snapshot",
    rule: "no decision is about another controller's NodeClaims",
    edits: [
      {
        file: "core/model/managed.ts",
        find: "nodeClaims: lists.nodeClaims.filter(isManagedClaim),",
        replace: "nodeClaims: lists.nodeClaims,",
      },
    ],
    foundBy: "unit",
    within: OWNERS,
  },
  {
    name: "others-nodes-collected",
    rule: "another controller's nodes are no garbage",
    edits: [
      {
        file: "functions/lifecycle/sweep.ts",
        find: "registered.filter((node) => !isOthersNode(node))",
        replace: "registered.filter(isOthersNode)",
      },
    ],
    foundBy: "unit",
    within: OWNERS,
  },
  {
    name: "others-launched-adopted",
    rule: "NodeClaims that Karpenter has launched are left alone until `rebuild` adopts them",
    edits: [
      {
        file: "core/lifecycle/identity.ts",
        find: "return status?.providerID !== undefined && metadata.annotations?.[INTENT] === undefined;",
        replace: "return status?.providerID === undefined && metadata.annotations?.[INTENT] === undefined;",
      },
    ],
    foundBy: "unit",
    within: BESIDE,
  },
  {
    name: "beside-karpenter",
    rule: "nothing is launched or disrupted while a Karpenter runs",
    edits: [{ file: "core/model/karpenter-lease.ts", find: "< MAX_RENEWAL_AGE_MS", replace: "< 0" }],
    foundBy: "unit",
    within: BESIDE,
  },
  {
    name: "foreign-adopted",
    rule: "a NodeClaim that names another cluster's instance is not adopted",
    edits: [{ file: "functions/lifecycle/claims.ts", find: "if (foreign !== undefined) {", replace: "if (foreign === null) {" }],
    foundBy: "unit",
    within: FOREIGN,
  },
  {
    name: "foreign-terminated",
    rule: "an instance whose tags name another owner is not terminated",
    edits: [{ file: "core/lifecycle/termination.ts", find: "if (foreign) return foreign;", replace: "if (foreign?.ask) return foreign;" }],
    foundBy: "unit",
    within: FOREIGN,
  },
  {
    name: "imposter-owner",
    rule: "of several nodes with one providerID, the NodeClaim's is the one that was registered",
    edits: [
      {
        file: "core/model/node-owner.ts",
        find: "metadata.name === (registered ?? alike[0]?.metadata.name)",
        replace: "metadata.name === alike.at(-1)?.metadata.name",
      },
    ],
    foundBy: "unit",
    within: IMPOSTER,
  },
  {
    name: "imposter-registered",
    rule: "a node is registered only under a name of its instance",
    edits: [
      {
        file: "core/lifecycle/joining.ts",
        find: "isNameOf(metadata.name, instance));",
        replace: "isNameOf(metadata.name, { id: instance.id }));",
      },
    ],
    foundBy: "unit",
    within: IMPOSTER,
  },
  {
    name: "registration-endless",
    rule: "the registration time-out runs whatever keeps a node from registering",
    edits: [
      {
        file: "core/lifecycle/joining.ts",
        find: "if (!isReady && isRegistrationGivenUp(",
        replace: "if (node === undefined && view.nodes.length === 0 && isRegistrationGivenUp(",
      },
    ],
    foundBy: "unit",
    within: IMPOSTER,
  },
  {
    name: "record-unread",
    rule: "a record that cannot be read is set aside",
    edits: [
      {
        file: "adapters/store/records.ts",
        find: "if (problem === undefined) return [value as NodeClaimRecord];",
        replace: "if (problem !== null) return [value as NodeClaimRecord];",
      },
    ],
    foundBy: "unit",
    within: RECORDS,
  },
  {
    name: "record-newer",
    rule: "a record of a newer schema is not read",
    edits: [{ file: "core/model/read-record.ts", find: "schema > known\n", replace: "schema > known + 1\n" }],
    foundBy: "unit",
    within: RECORDS,
  },
  {
    name: "provider-id-slash",
    rule: "a node whose providerID ends in a slash fails no delivery of signals",
    edits: [
      {
        file: "functions/shared/claims-by-provider-id.ts",
        find: "id === undefined || id.length > MAX_INSTANCE_ID ? undefined : store.byInstance(id)",
        replace: 'store.byInstance(id ?? "")',
      },
    ],
    foundBy: "unit",
    within: RECORDS,
  },
  {
    name: "notice-of-another-account",
    rule: "an interruption message of another account ends no machine",
    edits: [{ file: "core/interruption/concerns.ts", find: "account !== at.account)", replace: 'at.account === "")' }],
    foundBy: "unit",
    within: NOTICES,
  },
  {
    name: "notice-of-1999",
    rule: "an interruption message of long ago ends no machine",
    edits: [{ file: "core/interruption/concerns.ts", find: "if (at.now - time >", replace: "if (time - at.now >" }],
    foundBy: "unit",
    within: NOTICES,
  },
  {
    name: "spot-notice-on-demand",
    rule: "a spot notice ends no on-demand machine",
    edits: [
      {
        file: "core/interruption/concerns.ts",
        find: "instance.capacityType !== capacityType && !isInReservation",
        replace: "instance.capacityType === capacityType && isInReservation",
      },
    ],
    foundBy: "unit",
    within: NOTICES,
  },
  {
    name: "unpacked-without-end",
    rule: "an audit delivery is unpacked up to a limit",
    edits: [{ file: "functions/audit/unpack.ts", find: "if (unpacked > MAX_UNPACKED_BYTES)", replace: "if (unpacked < 0)" }],
    foundBy: "unit",
    within: AUDIT,
  },
  {
    name: "odd-audit-record",
    rule: "an audit record that cannot be read is told",
    edits: [{ file: "functions/audit/listen.ts", find: "this.unreadable++;", replace: "" }],
    foundBy: "unit",
    within: AUDIT,
  },
  {
    name: "twin-seen",
    rule: "decisions do not see a NodeClaim that names the instance of another one's record",
    edits: [
      {
        file: "core/set-aside/set-aside.ts",
        find: "if (owner === undefined) return true;",
        replace: "if (owner === undefined || records.length > 0) return true;",
      },
    ],
    foundBy: "unit",
    within: TWINS,
  },
  {
    name: "twin-kept",
    rule: "a NodeClaim that names another one's instance can be deleted",
    edits: [
      {
        file: "functions/lifecycle/claims.ts",
        find: "(owner.name !== claim.metadata.name || owner.cluster !== cluster.name)",
        replace: "owner.cluster !== cluster.name",
      },
    ],
    foundBy: "unit",
    within: TWINS,
  },
  {
    name: "large-buffer",
    rule: "a large CapacityBuffer takes nothing from a small one",
    edits: [{ file: "core/capacity-buffers/replicas.ts", find: "Math.floor(left / (ascending.length - done))", replace: "left" }],
    foundBy: "unit",
    within: ["test/core/capacity-buffers/resolve.test.ts"],
  },
  {
    name: "buffer-check-chains",
    rule: "all passes of disruption ask for the same next check of CapacityBuffers, so their wake-ups do not multiply",
    edits: [
      {
        file: "functions/disruption/disrupt.ts",
        find: "(Math.floor(now / BUFFER_PERIOD_MS) + 1) * BUFFER_PERIOD_MS",
        replace: "now + BUFFER_PERIOD_MS",
      },
    ],
    foundBy: "unit",
    within: ["test/lab/capacity-buffers.test.ts"],
  },
];
