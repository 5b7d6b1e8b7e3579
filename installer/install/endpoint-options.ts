// By which ways a cluster's events reach the functions, where a person leaves the choice to `install`.
// In: settings, facts, and why a deployment failed. Out: settings of the next way that may work, and a sentence why.
// No way is asked for here: only a deployment shows what an organization refuses.

import type { ClusterSettings, DeploymentSettings } from "#infra/settings.ts";
import type { StackEvent } from "../account/ports.ts";
import { type Facts, takesSubscription } from "../checks/facts.ts";

/** A way in: where wake-ups come from, and the kind of URL that API servers call for them. */
interface EndpointOption {
  readonly sources: ClusterSettings["sources"];
  readonly publicUrl: DeploymentSettings["publicUrl"];
  /** As in "API servers call …". */
  readonly words: string;
  /** The types of the stack's resources that a refusal is about. */
  readonly types: RegExp;
}

const WITH_NOTIFY: EndpointOption["sources"] = ["notify", "sweep"];

/** From the fastest to the one that no account can refuse. */
const FUNCTION_URL: EndpointOption = {
  ...{ sources: WITH_NOTIFY, publicUrl: "functionUrl", words: "API servers call a Lambda function URL" },
  // A public function URL has permissions for every caller (Control Tower's CT.LAMBDA.PR.2), the others have none.
  types: /^AWS::Lambda::(Url|Permission)$/,
};
const API_GATEWAY: EndpointOption = {
  ...{ sources: WITH_NOTIFY, publicUrl: "apiGateway", words: "API servers call API Gateway", types: /^AWS::ApiGateway/ },
};
const AUDIT_LOG: EndpointOption = {
  ...{ sources: ["audit", "sweep"], publicUrl: "none", words: "the cluster's audit log brings events", types: /^AWS::Logs::/ },
};
const SWEEP: EndpointOption = {
  ...{ sources: ["sweep"], publicUrl: "none", words: "the sweep alone finds pods, within a minute", types: /^$/ },
};

/** What a stack that is there says of its way in; a person who says nothing keeps it. */
export function keepingEndpointOption(settings: DeploymentSettings, cluster: string, { stack }: Pick<Facts, "stack">): DeploymentSettings {
  const outputs = "value" in stack ? (stack.value?.outputs ?? {}) : {};
  const { UrlKind, Sources } = outputs;
  const kept = ways().find(({ publicUrl, sources }) => publicUrl === UrlKind && sources.join(",") === Sources);
  return kept === undefined ? settings : along(settings, cluster, kept);
}

const ways = (): readonly EndpointOption[] => [FUNCTION_URL, API_GATEWAY, AUDIT_LOG, SWEEP];

/** The settings with another way in for the cluster. */
const along = (settings: DeploymentSettings, cluster: string, { sources, publicUrl }: EndpointOption): DeploymentSettings => ({
  ...settings,
  publicUrl,
  clusters: settings.clusters.map((one) => (one.name === cluster ? { ...one, sources: [...sources] } : one)),
});

/**
 * The next way in when the deployment of `settings` has failed by `failed`; undefined when the failure is about
 * something else, or when nothing is left to try. Admission needs a URL, so it keeps to those ways that have one.
 */
export function nextEndpointOption(
  settings: DeploymentSettings,
  cluster: string,
  failed: readonly Pick<StackEvent, "type" | "resource" | "reason">[],
  facts: Pick<Facts, "eks" | "auditGroup">,
): { readonly settings: DeploymentSettings; readonly why: string } | undefined {
  const sources = settings.clusters.find(({ name }) => name === cluster)?.sources ?? [];
  const now = ways().findIndex((way) => way.publicUrl === settings.publicUrl && way.sources.every((source) => sources.includes(source)));
  const way = ways()[now];
  const refused = way && failed.find(({ type }) => way.types.test(type));
  if (way === undefined || refused === undefined) return undefined;
  const next = ways()
    .slice(now + 1)
    .find(
      ({ publicUrl, sources: [first] }) => (publicUrl !== "none" || !settings.admission) && (first !== "audit" || takesSubscription(facts)),
    );
  if (next === undefined) return undefined;
  const because = `${refused.resource}: ${refused.reason.replace(/\.$/, "")}`;
  return { settings: along(settings, cluster, next), why: `${refusal(way)} (${because}); ${next.words} instead` };
}

const refusal = ({ publicUrl }: EndpointOption): string =>
  ({
    functionUrl: "the account refuses function URLs",
    apiGateway: "the account refuses API Gateway",
    restApi: "the account refuses API Gateway",
    none: "the audit log cannot be subscribed to",
  })[publicUrl];
