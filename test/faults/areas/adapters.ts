import type { Fault } from "../fault.ts";

const CLIENT = ["test/adapters/kubernetes/client.test.ts"];
const FLEET = ["test/adapters/aws/fleet.test.ts"];
const BATCH = ["test/adapters/lambda/batch.test.ts"];
const EMBEDDED = ["test/contracts/node-claim-store/embedded.test.ts"];
const TABLE = ["test/adapters/store/table.test.ts"];
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
    within: EMBEDDED,
  },
  {
    name: "transactions-by-size",
    rule: "a transaction holds 4 MB at most",
    edits: [{ file: "adapters/store/intent-batches.ts", find: " || bytes + size > MAX_BYTES", replace: "" }],
    foundBy: "unit",
    within: EMBEDDED,
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
    within: EMBEDDED,
  },
  {
    name: "embedded-numbers",
    rule: "the embedded store refuses numbers that DynamoDB has not",
    edits: [{ file: "adapters/store/item-limits.ts", find: "if (!Number.isFinite(value) ||", replace: "if (" }],
    foundBy: "unit",
    within: LIMITS,
  },
  {
    name: "record-over-unread-version",
    rule: "the store writes no record over a version that was not read",
    edits: [
      {
        file: "adapters/store/claims.ts",
        find: 'const isSame = { attribute: "version", equals: record.version } as const;',
        replace: 'const isSame = { attribute: "version", atMost: 1e9 } as const;',
      },
    ],
    foundBy: "unit",
    within: EMBEDDED,
  },
  {
    name: "repeated-write",
    rule: "a write that the SDK repeated, because its answer was lost, finds its own item and has succeeded",
    edits: [
      {
        file: "adapters/store/versioned-items.ts",
        find: 'return refused === undefined || refused.item?.["nonce"] === item["nonce"];',
        replace: "return refused === undefined;",
      },
    ],
    foundBy: "unit",
    within: DYNAMODB,
  },
  {
    name: "lease-in-transaction",
    rule: "intents are written only while the lease is held",
    edits: [{ file: "adapters/store/intents.ts", find: "    leaseCheck(lease),\n", replace: "" }],
    foundBy: "unit",
    within: DYNAMODB,
  },
  {
    name: "embedded-conditions",
    rule: "the embedded table compares with an attribute that is absent as DynamoDB does",
    edits: [{ file: "adapters/store/conditions.ts", find: 'if (typeof value !== "number") return false;', replace: "" }],
    foundBy: "unit",
    within: TABLE,
  },
  {
    name: "unprocessed-reads",
    rule: "what a batch of reads leaves unprocessed is asked for again",
    edits: [{ file: "adapters/store/table-requests.ts", find: "return answer.unprocessed;", replace: "return [];" }],
    foundBy: "unit",
    within: TABLE,
  },
  {
    name: "throttled-table",
    rule: "a table that throttles is asked again later",
    edits: [
      {
        file: "adapters/store/table-dynamodb.ts",
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
        file: "adapters/store/claims.ts",
        find: `const isSame = { attribute: "version", equals: record.version } as const;`,
        replace: `const isSame = { attribute: "version", atMost: 1e9 } as const;`,
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
        file: "adapters/store/leases.ts",
        find: `    { attribute: "holder", equals: holder },\n    { attribute: "token", equals: token },\n`,
        replace: "",
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
        file: "adapters/store/claims.ts",
        find: "const [item] = await query({ instanceId });",
        replace: "const [item] = await query({ instanceId: instanceId + instanceId });",
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
        file: "adapters/store/marks.ts",
        find: "expiresAt > now)\n",
        replace: "expiresAt > now * 2)\n",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
];
