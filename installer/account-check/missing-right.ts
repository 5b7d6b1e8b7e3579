import { codeOf } from "#adapters/aws/errors.ts";

const REFUSED = /^(UnauthorizedOperation|AccessDenied(Exception)?)$/;

/** The right that AWS says is missing, or its code where it does not say which; undefined for another error. */
export function missingRight(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : String(error);
  const named = /not authorized to perform: ([\w-]+:\w+)/.exec(message)?.[1];
  const code = codeOf(error);
  return named ?? (REFUSED.test(code) ? code : undefined);
}
