// What a person can do about the reasons for which CloudFormation gives a deployment up.
// In: AWS's own words. Out: the fix of a known reason, as the part of a sentence after a semicolon.

interface Known {
  readonly words: RegExp;
  readonly fix: (...found: readonly string[]) => string;
}

/** The first whose words are in a reason says the fix. */
const KNOWN: readonly Known[] = [
  {
    words: /UnreservedConcurrentExecution/,
    fix: () => "set notifyConcurrency and admissionConcurrency to 0, or ask Service Quotas for more concurrent executions",
  },
  {
    words: /specified log group does not exist/,
    fix: () => "let EKS write the audit log (cluster logging, type audit), or leave audit out of the cluster's sources",
  },
  {
    words: /AuditFilter\w+: (?:Resource limit|LimitExceeded)/,
    fix: () => "remove one of the two subscription filters of the cluster's log group, or leave audit out of its sources",
  },
  { words: /No cluster found for name: ([\w-]+)/, fix: (name = "") => `take ${name} out of clusters, or name it as EKS does` },
  {
    words: /authentication mode must be set/,
    fix: () =>
      "change the cluster's, which keeps aws-auth: aws eks update-cluster-config --name CLUSTER --access-config authenticationMode=API_AND_CONFIG_MAP",
  },
  {
    words: /access entry resource is already in use/,
    fix: () => "remove the entry, which another stack or person has made: aws eks delete-access-entry",
  },
  {
    words: /FunctionUrl\w*: .*hook\(s\) failed|CreateFunctionUrlConfig/,
    fix: () => "give --public-url restApi or apiGateway, or --sources sweep",
  },
  {
    words: /iam:CreateRole .*explicit deny/,
    fix: () => "name the boundary or the path that the organization asks for: permissionsBoundary, rolePath (docs/security.md)",
  },
  {
    words: /identifier '(KarpenterNodeRole-[\w-]+)' already exists|(KarpenterNodeRole-[\w-]+) already exists/,
    fix: (one, other = one) => `leave --create-node-role and createNodeRoles out, or delete the role ${other}`,
  },
  {
    words: /KMS key .*not allowed/,
    fix: () => "let the key's policy admit CloudWatch Logs and EventBridge (docs/security.md)",
  },
  { words: /subnet ID '([\w-]+)' does not exist/, fix: (id = "") => `name other subnets than ${id} in vpc` },
  {
    words: /not authorized to perform: (\w+:\w+)/,
    fix: (action = "") => `ask for the right ${action} (docs/security.md has the policy of who installs)`,
  },
];

/** The fix of a reason, or that one must be found. */
export function fixOf(reason: string): string {
  for (const { words, fix } of KNOWN) {
    const found = words.exec(reason);
    if (found !== null) return fix(...found.slice(1).filter((group) => group !== undefined));
  }
  return "fix that";
}
