import { functionUrlEntry } from "../adapters/function-url.ts";
import { type AdmissionDeps, admit } from "./admit.ts";

/** Requests of the function URL that the clusters' webhooks and CRDs name. */
export const admissionEntry = (deps: AdmissionDeps) => functionUrlEntry(async (request) => admit(request, deps));
