import { useEffect, useState } from "preact/hooks";
import { formatRoute, parseRoute, type Route } from "./route-text.ts";

/** Shows another route. A step that the reader may want to go back from is pushed, others replace the present one. */
export type Go = (change: Partial<Route>, how?: "push" | "replace") => void;

/** The route, and what changes it. Parameters that `change` does not name are kept; an empty value removes one. */
export function useRoute(): readonly [Route, Go] {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const read = (): void => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", read);
    addEventListener("popstate", read);
    return () => {
      removeEventListener("hashchange", read);
      removeEventListener("popstate", read);
    };
  }, []);
  const go: Go = (change, how = "replace") => {
    const now = parseRoute(location.hash);
    const hash = formatRoute({ section: change.section ?? now.section, params: { ...now.params, ...change.params } });
    history[how === "push" ? "pushState" : "replaceState"](null, "", hash);
    setRoute(parseRoute(hash));
  };
  return [route, go];
}
