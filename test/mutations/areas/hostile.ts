import type { Mutation } from "../mutation.ts";

const AMOUNTS = ["test/hostile/amounts.test.ts"];
const BULKHEADS = ["test/hostile/bulkheads.test.ts"];
const REFUSED = ["test/hostile/refused.test.ts"];
const WRITABLE = ["test/hostile/writable.test.ts"];
const FOREIGN = ["test/hostile/foreign-instances.test.ts"];
const IMPOSTER = ["test/hostile/imposter-nodes.test.ts"];
const RECORDS = ["test/hostile/records.test.ts"];
const KEYS = ["test/hostile/keys.test.ts"];

/** Rules that keep what one user writes from stopping the others, each broken in the line that keeps it. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "inherited-key",
    rule: "a map has only the keys that were written into it",
    file: "core/lib/own-value.ts",
    from: "Object.hasOwn(map, key) ? map[key] : undefined",
    to: "map[key]",
    tests: KEYS,
  },
  {
    name: "inherited-label",
    rule: "a user's label key is looked up among the node's own labels",
    file: "core/scheduling/trial-cluster.ts",
    from: "ownValue(view?.labels, key)",
    to: "view?.labels[key]",
    tests: KEYS,
  },
  {
    name: "unreadable-limit",
    rule: "a NodePool whose limits cannot be read is left out of decisions",
    file: "core/set-aside/set-aside.ts",
    from: "const problem = resourcesProblem(limits);",
    to: "const problem = limits === null ? resourcesProblem(limits) : undefined;",
    tests: BULKHEADS,
  },
  {
    name: "unreadable-pod",
    rule: "the node of a running pod that cannot be read takes no further pods",
    file: "core/set-aside/set-aside.ts",
    from: 'held(node, "Pod", pod.metadata);',
    to: "",
    tests: BULKHEADS,
  },
  {
    name: "bound-of-64-bits",
    rule: "an integer that 64 bits do not hold is no bound",
    file: "core/lib/int64.ts",
    from: "return magnitude <= MAX_INT64 ? magnitude : undefined;",
    to: "return magnitude;",
    tests: AMOUNTS,
  },
  {
    name: "most-of-a-quantity",
    rule: "an amount that Kubernetes does not count is finite",
    file: "core/model/quantity.ts",
    from: "if (leading > MAX_DIGITS) return MAX_MILLI;",
    to: "if (leading > MAX_DIGITS) return Number.POSITIVE_INFINITY;",
    tests: AMOUNTS,
  },
  {
    name: "refused-forever",
    rule: "a NodeClaim that the API server refuses is not planned again at once",
    file: "core/provisioning/refused.ts",
    from: "now < retryAt(record) ? own : []",
    to: "now < 0 ? own : []",
    tests: REFUSED,
  },
  {
    name: "refused-together",
    rule: "pods of other demands are planned without the pod whose NodeClaim was refused",
    file: "core/provisioning/refused.ts",
    from: "const turns = turnsOf(own);",
    to: "const turns = [own];",
    tests: REFUSED,
  },
  {
    name: "refused-changed-pool",
    rule: "a changed NodePool ends the wait after a refusal",
    file: "core/provisioning/refused.ts",
    from: ' || generations.get(record.nodePool ?? "") !== record.nodePoolGeneration',
    to: "",
    tests: REFUSED,
  },
  {
    name: "unwritable-count",
    rule: "no NodeClaim is planned with more requirements than the API server takes",
    file: "core/scheduling/tables/requirement-sets.ts",
    from: "both && itemsOf(both) <= MAX_ITEMS ?",
    to: "both ?",
    tests: WRITABLE,
  },
  {
    name: "unwritable-preference",
    rule: "a preference that no NodeClaim can hold is given up",
    file: "core/scheduling/rules/preferences.ts",
    from: "isReadableTerm(preference) && isWritableTerm(preference)",
    to: "isReadableTerm(preference)",
    tests: WRITABLE,
  },
  {
    name: "foreign-adopted",
    rule: "a NodeClaim that names another cluster's instance is not adopted",
    file: "functions/lifecycle/perform.ts",
    from: "if (foreign !== undefined) {",
    to: "if (foreign === null) {",
    tests: FOREIGN,
  },
  {
    name: "foreign-terminated",
    rule: "an instance whose tags name another owner is not terminated",
    file: "core/lifecycle/termination.ts",
    from: "if (foreign) return foreign;",
    to: "if (foreign?.ask) return foreign;",
    tests: FOREIGN,
  },
  {
    name: "imposter-owner",
    rule: "of several nodes with one providerID, the NodeClaim's is the one that was registered",
    file: "core/model/node-owner.ts",
    from: "metadata.name === (registered ?? alike[0]?.metadata.name)",
    to: "metadata.name === alike.at(-1)?.metadata.name",
    tests: IMPOSTER,
  },
  {
    name: "imposter-registered",
    rule: "a node is registered only under a name of its instance",
    file: "core/lifecycle/advance.ts",
    from: "isNameOf(metadata.name, instance));",
    to: "isNameOf(metadata.name, { id: instance.id }));",
    tests: IMPOSTER,
  },
  {
    name: "registration-endless",
    rule: "the registration time-out runs whatever keeps a node from registering",
    file: "core/lifecycle/advance.ts",
    from: "if (!isReady && view.now - record.createdAt",
    to: "if (node === undefined && view.nodes.length === 0 && view.now - record.createdAt",
    tests: IMPOSTER,
  },
  {
    name: "record-unread",
    rule: "a record that cannot be read is set aside",
    file: "functions/adapters/store/records.ts",
    from: "if (problem === undefined) return [value as NodeClaimRecord];",
    to: "if (problem !== null) return [value as NodeClaimRecord];",
    tests: RECORDS,
  },
  {
    name: "record-newer",
    rule: "a record of a newer schema is not read",
    file: "core/model/read-record.ts",
    from: "schema > RECORD_SCHEMA)",
    to: "schema > RECORD_SCHEMA + 1)",
    tests: RECORDS,
  },
  {
    name: "provider-id-slash",
    rule: "a node whose providerID ends in a slash fails no delivery of signals",
    file: "functions/shared/claims-by-provider-id.ts",
    from: "instanceId === undefined || instanceId.length > MAX_INSTANCE_ID ? undefined :",
    to: "instanceId === null ? undefined :",
    tests: RECORDS,
  },
];
