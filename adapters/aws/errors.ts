import { NotFoundError, RefusedError, ThrottledError } from "#core/ports/errors.ts";

/** Translates AWS error codes into the port's errors. No other file reads AWS error codes. */

const THROTTLED = new Set([
  "RequestLimitExceeded",
  "Throttling",
  "ThrottlingException",
  "ThrottledException",
  "TooManyRequestsException",
  "RequestThrottled",
  "RequestThrottledException",
  "EC2ThrottledException",
  "PriorRequestNotComplete",
]);

/** After so long, the attempts of the SDK are over. Functions that share a pace have slowed down by then. */
const THROTTLED_RETRY_MS = 10_000;

/** Client faults that pass by themselves, so the request is not to blame. */
const PASSING = new Set([
  "ExpiredToken",
  "ExpiredTokenException",
  "RequestExpired",
  "RequestTimeout",
  "RequestTimeTooSkewed",
  "AuthFailure.Expired",
]);

/** AWS's error code; "" when the error is not from AWS. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "$fault" in error ? error.name : "";
}

export function isNotFound(error: unknown): boolean {
  const code = codeOf(error);
  return (
    /\.NotFound(Exception)?$/.test(code) ||
    ["ParameterNotFound", "NoSuchEntity", "NoSuchEntityException", "ResourceNotFoundException"].includes(code)
  );
}

/** Whether a launch template that a launch names does not exist (any more); it can be created again. */
export function isTemplateGone(code: string): boolean {
  return /^InvalidLaunchTemplate(Name|Id)\.NotFound/.test(code);
}

export function isThrottled(error: unknown): boolean {
  return THROTTLED.has(codeOf(error));
}

/** Whether something of that name exists already. */
export function isAlreadyThere(error: unknown): boolean {
  return /\.AlreadyExists(Exception)?$|^EntityAlreadyExists/.test(codeOf(error));
}

/** Whether the request itself is wrong or not allowed, so that repeating it cannot help. */
function isRefused(error: unknown): boolean {
  if (codeOf(error) === "" || isNotFound(error) || isThrottled(error) || PASSING.has(codeOf(error))) return false;
  return (error as { readonly $fault?: string }).$fault === "client";
}

/** The error as the port's; an error that means nothing to the caller is returned as it is. */
export function toDomainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const message = `${codeOf(error)}: ${error.message}`;
  if (isNotFound(error)) return new NotFoundError(message, { cause: error });
  if (isThrottled(error)) return new ThrottledError(message, { cause: error, retryAfterMs: THROTTLED_RETRY_MS });
  if (isRefused(error)) return new RefusedError(message, { cause: error });
  return error;
}
