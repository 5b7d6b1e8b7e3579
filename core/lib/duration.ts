const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const TERM = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** Milliseconds of a Go duration ("1h30m", "0s", "-1.5s", "0"); undefined when the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const negative = text.startsWith("-");
  const body = negative || text.startsWith("+") ? text.slice(1) : text;
  if (body === "0") return 0;
  if (body === "") return undefined;
  let total = 0;
  TERM.lastIndex = 0;
  while (TERM.lastIndex < body.length) {
    const term = TERM.exec(body);
    const unit = UNIT_MS[term?.[2] ?? ""];
    if (!term || unit === undefined) return undefined;
    total += Number(term[1]) * unit;
  }
  return negative ? -total : total;
}

/** parseDuration for fields that also take "Never", which is Infinity. */
export function parseDurationOrNever(text: string): number | undefined {
  return text === "Never" ? Number.POSITIVE_INFINITY : parseDuration(text);
}
