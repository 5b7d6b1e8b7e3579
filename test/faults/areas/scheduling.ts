import type { Fault } from "../fault.ts";

const SOLVE = ["test/core/scheduling/solve.test.ts"];
const ALTERNATIVE_TERMS = ["test/core/scheduling/alternative-terms.test.ts"];
const WEIGHTS_AND_LIMITS = ["test/core/scheduling/weights-and-limits.test.ts"];
const PRICE_CAPS = ["test/core/scheduling/price-caps.test.ts"];
const TOPOLOGY = ["test/core/scheduling/problem/topology.test.ts"];
const ALL_DIFFERENT = ["test/core/scheduling/all-different.test.ts"];
const OPTIMAL_PARTS = ["test/core/scheduling/packing/optimal-packer.test.ts"];
const REQUIREMENTS = ["test/core/requirements/requirement.test.ts", "test/core/requirements/requirements.property.test.ts"];

/** Rules of the scheduler, each broken in the line that keeps it. */
export const FAULTS: readonly Fault[] = [
  {
    name: "steps-of-an-attempt",
    rule: "an attempt that has taken its steps compares pods with few claims",
    edits: [
      {
        file: "core/scheduling/claims/cheapest-claim.ts",
        find: "if (this.#evaluation.isSpent) this.#quoteForYoungest",
        replace: "if (quotes.limit < 0) this.#quoteForYoungest",
      },
    ],
    foundBy: "unit",
    within: ALL_DIFFERENT,
  },
  {
    name: "steps-of-packing",
    rule: "a packer that has taken its steps proposes no further nodes",
    edits: [{ file: "core/scheduling/packing/packer.ts", find: "if (this.isSpent) return batches;", replace: "" }],
    foundBy: "unit",
    within: ALL_DIFFERENT,
  },
  {
    name: "labels-shared",
    rule: "pods that word a NodePool's own label differently share nodes",
    edits: [
      {
        file: "core/scheduling/packing/shared-labels.ts",
        find: "...[...named].sort().map((value) => suits((item) => has(item, value))),",
        replace: "",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/packing/shared-labels.test.ts"],
  },
  {
    name: "optimal-parts",
    rule: "no packing of a few pods is cheaper than the optimal one",
    edits: [
      {
        file: "core/scheduling/packing/optimal-packer.ts",
        find: "if (total < (spent[next] ?? 0)) {",
        replace: "if ((spent[next] ?? 0) === Number.POSITIVE_INFINITY) {",
      },
    ],
    foundBy: "unit",
    within: OPTIMAL_PARTS,
  },
  {
    name: "optimal-below",
    rule: "nodes that must cost less than a known packing do so",
    edits: [{ file: "core/scheduling/packing/optimal-packer.ts", find: "if ((spent[0] ?? 0) > below) before[0] = NO_STATE;", replace: "" }],
    foundBy: "unit",
    within: OPTIMAL_PARTS,
  },
  {
    name: "optimal-host-rules",
    rule: "an optimal packing keeps the rules about hosts",
    edits: [
      {
        file: "core/scheduling/packing/optimal-packer.ts",
        find: "return present <= maxPresent;",
        replace: "return present <= maxPresent + 1;",
      },
    ],
    foundBy: "unit",
    within: OPTIMAL_PARTS,
  },
  {
    name: "merged-kinds",
    rule: "pods that exclude a few types of their own are packed as one kind",
    edits: [
      {
        file: "core/scheduling/packing/merged-kinds.ts",
        find: "return isWide ? { set: wide",
        replace: "return pools.length < 0 ? { set: wide",
      },
    ],
    foundBy: "unit",
    within: ALL_DIFFERENT,
  },
  {
    name: "upper-bound",
    rule: "the intersection of two upper bounds is the smaller one",
    edits: [
      {
        file: "core/requirements/requirement.ts",
        find: "lte: least(a.lte, b.lte), minValues",
        replace: "lte: most(a.lte, b.lte), minValues",
      },
    ],
    foundBy: "unit",
    within: REQUIREMENTS,
  },
  {
    name: "gt-is-strict",
    rule: "Gt excludes its own number",
    edits: [
      {
        file: "core/requirements/requirement.ts",
        find: "integerOf(key, operator, values) + 1n",
        replace: "integerOf(key, operator, values)",
      },
    ],
    foundBy: "unit",
    within: REQUIREMENTS,
  },
  {
    name: "not-in",
    rule: "two NotIn exclude the values of both",
    edits: [
      {
        file: "core/requirements/requirement.ts",
        find: "within([...a.values, ...b.values], () => true)",
        replace: "within([...a.values], () => true)",
      },
    ],
    foundBy: "unit",
    within: REQUIREMENTS,
  },
  {
    name: "absent-label",
    rule: "Exists does not hold for a node without the label",
    edits: [
      { file: "core/requirements/requirement.ts", find: "return r.complement === r.values.size > 0;", replace: "return r.complement;" },
    ],
    foundBy: "unit",
    within: REQUIREMENTS,
  },
  {
    name: "taint-effect",
    rule: "a toleration of one effect does not cover another",
    edits: [
      {
        file: "core/pods/taints.ts",
        find: 'if (toleration.effect !== undefined && toleration.effect !== "" && toleration.effect !== taint.effect) return false;',
        replace: "",
      },
    ],
    foundBy: "unit",
    within: ["test/core/pods/taints.test.ts"],
  },
  {
    name: "prefer-no-schedule",
    rule: "PreferNoSchedule is tolerated at the last relaxation step",
    edits: [{ file: "core/scheduling/rules/preferences.ts", find: "tolerations = [...tolerations, TOLERATE_SOFT];", replace: "" }],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "or-terms",
    rule: "OR-ed terms are tried one after another",
    edits: [
      { file: "core/scheduling/rules/preferences.ts", find: "while (required.length > 1) {", replace: "while (required.length > 9) {" },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "relaxation-order",
    rule: "preferences are relaxed by weight, the heaviest first",
    edits: [{ file: "core/scheduling/rules/preferences.ts", find: "b.weight - a.weight", replace: "a.weight - b.weight" }],
    foundBy: "unit",
    within: ["test/core/scheduling/rules/preferences.test.ts"],
  },
  {
    name: "new-daemons",
    rule: "a new node keeps room for the DaemonSets that run on it",
    edits: [
      { file: "core/scheduling/problem/template.ts", find: "allocatable - (overheads[groupOf[t] ?? 0]?.[r] ?? 0)", replace: "allocatable" },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "daemons-to-come",
    rule: "an existing node keeps room for DaemonSet pods that do not run yet",
    edits: [
      { file: "core/scheduling/problem/existing-node.ts", find: "subtractResources(free, positive(stillExpected))", replace: "free" },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "skew-on-nodes",
    rule: "maxSkew holds on existing nodes",
    edits: [
      {
        file: "core/scheduling/problem/topology-state.ts",
        find: "this.#minCount(group, podData) <= group.maxSkew",
        replace: "this.#minCount(group, podData) <= group.maxSkew + 1",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "skew-of-claims",
    rule: "maxSkew holds on new nodes",
    edits: [
      {
        file: "core/scheduling/problem/topology-state.ts",
        find: "(counts.get(domain) ?? 0) + own - minCount <= group.maxSkew",
        replace: "(counts.get(domain) ?? 0) + own - minCount <= group.maxSkew + 1",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "min-domains",
    rule: "with fewer domains than minDomains the lowest count is 0",
    edits: [
      {
        file: "core/scheduling/problem/topology-state.ts",
        find: "supported < (group.minDomains ?? 0) ? 0 : lowest",
        replace: "supported < 0 ? 0 : lowest",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "inverse",
    rule: "anti-affinity of running pods keeps the selected pods away",
    edits: [
      {
        file: "core/scheduling/problem/problem.ts",
        find: "const deciding = [...new Set([...owned, ...keptAway])];",
        replace: "const deciding = [...new Set([...owned, ...keptAway.slice(0, 0)])];",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "host-ports",
    rule: "two pods with the same host port do not share a node",
    edits: [
      { file: "core/scheduling/rules/host-ports.ts", find: "return a.port === b.port && ", replace: "return a.port === b.port + 1 && " },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "host-network-ports",
    rule: "a DaemonSet on the host network takes its container ports before it has a pod",
    edits: [
      {
        file: "core/scheduling/rules/host-ports.ts",
        find: "hostPort || (hostNetwork && containerPort)",
        replace: "hostPort || (!hostNetwork && containerPort)",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/reasons"],
  },
  {
    name: "volume-zone",
    rule: "a pod is placed where its volume can be used",
    edits: [
      {
        file: "core/scheduling/problem/pod-class.ts",
        find: "reachable.map((set) => sets.intern(withoutHost(set)))",
        replace: "reachable.slice(0, 0).map((set) => sets.intern(withoutHost(set)))",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "volume-limit",
    rule: "a node attaches no more volumes than its CSI driver allows",
    edits: [{ file: "core/scheduling/problem/existing-node.ts", find: "if (together.size > limit) return false;", replace: "" }],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "limits",
    rule: "a type larger than what the limits leave is not used",
    edits: [
      {
        file: "core/scheduling/claims/limits.ts",
        find: "> (left[r] ?? 0) + (charge?.[r] ?? 0)) return false;",
        replace: "< 0) return false;",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "limits-of-claims",
    rule: "whatever types the claims of a plan become, their sum is within the limits",
    edits: [
      {
        file: "core/scheduling/claims/limits.ts",
        find: "if (isCut) claim.keepTypes(types);",
        replace: "if (isCut && types.length < 0) claim.keepTypes(types);",
      },
    ],
    foundBy: "unit",
    within: WEIGHTS_AND_LIMITS,
  },
  {
    name: "limits-for-the-next-run",
    rule: "further types take no more than half of what is left",
    edits: [
      { file: "core/scheduling/claims/limits.ts", find: "MAX_SHARE_FOR_FURTHER_TYPES = 0.5", replace: "MAX_SHARE_FOR_FURTHER_TYPES = 1" },
    ],
    foundBy: "unit",
    within: WEIGHTS_AND_LIMITS,
  },
  {
    name: "min-values-of-excluded-values",
    rule: "minValues count no zone that the pod excludes",
    edits: [
      {
        file: "core/scheduling/claims/min-values.ts",
        find: "return item === undefined ? values :",
        replace: "return item !== undefined ? values :",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/solve.test.ts"],
  },
  {
    name: "volumes-without-limit",
    rule: "a new node gets no more volumes than its type attaches",
    edits: [
      {
        file: "core/scheduling/tables/resource-columns.ts",
        find: "volumeLimit * 1000",
        replace: "volumeLimit * 1_000_000",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/solve.test.ts"],
  },
  {
    name: "limits-keep-min-values",
    rule: "minValues hold when claims are cut",
    edits: [
      {
        file: "core/scheduling/claims/limits.ts",
        find: "return [cheapest, ...neededForMinValues(template, possible, set)];",
        replace: "return [cheapest, ...neededForMinValues(template, possible.slice(0, 0), set)];",
      },
    ],
    foundBy: "unit",
    within: WEIGHTS_AND_LIMITS,
  },
  {
    name: "limits-in-flight",
    rule: "a claim that is not launched yet counts against its pool's limits",
    edits: [{ file: "core/scheduling/problem/template.ts", find: "if (named.has(name)) setBit(types, t);", replace: "" }],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "weights",
    rule: "the pool of the highest weight is tried first",
    edits: [{ file: "core/scheduling/problem/template.ts", find: "weightOf(b) - weightOf(a)", replace: "weightOf(a) - weightOf(b)" }],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "weight-before-planned-claims",
    rule: "room on a planned node of a lighter pool does not draw a pod from a heavier pool",
    edits: [
      {
        file: "core/scheduling/problem/template.ts",
        find: "...Map.groupBy(templates, ({ rank }) => rank).values(),",
        replace: "templates,",
      },
    ],
    foundBy: "unit",
    within: WEIGHTS_AND_LIMITS,
  },
  {
    name: "weight-before-price",
    rule: "of two plans, the one with fewer pods in lighter pools is better, whatever it costs",
    edits: [
      {
        file: "core/scheduling/search.ts",
        find: "if (ours !== theirs) return theirs < ours ? b : a;",
        replace: "if (ours + theirs < 0) return a;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/search.test.ts"],
  },
  {
    name: "price-within-a-weight",
    rule: "of pools with one weight, the cheapest takes the pod",
    edits: [
      {
        file: "core/scheduling/claims/new-claim.ts",
        find: "if (takesFirst) return best;",
        replace: "if (takesFirst || best !== undefined) return best;",
      },
    ],
    foundBy: "unit",
    within: WEIGHTS_AND_LIMITS,
  },
  {
    name: "min-values",
    rule: "a claim has as many values as minValues requires",
    edits: [{ file: "core/scheduling/claims/evaluation.ts", find: "values.size >= min", replace: "values.size >= 1" }],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "in-flight-nodes",
    rule: "a launched NodeClaim without a Node takes pods before a new one is launched",
    edits: [
      {
        file: "core/scheduling/problem/node-view.ts",
        find: "if (!joined.has(id)) views.push(",
        replace: "if (!joined.has(id) && views.length < 0) views.push(",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "startup-taints",
    rule: "startup and ephemeral taints of a starting node do not keep pods away",
    edits: [
      {
        file: "core/scheduling/problem/node-view.ts",
        find: "initialized ? taints : taints.filter((taint) => !hidden(taint))",
        replace: "taints",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "deleting-pods",
    rule: "pods of a node that is marked for deletion are planned",
    edits: [
      {
        file: "core/scheduling/problem/pending-pods.ts",
        find: "views.filter((view) => view.markedForDeletion).flatMap(",
        replace: "views.slice(0, 0).flatMap(",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "deleting-destination",
    rule: "a node that is marked for deletion takes no pods",
    edits: [
      {
        file: "core/scheduling/problem/problem.ts",
        find: "present.filter(({ markedForDeletion }) => !markedForDeletion)",
        replace: "present",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "nominated",
    rule: "a pod that is nominated to a claim is not planned again",
    edits: [
      {
        file: "core/scheduling/problem/pending-pods.ts",
        find: "if (snapshot.nominated.has(podUid(pod)) || snapshot.displaced?.has(podUid(pod))) continue;",
        replace: "if (snapshot.displaced?.has(podUid(pod))) continue;",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "unavailable",
    rule: "an unavailable offering is not used",
    edits: [
      {
        file: "core/scheduling/tables/offering-table.ts",
        find: "if (!offering.available || isUsedUp(offering)) continue;",
        replace: "if (isUsedUp(offering)) continue;",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "first-of-its-kind",
    rule: "a pod with required affinity is placed without matching pods only if it matches its own terms",
    edits: [{ file: "core/scheduling/problem/topology-state.ts", find: "if (!podData.self.has(group)) return false;", replace: "" }],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "init-containers",
    rule: "a pod needs room for the largest of its init containers",
    edits: [{ file: "core/model/pod-requests.ts", find: "maxResources(running, initPeak)", replace: "running" }],
    foundBy: "unit",
    within: ["test/core/model/pod-requests.test.ts"],
  },
  {
    name: "resize-in-place",
    rule: "a pod that is resized in place holds what its containers still run with",
    edits: [
      {
        file: "core/model/pod-requests.ts",
        find: "state?.resources === undefined ? wanted :",
        replace: "state?.resources === undefined || true ? wanted :",
      },
    ],
    foundBy: "unit",
    within: ["test/core/model/pod-requests.test.ts", "test/core/scheduling/kube-scheduler.test.ts"],
  },
  {
    name: "limits-as-requests",
    rule: "a limit in the template of a DaemonSet stands for a missing request",
    edits: [{ file: "core/scheduling/problem/daemon-overhead.ts", find: "{ spec: admittedSpec(template.spec) }", replace: "template" }],
    foundBy: "unit",
    within: ["test/core/scheduling/kube-scheduler.test.ts"],
  },
  {
    name: "namespaces",
    rule: "affinity terms select only pods of their namespaces",
    edits: [
      {
        file: "core/scheduling/rules/topology-group.ts",
        find: 'if (group.namespaces !== undefined && !group.namespaces.has(pod.metadata.namespace ?? "default")) return false;',
        replace: "",
      },
    ],
    foundBy: "unit",
    within: TOPOLOGY,
  },
  {
    name: "node-taints-policy",
    rule: "nodeTaintsPolicy Honor does not count nodes whose taints the pod does not tolerate",
    edits: [
      {
        file: "core/scheduling/problem/topology.ts",
        find: 'const honorsTaints = constraint.nodeTaintsPolicy === "Honor";',
        replace: "const honorsTaints = false;",
      },
    ],
    foundBy: "unit",
    within: TOPOLOGY,
  },
  {
    name: "match-label-keys",
    rule: "matchLabelKeys distinguish generations of a Deployment",
    edits: [
      {
        file: "core/pods/label-selector.ts",
        find: "if (selector === undefined || keys === undefined || keys.length === 0) return selector;",
        replace: "if (selector !== null) return selector;",
      },
    ],
    foundBy: "unit",
    within: TOPOLOGY,
  },
  {
    name: "arrivals",
    rule: "no other pod gets the room of pods that are nominated to a launched claim",
    edits: [{ file: "core/scheduling/problem/problem.ts", find: "[...others, ...expected]", replace: "[...others]" }],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "type-of-a-reservation",
    rule: "a pod that selects a type of capacity reservation gets no other capacity",
    edits: [{ file: "core/requirements/offerings.ts", find: "    allows(reservationType, offering.reservationType) &&", replace: "" }],
    foundBy: "unit",
    within: ["test/core/scheduling/reserved-capacity.test.ts"],
  },
  {
    name: "lowered-min-values",
    rule: "under BestEffort a NodeClaim asks for no more values than its types have",
    edits: [{ file: "core/scheduling/claims/assemble.ts", find: "minValues: Math.min(minValues, size)", replace: "minValues" }],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "volumes-of-a-host",
    rule: "no node is bought for a volume that only a host by name can use",
    edits: [
      {
        file: "core/scheduling/problem/pod-class.ts",
        find: "if (volumeAlternatives.length > 0 && reachable.length === 0) return undefined;",
        replace: "",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "blocking-budget",
    rule: "pods that a disruption budget blocks for good are not planned",
    edits: [{ file: "core/pods/disruption-budget.ts", find: "blockOf(pod, pdbs, blocksForever) === undefined", replace: "true" }],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "unhealthy-pods-of-a-budget",
    rule: "a budget that always lets unhealthy pods go holds no pod that is not ready",
    edits: [{ file: "core/pods/disruption-budget.ts", find: "isUnhealthyAndFree(pod, pdb) || ", replace: "" }],
    foundBy: "unit",
    within: ["test/core/pods/predicates.test.ts"],
  },
  {
    name: "daemons-of-types",
    rule: "a DaemonSet takes room only of the instance types that it runs on",
    edits: [
      {
        file: "core/scheduling/problem/daemon-overhead.ts",
        find: "table.keepAgreeing(types, intersectAll(labels, wanted).values());",
        replace: "",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "huge-pages",
    rule: "huge pages of an instance type leave its pods less memory",
    edits: [
      { file: "core/scheduling/tables/resource-columns.ts", find: 'if (name === "memory") this.#subtractHugePages(column);', replace: "" },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/tables/resource-columns.test.ts"],
  },
  {
    name: "types-of-a-group",
    rule: "an instance type is in one group of DaemonSets",
    edits: [{ file: "core/scheduling/problem/daemon-overhead.ts", find: "removeAll(others, running);", replace: "" }],
    foundBy: "unit",
    within: ["test/core/scheduling/problem/daemon-overhead.test.ts"],
  },
  {
    name: "ignored-preferences",
    rule: "PREFERENCE_POLICY Ignore ignores all preferences",
    edits: [
      {
        file: "core/scheduling/rules/preferences.ts",
        find: 'const respect = policy !== "Ignore";',
        replace: "const respect = policy !== undefined;",
      },
    ],
    foundBy: "unit",
    within: SOLVE,
  },
  {
    name: "kept-nominations",
    rule: "a pod keeps the NodeClaim that it was planned for",
    edits: [
      {
        file: "core/scheduling/keep-nominations.ts",
        find: "const left = kept.fill(kept.keep(items, own));",
        replace: "const left = kept.fill(items);",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/keep-nominations.test.ts"],
  },
  {
    name: "exchanged-places",
    rule: "pods that wait exchange places when a displaced pod does not fit into the room that is left",
    edits: [
      { file: "core/scheduling/keep-nominations.ts", find: "if (left.length === 0) return kept.found;", replace: "return kept.found;" },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/keep-nominations.test.ts"],
  },
  {
    name: "unsettled-plan",
    rule: "a displaced pod is planned once all nodes of its plan have started",
    edits: [
      {
        file: "core/scheduling/keep-nominations.ts",
        find: "return !initialized && !markedForDeletion && now < at + MAX_START_MS ? [at] : [];",
        replace: "return [];",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/keep-nominations.test.ts"],
  },
  {
    name: "nomination-window",
    rule: "a nomination ends 20 s after the node is initialized",
    edits: [{ file: "core/provisioning/nominations.ts", find: "now < initializedAt + NOMINATION_MS", replace: "now > 0" }],
    foundBy: "unit",
    within: ["test/core/provisioning/nominations.test.ts"],
  },
  {
    name: "no-hold",
    rule: "a node that starts together with others takes no pods before its own are nominated to it",
    edits: [{ file: "core/lifecycle/hold.ts", find: "return now < until ? until : undefined;", replace: "return undefined;" }],
    foundBy: "unit",
    within: ["test/core/lifecycle/hold.test.ts"],
  },
  {
    name: "held-for-ever",
    rule: "a node that does not become Ready is held for a bounded time",
    edits: [{ file: "core/lifecycle/hold.ts", find: "return now < until ? until : undefined;", replace: "return until;" }],
    foundBy: "unit",
    within: ["test/core/lifecycle/hold.test.ts"],
  },
  {
    name: "no-wait-for-others",
    rule: "a node that is Ready waits for others that start with it",
    edits: [{ file: "core/lifecycle/hold.ts", find: "others.some((other) => isStarting(other, now))", replace: "others.length < 0" }],
    foundBy: "unit",
    within: ["test/core/lifecycle/hold.test.ts"],
  },
  {
    name: "opened-one-by-one",
    rule: "nodes that are Ready take pods together",
    edits: [
      {
        file: "core/lifecycle/hold.ts",
        find: "if (waiting.length === 0 || isOverdue) return undefined;",
        replace: "if (waiting.length >= 0) return undefined;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/lifecycle/hold.test.ts"],
  },
  {
    name: "opened-for-ever",
    rule: "a node is opened alone when nobody opens it with the others",
    edits: [
      {
        file: "core/lifecycle/hold.ts",
        find: "if (waiting.length === 0 || isOverdue) return undefined;",
        replace: "if (waiting.length === 0) return undefined;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/lifecycle/hold.test.ts"],
  },
  {
    name: "preferences-at-any-price",
    rule: "PREFERENCE_POLICY Weigh gives up preferences that cost more than their share",
    edits: [{ file: "core/scheduling/weigh-preferences.ts", find: "if (all <= most) return", replace: "if (all >= 0) return" }],
    foundBy: "unit",
    within: ["test/core/scheduling/weigh-preferences.test.ts"],
  },
  {
    name: "preferences-all-or-nothing",
    rule: "of several preferences those that cost little are kept",
    edits: [
      {
        file: "core/scheduling/weigh-preferences.ts",
        find: "if (maxSkew !== undefined) kept.set(rule, maxSkew);",
        replace: "if (rule === undefined) kept.set(rule, 0);",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/weigh-preferences.test.ts"],
  },
  {
    name: "spreads-all-or-nothing",
    rule: "PREFERENCE_POLICY Weigh loosens a spread as far as it must and gives it up only then",
    edits: [{ file: "core/scheduling/weigh-preferences.ts", find: "...(isSpread(rule) ? largerSkews(sample.length) : [])", replace: "" }],
    foundBy: "unit",
    within: ["test/core/scheduling/weigh-preferences.test.ts"],
  },
  {
    name: "alternative-terms-without-preferences",
    rule: "each of OR-ed terms of node affinity is tried without preferences",
    edits: [
      {
        file: "core/scheduling/rules/preferences.ts",
        find: "for (const term of terms.slice(0, -1)) {",
        replace: "for (const term of terms.slice(0, 0)) {",
      },
    ],
    foundBy: "unit",
    within: ALTERNATIVE_TERMS,
  },
  {
    name: "opened-domains",
    rule: "a domain that a planned node opens counts in hard spreads, whichever term allows it",
    edits: [{ file: "core/scheduling/search.ts", find: "if (more.length === 0) break;", replace: "if (more.length >= 0) break;" }],
    foundBy: "unit",
    within: ALTERNATIVE_TERMS,
  },
  {
    name: "undecided-affinity",
    rule: "no pod begins a domain of its affinity where another that the affinity selects has none yet",
    edits: [
      {
        file: "core/scheduling/solve.ts",
        find: "const open = undecidedAffinity(found);",
        replace: "const open = undecidedAffinity(found) && undefined;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/undecided-affinity.test.ts"],
  },
  {
    name: "open-domains-only",
    rule: "pods with OR-ed terms that fit nowhere otherwise count only the domains that have a node",
    edits: [
      {
        file: "core/scheduling/problem/topology-state.ts",
        find: "this.#countsOpenDomains && podData.isAlternative",
        replace: "false as boolean",
      },
    ],
    foundBy: "unit",
    within: ALTERNATIVE_TERMS,
  },
  {
    name: "impossible-domains",
    rule: "a hard spread does not wait for domains that no pool can ever have for the pods",
    edits: [
      {
        file: "core/scheduling/problem/topology-state.ts",
        find: "(possible !== undefined && !possible(group, domain))",
        replace: "(possible !== undefined && (false as boolean))",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/impossible-domains.test.ts"],
  },
  {
    name: "possible-in-spite-of-limits",
    rule: "a hard spread waits for a domain that limits or capacity keep empty today",
    edits: [
      {
        file: "core/scheduling/problem/possible-domains.ts",
        find: "answer = problem.templates.some((template) => isPossible(problem, template, group, domain));",
        replace: "answer = false;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/impossible-domains.test.ts"],
  },
  {
    name: "watched-types-stay-open",
    rule: "a pod that another's spread counts is placed where minValues keeps the domain open",
    edits: [
      {
        file: "core/scheduling/problem/topology-state.ts",
        find: "return open.length > 1 ? [...choices, open.sort()] : choices;",
        replace: "return choices;",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/impossible-domains.test.ts"],
  },
  {
    name: "cheapest-terms-first",
    rule: "of OR-ed terms of node affinity the one with the cheapest nodes is taken",
    edits: [{ file: "core/scheduling/problem/cheapest-terms.ts", find: "a.rank - b.rank || a.price - b.price", replace: "0" }],
    foundBy: "unit",
    within: ALTERNATIVE_TERMS,
  },
  {
    name: "nodes-by-any-term",
    rule: "an existing node that meets one of OR-ed terms takes the pod before a new node of another",
    edits: [
      {
        file: "core/scheduling/attempt.ts",
        find: "if (!podData.isAlternative || !podData.isWhole) return false;",
        replace: "if (podData.isAlternative) return false;",
      },
    ],
    foundBy: "unit",
    within: ALTERNATIVE_TERMS,
  },
  {
    name: "types-that-surely-count",
    rule: "pods on a planned node count in a spread when all of its types meet the filter",
    edits: [
      {
        file: "core/scheduling/rules/topology-group.ts",
        find: "!isNarrower(key, own.get(key), other) && !allTypesMeet(other)",
        replace: "!isNarrower(key, own.get(key), other)",
      },
    ],
    foundBy: "unit",
    within: ["test/core/scheduling/rules/topology-group.test.ts"],
  },
  {
    name: "shared-price-cap",
    rule: "what one NodePool takes of the cluster's price cap is gone for the others",
    edits: [{ file: "core/scheduling/claims/limits.ts", find: "this.#share(freed, account, r);", replace: "" }],
    foundBy: "unit",
    within: PRICE_CAPS,
  },
  {
    name: "shared-price-cap-at-the-end",
    rule: "further types of one NodePool's claims leave the others less of the cluster's price cap",
    edits: [{ file: "core/scheduling/claims/limits.ts", find: "this.#share(-further, account, r);", replace: "" }],
    foundBy: "unit",
    within: PRICE_CAPS,
  },
  {
    name: "paid-for-by-its-price",
    rule: "a commitment that pays for a whole machine no longer pays for none",
    edits: [
      {
        file: "core/offerings/commitments.ts",
        find: "return (left[i] ?? 0) >= price && paysFor(of, type, inZone);",
        replace: "return paysFor(of, type, inZone);",
      },
    ],
    foundBy: "unit",
    within: ["test/core/offerings/commitments.test.ts", "test/core/scheduling/paid-capacity.test.ts"],
  },
  {
    name: "paid-for-is-replanned",
    rule: "a replacement that is no longer paid for is not begun",
    edits: [{ file: "core/disruption/command/validate.ts", find: " && simulated.paidFor === planned.paidFor;", replace: ";" }],
    foundBy: "unit",
    within: ["test/core/disruption/consolidation/paid-capacity.test.ts"],
  },
  {
    name: "dearest-offering",
    rule: "a NodeClaim counts as the most expensive offering that it allows",
    edits: [
      {
        file: "core/offerings/dearest.ts",
        find: "Math.max(most, offering.price) : most), 0);",
        replace: "Math.min(most || offering.price, offering.price) : most), 0);",
      },
    ],
    foundBy: "unit",
    within: PRICE_CAPS,
  },
  {
    name: "price caps without the machines that run",
    rule: "a price cap counts the machines that run",
    edits: [
      {
        file: "core/scheduling/problem/price-caps.ts",
        find: "micros(cap) - (prices.get(pool.metadata.name) ?? 0)",
        replace: "micros(cap)",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "NodePools that sleep make nodes",
    rule: "a NodePool that sleeps makes no nodes",
    edits: [
      {
        file: "core/scheduling/problem/template.ts",
        find: "if (pool.metadata.deletionTimestamp || isAsleep(pool, now)) return false;",
        replace: "if (pool.metadata.deletionTimestamp) return false;",
      },
    ],
    foundBy: "simulation",
    within: 100,
  },
  {
    name: "limits without the machines on their way",
    rule: "a NodePool's limits count machines that are being launched",
    edits: [
      {
        file: "core/scheduling/problem/template.ts",
        find: "if (view.nodePool === poolName && !view.markedForDeletion) subtract(view.capacity);",
        replace: "if (view.nodePool === poolName && !view.markedForDeletion && view.initialized) subtract(view.capacity);",
      },
    ],
    foundBy: "simulation",
    within: 150,
  },
  {
    name: "nominated pods are not remembered",
    rule: "a pod that is nominated to a NodeClaim is not planned again",
    edits: [
      {
        file: "adapters/kubernetes/snapshot.ts",
        find: "nominated: nominationsOf(records, now),",
        replace: "nominated: nominationsOf([], now),",
      },
    ],
    foundBy: "simulation",
    within: 160,
  },
  {
    name: "pods that fit nowhere are told nothing",
    rule: "a pod that fits nowhere gets an Event with the reason",
    edits: [{ file: "functions/provision/plan-events.ts", find: "[...inTurns(failures), ...inTurns(events)]", replace: "inTurns(events)" }],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "batching window that never ends",
    rule: "a batching window ends",
    edits: [
      {
        file: "core/passes/batching-window.ts",
        find: "if (coming.length === 0 || (coming.length <= announced && now - plannedAt >= idleMs)) return 0;",
        replace:
          "if (pods.length > 1 || coming.length > 0) return idleMs + (now - now) + (announced - announced) + (plannedAt - plannedAt);",
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "virtual pods of buffers not planned for",
    rule: "the virtual pods of CapacityBuffers are planned for",
    edits: [
      {
        file: "functions/shared/cluster-state.ts",
        find: "spread(headroom.flatMap((room) => room.pods)",
        replace: "spread(headroom.slice(0, 0).flatMap((room) => room.pods)",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "overlays read by nobody",
    rule: "NodeOverlays change what is planned and launched",
    edits: [
      {
        file: "functions/shared/cluster-state.ts",
        find: 'settings.nodeOverlay ? kubernetes.list("NodeOverlay") : [],',
        replace: 'settings.nodeOverlay ? kubernetes.list("NodeOverlay", { labelSelector: "none=none" }) : [],',
      },
      {
        file: "functions/lifecycle/launch/view.ts",
        find: "if (!settings.nodeOverlay || pool === undefined) return own;",
        replace: "if (settings || pool === undefined) return own;",
      },
    ],
    foundBy: "simulation",
    within: 400,
  },
  {
    name: "a static NodePool with one node too many",
    rule: "a static NodePool has as many nodes as its replicas",
    edits: [
      {
        file: "core/static-capacity/plan.ts",
        find: "const desired = nodePool.spec.replicas ?? 0;",
        replace: "const desired = (nodePool.spec.replicas ?? 0) + 1;",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
];
