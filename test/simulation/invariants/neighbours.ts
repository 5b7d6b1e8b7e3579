import { NEIGHBOUR } from "../neighbour.ts";
import type { Invariant } from "./invariant.ts";

export const neighbourLeftAlone: Invariant = {
  name: "neighbours left alone",
  law: "The record of a NodeClaim whose cluster does not answer stays, and no call for its machine is made.",
  watch: ({ lab, table }, violated) => {
    let known = false;
    return {
      check: () => {
        void table.list(NEIGHBOUR).then((records) => {
          if (known && records.length === 0) violated("the record of the neighbour's NodeClaim has gone");
          known ||= records.length > 0;
        });
      },
      onCall: ({ port, method, args }) => {
        if (port !== "fleet" || (method !== "terminate" && method !== "launch")) return;
        const [what] = args as [string | { readonly tags: Readonly<Record<string, string>> }];
        const isTheirs = typeof what === "string" && !lab.cloud.machines().some(({ instance }) => instance.id === what);
        if (isTheirs) violated(`${method} of ${what}, which is no machine of the cluster`);
      },
    };
  },
};
