import { LogFormatter, Logger, LogItem } from "@aws-lambda-powertools/logger";
import type { LogAttributes, UnformattedAttributes } from "@aws-lambda-powertools/logger/types";
import type { Log, LogFields } from "#core/ports/log.ts";

interface LogOptions {
  readonly level: "debug" | "info" | "error";
  /** Short hash of the build, as in Karpenter's lines. */
  readonly commit?: string | undefined;
  /** Fields of every line, such as `controller`. */
  readonly fields?: LogFields;
}

/** Names of fields that are never printed. */
const SECRET_FIELD = /token$|secret|password|authorization|credential|caBundle|userData|privateKey/i;
/** The last one is the secret part of a public path, /v1/CLUSTER/TOKEN. Paths of the API server are left alone. */
const SECRET_TEXT =
  /k8s-aws-v1\.[\w-]+|Bearer\s+[\w.~+/-]+=*|X-Amz-(?:Signature|Security-Token|Credential)=[^&\s"]+|(?<=(?<!\/api|\/apis\/[\w.-]{1,100})\/v1\/[\w.-]{1,100}\/)[\w-]{16,}/gi;
/** Names of fields that identify a repeated call and give no access. */
const HARMLESS_FIELD = /^(client|continue)-?token$/i;

/** The text of an error and its causes, outermost first, like Go's wrapped errors. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) {
    return typeof error === "string" ? error : (JSON.stringify(error) ?? String(error));
  }
  const own = error.message || error.name;
  return error.cause === undefined ? own : `${own}: ${errorText(error.cause)}`;
}

/** A value as it may be printed: errors as text, and at any depth without secrets. */
export function printable(value: unknown, depth = 0): unknown {
  if (typeof value === "string") {
    return value.replace(SECRET_TEXT, "[redacted]");
  }
  if (value instanceof Error) {
    return printable(errorText(value));
  }
  if (typeof value !== "object" || value === null || value instanceof Date) {
    return value;
  }
  // No log line needs deeper values; the limit also ends cycles.
  if (depth > 8) {
    return "…";
  }
  if (Array.isArray(value)) {
    return value.map((item) => printable(item, depth + 1));
  }
  const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, item]) => [
      key,
      SECRET_FIELD.test(String(key)) && !HARMLESS_FIELD.test(String(key)) ? "[redacted]" : printable(item, depth + 1),
    ]),
  );
}

/** Formats a line with the keys of Karpenter's zap encoder, in its order; the port's fields follow. */
class KarpenterLines extends LogFormatter {
  readonly #commit: string | undefined;

  constructor(commit: string | undefined) {
    super();
    this.#commit = commit;
  }

  override formatAttributes(line: UnformattedAttributes, { fields, ...others }: LogAttributes): LogItem {
    return new LogItem({
      attributes: {
        level: line.logLevel,
        time: line.timestamp.toISOString(),
        logger: "controller",
        message: line.message,
        commit: this.#commit,
        ...(printable({ ...others, ...(fields as LogFields | undefined) }) as LogAttributes),
      },
    });
  }
}

/**
 * JSON lines in the shape of Karpenter's, through Powertools: debug and info to stdout, errors to stderr. A field with
 * the name of one of the line's own keys (level, time, logger, message, commit) replaces it, so callers avoid those
 * names.
 */
export function powertoolsLog(options: LogOptions): Log {
  const logger = new Logger({ logLevel: options.level, logFormatter: new KarpenterLines(options.commit) });
  const withFields = (carried: LogFields): Log => ({
    debug: (message, fields) => logger.debug({ message, fields: { ...carried, ...fields } }),
    info: (message, fields) => logger.info({ message, fields: { ...carried, ...fields } }),
    error: (message, fields) => logger.error({ message, fields: { ...carried, ...fields } }),
    with: (fields) => withFields({ ...carried, ...fields }),
  });
  return withFields(options.fields ?? {});
}

export interface LogRecord {
  readonly level: "debug" | "info" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps its lines in memory, without secrets, for tests and the lab; `onRecord` gets each line. */
export function memoryLog(onRecord: (record: LogRecord) => void = () => {}): Log & { readonly records: readonly LogRecord[] } {
  const records: LogRecord[] = [];
  const withFields = (carried: LogFields): Log => {
    const write =
      (level: LogRecord["level"]) =>
      (message: string, fields?: LogFields): void => {
        const record = { level, message, fields: printable({ ...carried, ...fields }) as LogFields };
        records.push(record);
        onRecord(record);
      };
    return {
      debug: write("debug"),
      info: write("info"),
      error: write("error"),
      with: (fields) => withFields({ ...carried, ...fields }),
    };
  };
  return { ...withFields({}), records };
}
