/** What is shown, as the URL's hash has it: "#pods?q=web&sort=-cpu&cluster=b". */
export interface Route {
  readonly section: string;
  /** Only those that are set. */
  readonly params: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [section = "", query = ""] = hash.replace(/^#/, "").split("?");
  return { section, params: Object.fromEntries(new URLSearchParams(query)) };
}

export function formatRoute({ section, params }: Route): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== "")).toString();
  return `#${section}${query === "" ? "" : `?${query}`}`;
}
