import { informer } from "#adapters/kubernetes/informer.ts";
import { listMemory } from "#adapters/kubernetes/list-memory.ts";
import type { Keep } from "#adapters/kubernetes/prune.ts";
import { onlyGet } from "#adapters/kubernetes/read-only.ts";
import { httpsTransport } from "#adapters/kubernetes/transport.ts";
import { recorded, type TracedKind } from "#core/insight/observed/trace.ts";
import type { Node } from "#core/model/node.ts";
import { explained, kubeconfigCluster } from "#installer/account/kubeconfig.ts";
import { InputError } from "#terminal/input-error.ts";
import { clusterOfContext, regionOf, regionOfServer } from "../what-if/live.ts";
import type { Observed } from "./record.ts";
import { catalogueOf, pricesIn } from "./replay.ts";

/** How many objects are remembered, so that only their changes are read; about 1 KB each. */
const MAX_OBJECTS = 500_000;

/** What the trace keeps, with the version by which a list follows its changes. */
const recordedAt: Keep = (kind, object) => {
  const kept = recorded(kind as TracedKind, object);
  const { resourceVersion } = object.metadata;
  return { ...kept, metadata: { ...kept.metadata, ...(resourceVersion !== undefined && { resourceVersion }) } } as unknown as typeof object;
};

/** The cluster of a kubeconfig, through a client that passes on nothing but GET. Throws InputError. */
export async function liveCluster(
  {
    context,
    kubeconfig,
    region,
  }: { readonly context: string | undefined; readonly kubeconfig: string | undefined; readonly region: string | undefined },
  print: (line: string) => void,
): Promise<Observed> {
  const found = await kubeconfigCluster({ ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) });
  const { send, open } = onlyGet(httpsTransport({ kubeconfig: found.kubeconfig, context: found.context }));
  const readings = informer({
    ...{ send: explained(send, found), open },
    ...{ memory: listMemory(MAX_OBJECTS), cluster: found.context, keep: recordedAt },
  });
  let [isEnded, wake] = [false, (): void => {}];
  const end = (): void => {
    isEnded = true;
    wake();
  };
  process.once("SIGINT", end).once("SIGTERM", end);
  return {
    cluster: clusterOfContext(found.context),
    list: (kind) => readings().list(kind),
    regionOf(look) {
      const own = region ?? process.env["AWS_REGION"] ?? regionOf((look.Node ?? []) as readonly Node[]) ?? regionOfServer(found);
      if (own === undefined) throw new InputError("the nodes do not say in which region they are; add --region, as in --region us-west-2");
      return own;
    },
    priceOf: (named) => pricesIn(catalogueOf(named)),
    now: Date.now,
    sleep: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    isEnded: () => isEnded,
    print,
  };
}
