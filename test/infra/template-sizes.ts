import { filled, MAX_INLINE_CHARACTERS, MAX_MANAGED_CHARACTERS } from "#infra/policy-size.ts";

/** A template, as the synthesis writes it. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Parameters?: object;
  readonly Outputs?: object;
}
interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** A size that AWS limits. */
interface Limit {
  readonly name: string;
  readonly max: number;
  /** What must be left of it, of 1. */
  readonly margin: number;
  readonly sizeOf: (template: Template, bytes: number) => number;
}

/** What is left must be enough for the next few features. */
const MARGIN = 0.05;
/** What is packed up to its limit on purpose (infra/policy-size.ts) needs no room. */
const PACKED = 0;

/** The characters of a policy as IAM counts them, with the longest values that CloudFormation's functions can have. */
const charactersOf = (document: unknown): number => (JSON.stringify(filled(document)) ?? "").replaceAll(/\s/g, "").length;

const ofType = ({ Resources }: Template, type: string): readonly Resource[] => Object.values(Resources).filter(({ Type }) => Type === type);
const most = (sizes: readonly number[]): number => Math.max(0, ...sizes);
const count = (part: object | undefined): number => Object.keys(part ?? {}).length;

function inlineOf({ Properties = {} }: Resource): number {
  const policies = (Properties["Policies"] ?? []) as readonly { readonly PolicyDocument: unknown }[];
  return policies.reduce((sum, { PolicyDocument }) => sum + charactersOf(PolicyDocument), 0);
}

/** The managed policies of the template that name a role, at most. */
function policiesOfARole(template: Template): number {
  const roles = ofType(template, "AWS::IAM::ManagedPolicy").flatMap(({ Properties }) =>
    ((Properties?.["Roles"] ?? []) as readonly unknown[]).map((role) => JSON.stringify(role)),
  );
  return most([...Map.groupBy(roles, (role) => role).values()].map((some) => some.length));
}

/**
 * AWS's limits, in the order of the table (AWS CloudFormation User Guide, "Understand CloudFormation quotas"; IAM User
 * Guide, "IAM and AWS STS quotas").
 */
const IN_EACH: readonly Limit[] = [
  { name: "resources", max: 500, margin: MARGIN, sizeOf: ({ Resources }) => count(Resources) },
  { name: "outputs", max: 200, margin: MARGIN, sizeOf: ({ Outputs }) => count(Outputs) },
  { name: "parameters", max: 200, margin: MARGIN, sizeOf: ({ Parameters }) => count(Parameters) },
  {
    name: "inline policies of a role",
    max: MAX_INLINE_CHARACTERS,
    margin: PACKED,
    sizeOf: (template) => most(ofType(template, "AWS::IAM::Role").map(inlineOf)),
  },
  {
    name: "managed policy",
    max: MAX_MANAGED_CHARACTERS,
    margin: PACKED,
    sizeOf: (template) =>
      most(ofType(template, "AWS::IAM::ManagedPolicy").map(({ Properties }) => charactersOf(Properties?.["PolicyDocument"]))),
  },
  { name: "policies of a role", max: 10, margin: MARGIN, sizeOf: policiesOfARole },
  {
    name: "trust policy",
    max: 2_048,
    margin: MARGIN,
    sizeOf: (template) =>
      most(ofType(template, "AWS::IAM::Role").map(({ Properties }) => charactersOf(Properties?.["AssumeRolePolicyDocument"]))),
  },
];
const bytesWithin = (max: number): Limit => ({ name: "bytes", max, margin: MARGIN, sizeOf: (_, bytes) => bytes });
/** A template in S3, and one that is sent with the request. */
const FROM_S3 = bytesWithin(1_000_000);
const IN_REQUEST = bytesWithin(51_200);

/** The heading of the table. */
export const HEADINGS: readonly string[] = [
  "template",
  "bytes",
  ...IN_EACH.map(({ name, max }) => `${name} (${max.toLocaleString("en")})`),
];

/**
 * A row of the table, and a sentence for each limit of which too little is left. `isSent` says that people deploy the
 * template without a bucket.
 */
export function sizesOf(
  name: string,
  text: string,
  isSent: boolean,
): { readonly row: readonly string[]; readonly faults: readonly string[] } {
  const template = JSON.parse(text) as Template;
  const bytes = Buffer.byteLength(text);
  const measured = [isSent ? IN_REQUEST : FROM_S3, ...IN_EACH].map((limit) => ({ ...limit, size: limit.sizeOf(template, bytes) }));
  const [first, ...others] = measured;
  return {
    row: [
      name,
      `${bytes.toLocaleString("en")} of ${first?.max.toLocaleString("en")}`,
      ...others.map(({ size }) => size.toLocaleString("en")),
    ],
    faults: measured
      .filter(({ size, max, margin }) => size > max * (1 - margin))
      .map(({ name: what, size, max, margin }) => `${name}: ${what} ${size} of ${max}, and ${100 * margin} % must be left`),
  };
}
