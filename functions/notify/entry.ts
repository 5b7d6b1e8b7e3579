import { functionUrlEntry } from "../adapters/function-url.ts";
import { type NotifyDeps, notify } from "./notify.ts";

/** Requests of the function URL that the clusters' webhooks call. */
export const notifyEntry = (deps: NotifyDeps) => functionUrlEntry((request) => notify(request, deps));
