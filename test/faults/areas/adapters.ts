import type { Fault } from "../fault.ts";

const CLIENT = ["test/adapters/kubernetes/client.test.ts"];
const FLEET = ["test/adapters/aws/fleet.test.ts"];
const BATCH = ["test/adapters/lambda/batch.test.ts"];
const SQLITE = ["test/contracts/node-claim-store/sqlite.test.ts"];
const DYNAMODB = ["test/adapters/store/dynamodb-store.test.ts"];
const LIMITS = ["test/hostile/records.test.ts"];

/** Rules of the adapters: what errors mean, and what of the table, EC2 and the API server must not be lost. */
export const FAULTS: readonly Fault[] = [
  {
    name: "server-errors-pass",
    rule: "an API server that fails with 500 is asked again, and its answer is no refusal",
    edits: [{ file: "adapters/kubernetes/errors.ts", find: "if (status === 429 || status >= 500) {", replace: "if (status === 429) {" }],
    foundBy: "unit",
    within: CLIENT,
  },
  {
    name: "conflict",
    rule: "409 is a conflict: the object is read again",
    edits: [{ file: "adapters/kubernetes/errors.ts", find: "if (status === 409) {", replace: "if (status === 408) {" }],
    foundBy: "unit",
    within: CLIENT,
  },
  {
    name: "refused",
    rule: "422 and an admission policy's 403 are refusals",
    edits: [
      {
        file: "adapters/kubernetes/errors.ts",
        find: "return status >= 400 ? new RefusedError(text) : new Error(text);",
        replace: "return new Error(text);",
      },
    ],
    foundBy: "unit",
    within: CLIENT,
  },
  {
    name: "expired-credentials-pass",
    rule: "expired credentials pass by themselves and refuse nothing",
    edits: [{ file: "adapters/aws/errors.ts", find: "|| PASSING.has(codeOf(error))) return false;", replace: ") return false;" }],
    foundBy: "unit",
    within: FLEET,
  },
  {
    name: "ec2-throttles",
    rule: "RequestLimitExceeded is throttling, no refusal",
    edits: [{ file: "adapters/aws/errors.ts", find: '  "RequestLimitExceeded",\n', replace: "" }],
    foundBy: "unit",
    within: FLEET,
  },
  {
    name: "gone-subnet-refused",
    rule: "a subnet, image or security group that is gone refuses the launch; only a template is made again",
    edits: [
      {
        file: "adapters/aws/fleet.ts",
        find: "else if (isNotFound(error) && error instanceof Error)",
        replace: "else if (isNotFound(error) && !(error instanceof Error))",
      },
    ],
    foundBy: "unit",
    within: FLEET,
  },
  {
    name: "template-forgotten",
    rule: "a launch template that EC2 does not know is made again",
    edits: [{ file: "adapters/aws/fleet.ts", find: "if (result.errors.some(({ code }) => isTemplateGone(code))) forget();", replace: "" }],
    foundBy: "unit",
    within: FLEET,
  },
  {
    name: "template-exists",
    rule: "a launch template that exists already is as good as a new one",
    edits: [
      {
        file: "adapters/aws/fleet.ts",
        find: "if (!isAlreadyThere(error)) throw toDomainError(error);",
        replace: "throw toDomainError(error);",
      },
    ],
    foundBy: "unit",
    within: FLEET,
  },
  {
    name: "terminated-twice",
    rule: "an instance that EC2 does not know counts as terminated",
    edits: [
      {
        file: "adapters/aws/fleet.ts",
        find: "if (!(domainError instanceof NotFoundError) || instanceIds.length > 1) throw domainError;",
        replace: "throw domainError;",
      },
    ],
    foundBy: "unit",
    within: FLEET,
  },
  {
    name: "all-pages-of-instances",
    rule: "EC2's lists are read to their last page",
    edits: [{ file: "adapters/aws/pages.ts", find: "} while (", replace: "} while (false && " }],
    foundBy: "unit",
    within: ["test/adapters/aws/pages.test.ts"],
  },
  {
    name: "malformed-acknowledged",
    rule: "a message that can never be read is dropped, not repeated for ever",
    edits: [
      {
        file: "adapters/lambda/batch.ts",
        find: "if (error instanceof MalformedMessageError) {",
        replace: 'if (error instanceof MalformedMessageError && record.body === "") {',
      },
    ],
    foundBy: "unit",
    within: BATCH,
  },
  {
    name: "failed-message-returns",
    rule: "a message that fails returns to the queue",
    edits: [{ file: "adapters/lambda/batch.ts", find: "      throw error;\n", replace: "" }],
    foundBy: "unit",
    within: BATCH,
  },
  {
    name: "transactions-by-number",
    rule: "a transaction holds 100 items at most",
    edits: [{ file: "adapters/store/intent-batches.ts", find: "writes > left ||", replace: "" }],
    foundBy: "unit",
    within: SQLITE,
  },
  {
    name: "transactions-by-size",
    rule: "a transaction holds 4 MB at most",
    edits: [{ file: "adapters/store/intent-batches.ts", find: " || bytes + size > MAX_BYTES", replace: "" }],
    foundBy: "unit",
    within: SQLITE,
  },
  {
    name: "room-for-the-command",
    rule: "the first transaction leaves room for the command",
    edits: [
      {
        file: "adapters/store/intent-batches.ts",
        find: "MAX_WRITES - (withCommand ? 1 : 0) - others.length",
        replace: "MAX_WRITES - others.length",
      },
    ],
    foundBy: "unit",
    within: SQLITE,
  },
  {
    name: "embedded-numbers",
    rule: "the embedded store refuses numbers that DynamoDB has not",
    edits: [{ file: "adapters/store/item-limits.ts", find: "if (!Number.isFinite(value) ||", replace: "if (" }],
    foundBy: "unit",
    within: LIMITS,
  },
  {
    name: "embedded-versions",
    rule: "the embedded store writes no record over a version that was not read",
    edits: [
      {
        file: "adapters/store/sqlite-store.ts",
        find: '      write(() => {\n        if (sql.claim.get(record.cluster, record.name)?.["version"] !== record.version) {',
        replace: '      write(() => {\n        if (sql.claim.get(record.cluster, record.name)?.["version"] === undefined) {',
      },
    ],
    foundBy: "unit",
    within: SQLITE,
  },
  {
    name: "repeated-write",
    rule: "a write that the SDK repeated, because its answer was lost, finds its own item and has succeeded",
    edits: [
      { file: "adapters/store/dynamodb-store.ts", find: 'return failure.item?.["nonce"] === item["nonce"];', replace: "return false;" },
    ],
    foundBy: "unit",
    within: DYNAMODB,
  },
  {
    name: "lease-in-transaction",
    rule: "intents are written only while the lease is held",
    edits: [
      {
        file: "adapters/store/dynamodb-store.ts",
        find: "      const refused = await transact(table, [\n        leaseCheck(lease),\n        ...commandPuts,",
        replace: "      const refused = await transact(table, [\n        ...commandPuts,",
      },
    ],
    foundBy: "unit",
    within: DYNAMODB,
  },
  {
    name: "throttled-table",
    rule: "a table that throttles is asked again later",
    edits: [
      {
        file: "adapters/store/dynamodb-table.ts",
        find: "/Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded/.test(error.name)",
        replace: "/RequestLimitExceeded/.test(error.name)",
      },
    ],
    foundBy: "unit",
    within: DYNAMODB,
  },
  {
    name: "unconditional write: records are overwritten unseen",
    rule: "a record is written only over the version that was read",
    edits: [
      {
        file: "adapters/store/sqlite-store.ts",
        find: `if (sql.claim.get(record.cluster, record.name)?.["version"] !== record.version) {`,
        replace: "if (sql.claim.get(record.cluster, record.name) === undefined) {",
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "lease not checked: a holder that has overslept writes all the same",
    rule: "only the holder of the lease's last token writes",
    edits: [
      {
        file: "adapters/store/sqlite-store.ts",
        find: `return held?.["holder"] === holder && held["token"] === token;`,
        replace: "return held !== undefined;",
      },
    ],
    foundBy: "simulation",
    within: 150,
  },
  {
    name: "instance of a notice not found in the table",
    rule: "the table finds a record by its instance id",
    edits: [
      {
        file: "adapters/store/sqlite-store.ts",
        find: "byInstance: async (instanceId) => {",
        replace: "byInstance: async (instanceId) => {\n      instanceId += instanceId;",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "marks of offerings without capacity not read",
    rule: "marks of unavailable offerings are read until they expire",
    edits: [
      {
        file: "adapters/store/sqlite-store.ts",
        find: "sql.unavailable.all(cluster, now).map(",
        replace: "sql.unavailable.all(cluster, now * 2).map(",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
];
