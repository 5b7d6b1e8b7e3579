import { NotFoundError, RefusedError, ThrottledError } from "../../../core/ports/errors.ts";

/** AWS error codes in the words that the core knows. This is the only place that reads them. */

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

/** Client faults that pass by themselves: they are not the request's. */
const PASSING = new Set([
  "ExpiredToken",
  "ExpiredTokenException",
  "RequestExpired",
  "RequestTimeout",
  "RequestTimeTooSkewed",
  "AuthFailure.Expired",
]);

/** EC2's code, "" when the error is none of AWS. */
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

/** A launch template that a launch names does not exist (any more): it can be made again. */
export function isTemplateGone(code: string): boolean {
  return /^InvalidLaunchTemplate(Name|Id)\.NotFound/.test(code);
}

export function isThrottled(error: unknown): boolean {
  return THROTTLED.has(codeOf(error));
}

/** Something of that name exists. */
export function isAlreadyThere(error: unknown): boolean {
  return /\.AlreadyExists(Exception)?$|^EntityAlreadyExists/.test(codeOf(error));
}

/** The request itself is wrong, or not allowed: repeating it changes nothing. */
export function isRefused(error: unknown): boolean {
  if (codeOf(error) === "" || isNotFound(error) || isThrottled(error) || PASSING.has(codeOf(error))) return false;
  return (error as { readonly $fault?: string }).$fault === "client";
}

/** The same error in domain words; one that says nothing to the caller is given back as it is. */
export function toDomainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const message = `${codeOf(error)}: ${error.message}`;
  if (isNotFound(error)) return new NotFoundError(message, { cause: error });
  if (isThrottled(error)) return new ThrottledError(message, { cause: error });
  if (isRefused(error)) return new RefusedError(message, { cause: error });
  return error;
}
