// The notify function: a validating webhook that turns writes in a cluster into wake-ups. In: AdmissionReviews of the
// API server. Out: "allowed", always, and wake-ups on the queues. It reads nothing of the cluster and decides nothing.

import { functionUrlEntry } from "#adapters/lambda/function-url.ts";
import { type NotifyDeps, notify } from "./notify.ts";

/** Handles the requests that the clusters' webhooks send to the function URL. */
export const notifyEntry = (deps: NotifyDeps) => functionUrlEntry((request) => notify(request, deps));
