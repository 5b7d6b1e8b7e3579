/** A refusal in the words of an AWS service. */
export class AwsError extends Error {
  readonly code: string;
  /** HTTP status: 400 for most client errors, 412 for DryRunOperation, 503 for EC2's throttle. */
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = code;
    this.code = code;
    this.status = status;
  }
}

export const notFound = (kind: "InstanceID" | "SubnetID" | "AMIID" | "Group", what: string, ids: readonly string[]): AwsError =>
  new AwsError(`Invalid${kind}.NotFound`, `The ${what} '${ids.join(", ")}' do${ids.length === 1 ? "es" : ""} not exist`);

export const missing = (parameter: string): AwsError =>
  new AwsError("MissingParameter", `The request must contain the parameter ${parameter}`);

/** How each service words a refusal by IAM. */
export function unauthorized(service: string, why: string): AwsError {
  if (service === "ec2") return new AwsError("UnauthorizedOperation", `You are not authorized to perform this operation. ${why}`, 403);
  if (service === "iam" || service === "sts") return new AwsError("AccessDenied", `User: ${why}`, 403);
  return new AwsError("AccessDeniedException", `User: ${why}`);
}

export const dryRunPassed = (): AwsError => new AwsError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412);
